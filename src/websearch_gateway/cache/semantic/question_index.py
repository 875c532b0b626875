"""Indexes cached questions by meaning, in memory and in the shared state.

It holds only questions: a result is always fetched under the key of the asker's own parameters. So a forged row in the
state cannot expose a result that the asker may not see.

Row keys sort by time, so a process reads only the rows that are new since its last read.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pydantic import ConfigDict, FiniteFloat, ValidationError

from websearch_gateway.cache.exact_cache import KindName, Scope, digest
from websearch_gateway.cache.result_store import CLOCK_SKEW_SECONDS, Stamp, question_name
from websearch_gateway.cache.semantic.vector_index import Neighbour, VectorIndex
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.net.own_threads import in_cache_thread
from websearch_gateway.ports import State
from websearch_gateway.resilience.best_effort import WAIT_SECONDS, BestEffort
from websearch_gateway.text.normalise import LONGEST_QUERY

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

MOST_QUESTIONS = 100_000
PREFIX = "cache/near/"

REFRESH_SECONDS = 10.0
"""How often a process in use reads the questions of other processes (seconds)."""

OVERLAP_SECONDS = 60.0
"""How far each read overlaps the previous one (seconds), since clocks differ and a row may be written late."""

_BATCH = 32
_MOST_ON_THE_LOOP = 20_000
"""Up to this many items, a search takes half a millisecond; a larger one runs in a thread."""
_NOBODY = "nobody"


class QuickEmbedder(Protocol):
    """An embedder on this machine that takes microseconds a question."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit vector, or the zero vector, per text."""
        ...


class Question(NamedTuple):
    """A question and the kind of its cached result."""

    kind: KindName
    query: SearchQuery


class _Row(Stamp):
    """A row in the state for a question. `owner` comes from `owner_name`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    stored: FiniteFloat
    owner: str
    expires: FiniteFloat
    kind: KindName
    query: SearchQuery

    @classmethod
    def of(cls, kind: KindName, query: SearchQuery, owner: str, expires: float, stored: float) -> _Row:
        """The row. It omits the payer, since the next caller pays for the next search."""
        name, query = question_name(query.text), replace(query, user=_NOBODY)
        return cls(stored=stored, question=name, owner=owner, expires=expires, kind=kind, query=query)

    def digest(self) -> bytes:
        return digest(self.query, self.owner, self.kind)

    def key(self) -> str:
        return f"{_key_of(self.stored)}-{self.digest().hex()}"

    def value(self) -> bytes:
        return self.model_dump_json().encode()

    def labels(self) -> tuple[int, int]:
        return label_of_all(self.owner), label_of_same(self.query, self.owner, self.kind)


def _key_of(moment: float) -> str:
    """The key prefix of rows that were stored at `moment` (seconds since the epoch)."""
    return f"{PREFIX}{max(0, math.floor(moment * 1000)):015d}"


async def stored_questions(state: State) -> AsyncIterator[str]:
    """The texts of all questions in the state, of any owner and with any parameters.

    Raises:
        StateUnavailable: the state cannot be read.
    """
    async for entry in state.entries(PREFIX):
        with suppress(ValidationError):
            yield _Row.model_validate_json(entry.value).query.text


def question_row(
    query: SearchQuery, owner: str, expires: float, stored: float, kind: KindName = "answers"
) -> tuple[str, bytes]:
    """The key and value of a question's row, which the state holds until `expires`."""
    row = _Row.of(kind, query, owner, expires, stored)
    return row.key(), row.value()


