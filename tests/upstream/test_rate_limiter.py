"""Requests at the rate that an upstream allows. All in virtual time."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.virtual_time import in_virtual_time, now
from tests.layers import inside
from websearch_gateway.errors import NotAsked
from websearch_gateway.models import Deadline
from websearch_gateway.upstream.health import UpstreamHealth
from websearch_gateway.upstream.rate_limiter import SLACK, RateLimiter, allowed_per_second


def paced(per_second: float | None, **options: bool) -> RateLimiter:
    return RateLimiter(UpstreamHealth("brave", now), per_second, **options)


class Upstream:
    """An upstream that records when each request was sent; a reply takes `seconds`."""

    def __init__(self, seconds: float = 0.4) -> None:
        self.sent: list[float] = []
        self.seconds = seconds

    async def __call__(self) -> str:
        self.sent.append(now())
        await asyncio.sleep(self.seconds)
        return "answer"


async def burst(
    pace: RateLimiter, upstream: Upstream, size: int, seconds: float = 15.0
) -> list[str | BaseException]:
    calls = (inside(pace, upstream, Deadline.after(seconds, now)) for _ in range(size))
    return await asyncio.gather(*calls, return_exceptions=True)


@in_virtual_time
async def test_a_burst_waits_its_turn_and_never_sends_faster_than_allowed() -> None:
    upstream = Upstream()
    assert await burst(paced(1.0), upstream, 10) == ["answer"] * 10
    assert upstream.sent[0] == 0.0, "the first does not wait"
    assert all(later - earlier >= 1.0 for earlier, later in pairwise(upstream.sent))
    assert upstream.sent[-1] == pytest.approx(9 * SLACK)


@in_virtual_time
async def test_a_call_whose_turn_would_be_too_late_fails_at_once_and_the_others_are_served() -> (
    None
):
    upstream, pace = Upstream(), paced(1.0)
    outcomes = await burst(pace, upstream, 10, seconds=5.0)
    served = [outcome for outcome in outcomes if outcome == "answer"]
    refused = [outcome for outcome in outcomes if isinstance(outcome, NotAsked)]
    assert (len(served), len(refused)) == (5, 5)
    assert upstream.sent[-1] < 5.0
    assert refused[0].retry_after == pytest.approx(5 * SLACK)
    assert refused[0].message == "brave allows 1 requests a second, and other requests are waiting."


@in_virtual_time
async def test_a_call_does_not_wait_for_a_turn_that_leaves_less_than_the_usual_latency() -> None:
    upstream, pace = Upstream(2.0), paced(1.0)
    pace.health.record_latency(2.0, finished=True)
    outcomes = await burst(pace, upstream, 10, seconds=5.0)
    assert outcomes.count("answer") == 3
    assert now() <= 5.0


@in_virtual_time
async def test_a_refusal_takes_no_time_and_no_turn() -> None:
    upstream, pace = Upstream(), paced(1.0)
    await burst(pace, upstream, 1)
    before = now()
    with pytest.raises(NotAsked):
        await inside(pace, upstream, Deadline.after(0.1, now))
    assert now() == before
    await burst(pace, upstream, 1)
    assert upstream.sent[1] == pytest.approx(SLACK)


@in_virtual_time
async def test_a_call_that_leaves_the_queue_leaves_no_gap() -> None:
    upstream, pace = Upstream(), paced(1.0)
    calls = [asyncio.create_task(inside(pace, upstream, Deadline.after(15, now))) for _ in range(6)]
    await asyncio.sleep(0.5)
    for call in calls[1:5]:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert upstream.sent == pytest.approx([0.0, SLACK])


@in_virtual_time
async def test_waiting_calls_fail_when_the_circuit_opens() -> None:
    upstream, pace = Upstream(), paced(1.0)
    calls = asyncio.gather(
        *(inside(pace, upstream, Deadline.after(15, now)) for _ in range(10)),
        return_exceptions=True,
    )
    await asyncio.sleep(1.5)
    pace.health.open_until = 31.5
    outcomes = await calls
    assert len(upstream.sent) == 2
    assert (
        sum(isinstance(outcome, NotAsked) and "circuit" in outcome.message for outcome in outcomes)
        == 8
    )
    assert now() <= 2 * SLACK + 1e-6


@in_virtual_time
async def test_an_upstream_without_a_limit_is_not_delayed() -> None:
    for per_second in (None, 0.0):
        upstream = Upstream()
        began = now()
        await burst(paced(per_second), upstream, 100)
        assert upstream.sent == [began] * 100


@in_virtual_time
async def test_the_rate_is_learnt_from_a_reply() -> None:
    learning = paced(50.0)
    learning.learn({"x-ratelimit-policy": "1;w=1, 15000;w=2592000"})
    learning.learn({"content-type": "text/html"})
    assert learning.per_second == 1.0
    upstream = Upstream()
    await burst(learning, upstream, 3)
    assert upstream.sent == pytest.approx([0.0, SLACK, 2 * SLACK])


@pytest.mark.parametrize(
    ("policy", "rate"),
    [
        ("50;w=1, 0;w=2678400", 50.0),
        ("1;w=1, 15000;w=2592000", 1.0),
        ("20 ; w=1", 20.0),
        ("0;w=1, 0;w=2678400", None),  # Brave's 0 means no limit
        ("100;w=10", None),
        ("100;w=60", None),
        ("", None),
        ("nonsense", None),
        ("-5;w=1", 5.0),
        ("99999999999999999999;w=1", 999_999.0),
    ],
)
def test_only_the_rates_per_second_of_a_policy_are_used(policy: str, rate: float | None) -> None:
    assert allowed_per_second({"x-ratelimit-policy": policy}) == rate


@given(st.text())
def test_every_header_gives_a_sane_rate_or_none(policy: str) -> None:
    rate = allowed_per_second({"x-ratelimit-policy": policy})
    assert rate is None or 1 <= rate < 1e6


@given(
    arrivals=st.lists(st.floats(0, 20), max_size=30),
    per_second=st.floats(0.2, 50),
    seconds=st.floats(0.1, 10),
)
def test_any_arrivals_are_spaced_and_no_call_starts_after_its_deadline(
    arrivals: list[float], per_second: float, seconds: float
) -> None:
    upstream = Upstream(0.0)

    async def arrive(pace: RateLimiter, at: float) -> None:
        await asyncio.sleep(at)
        await inside(pace, upstream, Deadline.after(seconds, now))
        assert now() <= at + seconds + 1e-6

    async def run() -> list[BaseException | None]:
        pace = paced(per_second)
        return await asyncio.gather(*(arrive(pace, at) for at in arrivals), return_exceptions=True)

    outcomes = in_virtual_time(run)()
    assert all(outcome is None or isinstance(outcome, NotAsked) for outcome in outcomes)
    assert all(later - earlier >= 1 / per_second for earlier, later in pairwise(upstream.sent))
    assert bool(arrivals) == bool(upstream.sent), "the first is always served"
