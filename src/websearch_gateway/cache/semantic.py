"""Serves results to questions that mean the same: from the exact cache, else from a question in other words.

Vectors find similar questions, and `cache/meaning.py` decides whether they mean the same, since no vector tells
"with nuts" from "without nuts". `bench/experiments.md` has the figures.

The index holds only questions: a result is always fetched under the key of the asker's own parameters. So a forged row
in the state cannot expose a result that the asker may not see. Row keys sort by time, so a process reads only the rows
that are new since its last read.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic import ConfigDict, FiniteFloat, ValidationError

from websearch_gateway.base import in_cache_thread
from websearch_gateway.cache.meaning import Wording
from websearch_gateway.cache.results import (
    CLOCK_SKEW_SECONDS,
    KindName,
    Lifetimes,
    ResultCache,
    ResultKind,
    Scope,
    Served,
    Stamp,
    digest,
    is_timely,
    question_name,
)
from websearch_gateway.models import LONGEST_QUERY, Caller, SearchQuery
from websearch_gateway.ports import State
from websearch_gateway.results import CacheMatch, WireModel
from websearch_gateway.upstream.layers import WAIT_SECONDS, BestEffort

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


R = TypeVar("R", bound=WireModel)

T = TypeVar("T")

LEAST_SIMILARITY = 0.7
CANDIDATES = 5
TIMELY_SECONDS = 60.0
"""The most seconds for which a result about today, a price or this year serves another wording."""


class SemanticCache(ResultCache[R]):
    """A ResultCache that also serves the result of a question that means the same, asked with the same parameters.

    Args:
        questions: finds similar questions; one index serves the caches of all kinds.
    """

    def __init__(
        self, questions: QuestionIndex, state: State, kind: ResultKind[R], lifetimes: Lifetimes, **options: Any
    ):
        super().__init__(state, kind, lifetimes, **options)
        self._questions = questions

    async def exact(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """As `get`, to the same words only."""
        return await super().get(query, caller)

    async def get(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """As of any ResultCache. The result of another wording has `cache="semantic"` and its similarity."""
        return await self.exact(query, caller) or await self._of_another_wording(query, caller)

    async def put(self, query: SearchQuery, caller: Caller, response: R, *, stopgap: bool = False) -> None:
        """As of any ResultCache, and the question is remembered."""
        seconds = self.seconds_fresh(query, response, stopgap=stopgap)
        kept = super().put(query, caller, response, stopgap=stopgap)
        if seconds <= 0 or not Wording.of(query.text).words:
            await kept
            return
        owner = owner_name(caller, self.scope)
        await asyncio.gather(kept, self._questions.add(self.kind.name, query, owner, seconds))

    async def _of_another_wording(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        question = Wording.of(query.text)
        if not question.words:
            return None
        label = label_of_same(query, owner_name(caller, self.scope), self.kind.name)
        this_year = time.gmtime(self.clock()).tm_year
        oldest = TIMELY_SECONDS if is_timely(query.text, this_year) else math.inf
        for neighbour in await self._questions.nearest(query.text, label, least=LEAST_SIMILARITY, most=CANDIDATES):
            if not question.is_same(Wording.of(neighbour.item.query.text)):
                continue
            found = await self.exact(neighbour.item.query, caller)
            if found is None:
                self._questions.discard(neighbour)
            elif found.age_seconds <= oldest:
                match = CacheMatch(similarity=round(neighbour.similarity, 4), age_seconds=round(found.age_seconds, 1))
                update = {"cache": "semantic", "cache_match": match}
                return found._replace(response=found.response.model_copy(update=update))
        return None


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
        caches: those of all kinds that `questions` knows; they have one scope.
    """

    def __init__(self, questions: QuestionIndex, caches: Sequence[SemanticCache[Any]]) -> None:
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
        if cache is None or (found := await cache.exact(query, caller)) is None:
            self._questions.discard(neighbour)
            return None
        return Similar(kind, query, neighbour.similarity, found)


MOST_QUESTIONS = 20_000
"""The most questions in memory: under 30 MB, and a search takes a millisecond, short enough for the event loop."""

PREFIX = "cache/near/"

REFRESH_SECONDS = 10.0
"""How often a process in use reads the questions of other processes (seconds)."""

OVERLAP_SECONDS = 60.0
"""How far each read overlaps the previous one (seconds), since clocks differ and a row may be written late."""

LOAD_AFTER_SECONDS = 1.0
"""When to load the embedder after the first question was added (seconds), so that its answer leaves first."""

_BATCH = 32


