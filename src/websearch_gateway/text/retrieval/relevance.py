"""Which passages of a page answer a query, by words and by vectors together, and how surely."""

from __future__ import annotations

import math
from collections.abc import Sequence

from websearch_gateway.text.retrieval.rank import bm25, coverage, fuse

CANDIDATES = 10
"""So many passages are judged at least: their ranks choose them, their relevance orders them."""

ANSWERS = 0.5
"""A passage of this relevance more likely answers the query than not."""

RELEVANT = 0.05
"""A passage below this is not worth its place in a reply: `docs/passages.md` has the figures."""

# Logistic regressions on 612 questions over the article that answers each and over others; `docs/passages.md` has the
# figures. The first bias is half a unit milder than the fit, which cried "nothing answers" too often.
_WORDS, _VECTORS, _BOTH_BIAS = 15.0, 14.0, -9.0
_WORDS_ALONE, _ALONE_BIAS = 19.0, -6.3


def relevance(covered: float, similarity: float | None) -> float:
    """How likely a passage answers a query, from 0 to 1.

    Args:
        covered: the share of the query's words that it has, see `rank.coverage`.
        similarity: how much nearer its vector is to the query's than unrelated texts are, at most 1; None: not known.
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
    """The passages that answer a query best, at most `most`: their indices with their relevance, best first.

    Args:
        terms, passages: the tokens of the query and of each passage.
        similarities: of each passage, see `relevance`.
        weight: what the ranking by similarity counts where that by words counts 1.
    """
    words = bm25(terms, passages)
    by_words = sorted((place for place, score in enumerate(words) if score > 0), key=lambda place: -words[place])
    near = {place: similarity for place, similarity in enumerate(similarities) if similarity is not None}
    by_vectors = sorted(near, key=lambda place: -near[place])
    chosen = list(fuse([by_words, by_vectors], weights=(1.0, weight)))[: max(most, CANDIDATES)]
    covered = coverage(terms, passages)
    scores = {place: relevance(covered[place], near.get(place)) for place in chosen}
    return sorted(scores.items(), key=lambda scored: -scored[1])[:most]
