"""Scores sentences, and decides whether they answer, in languages other than English; `evidence` does for English."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from websearch_gateway.text.retrieval.multilingual.letters import Likeness
from websearch_gateway.text.retrieval.question import Features


class Signals(NamedTuple):
    """The `Features` and `Likeness` of a sentence, and signals for the kind that the question asks for.

    Of these, the first of a pair such as `number` and `no_number` is 1 if the sentence has such a thing, the second if
    it has none. `told` and `untold` are for names and reasons, which words such as "called" and "because" introduce.
    """

    own: float
    covered: float
    beside: float
    above: float
    phrases: float
    passage: float
    scrap: float
    length: float
    named: float
    shared: float
    paired: float
    around: float
    paragraph: float
    number: float = 0.0
    no_number: float = 0.0
    date: float = 0.0
    no_date: float = 0.0
    name: float = 0.0
    no_name: float = 0.0
    told: float = 0.0
    untold: float = 0.0


_GROUPS: Mapping[str, tuple[str, str]] = {
    "number": ("number", "no_number"),
    "date": ("date", "no_date"),
    "person": ("name", "no_name"),
    "place": ("name", "no_name"),
    "name": ("told", "untold"),
    "reason": ("told", "untold"),
}


class Gate(NamedTuple):
    """The values that decide whether pages answer: signals of the best sentence, and the maximum over all sentences.

    `score` is a tenth of the best sentence's score.
    """

    phrases: float
    named: float
    shared: float
    paired: float
    around: float
    paragraph: float
    any_passage: float
    any_shared: float
    any_around: float
    any_paragraph: float
    score: float


# Fitted by `python -m bench.fit_languages`: the weights by a softmax over the sentences of some pages, the gate by a
# logistic regression over pages that answer and others.
WEIGHTS = Signals(
    own=6.3,
    covered=3.9,
    beside=3.4,
    above=7.2,
    phrases=0.4,
    passage=8.9,
    scrap=-2.0,
    length=-0.3,
    named=0.6,
    shared=5.1,
    paired=-0.7,
    around=4.9,
    paragraph=16.6,
    number=1.1,
    no_number=-1.2,
    date=1.2,
    no_date=-0.9,
    name=0.5,
    no_name=-1.3,
    told=0.6,
    untold=-0.2,
)
THAI = Signals(
    own=5.6,
    covered=2.3,
    beside=2.5,
    above=-4.8,
    phrases=2.9,
    passage=7.6,
    scrap=-2.0,
    length=1.3,
    named=1.6,
    shared=1.2,
    paired=-1.4,
    around=7.7,
    paragraph=6.3,
    number=0.1,
    no_number=-0.1,
    date=2.6,
    no_date=-2.4,
    name=0.0,
    no_name=0.0,
    told=0.8,
    untold=-0.6,
)
"""For Thai, whose sentences are clauses cut at spaces. `scrap` is set by hand: no fitted page has rows or captions."""

GATE = Gate(
    phrases=3.8,
    named=1.8,
    shared=-1.4,
    paired=3.8,
    around=2.5,
    paragraph=5.9,
    any_passage=10.0,
    any_shared=0.4,
    any_around=2.6,
    any_paragraph=5.4,
    score=3.1,
)
BIASES: Mapping[str, float] = {
    "ar": -9.1,
    "de": -7.7,
    "el": -8.7,
    "es": -9.7,
    "hi": -9.5,
    "ja": -5.8,
    "ko": -5.8,
    "ro": -9.6,
    "ru": -8.2,
    "th": -11.4,
    "tr": -8.4,
    "vi": -13.7,
    "zh": -5.8,
}
BIAS = -9.0
"""The bias of languages without questions to fit on. Japanese and Korean, also in bigrams, have the bias of Chinese."""

ANSWERED = -0.8
"""The least log odds of the best sentence that counts as an answer: a needless hedge is worse than a missing one."""


def weights(language: str) -> Signals:
    """The weight of each signal in a language."""
    return THAI if language == "th" else WEIGHTS


def signals(kind: str | None, features: Sequence[Features], alike: Sequence[Likeness]) -> list[Signals]:
    """The signals of each sentence; `kind` is the name of the kind that the question asks for."""
    return [_signals(kind, one, like) for one, like in zip(features, alike, strict=True)]


def _signals(kind: str | None, one: Features, like: Likeness) -> Signals:
    given = {_GROUPS[kind][one.kind < 0]: 1.0} if kind else {}
    return Signals(
        own=one.own,
        covered=one.covered,
        beside=one.beside,
        above=one.above,
        phrases=one.phrases,
        passage=one.passage,
        scrap=one.scrap,
        length=one.length,
        named=one.named,
        shared=like.shared,
        paired=like.paired,
        around=like.around,
        paragraph=like.paragraph,
        **given,
    )


def score(one: Signals, weighed: Signals) -> float:
    """The score of a sentence as the answer, relative to the other sentences of its pages."""
    return _weighted_sum(one, weighed)


def _weighted_sum(values: Iterable[float], weights: Iterable[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True))


def gate_values(every: Sequence[Signals], best: Signals, score: float) -> Gate:
    """The values of the gate, from the signals of all sentences and of the best, and the score of the best."""
    return Gate(
        phrases=best.phrases,
        named=best.named,
        shared=best.shared,
        paired=best.paired,
        around=best.around,
        paragraph=best.paragraph,
        any_passage=max(one.passage for one in every),
        any_shared=max(one.shared for one in every),
        any_around=max(one.around for one in every),
        any_paragraph=max(one.paragraph for one in every),
        score=score / 10,
    )


def answers(language: str, values: Gate) -> bool:
    """Whether the best sentence probably answers the question."""
    return _weighted_sum(values, GATE) + BIASES.get(language, BIAS) >= ANSWERED
