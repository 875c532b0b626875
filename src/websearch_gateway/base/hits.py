"""Rows of search results, as untrusted data: read from the replies of vendors, so that the same fault gives the same
error everywhere; and a page of results that has nothing to do with the query, which some engines send to callers they
take for bots.

For that, only what cannot be an accident counts: no row shares a word, an inflected, compound or misspelt form of one,
or in a script without spaces a run of letters, with the query. Rows in another language may say the same in other
words.
"""

from __future__ import annotations

import functools
import re
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import unquote_plus, urlsplit

from websearch_gateway.base.tokenization import (
    UNSPACED,
    fold,
    function_words,
    language_of,
    query_terms,
    tokens_of_each,
)
from websearch_gateway.base.urls import is_web_address
from websearch_gateway.errors import SearchProviderParseError
from websearch_gateway.models import Hit

SNIPPET_CHARS = 400
"""Of a page's text that stands in for a missing snippet: as long as vendors' longest."""


def records(
    document: Mapping[str, Any], key: str, vendor: str, *, optional: bool = False
) -> list[dict[str, Any]]:
    """The objects in the list `document[key]`; skips other entries.

    Args:
        optional: the vendor omits the list from a reply without results.

    Raises:
        SearchProviderParseError: there is no such list, or none of its entries is an object.
    """
    entries = document.get(key)
    if entries is None and optional:
        return []
    if not isinstance(entries, list):
        raise SearchProviderParseError(f"The reply of {vendor} has no list of results ({key}).")
    objects_of_list = [entry for entry in entries if isinstance(entry, dict)]
    if entries and not objects_of_list:
        raise SearchProviderParseError(f"The results of {vendor} ({key}) are not objects.")
    return objects_of_list


def linked(hits: Iterable[Hit | None], vendor: str) -> list[Hit]:
    """The hits of a reply, without the rows for which `make_hit` returned None because they have no link.

    Raises:
        SearchProviderParseError: there are rows, and none of them has a link.
    """
    made = list(hits)
    hits_made = [hit for hit in made if hit]
    if made and not hits_made:
        raise SearchProviderParseError(f"The results of {vendor} have no links.")
    return hits_made


def one_line(value: object) -> str:
    """A string with its white space collapsed; empty for anything else. Lone surrogates become `?`."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text.encode("utf-8", "replace").decode("utf-8")


def opening(text: object) -> str:
    """The beginning of a page's text as a snippet, for vendors without one of their own."""
    return textwrap.shorten(one_line(text), SNIPPET_CHARS, placeholder=" …")


def make_hit(
    provider: str,
    url: object,
    title: object,
    snippet: object,
    *,
    published: str | None = None,
    score: float | None = None,
    content: object = None,
) -> Hit | None:
    """A Hit from a vendor's raw fields; None without an http(s) URL. Without a title the URL is the title."""
    address = one_line(url)
    if not is_web_address(address):
        return None
    text = None
    if isinstance(content, str) and content.strip():
        text = content.encode("utf-8", "replace").decode()
    shown_title = one_line(title) or address
    return Hit(address, shown_title, one_line(snippet), provider, published, score, text)


FEWEST_ROWS = 5
"""With fewer unrelated rows a page is left to the caller: the vendor may have found nothing better."""

ALIKE = 0.65
"""The share of the shorter word's trigrams in the longer one from which two words with the same beginning are forms of
one: 0.67 in "computer" and "computing", or "eifel" and "eiffel"; 0.6 in "control" and "contract"."""

_SHORTEST_PART = 5
"""The letters of a word that counts inside another word: "suppe" in "kartoffelsuppe", but not "art" in "party"."""
_LONGEST_WORD = 40
"""Characters that are compared: longer words are addresses or data."""
_MOST_LETTERS = 300
"""Letters from which the script of a text is told; more change nothing."""
_LONG_ROW = 8

