"""Serves stale results in place of errors (RFC 5861, section 4)."""

from __future__ import annotations

from typing import TypeVar

from websearch_gateway.cache.exact_cache import ResultCache
from websearch_gateway.cache.raw_results import RawResult
from websearch_gateway.cache.result_store import Served
from websearch_gateway.errors import SearchError
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.results.answer import SearchResponse
from websearch_gateway.results.search import WebSearchResponse
from websearch_gateway.text.durations import in_words

R = TypeVar("R", SearchResponse, WebSearchResponse, RawResult)


async def stand_in(cache: ResultCache[R], query: SearchQuery, caller: Caller, error: SearchError) -> Served[R]:
    """The stale result in place of a search that failed with `error`, with a warning.

    Raises:
        SearchError: `error`, if there is no such result.
    """
    served = await cache.stale(query, caller)
    if served is None:
        raise error
    return _warned(served, f"a new search failed with {error.code}: {error.message}")


def _warned(served: Served[R], reason: str) -> Served[R]:
    warning = f"This is {in_words(served.age_seconds)} old: {reason}"
    response = served.response.model_copy(update={"warnings": (*served.response.warnings, warning)})
    return served._replace(response=response)
