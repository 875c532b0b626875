"""Splits a page into passages without repetitions, ranks them by a query with words and vectors, and estimates how
probably each answers. Pure; runs in a worker process."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import NamedTuple, TypeVar
from zlib import crc32

from websearch_gateway.base import language_of, plain, query_terms, tokens_of_each, words
from websearch_gateway.evidence.answer_kinds import asked_for
from websearch_gateway.evidence.chunks import overlapping
from websearch_gateway.models import Passage

Key = TypeVar("Key", bound=Hashable)

CANDIDATES = 10  # the minimum number of passages to score: their ranks select them, their relevance orders them
ANSWERS = 0.5  # from this relevance on, a passage more likely answers the query than not
FAR_BEHIND = 20.0  # a passage is also left out if its odds are this many times worse than those of the best passage

# Fitted on questions over encyclopedia articles: the weights by a softmax over the passages of a page, scale and
# bias by a logistic regression over the best passage of the page that answers and of others: `bench/experiments.md`.
_WITH_VECTORS: Sequence[float] = (2.33, 2.17, 2.35, 1.82, 4.54, -3.9)
_WORDS_ALONE: Sequence[float] = (3.04, 2.68, 3.0, 2.45, -2.9)

_SENTENCE, _PARAGRAPH = 20, 50
"""The tokens of a sentence and of a short paragraph: words of the query within this distance belong together."""


def shown(scores: Sequence[float], threshold: float) -> int:
    """The number of scores, in descending order, to show: see `threshold` (0 for all) and FAR_BEHIND."""
    if not scores:
        return 0
    far_behind = scores[0] / (scores[0] + FAR_BEHIND * (1 - scores[0]))
    least = max(threshold, far_behind) if threshold else 0.0
    return sum(score >= least for score in scores)


class Matches(NamedTuple):
    """How well a passage matches the words of a query: shares from 0 to 1, in which rarer words weigh more.

    Attributes:
        covered: the share of the query's words that the passage contains.
        sentence, paragraph: the largest share of them within the tokens of a sentence, and of a short paragraph.
        pairs: the share of the query's pairs of neighbouring words that are neighbours in the passage.
    """

    covered: float
    sentence: float
    paragraph: float
    pairs: float


def relevance(matched: Matches, similarity: float | None) -> float:
    """The probability that a passage answers a query, from 0 to 1.

    Args:
        similarity: how much closer its vector is to the query's than those of unrelated texts, at most 1; None if
            unknown.
    """
    weights = _WORDS_ALONE if similarity is None else _WITH_VECTORS
    values = (*matched, 1.0) if similarity is None else (*matched, similarity, 1.0)
    log_odds = sum(weight * value for weight, value in zip(weights, values, strict=True))
    return 1 / (1 + math.exp(-log_odds))


def matches(terms: Sequence[str], passage: Sequence[str], rarity: Mapping[str, float]) -> Matches:
    """The matches of the `terms` of a query among the tokens of a passage; `rarity` is the weight of each term."""
    whole = sum(rarity.values())
    if not whole:
        return Matches(0.0, 0.0, 0.0, 0.0)
    places = [(place, token) for place, token in enumerate(passage) if token in rarity]
    covered = sum(map(rarity.__getitem__, {token for _, token in places}))
    pairs_of_query = frozenset(pairwise(terms))
    pairs = pairs_of_query.intersection(pairwise(passage))
    return Matches(
        covered / whole,
        _densest(places, rarity, _SENTENCE) / whole,
        _densest(places, rarity, _PARAGRAPH) / whole,
        len(pairs) / len(pairs_of_query) if pairs_of_query else 0.0,
    )


def _densest(places: Sequence[tuple[int, str]], rarity: Mapping[str, float], width: int) -> float:
    """The largest weight of distinct terms within `width` tokens."""
    inside: Counter[str] = Counter()
    weight = best = 0.0
    first = 0
    for place, token in places:
        weight += 0.0 if inside[token] else rarity[token]
        inside[token] += 1
        while place - places[first][0] >= width:
            passed = places[first][1]
            inside[passed] -= 1
            weight -= 0.0 if inside[passed] else rarity[passed]
            first += 1
        best = max(best, weight)
    return best


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
    by_words = sorted(
        (place for place, score in enumerate(words) if score > 0), key=lambda place: -words[place]
    )
    near = {
        place: similarity for place, similarity in enumerate(similarities) if similarity is not None
    }
    by_vectors = sorted(near, key=lambda place: -near[place])
    chosen = list(fuse([by_words, by_vectors], weights=(1.0, weight)))[: max(most, CANDIDATES)]
    distinct = frozenset(terms)
    words_of_query = [dict.fromkeys(distinct.intersection(passage), 1) for passage in passages]
    rarity = inverse_document_frequency(distinct, words_of_query)
    scores = {
        place: relevance(matches(terms, passages[place], rarity), near.get(place))
        for place in chosen
    }
    return sorted(scores.items(), key=lambda scored: -scored[1])[:most]


SATURATION = 1.5  # BM25's k1: how fast the effect of repeated words saturates
LENGTH_WEIGHT = (
    0.75  # BM25's b: how much the length of a passage lowers its score, from 0 (not) to 1 (fully)
)


def score_passages(terms: Sequence[str], passages: Sequence[Passage]) -> list[float]:
    """The score in 0..1 of each passage for the tokens of a query: its share of the best possible BM25 score.

    So it is comparable between pages: 0 if no word of the query occurs, near 1 if every word occurs often. The headings
    above a passage count as its text.
    """
    return bm25(
        terms,
        tokens_of_each(" ".join((*passage.section_path, passage.text)) for passage in passages),
    )


def bm25(terms: Sequence[str], documents: Sequence[Sequence[str]]) -> list[float]:
    """The score in 0..1 of each document, all given as tokens; see `score_passages`."""
    distinct = frozenset(terms)
    counts = [Counter(token for token in document if token in distinct) for document in documents]
    rarity = inverse_document_frequency(terms, counts)
    return saturated(rarity, counts, [len(document) for document in documents])


def saturated(
    rarity: Mapping[str, float], counts: Sequence[Mapping[str, int]], lengths: Sequence[int]
) -> list[float]:
    """The score in 0..1 of each document; see `score_passages`.

    Args:
        rarity: the weight of each term.
        counts: how often each document contains each of these terms.
        lengths: the number of tokens of each document.
    """
    best = sum(rarity.values()) * (SATURATION + 1)
    mean = sum(lengths) / len(lengths) if lengths else 0
    scores = []
    for count, length in zip(counts, lengths, strict=True):
        norm = (
            SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / mean) if mean else SATURATION
        )
        gained = sum(rarity[term] * n * (SATURATION + 1) / (n + norm) for term, n in count.items())
        scores.append(gained / best if best else 0.0)
    return scores


def inverse_document_frequency(
    terms: Iterable[str], counts: Sequence[Mapping[str, int]]
) -> dict[str, float]:
    """The weight of each term: always positive, and highest for a term that no document contains."""
    documents_with = {term: sum(term in count for count in counts) for term in terms}
    return {
        term: math.log(1 + (len(counts) - n + 0.5) / (n + 0.5))
        for term, n in documents_with.items()
    }


def fuse(
    rankings: Iterable[Sequence[Key]], k: int = 10, weights: Iterable[float] | None = None
) -> dict[Key, float]:
    """Reciprocal-rank fusion: each key with the sum of weight / (k + its rank, from 1) over all rankings, best first.

    The default weight is 1.
    """
    scores: dict[Key, float] = {}
    for ranking, weight in zip(rankings, weights or repeat(1.0), strict=False):
        for place, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + weight / (k + place)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


MOST_PASSAGES = (
    3_000  # the most passages of a page that are ranked: about as many as in a book of 500 pages
)
MOST_EMBEDDED = 8_000  # the most characters of a passage that are embedded
SHORT_PASSAGE = 200
"""Below this many characters, equal texts in different sections may differ in meaning, such as `None.`"""

_HEADINGS = 2  # the nearest headings describe this passage; higher ones apply to every passage


@dataclass(frozen=True, slots=True)
class Cut:
    """The distinct passages of a page, the text to embed for each, and whether there are more."""

    passages: Sequence[Passage]
    embedded: Sequence[str]
    more: bool


def cut_passages(markdown: str, size: int) -> Cut:
    """Split a page into passages of about `size` tokens."""
    pieces = overlapping(markdown, size, MOST_PASSAGES + 1)
    few = pieces[:MOST_PASSAGES]
    repeated = frozenset(near_duplicates([_compared(passage, plain(own)) for passage, own in few]))
    distinct = [passage for place, (passage, _) in enumerate(few) if place not in repeated]
    return Cut(distinct, [_embedded(passage) for passage in distinct], len(pieces) > len(few))


def _compared(passage: Passage, own: str) -> str:
    """What two passages must share to be the same; `own` is the text without what overlaps the passage before."""
    return own if len(own) > SHORT_PASSAGE else "\n".join((*passage.section_path, own))


def _embedded(passage: Passage) -> str:
    return "\n".join((*passage.section_path[-_HEADINGS:], plain(passage.text)))[:MOST_EMBEDDED]


def ranked(
    queries: Sequence[str],
    passages: Sequence[str],
    similarities: Sequence[Sequence[float | None]],
    weight: float,
    most: int,
) -> list[list[tuple[int, float]]]:
    """For each query, the indices of at most `most` passages that answer it best, with their relevance, best first.

    Args:
        passages: the text of each with its headings.
        similarities: for each query, the similarity of each passage; see `select`, also for `weight`.
    """
    words = tokens_of_each(passages)
    best: list[list[tuple[int, float]]] = []
    for query, near in zip(queries, similarities, strict=True):
        terms = query_terms(query)
        answering = _with_the_kind_asked_for(query, terms, words)
        best.append(select(terms, answering, near, weight=weight, most=most))
    return best


def _with_the_kind_asked_for(
    query: str, terms: Sequence[str], passages: Sequence[Sequence[str]]
) -> Sequence[Sequence[str]]:
    """The passages, in which each thing of the kind asked for stands as the word that asks for it.

    "how many nests" asks for a number: "counted 412 nests" answers it without the word "many".
    """
    kind = asked_for(query, language_of(query))
    asking = [term for term in query_terms(kind.asking) if term in terms] if kind else []
    if kind is None or not asking:
        return passages
    vocabulary = set[str]().union(*passages).difference(terms)
    of_kind = {token for token in vocabulary if kind.pattern.fullmatch(token)}
    return [[asking[-1] if token in of_kind else token for token in tokens] for tokens in passages]


SHINGLE = 3  # the number of words in a shingle
NEAR = 0.9  # the minimum share of common shingles (Jaccard) of two near-duplicates

# Texts that share nine tenths of their shingles share one of their eight smallest, except one pair in 10^8.
_SKETCH = 8
_CANDIDATES = 16  # texts with the same small shingle to compare; a hostile page can have many


@dataclass(frozen=True, slots=True)
class _Print:
    """What tells texts apart: the hashes of their shingles, and their numbers."""

    shingles: frozenset[int]
    numbers: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> _Print:
        in_order = words(text)
        shingles = set()
        for at in range(max(1, len(in_order) - SHINGLE + 1)):
            shingle = " ".join(in_order[at : at + SHINGLE])
            shingles.add(crc32(shingle.encode("utf-8", "surrogatepass")))
        return cls(frozenset(shingles), tuple(sorted(word for word in in_order if word.isdigit())))

    def repeats(self, earlier: _Print) -> bool:
        """Whether the texts have the same numbers and nearly the same shingles."""
        if self.numbers != earlier.numbers:
            return False
        common, either = self.shingles & earlier.shingles, self.shingles | earlier.shingles
        return len(common) >= NEAR * len(either)


def near_duplicates(texts: Sequence[str]) -> list[int]:
    """The indices of texts that nearly repeat an earlier one. Texts with different numbers are never duplicates."""
    by_shingle: dict[int, list[_Print]] = {}
    repeated = []
    for place, text in enumerate(texts):
        own = _Print.of(text)
        sketch = sorted(own.shingles)[:_SKETCH]
        candidates = (earlier for mark in sketch for earlier in by_shingle.get(mark, ()))
        if any(own.repeats(earlier) for earlier in candidates):
            repeated.append(place)
            continue
        for mark in sketch:
            alike = by_shingle.setdefault(mark, [])
            if len(alike) < _CANDIDATES:
                alike.append(own)
    return repeated
