"""Ranks passages by a query with Okapi BM25, and merges several rankings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TypeVar

from websearch_gateway.models import Passage
from websearch_gateway.text.retrieval.tokens import query_terms, tokens_of_each

SATURATION = 1.5
"""BM25's k1: how fast the effect of repeated words saturates."""

LENGTH_WEIGHT = 0.75
"""BM25's b: how much the length of a passage lowers its score, from 0 (not) to 1 (fully)."""

Key = TypeVar("Key", bound=Hashable)


def rank(query: str, passages: Sequence[Passage]) -> list[Passage]:
    """All `passages`, best first, with scores in 0..1; ties keep their order.

    The score is the share of the best possible BM25 score for this query, so it is comparable between pages: 0 if no
    word of the query occurs, near 1 if every word occurs often. The headings above a passage count as its text.
    """
    scores = score_passages(query_terms(query), passages)
    scored = [replace(passage, score=score) for passage, score in zip(passages, scores, strict=True)]
    return sorted(scored, key=lambda passage: -passage.score)


def score_passages(terms: Sequence[str], passages: Sequence[Passage]) -> list[float]:
    """The score in 0..1 of each passage for the tokens of a query; see `rank`."""
    return bm25(terms, tokens_of_each(" ".join((*passage.section_path, passage.text)) for passage in passages))


def bm25(terms: Sequence[str], documents: Sequence[Sequence[str]]) -> list[float]:
    """The score in 0..1 of each document, all given as tokens; see `rank`."""
    wanted = frozenset(terms)
    counts = [Counter(token for token in document if token in wanted) for document in documents]
    rarity = inverse_document_frequency(terms, counts)
    return saturated(rarity, counts, [len(document) for document in documents])


def saturated(rarity: Mapping[str, float], counts: Sequence[Mapping[str, int]], lengths: Sequence[int]) -> list[float]:
    """The score in 0..1 of each document; see `rank`.

    Args:
        rarity: the weight of each term.
        counts: how often each document contains each of these terms.
        lengths: the number of tokens of each document.
    """
    best = sum(rarity.values()) * (SATURATION + 1)
    mean = sum(lengths) / len(lengths) if lengths else 0
    scores = []
    for count, length in zip(counts, lengths, strict=True):
        norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / mean) if mean else SATURATION
        gained = sum(rarity[term] * n * (SATURATION + 1) / (n + norm) for term, n in count.items())
        scores.append(gained / best if best else 0.0)
    return scores


def inverse_document_frequency(terms: Iterable[str], counts: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """The weight of each term: always positive, and highest for a term that no document contains."""
    found = {term: sum(term in count for count in counts) for term in terms}
    return {term: math.log(1 + (len(counts) - n + 0.5) / (n + 0.5)) for term, n in found.items()}


def fuse(rankings: Iterable[Sequence[Key]], k: int = 10, weights: Iterable[float] | None = None) -> dict[Key, float]:
    """Reciprocal-rank fusion: each key with the sum of weight / (k + its rank, from 1) over all rankings, best first.

    The default weight is 1.
    """
    scores: dict[Key, float] = {}
    for ranking, weight in zip(rankings, weights or repeat(1.0), strict=False):
        for place, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + weight / (k + place)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
