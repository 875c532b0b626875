"""The result caches: one per kind, and one index of questions for finding results by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from websearch_gateway.admin.cache_admin import Memory
from websearch_gateway.cache.results import (
    ANSWERS,
    RAW_RESULTS,
    WEB_RESULTS,
    ExactCache,
    Lifetimes,
    RawResult,
    ResultCache,
)
from websearch_gateway.cache.semantic import QuestionIndex, SemanticCache, SimilarQuestions
from websearch_gateway.embedders.static import StaticEmbedder
from websearch_gateway.ports import Embedder, State
from websearch_gateway.results.answer import SearchResponse
from websearch_gateway.results.search import WebSearchResponse
from websearch_gateway.settings import Settings


@dataclass(frozen=True, slots=True)
class Caches:
    """The caches of one process. `questions` and `similar` are None where the semantic cache is off."""

    answers: ResultCache[SearchResponse]
    web: ResultCache[WebSearchResponse]
    raw: ResultCache[RawResult]
    questions: QuestionIndex | None = None
    similar: SimilarQuestions | None = None

    def memories(self) -> Sequence[Memory]:
        """The caches that hold entries in this process's memory."""
        return (self.answers, self.web, self.raw, *([self.questions] if self.questions is not None else []))

    async def warm_up(self) -> None:
        """Load what the first question would wait for."""
        if self.questions is not None:  # an empty index is false
            await self.questions.warm_up()

    async def close(self) -> None:
        """Stop what runs in the background. Idempotent."""
        if self.questions is not None:  # an empty index is false
            await self.questions.close()


def open_caches(settings: Settings, state: State, embedder: Embedder) -> Caches:
    """The caches over `state`. Nothing is read yet."""
    lifetimes = Lifetimes(settings.cache_ttl_seconds, settings.cache_long_ttl_seconds, settings.stale_if_error_seconds)
    answers = ExactCache(state, ANSWERS, lifetimes, scope=settings.cache_scope)
    web = ExactCache(state, WEB_RESULTS, lifetimes, scope=settings.cache_scope)
    raw = ExactCache(state, RAW_RESULTS, lifetimes, scope=settings.cache_scope)
    if not settings.semantic_cache or lifetimes.ttl <= 0:
        return Caches(answers, web, raw)
    # Questions are compared on every miss, and only the built-in embedder is quick enough for that.
    quick = embedder if isinstance(embedder, StaticEmbedder) else StaticEmbedder()
    questions = QuestionIndex(quick, state, longest_seconds=lifetimes.longest)
    similar = SimilarQuestions(questions, (answers, web))
    return Caches(SemanticCache(answers, questions), SemanticCache(web, questions), raw, questions, similar)
