from __future__ import annotations

import asyncio
import builtins
import fractions
import itertools
import json
import operator
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.clock import Clock
from tests.patience import PATIENCE
from websearch_gateway.base.workers import pool
from websearch_gateway.base.workers.pool import (
    BYTES_PER_SECOND,
    LARGE_BYTES,
    SMALL_CHARS,
    WORKING_FOR,
    FairQueue,
    Worker,
    Workers,
)
from websearch_gateway.base.workers.worker import Limits, request_frames
from websearch_gateway.errors import SearchFetchError, SearchProviderParseError, SearchTimeoutError
from websearch_gateway.foreign_json import reply_object
from websearch_gateway.models import Deadline, TokenUsage
from websearch_gateway.pages.formats.feed import parse_feed

CATASTROPHE = (re.fullmatch, "(a+)+b", "a" * 60)
"""Hours inside C code, which no Python signal handler interrupts."""


def soon() -> Deadline:
    return Deadline.after(300)


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends while it is read
        return False


async def ended(pid: int) -> None:
    """Wait until a process has ended."""
    async with asyncio.timeout(PATIENCE):
        while running(pid):  # noqa: ASYNC110 - nothing tells of the end of a process in a pool
            await asyncio.sleep(0)


def children() -> set[str]:
    """The processes that this one has started."""
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # the thread has just ended
            found.update((task / "children").read_text().split())
    return found


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    async with Workers(count=1) as workers:
        yield workers


async def test_a_call_is_answered_by_another_process_that_stays_for_the_next(
    workers: Workers,
) -> None:
    pid = await workers.run(os.getpid, deadline=soon())
    assert pid != os.getpid()
    assert await workers.run(operator.add, [1], ["ü\N{SNOWMAN}"], deadline=soon()) == [
        1,
        "ü\N{SNOWMAN}",
    ]
    assert await workers.run(os.getpid, deadline=soon()) == pid


async def test_a_small_document_does_not_wait_behind_large_ones() -> None:
    hanging = (re.fullmatch, "(a+)+b", "a" * LARGE_BYTES)
    async with Workers(count=2) as workers:
        large = [asyncio.create_task(workers.run(*hanging, deadline=soon())) for _ in range(3)]
        await asyncio.sleep(0)  # each of them begins
        assert await workers.run(operator.add, 1, 2, deadline=soon()) == 3
        assert not any(task.done() for task in large)
        for task in large:
            task.cancel()
        await asyncio.gather(*large, return_exceptions=True)


async def test_heavy_jobs_count_as_large_however_small_they_are() -> None:
    async with Workers(count=2) as workers:
        heavy = [
            asyncio.create_task(workers.run(*CATASTROPHE, deadline=soon(), heavy=True))
            for _ in range(3)
        ]
        await asyncio.sleep(0)  # each of them begins
        assert await workers.run(operator.add, 1, 2, deadline=soon()) == 3
        assert not any(task.done() for task in heavy)
        for task in heavy:
            task.cancel()
        await asyncio.gather(*heavy, return_exceptions=True)


async def test_a_dataclass_comes_back_as_its_fields(workers: Workers) -> None:
    assert await workers.run(TokenUsage, 1, 2, deadline=soon()) == {"prompt": 1, "response": 2}


async def test_text_that_is_not_unicode_comes_back_as_text(workers: Workers) -> None:
    assert await workers.run(operator.add, "a", "\ud800", deadline=soon()) == "a?"


async def test_large_pages_survive_the_way_to_a_worker_and_back(workers: Workers) -> None:
    page = "x" * 5_000_000
    assert await workers.run(operator.add, page, "y", deadline=soon()) == page + "y"


@pytest.mark.defective
async def test_an_exception_is_reported_by_its_type_and_the_process_is_kept(
    workers: Workers,
) -> None:
    pid = await workers.run(os.getpid, deadline=soon())
    with pytest.raises(SearchFetchError, match=r"could not be read \(JSONDecodeError\)") as caught:
        await workers.run(json.loads, "secret page text", deadline=soon())
    assert "secret" not in caught.value.message
    assert await workers.run(os.getpid, deadline=soon()) == pid


