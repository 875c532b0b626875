"""The words of a query: how rare they are, and what is near to those that no page has. Pure."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from math import log

from websearch_gateway.base import STOP_WORDS, fold, stems, words
from websearch_gateway.docs.search.query import MOST_WORDS

SHORTEST = 5
"""A shorter word is near to too many others."""
LONGEST = 25
MOST_UNKNOWN = 3
"""The most words of a query to replace; each has some hundreds of near ones, and a query with more is in another
language."""

_NAME = re.compile(r"[^\W_]+")
_LETTERS = re.compile(rf"[a-z]{{{SHORTEST},{LONGEST}}}")


def words_of(text: str) -> list[str]:
    """The distinct words of a query that may be misspelt, folded."""
    found = dict.fromkeys(map(fold, _NAME.findall(text)))
    return [word for word in found if _LETTERS.fullmatch(word) and word not in STOP_WORDS]


def spellings_near(word: str) -> list[str]:
    """The words that differ by one letter: missing, added, wrong, or two of them swapped."""
    parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = [a + b[1:] for a, b in parts if b] + [
        a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1
    ]
    for letter in string.ascii_lowercase:
        found += [a + letter + b for a, b in parts]
        found += [a + letter + b[1:] for a, b in parts if b]
    return list(dict.fromkeys(found))


def counted(
    text: str, count: Callable[[Sequence[str]], Mapping[str, int]], chunks: int
) -> tuple[dict[str, str], dict[str, float]]:
    """The nearest known word for each of a query that no page has; and how rare each of its words is, by its stem.

    Args:
        count: says in how many of the `chunks` each word is; see `Database.count_words`.
    """
    asked = [word for word in words(text)[:MOST_WORDS] if word not in STOP_WORDS]
    may_be_wrong = words_of(text)
    counts = dict(count(list(dict.fromkeys((*asked, *may_be_wrong)))))
    instead = {}
    unknown = [word for word in may_be_wrong if word not in counts][:MOST_UNKNOWN]
    for word in unknown:
        near, start = spellings_near(word), word[:3]
        # Most mistakes come later in a word, and words that begin alike are looked up faster.
        known = count([one for one in near if one.startswith(start)])
        if not known and len(unknown) < MOST_UNKNOWN:
            known = count([one for one in near if not one.startswith(start)])
        if known:
            instead[word] = max(known, key=lambda one: (one[0] == word[0], known[one]))
            counts |= known
    asked = [instead.get(word, word) for word in asked]
    weights = (log(1 + chunks / (counts.get(word, 0) + 0.5)) for word in asked)
    return instead, dict(zip(stems(asked), weights, strict=True))


def replaced(text: str, instead: Mapping[str, str]) -> str:
    """The text with other words in place of some."""
    return _NAME.sub(lambda match: instead.get(fold(match[0]), match[0]), text)
