"""The tools that answer from the cache alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from websearch_gateway.cache.results import ResultCache
from websearch_gateway.cache.similar import Similar, SimilarQuestions
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.models import MOST_SIMILAR, SIMILAR, Caller, SearchQuery
from websearch_gateway.pipeline.argument_values import invalid, up_to
from websearch_gateway.pipeline.calls import one_deadline
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.rate_limits import RateLimits
from websearch_gateway.results import (
    CachedAnswer,
    FoundPage,
    SearchResponse,
    SimilarAnswer,
    SimilarAnswers,
    WebResult,
    WebSearchResponse,
)
from websearch_gateway.upstream.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class CachedAnswers:
    """Serves cached results without calling an upstream. One per process.

    Attributes:
        answers: the cache of `search_web`.
        similar_questions: finds the results of all tools; None where the semantic cache is off.
    """

    guard: Guard
    answers: ResultCache[SearchResponse]
    similar_questions: SimilarQuestions | None
    rate_limits: RateLimits
    telemetry: Telemetry
    deadline_seconds: float

    async def search(self, text: str, caller: Caller) -> CachedAnswer:
        """The cached answer of `search_web`; without one, the cached result of any tool for the same question.

        The answer is for the query with default parameters; other results may have any parameters.

        Raises:
            SearchValidationError: the question is unacceptable.
            SearchRateLimitError: the caller asked the cache too often.
            SearchTimeoutError: the state did not answer in time.
        """
        with self.telemetry.call(text, tool="search_cached") as event:
            query = self._checked(text, caller)
            async with one_deadline(self.deadline_seconds):
                await self.rate_limits.admit(caller)
                answer = await self._cached(query, caller)
            event.served("cache", len(answer.citations or answer.results), cache=answer.cache)
            return answer

    async def similar(
        self, text: str, caller: Caller, *, threshold: float = SIMILAR, max_results: int = 5
    ) -> SimilarAnswers:
        """The cached results of similar questions, the most similar first.

        Args:
            threshold: the least similarity (cosine), 0 to 1.
            max_results: 1 to MOST_SIMILAR.

        Raises:
            SearchValidationError: the question, the threshold or the number is unacceptable.
            SearchNotConfiguredError: the semantic cache is off.
            SearchRateLimitError: the caller asked the cache too often.
            SearchTimeoutError: the state did not answer in time.
        """
        with self.telemetry.call(text, tool="search_similar") as event:
            query = self._checked(text, caller)
            if not 0 <= threshold <= 1:
                raise invalid("threshold", "a number from 0 to 1", "0-1")
            most, warnings = up_to("maxResults", max_results, MOST_SIMILAR)
            if self.similar_questions is None:
                raise SearchNotConfiguredError(
                    "The semantic cache is off. Set SEMANTIC_CACHE=true to turn it on."
                )
            async with one_deadline(self.deadline_seconds):
                await self.rate_limits.admit(caller)
                similar = await self.similar_questions.find(
                    query, caller, least=threshold, most=most
                )
            event.served("cache", len(similar))
            return SimilarAnswers(results=tuple(map(_shown, similar)), warnings=warnings)

    async def _cached(self, query: SearchQuery, caller: Caller) -> CachedAnswer:
        """The answer to the question, else the answer or results for it in other words."""
        served = self.answers.recent(query, caller) or await self.answers.get(query, caller)
        if served is not None:
            return CachedAnswer(**dict(served.response), found=True, tool="search_web")
        if self.similar_questions is None:
            return CachedAnswer()
        similar = await self.similar_questions.same(query, caller)
        if similar is None:
            return CachedAnswer()
        response = similar.served.response
        if isinstance(response, SearchResponse):
            return CachedAnswer(**dict(response), found=True, tool="search_web")
        return CachedAnswer(
            found=True,
            tool=_tool(similar),
            results=_pages(response.results),
            provider=response.results[0].provider,
            cache=response.cache,
            age_seconds=response.age_seconds,
            warnings=response.warnings,
        )

    def _checked(self, text: str, caller: Caller) -> SearchQuery:
        return self.guard.check(SearchQuery(text), routed=caller.has_specialists).query


def _shown(similar: Similar) -> SimilarAnswer:
    answer = SimilarAnswer(
        query=similar.query.text,
        tool=_tool(similar),
        similarity=round(similar.similarity, 4),
        age_seconds=round(similar.served.age_seconds, 1),
    )
    response: SearchResponse | WebSearchResponse = similar.served.response
    if isinstance(response, WebSearchResponse):
        provider = response.results[0].provider
        return answer.model_copy(update={"results": _pages(response.results), "provider": provider})
    shared = ("text", "citations", "sources", "provider", "model", "responded_at")
    return answer.model_copy(update={name: getattr(response, name) for name in shared})


def _pages(results: Sequence[WebResult]) -> tuple[FoundPage, ...]:
    return tuple(
        FoundPage(title=result.title, link=result.link, snippet=result.snippet)
        for result in results
    )


def _tool(similar: Similar) -> str:
    if similar.kind == "answers":
        return "search_web"
    return "search_news" if similar.query.topic == "news" else "web_search"
