"""The path of `web_search_raw`: it searches for each of its queries separately, all at once, and gives Google's own form."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from websearch_gateway.base import (
    AddressPolicy,
    in_own_thread,
    nothing_found,
    records,
    strip_invisible_characters,
)
from websearch_gateway.cache.kinds import RawResult
from websearch_gateway.cache.results import Served
from websearch_gateway.errors import SearchError, SearchProviderParseError, shown
from websearch_gateway.foreign_json import reply_object
from websearch_gateway.models import (
    LOCAL,
    LONGEST_QUERY,
    MOST_QUERIES,
    SHORTEST_QUERY,
    Call,
    Caller,
    Hit,
    Progress,
    RawSearchRequest,
    SearchQuery,
    SearchResults,
    no_progress,
)
from websearch_gateway.pipeline.argument_values import invalid
from websearch_gateway.pipeline.calls import one_deadline
from websearch_gateway.pipeline.cleaning import clean_items
from websearch_gateway.pipeline.finalize import unmet
from websearch_gateway.pipeline.guard import Guard, question
from websearch_gateway.pipeline.recall import Recall
from websearch_gateway.results import ErrorInfo, RawQuery, RawSearchResponse
from websearch_gateway.upstream.provider_selection import ProviderSelection
from websearch_gateway.upstream.telemetry import CallEvent, Telemetry

GOOGLE = "google"
QUERIES_AT_ONCE = 5
"""Of one call: so a long list leaves the gate of the process to other calls."""

_Reply = Served[RawResult] | SearchError
"""The outcome of one query."""


@dataclass(frozen=True, slots=True)
class RawSearch:
    """Searches with Google, or with the other providers if Google cannot serve. One per process."""

    guard: Guard
    recall: Recall[RawResult]
    selection: ProviderSelection
    addresses: AddressPolicy
    gate: asyncio.Semaphore
    telemetry: Telemetry
    deadline_seconds: float

    async def search(
        self, request: RawSearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> RawSearchResponse:
        """A result for each query, or its error if it failed.

        Raises:
            SearchError: every query failed; the error is that of the first query.
        """
        with self.telemetry.call("\n".join(request.queries), tool="web_search_raw") as event:
            if not 1 <= len(request.queries) <= MOST_QUERIES:
                raise invalid(
                    "query", f"one query, or 1 to {MOST_QUERIES} of them", f"1-{MOST_QUERIES}"
                )
            await progress("Searching the web")
            outcomes = await self._outcomes(request, caller)
            served = [reply for reply in outcomes.values() if isinstance(reply, Served)]
            errors = [reply for reply in outcomes.values() if isinstance(reply, SearchError)]
            if not served:
                raise errors[0]
            cost = round(sum(reply.response.cost_usd for reply in served), 6)
            _note_served(event, served, cost)
            warnings: list[str] = []
            for reply in served:
                warnings += reply.response.warnings
            return RawSearchResponse(
                queries=tuple(_entry(query, outcomes[query]) for query in request.queries),
                cost_usd=cost,
                warnings=tuple(dict.fromkeys(warnings)),
            )

    async def _outcomes(self, request: RawSearchRequest, caller: Caller) -> Mapping[str, _Reply]:
        """What became of each query; a repeated one is searched once."""
        gate = asyncio.Semaphore(QUERIES_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            tasks = {
                text: group.create_task(self._ask(text, request, caller, gate))
                for text in dict.fromkeys(request.queries)
            }
        return {text: task.result() for text, task in tasks.items()}

    async def _ask(
        self, text: str, request: RawSearchRequest, caller: Caller, gate: asyncio.Semaphore
    ) -> _Reply:
        asked = question(request, text, max_results=request.max_results)
        try:
            async with one_deadline(self.deadline_seconds, caller) as call, gate:
                checked = self.guard.check(
                    asked,
                    RawSearchRequest,
                    routed=caller.has_specialists,
                    shortest=SHORTEST_QUERY,
                )
                return await self.recall(checked, call, self._find, use_cache=request.use_cache)
        except SearchError as error:
            return error

    async def _find(self, call: Call) -> tuple[RawResult, bool]:
        """Search, and put the hits into Google's form. Counts for the limit only if it calls a provider."""
        try:
            async with self.gate:
                results = await self.selection.preferring((GOOGLE,)).ask(call)
        finally:
            if not call.bill.requests:
                await self.recall.rate_limits.give_back(call.caller)
        google_failed = results.provider != GOOGLE and GOOGLE in self.selection.searchers
        return await self._in_googles_form(call, results), google_failed

    async def _in_googles_form(self, call: Call, results: SearchResults) -> RawResult:
        query = call.query
        if results.provider == GOOGLE:
            # Parsing five pages of JSON takes too long for the event loop.
            whole = await in_own_thread(merged, results.bodies, query.max_results)
            reply, notes = await in_own_thread(clean_items, whole, self.addresses)
            warnings = list(notes)
        else:
            reply = imitated(query, results.hits)
            missing = self.selection.absent.get(GOOGLE)
            because = f": google cannot serve here: {missing}." if missing else "."
            warnings = [f"These are results of {results.provider} in the form of Google's{because}"]
        if not reply.get("items"):
            warnings.append(f"{query.text}: {nothing_found(query)}")
        warnings += results.warnings
        warnings += unmet(query, results.applied, results.provider, query.max_results)
        cost = round(call.bill.usd, 9)
        return RawResult(
            provider=results.provider, result=reply, cost_usd=cost, warnings=tuple(warnings)
        )