def owner_name(caller: Caller, scope: Scope) -> str:
    """The owner of the results that the caller may see, as a digest; "" if all callers share the results."""
    if scope == "shared":
        return ""
    return hashlib.blake2b(caller.user.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def label_of_all(owner: str) -> int:
    """The label of all questions of an owner."""
    return int.from_bytes(hashlib.blake2b(owner.encode(), digest_size=8).digest(), signed=True)


def label_of_same(query: SearchQuery, owner: str, kind: KindName = "answers") -> int:
    """The label of an owner's questions that have the parameters of `query` and results of one kind."""
    return int.from_bytes(digest(replace(query, text=""), owner, kind)[:8], signed=True)


class QuestionIndex:
    """Finds similar questions.

    A background task reads the questions of other processes and of earlier runs from the state: all of them first, then
    the new ones every REFRESH_SECONDS. A search waits at most half a second for it.

    Args:
        longest_seconds: the index ignores rows in the state that claim to live longer.
        clock: seconds since the epoch, the same in all processes.
        most: the most questions in memory.
    """

    def __init__(
        self,
        embedder: QuickEmbedder,
        state: State,
        *,
        longest_seconds: float,
        clock: Callable[[], float] = time.time,
        most: int = MOST_QUESTIONS,
    ) -> None:
        self._embedder = embedder
        self._state = state
        self._longest_seconds = longest_seconds
        self._clock = clock
        self._most = most
        self._index: VectorIndex[Question] | None = None
        self._opening = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None
        self._read_until = -math.inf
        self._next_read = -math.inf
        self._reading_since = 0.0
        self._best_effort = BestEffort("Questions are remembered in this process only")

    def __len__(self) -> int:
        """The number of questions in memory."""
        return 0 if self._index is None else len(self._index)

    async def add(self, kind: KindName, query: SearchQuery, owner: str, ttl_seconds: float) -> None:
        """Record that `query` has a result for `ttl_seconds`."""
        now = self._clock()
        row = _Row.of(kind, query, owner, now + ttl_seconds, now)
        index = await self._open()
        self._put(index, [row], self._embedder.encode([query.text]))
        await self._best_effort(lambda: self._state.put(row.key(), row.value(), ttl_seconds), None)

    async def nearest(self, text: str, label: int, *, least: float, most: int) -> list[Neighbour[Question]]:
        """The questions of a label with a similarity to `text` of at least `least`, the nearest first."""
        index = await self._open()
        await self._wait_for_read(WAIT_SECONDS)
        search = partial(index.nearest, self._embedder.encode([text])[0], label, least=least, most=most)
        if len(index) <= _MOST_ON_THE_LOOP:
            return search(now=self._clock())
        return await in_cache_thread(search, now=self._clock())

    def discard(self, neighbour: Neighbour[Question]) -> None:
        """Forget a question whose result is gone."""
        if self._index is not None:
            self._index.discard(neighbour.key)

    def in_memory(self) -> dict[str, int]:
        """The number of questions in memory."""
        return {"questions": len(self)}

    def forget(self) -> None:
        """Drop the questions in memory. The next use reads the state again."""
        self._index = None
        self._read_until = self._next_read = -math.inf

    async def warm_up(self) -> None:
        """Load everything that the first question would wait for, and start to read the questions of earlier runs."""
        await self._open()

    async def settled(self) -> None:
        """Wait until no read of the state is in progress."""
        await self._wait_for_read(math.inf)

    async def close(self) -> None:
        """Stop reading. Idempotent."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _open(self) -> VectorIndex[Question]:
        if self._index is None:
            async with self._opening:
                if self._index is None:
                    self._index = await in_cache_thread(self._load)
        is_reading = self._reading is not None and not self._reading.done()
        if not is_reading and self._clock() >= self._next_read:
            self._next_read = self._clock() + REFRESH_SECONDS
            self._reading_since = asyncio.get_running_loop().time()
            self._reading = asyncio.create_task(self._read(self._index))
        return self._index

    async def _wait_for_read(self, seconds: float) -> None:
        """Wait for the read in progress, until at most `seconds` after its start."""
        left = self._reading_since + seconds - asyncio.get_running_loop().time()
        if self._reading is not None and not self._reading.done() and left > 0:
            await asyncio.wait([self._reading], timeout=None if left == math.inf else left)

    def _load(self) -> VectorIndex[Question]:
        """Load numpy and the model: about 150 ms."""
        self._embedder.encode(["warm up"])
        return VectorIndex(self._embedder.dimensions, self._most)

    async def _read(self, index: VectorIndex[Question]) -> None:
        """Put new valid rows of the state into `index`. After an outage, read the same rows again."""
        began = self._clock()

        async def read_all() -> bool:
            async for rows in self._batches(index):
                vectors = await in_cache_thread(self._embedder.encode, [row.query.text for row in rows])
                self._put(index, rows, vectors)
            return True

        if await self._best_effort(read_all, otherwise=False, seconds=None) and index is self._index:
            self._read_until = began

    async def _batches(self, index: VectorIndex[Question]) -> AsyncIterator[list[_Row]]:
        rows: list[_Row] = []
        seen = 0
        start = max(self._read_until, self._clock() - self._longest_seconds) - OVERLAP_SECONDS
        async for entry in self._state.entries(PREFIX, _key_of(start)):
            rows += [row for row in self._validated(entry.key, entry.value) if index.expiry(row.digest()) < row.expires]
            seen += 1
            if len(rows) == _BATCH:
                yield rows
                rows = []
            if seen == 2 * self._most:
                break
        yield rows

    def _validated(self, key: str, value: bytes) -> list[_Row]:
        """A list of the row if this gateway could have written it under that key; otherwise empty."""
        try:
            row = _Row.model_validate_json(value)
        except ValidationError:
            return []
        now = self._clock()
        is_live = now < row.expires <= now + self._longest_seconds and row.stored <= now + CLOCK_SKEW_SECONDS
        if not is_live or key != row.key() or len(row.query.text) > LONGEST_QUERY:
            return []
        return [_Row.of(row.kind, row.query, row.owner, row.expires, row.stored)]

    def _put(self, index: VectorIndex[Question], rows: Sequence[_Row], vectors: Vectors) -> None:
        now = self._clock()
        for row, vector in zip(rows, vectors, strict=True):
            if vector.any():  # zero if the model knows none of its words
                index.put(row.digest(), vector, row.labels(), row.expires, Question(row.kind, row.query), now=now)
