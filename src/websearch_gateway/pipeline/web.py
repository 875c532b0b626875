"""The way of `web_search` and `search_news`: guard, admit, recall, search and read, remember."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import (
    LOCAL,
    Caller,
    Deadline,
    Freshness,
    Hit,
    Page,
    SearchQuery,
    SearchResults,
    WebSearchRequest,
)
from websearch_gateway.pipeline.admit import Admission
from websearch_gateway.pipeline.deadline import one_deadline
from websearch_gateway.pipeline.guard import Guard, Guarded
from websearch_gateway.pipeline.inflight import InFlight
from websearch_gateway.pipeline.pages import PageLibrary
from websearch_gateway.pipeline.raw import PAGE_SECONDS
from websearch_gateway.pipeline.read import Outcome, read_pages
from websearch_gateway.pipeline.remembered import Served
from websearch_gateway.pipeline.roster import Roster
from websearch_gateway.pipeline.telemetry import Telemetry
from websearch_gateway.pipeline.tracing import stage
from websearch_gateway.pipeline.web_cache import WebCache, unbilled
from websearch_gateway.pipeline.web_results import assemble, distinct, may_be_read_soon, page_warnings
from websearch_gateway.ports import Progress, Reader, Searcher, no_progress
from websearch_gateway.wire.search import WebSearchResponse

MOST_RESULTS = 20
SEARCH_SHARE = 2 / 3
"""The part of a call's time that searching may take, so that a slow provider leaves some for the pages."""

ASSEMBLY_RESERVE_SECONDS = 0.5
"""Kept free at the end of the deadline, so that slow pages cannot cost the results."""

HOURS: dict[Freshness, int] = {"day": 24, "week": 168, "month": 720, "year": 8760}


@dataclass(frozen=True, slots=True)
class _Call:
    """What a call is about, once it is admitted. `key` is that of its results in the cache."""

    query: SearchQuery
    searcher: Searcher
    reader: Reader
    key: str
    deadline: Deadline


@dataclass(frozen=True, slots=True)
class _Anew:
    """The library as a Reader that asks every site anew."""

    library: PageLibrary
    name: str = "anew"

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        return await self.library.read(url, deadline, known, fresh=True)


@dataclass(frozen=True, slots=True)
class WebSearch:
    """Finds pages and reads them. One per process; safe for any number of calls at once."""

    guard: Guard
    admission: Admission
    roster: Roster
    library: PageLibrary
    cache: WebCache
    in_flight: InFlight
    telemetry: Telemetry
    concurrency: int
    page_seconds: float
    deadline_seconds: float

    async def search(
        self, request: WebSearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> WebSearchResponse:
        """Results, each with its page or a note that says why there is none.

        Raises:
            SearchValidationError: the query or a parameter is unacceptable, or no provider has such a name.
            SearchNotConfiguredError: a provider that was named, or every one, lacks a setting; the message names it.
            SearchRateLimitError: the caller, or everybody together, asked too often.
            SearchAuthError: a key of the gateway was rejected upstream.
            SearchTimeoutError: nothing was found before the deadline.
            Exhausted: every provider failed.
        """
        with self.telemetry.call(request.query, tool=_tool(request)) as event:
            guarded = self._guarded(request)
            searcher = self.roster.choose(request.providers, request.topic)
            async with one_deadline(self.deadline_seconds) as deadline:
                await self.admission.admit(caller)
                query = replace(guarded.query, user=caller.user)
                key = self.cache.key(query, caller, request.providers)
                if request.use_cache:
                    served = await self._recall(_Call(query, searcher, self.library, key, deadline), progress)
                else:
                    served = await self._find(_Call(query, searcher, _Anew(self.library), key, deadline), progress)
            response = served.response
            route, count = response.results[0].provider if response.results else "", len(response.results)
            event.served(route, count, cost_usd=response.cost_usd, cache=response.cache, saved_usd=served.saved_usd)
            return response.model_copy(update={"warnings": (*guarded.warnings, *response.warnings)})

    def _guarded(self, request: WebSearchRequest) -> Guarded:
        if request.freshness is not None and request.freshness not in HOURS:
            allowed = ", ".join(HOURS)
            raise SearchValidationError(
                f"`freshness` must be one of {allowed}.", details={"field": "freshness", "allowed": allowed}
            )
        return self.guard.check(
            request.query,
            max_results=request.num_results,
            max_results_limit=MOST_RESULTS,
            max_results_field="num_results",
            freshness_hours=HOURS[request.freshness] if request.freshness else None,
            freshness_limit=HOURS["year"],
            topic=request.topic,
        )

    async def _recall(self, call: _Call, progress: Progress) -> Served[WebSearchResponse]:
        """What is known, else what an identical call in flight finds, or one that begins here."""
        began = False

        async def begin(tell: Progress) -> Served[WebSearchResponse]:
            nonlocal began
            began = True
            return await self.cache.get(call.key, call.query) or await self._find(call, tell)

        served = await self.in_flight.join(call.key, begin, progress)
        return served if began else Served(unbilled(served.response), served.saved_usd, joined=True)

    @stage("answer")
    async def _find(self, call: _Call, progress: Progress) -> Served[WebSearchResponse]:
        """Search, read all pages at once, put the results together, and remember them for the next."""
        await progress("Searching the web")
        found = await call.searcher.search(call.query, call.deadline.within(call.deadline.remaining() * SEARCH_SHARE))
        hits = distinct(found.hits, call.query.max_results)
        if hits:
            await progress(f"Reading {len(hits)} pages")
        outcomes = await self._read(call, hits)
        # Ranking twenty pages takes tens of milliseconds of CPU: not on the loop.
        response = WebSearchResponse(
            results=await asyncio.to_thread(assemble, call.query.text, hits, outcomes),
            cost_usd=round(found.cost_usd, 6),
            warnings=(*found.warnings, *self._unmet(call.query, found), *page_warnings(outcomes)),
        )
        await self.cache.put(call.key, call.query, response, stopgap=may_be_read_soon(outcomes))
        return Served(response)

    async def _read(self, call: _Call, hits: Sequence[Hit]) -> dict[str, Outcome]:
        return await read_pages(
            call.reader,
            [hit.url for hit in hits],
            call.deadline.within(max(0.0, call.deadline.remaining() - ASSEMBLY_RESERVE_SECONDS)),
            concurrency=self.concurrency,
            per_page_seconds=min(self.page_seconds, PAGE_SECONDS),
        )

    def _unmet(self, query: SearchQuery, found: SearchResults) -> list[str]:
        """Wishes that the provider could not fulfil."""
        unmet = []
        if query.freshness_hours is not None and found.applied.freshness is None:
            unmet.append(f"{found.provider} has no filter by freshness: results may be older.")
        if query.topic == "news" and found.provider not in self.roster.news:
            unmet.append(f"{found.provider} has no search for news: these are results from the whole web.")
        return unmet


def _tool(request: WebSearchRequest) -> str:
    return "search_news" if request.topic == "news" else "web_search"
