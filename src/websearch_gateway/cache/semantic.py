"""Serves results to questions that mean the same: from the exact cache, else from a question in other words.

Rules decide whether two questions mean the same (`cache/meaning.py`), since no vector tells "with nuts" from "without
nuts". They also give each question a key that all its wordings share. Under it the state holds the last question that
was asked so, with the same parameters; so one read finds it. `bench/experiments.md` has the figures.

The state holds only the question: a result is always fetched under the key of the asker's own parameters. So a forged
row in the state cannot expose a result that the asker may not see.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ConfigDict, FiniteFloat, ValidationError

from websearch_gateway.base import CacheMemory, SharedCache
from websearch_gateway.cache.clearing import Stamp, question_name
from websearch_gateway.cache.kinds import KindName, ResultKind
from websearch_gateway.cache.lifetimes import Lifetimes, is_timely
from websearch_gateway.cache.meaning import Wording
from websearch_gateway.cache.results import CLOCK_SKEW_SECONDS, ResultCache, Scope, Served, digest
from websearch_gateway.models import LONGEST_QUERY, Caller, SearchQuery
from websearch_gateway.ports import State
from websearch_gateway.results import CacheMatch, WireModel
from websearch_gateway.upstream.best_effort import BestEffort

R = TypeVar("R", bound=WireModel)

TIMELY_SECONDS = 60.0
"""The most seconds for which a result about today, a price or this year serves another wording."""


class SemanticCache(ResultCache[R]):
    """A ResultCache that also serves the result of a question that means the same, asked with the same parameters.

    Args:
        questions: the questions that were asked; one object serves the caches of all kinds.
    """

    def __init__(
        self,
        questions: AskedQuestions,
        state: State,
        kind: ResultKind[R],
        lifetimes: Lifetimes,
        **options: Any,
    ):
        super().__init__(state, kind, lifetimes, **options)
        self._questions = questions

    async def exact(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """As `get`, to the same words only."""
        return await super().get(query, caller)

    async def get(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """As of any ResultCache. The result of another wording has `cache="semantic"` and a `cache_match`."""
        return await self.exact(query, caller) or await self._of_another_wording(query, caller)

    async def put(
        self, query: SearchQuery, caller: Caller, response: R, *, stopgap: bool = False
    ) -> None:
        """As of any ResultCache, and the question is remembered."""
        seconds = self.seconds_fresh(query, response, stopgap=stopgap)
        kept = super().put(query, caller, response, stopgap=stopgap)
        if seconds <= 0:
            await kept
            return
        owner = owner_name(caller, self.scope)
        await asyncio.gather(kept, self._questions.add(self.kind.name, query, owner, seconds))

    async def _of_another_wording(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        wording = Wording.of(query.text)
        if not wording.words:
            return None
        asked = await self._questions.last(
            self.kind.name, query, wording, owner_name(caller, self.scope)
        )
        if asked is None or not wording.is_same(Wording.of(asked.text)):
            return None
        served = await self.exact(asked, caller)
        if served is None or served.age_seconds > self._longest_age(query):
            return None
        match = CacheMatch(age_seconds=round(served.age_seconds, 1))
        response = served.response.model_copy(update={"cache": "semantic", "cache_match": match})
        return served._replace(response=response)

    def _longest_age(self, query: SearchQuery) -> float:
        this_year = time.gmtime(self.clock()).tm_year
        return TIMELY_SECONDS if is_timely(query.text, this_year) else math.inf


PREFIX = "cache/near/"


class QuestionRow(Stamp):
    """A question in the state. `owner` comes from `owner_name`, `meaning` from `meaning_of`.

    `expires` is in seconds since the epoch.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    stored: FiniteFloat
    owner: str
    expires: FiniteFloat
    kind: KindName
    meaning: str
    query: SearchQuery

    def key(self) -> str:
        """The state key of the row: one for all wordings of a question with the same parameters."""
        return _key_of(self.kind, self.query, self.meaning, self.owner)


def _key_of(kind: KindName, query: SearchQuery, meaning: str, owner: str) -> str:
    return f"{PREFIX}{digest(replace(query, text=meaning), owner, kind).hex()}"


def meaning_of(wording: Wording) -> str:
    """A short name of what a question asks, the same for all its wordings."""
    return hashlib.blake2b(
        wording.key().encode("utf-8", "surrogatepass"), digest_size=16
    ).hexdigest()


