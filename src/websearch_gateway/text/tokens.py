"""Splits text into tokens for search: words folded, stemmed, and in scripts without spaces split into bigrams."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

import Stemmer

CJK = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""The characters of Japanese, Chinese and Korean, as ranges of a regular expression."""
UNSPACED = f"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff{CJK}"  # also Thai and Lao, Burmese, Khmer
"""The characters of scripts without spaces between words, as ranges of a regular expression."""

_WORD = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_UNSPACED_RUN = re.compile(rf"[{UNSPACED}]+")
_CJK_RUN = re.compile(f"[{CJK}]++")
_ACCENTS = re.compile("[\u0300-\u036f]+")
# Runs of marks and symbols are not words, and Unicode takes quadratic time to sort a long run of accents.
_WORDLESS = re.compile(r"[^\x00-\x7f\w\s]{30,}+")


def _words(spaced: str) -> frozenset[str]:
    return frozenset(spaced.split())


STOP_WORDS = _words(
    "a about after all also an and any are as at be been before being but by can could did do does doing during for "
    "from had has have he her him his how i if in into is it its me my no not of on or our s she should so some such t "
    "than that the their them then there these they this those to up us was we were what when where which while who "
    "whom whose why will with would you your "
    "el la los las un una unos unas de del y en que es por para con se su al como cual cuando donde quien "
    "le les des du une et est dans qui quand comment quel quelle "
    "der die das den dem ein eine und ist von zu mit wer wie wo wann warum welche welcher"
)
"""Stop words, which carry no topic: English, then Spanish, French and German."""


def fold(text: str) -> str:
    """`text` without differences in compatibility forms, letter case, and Latin, Greek and Cyrillic accents."""
    if text.isascii():
        return text.lower()
    text = _WORDLESS.sub(" ", text)
    compatible = unicodedata.normalize("NFKC", text)
    if len(compatible) > 2 * len(text) + 32:  # one character may become eighteen; ordinary text never grows so much
        compatible = text
    decomposed = unicodedata.normalize("NFD", compatible.casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def words(text: str) -> list[str]:
    """The folded words of `text` in order, unstemmed; scripts without spaces (CJK, Thai ...) give bigrams."""
    folded = fold(text)
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    found: list[str] = _WORD.findall(folded)
    if not _UNSPACED_RUN.search(folded):
        return found
    return [part for run in found for part in _bigrams(run)]


def _bigrams(run: str) -> list[str]:
    if len(run) == 1 or not _UNSPACED_RUN.match(run):
        return [run]
    return [run[index : index + 2] for index in range(len(run) - 1)]


def split_cjk(text: str) -> str:
    """`text` with spaces around each run of Chinese, Japanese or Korean characters and between its bigrams."""
    return text if text.isascii() else _CJK_RUN.sub(lambda run: f" {' '.join(_bigrams(run[0]))} ", text)


def is_character(token: str) -> bool:
    """Whether a token is a single character of a script without spaces; longer runs give bigrams."""
    return len(token) == 1 and bool(_UNSPACED_RUN.match(token))


def stems(words: Sequence[str]) -> list[str]:
    """The words without their English endings. Words of other languages stay distinct."""
    # A stemmer holds scratch memory, so threads must not share one; making one takes microseconds.
    stemmed: list[str] = Stemmer.Stemmer("english").stemWords(words)
    return stemmed


def tokens(text: str) -> list[str]:
    """The stems of the words of `text`, in order, for both indexing and queries."""
    return tokens_of_each([text])[0]


def tokens_of_each(texts: Iterable[str]) -> list[list[str]]:
    """The `tokens` of each text. Much cheaper than separate calls, since it stems each distinct word only once."""
    split = [words(text) for text in texts]
    vocabulary = list(set().union(*split))
    stem = dict(zip(vocabulary, stems(vocabulary), strict=True))
    return [list(map(stem.__getitem__, found)) for found in split]


def query_terms(query: str) -> list[str]:
    """The distinct tokens of a query without stop words, in order; all tokens if it has only stop words."""
    asked = words(query)
    content = [word for word in asked if word not in STOP_WORDS]
    return list(dict.fromkeys(stems(content or asked)))


def estimate_tokens(text: str) -> int:
    """The approximate number of tokens for a language model: one per four characters, one per CJK character."""
    unspaced = 0 if text.isascii() else sum(map(len, _UNSPACED_RUN.findall(text)))
    return unspaced + (len(text) - unspaced + 3) // 4
