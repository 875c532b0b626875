"""Serves results to questions that mean the same: from the exact cache, else from a question in other words.

Vectors find similar questions, and `same_question` decides whether they mean the same, since no vector tells
"with nuts" from "without nuts". The figures are in `docs/semantic-cache.md`.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from websearch_gateway.cache.exact_cache import ExactCache, KindName, ResultKind
from websearch_gateway.cache.lifetimes import is_timely
from websearch_gateway.cache.result_store import Served
from websearch_gateway.cache.semantic.question_index import (
    Question,
    QuestionIndex,
    label_of_all,
    label_of_same,
    owner_name,
    stored_questions,
)
from websearch_gateway.cache.semantic.same_question import Wording
from websearch_gateway.cache.semantic.vector_index import Neighbour
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.ports import State
from websearch_gateway.results.answer import CacheMatch
from websearch_gateway.results.base import WireModel

LEAST_SIMILARITY = 0.7
CANDIDATES = 5
TIMELY_SECONDS = 60.0
"""The most seconds for which a result about today, a price or this year serves another wording."""

R = TypeVar("R", bound=WireModel)


class SemanticCache(Generic[R]):
    """A ResultCache that also serves the result of a question that means the same, asked with the same parameters.

    Args:
        exact: keeps the results.
        questions: finds similar questions; one index serves the caches of all kinds.
    """

    def __init__(self, exact: ExactCache[R], questions: QuestionIndex) -> None:
        self._exact = exact
        self._questions = questions

    @property
    def kind(self) -> ResultKind[R]:
        """See ResultCache."""
        return self._exact.kind

    def key(self, query: SearchQuery, caller: Caller) -> str:
        """See ResultCache."""
        return self._exact.key(query, caller)

    def recent(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """See ResultCache. Exact results only, since a search for others takes longer."""
        return self._exact.recent(query, caller)

    async def get(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """See ResultCache. The result of another wording has `cache="semantic"` and its similarity."""
        return await self._exact.get(query, caller) or await self._of_another_wording(query, caller)

    async def stale(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """See ResultCache. Exact results only."""
        return await self._exact.stale(query, caller)

    async def put(self, query: SearchQuery, caller: Caller, response: R, *, stopgap: bool = False) -> None:
        """See ResultCache."""
        seconds = self._exact.seconds_fresh(query, response, stopgap=stopgap)
        kept = self._exact.put(query, caller, response, stopgap=stopgap)
        if seconds <= 0 or not Wording.of(query.text).words:
            await kept
            return
        owner = owner_name(caller, self._exact.scope)
        await asyncio.gather(kept, self._questions.add(self.kind.name, query, owner, seconds))

    def in_memory(self) -> Mapping[str, int]:
        """See ResultCache."""
        return self._exact.in_memory()

    def forget(self) -> None:
        """See ResultCache."""
        self._exact.forget()

    async def _of_another_wording(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        question = Wording.of(query.text)
        if not question.words:
            return None
        label = label_of_same(query, owner_name(caller, self._exact.scope), self.kind.name)
        this_year = time.gmtime(self._exact.clock()).tm_year
        oldest = TIMELY_SECONDS if is_timely(query.text, this_year) else math.inf
        for neighbour in await self._questions.nearest(query.text, label, least=LEAST_SIMILARITY, most=CANDIDATES):
            if not question.is_same(Wording.of(neighbour.item.query.text)):
                continue
            found = await self._exact.get(neighbour.item.query, caller)
            if found is None:
                self._questions.discard(neighbour)
            elif found.age_seconds <= oldest:
                return _matched(found, neighbour)
        return None


def _matched(found: Served[R], neighbour: Neighbour[Question]) -> Served[R]:
    match = CacheMatch(similarity=round(neighbour.similarity, 4), age_seconds=round(found.age_seconds, 1))
    return found._replace(response=found.response.model_copy(update={"cache": "semantic", "cache_match": match}))


async def wordings(state: State, text: str) -> set[str]:
    """The stored questions that mean the same as `text`.

    Raises:
        StateUnavailable: the state cannot be read.
    """
    question = Wording.of(text)
    found: set[str] = set()
    if not question.words:
        return found
    async for stored in stored_questions(state):
        if stored not in found and question.is_same(Wording.of(stored)):
            found.add(stored)
        await asyncio.sleep(0)  # the in-memory backend never yields to the event loop
    return found


@dataclass(frozen=True, slots=True)
class Similar:
    """A cached question, its similarity (cosine), and its result."""

    kind: KindName
    query: SearchQuery
    similarity: float
    served: Served[Any]


class SimilarQuestions:
    """Finds cached results of every kind by similar questions, without a check of their meaning.

    Args:
        caches: the exact caches of all kinds that `questions` knows; they have one scope.
    """

    def __init__(self, questions: QuestionIndex, caches: Sequence[ExactCache[Any]]) -> None:
        self._questions = questions
        self._caches = {cache.kind.name: cache for cache in caches}
        self._scope = caches[0].scope

    async def find(self, query: SearchQuery, caller: Caller, *, least: float, most: int) -> list[Similar]:
        """The results that the caller may see for similar questions with any parameters, the most similar first."""
        label = label_of_all(owner_name(caller, self._scope))
        near = await self._questions.nearest(query.text, label, least=least, most=most)
        return [similar for one in near if (similar := await self._similar(one, caller)) is not None]

    async def same(self, query: SearchQuery, caller: Caller) -> Similar | None:
        """The result for the most similar question that means the same, with any parameters."""
        question = Wording.of(query.text)
        for similar in await self.find(query, caller, least=LEAST_SIMILARITY, most=CANDIDATES):
            if similar.query.text.casefold() == query.text.casefold():
                return similar
            if question.is_same(Wording.of(similar.query.text)):
                return similar
        return None

    async def _similar(self, neighbour: Neighbour[Question], caller: Caller) -> Similar | None:
        kind, query = neighbour.item
        cache = self._caches.get(kind)
        if cache is None or (found := await cache.get(query, caller)) is None:
            self._questions.discard(neighbour)
            return None
        return Similar(kind, query, neighbour.similarity, found)