_WORD = re.compile(rf"[^\W_{UNSPACED}]+")
_STEMS_OF_ANY_PAGE = (
    "www http https com org net html htm php "
    "another any between each every everi just lot many mani more most much near only onli other over per same such "
    "under very veri"
)
"""Stems of addresses, of grammar and of questions, beside the stop words of `languages`."""
_OF_NAMES = "el la los las le les de del des du da do di dos von van der den com on in"
"""Words that names bring into English queries: Los Angeles, Rio de Janeiro, Vincent van Gogh."""

_UNSPACED_GRAMMAR = (
    "[的了吗呢吧么什怎哪谁是在和与及或也都就我你他她它们这那个何] 可以 没有 一些 许多 进行 使用 成为 认为 称为 第一 "
    "คือ อะไร อย่าง ยังไง ทำไม ที่ไหน เมื่อ เท่าไหร่ เท่าไร เท่าใด กี่ ใคร การ ของ และ เป็น ที่ ใน ได้รับ ครั้ง เรียก จำนวน เพื่อ สามารถ "
    "ทำให้ ระหว่าง หนึ่ง เรื่อง กลุ่ม มากที่สุด เกี่ยวกับ ชื่อ"
)
_HAN = re.compile("[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc-\u30ff]+")
_HANGUL = re.compile("[\uac00-\ud7af]+")
_ALPHABETS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")
"""Of South-East Asia."""
_RUN_LENGTHS = ((_HAN, 2, 2), (_KATAKANA, 4, 2), (_ALPHABETS, 6, 4))
"""How many letters in a row stand for a word in each script, and the letters of the shortest word that counts."""
_KANA_AND_HAN = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"}


def is_unrelated(query: str, hits: Sequence[Hit], language: str | None = None) -> bool:
    """Whether at least FEWEST_ROWS hits are in the query's language and no hit shares a content word with it.

    Args:
        hits: cleaned, so their texts are bounded.
        language: of the query, an ISO 639-1 code, if it is known.
    """
    if len(hits) < FEWEST_ROWS:
        return False
    code = language or language_of(query)
    query_words = _Wanted(query, code)
    if not query_words or any(query_words.is_in(_text(hit)) for hit in hits):
        return False
    codes = {code} if language else _possible(query, code)
    scripts = _scripts(query)
    unrelated = 0
    for hit in hits:
        if not _is_foreign(f"{hit.title} {hit.snippet}", codes, scripts):
            unrelated += 1
    return unrelated >= FEWEST_ROWS


class _Wanted:
    """The content words of a query, in the forms in which a text may hold them."""

    def __init__(self, query: str, code: str) -> None:
        self._code = code
        spaced = _spaced_only(query)
        of_any_page = frozenset(_STEMS_OF_ANY_PAGE.split())
        stems = [stem for stem in query_terms(spaced, code) if stem not in of_any_page]
        pairs = []
        if code == "vi":  # a word is mostly two syllables
            pairs = [" ".join(pair) for pair in pairwise(map(fold, stems))]
        self._runs = frozenset(pairs or _runs(fold(query)))
        self._stems = frozenset(() if pairs else stems)
        words = [word for word in _WORD.findall(fold(spaced)) if len(word) >= _SHORTEST_PART]
        self._words: list[str] = []
        self._beginnings: dict[str, list[frozenset[str]]] = {}
        # The parts of a compound that may be words, at its beginning or its end.
        self._parts: set[str] = set()
        for word in words:
            if self._stems.isdisjoint(self._stemmed(word)):
                continue
            word = word[:_LONGEST_WORD]
            self._words.append(word)
            self._beginnings.setdefault(word[:3], []).append(_trigrams(word))
            for length in range(_SHORTEST_PART, len(word)):
                self._parts |= {word[:length], word[-length:]}

    def __bool__(self) -> bool:
        return bool(self._stems or self._runs)

    def is_in(self, text: str) -> bool:
        """Whether a text holds a form of one of the words."""
        folded = fold(text)
        if any(run in folded for run in self._runs):
            return True
        if any(word in folded for word in self._words):
            return True
        if not self._stems:
            return False
        words = set(_WORD.findall(folded))
        if not self._stems.isdisjoint(words) or not self._parts.isdisjoint(words):
            return True
        if any(self._is_form(word) for word in words if len(word) >= _SHORTEST_PART):
            return True
        return not self._stems.isdisjoint(self._stemmed(_spaced_only(text)))

    def _stemmed(self, text: str) -> list[str]:
        return tokens_of_each([text], self._code)[0]

    def _is_form(self, word: str) -> bool:
        beginnings = self._beginnings.get(word[:3], ())
        trigrams = _trigrams(word[:_LONGEST_WORD]) if beginnings else frozenset()
        return any(
            len(beginning & trigrams) >= ALIKE * min(len(beginning), len(trigrams))
            for beginning in beginnings
        )


