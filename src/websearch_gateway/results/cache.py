"""The results of what is asked of the cache alone."""

from __future__ import annotations

from websearch_gateway.results.answer import Citation, SearchResponse, SourceInfo
from websearch_gateway.results.base import ErrorInfo, WireModel


class FoundPage(WireModel):
    """A result of `web_search` or `search_news` without its text."""

    title: str = ""
    link: str = ""
    snippet: str = ""


class CachedAnswer(SearchResponse):
    """The result of `search_cached`: that of `search_web`, empty unless `found`.

    `tool` is whose result it is. Those of `web_search` and `search_news` have `results` in place of a text.
    """

    found: bool = False
    tool: str = ""
    results: tuple[FoundPage, ...] = ()


class SimilarAnswer(WireModel):
    """A question that was asked before, how near it is (cosine, 1 at most), and its answer.

    `tool` is whose answer it is. Those of `web_search` and `search_news` have `results` in place of a text.
    """

    query: str = ""
    tool: str = ""
    similarity: float = 0.0
    age_seconds: float = 0.0
    text: str = ""
    citations: tuple[Citation, ...] = ()
    sources: tuple[SourceInfo, ...] = ()
    provider: str = ""
    model: str | None = None
    responded_at: str = ""
    results: tuple[FoundPage, ...] = ()


class SimilarAnswers(WireModel):
    """The result of `search_similar`, the nearest question first."""

    results: tuple[SimilarAnswer, ...] = ()
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None
