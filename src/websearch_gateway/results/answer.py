"""The result of `search_web`."""

from __future__ import annotations

from typing import Literal

from websearch_gateway.results.base import ErrorInfo, FallbackInfo, WireModel

CacheState = Literal["miss", "exact", "semantic", "stale"]


class CitedSpan(WireModel):
    """A place of `text` that a page supports; characters, end exclusive."""

    start_index: int = 0
    end_index: int = 0


class Citation(WireModel):
    """A cited page: `text[startIndex:endIndex]` is its first cited span, `textSnippet` the sentence that it supports.

    `spans` are all places where the page is cited, the first included. `publishedAt` is ISO 8601.
    """

    url: str = ""
    title: str = ""
    text_snippet: str = ""
    start_index: int = 0
    end_index: int = 0
    rank: int = 0
    spans: tuple[CitedSpan, ...] = ()
    published_at: str | None = None


class SourceInfo(WireModel):
    """A page that was found or read, and that no span of the text cites."""

    url: str = ""
    title: str = ""
    published_at: str | None = None


class Usage(WireModel):
    """Tokens billed for the call."""

    prompt_tokens: int = 0
    response_tokens: int = 0


class FilterState(WireModel):
    """What was asked for, and what the upstream that answered really applied (null: nothing)."""

    requested: int | str | None = None
    applied: str | None = None


class Filters(WireModel):
    """Freshness and region, requested against applied; and where the lists of domains were applied.

    `domains` is `upstream` (the vendor searched within them), `local` (what it found elsewhere was dropped here) or
    null (there are no lists).
    """

    freshness: FilterState = FilterState()
    region: FilterState = FilterState()
    domains: Literal["upstream", "local"] | None = None


class CacheMatch(WireModel):
    """How near the question is whose answer this is (cosine, 1 at most), and how old the answer (seconds)."""

    similarity: float = 0.0
    age_seconds: float = 0.0


class SearchResponse(WireModel):
    """The result of `search_web`.

    `cache` is `miss` (a new answer), `exact`, `semantic` (the answer to another wording, see `cacheMatch`) or `stale`
    (an old answer, because a new search failed). `ageSeconds` is the time since the answer was given.
    `searchSuggestions` is HTML of the search engine behind the answer, to be shown beside it as it is. It is the one
    field that is not cleaned, since its terms forbid changes.
    """

    text: str = ""
    citations: tuple[Citation, ...] = ()
    sources: tuple[SourceInfo, ...] = ()
    provider: str = ""
    model: str | None = None
    responded_at: str = ""
    usage: Usage = Usage()
    cache: CacheState = "miss"
    cache_match: CacheMatch | None = None
    age_seconds: float = 0.0
    fallback: FallbackInfo | None = None
    filters: Filters = Filters()
    cost_usd: float = 0.0
    search_suggestions: str | None = None
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None
