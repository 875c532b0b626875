"""Identical concurrent calls cost one upstream call, and no caller suffers from the others."""

import asyncio
import gc
import traceback

import anyio
import pytest

from tests.patience import PATIENCE
from websearch_gateway.errors import SearchProviderError, SearchTimeoutError
from websearch_gateway.models import Deadline
from websearch_gateway.upstream.single_flight import SingleFlight


class Upstream:
    """A call that lasts until it is released, and records its history."""

    def __init__(self) -> None:
        self.calls = 0
        self.cancelled = 0
        self.started = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self, tell) -> str:
        self.calls += 1
        self.started.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return "answer"


@pytest.fixture
async def upstream():
    return Upstream()


@pytest.fixture
def single_flight():
    return SingleFlight()


async def settled() -> None:
    """Let every task run as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_hundred_identical_calls_are_one(single_flight, upstream):
    callers = [asyncio.create_task(single_flight.join("k", upstream)) for _ in range(100)]
    await upstream.started.wait()
    upstream.go.set()
    assert await asyncio.gather(*callers) == [("answer", False), *[("answer", True)] * 99]
    assert upstream.calls == 1


async def test_different_keys_do_not_wait_for_each_other(single_flight, upstream):
    other = Upstream()
    other.go.set()
    slow = asyncio.create_task(single_flight.join("slow", upstream))
    assert await single_flight.join("quick", other) == ("answer", False)
    upstream.go.set()
    await slow


async def test_the_next_call_after_the_end_is_a_new_one(single_flight, upstream):
    upstream.go.set()
    await single_flight.join("k", upstream)
    await single_flight.join("k", upstream)
    assert upstream.calls == 2


@pytest.mark.parametrize("leaver", [0, 1, 2])
async def test_the_other_callers_are_served_when_one_leaves(single_flight, upstream, leaver):
    callers = [asyncio.create_task(single_flight.join("k", upstream)) for _ in range(3)]
    await upstream.started.wait()
    await settled()
    callers.pop(leaver).cancel()
    await settled()
    upstream.go.set()
    assert await asyncio.gather(*callers) == [("answer", leaver == 0), ("answer", True)]
    assert (upstream.calls, upstream.cancelled) == (1, 0)


async def test_the_last_to_leave_cancels_the_upstream_call(single_flight, upstream):
    callers = [asyncio.create_task(single_flight.join("k", upstream)) for _ in range(3)]
    await upstream.started.wait()
    for caller in callers:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    await settled()
    assert upstream.cancelled == 1


async def test_no_caller_joins_a_call_that_is_being_cancelled(single_flight, upstream):
    released = asyncio.Event()

    async def slow_to_clean_up(tell):
        try:
            upstream.started.set()
            await asyncio.Event().wait()
        finally:
            await released.wait()

    first = asyncio.create_task(single_flight.join("k", slow_to_clean_up))
    await upstream.started.wait()
    first.cancel()
    await settled()
    second = asyncio.create_task(single_flight.join("k", upstream))
    await settled()
    released.set()
    await settled()
    third = asyncio.create_task(single_flight.join("k", upstream))
    await settled()
    upstream.go.set()
    assert await asyncio.gather(second, third) == [("answer", False), ("answer", True)]
    assert upstream.calls == 1, "the end of the old call must not hide the new one"


async def test_an_error_reaches_every_caller_as_it_is(single_flight, upstream):
    error = SearchProviderError("down", retry_after=7)

    async def fail(tell):
        await upstream.go.wait()
        raise error

    callers = [asyncio.create_task(single_flight.join("k", fail)) for _ in range(100)]
    await settled()
    upstream.go.set()
    assert all(
        outcome is error for outcome in await asyncio.gather(*callers, return_exceptions=True)
    )
    assert len(traceback.extract_tb(error.__traceback__)) < 5


async def test_who_has_more_time_asks_again_when_the_call_that_it_joined_runs_out_of_it(upstream):
    single_flight = SingleFlight(later_seconds=10)

    async def ask(tell) -> str:
        if upstream.calls:
            return "answer"
        await upstream(tell)
        raise SearchTimeoutError("late")

    callers = [
        asyncio.create_task(single_flight.join("k", ask, deadline=Deadline(at)))
        for at in (100, 110, 111, 112)
    ]
    await upstream.started.wait()
    await settled()
    upstream.go.set()
    first, second, third, fourth = await asyncio.gather(*callers, return_exceptions=True)
    assert (str(first), str(second)) == ("late", "late")
    assert {third, fourth} == {("answer", False), ("answer", True)}


async def test_who_has_more_time_does_not_repeat_another_error(upstream):
    single_flight = SingleFlight()

    async def fail(tell) -> str:
        await upstream(tell)
        raise SearchProviderError("broken")

    callers = [
        asyncio.create_task(single_flight.join("k", fail, deadline=Deadline(at)))
        for at in (100, 200)
    ]
    await upstream.started.wait()
    await settled()
    upstream.go.set()
    assert list(map(str, await asyncio.gather(*callers, return_exceptions=True))) == ["broken"] * 2
    assert upstream.calls == 1


async def test_an_error_without_a_waiting_caller_is_not_reported_by_asyncio(
    single_flight, upstream, caplog
):
    async def fail_when_cancelled(tell):
        try:
            upstream.started.set()
            await asyncio.Event().wait()
        finally:
            raise SearchProviderError("while cleaning up")

    caller = asyncio.create_task(single_flight.join("k", fail_when_cancelled))
    await upstream.started.wait()
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    await settled()
    del caller
    gc.collect()  # asyncio complains when the task is collected
    assert caplog.records == []


async def test_an_anyio_cancel_scope_cancels_only_its_own_caller(single_flight, upstream):
    """The MCP SDK runs each handler under such a scope."""
    answers = []

    async def ask() -> None:
        answers.append(await single_flight.join("k", upstream))

    async with anyio.create_task_group() as staying, anyio.create_task_group() as leaving:
        leaving.start_soon(ask)
        await upstream.started.wait()
        staying.start_soon(ask)
        await settled()
        leaving.cancel_scope.cancel()
        upstream.go.set()
    assert answers == [("answer", True)]
    assert (upstream.calls, upstream.cancelled) == (1, 0)


async def test_an_anyio_cancel_scope_around_the_only_caller_reaches_upstream(
    single_flight, upstream
):
    async with anyio.create_task_group() as group:
        group.start_soon(single_flight.join, "k", upstream)
        await upstream.started.wait()
        group.cancel_scope.cancel()
    await settled()
    assert upstream.cancelled == 1


async def test_no_caller_joins_a_finished_call_while_a_slow_caller_still_gets_its_progress(
    single_flight, upstream
):
    async def hang(_):
        await asyncio.Event().wait()

    async def work(tell):
        await tell("reading")
        return "old answer"

    slow = asyncio.create_task(single_flight.join("k", work, hang))
    await settled()
    upstream.go.set()
    async with asyncio.timeout(PATIENCE):
        assert await single_flight.join("k", upstream) == ("answer", False)
    slow.cancel()


class TestProgress:
    async def test_every_caller_gets_the_progress_from_its_arrival_on(
        self, single_flight, upstream
    ):
        heard = {"early": [], "late": []}

        def listener(name):
            async def hear(message):
                heard[name].append(message)

            return hear

        async def work(tell):
            await tell("searching")
            upstream.started.set()
            await upstream.go.wait()
            await tell("reading")
            return "answer"

        early = asyncio.create_task(single_flight.join("k", work, listener("early")))
        await upstream.started.wait()
        late = asyncio.create_task(single_flight.join("k", work, listener("late")))
        await settled()
        upstream.go.set()
        assert await asyncio.gather(early, late) == [("answer", False), ("answer", True)]
        assert heard == {"early": ["searching", "reading"], "late": ["reading"]}

    async def test_a_caller_that_hangs_or_fails_delays_no_other(self, single_flight, upstream):
        async def hang(_):
            await asyncio.Event().wait()

        async def break_off(_):
            raise ConnectionResetError

        async def work(tell):
            upstream.started.set()
            await upstream.go.wait()
            await tell("reading")
            return "answer"

        hanging = asyncio.create_task(single_flight.join("k", work, hang))
        broken = asyncio.create_task(single_flight.join("k", work, break_off))
        well = asyncio.create_task(single_flight.join("k", work))
        await upstream.started.wait()
        await settled()
        upstream.go.set()
        assert await well == ("answer", True)
        with pytest.raises(ConnectionResetError):
            await broken
        hanging.cancel()
