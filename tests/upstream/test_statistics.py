"""The numbers add up for every sequence of calls."""

from __future__ import annotations

import pytest

from tests.clock import Clock
from websearch_gateway.errors import SearchTimeoutError
from websearch_gateway.results import SearchResponse
from websearch_gateway.upstream.statistics import WINDOW, Statistics, quantiles
from websearch_gateway.upstream.telemetry import CallRecord, Outcome, Telemetry


@pytest.fixture
def clock() -> Clock:
    return Clock(1000.0)


@pytest.fixture
def statistics(clock: Clock) -> Statistics:
    return Statistics(clock=clock)


def call(tool: str = "search_web", latency_ms: float = 1.0, **outcome: object) -> CallRecord:
    return CallRecord(tool, "", latency_ms, Outcome(**outcome))


def test_calls_are_counted_by_tool_and_outcome(statistics: Statistics) -> None:
    for record in (call(), call(), call(outcome="TIMEOUT"), call("get_content")):
        statistics.observe(record)
    tools = statistics.figures().tools
    assert tools["search_web"].outcomes == {"ok": 2, "TIMEOUT": 1}
    assert tools["get_content"].outcomes == {"ok": 1}


def test_only_answers_count_for_the_hit_rate(statistics: Statistics) -> None:
    records = [
        call(cache="exact"),
        call(),
        call(cache="semantic"),
        call(cache="exact"),
        call(outcome="TIMEOUT"),
    ]
    for record in [*records, call("get_content")]:
        statistics.observe(record)
    assert statistics.figures().cache == {"exact": 2, "semantic": 1, "miss": 1}


def test_the_rate_covers_the_last_minute(statistics: Statistics, clock: Clock) -> None:
    for moment in (1000.0, 1001.0, 1050.0, 1070.5):
        clock.now = moment
        statistics.observe(call())
    figures = statistics.figures()
    assert figures.calls_per_minute == 2
    assert figures.uptime_seconds == 70.5


def test_latencies_cover_the_latest_calls(statistics: Statistics) -> None:
    statistics.observe(call(latency_ms=9_999.0))
    for number in range(WINDOW):
        statistics.observe(call(latency_ms=float(number)))
    assert statistics.figures().tools["search_web"].latencies_ms == (500.0, 950.0, 990.0)


def test_quantiles_of_a_few_values_are_among_them() -> None:
    assert quantiles([]) == ()
    assert quantiles([3.0]) == (3.0, 3.0, 3.0)


def test_the_last_failures_are_kept_with_the_latest_first(
    statistics: Statistics, clock: Clock
) -> None:
    for number in range(30):
        clock.now = float(number)
        statistics.observe(call(outcome="PROVIDER"))
    statistics.observe(call(outcome="CANCELLED"))
    failures = statistics.figures().last_failures
    assert [failure.at for failure in failures] == [float(number) for number in range(29, 9, -1)]
    assert {failure.code for failure in failures} == {"PROVIDER"}


def test_the_telemetry_reports_every_call(statistics: Statistics) -> None:
    telemetry = Telemetry([statistics.observe])
    with telemetry.call("q") as event:
        event.answered(SearchResponse(cache="exact"))
    with pytest.raises(SearchTimeoutError), telemetry.call("q", "web_search"):
        raise SearchTimeoutError("late")
    figures = statistics.figures()
    assert figures.cache == {"exact": 1}
    assert figures.tools["web_search"].outcomes == {"TIMEOUT": 1}
