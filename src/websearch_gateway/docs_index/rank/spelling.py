"""Replaces words that no page has by the nearest ones of the index. Pure."""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Mapping

from websearch_gateway.text.tokens import STOP_WORDS, fold

SHORTEST = 5
"""A shorter word is near to too many others."""
LONGEST = 25
MOST_UNKNOWN = 8
"""The most words of a query to replace; each has some hundreds of near ones."""

_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(rf"[a-z]{{{SHORTEST},{LONGEST}}}")


def words_of(text: str) -> list[str]:
    """The distinct words of a query that may be misspelt, folded."""
    found = dict.fromkeys(map(fold, _WORD.findall(text)))
    return [word for word in found if _LETTERS.fullmatch(word) and word not in STOP_WORDS]


def near(word: str) -> list[str]:
    """The words that differ by one letter: missing, added, wrong, or two of them swapped."""
    parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = [a + b[1:] for a, b in parts if b] + [a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1]
    for letter in string.ascii_lowercase:
        found += [a + letter + b for a, b in parts]
        found += [a + letter + b[1:] for a, b in parts if b]
    return list(dict.fromkeys(found))


def nearest(words: Collection[str], counts: Mapping[str, int]) -> dict[str, str]:
    """For each word the most frequent of those near to it, one with the same first letter if there is any.

    Args:
        counts: how many chunks hold each known word.
    """
    found = {}
    for word in words:
        if known := [one for one in near(word) if one in counts]:
            found[word] = max(known, key=lambda one: (one[0] == word[0], counts[one]))
    return found


def replaced(text: str, instead: Mapping[str, str]) -> str:
    """The text with other words in place of some."""
    return _WORD.sub(lambda match: instead.get(fold(match[0]), match[0]), text)
