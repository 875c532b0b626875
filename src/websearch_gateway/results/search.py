"""The results of `web_search`, `search_news` and `web_search_raw`."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from websearch_gateway.results.answer import CacheMatch, CacheState, Filters
from websearch_gateway.results.base import ErrorInfo, WireModel


class WebResult(WireModel):
    """A page that was found, with its text. The names are snake_case on the wire too.

    `page_content` is Markdown and never empty: if the page cannot be read, it says why. `published_date` is
    an ISO 8601 date or date-time; `relevance_score` is in 0..1, higher is better.
    """

    model_config = ConfigDict(alias_generator=None)

    title: str = ""
    link: str = ""
    snippet: str = ""
    page_content: str = ""
    provider: str = ""
    published_date: str | None = None
    relevance_score: float = 0.0


class WebSearchResponse(WireModel):
    """The result of `web_search` and `search_news`, best first.

    `filters`, `cache` and `cacheMatch` are as in `search_web`; `ageSeconds` is the time since the results were found.
    """

    results: tuple[WebResult, ...] = ()
    filters: Filters = Filters()
    cache: CacheState = "miss"
    cache_match: CacheMatch | None = None
    age_seconds: float = 0.0
    cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class RawQuery(WireModel):
    """One query and its result: a reply of Google's Custom Search JSON API, or `{"error": ErrorInfo}`.

    `provider` found the results: `google`, or another one whose hits were converted into Google's format. `cache` is
    "exact" for a stored result and "stale" for one that replaces a failed search; `ageSeconds` is the time since it was
    found.
    """

    query: str = ""
    provider: str = ""
    cache: CacheState = "miss"
    age_seconds: float = 0.0
    result: dict[str, Any] = Field(default_factory=dict)


class RawSearchResponse(WireModel):
    """The result of `web_search_raw`: the queries in the given order."""

    queries: tuple[RawQuery, ...] = ()
    cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None