class QuickEmbedder(Protocol):
    """An embedder on this machine that takes microseconds a question."""

    @property
    def dimensions(self) -> int: ...

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
        """The row."""
        return cls(
            stored=stored, question=question_name(query.text), owner=owner, expires=expires, kind=kind, query=query
        )

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
    the new ones every REFRESH_SECONDS. A search waits at most half a second for it. The embedder is loaded for the
    first stored question, or soon after the first new one, since loading takes a third of the time of a first answer.

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
        self._not_embedded: list[_Row] = []
        self._opening = asyncio.Lock()
        self._loading: asyncio.Task[VectorIndex[Question]] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._read_until = -math.inf
        self._next_read = -math.inf
        self._reading_since = 0.0
        self._best_effort = BestEffort("Questions are remembered in this process only")

    def __len__(self) -> int:
        """The number of questions in memory."""
        return len(self._not_embedded) if self._index is None else len(self._index)

    async def add(self, kind: KindName, query: SearchQuery, owner: str, ttl_seconds: float) -> None:
        """Record that `query` has a result for `ttl_seconds`."""
        now = self._clock()
        row = _Row.of(kind, query, owner, now + ttl_seconds, now)
        if self._index is None:
            self._not_embedded = [*self._not_embedded, row][-self._most :]
            if self._loading is None or self._loading.done():
                self._loading = asyncio.create_task(self._loaded(LOAD_AFTER_SECONDS))
        else:
            self._put(self._index, [row], self._embedder.encode([query.text]))
        await self._best_effort(lambda: self._state.put(row.key(), row.value(), ttl_seconds), None)

    async def nearest(self, text: str, label: int, *, least: float, most: int) -> list[Neighbour[Question]]:
        """The questions of a label with a similarity to `text` of at least `least`, the nearest first."""
        self._begin_read()
        await self._wait_for_read(WAIT_SECONDS)
        if self._index is None and (self._not_embedded or self._opening.locked()):
            await self._loaded()
            await self._wait_for_read(WAIT_SECONDS)
        if (index := self._index) is None:
            return []
        return index.nearest(self._embedder.encode([text])[0], label, least=least, most=most, now=self._clock())

    def discard(self, neighbour: Neighbour[Question]) -> None:
        """Forget a question whose result is gone."""
        if self._index is not None:
            self._index.discard(neighbour.key)

    def in_memory(self) -> dict[str, int]:
        return {"questions": len(self)}

    def forget(self) -> None:
        for task in self._tasks():
            task.cancel()
        self._index = self._reading = self._loading = None
        self._not_embedded = []
        self._read_until = self._next_read = -math.inf

    async def warm_up(self) -> None:
        """Start to read the questions of earlier runs, and to load what they need."""
        self._begin_read()

    async def settled(self) -> None:
        await self._wait_for_read(math.inf)

    async def close(self) -> None:
        """Stop reading. Idempotent."""
        for task in self._tasks():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _tasks(self) -> list[asyncio.Task[Any]]:
        return [task for task in (self._reading, self._loading) if task is not None]

    async def _loaded(self, after_seconds: float = 0.0) -> VectorIndex[Question]:
        if after_seconds:
            await asyncio.sleep(after_seconds)
        async with self._opening:
            if self._index is None:
                await in_cache_thread(self._embedder.encode, ["warm up"])  # loads numpy and the model: about 150 ms
                index: VectorIndex[Question] = VectorIndex(self._embedder.dimensions, self._most)
                rows, self._not_embedded = self._not_embedded, []
                self._put(index, rows, self._embedder.encode([row.query.text for row in rows]))
                self._index = index
                self._reading_since = asyncio.get_running_loop().time()  # a search does not wait less for the rows
            return self._index

    def _begin_read(self) -> None:
        is_reading = self._reading is not None and not self._reading.done()
        if not is_reading and self._clock() >= self._next_read:
            self._next_read = self._clock() + REFRESH_SECONDS
            self._reading_since = asyncio.get_running_loop().time()
            self._reading = asyncio.create_task(self._read())

    async def _wait_for_read(self, seconds: float) -> None:
        """Wait for the read in progress, until at most `seconds` after its start."""
        left = self._reading_since + seconds - asyncio.get_running_loop().time()
        if self._reading is not None and not self._reading.done() and left > 0:
            await asyncio.wait([self._reading], timeout=None if left == math.inf else left)

    async def _read(self) -> None:
        """Put new valid rows of the state into the index. After an outage, read the same rows again."""
        began = self._clock()

        async def read_all() -> bool:
            async for rows in self._batches():
                index = await self._loaded()
                vectors = await in_cache_thread(self._embedder.encode, [row.query.text for row in rows])
                self._put(index, rows, vectors)
            return True

        if await self._best_effort(read_all, otherwise=False, seconds=None):
            self._read_until = began

    async def _batches(self) -> AsyncIterator[list[_Row]]:
        rows: list[_Row] = []
        seen = 0
        start = max(self._read_until, self._clock() - self._longest_seconds) - OVERLAP_SECONDS
        async for entry in self._state.entries(PREFIX, _key_of(start)):
            rows += [row for row in self._validated(entry.key, entry.value) if self._expiry(row) < row.expires]
            seen += 1
            if len(rows) == _BATCH:
                yield rows
                rows = []
            if seen == 2 * self._most:
                break
        if rows:
            yield rows

    def _expiry(self, row: _Row) -> float:
        return 0.0 if self._index is None else self._index.expiry(row.digest())

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


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


