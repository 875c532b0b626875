"""A fair queue for workers: no caller can occupy all of them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

LARGE_BYTES = 500_000
BYTES_PER_SECOND = 100_000
"""A job ranks as if it arrived later by its size at this rate: a page of 10 kB overtakes one of 1 MB that arrived up to
ten seconds earlier. So smaller jobs overtake larger ones, but no job waits for ever."""


@dataclass(slots=True, eq=False)
class _Job:
    """A job in the queue; `turn` is done when it may begin."""

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


class FairQueue:
    """Grants turns: first to callers with the fewest running jobs, then by arrival and size.

    Args:
        count: how many jobs may run at once. If it is more than one, large jobs never take the last place.
        extra: how many more jobs may run, only for callers without a running job: they need not wait for callers who
            occupy all places.
        clock: seconds on a monotonic clock.
    """

    def __init__(self, count: int, extra: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._extra = extra
        self._clock = clock
        self._running: Counter[str] = Counter()
        self._large = 0
        self._waiting: list[_Job] = []

    @property
    def longest_wait(self) -> float:
        """The seconds for which the oldest job in the queue has waited; 0 if none waits."""
        return self._clock() - self._waiting[0].since if self._waiting else 0.0

    @asynccontextmanager
    async def turn(self, caller: str, *, size: int = 0) -> AsyncIterator[None]:
        """Wait for a turn, and keep it during the block. `size` is the size of the job in bytes."""
        job = _Job(caller, size, self._clock(), asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self._grant_turns()
        try:
            await job.turn
        except asyncio.CancelledError:
            if job in self._waiting:
                self._waiting.remove(job)
            else:
                self._release(job)
            raise
        try:
            yield
        finally:
            self._release(job)

    def _release(self, job: _Job) -> None:
        self._running[job.caller] -= 1
        if not self._running[job.caller]:
            del self._running[job.caller]
        self._large -= job.large
        self._grant_turns()

    def _grant_turns(self) -> None:
        for job in sorted(self._waiting, key=lambda job: (self._running[job.caller], job.rank)):
            if self._may_begin(job):
                self._waiting.remove(job)
                self._running[job.caller] += 1
                self._large += job.large
                job.turn.set_result(None)
                return self._grant_turns()
        return None

    def _may_begin(self, job: _Job) -> bool:
        if job.large and self._large >= max(1, self._count - 1):
            return False
        running = self._running.total()
        places = self._count if self._running[job.caller] else self._count + self._extra
        return running < places and not job.turn.done()
