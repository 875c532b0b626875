"""How many calls of a burst reach an upstream that has not answered yet."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.virtual_time import in_virtual_time, now
from tests.layers import inside
from websearch_gateway.errors import (
    NotAsked,
    SearchAuthError,
    SearchError,
    SearchProviderError,
)
from websearch_gateway.models import Deadline
from websearch_gateway.upstream.burst_gate import BurstGate
from websearch_gateway.upstream.circuit_breaker import CircuitBreaker
from websearch_gateway.upstream.health import UpstreamHealth

MOST = 5


@dataclass
class Upstream:
    """An upstream that answers, or fails with `error`, after `seconds`. It records when each call began."""

    seconds: float = 0.4
    error: SearchError | None = None
    began: list[float] = field(default_factory=list)

    async def __call__(self) -> str:
        self.began.append(now())
        await asyncio.sleep(self.seconds)
        if self.error:
            raise self.error
        return "answer"


def down() -> SearchProviderError:
    return SearchProviderError("serper answered with HTTP 500.")


async def burst(
    burst_gate: BurstGate, upstream: Upstream, size: int, seconds: float = 15.0
) -> list[str | BaseException]:
    calls = (inside(burst_gate, upstream, Deadline.after(seconds, now)) for _ in range(size))
    return await asyncio.gather(*calls, return_exceptions=True)


@in_virtual_time
async def test_the_first_answer_releases_the_whole_burst() -> None:
    upstream = Upstream()
    assert await burst(BurstGate("serper", MOST), upstream, 30) == ["answer"] * 30
    assert upstream.began == [0.0] * MOST + [0.4] * 25


@in_virtual_time
async def test_sequential_calls_never_wait() -> None:
    upstream, burst_gate = Upstream(), BurstGate("serper", 1)
    for _ in range(10):
        assert await inside(burst_gate, upstream, Deadline.after(15, now)) == "answer"
    assert now() == pytest.approx(10 * upstream.seconds)


@in_virtual_time
async def test_a_burst_on_a_dead_upstream_sends_only_the_first_calls() -> None:
    upstream, burst_gate = Upstream(error=down()), BurstGate("serper", MOST)
    breaker = CircuitBreaker(UpstreamHealth("serper", now), failures=3)

    async def call() -> str:
        return await inside(breaker, upstream, Deadline.after(15, now))

    calls = (inside(burst_gate, call, Deadline.after(15, now)) for _ in range(500))
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert len(upstream.began) == MOST
    assert sum(isinstance(outcome, NotAsked) for outcome in outcomes) == 500 - MOST
    assert now() == upstream.seconds, "the other calls fail at once"


@in_virtual_time
async def test_the_gate_also_holds_for_an_upstream_that_worked_before() -> None:
    upstream, burst_gate = Upstream(), BurstGate("serper", MOST)
    await burst(burst_gate, upstream, 30)
    upstream.error, upstream.began = down(), []
    await burst(burst_gate, upstream, 30)
    assert len([moment for moment in upstream.began if moment == upstream.began[0]]) == MOST


@in_virtual_time
async def test_without_a_breaker_a_failure_frees_its_place() -> None:
    upstream = Upstream(error=down())
    outcomes = await burst(BurstGate("serper", MOST), upstream, 15)
    assert all(isinstance(outcome, SearchProviderError) for outcome in outcomes)
    assert [upstream.began.count(moment) for moment in sorted(set(upstream.began))] == [MOST] * 3


@in_virtual_time
async def test_a_refusal_counts_as_an_answer() -> None:
    upstream = Upstream(error=SearchAuthError("serper rejected the key."))
    await burst(BurstGate("serper", MOST), upstream, 30)
    assert upstream.began == [0.0] * MOST + [0.4] * 25


@pytest.mark.parametrize("seconds", [15.0, 3.0, 0.0])
@in_virtual_time
async def test_a_call_that_waits_in_vain_leaves_half_of_its_time_to_the_next_upstream(
    seconds: float,
) -> None:
    upstream, burst_gate = Upstream(seconds=100.0), BurstGate("serper", MOST)
    hanging = [
        asyncio.create_task(inside(burst_gate, upstream, Deadline.after(100, now)))
        for _ in range(MOST)
    ]
    await asyncio.sleep(0)
    with pytest.raises(NotAsked, match="serper has not answered any of the 5 calls under way"):
        await inside(burst_gate, upstream, Deadline.after(seconds, now))
    assert (now(), len(upstream.began)) == (seconds / 2, MOST)
    assert await asyncio.gather(*hanging) == ["answer"] * MOST


@in_virtual_time
async def test_a_cancelled_call_frees_its_place_or_stops_waiting() -> None:
    upstream, burst_gate = Upstream(seconds=100.0), BurstGate("serper", MOST)
    tasks = [
        asyncio.create_task(inside(burst_gate, upstream, Deadline.after(15, now)))
        for _ in range(2 * MOST)
    ]
    await asyncio.sleep(0.1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    upstream.seconds, upstream.began = 0.4, []
    await burst(burst_gate, upstream, MOST + 1)
    assert upstream.began == pytest.approx([0.1] * MOST + [0.5])


calls = st.lists(
    st.tuples(
        st.floats(0, 3),  # when it begins
        st.floats(0, 3),  # how long it takes
        st.sampled_from(["answer", "failure"]),
        st.none() | st.floats(0, 3),  # when its caller leaves
    ),
    max_size=40,
)


@given(calls)
def test_at_most_the_allowed_number_of_calls_is_in_flight_and_no_place_is_lost(
    plan: list[tuple[float, float, str, float | None]],
) -> None:
    in_virtual_time(_play)(plan)


async def _play(plan: list[tuple[float, float, str, float | None]]) -> None:
    """No wait times out here, so every call has a place, or was waiting when an answer came."""
    burst_gate, ahead, answers = BurstGate("serper", MOST), set(), 0

    async def one(
        number: int, start: float, takes: float, outcome: str, leaves: float | None
    ) -> None:
        async def call() -> str:
            nonlocal answers
            if came_after == answers:
                ahead.add(number)
            assert len(ahead) <= MOST
            try:
                await asyncio.sleep(takes)
            finally:
                ahead.discard(number)
            if outcome == "failure":
                raise down()
            ahead.clear()
            answers += 1
            return "answer"

        await asyncio.sleep(start)
        came_after = answers
        async with asyncio.timeout(leaves):
            await inside(burst_gate, call, Deadline.after(10_000, now))

    tasks = (one(number, *row) for number, row in enumerate(plan))
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert not [outcome for outcome in outcomes if isinstance(outcome, AssertionError)]
    upstream, began = Upstream(error=down()), now()
    await burst(burst_gate, upstream, MOST + 1)
    assert upstream.began == [began] * MOST + [pytest.approx(began + upstream.seconds)]
