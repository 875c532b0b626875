"""What makes every process forget: a number in the shared state, raised whenever the cache is cleared."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.ports import State

CHECK_SECONDS = 5.0
"""So long a process may serve out of its memory what another one has cleared."""

_KEY = "cache/generation"
_PATIENCE_SECONDS = 0.5
_OUTAGE_SECONDS = 30.0


class Generation:
    """The number, as far as this process knows. What was remembered under another one must be forgotten.

    Args:
        clock: seconds.
    """

    def __init__(self, state: State, *, clock: Callable[[], float]) -> None:
        self.number = 0
        self._state = state
        self._clock = clock
        self._known_until = float("-inf")

    @property
    def is_known(self) -> bool:
        """Whether the number was looked up lately."""
        return self._clock() < self._known_until

    async def look_up(self) -> None:
        """Ask the state, unless that was done lately. While it cannot be reached the number stays as it is."""
        if self.is_known:
            return
        self._known_until = self._clock() + CHECK_SECONDS  # of many callers one asks
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                self.number = _number(await self._state.get(_KEY))
        except (StateUnavailable, TimeoutError):
            self._known_until = self._clock() + _OUTAGE_SECONDS


async def advance(state: State) -> None:
    """Make all processes forget.

    Raises:
        StateUnavailable: they could not be told.
    """
    await state.add(_KEY)


def _number(stored: bytes | None) -> int:
    """Zero for what somebody else left under our key."""
    try:
        return int(stored or 0)
    except ValueError:
        return 0
