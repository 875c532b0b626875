"""Orders the sentences of some pages as answers to a question, and decides whether the best probably answers it.

One linear score and one gate serve all languages. Where the question and a page say the same in other forms, runs of
letters find it; in English the vectors of words find synonyms as well. `python -m bench.fit_quotes` fits the numbers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from websearch_gateway.text.answer_kinds import Kind, asked_for
from websearch_gateway.text.candidates import Candidate, Paragraph
from websearch_gateway.text.passages import bm25, inverse_document_frequency, saturated
from websearch_gateway.text.tokens import STOP_WORDS, UNSPACED, language_of, query_terms, stems, tokens_of_each, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]
    """Turns texts into unit vectors, one row each; a text without known words becomes the zero vector."""

COMPARED = 24
"""The most sentences whose vectors are compared."""

WITH_VECTORS = frozenset(("en",))
"""The languages whose words have vectors."""

_ALWAYS_FOUND = frozenset(("number", "date"))
"""Kinds whose patterns miss hardly any answer."""


class Ranked(NamedTuple):
    """The indices of the sentences, best first, with scores; whether the best is near the question, and answers it.

    `given` are the indices of the sentences with a thing of the kind that the question asks for.
    """

    order: Sequence[int]
    scores: Mapping[int, float]
    is_near: bool
    is_answer: bool
    given: frozenset[int]


_NAMED = re.compile(r"(?<=\w )[A-ZÀ-ÞА-ЯΑ-Ω][^\W_]+|\b\d{2,}\b")
"""Names and numbers: capitalised words other than the first, and digits."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question: its words, its pairs of words, and the kind of thing that would answer it.

    `names` are the tokens of its names and numbers. `said` are its words, which cannot be the answer; see
    `Kind.said_in`.
    """

    text: str
    language: str
    terms: tuple[str, ...]
    phrases: frozenset[tuple[str, str]]
    kind: Kind | None
    names: frozenset[str]
    said: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Question:
        """Read a question in any of the languages."""
        language = language_of(text)
        pairs = frozenset(pairwise(tokens_of_each([text], language)[0]))
        names = frozenset(query_terms(" ".join(_NAMED.findall(text)), language))
        kind = asked_for(text, language)
        said = kind.said_in(text) if kind else frozenset[str]()
        return cls(text, language, tuple(query_terms(text, language)), pairs, kind, names, said)


class Signals(NamedTuple):
    """How well a sentence answers a question: shares from 0 to 1, in which rarer words weigh more.

    Attributes:
        own: its BM25 score.
        above: the words of the question that it lacks, but the headings have.
        phrases: the pairs of neighbouring words of the question that it has.
        passage: the score of its passage.
        scrap: 1 for a table row, a caption or a dateline.
        length: grows with the number of its words.
        named: the names and numbers of the question that are in it, its neighbours or the headings; 1 without any.
        shared: the runs of letters of the question that it has, see `runs`.
        around: the BM25 score, by runs, of the sentence together with those around it.
        paragraph: the BM25 score of its paragraph by runs.
        number, no_number: 1 if the question asks for a number, and the sentence has one, or none. The same for dates,
            for names, and for what words such as "called" and "because" tell.
        alike: the words of the question that the sentence has, also by similar words.
        alike_before: further ones that the sentence before it has.
        cosine, paragraph_cosine: the similarity of the whole question to the sentence, and to its paragraph.
        kind_near, kind_alike, kind_covered: 0 without a thing of the kind that the question asks for; else the words
            of the question near such a thing, `alike`, and the words that the sentence has.
    """

    own: float
    above: float
    phrases: float
    passage: float
    scrap: float
    length: float
    named: float
    shared: float
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
    alike: float = 0.0
    alike_before: float = 0.0
    cosine: float = 0.0
    paragraph_cosine: float = 0.0
    kind_near: float = 0.0
    kind_alike: float = 0.0
    kind_covered: float = 0.0


# Fitted by a softmax over the sentences of some pages; no fitted page has rows or captions, so `scrap` is set by hand.
WEIGHTS = Signals(
    own=5.5,
    above=6.0,
    phrases=1.7,
    passage=6.7,
    scrap=-2.0,
    length=0.3,
    named=1.0,
    shared=2.9,
    around=6.0,
    paragraph=7.2,
    number=1.2,
    no_number=-1.7,
    date=1.1,
    no_date=-1.0,
    name=0.5,
    no_name=-1.7,
    told=0.8,
    untold=-0.6,
    alike=3.5,
    alike_before=2.7,
    cosine=2.1,
    paragraph_cosine=4.3,
    kind_near=1.8,
    kind_alike=4.8,
    kind_covered=-7.2,
)


class Gate(NamedTuple):
    """What decides whether the best sentence probably answers: six of its signals, and how many sentences there are.

    In more sentences more words of the question occur by chance, so `found`, which grows with their number, counts
    against an answer.
    """

    passage: float
    paragraph: float
    named: float
    phrases: float
    shared: float
    cosine: float
    found: float


# Fitted by a logistic regression over pages that answer and others.
GATE = Gate(passage=12.5, paragraph=14.5, named=2.1, phrases=4.2, shared=2.4, cosine=12.2, found=-0.6)
BIAS = -4.5
BIASES: Mapping[str, float] = {"en": -10.8, "th": -5.8, "vi": -6.4}
"""The bias where it is another one: English has vectors; the short tokens of Thai and Vietnamese occur by chance."""


def rank(question: Question, found: Sequence[Candidate], encode: Encode) -> Ranked:
    """The sentences that could answer a question, best first."""
    every = signals(question, found, encode)
    scores = _beside_best(found, {at: score(one) for at, one in every.items()})
    order = sorted(scores, key=lambda at: -scores[at])
    given = frozenset(at for at, one in every.items() if has_kind(one))
    if not order:
        return Ranked(order, scores, False, False, given)
    values = gate_values(len(found), every[order[0]])
    is_answer = _weighted(values, GATE) + BIASES.get(question.language, BIAS) >= 0
    is_answer = is_answer and not lacks_kind(question, every.values())
    is_near = is_answer or reached(question, found[order[0]]) >= ENOUGH
    return Ranked(order, scores, is_near, is_answer, given)


ENOUGH = 0.28
"""The least share of the question's runs of letters that the best sentence and its context have, if it is quoted."""


