"""Ranking: the order of the passages, and scores that are comparable between pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.models import Passage
from websearch_gateway.text.retrieval.rank import fuse, rank

TEXTS = st.lists(st.sampled_from(("tower", "height", "the", "paris", "東京", "タワー")), max_size=12).map(" ".join)


def ranked(query: str, *texts: str) -> list[str]:
    return [passage.text for passage in rank(query, [Passage(text) for text in texts])]


def test_the_passage_with_more_of_the_question_comes_first() -> None:
    assert ranked("height of the tower", "A tower.", "Nothing.", "The tower's height is 330 m.") == [
        "The tower's height is 330 m.",
        "A tower.",
        "Nothing.",
    ]


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    assert ranked("red zebra", "red car", "red sky", "red sea", "a zebra")[0] == "a zebra"


def test_a_short_passage_beats_a_long_one_with_the_same_words() -> None:
    assert ranked("zebra", "zebra " + "grass " * 50, "a zebra")[0] == "a zebra"


def test_endings_accents_and_case_do_not_matter() -> None:
    passages = rank("VOTING in Málaga", [Passage("They voted in malaga.")])
    assert passages[0].score > 0.3


def test_cjk_questions_find_cjk_passages() -> None:
    assert ranked("東京タワーの高さ", "大阪城は有名です。", "東京タワーは333メートルです。")[0].startswith("東京")


def test_headings_count_as_text() -> None:
    below = Passage("Run the script.", section_path=("Installation",))
    assert rank("installation", [Passage("Something else."), below])[0].text == below.text


def test_no_common_word_scores_zero_and_keeps_the_order() -> None:
    passages = [Passage("b"), Passage("a")]
    assert [(passage.text, passage.score) for passage in rank("zebra", passages)] == [("b", 0.0), ("a", 0.0)]
    assert rank("zebra", []) == []
    assert [passage.score for passage in rank("?", passages)] == [0.0, 0.0]


@given(TEXTS, st.lists(TEXTS, max_size=8))
def test_scores_are_between_zero_and_one_and_no_passage_is_lost(query: str, texts: list[str]) -> None:
    passages = [Passage(text, id=str(place)) for place, text in enumerate(texts)]
    found = rank(query, passages)
    assert sorted(passage.id for passage in found) == sorted(passage.id for passage in passages)
    assert all(0 <= passage.score < 1 for passage in found)
    assert [passage.score for passage in found] == sorted((passage.score for passage in found), reverse=True)


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
