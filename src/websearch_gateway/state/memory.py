"""State in a dictionary: for one process, for tests, and while the file of a local state cannot be used.

It is the shortest backend, so copy it to start a new one.
"""

from __future__ import annotations

import math
import sys
import time
from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.models import StateEntry, StateUsage
from websearch_gateway.ports import State
from websearch_gateway.state.shared import FREED_SHARE, entry_of

_FIRST_PRUNING = 1024
"""The number of entries at which expired ones are dropped for the first time; below it they cost little memory."""

_OVERHEAD_BYTES = 200
"""What Python needs for a key, a value and their place in the dictionary, besides their characters."""


@dataclass(slots=True)
class _Stored:
    """A value or a counter. `expires` is a moment on the clock of the state; infinite for one that stays."""

    value: bytes | int
    expires: float


class MemoryState(State):
    """A State that ends with the process.

    The dictionary is in order of use: each read or write of a value that may be evicted moves it to the end.

    Args:
        clock: seconds of any monotonic clock.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: dict[str, _Stored] = {}
        self._keys = _SortedKeys()
        self._prune_at = _FIRST_PRUNING
        self._closed = False
        self._most_bytes = sys.maxsize
        self._evictable: tuple[str, ...] = ()
        self._bytes = 0
        self._evictions = 0

    def limit(self, most_bytes: int, evictable: Sequence[str]) -> None:
        """See ports.State."""
        self._most_bytes = most_bytes
        self._evictable = tuple(evictable)

    async def usage(self) -> StateUsage:
        self._refuse_when_closed()
        limit = self._most_bytes if self._evictable else None
        return StateUsage(self._bytes, limit, self._evictions)

    @classmethod
    def from_location(cls, _: str) -> MemoryState:
        """The backend for `memory://`; ignores the rest of the URL."""
        return cls()

    async def get(self, key: str) -> bytes | None:
        held = self._live(key)
        if held is None:
            return None
        if key.startswith(self._evictable):
            self._entries[key] = self._entries.pop(key)
        return _digits(held.value)

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        may_be_too_large = key.startswith(self._evictable)
        if may_be_too_large and len(value) > self._most_bytes * FREED_SHARE:
            return
        self._store(key, bytes(value), ttl)

    async def delete(self, key: str) -> bool:
        existed = self._live(key) is not None
        self._drop(key)
        return existed

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        held = self._live(key)
        if held is None or not isinstance(held.value, int):
            self._store(key, amount, ttl)
            return amount
        held.value += amount
        return held.value

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        self._refuse_when_closed()
        for key in self._keys.between(self._entries, prefix, after):
            if await self.get(key) is not None:
                held = self._entries[key]
                yield entry_of(key, held.value, held.expires - self._clock())

    async def close(self) -> None:
        self._closed = True
        self._entries.clear()
        self._keys = _SortedKeys()
        self._bytes = 0

    def _live(self, key: str) -> _Stored | None:
        self._refuse_when_closed()
        held = self._entries.get(key)
        if held is None or held.expires <= self._clock():
            return None
        return held

    def _store(self, key: str, value: bytes | int, ttl: float | None) -> None:
        self._refuse_when_closed()
        now = self._clock()
        if key not in self._entries:
            self._keys.add(key)
        self._drop(key)
        size = _size(key, value)
        if self._bytes + size > self._most_bytes:
            self._prune(now)
            self._evict(self._most_bytes * (1 - FREED_SHARE) - size)
        self._entries[key] = _Stored(value, math.inf if ttl is None else now + ttl)
        self._bytes += size
        if len(self._entries) >= self._prune_at:
            self._prune(now)
            # Doubling keeps the cost of pruning constant per entry, for any number of live entries.
            self._prune_at = max(_FIRST_PRUNING, 2 * len(self._entries))

    def _prune(self, now: float) -> None:
        expired = [key for key, held in self._entries.items() if held.expires <= now]
        for key in expired:
            self._drop(key)

    def _evict(self, most_bytes: float) -> None:
        """Delete the least recently used values until the rest fit into this many bytes."""
        for key, held in list(self._entries.items()):
            if self._bytes <= most_bytes:
                break
            is_counter = isinstance(held.value, int)
            if key.startswith(self._evictable) and not is_counter:
                self._drop(key)
                self._evictions += 1

    def _drop(self, key: str) -> None:
        held = self._entries.pop(key, None)
        if held is not None:
            self._bytes -= _size(key, held.value)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StateUnavailable("The state is closed.")


_FEW_ADDED = 0.05
"""The share of all keys up to which inserting the new ones is faster than sorting all of them anew."""


class _SortedKeys:
    """The keys in order, so that a scan looks at those with its prefix only. Sorts when it is asked, not before."""

    def __init__(self) -> None:
        self._sorted: list[str] = []  # without the added ones, and with some that are gone
        self._added: set[str] = set()

    def add(self, key: str) -> None:
        """Note a key that the dictionary did not have."""
        self._added.add(key)

    def between(self, entries: dict[str, _Stored], prefix: str, after: str) -> list[str]:
        """The keys with this prefix that come after `after`, in order; some may be gone from `entries`."""
        self._update(entries)
        start = bisect_left(self._sorted, prefix)
        if after:
            start = max(start, bisect_right(self._sorted, after))
        end = bisect_left(self._sorted, f"{prefix}\U0010ffff", start)
        return self._sorted[start:end]

    def _update(self, entries: dict[str, _Stored]) -> None:
        many_added = len(self._added) > _FEW_ADDED * len(self._sorted)
        many_gone = len(self._sorted) > 2 * len(entries)
        if many_added or many_gone:
            self._sorted = sorted(entries)
        else:
            for key in self._added & entries.keys():
                place = bisect_left(self._sorted, key)
                if self._sorted[place : place + 1] != [key]:
                    self._sorted.insert(place, key)
        self._added.clear()


def _digits(value: bytes | int) -> bytes:
    """What `get` returns: a counter as its decimal digits."""
    return str(value).encode() if isinstance(value, int) else value


def _size(key: str, value: bytes | int) -> int:
    length = len(value) if isinstance(value, bytes) else 0
    return _OVERHEAD_BYTES + len(key) + length
