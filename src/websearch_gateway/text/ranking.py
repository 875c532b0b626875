"""Orders the sentences of some pages as answers to a question, and decides whether the best probably answers it.

In English the vectors of words help, in other languages runs of letters. The numbers were fitted on data; change them
with `make bench-questions` and `make bench-languages` before and after.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from websearch_gateway.text.candidates import PRONOUN, Candidate, Features, Paragraph, Question
from websearch_gateway.text.passages import bm25, inverse_document_frequency, saturated
from websearch_gateway.text.tokens import STOP_WORDS, UNSPACED, fold, stems, tokens_of_each, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]
    """Turns texts into unit vectors, one row each; a text without known words becomes the zero vector."""


class Ranked(NamedTuple):
    """The indices of the sentences, best first, and their scores; whether the best probably answers the question.

    `given` are the indices of the sentences with a thing of the kind that the question asks for.
    """

    order: Sequence[int]
    scores: Mapping[int, float]
    is_answer: bool
    given: frozenset[int] = frozenset()


def rank(question: Question, found: Sequence[Candidate], encode: Encode) -> Ranked:
    """The sentences that could answer a question, best first."""
    features = question.features(found)
    if question.language != "en":
        ranked = ranked_by_letters(question, found, features)
    elif order := by_words(features):
        ranked = _beside_best(rerank(question, found, features, order, encode), found)
    else:
        return Ranked((), {}, False)
    given = frozenset(at for at, one in enumerate(features) if one.kind > 0)
    has_none = question.kind is not None and question.kind.name in _ALWAYS_FOUND and not given
    return ranked._replace(is_answer=ranked.is_answer and not has_none, given=given)


_OWN, _COVERED, _BESIDE, _PHRASES, _PASSAGE = 8.7, 9.3, 5.9, 2.4, 12.1
_KIND, _OTHER_KIND, _LENGTH, _NAMED, _SCRAP = 0.9, -1.5, -4.0, 0.5, -1.0

BESIDE_BEST, AFTER_BEST = 1.0, 1.0
"""The bonus of the score for a sentence of the best one's paragraph, and a further one for the sentence right after."""


def by_words(features: Sequence[Features]) -> list[int]:
    """The indices of English sentences that could answer, best first, by their words alone."""
    # Context alone is enough only if the sentence has the kind of thing asked for: "He died there in 1912."
    fit = [at for at, one in enumerate(features) if one.own > 0 or one.kind > 0]
    return sorted(fit, key=lambda at: -_score(features[at]))


def _beside_best(ranked: Ranked, found: Sequence[Candidate]) -> Ranked:
    """The ranking with a bonus for the best sentence's paragraph, which often has the rest of the answer."""
    best = found[ranked.order[0]]
    scores = dict(ranked.scores)
    for at in ranked.order[1:]:
        one = found[at]
        if one.paragraph is best.paragraph:
            follows = one.order == (best.order[0], best.order[1] + 1)
            scores[at] = min(scores[ranked.order[0]], scores[at] + BESIDE_BEST + AFTER_BEST * follows)
    return ranked._replace(order=sorted(ranked.order, key=lambda at: -scores[at]), scores=scores)


def _score(one: Features) -> float:
    """The score of a sentence as the answer in English, relative to the other sentences of its pages."""
    kind = _KIND if one.kind > 0 else _OTHER_KIND if one.kind < 0 else 0.0
    return (
        _OWN * one.own
        + _COVERED * one.covered
        + _BESIDE * one.beside
        + _PHRASES * one.phrases
        + _PASSAGE * one.passage
        + _LENGTH * one.length
        + _NAMED * one.named
        + _SCRAP * one.scrap
        + kind
    )


RERANKED = 24
"""The most sentences that are reordered."""

_NEAR = 50
"""Characters on each side of a possible answer in which words of the question count as near it."""

_LONGEST_PARAGRAPH = 2_000


@dataclass(frozen=True, slots=True)
class Signals:
    """How well a sentence answers a question: the shares of `Features`, and further ones from 0 to 1.

    Attributes:
        previous, following: the words of the question that the sentence lacks, but the one before or after it in its
            paragraph has.
        pronoun: 1 if it begins with a pronoun.
        carried: `previous` if it begins with a pronoun, else 0.
        resumed: `following` if the next sentence begins with a pronoun, else 0.
        paragraph: the BM25 score of its paragraph.
        kind_covered, kind_near, kind_alike: 0 without a thing of the kind that the question asks for; else `covered`,
            the words of the question near such a thing, and `alike`.
        alike: the words of the question that the sentence has, also by similar words.
        alike_before: further ones that the sentence before it has.
        cosine, paragraph_cosine: the similarity of the whole question to the sentence, and to its paragraph.
    """

    own: float
    covered: float
    above: float
    phrases: float
    passage: float
    kind: float
    length: float
    named: float
    previous: float
    following: float
    pronoun: float
    carried: float
    resumed: float
    paragraph: float
    kind_covered: float
    kind_near: float
    kind_alike: float
    alike: float
    alike_before: float
    cosine: float
    paragraph_cosine: float


