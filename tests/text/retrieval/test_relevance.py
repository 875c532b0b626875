"""Relevance is near 1 for a passage that answers, and near 0 for one about something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.text.retrieval.relevance import (
    ANSWERS,
    RELEVANT,
    Matches,
    matches,
    relevance,
    select,
    shown,
)
from websearch_gateway.text.retrieval.tokens import query_terms, tokens

PAGE = [
    tokens(text)
    for text in (
        "The Eiffel Tower is 330 metres tall.",
        "The tower is painted every seven years.",
        "Tickets are sold at the gate.",
        "A tall tree grows in the garden.",
    )
]


def found(query: str, similarities: list[float | None], weight: float = 0.3, most: int = 8) -> list[tuple[int, float]]:
    return select(query_terms(query), PAGE, similarities, weight=weight, most=most)


def test_a_passage_with_the_words_and_the_meaning_scores_near_one_and_one_with_neither_near_zero() -> None:
    ranked = found("How tall is the Eiffel Tower?", [0.6, 0.3, 0.0, 0.1])
    assert ranked[0][0] == 0
    assert ranked[0][1] > 0.95
    assert dict(ranked)[2] < 0.05


def test_without_vectors_only_passages_with_a_word_of_the_question_are_selected() -> None:
    ranked = found("How tall is the Eiffel Tower?", [None] * 4)
    assert {place for place, _ in ranked} == {0, 1, 3}
    assert ranked[0][0] == 0
    assert ranked[0][1] > ANSWERS


def test_a_paraphrase_without_a_common_word_is_found_by_its_meaning() -> None:
    assert found("How much is admission?", [0.1, 0.0, 0.8, 0.0])[0][0] == 2


def test_a_question_about_something_else_is_not_answered() -> None:
    assert all(score < ANSWERS for _, score in found("Who discovered penicillin?", [0.1, 0.05, 0.1, 0.0]))


@given(
    st.lists(st.none() | st.floats(-1, 1), min_size=4, max_size=4),
    st.sampled_from(["tall tower", "tickets", "nothing here", "the", ""]),
    st.floats(0, 2),
    st.integers(1, 5),
)
def test_scores_are_between_zero_and_one_in_descending_order(
    similarities: list[float | None], query: str, weight: float, most: int
) -> None:
    ranked = found(query, similarities, weight, most)
    assert len({place for place, _ in ranked}) == len(ranked) <= most
    scores = [score for _, score in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


SHARE = st.floats(0, 1)


@given(st.tuples(SHARE, SHARE), st.tuples(SHARE, SHARE, SHARE), st.none() | st.floats(-1, 1))
def test_more_of_the_words_is_never_less_relevant(
    covered: tuple[float, float], rest: tuple[float, float, float], similarity: float | None
) -> None:
    fewer, more = (relevance(Matches(share, *rest), similarity) for share in sorted(covered))
    assert fewer <= more


def test_adjacent_words_of_the_question_count_more_than_scattered_ones() -> None:
    filler = ["and"] * 60
    near, far = ["old", "stone", "bridge", *filler], ["old", *filler[:30], "stone", *filler[:30], "bridge"]
    rarity = dict.fromkeys(("old", "stone", "bridge"), 1.0)
    assert matches(["old", "stone", "bridge"], near, rarity) == Matches(1, 1, 1, 1)
    assert matches(["old", "stone", "bridge"], far, rarity) == Matches(1, 1 / 3, 2 / 3, 0)
    assert matches([], near, {}) == Matches(0, 0, 0, 0)


def test_passages_far_behind_the_best_are_left_out_unless_all_are_wanted() -> None:
    scores = [0.97, 0.7, 0.5, 0.1]
    assert shown(scores, RELEVANT) == 2
    assert shown([0.6, 0.4, 0.26, 0.2], RELEVANT) == 3
    assert (shown(scores, 0), shown(scores, 1), shown([], 0.5)) == (4, 0, 0)


def test_an_empty_page_has_no_passages() -> None:
    assert select(["tall"], [], [], weight=0.3, most=8) == []


@pytest.mark.parametrize("similarity", [0.0, 1.0])
def test_extreme_similarities_give_a_relevance_between_zero_and_one(similarity: float) -> None:
    assert 0 <= relevance(Matches(1.0, 1.0, 1.0, 1.0), similarity) <= 1
