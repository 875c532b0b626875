"""A deadline is never extended, and the bill of a call counts what its parts book."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.clock import Clock
from websearch_gateway.models import Bill, Call, Caller, Deadline, SearchQuery
from websearch_gateway.results import Content, SearchResponse

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


def test_a_part_of_the_time_keeps_the_caller_and_the_bill_and_shows_neither_them_nor_the_question() -> (
    None
):
    whole = Call.of(SearchQuery("how tall is the tower"), Deadline.after(100), caller=Caller("ann"))
    part = whole.within(5)
    assert (part.query, part.caller.user, part.bill) == (whole.query, "ann", whole.bill)
    assert not any(word in repr(part) for word in ("tower", "ann"))


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1), st.floats(0, 1)), max_size=20))
def test_the_whole_bill_is_the_sum_of_what_its_parts_cost_of_their_own(
    bookings: list[tuple[int, float, float]],
) -> None:
    whole = Bill()
    first, second = whole.part(), whole.part()
    bills = [whole, first, second, first.part(), first.part(), second.part()]
    for place, usd, likely in bookings:
        bills[place].book(likely)
        bills[place].book(usd)
        if usd > likely:
            bills[place].book(-likely)
        assert abs(whole.usd - sum(bill.own_usd for bill in bills)) < 1e-9
    assert all(bill.own_usd > -1e-9 for bill in bills)


def test_results_of_another_age_and_equal_ones_have_the_same_content() -> None:
    answer = SearchResponse(text="It is 330 metres tall.", warnings=("Old.",))
    older = answer.model_copy(update={"age_seconds": 60.0})
    equal = SearchResponse(text="It is 330 metres tall.", warnings=("Old.",))
    other = answer.model_copy(update={"warnings": ()})
    assert len({Content(answer), Content(older), Content(equal)}) == 1
    assert Content(other) != Content(answer)
    assert Content(answer.model_copy(update={"age_seconds": 5.0})) == Content(answer)
    assert Content(answer.model_copy(update={"text": "It is 300 metres tall."})) != Content(answer)