def _note_served(event: CallEvent, served: Sequence[Served[RawResult]], cost_usd: float) -> None:
    """Log the queries of a call as one: from the cache only if each of them was."""
    results = [reply.response for reply in served]
    caches = {result.cache for result in results}
    event.served(
        results[0].provider,
        sum(len(result.result.get("items", ())) for result in results),
        cost_usd=cost_usd,
        cache=results[0].cache if len(caches) == 1 else "miss",
        saved_usd=sum(reply.saved_usd for reply in served),
        joined=all(reply.joined for reply in served),
    )


def _entry(query: str, reply: _Reply) -> RawQuery:
    if isinstance(reply, SearchError):
        error = ErrorInfo.of(reply).model_dump(mode="json", by_alias=True, exclude_none=True)
        return RawQuery(query=shown(query, LONGEST_QUERY), result={"error": error})
    answer = reply.response
    return RawQuery(
        query=query,
        provider=answer.provider,
        cache=answer.cache,
        age_seconds=answer.age_seconds,
        result=answer.result,
    )


def merged(bodies: Sequence[bytes], most: int) -> dict[str, Any]:
    """Merge Google's replies, one per page: the first reply with the items of all, at most `most`.

    Numbers that JSON does not allow become null, and invisible characters are removed.

    Raises:
        SearchProviderParseError: a reply is not JSON, or nested too deeply.
    """
    try:
        pages = [_without_invisible(reply_object(body, "google")) for body in bodies]
    except RecursionError:
        raise SearchProviderParseError("The reply of google is nested too deeply.") from None
    items = [item for page in pages for item in records(page, "items", "google", optional=True)]
    bare = {name: value for name, value in pages[0].items() if name != "items"}
    return {**bare, "items": items[:most]} if items else bare


def imitated(query: SearchQuery, hits: Sequence[Hit]) -> dict[str, Any]:
    """The hits of another provider in Google's format, with the fields that they have. `totalResults` counts them."""
    reply: dict[str, Any] = {
        "kind": "customsearch#search",
        "queries": {"request": [{"searchTerms": query.text, "count": len(hits), "startIndex": 1}]},
        "searchInformation": {"totalResults": str(len(hits))},
    }
    return {**reply, "items": [_item(hit) for hit in hits]} if hits else reply


def _item(hit: Hit) -> dict[str, Any]:
    item: dict[str, Any] = {
        "kind": "customsearch#result",
        "title": _without_invisible(hit.title),
        "link": hit.url,
        "displayLink": urlsplit(hit.url).hostname or "",
        "snippet": _without_invisible(hit.snippet),
        "formattedUrl": hit.url,
    }
    if hit.published:
        item["pagemap"] = {"metatags": [{"article:published_time": hit.published}]}
    return item


def _without_invisible(value: Any) -> Any:
    if isinstance(value, str):
        return strip_invisible_characters(value)[0]
    if isinstance(value, dict):
        return {_without_invisible(key): _without_invisible(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_invisible(item) for item in value]
    return None if isinstance(value, float) and value - value != 0 else value