def reached(question: Question, one: Candidate) -> float:
    """The share of the question's runs of letters that a sentence, its neighbours and the headings have."""
    asked = {run for term in question.terms for run in runs(term)}
    around = one.beside | one.above | frozenset(one.words)
    return len(asked.intersection(run for token in around for run in runs(token))) / max(1, len(asked))


BESIDE_BEST, AFTER_BEST = 1.0, 1.0
"""The bonus of the score for a sentence of the best one's paragraph, and a further one for the sentence right after."""


def _beside_best(found: Sequence[Candidate], scores: Mapping[int, float]) -> dict[int, float]:
    """The scores with a bonus for the best sentence's paragraph, which often has the rest of the answer."""
    more = dict(scores)
    if scores:
        best = max(scores, key=lambda at: scores[at])
        for at in scores.keys() - {best}:
            if found[at].paragraph is found[best].paragraph:
                follows = found[at].order == (found[best].order[0], found[best].order[1] + 1)
                more[at] = min(scores[best], scores[at] + BESIDE_BEST + AFTER_BEST * follows)
    return more


def score(one: Signals) -> float:
    """The score of a sentence as the answer, relative to the other sentences of its pages."""
    return _weighted(one, WEIGHTS)


def _weighted(values: Iterable[float], weights: Iterable[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True))


def signals(question: Question, found: Sequence[Candidate], encode: Encode) -> dict[int, Signals]:
    """The signals of each sentence that could answer, by its index; where words have vectors, of the first COMPARED."""
    rarity = inverse_document_frequency(question.terms, [dict.fromkeys(one.words, 1) for one in found])
    own = bm25(question.terms, [one.words for one in found])
    read = zip(found, own, _by_letters(question, found), strict=True)
    every = {at: _signals(question, rarity, *one) for at, one in enumerate(read)}
    order = sorted((at for at, one in every.items() if one.shared or has_kind(one)), key=lambda at: -score(every[at]))
    if question.language not in WITH_VECTORS:
        return {at: every[at] for at in order}
    best = order[:COMPARED]
    further = _by_vectors(question, [found[at] for at in best], rarity, encode)
    return {at: every[at]._replace(**more) for at, more in zip(best, further, strict=True)}


def _signals(
    question: Question, rarity: Mapping[str, float], one: Candidate, own: float, letters: Mapping[str, float]
) -> Signals:
    said = frozenset(one.words)
    whole = sum(rarity.values()) or 1.0
    return Signals(
        own=own,
        above=sum(rarity[term] for term in question.terms if term in one.above and term not in said) / whole,
        phrases=len(question.phrases.intersection(pairwise(one.words))) / max(1, len(question.phrases)),
        passage=one.passage,
        scrap=float(one.scrap),
        length=math.log1p(len(one.own)) / 4,
        named=len(question.names & (said | one.beside | one.above)) / len(question.names) if question.names else 1.0,
        **letters,
        **_kind_signals(question, one),
    )


