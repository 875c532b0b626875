"""Reading many pages at once: no long waits, no tasks left behind, no hidden defects."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from bench.virtual_time import in_virtual_time, now
from websearch_gateway.errors import SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline, Page
from websearch_gateway.pipeline.read_many import read_pages

FAR = 3600.0


class ScriptedReader:
    """A Reader with scripted pages. It counts the reads that run at once and those that never finished."""

    name = "scripted"

    def __init__(self, behaviour: Callable[[str, Deadline], Awaitable[None]]) -> None:
        self.behaviour = behaviour
        self.running = 0
        self.most = 0
        self.read_urls: list[str] = []

    async def read(self, url: str, deadline: Deadline) -> Page:
        self.read_urls.append(url)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.behaviour(url, deadline)
        finally:
            self.running -= 1
        return Page(url=url, final_url=url, title=url, markdown="text")


async def at_once(url: str, deadline: Deadline) -> None:
    await asyncio.sleep(0)


async def never(url: str, deadline: Deadline) -> None:
    await asyncio.Event().wait()


async def slow_ones_never(url: str, deadline: Deadline) -> None:
    if "slow" in url:
        await never(url, deadline)


def only_this_task_is_left() -> bool:
    return asyncio.all_tasks() == {asyncio.current_task()}


async def test_every_page_is_read_once_and_keeps_its_place() -> None:
    reader = ScriptedReader(at_once)
    outcomes = await read_pages(
        reader, ["b", "a", "b"], Deadline.after(FAR), gate=asyncio.Semaphore(8), per_page_seconds=FAR
    )
    assert list(outcomes) == ["b", "a"]
    assert all(isinstance(page, Page) and page.url == url for url, page in outcomes.items())
    assert reader.read_urls == ["b", "a"]


async def test_no_urls_give_no_pages() -> None:
    reader = ScriptedReader(at_once)
    assert await read_pages(reader, [], Deadline.after(FAR), gate=asyncio.Semaphore(8), per_page_seconds=FAR) == {}


async def test_pages_are_read_at_once_but_never_more_than_allowed() -> None:
    reader = ScriptedReader(at_once)
    urls = [str(n) for n in range(10)]
    outcomes = await read_pages(reader, urls, Deadline.after(FAR), gate=asyncio.Semaphore(3), per_page_seconds=FAR)
    assert len(outcomes) == 10
    assert reader.most == 3


async def test_a_failed_page_is_its_error_and_the_others_are_read() -> None:
    async def behave(url: str, deadline: Deadline) -> None:
        if url == "gone":
            raise SearchFetchError("The page answered 404.")

    outcomes = await read_pages(
        ScriptedReader(behave), ["gone", "here"], Deadline.after(FAR), gate=asyncio.Semaphore(8), per_page_seconds=FAR
    )
    assert isinstance(outcomes["gone"], SearchFetchError)
    assert isinstance(outcomes["here"], Page)


@in_virtual_time
async def test_a_slow_page_gets_a_timeout_error_and_its_read_is_cancelled() -> None:
    reader = ScriptedReader(slow_ones_never)
    outcomes = await read_pages(
        reader, ["slow", "quick"], Deadline.after(FAR, now), gate=asyncio.Semaphore(8), per_page_seconds=0.01
    )
    assert isinstance(outcomes["slow"], SearchTimeoutError)
    assert isinstance(outcomes["quick"], Page)
    assert reader.running == 0
    assert only_this_task_is_left()


@in_virtual_time
async def test_no_page_is_awaited_past_the_deadline_even_in_the_queue() -> None:
    reader = ScriptedReader(never)
    outcomes = await read_pages(
        reader, ["a", "b", "c"], Deadline.after(0.02, now), gate=asyncio.Semaphore(1), per_page_seconds=FAR
    )
    assert [type(outcome) for outcome in outcomes.values()] == [SearchTimeoutError] * 3
    assert reader.read_urls == ["a"]
    assert only_this_task_is_left()


async def test_a_reader_gets_the_deadline_of_its_own_page() -> None:
    told: list[Deadline] = []

    async def behave(url: str, deadline: Deadline) -> None:
        told.append(deadline)

    whole = Deadline.after(FAR)
    await read_pages(ScriptedReader(behave), ["a"], whole, gate=asyncio.Semaphore(8), per_page_seconds=1)
    await read_pages(ScriptedReader(behave), ["a"], whole, gate=asyncio.Semaphore(8), per_page_seconds=2 * FAR)
    assert told[0].at < whole.at
    assert told[1] == whole


async def test_a_defect_of_a_reader_is_raised_and_the_other_reads_are_cancelled() -> None:
    async def behave(url: str, deadline: Deadline) -> None:
        if url == "defect":
            raise ZeroDivisionError
        await never(url, deadline)

    reader = ScriptedReader(behave)
    with pytest.raises(ZeroDivisionError):
        await read_pages(
            reader, ["slow", "defect"], Deadline.after(FAR), gate=asyncio.Semaphore(8), per_page_seconds=FAR
        )
    assert reader.running == 0
    assert only_this_task_is_left()


async def test_a_timeout_error_that_is_not_ours_is_a_defect() -> None:
    async def behave(url: str, deadline: Deadline) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await read_pages(
            ScriptedReader(behave), ["a"], Deadline.after(FAR), gate=asyncio.Semaphore(8), per_page_seconds=FAR
        )


async def test_cancelling_the_call_cancels_every_read() -> None:
    both_run = asyncio.Barrier(3)

    async def behave(url: str, deadline: Deadline) -> None:
        await both_run.wait()
        await never(url, deadline)

    reader = ScriptedReader(behave)
    call = asyncio.create_task(
        read_pages(reader, ["a", "b"], Deadline.after(FAR), gate=asyncio.Semaphore(8), per_page_seconds=FAR)
    )
    await both_run.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert reader.running == 0
    assert only_this_task_is_left()


@in_virtual_time
async def test_after_enough_pages_the_slow_rest_is_cancelled() -> None:
    """Without this, one hanging page would cost the whole hour that is allowed here."""
    reader = ScriptedReader(slow_ones_never)
    outcomes = await read_pages(
        reader, ["slow", "a", "b"], Deadline.after(FAR, now), gate=asyncio.Semaphore(8), per_page_seconds=FAR, enough=2
    )
    assert [type(outcome) for outcome in outcomes.values()] == [SearchTimeoutError, Page, Page]
    assert reader.running == 0


@in_virtual_time
async def test_pages_that_arrive_shortly_after_enough_still_count() -> None:
    async def behave(url: str, deadline: Deadline) -> None:
        for _ in range(int(url)):
            await asyncio.sleep(0)

    urls = [str(n) for n in range(5)]
    outcomes = await read_pages(
        ScriptedReader(behave),
        urls,
        Deadline.after(FAR, now),
        gate=asyncio.Semaphore(8),
        per_page_seconds=FAR,
        enough=1,
    )
    assert all(isinstance(outcome, Page) for outcome in outcomes.values())
