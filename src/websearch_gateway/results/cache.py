"""The results of the tools that read only the cache."""

from __future__ import annotations

from websearch_gateway.results.answer import Citation, SearchResponse, SourceInfo
from websearch_gateway.results.base import ErrorInfo, WireModel


class FoundPage(WireModel):
    """A result of `web_search` or `search_news` without its text."""

    title: str = ""
    link: str = ""
    snippet: str = ""


class CachedAnswer(SearchResponse):
    """The result of `search_cached`: a result of `search_web`, empty unless `found`.

    `tool` is the tool that made it. Results of `web_search` and `search_news` have `results` instead of a text.
    """

    found: bool = False
    tool: str = ""
    results: tuple[FoundPage, ...] = ()


class SimilarAnswer(WireModel):
    """An earlier question, its similarity (cosine, at most 1), and its answer.

    `tool` is the tool that made it. Results of `web_search` and `search_news` have `results` instead of a text.
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
    """The result of `search_similar`, the most similar question first."""

    results: tuple[SimilarAnswer, ...] = ()
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None
