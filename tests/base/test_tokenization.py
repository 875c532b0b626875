"""Tokens: the same word must be found however it is written."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.tokenization import (
    UNSPACED,
    estimate_tokens,
    fold,
    has_unspaced,
    query_terms,
    tokens,
    tokens_of_each,
    words,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CAFÉ", "cafe"),
        ("cafe\u0301", "café"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("Straße", "STRASSE"),
        ("ﬁle", "file"),
        ("Άθήνα", "αθηνα"),
        ("ｶﾞ", "ガ"),
    ],
)
def test_spellings_of_one_word_are_folded_to_the_same_form(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_marks_that_make_another_letter_stay() -> None:
    """A voiced kana and a Hangul syllable are letters of their own, although Unicode can take them apart."""
    assert fold("が") != fold("か")
    assert fold("한") == "한"


@given(st.text())
def test_splitting_the_words_again_gives_the_same_words(text: str) -> None:
    """Folding settles at once, so an index and a folded query meet. Bigrams overlap and are left out."""
    spaced = [word for word in words(text) if word.isascii()]
    assert words(" ".join(spaced)) == spaced


def test_words_have_no_punctuation_and_keep_their_order() -> None:
    assert words("Don't panic: it's snake_case, v3.14!") == [
        "don",
        "t",
        "panic",
        "it",
        "s",
        "snake",
        "case",
        "v3",
        "14",
    ]


@pytest.mark.parametrize("word", ["हिन्दी", "மொழி", "বাংলা", "مُحَمَّد", "שָׁלוֹם"])
def test_vowel_signs_and_points_do_not_tear_a_word(word: str) -> None:
    assert len(words(f"{word} {word}, x")) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京都", ["東京", "京都"]),
        ("水", ["水"]),
        ("Python言語 3", ["python", "言語", "3"]),
        ("한국어", ["한국", "국어"]),
        ("ไทยแลนด์", ["ไทย", "ทยแ", "ยแล", "แลน", "ลนด", "นด์"]),
    ],
)
def test_scripts_without_spaces_give_pairs_or_triples(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_english_endings_are_cut() -> None:
    assert tokens("voted votes voting") == ["vote", "vote", "vote"]


@given(st.lists(st.text()))
def test_many_texts_at_once_give_the_same_tokens_as_one_by_one(texts: list[str]) -> None:
    assert tokens_of_each(texts) == [tokens(text) for text in texts]


def test_the_terms_of_a_query_have_no_stop_words() -> None:
    assert query_terms("How many votes did the mayors of Rome get, and which mayors?") == [
        "mani",
        "vote",
        "mayor",
        "rome",
        "get",
    ]
    assert query_terms("¿Cuándo nació la reina?") == ["nacio", "reina"]


def test_a_thai_stop_word_inside_of_another_word_does_not_tear_it() -> None:
    assert query_terms("เกี่ยว", "th") == words("เกี่ยว")
    assert query_terms("เรือกี่ลำ", "th") == words("เรือ ลำ")


def test_a_query_of_stop_words_alone_keeps_them() -> None:
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]


def test_a_query_without_words_has_no_terms() -> None:
    assert query_terms("?!") == []


def test_a_pile_of_accents_costs_linear_time() -> None:
    """Unicode puts accents in order by insertion, so many on one letter took minutes."""
    assert words("e" + "\u0301\u0327" * 100_000 + " tower") == ["e", "tower"]


def test_a_long_text_that_would_grow_too_much_is_not_folded_to_compatible_forms() -> None:
    """U+FDFA stands for four words."""
    assert len(words("\ufdfa")) == 4
    assert words("\ufdfa" * 100) == ["\ufdfa" * 100]


def test_tokens_are_estimated_by_script() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcdefgh") == 2
    assert estimate_tokens("東京都庁") == 4
    assert estimate_tokens("東京 abc") == 3


def test_every_character_of_a_script_without_spaces_is_noticed_and_no_other() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    unspaced = re.findall(f"[{UNSPACED}]", every)
    assert len(unspaced) > 40_000
    assert all(map(has_unspaced, unspaced))
    assert not has_unspaced(re.sub(f"[{UNSPACED}]", "", every))
    assert has_unspaced("\u2019 and \u1800 before \u6f22")
