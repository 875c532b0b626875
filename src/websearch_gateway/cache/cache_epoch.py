"""Tells every process that the cache was cleared: a number in the shared state, raised by each clearing."""

from __future__ import annotations

from collections.abc import Callable

from websearch_gateway.ports import State
from websearch_gateway.resilience.best_effort import BestEffort

CHECK_SECONDS = 5.0
"""How long a process may serve entries from memory that another process has cleared (seconds)."""

_KEY = "cache/epoch"
_OUTAGE_SECONDS = 30.0


class CacheEpoch:
    """The number as this process last read it. Users drop entries that were stored under another number.

    Args:
        best_effort: runs the calls to the state.
        clock: seconds, of any origin.
    """

    def __init__(self, state: State, best_effort: BestEffort, *, clock: Callable[[], float]) -> None:
        self.number = 0
        self._state = state
        self._best_effort = best_effort
        self._clock = clock
        self._known_until = float("-inf")

    @property
    def is_known(self) -> bool:
        """Whether the number was read within the last CHECK_SECONDS."""
        return self._clock() < self._known_until

    async def look_up(self) -> None:
        """Read the number from the state unless it is known. In an outage the number stays the same."""
        if self.is_known:
            return
        self._known_until = self._clock() + CHECK_SECONDS  # set first, so that only one of many callers reads it
        number = await self._best_effort(self._stored, None)
        if number is None:
            self._known_until = self._clock() + _OUTAGE_SECONDS
        else:
            self.number = number

    async def _stored(self) -> int | None:
        return _number(await self._state.get(_KEY))


async def advance(state: State) -> None:
    """Make all processes drop their entries in memory.

    Raises:
        StateUnavailable: the state cannot be written.
    """
    await state.add(_KEY)


def _number(stored: bytes | None) -> int:
    """The stored number; 0 for anything else under that key."""
    try:
        return int(stored or 0)
    except ValueError:
        return 0
