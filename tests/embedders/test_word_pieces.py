"""The tokenizer makes the same pieces as the library `tokenizers`, its oracle."""

from __future__ import annotations

import unicodedata
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from websearch_gateway.embedders.word_pieces import LONGEST_WORD, UNKNOWN, WordPieces

VOCABULARY = Path(str(resources.files("websearch_gateway.embedders") / "static_model" / "vocab.txt"))
DIFFER = "\u166d\u1734\u1885\u1886"
"""Characters that a later version of Unicode put into another category."""


@pytest.fixture(scope="module")
def own() -> WordPieces:
    return WordPieces(VOCABULARY)


@pytest.fixture(scope="module")
def oracle() -> Any:
    tokenizer = Tokenizer(WordPiece.from_file(str(VOCABULARY), unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def in_both_tables(letter: str) -> bool:
    """The library's tables of characters are old: newer characters are left out."""
    return unicodedata.ucd_3_2_0.category(letter) != "Cn" and letter not in DIFFER


COMMON = st.characters(exclude_categories=["Cs"]).filter(in_both_tables)
LATIN = st.characters(max_codepoint=0x24F)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\n",
        "How tall is the Eiffel Tower?",
        "naïve café, Straßenbahn, e\u0301cole",
        "don't-stop_it $5.00 x=1 [UNK] ##ing",
        "日本語のテキスト and text",
        "안녕하세요 세계",
        "ΟΔΟΣ ΣΑΣ σας",
        "İstanbul ẞ ﬁne ½ ™",
        "null\x00byte del\x7fete soft\u00adhyphen zero\u200bwidth \ufffd private\ue000use",
        "no\u00a0break\u2003em\u2028line\u3000wide\x85next",
        "x" * LONGEST_WORD,
        "x" * (LONGEST_WORD + 1),
        "unaffable electroencephalographically",
    ],
)
def test_a_text_has_the_pieces_of_the_library(own: WordPieces, oracle: Any, text: str) -> None:
    assert own(text) == oracle(text)


@given(text=st.text(COMMON, max_size=60) | st.text(LATIN, max_size=60))
def test_any_text_has_the_pieces_of_the_library(own: WordPieces, oracle: Any, text: str) -> None:
    assert own(text) == oracle(text)


def test_a_word_without_pieces_is_one_unknown_piece(own: WordPieces) -> None:
    assert own("你 hello 😀") == [UNKNOWN, *own("hello"), UNKNOWN]


def test_a_word_that_is_too_long_is_not_remembered(own: WordPieces) -> None:
    before = own._of_word.cache_info().currsize
    word = "x" * (LONGEST_WORD + 1)
    assert own(word) == [*own.counts(word)] == [UNKNOWN]
    assert own._of_word.cache_info().currsize == before


@given(st.text(alphabet="abcé .,-漢\n", max_size=60))
def test_the_counts_are_those_of_the_pieces(own: WordPieces, text: str) -> None:
    assert own.counts(text) == Counter(own(text))
