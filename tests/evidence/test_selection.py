"""The sentences that together answer: few where the order is sure, up to four where it is not, the deciding one first."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from websearch_gateway.evidence.ranking import Question, Ranked
from websearch_gateway.evidence.selection import MOST_SENTENCES, choose
from websearch_gateway.evidence.sentences import Candidate, Document, candidates

QUESTION = Question.of("Which tall tower was lit?")
TOWERS = (
    "The tall tower of Oslo was lit in spring.",
    "Ann Berg had the tall tower on Skerry lit against fog.",
    "Kyoto's fishermen paid for a tall tower, lit by gas since their strike.",
    "A tall tower near Marn is lit only for weddings and harvest feasts.",
    "Nobody remembers why the tall tower behind the mill was lit during winter.",
    "Lit by whale oil, one tall tower burned down with all its books.",
    "Once lit, the tall tower could be seen from three distant harbours.",
)


def found_on(page: str) -> list[Candidate]:
    return candidates(QUESTION.terms, QUESTION.language, [Document("", page)])


def chosen(page: str, scores: Sequence[float], room: int = 10_000) -> list[list[str]]:
    found = found_on(page)
    in_order = sorted(range(len(found)), key=lambda at: found[at].order)
    by_place = dict(zip(in_order, scores, strict=True))
    order = sorted(by_place, key=lambda at: -by_place[at])
    ranked = Ranked(order, by_place, True, True, frozenset())
    return [[one.text for one in run] for run in choose(QUESTION, found, ranked, room, 0)]


APART, TOGETHER = "\n\n".join(TOWERS), " ".join(TOWERS)


@pytest.mark.parametrize(("ahead", "quotes"), [(0.5, 4), (2.0, 1)])
def test_the_surer_the_order_the_fewer_are_quoted(ahead: float, quotes: int) -> None:
    """The numbers tell apart half and twice of what a further sentence must be worth."""
    scores = [ahead, *(-0.3 * place for place in range(1, len(TOWERS)))]
    assert len(chosen(APART, scores)) == quotes


def test_no_more_than_four_sentences_are_quoted_and_none_without_room() -> None:
    even = [0.0] * len(TOWERS)
    assert sum(map(len, chosen(APART, even))) == MOST_SENTENCES == 4
    assert sum(map(len, chosen(APART, even, room=len(TOWERS[0]) + 5))) == 1
    assert chosen(APART, even, room=10) == []


def test_the_quote_with_the_deciding_sentence_is_first_and_neighbours_are_one_quote() -> None:
    scores = [0.4, -9.0, -9.0, -9.0, 0.6, 0.5, -9.0]
    assert chosen(TOGETHER, scores) == [[TOWERS[4], TOWERS[5]], [TOWERS[0]]]


def test_a_neighbour_is_likelier_to_answer_than_a_sentence_far_away() -> None:
    scores = [2.2, -0.8, -9.0, -9.0, -9.0, -9.0, -0.8]
    assert chosen(APART, scores) == [[TOWERS[0]]]
    assert chosen(TOGETHER, scores)[0] == [TOWERS[0], TOWERS[1]]


def test_what_a_quote_says_already_is_not_quoted_again() -> None:
    page = f"{TOWERS[0]}\n\nThe tall tower of Oslo was lit, in spring!\n\n{TOWERS[1]}"
    assert chosen(page, [0.2, 0.1, 0.0]) == [[TOWERS[0]], [TOWERS[1]]]


ALONE = "It was there that a tall tower was lit."


def test_the_deciding_sentence_is_quoted_although_what_it_points_at_is_not_near() -> None:
    page = "\n\n".join((ALONE, *TOWERS[:2]))
    assert chosen(page, [0.5, 0.0, -9.0])[0] == [ALONE]


def test_a_further_sentence_that_points_at_none_near_is_left_out() -> None:
    page = "\n\n".join((ALONE, *TOWERS[:2]))
    assert chosen(page, [0.0, 0.1, -9.0]) == [[TOWERS[0]]]


def test_the_deciding_sentence_is_quoted_alone_if_both_have_no_room() -> None:
    page = f"{TOWERS[0]} It was there that a tall tower was lit by all."
    last = "It was there that a tall tower was lit by all."
    assert chosen(page, [0.0, 0.5])[0] == [TOWERS[0], last]
    assert chosen(page, [0.0, 0.5], room=len(last) + 5) == [[last]]
