import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.patience import PATIENCE
from websearch_gateway.errors import StateUnavailable
from websearch_gateway.state.shared import CoalescedIncrements, Timeouts


class Foreign(Exception):
    """An exception of a backend's library."""


def timeouts(seconds: float = 20, cooldown_seconds: float = 600) -> Timeouts:
    return Timeouts("Postbox", lambda: (Foreign,), seconds=seconds, cooldown_seconds=cooldown_seconds)


async def never() -> None:
    await asyncio.Event().wait()


async def answer() -> int:
    return 42


async def refuse() -> None:
    raise Foreign("the key is secret")


async def test_the_result_of_a_verb_is_returned():
    assert await timeouts().run(answer) == 42


async def test_after_a_slow_verb_all_fail_at_once():
    tried = timeouts(seconds=0.01)
    with pytest.raises(StateUnavailable, match=r"Postbox did not answer within 0.01 s"):
        await tried.run(never)
    with pytest.raises(StateUnavailable, match="a moment ago"):
        await tried.run(answer)


async def test_after_the_cooldown_the_backend_is_called_again():
    tried = timeouts(seconds=0.01, cooldown_seconds=0)
    with pytest.raises(StateUnavailable):
        await tried.run(never)
    assert await tried.run(answer) == 42


async def test_a_verb_that_ignores_its_cancellation_delays_no_caller():
    """psycopg, for example, waits until its server confirms that a statement was cancelled."""
    released = asyncio.Event()

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await released.wait()
            raise

    tried = timeouts(seconds=0.01)
    with pytest.raises(StateUnavailable):
        await tried.run(stubborn)
    assert await tried.close()
    released.set()


async def test_exceptions_of_the_library_are_mapped_and_their_text_is_not_quoted():
    with pytest.raises(StateUnavailable, match=r"^Postbox cannot be used \(Foreign\)\.$") as caught:
        await timeouts().run(refuse)
    assert isinstance(caught.value.__cause__, Foreign)


async def test_a_refusal_starts_no_cooldown():
    tried = timeouts()
    with pytest.raises(StateUnavailable):
        await tried.run(refuse)
    assert await tried.run(answer) == 42


async def test_a_cancelled_caller_cancels_the_verb():
    begun, ended = asyncio.Event(), asyncio.Event()

    async def verb() -> None:
        begun.set()
        try:
            await never()
        finally:
            ended.set()

    caller = asyncio.create_task(timeouts().run(verb))
    await begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await asyncio.wait_for(ended.wait(), PATIENCE)


async def test_no_verb_begins_after_closing():
    tried = timeouts()
    assert await tried.close() is True
    assert await tried.close() is False
    with pytest.raises(StateUnavailable, match="closed"):
        await tried.run(answer)


class Counter:
    """A counter behind a slow connection."""

    def __init__(self) -> None:
        self.value = 0
        self.sent: list[tuple[int, float | None]] = []
        self.line = asyncio.Event()
        self.broken = False

    async def send(self, key: str, amount: int, ttl: float | None) -> int:
        self.sent.append((amount, ttl))
        await self.line.wait()
        if self.broken:
            raise StateUnavailable("The line is cut.")
        self.value += amount
        return self.value


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=30))
async def test_each_caller_gets_the_value_of_a_sequential_increment(amounts):
    counter = Counter()
    additions = CoalescedIncrements(counter.send)
    waiting = [asyncio.create_task(additions.add("n", amount, None)) for amount in amounts]
    await asyncio.sleep(0)
    counter.line.set()
    assert await asyncio.gather(*waiting) == [sum(amounts[: end + 1]) for end in range(len(amounts))]
    assert len(counter.sent) <= 2


async def test_the_first_waiting_increment_sets_the_ttl():
    counter = Counter()
    additions = CoalescedIncrements(counter.send)
    first = asyncio.create_task(additions.add("n", 1, 10))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    others = [asyncio.create_task(additions.add("n", 1, ttl)) for ttl in (20, 30)]
    await asyncio.sleep(0)
    counter.line.set()
    await asyncio.gather(first, *others)
    assert counter.sent == [(1, 10), (2, 20)]


async def test_a_failure_is_raised_in_all_waiting_callers_and_later_increments_work():
    counter = Counter()
    additions = CoalescedIncrements(counter.send)
    waiting = [asyncio.create_task(additions.add("n", 1, None)) for _ in range(3)]
    await asyncio.sleep(0)
    counter.broken = True
    counter.line.set()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StateUnavailable] * 3
    assert len(set(map(id, outcomes))) == 3
    counter.broken = False
    assert await additions.add("n", 1, None) == 1


async def test_the_increment_of_a_caller_who_leaves_still_counts():
    counter = Counter()
    additions = CoalescedIncrements(counter.send)
    waiting = [asyncio.create_task(additions.add("n", 1, None)) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    counter.line.set()
    assert await waiting[2] == 3
    with pytest.raises(asyncio.CancelledError):
        await waiting[1]


async def test_closing_waits_for_running_increments():
    counter = Counter()
    additions = CoalescedIncrements(counter.send)
    waiting = asyncio.create_task(additions.add("n", 1, None))
    await asyncio.sleep(0)
    closing = asyncio.create_task(additions.close())
    counter.line.set()
    await closing
    assert waiting.done() or await waiting == 1