async def test_a_refusal_keeps_its_message(workers: Workers) -> None:
    with pytest.raises(SearchFetchError, match="neither RSS nor Atom"):
        await workers.run(parse_feed, b"<html/>", deadline=soon())


@pytest.mark.parametrize(
    "job",
    [
        pytest.param((bytes, 3 << 30), id="fills the memory"),
        pytest.param((os._exit, 3), id="exits"),
        pytest.param((os.abort,), id="crashes"),
        pytest.param((fractions.Fraction, 1), id="does not reply in JSON"),
    ],
)
async def test_a_page_that_takes_the_process_down_costs_that_page_only(
    workers: Workers, job: tuple[object]
) -> None:
    doomed = asyncio.create_task(workers.run(*job, deadline=soon()))  # type: ignore[arg-type]
    queued = asyncio.create_task(workers.run(operator.add, 1, 1, deadline=soon()))
    with pytest.raises(SearchFetchError, match="broke down"):
        await doomed
    assert await queued == 2


async def test_a_process_has_a_memory_limit() -> None:
    async with Workers(limits=Limits(megabytes=512)) as workers:
        assert await workers.run(resource.getrlimit, resource.RLIMIT_AS, deadline=soon()) == [
            512 << 20,
            512 << 20,
        ]


async def test_a_page_that_hangs_ends_at_its_limit_and_the_queue_continues() -> None:
    async with Workers(count=1, limits=Limits(seconds=2)) as workers:
        pid = await workers.run(os.getpid, deadline=soon())
        hanging = asyncio.create_task(workers.run(*CATASTROPHE, deadline=soon()))
        queued = asyncio.create_task(workers.run(operator.add, 1, 1, deadline=soon()))
        with pytest.raises(SearchTimeoutError):
            await hanging
        assert not running(pid)
        assert await queued == 2


async def test_a_job_may_have_a_shorter_limit_of_its_own(workers: Workers) -> None:
    with pytest.raises(SearchTimeoutError) as caught:
        await workers.run(*CATASTROPHE, deadline=soon(), seconds=0.1)
    assert caught.value.details == {"reason": "too_costly"}


async def test_a_deadline_ends_a_call_and_its_process(workers: Workers) -> None:
    pid = await workers.run(os.getpid, deadline=soon())
    with pytest.raises(SearchTimeoutError):
        await workers.run(*CATASTROPHE, deadline=Deadline.after(0.1))
    assert not running(pid)


async def test_a_deadline_ends_the_wait_in_the_queue_and_spares_the_running_job(
    workers: Workers,
) -> None:
    pid = await workers.run(os.getpid, deadline=soon())
    at_work = asyncio.create_task(workers.run(*CATASTROPHE, deadline=soon()))
    await asyncio.sleep(0)
    with pytest.raises(SearchTimeoutError):
        await workers.run(operator.add, 1, 1, deadline=Deadline.after(0.1))
    assert running(pid)
    at_work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await at_work


