"""The questions whose answers are known, by what they mean: in memory, and behind that in the shared state.

Only the questions: an answer is always fetched under the key that the asker's own parameters give it. So what somebody
else wrote into the state can bring no answer to light that its reader may not see.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from pydantic import ConfigDict, FiniteFloat, ValidationError

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.pipeline.guard import LONGEST_QUERY
from websearch_gateway.pipeline.recall import Scope, digest
from websearch_gateway.pipeline.remembered import Stamp, question_name
from websearch_gateway.pipeline.vector_index import Neighbour, VectorIndex
from websearch_gateway.ports import State

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

MOST_QUESTIONS = 100_000
PREFIX = "cache/near/"

_BATCH = 32
_MOST_ON_THE_LOOP = 20_000
"""To search so many takes half a millisecond; more than that is done in a thread."""
_NOBODY = "nobody"
_PATIENCE_SECONDS = 0.5
_RETRY_SECONDS = 60.0

_log = logging.getLogger(__name__)


class QuickEmbedder(Protocol):
    """An embedder on this machine that takes microseconds a question."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit vector, or the zero vector, per text."""
        ...


class _Row(Stamp):
    """What the state holds of a question. `owner` is as `owner_name` gives it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    owner: str
    expires: FiniteFloat
    query: SearchQuery

    @classmethod
    def of(cls, query: SearchQuery, owner: str, expires: float, stored: float | None = None) -> _Row:
        """Who pays is no part of it: that is whoever asks again."""
        name = question_name(query.text)
        return cls(stored=stored, question=name, owner=owner, expires=expires, query=replace(query, user=_NOBODY))

    def digest(self) -> bytes:
        return digest(self.query, self.owner)

    def key(self) -> str:
        return PREFIX + self.digest().hex()

    def value(self) -> bytes:
        return self.model_dump_json().encode()

    def labels(self) -> tuple[int, int]:
        return label_of_all(self.owner), label_of_same(self.query, self.owner)


def question_row(query: SearchQuery, owner: str, expires: float) -> tuple[str, bytes]:
    """The key and value under which the state holds a question until the moment `expires`."""
    row = _Row.of(query, owner, expires)
    return row.key(), row.value()


def owner_name(caller: Caller, scope: Scope) -> str:
    """Whose answers the caller may see, as a digest; "" for everybody's."""
    if scope == "shared":
        return ""
    return hashlib.blake2b(caller.user.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def label_of_all(owner: str) -> int:
    """The label of all questions of an owner."""
    return int.from_bytes(hashlib.blake2b(owner.encode(), digest_size=8).digest(), signed=True)


def label_of_same(query: SearchQuery, owner: str) -> int:
    """The label of an owner's questions that have the parameters of `query`."""
    return int.from_bytes(digest(replace(query, text=""), owner)[:8], signed=True)


class AskedQuestions:
    """Finds the questions that are near to one.

    Those of earlier runs are read from the state in the background, from the first use on; a search waits for them
    during the first half second of that, and no longer.

    Args:
        longest_seconds: nothing in the state may claim to live longer.
        clock: seconds since the epoch, the same in all processes.
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
        self._index: VectorIndex[SearchQuery] | None = None
        self._opening = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None
        self._read_again_at = 0.0
        self._read_since = 0.0
        self._outage_told = False

    def __len__(self) -> int:
        """How many questions are in memory."""
        return 0 if self._index is None else len(self._index)

    async def add(self, query: SearchQuery, owner: str, ttl_seconds: float) -> None:
        """Remember that `query` has an answer for so long."""
        now = self._clock()
        row = _Row.of(query, owner, now + ttl_seconds, now)
        index = await self._open()
        self._put(index, [row], self._embedder.encode([query.text]))
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):  # somebody waits for the answer
                await self._state.put(row.key(), row.value(), ttl_seconds)
        except StateUnavailable as error:
            self._tell_outage(error)
        except TimeoutError:
            self._tell_outage(StateUnavailable("The state is slow."))

    async def nearest(self, text: str, label: int, *, least: float, most: int) -> list[Neighbour[SearchQuery]]:
        """The questions of a label whose similarity with `text` is `least` at least, the nearest first."""
        index = await self._open()
        await self._read_for(_PATIENCE_SECONDS)
        search = partial(index.nearest, self._embedder.encode([text])[0], label, least=least, most=most)
        if len(index) <= _MOST_ON_THE_LOOP:
            return search(now=self._clock())
        return await asyncio.to_thread(search, now=self._clock())

    def discard(self, neighbour: Neighbour[SearchQuery]) -> None:
        """Forget a question whose answer is gone."""
        if self._index is not None:
            self._index.discard(neighbour.key)

    def forget(self) -> None:
        """Drop what is in memory. The next use reads the state again."""
        self._index = None
        self._read_again_at = 0.0

    async def warm_up(self) -> None:
        """Load what the first question would wait for, and begin to read those of earlier runs."""
        await self._open()

    async def settled(self) -> None:
        """Return when the questions of earlier runs have been read."""
        await self._read_for(math.inf)

    async def close(self) -> None:
        """Stop reading. Idempotent."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _open(self) -> VectorIndex[SearchQuery]:
        if self._index is None:
            async with self._opening:
                if self._index is None:
                    self._index = await asyncio.to_thread(self._load)
        if self._reading is None or (self._reading.done() and self._clock() >= self._read_again_at):
            self._read_again_at = math.inf
            self._read_since = asyncio.get_running_loop().time()
            self._reading = asyncio.create_task(self._read())
        return self._index

    async def _read_for(self, seconds: float) -> None:
        """Let the reading go on until so many seconds after it began: who asks at once shall find them too."""
        left = self._read_since + seconds - asyncio.get_running_loop().time()
        if self._reading is not None and not self._reading.done() and left > 0:
            await asyncio.wait([self._reading], timeout=None if left == math.inf else left)

    def _load(self) -> VectorIndex[SearchQuery]:
        """numpy and the model: about 150 ms."""
        self._embedder.encode(["warm up"])
        return VectorIndex(self._embedder.dimensions, self._most)

    async def _read(self) -> None:
        """The questions in the state, as far as they are sound."""
        try:
            async for rows in self._batches():
                vectors = await asyncio.to_thread(self._embedder.encode, [row.query.text for row in rows])
                self._put(await self._open(), rows, vectors)
        except StateUnavailable as error:
            self._read_again_at = self._clock() + _RETRY_SECONDS
            self._tell_outage(error)

    async def _batches(self) -> AsyncIterator[list[_Row]]:
        rows: list[_Row] = []
        seen = 0
        async for key, value in self._state.scan(PREFIX):
            rows += self._sound(key, value)
            seen += 1
            if len(rows) == _BATCH:
                yield rows
                rows = []
            if seen == self._most:
                break
        yield rows

    def _sound(self, key: str, value: bytes) -> list[_Row]:
        """The row, if it is what this gateway would have written under that key."""
        try:
            row = _Row.model_validate_json(value)
        except ValidationError:
            return []
        now = self._clock()
        lives = now < row.expires <= now + self._longest_seconds
        if not lives or key != row.key() or len(row.query.text) > LONGEST_QUERY:
            return []
        return [_Row.of(row.query, row.owner, row.expires)]

    def _put(self, index: VectorIndex[SearchQuery], rows: Sequence[_Row], vectors: Vectors) -> None:
        now = self._clock()
        for row, vector in zip(rows, vectors, strict=True):
            if vector.any():  # else the model knows none of its words
                index.put(row.digest(), vector, row.labels(), row.expires, row.query, now=now)

    def _tell_outage(self, error: StateUnavailable) -> None:
        if not self._outage_told:
            self._outage_told = True
            _log.warning("Questions are remembered in this process only: %s", error.message)
