"""The results of what is asked of the cache alone."""

from __future__ import annotations

from websearch_gateway.wire.answer import Citation, SearchResponse
from websearch_gateway.wire.base import ErrorInfo, WireModel


class CachedAnswer(SearchResponse):
    """The result of `search_cached`: that of `search_web`, empty unless `found`."""

    found: bool = False


class SimilarAnswer(WireModel):
    """A question that was asked before, how near it is (cosine, 1 at most), and its answer."""

    query: str = ""
    similarity: float = 0.0
    age_seconds: float = 0.0
    text: str = ""
    citations: tuple[Citation, ...] = ()
    provider: str = ""
    responded_at: str = ""


class SimilarAnswers(WireModel):
    """The result of `search_similar`, the nearest question first."""

    results: tuple[SimilarAnswer, ...] = ()
    error: ErrorInfo | None = None
