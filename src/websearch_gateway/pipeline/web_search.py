"""The path of `web_search` and `search_news`: guard, cache, rate limit, search, read, store.

They choose the hits of a provider, read their pages concurrently, and make the results; one slow page does not cost the
answer.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from websearch_gateway.base import in_own_thread, nothing_found
from websearch_gateway.cache.pages import PageCache
from websearch_gateway.cache.results import variant
from websearch_gateway.errors import Unavailable
from websearch_gateway.models import (
    LAST_PAGE,
    LOCAL,
    SHORTEST_QUERY,
    Bill,
    Call,
    Caller,
    Deadline,
    Freshness,
    Hit,
    Page,
    Progress,
    SearchResults,
    WebSearchRequest,
    no_progress,
)
from websearch_gateway.pipeline.argument_values import invalid, whole_number
from websearch_gateway.pipeline.calls import one_deadline
from websearch_gateway.pipeline.finalize import filters_of, unmet
from websearch_gateway.pipeline.guard import CheckedQuery, Guard, question
from websearch_gateway.pipeline.page_reads import (
    PAGE_SECONDS,
    Outcome,
    may_be_read_soon,
    page_warnings,
    read_pages,
)
from websearch_gateway.pipeline.recall import Recall
from websearch_gateway.pipeline.web_results import (
    assemble,
    clean_sent,
    distinct,
    hits_to_ask_for,
    snippet_warnings,
)
from websearch_gateway.ports import Searcher, Workers
from websearch_gateway.results import WebSearchResponse
from websearch_gateway.upstream.provider_selection import ProviderSelection
from websearch_gateway.upstream.telemetry import Telemetry
from websearch_gateway.upstream.tracing import stage

SEARCH_SHARE = 2 / 3
"""The share of a call's time that searching may take, so that time for the pages remains after a slow provider."""

ASSEMBLY_RESERVE_SECONDS = 0.5
"""The time kept back at the end of the deadline (seconds), so that slow pages cannot cost the results."""

HOURS: dict[Freshness, int] = {"day": 24, "week": 168, "month": 720, "year": 8760}


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
        bill: Bill | None = None,
    ) -> WebSearchResponse:
        """Results, each with its page or a note that says why there is none, in at most `most_seconds`.

        What it costs is on `bill`, even if it fails.

        Raises:
            SearchValidationError: the query or a parameter is unacceptable, or `providers` names an unknown provider.
            SearchNotConfiguredError: the named provider, or every provider, lacks a setting; the message names it.
            SearchRateLimitError: the caller, or all users together, asked too often.
            SearchAuthError: a key of the gateway was rejected upstream.
            SearchTimeoutError: nothing was found before the deadline.
            Exhausted: every provider failed.
        """
        tool = "search_news" if request.topic == "news" else "web_search"
        with self.telemetry.call(request.query, tool) as event:
            checked = self._checked(request, caller)
            page = whole_number("page", request.page, LAST_PAGE)
            chosen = slice((page - 1) * request.max_results, page * request.max_results)
            searcher = self.selection.choose(request.providers, request.topic)
            providers = [name.strip().lower() for name in request.providers]
            query = replace(
                checked.query,
                max_results=hits_to_ask_for(chosen.stop, checked.query),
                variant=variant(providers, chosen, request.read_pages),
            )
            reads = partial(self._read, request) if request.read_pages else None
            find = partial(self._find, chosen, searcher, reads)
            seconds = min(self.deadline_seconds, most_seconds)
            async with one_deadline(seconds, caller, progress, bill) as call:
                served = await self.recall(
                    replace(checked, query=query), call, find, use_cache=request.use_cache
                )
            response = served.response
            event.served(
                response.results[0].provider if response.results else "",
                len(response.results),
                cost_usd=response.cost_usd,
                cache=response.cache,
                saved_usd=served.saved_usd,
                joined=served.joined,
            )
            return response

    def _checked(self, request: WebSearchRequest, caller: Caller) -> CheckedQuery:
        """The request behind the guard, with its freshness in hours."""
        hours = None
        if request.freshness is not None:
            hours = HOURS.get(request.freshness)
            if hours is None:
                allowed = ", ".join(HOURS)
                raise invalid("freshness", f"one of {allowed}", allowed)
        asked = question(
            request, request.query, max_results=request.max_results, freshness_hours=hours
        )
        return self.guard.check(
            asked, WebSearchRequest, routed=caller.has_specialists, shortest=SHORTEST_QUERY
        )

    @stage("answer")
    async def _find(
        self,
        chosen: slice,
        searcher: Searcher,
        reads: Callable[..., Awaitable[dict[str, Outcome]]] | None,
        call: Call,
    ) -> tuple[WebSearchResponse, bool]:
        """Search, read all pages concurrently, and combine the results. A stopgap if a page may soon be readable."""
        await call.progress("Searching the web")
        answer = await searcher.ask(call.within(call.remaining() * SEARCH_SHARE))
        hits = distinct(answer.hits, call.query.max_results)[chosen]
        outcomes: dict[str, Outcome] = {}
        if hits and reads is not None:
            await call.progress(f"Reading {len(hits)} pages")
            outcomes = await reads([hit.url for hit in hits], call)
        warnings = [
            *answer.warnings,
            *unmet(call.query, answer.applied, answer.provider, chosen.stop),
            *_if_empty(call, answer, hits),
            *page_warnings(outcomes),
        ]
        hits, text_warnings = await self._with_clean_texts(hits, outcomes, call)
        # Ranking fifty pages of 8,000 characters takes tens of milliseconds of CPU time, too long for the event loop.
        results = await in_own_thread(assemble, call.query.text, hits, outcomes)
        warnings += snippet_warnings(hits, outcomes, results)
        warnings += text_warnings
        response = WebSearchResponse(
            results=results,
            filters=filters_of(call.query, answer.applied),
            cost_usd=round(call.bill.usd, 6),
            warnings=tuple(warnings),
        )
        return response, may_be_read_soon(outcomes)

    async def _read(
        self, request: WebSearchRequest, urls: Sequence[str], call: Call
    ) -> dict[str, Outcome]:
        seconds = max(0.0, call.remaining() - ASSEMBLY_RESERVE_SECONDS)
        return await read_pages(
            partial(self.page_cache.read, fresh=not request.use_cache),
            urls,
            call.within(seconds),
            gate=self.gate,
            per_page_seconds=min(self.page_seconds, PAGE_SECONDS),
        )

    async def _with_clean_texts(
        self, hits: list[Hit], outcomes: Mapping[str, Outcome], deadline: Deadline
    ) -> tuple[list[Hit], list[str]]:
        """The hits, those of unread pages with the provider's cleaned text; and warnings."""
        unread = [hit for hit in hits if not isinstance(outcomes.get(hit.url), Page)]
        try:
            texts = await clean_sent(unread, self.workers, deadline)
        except Unavailable as error:
            warning = f"The texts that the provider sent are left out: {error.message}"
            return [replace(hit, content=None) for hit in hits], [warning]
        cleaned = []
        notes: list[str] = []
        for hit in hits:
            text, warnings = texts.get(hit.url, (None, ()))
            cleaned.append(replace(hit, content=text))
            notes += [f"{hit.url}: {warning}" for warning in warnings]
        return cleaned, notes


def _if_empty(call: Call, answer: SearchResults, hits: Sequence[Hit]) -> list[str]:
    """Why there is no hit to show, and what to do about it."""
    if hits:
        return []
    if answer.hits:
        return ["This `page` is beyond the last result: try a smaller one."]
    return [nothing_found(call.query, longer='`freshness` "month" or "year"')]
