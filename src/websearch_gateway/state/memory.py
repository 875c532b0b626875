"""State in a dictionary: for one process, for tests, and while the file of a local state cannot be used.

It is the shortest backend, so copy it to start a new one.
"""

from __future__ import annotations

import math
import sys
import time
from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Callable, Sequence

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.models import StateEntry, StateUsage
from websearch_gateway.ports import State
from websearch_gateway.state.shared import FREED_SHARE, entry_of

_FIRST_PRUNING = 1024
_FEW_ADDED = 0.05  # share of all keys up to which inserting new ones is faster than sorting all
_OVERHEAD_BYTES = 200  # for a key, a value and their dictionary entry


class MemoryState(State):
    """A State that ends with the process.

    Args:
        clock: seconds of any monotonic clock.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: dict[str, tuple[bytes | int, float]] = {}
        self._sorted: list[str] = []  # all keys but those in `_added`, and some that are gone
        self._added: set[str] = set()
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
        # Insert the keys that were added since the last scan, so that a scan does not look at all keys.
        if len(self._added) > _FEW_ADDED * len(self._sorted) or len(self._sorted) > 2 * len(
            self._entries
        ):
            self._sorted = sorted(self._entries)
        else:
            for key in self._added & self._entries.keys():
                place = bisect_left(self._sorted, key)
                if self._sorted[place : place + 1] != [key]:
                    self._sorted.insert(place, key)
        self._added.clear()
        first = max(
            bisect_left(self._sorted, prefix), bisect_right(self._sorted, after) if after else 0
        )
        for key in self._sorted[first : bisect_left(self._sorted, f"{prefix}\U0010ffff", first)]:
            if await self.get(key) is not None:
                held, expires = self._entries[key]
                yield entry_of(key, held, expires - self._clock())

    async def close(self) -> None:
        self._closed = True
        self._entries.clear()
        self._sorted.clear()
        self._bytes = 0

    def _live(self, key: str) -> bytes | int | None:
        self._refuse_when_closed()
        value, expires = self._entries.get(key, (None, math.inf))
        return value if expires > self._clock() else None

    def _store(self, key: str, value: bytes | int, ttl: float | None) -> None:
        self._refuse_when_closed()
        now = self._clock()
        if key not in self._entries:
            self._added.add(key)
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
