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
    distinct = dict.fromkeys(map(fold, _NAME.findall(text)))
    return [word for word in distinct if _LETTERS.fullmatch(word) and word not in STOP_WORDS]


def spellings_near(word: str) -> list[str]:
    """The words that differ by one letter: missing, added, wrong, or two of them swapped."""
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    before_a_letter = splits[:-1]
    before_two_letters = splits[:-2]
    near = [start + rest[1:] for start, rest in before_a_letter]
    near += [start + rest[1] + rest[0] + rest[2:] for start, rest in before_two_letters]
    for letter in string.ascii_lowercase:
        near += [start + letter + rest for start, rest in splits]
        near += [start + letter + rest[1:] for start, rest in before_a_letter]
    return list(dict.fromkeys(near))


def counted(
    text: str, count: Callable[[Sequence[str]], Mapping[str, int]], chunks: int
) -> tuple[dict[str, str], dict[str, float]]:
    """The nearest known word for each of a query that no page has; and how rare each of its words is, by its stem.

    Args:
        count: says in how many of the `chunks` each word is; see `Database.count_words`.
    """
    query_words = [word for word in words(text)[:MOST_WORDS] if word not in STOP_WORDS]
    may_be_wrong = words_of(text)
    distinct = dict.fromkeys((*query_words, *may_be_wrong))
    counts = dict(count(list(distinct)))
    unknown = [word for word in may_be_wrong if word not in counts][:MOST_UNKNOWN]
    looks_anywhere = len(unknown) < MOST_UNKNOWN
    instead = {}
    for word in unknown:
        spellings = _indexed_near(word, count, anywhere=looks_anywhere)
        if spellings:
            instead[word] = _best_spelling(word, spellings)
            counts |= spellings
    query_words = [instead.get(word, word) for word in query_words]
    rarity = {}
    for word, stem in zip(query_words, stems(query_words), strict=True):
        rarity[stem] = log(1 + chunks / (counts.get(word, 0) + 0.5))
    return instead, rarity


def _indexed_near(
    word: str, count: Callable[[Sequence[str]], Mapping[str, int]], *, anywhere: bool
) -> Mapping[str, int]:
    """The words of the index near to a word, with their counts.

    Most mistakes come later in a word, and words that begin alike are looked up faster, so these come first. `anywhere`:
    look for the others too if there are none.
    """
    start = word[:3]
    alike: list[str] = []
    others: list[str] = []
    for spelling in spellings_near(word):
        (alike if spelling.startswith(start) else others).append(spelling)
    counts = count(alike)
    return count(others) if not counts and anywhere else counts


def _best_spelling(word: str, counts: Mapping[str, int]) -> str:
    """The most frequent spelling, of those with the same first letter if there are any."""
    return max(counts, key=lambda spelling: (spelling[0] == word[0], counts[spelling]))


def replaced(text: str, instead: Mapping[str, str]) -> str:
    """The text with other words in place of some."""
    return _NAME.sub(lambda match: instead.get(fold(match[0]), match[0]), text)
