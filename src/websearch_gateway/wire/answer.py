"""The result of `search_web`."""

from __future__ import annotations

from typing import Literal

from websearch_gateway.wire.base import ErrorInfo, FallbackInfo, WireModel

CacheState = Literal["miss", "exact", "semantic"]


class Citation(WireModel):
    """One source: `text[startIndex:endIndex]` is the cited span, `textSnippet` the sentence that it supports."""

    url: str = ""
    title: str = ""
    text_snippet: str = ""
    start_index: int = 0
    end_index: int = 0
    rank: int = 0


class Usage(WireModel):
    """Tokens billed for the call."""

    prompt_tokens: int = 0
    response_tokens: int = 0


class FilterState(WireModel):
    """What was asked for, and what the upstream that answered really applied (null: nothing)."""

    requested: int | str | None = None
    applied: str | None = None


class Filters(WireModel):
    """Freshness and region, requested against applied."""

    freshness: FilterState = FilterState()
    region: FilterState = FilterState()


class CacheMatch(WireModel):
    """How near the question is whose answer this is (cosine, 1 at most), and how old the answer (seconds)."""

    similarity: float = 0.0
    age_seconds: float = 0.0


class SearchResponse(WireModel):
    """The result of `search_web`."""

    text: str = ""
    citations: tuple[Citation, ...] = ()
    provider: str = ""
    responded_at: str = ""
    usage: Usage = Usage()
    cache: CacheState = "miss"
    cache_match: CacheMatch | None = None
    fallback: FallbackInfo | None = None
    filters: Filters = Filters()
    cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None
