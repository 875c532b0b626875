"""The sentences that together answer: few where the order is sure, up to four where it is not, the deciding one first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from websearch_gateway.evidence.ranking import Fitted, Question, Ranked, fitted
from websearch_gateway.evidence.selection import MOST_SENTENCES, choose, joined
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


def chosen(
    page: str, scores: Sequence[float], room: int = 10_000, numbers: Fitted | None = None
) -> list[list[str]]:
    found = found_on(page)
    in_order = sorted(range(len(found)), key=lambda at: found[at].order)
    by_place = dict(zip(in_order, scores, strict=True))
    order = sorted(by_place, key=lambda at: -by_place[at])
    ranked = Ranked(order, by_place, True, True, frozenset())
    return [[one.text for one in run] for run in choose(QUESTION, found, ranked, room, 0, numbers)]


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


BY_SHARE = replace(fitted(), choice={"share": 1.0, "beside": 3.0})
"""The chance that a sentence answers is its share of the scores, which is larger beside one that is chosen."""


@pytest.mark.parametrize(("chance", "quotes"), [(0.05, 2), (0.03, 1)])
def test_a_further_sentence_is_quoted_if_it_alone_answers_once_in_twenty_five_times(
    chance: float, quotes: int
) -> None:
    scores = [0, math.log(chance / (1 - chance))]
    assert len(chosen("\n\n".join(TOWERS[:2]), scores, numbers=BY_SHARE)) == quotes


@pytest.mark.parametrize(("better", "is_quoted"), [(5, True), (6, False)])
def test_the_six_best_sentences_compete_for_the_next_place(better: int, is_quoted: bool) -> None:
    """A neighbour would be the likeliest, but five or six sentences have higher scores."""
    stones = ("marble", "bamboo", "granite", "copper", "adobe", "brick")
    others = [f"A tall tower of {stone} was lit." for stone in stones[:better]]
    page = "\n\n".join((f"{TOWERS[0]} {TOWERS[3]}", *others))
    ((_, *neighbours), *_) = chosen(page, [0, -3.001, *[-3.0] * better], numbers=BY_SHARE)
    assert bool(neighbours) is is_quoted


@pytest.mark.parametrize(
    ("words", "quotes"),
    [("gull tern seal kelp moss reef pier bay", 1), ("gull tern seal kelp moss pond boat ice", 2)],
)
def test_a_sentence_with_four_fifths_of_the_words_of_another_says_the_same(
    words: str, quotes: int
) -> None:
    """Both have ten words, of which they share eight, or seven: two are of the question."""
    page = "The tall tower: gull tern seal kelp moss reef fog dune.\n\n"
    found = chosen(f"{page}The tall tower: {words}.", [0.1, 0])
    assert len(found) == quotes


@pytest.mark.parametrize(("pronouns", "sentences"), [(3, 4), (4, 1)])
def test_a_noun_is_looked_for_three_sentences_before(pronouns: int, sentences: int) -> None:
    places = ("spring", "autumn", "winter", "summer")
    page = " ".join(
        (TOWERS[0], *(f"It was a tall tower lit in {place}." for place in places[:pronouns]))
    )
    scores = [*[-9.0] * pronouns, 0.5]
    assert len(chosen(page, scores)[0]) == sentences


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("When was the tower lit?", "The tower was lit in spring. The tower burned down in 1911."),
        ("灯塔在哪一年烧毁?", "灯塔在春天被人点亮,很多人来看。灯塔在1911年烧毁,没有人受伤。"),
    ],
)
def test_neighbours_are_joined_as_their_script_writes_them(query: str, text: str) -> None:
    question = Question.of(query)
    found = candidates(question.terms, question.language, [Document("", text)])
    neighbours = sorted(found, key=lambda candidate: candidate.order)
    assert len(neighbours) == 2
    assert joined(neighbours) == text
