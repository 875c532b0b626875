"""Reorders the sentences that rank best by their words, with the vectors of their words as well. English only."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from websearch_gateway.text.candidates import PRONOUN, Candidate, Features, Question
from websearch_gateway.text.passages import bm25, inverse_document_frequency
from websearch_gateway.text.tokens import STOP_WORDS, stems, tokens_of_each, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


class Reranked(NamedTuple):
    """The indices of the sentences, best first, with their scores; and whether the best probably answers."""

    order: Sequence[int]
    scores: Mapping[int, float]
    is_answer: bool


def rerank(
    question: Question, found: Sequence[Candidate], features: Sequence[Features], order: Sequence[int], encode: Encode
) -> Reranked:
    """The first RERANKED sentences of `order`, which are indices of `found` and not empty, in a better order."""
    top = order[:RERANKED]
    every = dict(zip(top, signals(question, found, features, top, encode), strict=True))
    scores = {
        at: sum(weight * getattr(one, name) for name, weight in WEIGHTS.items()) + SCRAP * features[at].scrap
        for at, one in every.items()
    }
    best = sorted(top, key=lambda at: -scores[at])
    values = gate_values(list(every.values()), every[best[0]], len(found))
    return Reranked(best, scores, sum(GATE[name] * value for name, value in values.items()) >= ANSWERED)


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


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]
    """Turns texts into unit vectors, one row each; a text without known words becomes the zero vector."""


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
