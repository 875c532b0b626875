from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.virtual_time import in_virtual_time, now
from tests.layers import inside
from websearch_gateway.errors import SearchProviderError
from websearch_gateway.models import Deadline
from websearch_gateway.upstream.health import (
    BOUNDS,
    MAX_MESSAGE_CHARS,
    NOTHING,
    WINDOW,
    Distribution,
    HealthRegistry,
    Histogram,
    LastError,
    Stopwatch,
    UpstreamHealth,
    UpstreamStatus,
)

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def record(*latencies: float) -> UpstreamHealth:
    health = UpstreamHealth("serper")
    for seconds in latencies:
        health.record_latency(seconds, finished=True)
    return health


def test_quantiles_are_recorded_latencies() -> None:
    health = record(*(n / 100 for n in range(100, 0, -1)))
    assert (
        health.quantile(0.0),
        health.quantile(0.5),
        health.quantile(0.95),
        health.quantile(1.0),
    ) == (
        0.01,
        0.5,
        0.95,
        1.0,
    )
    assert record(0.7).quantile(0.95) == 0.7
    assert record().quantile(0.5) is None


def test_the_last_success_is_the_last_finished_call() -> None:
    times = iter([NOON, NOON.replace(hour=13)])
    health = UpstreamHealth("serper", now=lambda: next(times))
    assert health.status().last_success is None
    health.record_latency(0.1, finished=True)
    health.record_latency(0.1, finished=False)
    assert health.status().last_success == NOON


def test_only_recent_latencies_count() -> None:
    health = record(*[9.0] * WINDOW, *[0.1] * WINDOW)
    assert (health.samples, health.quantile(1.0)) == (WINDOW, 0.1)


@given(st.lists(st.floats(0, 60), min_size=1, max_size=300), st.floats(0, 1))
def test_a_quantile_lies_between_the_extremes_and_grows_with_its_part(
    latencies: list[float], part: float
) -> None:
    health = record(*latencies)
    recent = latencies[-WINDOW:]
    value = health.quantile(part)
    assert value is not None
    assert min(recent) <= value <= max(recent)
    assert sum(latency <= value for latency in recent) >= part * len(recent) - 1e-9


def test_a_cut_off_call_counts_only_if_it_was_already_slow() -> None:
    """A call that failed at once says nothing about speed; one cancelled after a long time was slow."""
    health = record(*[0.5] * 19, 1.0)
    health.record_latency(0.01, finished=False)
    assert health.samples == 20
    health.record_latency(3.0, finished=False)
    assert (health.samples, health.quantile(1.0)) == (21, 3.0)
    untried = record()
    untried.record_latency(3.0, finished=False)
    assert untried.samples == 0


def test_a_snapshot_shows_every_upstream_at_this_moment_and_never_changes() -> None:
    registry = HealthRegistry(clock=lambda: 100.0, now=lambda: NOON)
    serper, brave = registry.of("serper"), registry.of("brave")
    assert registry.of("serper") is serper
    serper.calls, serper.failures, serper.open_until = 7, 5, 112.0
    serper.record_error(SearchProviderError("serper answered with HTTP 500."))
    serper.record_latency(0.4, finished=True)
    brave.open_until = 99.0
    before = registry.snapshot()
    serper.calls += 1
    assert before == (
        UpstreamStatus(
            name="serper",
            breaker="open",
            retry_after=12.0,
            calls=7,
            failures=5,
            p50=0.4,
            p95=0.4,
            last_error=LastError("PROVIDER", "serper answered with HTTP 500.", NOON),
            errors={"PROVIDER": 1},
            durations=Distribution((0, 0, 0, 0, 0, 0, *[1] * 8), 0.4),
            last_success=NOON,
        ),
        UpstreamStatus("brave", "half_open", None, 0, 0, None, None, None),
    )


@in_virtual_time
async def test_the_stopwatch_times_answers_and_lets_errors_pass() -> None:
    health = UpstreamHealth("serper", now)
    watch, deadline = Stopwatch(health), Deadline.after(15, now)

    async def answer() -> str:
        await asyncio.sleep(0.6)
        return "answer"

    async def fail() -> None:
        raise SearchProviderError("down")

    assert await inside(watch, answer, deadline) == "answer"
    with pytest.raises(SearchProviderError):
        await inside(watch, fail, deadline)
    assert (health.samples, health.quantile(0.5)) == (1, pytest.approx(0.6))


def test_the_message_of_the_last_error_is_cut() -> None:
    health = record()
    health.record_error(SearchProviderError("long " * 1_000))
    assert health.last_error is not None
    assert len(health.last_error.message) == MAX_MESSAGE_CHARS


@given(st.lists(st.one_of(st.floats(0, 100), st.sampled_from(BOUNDS)), max_size=50))
def test_each_bucket_counts_the_durations_up_to_its_bound(durations: list[float]) -> None:
    histogram = Histogram()
    for seconds in durations:
        histogram.observe(seconds)
    shown = histogram.distribution()
    assert list(shown.counts) == [
        sum(seconds <= bound for seconds in durations) for bound in (*BOUNDS, float("inf"))
    ]
    assert shown.seconds == sum(durations)


def test_a_snapshot_never_changes() -> None:
    histogram = Histogram()
    before = histogram.distribution()
    histogram.observe(1.0)
    assert before == NOTHING
