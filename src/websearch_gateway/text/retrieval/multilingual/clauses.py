"""Finds clauses in languages without full stops: Thai, Lao and Khmer have a space after a clause or a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

SHORTEST = 150
"""The least number of characters of a clause. Shorter ones join the next, since names contain spaces too."""

LONGEST = 300
"""A sentence of at most this many characters stays whole."""

_UNSTOPPED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff]")
# Spaces around a number or a foreign name do not end a clause.
_BLANK = re.compile(r"(?<=[\u0e00-\u0eff\u1780-\u17ff])\s+(?=[\u0e00-\u0eff\u1780-\u17ff])")


def clauses(text: str, sentences: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The (start, end) offsets of `sentences` of `text`, with long ones without full stops cut at spaces."""
    for start, end in sentences:
        if end - start > LONGEST and _UNSTOPPED.search(text, start, end):
            for blank in _BLANK.finditer(text, start, end):
                if blank.start() - start >= SHORTEST and end - blank.end() >= SHORTEST:
                    yield start, blank.start()
                    start = blank.end()
        yield start, end
