"""A page may hang, fill or crash the process that reads it, without an effect on other calls.

The jobs are functions of the standard library, which a worker can import by name.
"""

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
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE
from websearch_gateway.errors import SearchFetchError, SearchProviderParseError, SearchTimeoutError
from websearch_gateway.models import Deadline, TokenUsage
from websearch_gateway.readers.formats.feed import parse_feed
from websearch_gateway.text.payload import json_object
from websearch_gateway.workers import process
from websearch_gateway.workers.child import Limits
from websearch_gateway.workers.fair_queue import LARGE_BYTES
from websearch_gateway.workers.pool import SMALL_CHARS, WORKING_FOR, Workers
from websearch_gateway.workers.process import Worker

CATASTROPHE = (re.fullmatch, "(a+)+b", "a" * 60)
"""Hours inside C code, which no Python signal handler interrupts."""


def soon() -> Deadline:
    return Deadline.after(300)


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    async with Workers(count=1) as workers:
        yield workers


async def test_a_call_is_answered_by_another_process_that_stays_for_the_next(workers: Workers) -> None:
    pid = await workers.run(os.getpid, deadline=soon())
    assert pid != os.getpid()
    assert await workers.run(operator.add, [1], ["ü\N{SNOWMAN}"], deadline=soon()) == [1, "ü\N{SNOWMAN}"]
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
        heavy = [asyncio.create_task(workers.run(*CATASTROPHE, deadline=soon(), heavy=True)) for _ in range(3)]
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


async def test_an_exception_is_reported_by_its_type_and_the_process_is_kept(workers: Workers) -> None:
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
async def test_a_page_that_takes_the_process_down_costs_that_page_only(workers: Workers, job: tuple[object]) -> None:
    doomed = asyncio.create_task(workers.run(*job, deadline=soon()))  # type: ignore[arg-type]
    queued = asyncio.create_task(workers.run(operator.add, 1, 1, deadline=soon()))
    with pytest.raises(SearchFetchError, match="broke down"):
        await doomed
    assert await queued == 2


async def test_a_process_has_a_memory_limit() -> None:
    async with Workers(limits=Limits(megabytes=512)) as workers:
        assert await workers.run(resource.getrlimit, resource.RLIMIT_AS, deadline=soon()) == [512 << 20, 512 << 20]


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


async def test_a_deadline_ends_the_wait_in_the_queue_and_spares_the_running_job(workers: Workers) -> None:
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


async def test_an_idle_process_killed_from_outside_is_replaced(workers: Workers) -> None:
    pid = await workers.run(os.getpid, deadline=soon())
    os.kill(pid, signal.SIGKILL)
    await next(iter(workers._all))._process.wait()
    assert await workers.run(os.getpid, deadline=soon()) != pid


async def test_the_number_of_processes_never_exceeds_the_limit() -> None:
    async with Workers(count=2, spare=0) as workers:
        pids = await asyncio.gather(*(workers.run(os.getpid, deadline=soon()) for _ in range(12)))
    assert 1 <= len(set(pids)) <= 2


async def test_a_warm_up_starts_one_process_once_and_its_reply_is_not_confused_with_another() -> None:
    async with Workers(count=2, warm_up=os.getpid) as workers:
        assert workers._all == set()
        for _ in range(3):
            await workers.warm()
        assert len(workers._all) == 1
        assert await workers.run(operator.add, 1, 1, deadline=soon()) == 2
        assert await workers.run(operator.add, 2, 2, deadline=soon()) == 4


async def test_a_machine_that_cannot_start_a_process_is_a_fetch_error(monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_a_process_that_starts_while_the_pool_closes_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_a_worker_gets_no_secret_of_its_parent(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
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
        await workers.run(builtins.exec, "import sys; sys.kept = bytes(range(256)) * 500_000", deadline=soon())
        assert await workers.run(os.getpid, deadline=soon()) != pid


async def test_a_process_is_replaced_after_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_JOBS", 3)
    async with Workers(count=1) as workers:
        pids = [await workers.run(os.getpid, deadline=soon()) for _ in range(7)]
    assert [len(list(group)) for _, group in itertools.groupby(pids)] == [3, 3, 1]


async def test_a_process_without_work_ends_and_the_next_call_starts_another() -> None:
    async with Workers(idle_seconds=0) as workers:
        pid = await workers.run(os.getpid, deadline=soon())
        while workers._ending or workers._all:
            await asyncio.wait([*workers._ending, asyncio.ensure_future(asyncio.sleep(0))])
        assert not running(pid)
        assert await workers.run(os.getpid, deadline=soon()) != pid


async def test_work_on_a_few_words_starts_no_process_and_gives_the_same_result() -> None:
    async with Workers() as workers:
        assert await workers.run(divmod, 7, 2, deadline=soon(), size=SMALL_CHARS) == [3, 1]
        assert await workers.run(TokenUsage, 1, 2, deadline=soon(), size=1) == {"prompt": 1, "response": 2}
        with pytest.raises(SearchFetchError, match="JSONDecodeError"):
            await workers.run(json.loads, "x", deadline=soon(), size=1)
        assert not workers._all


async def test_the_error_of_a_function_keeps_its_type() -> None:
    async with Workers() as workers:
        for size in (1, None):
            with pytest.raises(SearchProviderParseError, match="The reply of nobody is not JSON"):
                await workers.run(json_object, b"x", "nobody", deadline=soon(), size=size)


PARENT = """
import asyncio, os, re
from websearch_gateway.models import Deadline
from websearch_gateway.readers.formats.feed import parse_feed
from websearch_gateway.workers.child import Limits
from websearch_gateway.workers.pool import Workers

async def main():
    workers = Workers(count=1, limits=Limits(seconds=5))
    pid = await workers.run(os.getpid, deadline=Deadline.after(300))
    print(pid, flush=True)
    asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), 9)
    await workers.run(re.fullmatch, "(a+)+b", "a" * 60, deadline=Deadline.after(300))

asyncio.run(main())
"""


def test_a_worker_that_hangs_does_not_outlive_a_parent_that_was_killed() -> None:
    parent = subprocess.run([sys.executable, "-c", PARENT], capture_output=True, text=True, timeout=PATIENCE)
    assert parent.returncode == -signal.SIGKILL
    pid = int(parent.stdout)
    while running(pid):
        signal.sigtimedwait([], 0.05)