_PAIRS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("number", "money", "duration"), ("number", "no_number")),
    "date": ("date", "no_date"),
    **dict.fromkeys(("person", "place", "named"), ("name", "no_name")),
    **dict.fromkeys(("name", "reason", "color"), ("told", "untold")),
}


def _kind_signals(question: Question, one: Candidate) -> dict[str, float]:
    if question.kind is None:
        return {}
    has, lacks = _PAIRS[question.kind.name]
    return {has if question.kind.found_in(one.text, question.said) else lacks: 1.0}


def has_kind(one: Signals) -> bool:
    """Whether a sentence has a thing of the kind that the question asks for."""
    return one.number + one.date + one.name + one.told > 0


def lacks_kind(question: Question, every: Iterable[Signals]) -> bool:
    """Whether the question asks for what is always recognised, and no sentence has it."""
    return question.kind is not None and question.kind.name in _ALWAYS_FOUND and not any(map(has_kind, every))


def _by_vectors(
    question: Question, top: Sequence[Candidate], rarity: Mapping[str, float], encode: Encode
) -> list[dict[str, float]]:
    """The signals from `alike` on of some sentences."""
    whole = sum(rarity.values()) or 1.0
    near, meaning = _near_kind(question, top, rarity), _meaning(question, top, rarity, encode)
    found = []
    for one, close, (alike, before, cosine, around) in zip(top, near, meaning, strict=True):
        more = {"alike": alike, "alike_before": before, "cosine": cosine, "paragraph_cosine": around}
        if close is not None:
            covered = sum(rarity[term] for term in rarity.keys() & one.words)
            more |= {"kind_near": close / whole, "kind_alike": alike, "kind_covered": covered / whole}
        found.append(more)
    return found


_NEAR = 50
"""Characters on each side of a possible answer in which words of the question count as near it."""

_LONGEST_PARAGRAPH = 2_000


def _near_kind(question: Question, top: Sequence[Candidate], rarity: Mapping[str, float]) -> list[float | None]:
    """For each sentence, the weight of the question's words near a thing of the kind it asks for; None without one."""
    kind = question.kind
    found = [kind.found_in(one.text, question.said) if kind else [] for one in top]
    pieces = [
        one.text[max(0, match.start() - _NEAR) : match.end() + _NEAR]
        for one, matches in zip(top, found, strict=True)
        for match in matches
    ]
    weights = iter([sum(rarity.get(term, 0.0) for term in frozenset(said)) for said in tokens_of_each(pieces)])
    return [max(next(weights) for _ in matches) if matches else None for matches in found]


def _meaning(
    question: Question, top: Sequence[Candidate], rarity: Mapping[str, float], encode: Encode
) -> list[tuple[float, float, float, float]]:
    """For each sentence `alike`, `alike_before`, `cosine` and `paragraph_cosine`, as in `Signals`."""
    import numpy as np

    asked = content_words(question.text)
    texts = [one.text for one in top]
    around = list(dict.fromkeys(one.paragraph for one in top))
    vectors = encode([question.text, *texts, *(one.text[:_LONGEST_PARAGRAPH] for one in around)])
    cosines = (vectors[1:] @ vectors[0]).tolist()
    of_paragraph = dict(zip(around, cosines[len(top) :], strict=True))
    said = {text: content_words(text) for text in (*texts, *(one.before for one in top))}
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys(word for one in said.values() for word in one))}
    weights = np.array([rarity.get(stem[0], 0.0) if stem else 0.0 for stem in tokens_of_each(asked)], dtype=np.float32)
    if not asked or not vocabulary:
        return [(0.0, 0.0, cosine, of_paragraph[one.paragraph]) for one, cosine in zip(top, cosines, strict=False)]
    likeness = word_likeness(asked, list(vocabulary), encode)

    def best(text: str) -> NDArray[np.float32]:
        places = [vocabulary[word] for word in said[text]]
        return likeness[:, places].max(1) if places else np.zeros(len(asked), dtype=np.float32)

    whole = float(weights.sum()) or 1.0
    found = []
    for one, cosine in zip(top, cosines, strict=False):
        own = best(one.text)
        more = np.maximum(best(one.before) - own, 0)
        found.append((float(weights @ own) / whole, float(weights @ more) / whole, cosine, of_paragraph[one.paragraph]))
    return found


