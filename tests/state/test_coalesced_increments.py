"""Increments that are sent together look to their callers as if each was sent alone."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.state.coalesced_increments import CoalescedIncrements


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
