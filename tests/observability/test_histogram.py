"""Durations fall into cumulative buckets, as in Prometheus: each includes those before it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.observability.histogram import BOUNDS, NOTHING, Histogram


@given(st.lists(st.one_of(st.floats(0, 100), st.sampled_from(BOUNDS)), max_size=50))
def test_each_bucket_counts_the_durations_up_to_its_bound(durations: list[float]) -> None:
    histogram = Histogram()
    for seconds in durations:
        histogram.observe(seconds)
    shown = histogram.distribution()
    assert list(shown.counts) == [sum(seconds <= bound for seconds in durations) for bound in (*BOUNDS, float("inf"))]
    assert shown.seconds == sum(durations)


def test_a_snapshot_never_changes() -> None:
    histogram = Histogram()
    before = histogram.distribution()
    histogram.observe(1.0)
    assert before == NOTHING
