"""Answers of `search_web` as a kind of cached results."""

from __future__ import annotations

from operator import attrgetter

from websearch_gateway.cache.exact_cache import ResultKind
from websearch_gateway.results.answer import SearchResponse, Usage
from websearch_gateway.text.urls import is_web_address


def is_stopgap(response: SearchResponse) -> bool:
    """Whether this is a fallback's answer because a configured engine failed, so that a better one may come soon."""
    return response.fallback is not None


def unbilled(response: SearchResponse) -> SearchResponse:
    """`response` without its price and tokens: only the first caller is billed."""
    return response.model_copy(update={"cost_usd": 0.0, "usage": Usage()})


def _is_valid(response: SearchResponse) -> bool:
    """Whether the answer names pages, all with web URLs, and its spans lie inside the text."""
    urls = [page.url for page in response.citations] + [page.url for page in response.sources]
    if response.error is not None or not urls or not all(map(is_web_address, urls)):
        return False
    first = [(cited.start_index, cited.end_index) for cited in response.citations]
    others = [(span.start_index, span.end_index) for cited in response.citations for span in cited.spans]
    return all(0 <= start <= end <= len(response.text) for start, end in (*first, *others))


ANSWERS: ResultKind[SearchResponse] = ResultKind(
    name="answers",
    prefix="cache/exact/",
    model=SearchResponse,
    is_valid=_is_valid,
    unbilled=unbilled,
    cost_usd=attrgetter("cost_usd"),
    most_in_memory=1_000,
)