_LARGEST = 127  # of a signed byte
_BLOCK_ROWS = 1_024  # so many at once stay in the processor's cache


class Neighbour(NamedTuple, Generic[T]):
    """An item and the cosine of its vector with the query's."""

    similarity: float
    key: bytes
    item: T


class VectorIndex(Generic[T]):
    """Items by their unit vectors, one signed byte per number. A search of 20,000 takes one or two milliseconds.

    It is a ring buffer: when it is full, a new item replaces the oldest.

    An item has two labels, and a search sees the items that have its label. One thread may search while another puts;
    the search may then miss the newest change.
    """

    def __init__(self, dimensions: int, most: int) -> None:
        import numpy as np

        self._most = most
        # Memory takes no space before the first write.
        self._numbers = np.zeros((most, dimensions), dtype=np.int8)
        self._scales = np.zeros(most, dtype=np.float32)
        self._labels = np.zeros((2, most), dtype=np.int64)
        self._expires = np.zeros(most, dtype=np.float64)
        self._keys: list[bytes | None] = []
        self._items: list[T | None] = []
        self._slots: dict[bytes, int] = {}
        self._oldest = 0  # counts all items ever put; the slot is the remainder by `most`
        self._next = 0

    def __len__(self) -> int:
        """The number of items, including expired ones that no search has removed yet."""
        return len(self._slots)

    def put(self, key: bytes, vector: Vector, labels: tuple[int, int], expires: float, item: T, *, now: float) -> None:
        """Add an item, or replace the item of that key."""
        import numpy as np

        self._remove_expired(now)
        if (slot := self._slots.get(key)) is None:
            slot = self._free_slot()
            self._slots[key] = slot
        scale = float(np.abs(vector).max()) / _LARGEST or 1.0
        self._expires[slot] = 0.0  # no search sees a half-written item
        self._numbers[slot] = np.rint(vector / scale)
        self._scales[slot] = scale
        self._labels[:, slot] = labels
        self._keys[slot], self._items[slot] = key, item
        self._expires[slot] = expires

    def expiry(self, key: bytes) -> float:
        """The moment at which the item of that key expires; 0 if there is none."""
        slot = self._slots.get(key)
        return 0.0 if slot is None else float(self._expires[slot])

    def discard(self, key: bytes) -> None:
        """Remove an item, if it is there."""
        if (slot := self._slots.pop(key, None)) is not None:
            self._expires[slot] = 0.0
            self._keys[slot] = self._items[slot] = None

    def nearest(self, vector: Vector, label: int, *, least: float, most: int, now: float) -> list[Neighbour[T]]:
        """The unexpired items of a label with a cosine of at least `least`, the nearest first."""
        import numpy as np

        span = slice(0, self._most) if self._next > self._most else slice(self._oldest, self._next)
        seen = ((self._labels[:, span] == label).any(axis=0)) & (self._expires[span] > now)
        slots = np.flatnonzero(seen)
        if not slots.size:
            return []
        slots = slots + (span.start or 0)
        blocks = (slots[start : start + _BLOCK_ROWS] for start in range(0, slots.size, _BLOCK_ROWS))
        products = np.concatenate([self._numbers[block].astype(np.float32) @ vector for block in blocks])
        similarities = products * self._scales[slots]
        order = np.argsort(-similarities, kind="stable")[:most]
        found = ((float(similarities[place]), int(slots[place])) for place in order)
        return [
            Neighbour(min(similarity, 1.0), key, item)
            for similarity, slot in found
            if similarity >= least and (key := self._keys[slot]) is not None and (item := self._items[slot]) is not None
        ]

    def _free_slot(self) -> int:
        slot = self._next % self._most
        if slot == len(self._keys):
            self._keys.append(None)
            self._items.append(None)
        elif (key := self._keys[slot]) is not None:
            self.discard(key)
        self._next += 1
        return slot

    def _remove_expired(self, now: float) -> None:
        self._oldest = max(self._oldest, self._next - self._most)
        while self._oldest < self._next and self._expires[slot := self._oldest % self._most] <= now:
            if (key := self._keys[slot]) is not None:
                self.discard(key)
            self._oldest += 1
