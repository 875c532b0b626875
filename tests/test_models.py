"""A deadline is never extended."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.clock import Clock
from websearch_gateway.models import Deadline

SECONDS = st.floats(0, 1_000)


def test_the_remaining_time_shrinks_to_zero() -> None:
    clock = Clock()
    deadline = Deadline.after(10, clock)
    clock.now += 4
    assert deadline.remaining() == 6
    clock.now += 7
    assert deadline.remaining() == 0


@given(st.lists(SECONDS, max_size=5))
def test_a_part_of_a_call_never_gets_more_time_than_the_whole(parts: list[float]) -> None:
    clock = Clock()
    whole = part = Deadline.after(100, clock)
    for seconds in parts:
        part = part.within(seconds)
        assert part.remaining() <= min(seconds, whole.remaining()) + 1e-6
        clock.now += 1
