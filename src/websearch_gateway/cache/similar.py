"""Finds cached results by similar questions, for callers who want to see what is there (`search_similar`).

No other call needs vectors, so they are computed when somebody asks: the questions in the state are read at most once
in REFRESH_SECONDS, and those of this process each time.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from websearch_gateway.base import CacheMemory, SharedCache, in_cache_thread
from websearch_gateway.cache.kinds import KindName
from websearch_gateway.cache.meaning import Wording
from websearch_gateway.cache.results import Served
from websearch_gateway.cache.semantic import (
    AskedQuestions,
    QuestionRow,
    SemanticCache,
    meaning_of,
    owner_name,
)
from websearch_gateway.models import Caller, SearchQuery

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

MOST_COMPARED = 10_000
"""The most questions of the state to compare: they and their vectors take some 40 MB of the caches' memory."""

REFRESH_SECONDS = 60.0
"""How old the list of other processes' questions may be. Firestore charges for each row that is read."""


class QuickEmbedder(Protocol):
    """An embedder on this machine that takes microseconds a question."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit vector, or the zero vector, per text."""
        ...


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
        caches: those of all kinds that `questions` knows; they have one scope.
        memory: shared with the other caches of the process.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        embedder: QuickEmbedder,
        questions: AskedQuestions,
        caches: Sequence[SemanticCache[Any]],
        *,
        memory: CacheMemory | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._embedder = embedder
        self._questions = questions
        self._caches = {cache.kind.name: cache for cache in caches}
        self._scope = caches[0].scope
        self._clock = clock
        self._reading = asyncio.Lock()
        self._rows: SharedCache[str, QuestionRow] = SharedCache(memory, clock)
        self._vectors: SharedCache[str, Any] = SharedCache(self._rows.memory)
        self._read_at = -math.inf

    async def find(
        self, query: SearchQuery, caller: Caller, *, least: float, most: int
    ) -> list[Similar]:
        """The results that the caller may see for similar questions with any parameters, the most similar first."""
        rows = await self._visible(caller)
        similarities = await self._compared(query.text, rows)
        order = sorted(range(len(rows)), key=lambda place: -similarities[place])
        similar: list[Similar] = []
        for place in order:
            row, similarity = rows[place], similarities[place]
            if similarity < least or len(similar) == most:
                break
            served = await self._served(row, caller)
            if served is not None:
                # Rounding makes some cosines a little larger than 1.
                similar.append(Similar(row.kind, row.query, min(similarity, 1.0), served))
        return similar

    async def same(self, query: SearchQuery, caller: Caller) -> Similar | None:
        """A result for a question that means the same, with any parameters; one in the same words first."""
        wording = Wording.of(query.text)
        if not wording.words:
            return None
        meaning = meaning_of(wording)
        rows = [row for row in await self._visible(caller) if row.meaning == meaning]
        rows.sort(key=lambda row: row.query.text.casefold() != query.text.casefold())
        for row in rows:
            if not wording.is_same(Wording.of(row.query.text)):
                continue
            served = await self._served(row, caller)
            if served is not None:
                return Similar(row.kind, row.query, 1.0, served)
        return None

    async def _visible(self, caller: Caller) -> list[QuestionRow]:
        """The live questions whose results the caller may see."""
        async with self._reading:
            now = self._clock()
            if now - self._read_at >= REFRESH_SECONDS:
                rows = await self._questions.in_the_state(MOST_COMPARED)
                self._rows.clear()
                for row in rows:
                    self._rows.put(row.key(), row, expires=row.expires)
                self._read_at = now
        owner = owner_name(caller, self._scope)
        everyone = [*self._rows.values(), *self._questions.in_this_process()]
        visible = {row.key(): row for row in everyone if row.owner == owner}
        return list(visible.values())

    async def _compared(self, text: str, rows: Sequence[QuestionRow]) -> list[float]:
        """The cosine of a text with each question; 0 if the embedder knows none of its words."""
        questions = [row.query.text for row in rows]
        vectors = {question: self._vectors.get(question) for question in questions}
        new = [question for question, vector in vectors.items() if vector is None]
        asked, *embedded = await in_cache_thread(self._embedder.encode, [text, *new])
        for question, vector in zip(new, embedded, strict=True):
            vectors[question] = vector
            self._vectors.put(question, vector)
        return await in_cache_thread(_cosines, asked, [vectors[question] for question in questions])

    async def _served(self, row: QuestionRow, caller: Caller) -> Served[Any] | None:
        cache = self._caches.get(row.kind)
        return None if cache is None else await cache.exact(row.query, caller)


def _cosines(asked: Any, vectors: Sequence[Any]) -> list[float]:
    import numpy as np

    if not vectors:
        return []
    cosines: list[float] = (np.stack(vectors) @ asked).tolist()
    return cosines
