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

from websearch_gateway.base import in_cache_thread
from websearch_gateway.cache.meaning import Wording
from websearch_gateway.cache.results import KindName, Served
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
"""The most questions of the state to compare: their vectors take 10 MB."""

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
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        embedder: QuickEmbedder,
        questions: AskedQuestions,
        caches: Sequence[SemanticCache[Any]],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._embedder = embedder
        self._questions = questions
        self._caches = {cache.kind.name: cache for cache in caches}
        self._scope = caches[0].scope
        self._clock = clock
        self._reading = asyncio.Lock()
        self._rows: dict[str, QuestionRow] = {}
        self._vectors: dict[str, Any] = {}
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
            if similarities[place] < least or len(similar) == most:
                break
            served = await self._served(rows[place], caller)
            if served is not None:
                similar.append(
                    Similar(
                        rows[place].kind, rows[place].query, min(similarities[place], 1.0), served
                    )
                )
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
                self._rows = {
                    row.key(): row for row in await self._questions.in_the_state(MOST_COMPARED)
                }
                self._read_at = now
        owner = owner_name(caller, self._scope)
        rows = {**self._rows, **{row.key(): row for row in self._questions.in_this_process()}}
        return [row for row in rows.values() if row.owner == owner and row.expires > now]

    async def _compared(self, text: str, rows: Sequence[QuestionRow]) -> list[float]:
        """The cosine of a text with each question; 0 if the embedder knows none of its words."""
        return await in_cache_thread(self._cosines, text, [row.query.text for row in rows])

    def _cosines(self, text: str, questions: Sequence[str]) -> list[float]:
        import numpy as np

        unknown = list(set(questions) - self._vectors.keys())
        asked, *vectors = self._embedder.encode([text, *unknown])
        embedded = {**self._vectors, **dict(zip(unknown, vectors, strict=True))}
        self._vectors = {question: embedded[question] for question in questions}
        if not questions:
            return []
        cosines: list[float] = (
            np.stack([embedded[question] for question in questions]) @ asked
        ).tolist()
        return cosines

    async def _served(self, row: QuestionRow, caller: Caller) -> Served[Any] | None:
        cache = self._caches.get(row.kind)
        return None if cache is None else await cache.exact(row.query, caller)
