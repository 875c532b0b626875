"""State in a dictionary: for one process, and for tests. The smallest backend, to copy from."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Callable

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.models import StateEntry

_FIRST_PRUNING = 1024


class MemoryState:
    """A State that ends with the process.

    Args:
        clock: seconds; any clock that does not run backwards.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: dict[str, tuple[bytes | int, float]] = {}
        self._prune_at = _FIRST_PRUNING
        self._closed = False

    @classmethod
    def from_location(cls, _: str) -> MemoryState:
        """The backend for `memory://`; the rest of the URL has no meaning."""
        return cls()

    async def get(self, key: str) -> bytes | None:
        """See ports.State."""
        value = self._live(key)
        return str(value).encode() if isinstance(value, int) else value

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        """See ports.State."""
        self._store(key, bytes(value), ttl)

    async def delete(self, key: str) -> bool:
        """See ports.State."""
        existed = self._live(key) is not None
        self._entries.pop(key, None)
        return existed

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        """See ports.State."""
        count = self._live(key)
        if not isinstance(count, int):
            self._store(key, amount, ttl)
            return amount
        self._entries[key] = (count + amount, self._entries[key][1])
        return count + amount

    async def scan(self, prefix: str) -> AsyncIterator[tuple[str, bytes]]:
        """See ports.State."""
        async for entry in self.entries(prefix):
            yield entry.key, entry.value

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        """See ports.State."""
        self._refuse_when_closed()
        for key in sorted(key for key in self._entries if key.startswith(prefix) and (not after or key > after)):
            if (value := await self.get(key)) is not None:
                held, expires = self._entries[key]
                ttl = None if expires == math.inf else expires - self._clock()
                yield StateEntry(key, value, ttl, counts=isinstance(held, int))

    async def close(self) -> None:
        """See ports.State."""
        self._closed = True
        self._entries.clear()

    def _live(self, key: str) -> bytes | int | None:
        self._refuse_when_closed()
        value, expires = self._entries.get(key, (None, math.inf))
        return value if expires > self._clock() else None

    def _store(self, key: str, value: bytes | int, ttl: float | None) -> None:
        self._refuse_when_closed()
        now = self._clock()
        self._entries[key] = (value, math.inf if ttl is None else now + ttl)
        if len(self._entries) >= self._prune_at:
            self._entries = {key: entry for key, entry in self._entries.items() if entry[1] > now}
            # Doubling keeps the price of pruning constant per entry, however many of them are alive.
            self._prune_at = max(_FIRST_PRUNING, 2 * len(self._entries))

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StateUnavailable("The state is closed.")
