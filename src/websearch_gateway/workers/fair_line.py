"""Chooses who may use a worker next, so that no caller can occupy all workers."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

LARGE_BYTES = 500_000
BYTES_PER_SECOND = 100_000
"""Smaller jobs overtake larger ones within a limit: a page of 10 kB overtakes one of 1 MB that came up to ten seconds
earlier. So no job waits for ever."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """A waiting job; `turn` is done once it may begin."""

    caller: str
    size: int
    since: float
    turn: asyncio.Future[None]

    @property
    def large(self) -> bool:
        return self.size > LARGE_BYTES

    @property
    def rank(self) -> float:
        return self.since + self.size / BYTES_PER_SECOND


class FairLine:
    """Grants turns: first to the caller with the fewest running jobs, then by arrival and size.

    Args:
        count: how many jobs may run at once. If there are several places, large jobs never take the last one.
        extra: how many more may run for callers without a running job, so that they do not wait for callers who
            occupy all places.
        clock: seconds on a monotonic clock.
    """

    def __init__(self, count: int, extra: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._extra = extra
        self._clock = clock
        self._running: Counter[str] = Counter()
        self._large = 0
        self._waiting: list[_Waiting] = []

    @property
    def longest_wait(self) -> float:
        """For how many seconds the first job in line has waited; 0 if none waits."""
        return self._clock() - self._waiting[0].since if self._waiting else 0.0

    @asynccontextmanager
    async def turn(self, caller: str, *, size: int = 0) -> AsyncIterator[None]:
        """Wait for a turn, and keep it during the block. `size` is the size of the job in bytes."""
        job = _Waiting(caller, size, self._clock(), asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self._call_next()
        try:
            await job.turn
        except asyncio.CancelledError:
            if job in self._waiting:
                self._waiting.remove(job)
            else:
                self._leave(job)
            raise
        try:
            yield
        finally:
            self._leave(job)

    def _leave(self, job: _Waiting) -> None:
        self._running[job.caller] -= 1
        if not self._running[job.caller]:
            del self._running[job.caller]
        self._large -= job.large
        self._call_next()

    def _call_next(self) -> None:
        for job in sorted(self._waiting, key=lambda job: (self._running[job.caller], job.rank)):
            if self._may_begin(job):
                self._waiting.remove(job)
                self._running[job.caller] += 1
                self._large += job.large
                job.turn.set_result(None)
                return self._call_next()
        return None

    def _may_begin(self, job: _Waiting) -> bool:
        if job.large and self._large >= max(1, self._count - 1):
            return False
        at_work = self._running.total()
        places = self._count if self._running[job.caller] else self._count + self._extra
        return at_work < places and not job.turn.done()
