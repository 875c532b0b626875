"""State in a dictionary: for one process, for tests, and for a local state that goes on while its file cannot be used
(a full disk, a read-only folder, no home).

`MemoryState` is the shortest backend, so copy it to start a new one.
"""

from __future__ import annotations

import asyncio
import logging
import math
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.models import StateEntry, StateProblem, StateUsage
from websearch_gateway.ports import State
from websearch_gateway.state.sqlite import UNUSABLE_FILE, SqliteState

FREED_SHARE = 0.1
"""The fraction of the limit that one eviction frees, so that evictions are rare."""

_FIRST_PRUNING = 1024
_OVERHEAD_BYTES = 200  # for a key, a value and their dictionary entry


class MemoryState(State):
    """A State that ends with the process.

    Args:
        clock: seconds of any monotonic clock.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: dict[str, tuple[bytes | int, float]] = {}
        self._prune_at = _FIRST_PRUNING
        self._closed = False
        self._most_bytes = sys.maxsize
        self._evictable: tuple[str, ...] = ()
        self._bytes = 0
        self._evictions = 0

    def limit(self, most_bytes: int, evictable: Sequence[str]) -> None:
        """See ports.State. The dictionary is in order of use: each read or write moves an entry to its end."""
        self._most_bytes, self._evictable = most_bytes, tuple(evictable)

    async def usage(self) -> StateUsage:
        self._refuse_when_closed()
        limit = self._most_bytes if self._evictable else None
        return StateUsage(self._bytes, limit, self._evictions)

    @classmethod
    def from_location(cls, _: str) -> MemoryState:
        """The backend for `memory://`; ignores the rest of the URL."""
        return cls()

    async def get(self, key: str) -> bytes | None:
        value = self._live(key)
        if value is not None and key.startswith(self._evictable):
            self._entries[key] = self._entries.pop(key)
        return str(value).encode() if isinstance(value, int) else value

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        if not key.startswith(self._evictable) or len(value) <= self._most_bytes * FREED_SHARE:
            self._store(key, bytes(value), ttl)

    async def delete(self, key: str) -> bool:
        existed = self._live(key) is not None
        self._drop(key)
        return existed

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        count = self._live(key)
        if not isinstance(count, int):
            self._store(key, amount, ttl)
            return amount
        self._entries[key] = (count + amount, self._entries[key][1])
        return count + amount

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        self._refuse_when_closed()
        for key in sorted(key for key in self._entries if key.startswith(prefix) and (not after or key > after)):
            if (value := await self.get(key)) is not None:
                held, expires = self._entries[key]
                ttl = None if expires == math.inf else expires - self._clock()
                yield StateEntry(key, value, ttl, counts=isinstance(held, int))

    async def close(self) -> None:
        self._closed = True
        self._entries.clear()
        self._bytes = 0

    def _live(self, key: str) -> bytes | int | None:
        self._refuse_when_closed()
        value, expires = self._entries.get(key, (None, math.inf))
        return value if expires > self._clock() else None

    def _store(self, key: str, value: bytes | int, ttl: float | None) -> None:
        self._refuse_when_closed()
        now = self._clock()
        self._drop(key)
        if self._bytes + _size(key, value) > self._most_bytes:
            self._prune(now)
            self._evict(self._most_bytes * (1 - FREED_SHARE) - _size(key, value))
        self._entries[key] = (value, math.inf if ttl is None else now + ttl)
        self._bytes += _size(key, value)
        if len(self._entries) >= self._prune_at:
            self._prune(now)
            # Doubling keeps the cost of pruning constant per entry, for any number of live entries.
            self._prune_at = max(_FIRST_PRUNING, 2 * len(self._entries))

    def _prune(self, now: float) -> None:
        for key in [key for key, (_, expires) in self._entries.items() if expires <= now]:
            self._drop(key)

    def _evict(self, most_bytes: float) -> None:
        """Delete the least recently used values until the rest fit into this many bytes."""
        for key in [key for key, (value, _) in self._entries.items() if isinstance(value, bytes)]:
            if self._bytes <= most_bytes:
                break
            if key.startswith(self._evictable):
                self._drop(key)
                self._evictions += 1

    def _drop(self, key: str) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self._bytes -= _size(key, entry[0])

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StateUnavailable("The state is closed.")


def _size(key: str, value: bytes | int) -> int:
    return _OVERHEAD_BYTES + len(key) + (len(value) if isinstance(value, bytes) else 0)


RETRY_SECONDS = 30.0
"""The wait before the file is tried again."""

LOSS = "Costs, limits and the cache are in the memory of this process only, and are lost when it ends."
CURE = "Let DATA_DIR name a folder that can be written, or set STATE_URL=memory:// if memory is enough."

_log = logging.getLogger(__name__)

T = TypeVar("T")


class SpareState(State):
    """A State over `file`, which goes on in memory when the file cannot be read or written.

    Counters go on from where the file had them, as far as it can be read; the cache starts empty. When the file can be
    written again, it gets what was added meanwhile. A lock of another process is no such outage, since that process
    counts too.

    Args:
        clock: seconds of any monotonic clock.

    Attributes:
        problem: what is wrong, what is lost and what to do; None while the file is in use.
    """

    def __init__(self, file: SqliteState, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.problem: StateProblem | None = None
        self._file = file
        self._clock = clock
        self._memory: MemoryState | None = None
        self._begun_at: dict[str, int] = {}  # counters as the file had them
        self._changing = asyncio.Lock()
        self._retry_at = 0.0
        self._limit: tuple[int, Sequence[str]] = (sys.maxsize, ())

    def limit(self, most_bytes: int, evictable: Sequence[str]) -> None:
        self._limit = most_bytes, evictable
        self._file.limit(most_bytes, evictable)

    async def usage(self) -> StateUsage | None:
        return await self._run(lambda state: state.usage())

    async def get(self, key: str) -> bytes | None:
        return await self._run(lambda state: state.get(key))

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        await self._run(lambda state: state.put(key, value, ttl))

    async def delete(self, key: str) -> bool:
        return await self._run(lambda state: state.delete(key))

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        return await self._run(lambda state: state.add(key, amount, ttl))

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        if self._memory is None:
            try:
                async for entry in self._file.entries(prefix, after):
                    yield entry
                return
            except StateUnavailable as error:
                await self._turn_to_memory(error)
        if self._memory is not None:
            async for entry in self._memory.entries(prefix, after):
                yield entry

    async def close(self) -> None:
        await self._file.close()
        if self._memory is not None:
            await self._memory.close()

    async def _run(self, verb: Callable[[State], Awaitable[T]]) -> T:
        """The result of the verb for the file, or for the memory while the file cannot be used."""
        if self._memory is None:
            try:
                return await verb(self._file)
            except StateUnavailable as error:
                await self._turn_to_memory(error)
        elif self._clock() >= self._retry_at:
            async with self._changing:
                await self._try_again()
        return await verb(self._memory or self._file)

    async def _turn_to_memory(self, error: StateUnavailable) -> None:
        """Go on in memory. Raises `error` unless it means that the file cannot be used."""
        if error.details.get("reason") != UNUSABLE_FILE:
            raise error
        async with self._changing:
            if self._memory is not None:  # another verb was faster
                return
            memory = MemoryState(clock=self._clock)
            memory.limit(*self._limit)
            self._begun_at = {}
            with suppress(StateUnavailable):
                async for entry in self._file.entries(""):
                    if entry.counts:
                        self._begun_at[entry.key] = await memory.add(entry.key, int(entry.value), entry.ttl)
            self._retry_at = self._clock() + RETRY_SECONDS
            self.problem = StateProblem(f"{error.message} {LOSS}", CURE)
            self._memory = memory
            _log.warning("%s", self.problem)

    async def _try_again(self) -> None:
        """Add to the file what was added in memory, and use it again; nothing changes if it cannot be written."""
        memory = self._memory
        if memory is None or self._clock() < self._retry_at:  # another verb was faster
            return
        self._retry_at = self._clock() + RETRY_SECONDS
        try:
            async for entry in memory.entries(""):
                if entry.counts and (more := int(entry.value) - self._begun_at.get(entry.key, 0)):
                    await self._file.add(entry.key, more, entry.ttl)
                    self._begun_at[entry.key] = int(entry.value)
            await self._file.put("doctor/probe", b"", ttl=60)
        except StateUnavailable:
            return
        self._memory = self.problem = None
        _log.info("The state file can be written again.")
