from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.tokenization import query_terms, tokens
from websearch_gateway.evidence.passages import (
    ANSWERS,
    Matches,
    fuse,
    matches,
    relevance,
    score_passages,
    select,
    shown,
)
from websearch_gateway.models import Passage

PAGE = [
    tokens(text)
    for text in (
        "The Eiffel Tower is 330 metres tall.",
        "The tower is painted every seven years.",
        "Tickets are sold at the gate.",
        "A tall tree grows in the garden.",
    )
]


def found(
    query: str, similarities: list[float | None], weight: float = 0.3, most: int = 8
) -> list[tuple[int, float]]:
    return select(query_terms(query), PAGE, similarities, weight=weight, most=most)


def test_a_passage_with_the_words_and_the_meaning_scores_near_one_and_one_with_neither_near_zero() -> (
    None
):
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
    assert all(
        score < ANSWERS for _, score in found("Who discovered penicillin?", [0.1, 0.05, 0.1, 0.0])
    )


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
    near, far = (
        ["old", "stone", "bridge", *filler],
        ["old", *filler[:30], "stone", *filler[:30], "bridge"],
    )
    rarity = dict.fromkeys(("old", "stone", "bridge"), 1.0)
    assert matches(["old", "stone", "bridge"], near, rarity) == Matches(1, 1, 1, 1)
    assert matches(["old", "stone", "bridge"], far, rarity) == Matches(1, 1 / 3, 2 / 3, 0)
    assert matches([], near, {}) == Matches(0, 0, 0, 0)


def test_passages_far_behind_the_best_are_left_out_unless_all_are_wanted() -> None:
    scores = [0.97, 0.7, 0.5, 0.1]
    assert shown(scores, 0.25) == 2
    assert shown([0.6, 0.4, 0.26, 0.2], 0.25) == 3
    assert (shown(scores, 0), shown(scores, 1), shown([], 0.5)) == (4, 0, 0)


def test_an_empty_page_has_no_passages() -> None:
    assert select(["tall"], [], [], weight=0.3, most=8) == []


@pytest.mark.parametrize("similarity", [0.0, 1.0])
def test_extreme_similarities_give_a_relevance_between_zero_and_one(similarity: float) -> None:
    assert 0 <= relevance(Matches(1.0, 1.0, 1.0, 1.0), similarity) <= 1


TEXTS = st.lists(
    st.sampled_from(("tower", "height", "the", "paris", "東京", "タワー")), max_size=12
).map(" ".join)


def ranked(query: str, *texts: str) -> list[str]:
    scores = scored(query, *map(Passage, texts))
    return [texts[place] for place in sorted(range(len(texts)), key=lambda place: -scores[place])]


def scored(query: str, *passages: Passage) -> list[float]:
    return score_passages(query_terms(query), passages)


def test_the_passage_with_more_of_the_question_comes_first() -> None:
    assert ranked(
        "height of the tower", "A tower.", "Nothing.", "The tower's height is 330 m."
    ) == [
        "The tower's height is 330 m.",
        "A tower.",
        "Nothing.",
    ]


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    assert ranked("red zebra", "red car", "red sky", "red sea", "a zebra")[0] == "a zebra"


def test_a_short_passage_beats_a_long_one_with_the_same_words() -> None:
    assert ranked("zebra", "zebra " + "grass " * 50, "a zebra")[0] == "a zebra"


def test_endings_accents_and_case_do_not_matter() -> None:
    assert scored("VOTING in Málaga", Passage("They voted in malaga."))[0] > 0.3


def test_cjk_questions_find_cjk_passages() -> None:
    assert ranked("東京タワーの高さ", "大阪城は有名です。", "東京タワーは333メートルです。")[
        0
    ].startswith("東京")


def test_headings_count_as_text() -> None:
    below = Passage("Run the script.", section_path=("Installation",))
    other, own = scored("installation", Passage("Something else."), below)
    assert own > other == 0


def test_no_common_word_scores_zero() -> None:
    passages = [Passage("b"), Passage("a")]
    assert scored("zebra", *passages) == scored("?", *passages) == [0.0, 0.0]
    assert scored("zebra") == []


@given(TEXTS, st.lists(TEXTS, max_size=8))
def test_scores_of_passages_are_between_zero_and_one(query: str, texts: list[str]) -> None:
    assert all(0 <= score < 1 for score in scored(query, *map(Passage, texts)))


def test_fusion_adds_the_ranks_of_every_ranking() -> None:
    fused = fuse([["a", "b", "c"], ["b", "c"]], k=10)
    assert list(fused) == ["b", "c", "a"]
    assert fused["b"] == pytest.approx(1 / 12 + 1 / 11)


@given(st.lists(st.permutations(range(6)), min_size=1, max_size=4))
def test_fusing_a_ranking_with_itself_keeps_it(rankings: list[list[int]]) -> None:
    assert list(fuse([rankings[0]] * len(rankings))) == rankings[0]


@given(st.lists(st.lists(st.integers(0, 9), unique=True), max_size=4))
def test_the_order_of_the_rankings_does_not_matter(rankings: list[list[int]]) -> None:
    forward, backward = fuse(rankings), fuse(rankings[::-1])
    assert forward.keys() == backward.keys()
    assert all(forward[key] == pytest.approx(backward[key]) for key in forward)


def test_a_ranking_counts_with_its_weight() -> None:
    assert list(fuse([["a", "b"], ["b", "a"]], weights=(1.0, 0.3))) == ["a", "b"]
    assert list(fuse([["a", "b"], ["b", "a"]], weights=(0.3, 1.0))) == ["b", "a"]
