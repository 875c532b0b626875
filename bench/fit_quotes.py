"""Fit the weights of `text/retrieval/reranking.py`: `python -m bench.fit_quotes FILE...`.

Each FILE is that of `bench.questions`. Prints how often the best sentence holds the known answer and how often the gate
errs, both on articles that were left out of the fit, then the weights fitted on all.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.quotes import markdown_of
from websearch_gateway.embedders.static import encode
from websearch_gateway.text.retrieval.candidates import Document, candidates
from websearch_gateway.text.retrieval.evidence import by_words
from websearch_gateway.text.retrieval.question import Question
from websearch_gateway.text.retrieval.reranking import ANSWERED, RERANKED, Signals, gate_values, signals

FOLDS, OTHERS, STEPS = 6, 4, 300
NAMES = [one.name for one in fields(Signals)]
Numbers = NDArray[np.float64]


@dataclass
class Case:
    """The signals of the first sentences of five pages, and which of them hold the known answer."""

    article: str
    sentences: list[Signals]
    right: Numbers

    @property
    def matrix(self) -> Numbers:
        """A row for each sentence."""
        return np.array([astuple(one) for one in self.sentences])


def cases(articles: Sequence[dict[str, Any]], with_answer: bool) -> list[Case]:
    """A case for each question, over the page of its article and four others, or over five others."""
    chance, found = random.Random(1), []
    documents = [Document(one["title"].replace("_", " "), markdown_of(one)) for one in articles]
    for number, article in enumerate(articles):
        asked = [(one["q"], one["answers"]) for part in article["paragraphs"] for one in part["questions"]]
        for text, answers in asked:
            pages = chance.sample([at for at in range(len(articles)) if at != number], OTHERS + 1)
            if answers:
                pages[0] = number if with_answer else pages[0]
                found.append(_case(article["title"], text, answers, [documents[at] for at in pages]))
    return [case for case in found if case.sentences]


def _case(title: str, text: str, answers: Sequence[str], documents: Sequence[Document]) -> Case:
    question = Question.of(text)
    every = candidates(question.terms, question.language, documents)
    features = question.features(every)
    top = by_words(features)[0][:RERANKED]
    right = np.array([float(any(answer in every[at].text for answer in answers)) for at in top])
    return Case(title, signals(question, every, features, top, encode) if top else [], right)


def fit_ranking(every: Sequence[Case]) -> Numbers:
    """The weights that make a right sentence of each case most likely, by a softmax over its sentences."""
    usable = [case for case in every if case.right.any()]
    values = np.concatenate([case.matrix for case in usable])
    right = np.concatenate([case.right for case in usable])
    starts = np.cumsum([0, *(len(case.right) for case in usable[:-1])])
    owner = np.repeat(np.arange(len(usable)), [len(case.right) for case in usable])
    spread = values.std(0) + 1e-6
    scaled = (values - values.mean(0)) / spread
    weights, mean, square = (np.zeros(len(NAMES)) for _ in range(3))
    for step in range(1, STEPS + 1):
        odds = np.exp(scaled @ weights - np.maximum.reduceat(scaled @ weights, starts)[owner])
        share = odds / np.add.reduceat(odds, starts)[owner]
        wanted = odds * right / (np.add.reduceat(odds * right, starts) + 1e-12)[owner]
        slope = (scaled.T @ (wanted - share) - weights) / len(usable)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        weights += 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights / spread


def fit_gate(values: Numbers, answered: Numbers) -> Numbers:
    """Logistic regression by Newton's method; the last column of `values` is 1."""
    weights = np.zeros(values.shape[1])
    for _ in range(25):
        likely = 1 / (1 + np.exp(-values @ weights))
        bent = (values * (likely * (1 - likely))[:, None]).T @ values + 0.05 * np.eye(len(weights))
        weights += np.linalg.solve(bent, values.T @ (answered - likely) - 0.05 * weights)
    return weights


def gate_matrix(every: Sequence[Case], weights: Numbers) -> Numbers:
    """The values of the gate for each case."""
    best = [case.sentences[int((case.matrix @ weights).argmax())] for case in every]
    return np.array([list(gate_values(case.sentences, one).values()) for case, one in zip(every, best, strict=True)])


def fitted(own: Sequence[Case], strange: Sequence[Case]) -> tuple[Numbers, Numbers]:
    """The weights of the ranking and of the gate."""
    weights = fit_ranking(own)
    values = np.concatenate([gate_matrix(own, weights), gate_matrix(strange, weights)])
    return weights, fit_gate(values, np.repeat([1.0, 0.0], [len(own), len(strange)]))


def main() -> None:
    """Print the figures on articles left out, then the weights."""
    sets = [json.loads(gzip.decompress(Path(name).read_bytes())) for name in sys.argv[1:]]
    own, strange = ([case for one in sets for case in cases(one, kind)] for kind in (True, False))
    titles = sorted({case.article for case in own})
    first = hedged = answered = 0.0
    for fold in range(FOLDS):
        out = set(titles[fold::FOLDS])
        weights, gate = fitted(*([case for case in every if case.article not in out] for every in (own, strange)))
        left = [case for case in own if case.article in out]
        first += sum(case.right[(case.matrix @ weights).argmax()] for case in left)
        hedged += float((gate_matrix(left, weights) @ gate < ANSWERED).sum())
        others = [case for case in strange if case.article in out]
        answered += float((gate_matrix(others, weights) @ gate >= ANSWERED).sum())
    print(f"right sentence first {first / len(own):.3f}, hedged {hedged / len(own):.3f}, ", end="")
    print(f"strangers answered {answered / len(strange):.3f}")
    weights, gate = fitted(own, strange)
    print(dict(zip(NAMES, weights.round(1).tolist(), strict=True)))
    print(dict(zip(gate_values(own[0].sentences, own[0].sentences[0]), gate.round(1).tolist(), strict=True)))


if __name__ == "__main__":
    main()
