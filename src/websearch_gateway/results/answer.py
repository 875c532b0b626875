"""The result of `search_web`."""

from __future__ import annotations

from typing import Literal

from websearch_gateway.results.base import ErrorInfo, FallbackInfo, WireModel

CacheState = Literal["miss", "exact", "semantic", "stale"]


class Quoted(WireModel):
    """What a page says itself: `quote` has its words, `quoteUrl` leads to them, `support` says how they were found.

    `verbatim`: the sentence repeats them; `paraphrase`: its facts and most of its words stand there; `not_found`: the
    page lacks it; `unread`: the page could not be read in time. All are null where nothing was checked.
    """

    quote: str | None = None
    quote_url: str | None = None
    support: Literal["verbatim", "paraphrase", "not_found", "unread"] | None = None


class CitedSpan(Quoted):
    """A part of `text` that a page supports: character offsets, end exclusive. A place has a span for each quote."""

    start_index: int = 0
    end_index: int = 0


class Citation(Quoted):
    """A cited page: `text[startIndex:endIndex]` is its first cited span, `textSnippet` the sentence that it supports.

    `spans` lists every place where the page is cited, including the first, whose quote is the citation's. `publishedAt`
    is ISO 8601. `page` is the page of a PDF, counted from 1, to which `url` leads by `#page=N`.
    """

    url: str = ""
    title: str = ""
    text_snippet: str = ""
    start_index: int = 0
    end_index: int = 0
    rank: int = 0
    spans: tuple[CitedSpan, ...] = ()
    published_at: str | None = None
    page: int | None = None


class SourceInfo(WireModel):
    """A page that was found or read but is not cited."""

    url: str = ""
    title: str = ""
    published_at: str | None = None


class Usage(WireModel):
    """Tokens billed for the call."""

    prompt_tokens: int = 0
    response_tokens: int = 0


class FilterState(WireModel):
    """A requested filter, and how the upstream applied it (null: not at all)."""

    requested: int | str | None = None
    applied: str | None = None


class Filters(WireModel):
    """The requested and the applied freshness and region, and where the lists of domains were applied.

    `domains` is `upstream` (the vendor searched only these domains), `local` (the gateway dropped results from other
    domains) or null (no lists were given).
    """

    freshness: FilterState = FilterState()
    region: FilterState = FilterState()
    domains: Literal["upstream", "local"] | None = None


class CacheMatch(WireModel):
    """The similarity of the stored question (cosine, at most 1), and the age of its answer (seconds)."""

    similarity: float = 0.0
    age_seconds: float = 0.0


class SearchResponse(WireModel):
    """The result of `search_web`.

    `cache` is `miss` (a new answer), `exact`, `semantic` (the answer to another wording, see `cacheMatch`) or `stale`
    (an old answer, because a new search failed). `ageSeconds` is the time since the answer was given.
    `searchSuggestions` is HTML from the search engine; show it unchanged beside the answer. It is the only field that
    the gateway does not clean, because the engine's terms forbid changes.
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
