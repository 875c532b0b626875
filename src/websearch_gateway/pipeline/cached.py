"""What is asked of the cache alone: no upstream is called, nothing is paid and no limit counts it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from websearch_gateway.errors import SearchNotConfiguredError, SearchValidationError
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.pipeline.deadline import one_deadline
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.recall import AnswerCache
from websearch_gateway.pipeline.semantic import SemanticCache, Similar
from websearch_gateway.pipeline.telemetry import Telemetry
from websearch_gateway.wire.cache import CachedAnswer, SimilarAnswer, SimilarAnswers

MOST_SIMILAR = 20


@dataclass(frozen=True, slots=True)
class CachedAnswers:
    """Answers out of the cache. One per process.

    `threshold` is how near a question must be where the call does not say.
    """

    guard: Guard
    cache: AnswerCache
    telemetry: Telemetry
    threshold: float
    deadline_seconds: float

    async def search(self, text: str, caller: Caller) -> CachedAnswer:
        """What `search_web` would answer from its cache, asked with no parameter but the query.

        Raises:
            SearchValidationError: the question is unacceptable.
            SearchTimeoutError: the state did not answer in time.
        """
        with self.telemetry.call(text, tool="search_cached") as event:
            query = self._checked(text, caller)
            async with one_deadline(self.deadline_seconds):
                known = self.cache.recent(query, caller) or await self.cache.get(query, caller)
            if known is None:
                event.served("cache", 0)
                return CachedAnswer()
            event.served("cache", len(known.response.citations), cache=known.response.cache)
            return CachedAnswer(**dict(known.response), found=True)

    async def similar(
        self, text: str, caller: Caller, *, threshold: float | None = None, limit: int = 5
    ) -> SimilarAnswers:
        """The cached answers to questions near to this one, the nearest first.

        Args:
            threshold: the least cosine, 0 to 1; by default the operator's.
            limit: how many at most, 1 to MOST_SIMILAR.

        Raises:
            SearchValidationError: the question, the threshold or the limit is unacceptable.
            SearchNotConfiguredError: the semantic cache is off.
            SearchTimeoutError: the state did not answer in time.
        """
        with self.telemetry.call(text, tool="search_similar") as event:
            query = self._checked(text, caller)
            least = self.threshold if threshold is None else threshold
            if not 0 <= least <= 1:
                raise _out_of_range("threshold", "a number from 0 to 1")
            if not 1 <= limit <= MOST_SIMILAR:
                raise _out_of_range("limit", f"a whole number from 1 to {MOST_SIMILAR}")
            if not isinstance(self.cache, SemanticCache):
                raise SearchNotConfiguredError("Similar questions are not kept here. SEMANTIC_CACHE turns that on.")
            async with one_deadline(self.deadline_seconds):
                found = await self.cache.similar(query, caller, least=least, most=limit)
            event.served("cache", len(found))
            return SimilarAnswers(results=tuple(map(_told, found)))

    def _checked(self, text: str, caller: Caller) -> SearchQuery:
        return replace(self.guard.check(text).query, user=caller.user)


def _out_of_range(field: str, demand: str) -> SearchValidationError:
    return SearchValidationError(f"`{field}` must be {demand}.", details={"field": field, "allowed": demand})


def _told(found: Similar) -> SimilarAnswer:
    response = found.response
    return SimilarAnswer(
        query=found.query.text,
        similarity=round(found.similarity, 4),
        age_seconds=round(found.age_seconds, 1),
        text=response.text,
        citations=response.citations,
        provider=response.provider,
        responded_at=response.responded_at,
    )