def owner_name(caller: Caller, scope: Scope) -> str:
    """The owner of the results that the caller may see, as a digest; "" if all callers share the results."""
    if scope == "shared":
        return ""
    return hashlib.blake2b(caller.user.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class AskedQuestions:
    """The last question asked for each meaning, set of parameters and owner: in memory, and in the state.

    Those in memory serve while the state is down.

    Args:
        longest_seconds: rows in the state that claim to live longer are ignored.
        memory: shared with the other caches of the process.
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(
        self,
        state: State,
        *,
        longest_seconds: float,
        memory: CacheMemory | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._state = state
        self._longest_seconds = longest_seconds
        self._clock = clock
        self._memory: SharedCache[str, QuestionRow] = SharedCache(memory, clock)
        self._best_effort = BestEffort("Questions are remembered in this process only")

    def __len__(self) -> int:
        """The number of questions in memory."""
        return len(self._memory)

    async def add(self, kind: KindName, query: SearchQuery, owner: str, ttl_seconds: float) -> None:
        """Record that `query` has a result for `ttl_seconds`. A question in another language than English is not kept,
        since no other wording of it is known."""
        wording = Wording.of(query.text)
        if not wording.words:
            return
        now = self._clock()
        row = QuestionRow(
            stored=now,
            question=question_name(query.text),
            owner=owner,
            expires=now + ttl_seconds,
            kind=kind,
            meaning=meaning_of(wording),
            query=query,
        )
        self._memory.put(row.key(), row, expires=row.expires)
        value = row.model_dump_json().encode()
        await self._best_effort(lambda: self._state.put(row.key(), value, ttl_seconds), None)

    async def last(
        self, kind: KindName, query: SearchQuery, wording: Wording, owner: str
    ) -> SearchQuery | None:
        """The last question of any process with this meaning and the parameters of `query`."""
        key = _key_of(kind, query, meaning_of(wording), owner)
        value = await self._best_effort(lambda: self._state.get(key), None)
        row = self.validated(key, value or b"") or self._memory.get(key)
        return row.query if row is not None else None

    def in_this_process(self) -> list[QuestionRow]:
        """The questions in memory."""
        return self._memory.values()

    async def in_the_state(self, most: int) -> list[QuestionRow]:
        """At most `most` valid rows of the state; none during an outage."""

        async def read() -> list[QuestionRow]:
            rows: list[QuestionRow] = []
            async for entry in self._state.entries(PREFIX):
                row = self.validated(entry.key, entry.value)
                if row is not None:
                    rows.append(row)
                if len(rows) == most:
                    break
                await asyncio.sleep(0)  # the in-memory backend never yields to the event loop
            return rows

        return await self._best_effort(read, [], seconds=None)

    def validated(self, key: str, value: bytes) -> QuestionRow | None:
        """The row if this gateway could have written it under that key."""
        try:
            row = QuestionRow.model_validate_json(value)
        except ValidationError:
            return None
        now = self._clock()
        is_live = now < row.expires <= now + self._longest_seconds
        is_past = row.stored <= now + CLOCK_SKEW_SECONDS
        fits = len(row.query.text) <= LONGEST_QUERY
        return row if is_live and is_past and fits and key == row.key() else None

    def in_memory(self) -> dict[str, int]:
        """How many questions this process holds, for the statistics."""
        return {"questions": len(self)}

    def forget(self) -> None:
        """Drop the questions in memory."""
        self._memory.clear()


async def stored_questions(state: State) -> AsyncIterator[str]:
    """The texts of all questions in the state, of any owner and with any parameters.

    Raises:
        StateUnavailable: the state cannot be read.
    """
    async for entry in state.entries(PREFIX):
        with suppress(ValidationError):
            yield QuestionRow.model_validate_json(entry.value).query.text


async def wordings(state: State, text: str) -> set[str]:
    """The stored questions that mean the same as `text`.

    Raises:
        StateUnavailable: the state cannot be read.
    """
    question = Wording.of(text)
    same: set[str] = set()
    if not question.words:
        return same
    async for stored in stored_questions(state):
        if stored not in same and question.is_same(Wording.of(stored)):
            same.add(stored)
        await asyncio.sleep(0)  # the in-memory backend never yields to the event loop
    return same
