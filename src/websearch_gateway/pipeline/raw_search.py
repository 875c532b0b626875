"""The path of `web_search_raw`: guards, admits and searches each query separately, all concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from websearch_gateway.errors import SearchError, SearchValidationError
from websearch_gateway.models import LOCAL, Caller, Deadline, RawSearchRequest, SearchQuery, SearchResults
from websearch_gateway.net.address import AddressGuard
from websearch_gateway.net.own_threads import in_own_thread
from websearch_gateway.net.sent_requests import counting_requests
from websearch_gateway.observability.telemetry import Telemetry
from websearch_gateway.pipeline.cleaning.hits import clean_items
from websearch_gateway.pipeline.deadline import one_deadline
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.rate_limit import RateLimits
from websearch_gateway.ports import Progress, no_progress
from websearch_gateway.resilience.provider_selection import ProviderSelection
from websearch_gateway.results.base import ErrorInfo
from websearch_gateway.results.search import RawQuery, RawSearchResponse
from websearch_gateway.text.google_format import imitated, merged

GOOGLE = "google"
MOST_QUERIES = 20
MOST_RESULTS = 50
QUERIES_AT_ONCE = 5


@dataclass(frozen=True, slots=True)
class _Reply:
    """The outcome of one query: a result, or an error in its place."""

    provider: str = ""
    result: dict[str, Any] = field(default_factory=dict)
    cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()
    error: SearchError | None = None


@dataclass(frozen=True, slots=True)
class RawSearch:
    """Calls Google, and the other providers if it cannot serve. One per process."""

    guard: Guard
    rate_limits: RateLimits
    selection: ProviderSelection
    addresses: AddressGuard
    gate: asyncio.Semaphore
    telemetry: Telemetry
    deadline_seconds: float

    async def search(
        self, request: RawSearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> RawSearchResponse:
        """A result for each query; where one failed, its error.

        Raises:
            SearchError: every query failed; this is the error of the first.
        """
        with self.telemetry.call("\n".join(request.queries), tool="web_search_raw") as event:
            if not 1 <= len(request.queries) <= MOST_QUERIES:
                raise SearchValidationError(
                    f"`query` must be one query, or 1 to {MOST_QUERIES} of them.",
                    details={"field": "query", "allowed": f"1-{MOST_QUERIES}"},
                )
            await progress("Searching the web")
            replies = await self._ask_all(request, caller)
            answered = [reply for reply in replies.values() if reply.error is None]
            if not answered:
                raise next(reply.error for reply in replies.values() if reply.error)
            cost = round(sum(reply.cost_usd for reply in answered), 6)
            found = sum(len(reply.result.get("items", ())) for reply in answered)
            event.served(answered[0].provider, found, cost_usd=cost)
            return RawSearchResponse(
                queries=tuple(_entry(query, replies[query]) for query in request.queries),
                cost_usd=cost,
                warnings=tuple(dict.fromkeys(warning for reply in answered for warning in reply.warnings)),
            )

    async def _ask_all(self, request: RawSearchRequest, caller: Caller) -> dict[str, _Reply]:
        """The reply to each query; a repeated query is searched once."""
        gate = asyncio.Semaphore(QUERIES_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            tasks = {
                text: group.create_task(self._ask(text, request, caller, gate))
                for text in dict.fromkeys(request.queries)
            }
        return {text: task.result() for text, task in tasks.items()}

    async def _ask(self, text: str, request: RawSearchRequest, caller: Caller, gate: asyncio.Semaphore) -> _Reply:
        try:
            async with one_deadline(self.deadline_seconds) as deadline, gate:
                guarded = self.guard.check(
                    text,
                    max_results=request.results_per_query,
                    max_results_limit=MOST_RESULTS,
                    max_results_field="resultsPerQuery",
                    region=request.region,
                    language=request.language,
                    safe_search=request.safe_search,
                )
                query = replace(guarded.query, user=caller.user)
                found = await self._search(query, caller, deadline)
                return await self._reply(query, found, guarded.warnings)
        except SearchError as error:
            return _Reply(error=error)

    async def _search(self, query: SearchQuery, caller: Caller, deadline: Deadline) -> SearchResults:
        """Search; count the query for its caller only if a provider was called."""
        searcher = self.selection.preferring((GOOGLE,))
        await self.rate_limits.admit(caller)
        with counting_requests() as sent:
            try:
                async with self.gate:
                    return await searcher.search(query, deadline)
            finally:
                if not sent.count:
                    await self.rate_limits.give_back(caller)

    async def _reply(self, query: SearchQuery, found: SearchResults, warnings: tuple[str, ...]) -> _Reply:
        if found.provider == GOOGLE:
            # Parsing five pages of JSON takes too long for the event loop.
            result, of_items = await in_own_thread(self._merged, found.bodies, query.max_results)
            warnings = (*warnings, *of_items)
        else:
            result = imitated(query, found.hits)
            missing = self.selection.absent.get(GOOGLE)
            because = f": google cannot serve here: {missing}." if missing else "."
            warnings = (*warnings, f"These are results of {found.provider} in the form of Google's{because}")
        return _Reply(found.provider, result, found.cost_usd, (*warnings, *found.warnings))

    def _merged(self, bodies: Sequence[bytes], most: int) -> tuple[dict[str, Any], tuple[str, ...]]:
        return clean_items(merged(bodies, most), self.addresses)


def _entry(query: str, reply: _Reply) -> RawQuery:
    if reply.error is None:
        return RawQuery(query=query, provider=reply.provider, result=reply.result)
    told = ErrorInfo.of(reply.error).model_dump(mode="json", by_alias=True, exclude_none=True)
    return RawQuery(query=query, result={"error": told})
