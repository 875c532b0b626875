"""How late the event loop is."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

BEAT_SECONDS = 0.25
WINDOW_SECONDS = 10.0


class LoopLag:
    """Records the delay of a timer a few times a second.

    Args:
        clock: seconds on a monotonic clock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._beats: deque[tuple[float, float]] = deque()
        self._due = 0.0

    @property
    def seconds(self) -> float:
        """The largest delay of the last ten seconds, including that of an overdue timer."""
        now = self._clock()
        overdue = max(0.0, now - self._due) if self._due else 0.0
        return max(
            [overdue, *(late for moment, late in self._beats if moment > now - WINDOW_SECONDS)]
        )

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Watch for the length of the block."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self._due = 0.0

    async def _watch(self) -> None:
        self._due = self._clock() + BEAT_SECONDS
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self.beat()

    def beat(self) -> None:
        """Record that the timer has fired, and when it is due again."""
        now = self._clock()
        self._beats.append((now, max(0.0, now - self._due)))
        self._due = now + BEAT_SECONDS
        while self._beats[0][0] <= now - WINDOW_SECONDS:
            self._beats.popleft()