# Fitted by `python -m bench.fit_quotes`: the weights by a softmax over the sentences of some pages, the gate by a
# logistic regression over pages that answer and others.
WEIGHTS: Mapping[str, float] = {
    "own": 1.0,
    "covered": 1.6,
    "above": 9.7,
    "phrases": 2.8,
    "passage": 4.3,
    "kind": 1.2,
    "length": -1.1,
    "named": 0.6,
    "previous": 2.3,
    "following": 1.7,
    "pronoun": 0.4,
    "carried": 2.3,
    "resumed": 2.9,
    "paragraph": 1.9,
    "kind_covered": -4.2,
    "kind_near": 2.4,
    "kind_alike": 2.1,
    "alike": 8.0,
    "alike_before": 2.2,
    "cosine": 2.7,
    "paragraph_cosine": 6.7,
}
SCRAP = -1.0
"""The weight of a row, caption or dateline, set by hand: the fitted pages have none."""

GATE: Mapping[str, float] = {
    "covered": 2.1,
    "phrases": 4.2,
    "named": 1.5,
    "paragraph": 4.1,
    "alike": 2.6,
    "alike_before": 5.3,
    "cosine": 1.8,
    "paragraph_cosine": 2.4,
    "kindless": -0.8,
    "length": -3.8,
    "any_above": 9.5,
    "any_alike": 5.0,
    "any_cosine": 8.4,
    "any_passage": 4.2,
    "any_paragraph_cosine": 3.0,
    "any_reached": -4.7,
    "found": -1.2,
    "bias": -4.3,
}
ANSWERED = -0.4
"""The least log odds of the best sentence that counts as an answer: a needless hedge is worse than a missing one."""


def rerank(
    question: Question, found: Sequence[Candidate], features: Sequence[Features], order: Sequence[int], encode: Encode
) -> Ranked:
    """The first RERANKED sentences of `order`, which are indices of `found` and not empty, in a better order."""
    top = order[:RERANKED]
    every = dict(zip(top, signals(question, found, features, top, encode), strict=True))
    scores = {
        at: sum(weight * getattr(one, name) for name, weight in WEIGHTS.items()) + SCRAP * features[at].scrap
        for at, one in every.items()
    }
    best = sorted(top, key=lambda at: -scores[at])
    values = gate_values(list(every.values()), every[best[0]], len(found))
    return Ranked(best, scores, sum(GATE[name] * value for name, value in values.items()) >= ANSWERED)


def signals(
    question: Question, found: Sequence[Candidate], features: Sequence[Features], top: Sequence[int], encode: Encode
) -> list[Signals]:
    """The signals of the sentences `top`, indices of `found`."""
    rarity = inverse_document_frequency(question.terms, [dict.fromkeys(one.words, 1) for one in found])
    whole = sum(rarity.values()) or 1.0
    paragraphs = list(dict.fromkeys(one.paragraph for one in found))
    scores = dict(zip(paragraphs, bm25(question.terms, [one.tokens for one in paragraphs]), strict=True))
    sentences = [found[at] for at in top]
    near, meaning = _near_kind(question, sentences, rarity), _meaning(question, sentences, rarity, encode)
    answered = []
    for at, close, (alike, before, cosine, around) in zip(top, near, meaning, strict=True):
        one, its = found[at], features[at]
        previous, following = _beside(one, rarity, whole)
        pronoun = float(bool(PRONOUN.match(one.text)))
        answered.append(
            Signals(
                own=its.own,
                covered=its.covered,
                above=its.above,
                phrases=its.phrases,
                passage=its.passage,
                kind=its.kind,
                length=its.length,
                named=its.named,
                previous=previous,
                following=following,
                pronoun=pronoun,
                carried=pronoun * previous,
                resumed=following if PRONOUN.match(one.after) else 0.0,
                paragraph=scores[one.paragraph],
                kind_covered=0.0 if close is None else its.covered,
                kind_near=(close or 0.0) / whole,
                kind_alike=0.0 if close is None else alike,
                alike=alike,
                alike_before=before,
                cosine=cosine,
                paragraph_cosine=around,
            )
        )
    return answered


def _beside(one: Candidate, rarity: Mapping[str, float], whole: float) -> tuple[float, float]:
    """`previous` and `following`, as in `Signals`."""
    missing = frozenset(rarity).difference(one.words)
    before, after = (sum(rarity[term] for term in missing & near) for near in (one.previous, one.following))
    return before / whole, after / whole


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


