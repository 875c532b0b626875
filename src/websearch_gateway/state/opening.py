"""Backends for the five verbs of `ports.State`, each in one file; only BACKENDS lists them. And a local state that goes
on while its file cannot be used (a full disk, a read-only folder, no home).

To add one, follow docs/adding-a-state-backend.md. Policy (limits, caches, budgets) belongs elsewhere.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from websearch_gateway.errors import SearchNotConfiguredError, StateUnavailable
from websearch_gateway.models import StateEntry, StateProblem, StateUsage
from websearch_gateway.ports import State
from websearch_gateway.state.firestore import FirestoreState
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.postgres import PostgresState
from websearch_gateway.state.sqlite import UNUSABLE_FILE, SqliteState

_log = logging.getLogger(__name__)

BACKENDS: Mapping[str, Callable[[str], State]] = {
    "memory": MemoryState.from_location,  # one process, lost when it ends
    "sqlite": SqliteState.from_location,  # one machine, any number of processes
    "postgresql": PostgresState.from_location,  # any number of machines; needs the extra `postgres`
    "firestore": FirestoreState.from_location,  # machines and Cloud Functions, any number; needs the extra `firestore`
}
"""Creates a backend from the part of `STATE_URL` after `://`; the key is the scheme."""


def open_state(url: str) -> State:
    """The backend that `url` names, such as `sqlite:///PATH` or `memory://`. The first verb opens it.

    Raises:
        SearchNotConfiguredError: the scheme is unknown, its extra is not installed, or the URL lacks a part.
    """
    scheme, _, location = url.partition("://")
    backend = BACKENDS.get(scheme.lower())
    if backend is None:  # the message omits the URL, which may hold a password
        known = ", ".join(f"{name}://" for name in BACKENDS)
        raise SearchNotConfiguredError(f"STATE_URL must begin with one of {known}.")
    _log.debug("state: %s", scheme.lower())
    return backend(location)


RETRY_SECONDS = 30.0
"""The wait before the file is tried again; it doubles each time, up to LONGEST_RETRY_SECONDS."""

LONGEST_RETRY_SECONDS = 600.0

LOSS = (
    "Costs, limits and the cache are in the memory of this process only, and are lost when it ends."
)
CURE = "Let DATA_DIR name a folder that can be written, or set STATE_URL=memory:// if memory is enough."

_PROBE = "doctor/probe"

T = TypeVar("T")


class SpareState(State):
    """A State over `file`, which goes on when the file cannot be read or written.

    Counters then go on in memory from where the file had them, as far as it can be read; the cache starts empty. When
    the file can be written again, it gets the counts that it missed. A lock of another process is no such outage, since
    that process counts too.

    Args:
        most_memory_bytes: of the cache in memory, unless the file has less.
        clock: seconds of any monotonic clock.

    Attributes:
        problem: what is wrong, what is lost and what to do; None while the file is in use.
    """

    def __init__(
        self,
        file: SqliteState,
        *,
        most_memory_bytes: int = sys.maxsize,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.problem: StateProblem | None = None
        self._file = file
        self._clock = clock
        self._memory: MemoryState | None = None
        # What the file lacks: the amount added to a counter, or None for a value that was put or deleted.
        self._missed: dict[str, int | None] = {}
        self._changing = asyncio.Lock()
        self._returning: asyncio.Task[None] | None = None
        self._retry_seconds = RETRY_SECONDS
        self._retry_at = 0.0
        self._most_bytes = most_memory_bytes
        self._evictable: tuple[str, ...] = ()

    def limit(self, most_bytes: int, evictable: Sequence[str]) -> None:
        self._most_bytes = min(most_bytes, self._most_bytes)
        self._evictable = tuple(evictable)
        self._file.limit(most_bytes, evictable)

    async def usage(self) -> StateUsage | None:
        return await self._either(self._file.usage, lambda memory: memory.usage())

    async def get(self, key: str) -> bytes | None:
        async def get(memory: MemoryState) -> bytes | None:
            value = await memory.get(key)
            if (
                value is not None
                or key.startswith(self._evictable)
                or not self._counts_in_file(key)
            ):
                return value
            entry = await self._in_file(key)
            return entry.value if entry else None

        return await self._either(lambda: self._file.get(key), get)

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        async def put(memory: MemoryState) -> None:
            await memory.put(key, value, ttl)
            if not key.startswith(self._evictable):
                self._missed[key] = None

        await self._either(lambda: self._file.put(key, value, ttl), put)

    async def delete(self, key: str) -> bool:
        async def delete(memory: MemoryState) -> bool:
            is_in_file = self._counts_in_file(key) and await self._in_file(key) is not None
            if is_in_file or key in self._missed:
                self._missed[key] = None
            return await memory.delete(key) or is_in_file

        return await self._either(lambda: self._file.delete(key), delete)

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        async def add(memory: MemoryState) -> int:
            before, left = 0, ttl
            if self._counts_in_file(key):
                if await memory.get(key) is None:
                    self._missed.pop(key, None)  # counted in a window that is over
                    if (entry := await self._in_file(key)) and entry.counts:
                        before, left = int(entry.value), entry.ttl
                self._missed[key] = (self._missed.get(key) or 0) + amount
            return await memory.add(key, before + amount, left)

        return await self._either(lambda: self._file.add(key, amount, ttl), add)

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        """See ports.State. A value in memory replaces that of the file."""
        held: list[StateEntry] = []
        if self._memory is not None:
            held = [entry async for entry in self._memory.entries(prefix, after)]
        hidden = {entry.key for entry in held} | {
            key for key in self._missed if not self._counts_in_file(key)
        }
        try:
            async for entry in self._file.entries(prefix, after):
                while held and held[0].key < entry.key:
                    yield held.pop(0)
                if entry.key not in hidden:
                    yield entry
        except StateUnavailable as error:
            if self._memory is None:
                self._turn_to_memory(error)
        for entry in held:
            yield entry

    async def close(self) -> None:
        if self._returning is not None:
            self._returning.cancel()
            await asyncio.gather(self._returning, return_exceptions=True)
        await self._file.close()
        if self._memory is not None:
            await self._memory.close()

    async def _either(
        self, in_file: Callable[[], Awaitable[T]], in_memory: Callable[[MemoryState], Awaitable[T]]
    ) -> T:
        """What the verb returns for the file, or for the memory while the file cannot be used."""
        if self._memory is None:
            try:
                return await in_file()
            except StateUnavailable as error:
                self._turn_to_memory(error)
        async with self._changing:
            if (memory := self._memory) is not None:
                self._try_again(memory)
                return await in_memory(memory)
        return await in_file()

    def _turn_to_memory(self, error: StateUnavailable) -> None:
        """Go on in memory. Raises `error` unless it means that the file cannot be used."""
        if error.details.get("reason") != UNUSABLE_FILE:
            raise error
        if self._memory is not None:  # another verb was faster
            return
        self._memory = MemoryState(clock=self._clock)
        if self._evictable:
            self._memory.limit(self._most_bytes, self._evictable)
        self._retry_seconds = RETRY_SECONDS
        self._retry_at = self._clock() + RETRY_SECONDS
        self.outages += 1
        self.problem = StateProblem(f"{error.message} {LOSS}", CURE)
        _log.warning("%s", self.problem)

    def _counts_in_file(self, key: str) -> bool:
        return self._missed.get(key, 0) is not None

    async def _in_file(self, key: str) -> StateEntry | None:
        try:
            return await _entry(self._file, key)
        except StateUnavailable:
            return None

    def _try_again(self, memory: MemoryState) -> None:
        is_returning = self._returning is not None and not self._returning.done()
        if self._clock() >= self._retry_at and not is_returning:
            self._retry_seconds = min(2 * self._retry_seconds, LONGEST_RETRY_SECONDS)
            self._retry_at = self._clock() + self._retry_seconds
            self._returning = asyncio.create_task(self._return(memory))

    async def _return(self, memory: MemoryState) -> None:
        try:
            await self._file.put(_PROBE, b"", ttl=60)
            while self.problem:
                async with self._changing:
                    await self._write_one(memory)
        except StateUnavailable:
            return

    async def _write_one(self, memory: MemoryState) -> None:
        """Write the file's next missing entry; if there is none, the memory ends."""
        if not self._missed:
            self._memory = self.problem = None
            _log.info("The state file can be written again.")
            return
        key, amount = next(iter(self._missed.items()))
        entry = await _entry(memory, key)
        if amount is None:
            await self._file.delete(key)
        if entry and entry.counts:
            await self._file.add(key, int(entry.value) if amount is None else amount, entry.ttl)
        elif entry:
            await self._file.put(key, entry.value, entry.ttl)
        del self._missed[key]


async def _entry(state: State, key: str) -> StateEntry | None:
    """The entry under exactly this key, which is the first of all that begin with it."""
    async for entry in state.entries(key):
        return entry if entry.key == key else None
    return None
