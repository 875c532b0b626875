"""Marks in the state tell other processes what is cleared."""

from __future__ import annotations

import pytest

from tests.clock import Clock
from websearch_gateway.cache.clearing import CLEARED, is_cleared, mark_cleared, question_name
from websearch_gateway.state.memory import MemoryState

NOON = 1_800_014_400.0
TIDES, SALT = question_name("why are there tides"), question_name("why is the sea salty")


@pytest.mark.parametrize(
    ("questions", "cleared"), [(None, {TIDES, SALT}), ([TIDES], {TIDES}), ([], set())]
)
async def test_a_mark_clears_what_was_stored_before_it(
    questions: list[str] | None, cleared: set[str]
) -> None:
    state = MemoryState()
    await mark_cleared(state, NOON, questions)
    for question in (TIDES, SALT):
        assert await is_cleared(state, NOON, question) is (question in cleared)
        assert not await is_cleared(state, NOON + 1, question)


@pytest.mark.parametrize("first", [NOON - 60, NOON + 60])
async def test_of_two_marks_the_later_one_counts(first: float) -> None:
    state = MemoryState()
    await mark_cleared(state, first, None)
    await mark_cleared(state, NOON, None)
    latest = max(first, NOON)
    assert await is_cleared(state, latest, TIDES)
    assert not await is_cleared(state, latest + 1, TIDES)


async def test_a_mark_removes_older_ones() -> None:
    state = MemoryState()
    for moment in (NOON, NOON + 1, NOON + 2):
        await mark_cleared(state, moment, None)
    assert len([key async for key, _ in state.scan(CLEARED)]) == 1


@pytest.mark.parametrize(("days", "counts"), [(29, True), (31, False)])
async def test_a_mark_is_kept_for_a_month(days: int, counts: bool) -> None:
    clock = Clock(NOON)
    state = MemoryState(clock=clock)
    await mark_cleared(state, NOON, None)
    clock.now += days * 86_400
    assert await is_cleared(state, NOON, TIDES) is counts


async def test_a_mark_that_is_not_ours_clears_nothing() -> None:
    state = MemoryState()
    await state.put(f"{CLEARED}all/x", b"soon")
    assert not await is_cleared(state, NOON, TIDES)


def test_letter_case_does_not_make_another_question() -> None:
    assert question_name("Why are there TIDES") == TIDES
    assert TIDES != SALT