def gate_values(every: Sequence[Signals], best: Signals, found: int) -> Mapping[str, float]:
    """The values of the gate: signals of the best sentence, and the maximum over all sentences.

    In a longer sentence, and in more sentences, more words of the question occur by chance. So `length` and `found`,
    which grows with the number of all sentences, count against an answer.
    """
    return {
        "covered": best.covered,
        "phrases": best.phrases,
        "named": best.named,
        "paragraph": best.paragraph,
        "alike": best.alike,
        "alike_before": best.alike_before,
        "cosine": best.cosine,
        "paragraph_cosine": best.paragraph_cosine,
        "kindless": float(best.kind < 0),
        "length": best.length,
        "any_above": max(one.above for one in every),
        "any_alike": max(one.alike + one.alike_before for one in every),
        "any_cosine": max(one.cosine for one in every),
        "any_passage": max(one.passage for one in every),
        "any_paragraph_cosine": max(one.paragraph_cosine for one in every),
        "any_reached": max(one.covered + one.previous + one.following + one.above for one in every),
        "found": math.log1p(found),
        "bias": 1.0,
    }


_UNRELATED = 0.3
"""The cosine that the vectors of unrelated words may have."""

_UNRELATED_SPELLING = 0.4
"""The share of their runs of letters that unrelated words may have in common."""

_RUN = 3
_SHORTEST = 4


def content_words(text: str) -> list[str]:
    """The distinct words of a text without stop words, in order."""
    return [word for word in dict.fromkeys(words(text)) if word not in STOP_WORDS]


def word_likeness(asked: Sequence[str], vocabulary: Sequence[str], encode: Encode) -> NDArray[np.float32]:
    """The likeness of words from 0 to 1, with a row for each word of `asked` and a column for each of `vocabulary`.

    It is 1 for the same stem. Vectors find words with the same meaning, runs of letters find other spellings of a name.
    """
    import numpy as np

    cosines = encode(asked) @ encode(vocabulary).T
    alike = np.maximum(_beyond(cosines, _UNRELATED), _beyond(_spelling(asked, vocabulary), _UNRELATED_SPELLING))
    same = np.array(stems(asked))[:, None] == np.array(stems(vocabulary))
    return np.where(same, np.float32(1), alike)


def _beyond(likeness: NDArray[np.float32], unrelated: float) -> NDArray[np.float32]:
    return ((likeness - unrelated) / (1 - unrelated)).clip(0, 1)


def _spelling(asked: Sequence[str], vocabulary: Sequence[str]) -> NDArray[np.float32]:
    """The likeness by spelling: twice the number of common runs of letters, divided by the number of all runs."""
    import numpy as np

    others = [_runs(word) for word in vocabulary]
    likeness = np.zeros((len(asked), len(vocabulary)), dtype=np.float32)
    for row, word in zip(likeness, asked, strict=True):
        if len(word) >= _SHORTEST:
            own = _runs(word)
            row[:] = [2 * len(own & other) / (len(own) + len(other)) for other in others]
    return likeness


def _runs(word: str) -> frozenset[str]:
    marked = f"^{word}$"
    return frozenset(marked[start : start + _RUN] for start in range(len(marked) - _RUN + 1))


_ALWAYS_FOUND = frozenset(("number", "date"))
"""Kinds whose patterns miss hardly any answer."""


def ranked_by_letters(question: Question, found: Sequence[Candidate], features: Sequence[Features]) -> Ranked:
    """The sentences that share letters with the question, best first, and whether the best probably answers it."""
    alike = likeness(question.text, found)
    every = letter_signals(question.kind.name if question.kind else None, features, alike)
    weighed = weights(question.language)
    scores = {at: score(one, weighed) for at, one in enumerate(every)}
    order = sorted((at for at in scores if alike[at].shared > 0), key=lambda at: -scores[at])
    if not order:
        return Ranked((), scores, False)
    values = letter_gate_values(every, every[order[0]], scores[order[0]])
    return Ranked(order, scores, answers(question.language, values))


class LetterSignals(NamedTuple):
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
LETTER_WEIGHTS = LetterSignals(
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
THAI = LetterSignals(
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

LETTER_GATE = Gate(
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

LETTERS_ANSWERED = -0.6
"""The least log odds of the best sentence that counts as an answer: a needless hedge is worse than a missing one."""


def weights(language: str) -> LetterSignals:
    """The weight of each signal in a language."""
    return THAI if language == "th" else LETTER_WEIGHTS


def letter_signals(kind: str | None, features: Sequence[Features], alike: Sequence[Likeness]) -> list[LetterSignals]:
    """The signals of each sentence; `kind` is the name of the kind that the question asks for."""
    return [_signals(kind, one, like) for one, like in zip(features, alike, strict=True)]


def _signals(kind: str | None, one: Features, like: Likeness) -> LetterSignals:
    given = {_GROUPS[kind][one.kind < 0]: 1.0} if kind else {}
    return LetterSignals(
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


def score(one: LetterSignals, weighed: LetterSignals) -> float:
    """The score of a sentence as the answer, relative to the other sentences of its pages."""
    return _weighted_sum(one, weighed)


def _weighted_sum(values: Iterable[float], weights: Iterable[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True))


def letter_gate_values(every: Sequence[LetterSignals], best: LetterSignals, score: float) -> Gate:
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
    return _weighted_sum(values, LETTER_GATE) + BIASES.get(language, BIAS) >= ANSWERED


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
