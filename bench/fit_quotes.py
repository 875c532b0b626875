"""Fit the weights of `text/ranking.py`: `python -m bench.fit_quotes FILE...`.

Each FILE has the format of `bench.questions`. Prints how often the best sentence holds the known answer and how often
the gate errs, both on articles that were left out of the fit, then the weights fitted on all.
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
from websearch_gateway.embedders.local import encode
from websearch_gateway.text.candidates import Document, Question, candidates
from websearch_gateway.text.ranking import ANSWERED, RERANKED, Signals, by_words, gate_values, signals

FOLDS, OTHERS, STEPS = 6, 4, 300
LONG = 8_000
"""A page with at least this many characters is long."""

NAMES = [one.name for one in fields(Signals)]
Numbers = NDArray[np.float64]


@dataclass
class Case:
    """The signals of the first sentences of five pages, which of them hold the known answer, and how many there are."""

    article: str
    sentences: list[Signals]
    right: Numbers
    found: int
    is_long: bool

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
    top = by_words(features)[:RERANKED]
    right = np.array([float(any(answer in every[at].text for answer in answers)) for at in top])
    is_long = any(len(one.markdown) > LONG for one in documents)
    return Case(
        title.replace("_", " "),
        signals(question, every, features, top, encode) if top else [],
        right,
        len(every),
        is_long,
    )


def fit_ranking(every: Sequence[Case]) -> Numbers:
    """The weights that make a right sentence of each case most likely, by a softmax over its sentences."""
    usable = [case for case in every if case.right.any()]
    values = np.concatenate([case.matrix for case in usable])
    right = np.concatenate([case.right for case in usable])
    starts = np.cumsum([0, *(len(case.right) for case in usable[:-1])])
    owner = np.repeat(np.arange(len(usable)), [len(case.right) for case in usable])
    spread = values.std(0) + 1e-6
    scaled = (values - values.mean(0)) / spread
    weights, mean, square = (np.zeros(values.shape[1]) for _ in range(3))
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
    values = [gate_values(case.sentences, one, case.found) for case, one in zip(every, best, strict=True)]
    return np.array([list(one.values()) for one in values])


def fitted(own: Sequence[Case], strange: Sequence[Case]) -> tuple[Numbers, Numbers]:
    """The weights of the ranking and of the gate."""
    weights = fit_ranking(own)
    values = np.concatenate([gate_matrix(own, weights), gate_matrix(strange, weights)])
    return weights, fit_gate(values, np.repeat([1.0, 0.0], [len(own), len(strange)]))


@dataclass
class Errors:
    """The counts on articles that were left out of the fit."""

    own: int = 0
    first: float = 0.0
    hedged: float = 0.0
    strange: int = 0
    answered: float = 0.0

    def shown(self) -> str:
        """A line."""
        return (
            f"{self.own} questions: right sentence first {self.first / self.own:.3f}, hedged "
            f"{self.hedged / self.own:.3f}, unanswerable answered {self.answered / self.strange:.3f}"
        )


def validated(own: Sequence[Case], strange: Sequence[Case]) -> dict[bool, Errors]:
    """The errors on short and on long pages, each article judged by weights that were fitted without it."""
    titles = sorted({case.article for case in own})
    errors = {kind: Errors() for kind in sorted({case.is_long for case in own})}
    for fold in range(FOLDS):
        out = set(titles[fold::FOLDS])
        weights, gate = fitted(*([case for case in every if case.article not in out] for every in (own, strange)))
        for kind, counted in errors.items():
            left, others = (
                [case for case in every if case.article in out and case.is_long == kind] for every in (own, strange)
            )
            counted.own, counted.strange = counted.own + len(left), counted.strange + len(others)
            if not left or not others:
                continue
            counted.first += sum(case.right[(case.matrix @ weights).argmax()] for case in left)
            counted.hedged += float((gate_matrix(left, weights) @ gate < ANSWERED).sum())
            counted.answered += float((gate_matrix(others, weights) @ gate >= ANSWERED).sum())
    return errors


def _share_answers(sets: Sequence[Sequence[dict[str, Any]]]) -> None:
    """Give a question without an answer the answer of the same question in another file."""
    asked = [
        one for articles in sets for article in articles for part in article["paragraphs"] for one in part["questions"]
    ]
    known = {one["q"]: one["answers"] for one in asked if one["answers"]}
    for one in asked:
        one["answers"] = known.get(one["q"], [])


def main() -> None:
    """Print the figures on articles left out, then the weights."""
    sets = [json.loads(gzip.decompress(Path(name).read_bytes())) for name in sys.argv[1:]]
    _share_answers(sets)
    own, strange = ([case for one in sets for case in cases(one, kind)] for kind in (True, False))
    for is_long, errors in validated(own, strange).items():
        print(f"{'long' if is_long else 'short'} pages, {errors.shown()}")
    weights, gate = fitted(own, strange)
    print(dict(zip(NAMES, weights.round(1).tolist(), strict=True)))
    first = own[0]
    print(dict(zip(gate_values(first.sentences, first.sentences[0], 1), gate.round(1).tolist(), strict=True)))


if __name__ == "__main__":
    main()
