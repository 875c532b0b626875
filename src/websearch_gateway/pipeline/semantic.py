"""Answers to questions that mean the same: the exact cache, and behind it the answers of questions put in other words.

What is alike is found by vectors, and what means the same is judged by `text.meaning`: no vector tells "with nuts" from
"without nuts". The figures are in `docs/semantic-cache.md`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.pipeline.asked import AskedQuestions, QuickEmbedder, label_of_all, label_of_same, owner_name
from websearch_gateway.pipeline.recall import AnswerCache, ExactCache, Scope
from websearch_gateway.pipeline.remembered import Served
from websearch_gateway.pipeline.vector_index import Neighbour
from websearch_gateway.ports import State
from websearch_gateway.text.meaning.frames import read
from websearch_gateway.text.meaning.guard import difference
from websearch_gateway.text.meaning.language import language
from websearch_gateway.text.meaning.timely import is_timely
from websearch_gateway.wire.answer import CacheMatch, SearchResponse

LEAST_SIMILARITY = 0.7
CANDIDATES = 5
TIMELY_SECONDS = 60.0
"""For so long the answer to a question about today, a price or this year may serve another wording of it."""


@dataclass(frozen=True, slots=True)
class Similar:
    """A question that was asked, how near it is, its answer, and what that cost."""

    query: SearchQuery
    similarity: float
    response: SearchResponse
    age_seconds: float
    cost_usd: float


def answer_cache(
    state: State, embedder: QuickEmbedder, *, ttl_seconds: float, scope: Scope, semantic: bool
) -> AnswerCache:
    """The cache of answers: exact, and semantic where that is wanted. A `ttl_seconds` of 0 turns it off."""
    exact = ExactCache(state, ttl_seconds=ttl_seconds, scope=scope)
    if not semantic or ttl_seconds <= 0:
        return exact
    return SemanticCache(exact, AskedQuestions(embedder, state, longest_seconds=ttl_seconds))


class SemanticCache:
    """An exact cache that also serves the answer of a question that means the same, asked with the same parameters.

    Args:
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(self, exact: ExactCache, asked: AskedQuestions, *, clock: Callable[[], float] = time.time) -> None:
        self._exact = exact
        self._asked = asked
        self._clock = clock

    def __len__(self) -> int:
        """How many questions can be found by their meaning."""
        return len(self._asked)

    def key(self, query: SearchQuery, caller: Caller) -> str:
        """See AnswerCache."""
        return self._exact.key(query, caller)

    def recent(self, query: SearchQuery, caller: Caller) -> Served[SearchResponse] | None:
        """See AnswerCache. Exact answers only: to look for others takes longer."""
        return self._exact.recent(query, caller)

    async def get(self, query: SearchQuery, caller: Caller) -> Served[SearchResponse] | None:
        """See AnswerCache. The answer to another wording says so: `cache="semantic"`, and how near and old it is."""
        return await self._exact.get(query, caller) or await self._of_another_wording(query, caller)

    async def put(self, query: SearchQuery, caller: Caller, response: SearchResponse) -> None:
        """See AnswerCache."""
        seconds = self._exact.keeps_for(query, response)
        if seconds <= 0 or language(query.text) == "foreign":
            await self._exact.put(query, caller, response)
            return
        owner = owner_name(caller, self._exact.scope)
        await asyncio.gather(self._exact.put(query, caller, response), self._asked.add(query, owner, seconds))

    async def similar(self, query: SearchQuery, caller: Caller, *, least: float, most: int) -> list[Similar]:
        """The answers that the caller may see to questions near to `query`, the nearest first, whatever they mean.

        The parameters with which they were asked do not matter.
        """
        owner = owner_name(caller, self._exact.scope)
        near = await self._asked.nearest(query.text, label_of_all(owner), least=least, most=most)
        return [found for neighbour in near if (found := await self._answer(neighbour, caller)) is not None]

    def in_memory(self) -> Mapping[str, int]:
        """See AnswerCache."""
        return {**self._exact.in_memory(), "questions": len(self._asked)}

    def forget(self) -> None:
        """See AnswerCache."""
        self._exact.forget()
        self._asked.forget()

    async def warm_up(self) -> None:
        """See AnswerCache. The questions of earlier runs are read from now on."""
        await self._asked.warm_up()

    async def close(self) -> None:
        """See AnswerCache."""
        await self._asked.close()

    async def _of_another_wording(self, query: SearchQuery, caller: Caller) -> Served[SearchResponse] | None:
        question = read(query.text)
        if question.language == "foreign" or not question.terms:
            return None
        label = label_of_same(query, owner_name(caller, self._exact.scope))
        oldest = TIMELY_SECONDS if is_timely(query.text, self._this_year()) else float("inf")
        for neighbour in await self._asked.nearest(query.text, label, least=LEAST_SIMILARITY, most=CANDIDATES):
            if difference(question, read(neighbour.item.text)) is not None:
                continue
            found = await self._answer(neighbour, caller)
            if found is not None and found.age_seconds <= oldest:
                match = CacheMatch(similarity=round(found.similarity, 4), age_seconds=round(found.age_seconds, 1))
                response = found.response.model_copy(update={"cache": "semantic", "cache_match": match})
                return Served(response, found.cost_usd)
        return None

    async def _answer(self, neighbour: Neighbour[SearchQuery], caller: Caller) -> Similar | None:
        """The answer that the exact cache has for this caller; a question that has none any more is forgotten."""
        found = await self._exact.get(neighbour.item, caller)
        age = None if found is None else self._age(found.response)
        if found is None or age is None:
            self._asked.discard(neighbour)
            return None
        return Similar(neighbour.item, neighbour.similarity, found.response, age, found.saved_usd)

    def _age(self, response: SearchResponse) -> float | None:
        """Seconds since it was given; None when it does not tell."""
        try:
            given = datetime.fromisoformat(response.responded_at)
        except ValueError:
            return None
        return max(0.0, self._clock() - given.timestamp()) if given.tzinfo else None

    def _this_year(self) -> int:
        return time.gmtime(self._clock()).tm_year
