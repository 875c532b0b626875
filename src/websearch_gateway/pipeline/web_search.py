"""The path of `web_search` and `search_news`: guard, cache, rate limit, search and read, store."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from websearch_gateway.cache.pages import PageCache
from websearch_gateway.cache.results import Served, variant
from websearch_gateway.errors import SearchValidationError, Unavailable
from websearch_gateway.models import (
    LOCAL,
    AppliedFilters,
    Call,
    Caller,
    Deadline,
    Freshness,
    Hit,
    Page,
    SearchQuery,
    SearchResults,
    WebSearchRequest,
)
from websearch_gateway.net.own_threads import in_own_thread
from websearch_gateway.pipeline.guard import CheckedQuery, Guard, Most, one_deadline, question
from websearch_gateway.pipeline.raw_engine import PAGE_SECONDS
from websearch_gateway.pipeline.search import Recall
from websearch_gateway.pipeline.web_results import (
    MOST_SENT,
    Choice,
    Outcome,
    assemble,
    choose_hits,
    cleaned_texts,
    distinct,
    hits_to_ask_for,
    may_be_read_soon,
    page_warnings,
    read_pages,
    snippet_warnings,
)
from websearch_gateway.ports import Progress, Reader, Searcher, Workers, no_progress
from websearch_gateway.results import Filters, FilterState, WebSearchResponse
from websearch_gateway.text.notes import nothing_found
from websearch_gateway.upstream.race import ProviderSelection
from websearch_gateway.upstream.telemetry import Telemetry, stage

SEARCH_SHARE = 2 / 3
"""The share of a call's time that searching may take, so that time for the pages remains after a slow provider."""

ASSEMBLY_RESERVE_SECONDS = 0.5
"""The time kept back at the end of the deadline (seconds), so that slow pages cannot cost the results."""

HOURS: dict[Freshness, int] = {"day": 24, "week": 168, "month": 720, "year": 8760}

MOST = Most(50, ("maxResults", "num_results"), HOURS["year"])


@dataclass(frozen=True, slots=True)
class _WithoutStoredPages:
    """The page cache as a Reader that ignores stored pages."""

    page_cache: PageCache
    name: str = "without stored pages"

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        return await self.page_cache.read(url, deadline, known, fresh=True)


