"""Scores of sentences, and whether they answer, in languages other than English; `evidence` has the English ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from websearch_gateway.text.retrieval.multilingual.letters import Likeness
from websearch_gateway.text.retrieval.question import Features

CLOSE = 6.0
"""The largest distance in score from the best sentence at which another one is also quoted."""


class _Weights(NamedTuple):
    """The weight of each feature of a sentence; `docs/decisions.md` says how they were fitted."""

    own: float
    covered: float
    beside: float
    above: float
    phrases: float
    passage: float
    kind: float
    other_kind: float
    scrap: float
    length: float
    named: float
    shared: float
    around: float


class _Gate(NamedTuple):
    """The weights that tell whether the pages answer, and their bias."""

    covered: float
    reached: float
    passage: float
    phrases: float
    named: float
    shared: float
    most_shared: float
    around: float
    bias: float


_SPACED = _Weights(12.4, 0.4, 2.9, 9.4, 0.0, 8.6, 0.5, -1.9, -2.0, 0.9, 1.3, 5.6, 10.3)
_HAN = _Weights(24.4, 5.7, 9.5, 0.3, 0.0, 11.4, 0.7, -2.1, -2.0, 1.0, 0.6, 6.0, 19.2)
_WEIGHTS = {
    "ja": _HAN,
    "ko": _HAN,
    "th": _Weights(0.3, 0.0, 0.7, 3.8, 4.7, 5.5, 1.1, -2.9, 0.0, 0.0, 0.9, 1.8, 14.6),
    "zh": _HAN,
}

_ANY = _Gate(2.3, 1.3, 11.4, 3.0, 1.5, 3.1, 2.0, 6.2, -6.6)
_HAN_GATE = _Gate(1.8, 6.3, 27.6, 0.0, 1.7, 2.9, 2.9, 16.2, -6.8)
_GATES = {
    "ar": _Gate(2.5, 1.4, 13.1, 4.6, 1.4, 4.0, 2.9, 9.3, -6.8),
    "de": _Gate(2.0, 0.9, 12.5, 6.0, 1.9, 4.0, 2.5, 9.5, -6.1),
    "el": _Gate(1.3, 1.4, 12.4, 2.6, 1.7, 4.1, 3.5, 8.1, -7.1),
    "es": _Gate(2.7, 1.6, 12.3, 3.8, 1.7, 3.3, 2.6, 7.5, -8.3),
    "hi": _Gate(1.8, 1.4, 13.6, 2.4, 1.2, 4.5, 3.2, 10.3, -8.1),
    "ro": _Gate(2.7, 1.8, 12.6, 3.1, 2.4, 3.4, 2.3, 7.9, -8.3),
    "ru": _Gate(2.6, 1.4, 13.6, 4.2, 1.8, 2.8, 1.9, 8.1, -6.8),
    "th": _Gate(0.0, 0.0, 13.2, 7.6, 2.0, 3.5, 4.6, 13.2, -11.7),
    "tr": _Gate(2.3, 0.7, 13.6, 2.8, 1.3, 4.1, 3.1, 12.1, -7.3),
    "vi": _Gate(2.5, 1.2, 11.1, 4.6, 1.7, 3.4, 2.9, 6.2, -10.2),
    "ja": _HAN_GATE,
    "ko": _HAN_GATE,
    "zh": _HAN_GATE,
}
"""The bias is 0.6 above the fitted one: a hedge above an answer misleads more than none above the nearest sentences."""


def scores(language: str, features: Sequence[Features], alike: Sequence[Likeness]) -> list[float]:
    """The score of each sentence as the answer, relative to the other sentences of its pages."""
    weights = _WEIGHTS.get(language, _SPACED)
    return [_score(weights, one, like) for one, like in zip(features, alike, strict=True)]


def _score(weights: _Weights, one: Features, like: Likeness) -> float:
    kind = weights.kind if one.kind > 0 else weights.other_kind if one.kind < 0 else 0.0
    return (
        weights.own * one.own
        + weights.covered * one.covered
        + weights.beside * one.beside
        + weights.above * one.above
        + weights.phrases * one.phrases
        + weights.passage * one.passage
        + weights.scrap * one.scrap
        + weights.length * one.length
        + weights.named * one.named
        + weights.shared * like.shared
        + weights.around * like.around
        + kind
    )


def is_about(language: str, best: int, features: Sequence[Features], alike: Sequence[Likeness]) -> bool:
    """Whether the pages are about the question, given the index of the best sentence."""
    gate = _GATES.get(language, _ANY)
    evidence = (
        gate.covered * features[best].covered
        + gate.reached * max(one.covered + one.beside + one.above for one in features)
        + gate.passage * max(one.passage for one in features)
        + gate.phrases * features[best].phrases
        + gate.named * features[best].named
        + gate.shared * alike[best].shared
        + gate.most_shared * max(one.shared for one in alike)
        + gate.around * max(one.around for one in alike)
        + gate.bias
    )
    return evidence >= 0
