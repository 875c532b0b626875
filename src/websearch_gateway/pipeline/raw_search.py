"""The path of `web_search_raw`: guard, cache, rate limit and search for each query separately, all concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from websearch_gateway.cache.results import RawResult, Served
from websearch_gateway.errors import SearchError, SearchProviderParseError, shown
from websearch_gateway.models import (
    LOCAL,
    LONGEST_QUERY,
    MOST_QUERIES,
    MOST_RESULTS,
    Call,
    Caller,
    Hit,
    Progress,
    RawSearchRequest,
    SearchQuery,
    SearchResults,
    no_progress,
)
from websearch_gateway.net.address import AddressPolicy
from websearch_gateway.net.bodies import in_own_thread
from websearch_gateway.pipeline.finalize import clean_items
from websearch_gateway.pipeline.guard import Guard, Most, invalid, one_deadline, question
from websearch_gateway.pipeline.search import Recall
from websearch_gateway.results import ErrorInfo, RawQuery, RawSearchResponse
from websearch_gateway.text.hits import json_object, records
from websearch_gateway.text.notes import nothing_found
from websearch_gateway.text.sanitise import strip_invisible_characters
from websearch_gateway.upstream.race import ProviderSelection
from websearch_gateway.upstream.telemetry import Telemetry

GOOGLE = "google"
MOST = Most(MOST_RESULTS, ("resultsPerQuery",))
QUERIES_AT_ONCE = 5

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
                raise invalid("query", f"one query, or 1 to {MOST_QUERIES} of them", f"1-{MOST_QUERIES}")
            await progress("Searching the web")
            gate = asyncio.Semaphore(QUERIES_AT_ONCE)
            texts = list(dict.fromkeys(request.queries))  # a repeated query is searched once
            found_by_text = await asyncio.gather(*(self._ask(text, request, caller, gate) for text in texts))
            replies = dict(zip(texts, found_by_text, strict=True))
            served = [reply for reply in replies.values() if not isinstance(reply, SearchError)]
            if not served:
                raise next(reply for reply in replies.values() if isinstance(reply, SearchError))
            found = [one.response for one in served]
            states = {one.cache for one in found}
            cost = round(sum(one.cost_usd for one in found), 6)
            event.served(
                found[0].provider,
                sum(len(one.result.get("items", ())) for one in found),
                cost_usd=cost,
                cache=states.pop() if len(states) == 1 else "miss",
                saved_usd=sum(one.saved_usd for one in served),
                joined=all(one.joined for one in served),
            )
            return RawSearchResponse(
                queries=tuple(_entry(query, replies[query]) for query in request.queries),
                cost_usd=cost,
                warnings=tuple(dict.fromkeys(warning for one in found for warning in one.warnings)),
            )

    async def _ask(self, text: str, request: RawSearchRequest, caller: Caller, gate: asyncio.Semaphore) -> _Reply:
        try:
            async with one_deadline(self.deadline_seconds, caller) as call, gate:
                asked = question(request, text, max_results=request.results_per_query)
                checked = self.guard.check(asked, MOST, routed=caller.has_specialists)
                return await self.recall(checked, call, self._find, use_cache=request.use_cache)
        except SearchError as error:
            return error

    async def _find(self, call: Call) -> Served[RawResult]:
        """Search, put the hits into Google's form, and store them. Counts for the limit only if it calls a provider."""
        try:
            async with self.gate:
                found = await self.selection.preferring((GOOGLE,)).ask(call)
        finally:
            if not call.bill.requests:
                await self.recall.rate_limits.give_back(call.caller)
        google_failed = found.provider != GOOGLE and GOOGLE in self.selection.searchers
        response = await self._in_googles_form(call, found)
        await self.recall.cache.put(call.query, call.caller, response, stopgap=google_failed)
        return Served(response)

    async def _in_googles_form(self, call: Call, found: SearchResults) -> RawResult:
        query = call.query
        warnings: tuple[str, ...]
        if found.provider == GOOGLE:
            # Parsing five pages of JSON takes too long for the event loop.
            whole = await in_own_thread(merged, found.bodies, query.max_results)
            result, warnings = await in_own_thread(clean_items, whole, self.addresses)
        else:
            result = imitated(query, found.hits)
            missing = self.selection.absent.get(GOOGLE)
            because = f": google cannot serve here: {missing}." if missing else "."
            warnings = (f"These are results of {found.provider} in the form of Google's{because}",)
        if not result.get("items"):
            warnings = (*warnings, f"{query.text}: {nothing_found(query)}")
        return RawResult(
            provider=found.provider,
            result=result,
            cost_usd=round(call.bill.usd, 9),
            warnings=(*warnings, *found.warnings),
        )


def _entry(query: str, reply: _Reply) -> RawQuery:
    if isinstance(reply, SearchError):
        error = ErrorInfo.of(reply).model_dump(mode="json", by_alias=True, exclude_none=True)
        return RawQuery(query=shown(query, LONGEST_QUERY), result={"error": error})
    found = reply.response
    return RawQuery(
        query=query,
        provider=found.provider,
        cache=found.cache,
        age_seconds=found.age_seconds,
        result=found.result,
    )


def merged(bodies: Sequence[bytes], most: int) -> dict[str, Any]:
    """Merge Google's replies, one per page: the first reply with the items of all, at most `most`.

    Numbers that JSON does not allow become null, and invisible characters are removed.

    Raises:
        SearchProviderParseError: a reply is not JSON, or nested too deeply.
    """
    try:
        pages = [_clean(json_object(body, "google")) for body in bodies]
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
        "title": _clean(hit.title),
        "link": hit.url,
        "displayLink": urlsplit(hit.url).hostname or "",
        "snippet": _clean(hit.snippet),
        "formattedUrl": hit.url,
    }
    if hit.published:
        item["pagemap"] = {"metatags": [{"article:published_time": hit.published}]}
    return item


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return strip_invisible_characters(value)[0]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return None if isinstance(value, float) and value - value != 0 else value