_UNRELATED = 0.3
"""The cosine that the vectors of unrelated words may have."""


def content_words(text: str) -> list[str]:
    """The distinct words of a text without stop words, in order."""
    return [word for word in dict.fromkeys(words(text)) if word not in STOP_WORDS]


def word_likeness(asked: Sequence[str], vocabulary: Sequence[str], encode: Encode) -> NDArray[np.float32]:
    """The likeness of words from 0 to 1, with a row for each word of `asked` and a column for each of `vocabulary`.

    It is 1 for the same stem.
    """
    import numpy as np

    cosines = encode(asked) @ encode(vocabulary).T
    same = np.array(stems(asked))[:, None] == np.array(stems(vocabulary))
    return np.where(same, np.float32(1), ((cosines - _UNRELATED) / (1 - _UNRELATED)).clip(0, 1))


def gate_values(found: int, best: Signals) -> Gate:
    """The values of the gate, from the number of all sentences and the signals of the best."""
    return Gate(
        passage=best.passage,
        paragraph=best.paragraph,
        named=best.named,
        phrases=best.phrases,
        shared=best.shared,
        cosine=best.cosine,
        found=math.log1p(found),
    )


RUN = 4
"""The number of letters in a run; the beginning and the end of a word count as a letter."""

RUN_OF_CONSONANTS = 3
"""The same in scripts that leave out most vowels, where a root is three letters."""

AROUND = 2
"""The number of sentences before and after a sentence that count as around it."""

_HAN = re.compile("[\u3005\u3400-\u9fff]")
_CONSONANTS = re.compile("[\u0590-\u06ff]")
_PART = re.compile(f"[{UNSPACED}]")


def _by_letters(question: Question, found: Sequence[Candidate]) -> list[dict[str, float]]:
    """`shared`, `around` and `paragraph` of each sentence, as in `Signals`."""
    asked = frozenset(run for term in question.terms for run in runs(term))
    known: dict[str, tuple[list[str], int]] = {}
    counts: list[Counter[str]] = []
    lengths = []
    for one in found:
        for token in one.words:
            if token not in known:
                every = runs(token)
                known[token] = [run for run in every if run in asked], len(every)
        read = [known[token] for token in one.words]
        counts.append(Counter(run for matching, _ in read for run in matching))
        lengths.append(sum(length for _, length in read))
    rarity = inverse_document_frequency(asked, counts)
    whole = sum(rarity.values()) or 1.0
    paragraphs: dict[Paragraph, list[int]] = {}
    for at, one in enumerate(found):
        paragraphs.setdefault(one.paragraph, []).append(at)
    of_paragraph = dict(zip(paragraphs, _together(asked, counts, lengths, list(paragraphs.values())), strict=True))
    return [
        {
            "shared": sum(rarity[run] for run in count) / whole,
            "around": around,
            "paragraph": of_paragraph[one.paragraph],
        }
        for one, count, around in zip(found, counts, _together(asked, counts, lengths, _windows(found)), strict=True)
    ]


def _windows(found: Sequence[Candidate]) -> list[list[int]]:
    """For each sentence, its own index and the indices of the sentences around it."""
    places = {(one.document, *one.order): at for at, one in enumerate(found)}
    steps = range(-AROUND, AROUND + 1)
    near = [[places.get((one.document, one.order[0], one.order[1] + step)) for step in steps] for one in found]
    return [[at for at in window if at is not None] for window in near]


def _together(
    asked: Iterable[str], counts: Sequence[Counter[str]], lengths: Sequence[int], groups: Sequence[Sequence[int]]
) -> list[float]:
    """The BM25 score of each group of sentences, as one text."""
    sums: list[Counter[str]] = []
    for group in groups:
        sums.append(Counter())
        for at in group:
            sums[-1].update(counts[at])
    rarity = inverse_document_frequency(asked, sums)
    return saturated(rarity, sums, [sum(lengths[at] for at in group) for group in groups])


def runs(token: str) -> list[str]:
    """The runs of letters of a word. In a script without spaces a token is one, and so is each Han character."""
    if _PART.match(token):
        return [token, *token] if _HAN.match(token) else [token]
    size = RUN_OF_CONSONANTS if _CONSONANTS.match(token) else RUN
    bounded = f"_{token}_"
    return [bounded[at : at + size] for at in range(max(1, len(bounded) - size + 1))]
