"""BERT's uncased word-piece tokenizer (https://arxiv.org/abs/1810.04805): text -> line numbers in the vocabulary.

It produces the same pieces as the library `tokenizers` with BertNormalizer, BertPreTokenizer and WordPiece, three times
as fast and in a tenth of the memory (`docs/decisions.md`). Characters newer than that library's Unicode tables differ.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from websearch_gateway.embedders.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

UNKNOWN = 0
"""The vocabulary's first line: the piece for a word that no other pieces can spell."""

LONGEST_WORD = 100
"""The most characters of a word; a longer one is unknown."""

REMEMBERED_WORDS = 16_384
"""Cached words, about 4 MB. Texts repeat their words; with a quarter as many, a crawl splits half of them again."""

_CONTINUED = "##"
_PUNCTUATION = r"!-/:-@\[-`{-~"
_ASCII_WORDS = re.compile(rf"[{_PUNCTUATION}]|[^\s{_PUNCTUATION}]+")
_RUNS = re.compile(rf"[{_PUNCTUATION}]|[^ \t\n\r{_PUNCTUATION}]+")
_ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")
_DROPPED = frozenset({"Cc", "Cf", "Co", "Cs"})
_IDEOGRAPHS = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f]"
)


class WordPieces:
    """The tokenizer over a vocabulary of one piece per line; a piece that continues a word begins with `##`."""

    def __init__(self, vocabulary: Path) -> None:
        self._vocabulary = Vocabulary(vocabulary)
        self._of_word = functools.lru_cache(REMEMBERED_WORDS)(self._spell)

    def __call__(self, text: str) -> list[int]:
        """The pieces of a text; one UNKNOWN for each word that cannot be spelled."""
        return [piece for word in words(text) for piece in self._pieces(word)]

    def counts(self, text: str) -> dict[int, int]:
        """The number of times that each piece occurs in a text, in the order of the first occurrences."""
        counts: dict[int, int] = {}
        for word, times in Counter(words(text)).items():
            for piece in self._pieces(word):
                counts[piece] = counts.get(piece, 0) + times
        return counts

    def _pieces(self, word: str) -> tuple[int, ...]:
        return self._of_word(word) if len(word) <= LONGEST_WORD else (UNKNOWN,)

    def _spell(self, word: str) -> tuple[int, ...]:
        """The longest piece that begins the word, then the longest that continues it, and so on to its end."""
        pieces: list[int] = []
        start = 0
        while start < len(word):
            number, start = self._longest_piece(word, start)
            if number is None:
                return (UNKNOWN,)
            pieces.append(number)
        return tuple(pieces)

    def _longest_piece(self, word: str, start: int) -> tuple[int | None, int]:
        """The longest piece at `start` and where it ends; None if no piece fits."""
        mark = _CONTINUED if start else ""
        for end in range(min(len(word), start + self._vocabulary.longest), start, -1):
            if (number := self._vocabulary.number(mark + word[start:end])) is not None:
                return number, end
        return None, start


def words(text: str) -> list[str]:
    """The words and the punctuation marks of a text, in lower case and without accents."""
    text = _ASCII_CONTROLS.sub("", text)
    if text.isascii():
        return _ASCII_WORDS.findall(text.lower())
    found: list[str] = []
    for run in _RUNS.findall(text):  # ASCII punctuation always separates words, so each run is independent
        if run.isascii():
            found.append(run.lower())
        else:
            found += _words_of_run(run) if len(run) <= LONGEST_WORD else _words_of_run.__wrapped__(run)
    return found


@functools.lru_cache(REMEMBERED_WORDS)
def _words_of_run(text: str) -> list[str]:
    """The words of a run of text with letters beyond ASCII."""
    spaced = _IDEOGRAPHS.sub(r" \g<0> ", "".join(map(_cleaned, text)))
    bare = (letter for letter in unicodedata.normalize("NFD", spaced) if unicodedata.category(letter) != "Mn")
    return list(_split("".join(map(str.lower, bare))))  # each letter alone, so that no sigma becomes a final one


@functools.lru_cache(4_096)
def _cleaned(letter: str) -> str:
    """The character; a space for whitespace, nothing for a control, format or private-use character."""
    if letter in "\t\n\r" or unicodedata.category(letter) == "Zs":
        return " "
    return "" if letter == "\ufffd" or unicodedata.category(letter) in _DROPPED else letter


def _split(text: str) -> Iterator[str]:
    for word in text.split():
        start = 0
        for place, letter in enumerate(word):
            if _is_punctuation(letter):
                if start < place:
                    yield word[start:place]
                yield letter
                start = place + 1
        if start < len(word):
            yield word[start:]


@functools.lru_cache(4_096)
def _is_punctuation(letter: str) -> bool:
    if letter.isascii():
        return not letter.isalnum()
    return unicodedata.category(letter).startswith("P")
