"""Which passages of a page answer a query, by words and vectors, and with what probability."""

from __future__ import annotations

import math
from collections.abc import Sequence

from websearch_gateway.text.retrieval.rank import bm25, coverage, fuse

CANDIDATES = 10
"""The minimum number of passages to score: their ranks select them, their relevance orders them."""

ANSWERS = 0.5
"""From this relevance on, a passage more likely answers the query than not."""

RELEVANT = 0.05
"""A passage below this relevance is left out of a reply: `docs/passages.md` has the figures."""

# Logistic regressions on 612 questions over the article that answers each and over others; `docs/passages.md` has the
# figures. The first bias is half a unit above the fit, which reported "nothing answers" too often.
_WORDS, _VECTORS, _BOTH_BIAS = 15.0, 14.0, -9.0
_WORDS_ALONE, _ALONE_BIAS = 19.0, -6.3


def relevance(covered: float, similarity: float | None) -> float:
    """How likely a passage answers a query, from 0 to 1.

    Args:
        covered: the share of the query's words that it contains, see `rank.coverage`.
        similarity: how much closer its vector is to the query's than unrelated texts are, at most 1; None if unknown.
    """
    if similarity is None:
        evidence = _WORDS_ALONE * covered + _ALONE_BIAS
    else:
        evidence = _WORDS * covered + _VECTORS * similarity + _BOTH_BIAS
    return 1 / (1 + math.exp(-evidence))


def select(
    terms: Sequence[str],
    passages: Sequence[Sequence[str]],
    similarities: Sequence[float | None],
    *,
    weight: float,
    most: int,
) -> list[tuple[int, float]]:
    """The indices of at most `most` passages that answer a query best, with their relevance, best first.

    Args:
        terms, passages: the tokens of the query and of each passage.
        similarities: of each passage, see `relevance`.
        weight: the weight of the ranking by similarity, where the ranking by words has weight 1.
    """
    words = bm25(terms, passages)
    by_words = sorted((place for place, score in enumerate(words) if score > 0), key=lambda place: -words[place])
    near = {place: similarity for place, similarity in enumerate(similarities) if similarity is not None}
    by_vectors = sorted(near, key=lambda place: -near[place])
    chosen = list(fuse([by_words, by_vectors], weights=(1.0, weight)))[: max(most, CANDIDATES)]
    covered = coverage(terms, passages)
    scores = {place: relevance(covered[place], near.get(place)) for place in chosen}
    return sorted(scores.items(), key=lambda scored: -scored[1])[:most]
