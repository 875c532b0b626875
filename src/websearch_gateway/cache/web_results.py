"""Results of `web_search` and `search_news` as a kind of cached results."""

from __future__ import annotations

from operator import attrgetter

from websearch_gateway.cache.exact_cache import ResultKind
from websearch_gateway.results.search import WebSearchResponse
from websearch_gateway.text.urls import is_web_address


def unbilled(response: WebSearchResponse) -> WebSearchResponse:
    """`response` without its price: only the first caller is billed."""
    return response.model_copy(update={"cost_usd": 0.0})


def _is_valid(response: WebSearchResponse) -> bool:
    """Whether the response has results, each with a web URL and a text."""
    results = response.results
    return (
        response.error is None
        and bool(results)
        and all(is_web_address(r.link) and r.page_content and 0 <= r.relevance_score <= 1 for r in results)
    )


WEB_RESULTS: ResultKind[WebSearchResponse] = ResultKind(
    name="web",
    prefix="cache/web/",
    model=WebSearchResponse,
    is_valid=_is_valid,
    unbilled=unbilled,
    cost_usd=attrgetter("cost_usd"),
    most_in_memory=64,  # each has the text of up to fifty pages
)