@dataclass(frozen=True, slots=True)
class WebSearch:
    """Finds pages and reads them. One per process; safe for concurrent calls."""

    guard: Guard
    recall: Recall[WebSearchResponse]
    selection: ProviderSelection
    page_cache: PageCache
    workers: Workers
    telemetry: Telemetry
    gate: asyncio.Semaphore
    page_seconds: float
    deadline_seconds: float

    async def search(
        self,
        request: WebSearchRequest,
        caller: Caller = LOCAL,
        progress: Progress = no_progress,
        *,
        most_seconds: float = math.inf,
    ) -> WebSearchResponse:
        """Results, each with its page or a note that says why there is none, in at most `most_seconds`.

        Raises:
            SearchValidationError: the query or a parameter is unacceptable, or `providers` names an unknown provider.
            SearchNotConfiguredError: the named provider, or every provider, lacks a setting; the message names it.
            SearchRateLimitError: the caller, or all users together, asked too often.
            SearchAuthError: a key of the gateway was rejected upstream.
            SearchTimeoutError: nothing was found before the deadline.
            Exhausted: every provider failed.
        """
        with self.telemetry.call(request.query, tool=_tool(request)) as event:
            checked = self._checked(request, caller)
            chosen = choose_hits(request)
            searcher = self.selection.choose(request.providers, request.topic)
            query = replace(
                checked.query,
                max_results=hits_to_ask_for(chosen.up_to, checked.query),
                variant=variant(_names(request.providers), chosen, request.read_pages),
            )

            async def find(call: Call) -> Served[WebSearchResponse]:
                return await self._find(call, chosen, searcher, self._reader(request))

            async with one_deadline(min(self.deadline_seconds, most_seconds), caller, progress) as call:
                served = await self.recall(replace(checked, query=query), call, find, use_cache=request.use_cache)
            response = served.response
            route, count = response.results[0].provider if response.results else "", len(response.results)
            event.served(
                route,
                count,
                cost_usd=response.cost_usd,
                cache=response.cache,
                saved_usd=served.saved_usd,
                joined=served.joined,
            )
            return response

    def _checked(self, request: WebSearchRequest, caller: Caller) -> CheckedQuery:
        if request.freshness is not None and request.freshness not in HOURS:
            allowed = ", ".join(HOURS)
            raise SearchValidationError(
                f"`freshness` must be one of {allowed}.", details={"field": "freshness", "allowed": allowed}
            )
        hours = HOURS[request.freshness] if request.freshness else None
        asked = question(request, request.query, max_results=request.num_results, freshness_hours=hours)
        return self.guard.check(asked, MOST, routed=caller.has_specialists)

    def _reader(self, request: WebSearchRequest) -> Reader | None:
        if not request.read_pages:
            return None
        return self.page_cache if request.use_cache else _WithoutStoredPages(self.page_cache)

    @stage("answer")
    async def _find(
        self, call: Call, choice: Choice, searcher: Searcher, reader: Reader | None
    ) -> Served[WebSearchResponse]:
        """Search, read all pages concurrently, combine the results, and store them."""
        await call.progress("Searching the web")
        found = await searcher.ask(call.within(call.remaining() * SEARCH_SHARE))
        hits = choice.of(distinct(found.hits, call.query.max_results))
        outcomes: dict[str, Outcome] = {}
        if hits and reader is not None:
            await call.progress(f"Reading {len(hits)} pages")
            outcomes = await self._read(reader, call, hits)
        hits, text_warnings = await self._with_clean_texts(hits, outcomes, call)
        # Ranking fifty pages of 8,000 characters takes tens of milliseconds of CPU time, too long for the event loop.
        results = await in_own_thread(assemble, call.query.text, hits, outcomes)
        response = WebSearchResponse(
            results=results,
            filters=_filters(call.query, found.applied),
            cost_usd=round(call.bill.usd, 6),
            warnings=(
                *found.warnings,
                *self._unmet(call.query, found),
                *_emptied(call.query, choice, found),
                *page_warnings(outcomes),
                *snippet_warnings(hits, outcomes, results),
                *text_warnings,
            ),
        )
        await self.recall.cache.put(call.query, call.caller, response, stopgap=may_be_read_soon(outcomes))
        return Served(response)

    async def _with_clean_texts(
        self, hits: list[Hit], outcomes: Mapping[str, Outcome], deadline: Deadline
    ) -> tuple[list[Hit], tuple[str, ...]]:
        """The hits, those of unread pages with the provider's cleaned text; and warnings."""
        sent = [
            (hit.url, hit.content[:MOST_SENT])
            for hit in hits
            if hit.content and not isinstance(outcomes.get(hit.url), Page)
        ]
        size = sum(len(text) for _, text in sent)
        try:
            found = await self.workers.run(cleaned_texts, sent, deadline=deadline, size=size) if sent else []
        except Unavailable as error:
            warning = f"The texts that the provider sent are left out: {error.message}"
            return [replace(hit, content=None) for hit in hits], (warning,)
        texts = {url: text for (url, _), (text, _) in zip(sent, found, strict=True)}
        warned = ((url, warning) for (url, _), (_, warnings) in zip(sent, found, strict=True) for warning in warnings)
        cleaned = [replace(hit, content=texts.get(hit.url)) for hit in hits]
        return cleaned, tuple(f"{url}: {warning}" for url, warning in warned)

    async def _read(self, reader: Reader, deadline: Deadline, hits: Sequence[Hit]) -> dict[str, Outcome]:
        return await read_pages(
            reader,
            [hit.url for hit in hits],
            deadline.within(max(0.0, deadline.remaining() - ASSEMBLY_RESERVE_SECONDS)),
            gate=self.gate,
            per_page_seconds=min(self.page_seconds, PAGE_SECONDS),
        )

    def _unmet(self, query: SearchQuery, found: SearchResults) -> list[str]:
        """A warning for each parameter that the provider could not apply."""
        warnings = []
        if query.freshness_hours is not None and found.applied.freshness is None:
            warnings.append(f"{found.provider} has no filter by freshness: results may be older.")
        if query.topic == "news" and found.provider not in self.selection.news:
            warnings.append(f"{found.provider} has no search for news: these are results from the whole web.")
        return warnings


def _emptied(query: SearchQuery, choice: Choice, found: SearchResults) -> list[str]:
    """Why there are no results, if there are none."""
    if found.hits:
        beyond = not choice.of(distinct(found.hits, query.max_results))
        return [f"Page {choice.page} is beyond the last result: try a smaller `page`."] if beyond else []
    return [nothing_found(query, longer='`freshness` "month" or "year"')]


def _filters(query: SearchQuery, applied: AppliedFilters) -> Filters:
    return Filters(
        freshness=FilterState(requested=query.freshness_hours, applied=applied.freshness),
        region=FilterState(requested=query.region, applied=applied.region),
        domains=applied.domains,
    )


def _names(providers: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip().lower() for name in providers))


def _tool(request: WebSearchRequest) -> str:
    return "search_news" if request.topic == "news" else "web_search"
