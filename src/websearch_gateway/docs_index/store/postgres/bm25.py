"""Ranks chunks as FTS5 does, from the words and positions of their tsvectors. Pure.

PostgreSQL's own ranks know neither how rare a word is nor how long the others are; both databases must agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from websearch_gateway.docs_index.store.index_row import WEIGHTS

Places = Mapping[str, Sequence[tuple[int, float]]]
"""The positions of each lexeme of a chunk, with the weight of its column."""

COLUMN_WEIGHTS = {"A": WEIGHTS[0], "B": WEIGHTS[1], "C": WEIGHTS[2], "D": WEIGHTS[4]}
K1, B = 1.2, 0.75
LEAST_IDF = 1e-6


def idf(total: int, found: int) -> float:
    """The weight of a phrase that `found` of `total` chunks hold (https://sqlite.org/fts5.html, section 5.1.1)."""
    return max(LEAST_IDF, math.log((max(0, total - found) + 0.5) / (found + 0.5)))


def score(phrases: Mapping[str, float], places: Places, length: int, mean: float) -> float:
    """The rank of a chunk; higher is better.

    Args:
        phrases: each with its `idf`.
        length: the words of the chunk; `mean` those of all chunks.
    """
    norm = K1 * (1 - B + B * length / mean)
    counts = ((weight, _count(phrase.split(), places)) for phrase, weight in phrases.items())
    return sum(weight * count * (K1 + 1) / (count + norm) for weight, count in counts)


def _count(words: Sequence[str], places: Places) -> float:
    """How often the words stand in a row, each time with the weight of its column."""
    after = [{position for position, _ in places.get(word, ())} for word in words[1:]]
    return sum(
        weight
        for position, weight in places.get(words[0], ())
        if all(position + step in found for step, found in enumerate(after, 1))
    )
