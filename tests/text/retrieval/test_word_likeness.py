"""The likeness of the words of a question and of sentences."""

from __future__ import annotations

from websearch_gateway.embedders.static import encode
from websearch_gateway.text.retrieval.word_likeness import content_words, word_likeness


def alike(one: str, other: str) -> float:
    return float(word_likeness([one], [other], encode)[0, 0])


def test_forms_of_a_word_are_the_same() -> None:
    assert alike("elections", "election") == 1


def test_synonyms_and_spellings_of_a_name_are_alike_and_other_words_are_not() -> None:
    assert alike("car", "automobile") > 0.3
    assert alike("zwinglianist", "zwinglyanist") > 0.3
    assert alike("soup", "treaty") < 0.1


def test_words_that_share_only_some_letters_are_not_alike() -> None:
    assert alike("ship", "shop") == alike("hall", "hill") == 0


def test_the_matrix_has_a_row_for_each_word_asked_and_a_column_for_each_word_of_the_vocabulary() -> None:
    assert word_likeness(["soup", "treaty"], ["war", "peace", "bread"], encode).shape == (2, 3)


def test_content_words_are_distinct_and_without_stop_words() -> None:
    assert content_words("The war and the Peace of the war") == ["war", "peace"]
