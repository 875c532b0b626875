"""No caller occupies all places, even if its jobs came first."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from tests.clock import Clock
from websearch_gateway.workers.fair_queue import BYTES_PER_SECOND, LARGE_BYTES, FairQueue


class Jobs:
    """Jobs in a queue. `working` has the running ones, in the order of their start."""

    def __init__(self, line: FairQueue) -> None:
        self._line = line
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.working: list[str] = []

    async def come(self, *names: str, large: bool = False) -> None:
        """Queue the jobs `CALLER/NUMBER`, and wait until those that may begin have begun."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self._tasks[name] = asyncio.create_task(self._work(name, large))
            await settled()

    async def end(self, name: str) -> None:
        """Let a job end, and others begin."""
        self._ends[name].set()
        await self._tasks[name]
        await settled()

    async def leave(self, name: str) -> None:
        """Cancel a job, waiting or running."""
        self._tasks[name].cancel()
        await asyncio.gather(self._tasks[name], return_exceptions=True)
        await settled()

    async def _work(self, name: str, large: bool) -> None:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._line.turn(name.split("/")[0], size=LARGE_BYTES + 1 if large else 0))
            self.working.append(name)
            stack.callback(self.working.remove, name)
            await self._ends[name].wait()


async def settled() -> None:
    """Let every task run as far as it can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_caller_with_the_fewest_running_jobs_is_next() -> None:
    jobs = Jobs(FairQueue(2, 0))
    await jobs.come("a/1", "a/2", "a/3", "b/1")
    assert jobs.working == ["a/1", "a/2"]
    await jobs.end("a/1")
    assert jobs.working == ["a/2", "b/1"]
    await jobs.end("a/2")
    assert jobs.working == ["b/1", "a/3"]


async def test_an_extra_place_is_for_callers_without_a_running_job() -> None:
    jobs = Jobs(FairQueue(1, 1))
    await jobs.come("a/1", "a/2", "b/1", "c/1")
    assert jobs.working == ["a/1", "b/1"]


async def test_large_jobs_leave_a_place_to_small_ones_if_there_are_several_places() -> None:
    jobs = Jobs(FairQueue(2, 0))
    await jobs.come("a/1", "a/2", large=True)
    await jobs.come("a/3")
    assert jobs.working == ["a/1", "a/3"]
    alone = Jobs(FairQueue(1, 0))
    await alone.come("a/1", large=True)
    assert alone.working == ["a/1"]


async def test_a_cancelled_job_frees_its_place_waiting_or_running() -> None:
    jobs = Jobs(FairQueue(1, 0))
    await jobs.come("a/1", "a/2", "a/3")
    await jobs.leave("a/2")
    await jobs.leave("a/1")
    assert jobs.working == ["a/3"]


async def test_the_longest_wait_is_that_of_the_oldest_waiting_job() -> None:
    clock = Clock()
    line = FairQueue(1, 0, clock)
    jobs = Jobs(line)
    await jobs.come("a/1")
    assert line.longest_wait == 0.0
    await jobs.come("a/2")
    clock.now += 3
    await jobs.come("a/3")
    clock.now += 2
    assert line.longest_wait == 5.0
    await jobs.end("a/1")
    assert line.longest_wait == 2.0
    for name in ("a/2", "a/3"):
        await jobs.end(name)


class Served:
    """Jobs that wait for one place; `order` has them in the order in which they get it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.order: list[str] = []
        self.line = FairQueue(1, 0, lambda: self.now)
        self._jobs: list[asyncio.Task[None]] = []

    async def joins(self, name: str, size: int, caller: str = "local") -> None:
        self._jobs.append(asyncio.create_task(self._job(name, size, caller)))
        await asyncio.sleep(0)

    async def all(self) -> list[str]:
        async with self.line.turn("local"):
            pass
        await asyncio.gather(*self._jobs)
        return self.order

    async def _job(self, name: str, size: int, caller: str) -> None:
        async with self.line.turn(caller, size=size):
            self.order.append(name)


async def test_a_small_page_overtakes_the_large_ones_of_its_own_user() -> None:
    served = Served()
    async with served.line.turn("local"):
        for number in range(3):
            await served.joins(f"large {number}", 20 * BYTES_PER_SECOND)
        await served.joins("small", 1_000)
    assert (await served.all())[0] == "small"


async def test_a_large_page_does_not_wait_for_ever_behind_small_ones() -> None:
    served = Served()
    async with served.line.turn("local"):
        await served.joins("large", 5 * BYTES_PER_SECOND)
        served.now = 4
        await served.joins("before", 1)
        served.now = 6
        await served.joins("after", 1)
    assert await served.all() == ["before", "large", "after"]


async def test_jobs_of_one_size_are_served_in_order() -> None:
    served = Served()
    async with served.line.turn("local"):
        for name in "abc":
            await served.joins(name, 1_000)
    assert await served.all() == ["a", "b", "c"]


async def test_a_cancelled_job_leaves_the_queue() -> None:
    served = Served()
    async with served.line.turn("local"):
        await served.joins("a", 1)
        served._jobs[0].cancel()
        await asyncio.sleep(0)
        assert served.line.longest_wait == 0
    async with served.line.turn("local"):
        assert served.order == []