async def test_cancelling_the_caller_kills_the_process(workers: Workers) -> None:
    pid = await workers.run(os.getpid, deadline=soon())
    task = asyncio.create_task(workers.run(*CATASTROPHE, deadline=soon()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not running(pid)
    assert await workers.run(operator.add, 1, 1, deadline=soon()) == 2


async def test_killing_a_process_leaves_its_exit_code_to_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(_: object) -> int | None:
        raise AssertionError("asyncio's thread waits for this process")

    worker = await Worker.start(pool.LIMITS, request_frames(int, ()))
    monkeypatch.setattr(subprocess.Popen, "poll", never)
    await worker.kill()
    assert not worker.alive


async def test_an_idle_process_killed_from_outside_is_replaced(workers: Workers) -> None:
    pid = await workers.run(os.getpid, deadline=soon())
    os.kill(pid, signal.SIGKILL)
    await next(iter(workers._all))._process.wait()
    assert await workers.run(os.getpid, deadline=soon()) != pid


async def test_the_number_of_processes_never_exceeds_the_limit() -> None:
    async with Workers(count=2, spare=0) as workers:
        pids = await asyncio.gather(*(workers.run(os.getpid, deadline=soon()) for _ in range(12)))
    assert 1 <= len(set(pids)) <= 2


async def test_a_warm_up_starts_one_process_once_and_its_reply_is_not_confused_with_another() -> (
    None
):
    others = children()
    async with Workers(count=2, warm_up=os.getpid) as workers:
        assert children() <= others
        for _ in range(3):
            await workers.warm()
        assert len(children() - others) == 1
        assert await workers.run(operator.add, 1, 1, deadline=soon()) == 2
        assert await workers.run(operator.add, 2, 2, deadline=soon()) == 4


async def test_a_machine_that_cannot_start_a_process_is_a_fetch_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    async with Workers() as workers:
        await workers.warm()
        with pytest.raises(SearchFetchError, match="broke down"):
            await workers.run(os.getpid, deadline=soon())
        assert workers.trouble == "Worker processes cannot be started."


async def test_a_process_that_is_starting_is_not_trouble(workers: Workers) -> None:
    starting = asyncio.create_task(workers.run(os.getpid, deadline=soon()))
    await asyncio.sleep(0)
    assert workers.trouble is None
    await starting
    assert workers.trouble is None


@pytest.mark.parametrize("busy", [True, False])
async def test_closing_leaves_no_process_behind(busy: bool) -> None:
    workers = Workers(count=1)
    pid = await workers.run(os.getpid, deadline=soon())
    task = asyncio.create_task(workers.run(*CATASTROPHE, deadline=soon())) if busy else None
    await asyncio.sleep(0)
    await workers.aclose()
    assert not running(pid)
    if task:
        with pytest.raises(SearchFetchError):
            await task
    await workers.aclose()


async def test_a_process_that_starts_while_the_pool_closes_ends_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[Worker] = []
    start, closing = Worker.start, asyncio.Event()

    async def start_slowly(*arguments: Any) -> Worker:
        started.append(await start(*arguments))
        await closing.wait()
        return started[0]

    monkeypatch.setattr(Worker, "start", start_slowly)
    workers = Workers()
    task = asyncio.create_task(workers.run(os.getpid, deadline=soon()))
    while not started:  # noqa: ASYNC110 - the process must be there
        await asyncio.sleep(0)
    await workers.aclose()
    closing.set()
    with pytest.raises(SearchFetchError):
        await task
    await workers.aclose()
    assert not started[0].alive


def unread(workers: Workers) -> Worker:
    """The only worker, whose output the event loop does not read, as under load."""
    [worker] = workers._all
    worker._pipes[1].pause_reading()
    return worker


async def test_ending_a_job_does_not_wait_for_unread_output(workers: Workers) -> None:
    await workers.run(os.getpid, deadline=soon())
    task = asyncio.create_task(workers.run(*CATASTROPHE, deadline=soon()))
    await asyncio.sleep(0)
    worker = unread(workers)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert worker._transport.is_closing()


async def test_a_process_that_died_while_idle_is_released(workers: Workers) -> None:
    pid = await workers.run(os.getpid, deadline=soon())
    worker = unread(workers)
    os.kill(pid, signal.SIGKILL)
    while worker.alive:  # noqa: ASYNC110 - asyncio tells of no end before that of the output
        await asyncio.sleep(0)
    assert await workers.run(os.getpid, deadline=soon()) != pid
    await workers.aclose()
    assert worker._transport.is_closing()


async def test_a_worker_gets_no_secret_of_its_parent(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter2")
    assert await workers.run(os.getenv, "OPENAI_API_KEY", deadline=soon()) is None


async def test_output_of_a_library_is_not_taken_for_a_reply(workers: Workers) -> None:
    assert await workers.run(print, "noise", deadline=soon()) is None
    assert await workers.run(os.write, 1, b"noise", deadline=soon()) == 5
    assert await workers.run(operator.add, 1, 1, deadline=soon()) == 2


async def test_a_user_with_many_heavy_pages_does_not_delay_another() -> None:
    async with Workers(count=1, spare=1) as workers:
        heavy = [asyncio.create_task(workers.run(*CATASTROPHE, deadline=soon())) for _ in range(12)]
        await asyncio.sleep(0)  # each of them begins
        WORKING_FOR.set("another")
        assert await workers.run(operator.add, 1, 2, deadline=soon()) == 3
        assert not any(task.done() for task in heavy)
        for task in heavy:
            task.cancel()
        await asyncio.gather(*heavy, return_exceptions=True)


async def test_a_job_that_uses_up_its_cpu_time_ends_before_its_time_limit() -> None:
    async with Workers(limits=Limits(cpu_seconds=1, seconds=PATIENCE)) as workers:
        with pytest.raises(SearchFetchError, match="more than 1 s of processor time") as caught:
            await workers.run(*CATASTROPHE, deadline=soon())
        assert caught.value.details == {"reason": "too_costly"}


async def test_a_process_that_has_grown_is_replaced() -> None:
    async with Workers(count=1, limits=Limits(resident_megabytes=100)) as workers:
        pid = await workers.run(os.getpid, deadline=soon())
        assert await workers.run(os.getpid, deadline=soon()) == pid
        await workers.run(
            builtins.exec, "import sys; sys.kept = bytes(range(256)) * 500_000", deadline=soon()
        )
        assert await workers.run(os.getpid, deadline=soon()) != pid


async def test_a_process_is_replaced_after_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_JOBS", 3)
    async with Workers(count=1) as workers:
        pids = [await workers.run(os.getpid, deadline=soon()) for _ in range(7)]
    assert [len(list(group)) for _, group in itertools.groupby(pids)] == [3, 3, 1]


async def test_a_process_without_work_ends_and_the_next_call_starts_another() -> None:
    async with Workers(idle_seconds=0) as workers:
        pid = await workers.run(os.getpid, deadline=soon())
        await ended(pid)
        assert await workers.run(os.getpid, deadline=soon()) != pid


@pytest.mark.defective
async def test_work_on_a_few_words_starts_no_process_and_gives_the_same_result() -> None:
    others = children()
    async with Workers() as workers:
        assert await workers.run(divmod, 7, 2, deadline=soon(), size=SMALL_CHARS) == [3, 1]
        assert await workers.run(TokenUsage, 1, 2, deadline=soon(), size=1) == {
            "prompt": 1,
            "response": 2,
        }
        with pytest.raises(SearchFetchError, match="JSONDecodeError"):
            await workers.run(json.loads, "x", deadline=soon(), size=1)
        assert children() <= others


async def test_the_error_of_a_function_keeps_its_type() -> None:
    async with Workers() as workers:
        for size in (1, None):
            with pytest.raises(SearchProviderParseError, match="The reply of nobody is not JSON"):
                await workers.run(reply_object, b"x", "nobody", deadline=soon(), size=size)


PARENT = """
import asyncio, os, re
from websearch_gateway.models import Deadline
from websearch_gateway.pages.formats.feed import parse_feed
from websearch_gateway.base.workers.worker import Limits, request_frames
from websearch_gateway.base.workers.pool import Workers

async def main():
    workers = Workers(count=1, limits=Limits(seconds=5))
    pid = await workers.run(os.getpid, deadline=Deadline.after(300))
    print(pid, flush=True)
    asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), 9)
    await workers.run(re.fullmatch, "(a+)+b", "a" * 60, deadline=Deadline.after(300))

asyncio.run(main())
"""


def test_a_worker_that_hangs_does_not_outlive_a_parent_that_was_killed() -> None:
    parent = subprocess.run(
        [sys.executable, "-c", PARENT], capture_output=True, text=True, timeout=PATIENCE
    )
    assert parent.returncode == -signal.SIGKILL
    pid = int(parent.stdout)
    while running(pid):
        signal.sigtimedwait([], 0.05)


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
            await stack.enter_async_context(
                self._line.turn(name.split("/")[0], size=LARGE_BYTES + 1 if large else 0)
            )
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
