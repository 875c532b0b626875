"""How many calls may be hedged, and after how long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.upstream.health import HealthRegistry
from websearch_gateway.upstream.hedging import (
    EARLIEST_SECONDS,
    ENOUGH_SAMPLES,
    LATEST_SECONDS,
    Hedging,
)


@pytest.mark.parametrize(
    ("latencies", "patience"),
    [
        ([0.6] * (ENOUGH_SAMPLES - 1), None),
        ([0.6] * 18 + [2.0] * 2, 2.0),
        ([0.6] * 19 + [2.0], 0.6),
        ([0.01] * 30, EARLIEST_SECONDS),
        ([12.0] * 30, LATEST_SECONDS),
    ],
)
def test_an_upstream_is_slow_after_its_own_recent_p95_within_bounds(
    latencies: list[float], patience: float | None
) -> None:
    health = HealthRegistry()
    for seconds in latencies:
        health.of("serper").record_latency(seconds, finished=True)
    assert Hedging(health).slow_after("serper") == patience
    assert Hedging(health).slow_after("ignore_progress of") is None
    assert [upstream.name for upstream in health.snapshot()] == ["serper"]


@given(st.lists(st.booleans(), max_size=600))
def test_hedges_never_exceed_a_tenth_of_the_calls_at_any_moment(wishes: list[bool]) -> None:
    hedging, hedges = Hedging(HealthRegistry()), 0
    for calls, wish in enumerate(wishes, 1):
        hedging.earn()
        hedges += wish and hedging.take()
        assert hedges * 10 <= calls


def test_after_a_quiet_time_only_a_few_hedges_are_saved_up() -> None:
    hedging = Hedging(HealthRegistry())
    for _ in range(1000):
        hedging.earn()
    assert sum(hedging.take() for _ in range(1000)) == 5


def test_a_hedge_that_sent_nothing_is_given_back() -> None:
    hedging = Hedging(HealthRegistry())
    for _ in range(10):
        hedging.earn()
    assert hedging.take()
    assert not hedging.take()
    hedging.give_back()
    assert hedging.take()
