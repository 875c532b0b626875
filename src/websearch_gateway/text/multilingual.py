"""Orders the sentences for a question in a language other than English, and decides whether the best answers it.

The numbers were fitted on data; change them with `make bench-languages` before and after.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from websearch_gateway.text.candidates import Candidate, Features, Paragraph, Question
from websearch_gateway.text.passages import inverse_document_frequency, saturated
from websearch_gateway.text.reranking import Reranked
from websearch_gateway.text.tokens import UNSPACED, fold

_ALWAYS_FOUND = frozenset(("number", "date"))
"""Kinds whose patterns miss hardly any answer."""


def ranked_by_letters(question: Question, found: Sequence[Candidate], features: Sequence[Features]) -> Reranked:
    """The sentences that share letters with the question, best first, and whether the best probably answers it."""
    alike = likeness(question.text, found)
    every = signals(question.kind.name if question.kind else None, features, alike)
    weighed = weights(question.language)
    scores = {at: score(one, weighed) for at, one in enumerate(every)}
    order = sorted((at for at in scores if alike[at].shared > 0), key=lambda at: -scores[at])
    if not order:
        return Reranked((), scores, False)
    if question.kind and question.kind.name in _ALWAYS_FOUND and not any(one.kind > 0 for one in features):
        return Reranked(order, scores, False)
    values = gate_values(every, every[order[0]], scores[order[0]])
    return Reranked(order, scores, answers(question.language, values))


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

ANSWERED = -0.6
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


RUN = 4
"""The number of letters in a run; the beginning and the end of a word count as a letter."""

RUN_OF_CONSONANTS = 3
"""The same in scripts that leave out most vowels, where a root is three letters."""

AROUND = 2
"""The number of sentences before and after a sentence that count as around it."""

_WORD = re.compile(rf"[{UNSPACED}]+|(?:[^\W_{UNSPACED}]|[\u0900-\u0963])+")
_HAN = re.compile("[\u3005\u3400-\u9fff]")
_CONSONANTS = re.compile("[\u0590-\u06ff]")


class Likeness(NamedTuple):
    """How much a sentence resembles a question: shares from 0 to 1, in which rarer runs weigh more.

    Attributes:
        shared: the runs of the question that the sentence has.
        paired: the pairs of neighbouring runs that it has.
        around: the BM25 score of the sentence together with those around it.
        paragraph: the BM25 score of its paragraph.
    """

    shared: float
    paired: float
    around: float
    paragraph: float


def likeness(question: str, found: Sequence[Candidate]) -> list[Likeness]:
    """The likeness of each sentence to the question."""
    said = list(runs(question))
    asked, pairs = dict.fromkeys(said), frozenset(pairwise(said))
    counts, lengths, paired = [], [], []
    for one in found:
        every = list(runs(one.text))
        counts.append(Counter(run for run in every if run in asked))
        lengths.append(len(every))
        paired.append(len(pairs.intersection(pairwise(every))) / max(1, len(pairs)))
    rarity = inverse_document_frequency(asked, counts)
    whole = sum(rarity.values()) or 1.0
    shared = [sum(map(rarity.__getitem__, count)) / whole for count in counts]
    around = _together(asked, counts, lengths, _windows(found))
    paragraphs: dict[Paragraph, list[int]] = {}
    for at, one in enumerate(found):
        paragraphs.setdefault(one.paragraph, []).append(at)
    scores = dict(zip(paragraphs, _together(asked, counts, lengths, list(paragraphs.values())), strict=True))
    return [Likeness(shared[at], paired[at], around[at], scores[one.paragraph]) for at, one in enumerate(found)]


def _windows(found: Sequence[Candidate]) -> list[list[int]]:
    """For each sentence, its own index and the indices of the sentences around it."""
    places = {(one.document, *one.order): at for at, one in enumerate(found)}
    steps = range(-AROUND, AROUND + 1)
    near = [[places.get((one.document, one.order[0], one.order[1] + step)) for step in steps] for one in found]
    return [[at for at in window if at is not None] for window in near]


def _together(
    asked: dict[str, None], counts: Sequence[Counter[str]], lengths: Sequence[int], groups: Sequence[Sequence[int]]
) -> list[float]:
    """The BM25 score of each group of sentences, as one text."""
    sums = [sum((counts[at] for at in group), Counter[str]()) for group in groups]
    return saturated(
        inverse_document_frequency(asked, sums), sums, [sum(lengths[at] for at in group) for group in groups]
    )


def runs(text: str) -> Iterator[str]:
    """The runs of letters of each word, in order; in scripts without spaces, runs of one (Han only), two and three."""
    for match in _WORD.finditer(fold(text)):
        word: str = match[0]
        if re.match(f"[{UNSPACED}]", word):
            for size in (1, 2, 3) if _HAN.match(word) else (2, 3):
                yield from (word[at : at + size] for at in range(len(word) - size + 1))
        else:
            size = RUN_OF_CONSONANTS if _CONSONANTS.match(word) else RUN
            bounded = f"_{word}_"
            yield from (bounded[at : at + size] for at in range(max(1, len(bounded) - size + 1)))