def _text(hit: Hit) -> str:
    """All that a row shows: title, snippet, and the words of its address without the end of the host."""
    try:
        parts = urlsplit(hit.url)
        host = (parts.hostname or "").rpartition(".")[0]
        address = unquote_plus(f"{host} {parts.path} {parts.query} {parts.fragment}")
    except ValueError:
        address = ""
    return f"{hit.title} {hit.snippet} {address}"


def _possible(query: str, code: str) -> set[str]:
    """The languages that a query may be in: English too, unless a word that is no part of names, or the letters of more
    than half of the words, indicate another one.
    """
    telling = function_words(code) - frozenset(_OF_NAMES.split())
    words = [word for word in _WORD.findall(query.casefold()) if len(word) > 1]
    is_telling = any(fold(word) in telling for word in words)
    foreign_words = sum(not word.isascii() for word in words)
    is_mostly_foreign = 2 * foreign_words > len(words)
    return {code} if is_telling or is_mostly_foreign else {code, "en"}


def _is_foreign(text: str, codes: set[str], scripts: frozenset[str]) -> bool:
    """Whether a row is in another script or language than the query. Without any evidence it is not."""
    scripts_of_row = _scripts(text)
    if not scripts_of_row:
        return False
    if scripts_of_row.isdisjoint(scripts):
        return True
    language = language_of(text)
    if language != "en":
        return language not in codes
    words = _WORD.findall(fold(text))
    if function_words("en").isdisjoint(words):
        return "en" in codes and len(words) >= _LONG_ROW  # a language without an entry of its own
    return "en" not in codes


def _scripts(text: str) -> frozenset[str]:
    """The scripts that at least a quarter of the letters of a text belong to."""
    letters = [letter for letter in text[: 4 * _MOST_LETTERS] if letter.isalpha()][:_MOST_LETTERS]
    names = (unicodedata.name(letter, "?").partition(" ")[0] for letter in letters)
    counts = Counter("CJK" if name in _KANA_AND_HAN else name for name in names)
    return frozenset(name for name, count in counts.items() if 4 * count >= len(letters))


def _spaced_only(text: str) -> str:
    return re.sub(f"[{UNSPACED}]+", " ", text)


def _runs(folded: str) -> Iterable[str]:
    """The runs of letters of the words in scripts without spaces; those of hiragana, mostly grammar, only alone."""
    text = _grammar().sub(" ", folded)
    runs: list[str] = []
    for script, length, shortest in _RUN_LENGTHS:
        for run in script.findall(text):
            if len(run) >= shortest:
                runs += _pieces(run, length)
    # Hangul inflects at the end of a word.
    runs += [run[:2] for run in _HANGUL.findall(text) if len(run) > 1]
    return runs or re.findall(f"[{UNSPACED}]+", text)


@functools.cache
def _grammar() -> re.Pattern[str]:
    return re.compile("|".join(map(fold, _UNSPACED_GRAMMAR.split())))


def _pieces(run: str, length: int) -> list[str]:
    return [run[start : start + length] for start in range(max(1, len(run) - length + 1))]


def _trigrams(word: str) -> frozenset[str]:
    return frozenset(word[start : start + 3] for start in range(len(word) - 2))
