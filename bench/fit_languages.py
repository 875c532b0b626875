"""Fit the numbers of `text/multilingual.py`: `python -m bench.fit_languages FILE`.

FILE is that of `bench.languages`. Prints for each language how often the best sentence, and one of the best four, holds
the known answer, how many questions with an answer are hedged and how many without one are not: first on the articles
of the fit, then on articles that were left out of it. The last lines are the numbers fitted on all.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.fit_quotes import Numbers, fit_ranking
from bench.quotes import markdown_of
from websearch_gateway.text.candidates import Document, Question, candidates
from websearch_gateway.text.ranking import LETTERS_ANSWERED as ANSWERED
from websearch_gateway.text.ranking import Gate, likeness
from websearch_gateway.text.ranking import LetterSignals as Signals
from websearch_gateway.text.ranking import letter_gate_values as gate_values
from websearch_gateway.text.ranking import letter_signals as signals

FOLDS, OTHERS, MANY = 6, 4, 4
HELD = 0.5
"""The strength of the regularisation that keeps the bias of each language near the common one."""


@dataclass
class Case:
    """The signals of the sentences of some pages, and which of them hold the known answer; `own` if a page is right."""

    language: str
    article: int
    own: bool
    sentences: list[Signals]
    right: Numbers

    @property
    def matrix(self) -> Numbers:
        """A row for each sentence."""
        return np.array(self.sentences, dtype=np.float64)


@dataclass
class Fitted:
    """The weights for Thai and for the other languages; the gate, and the bias of each language."""

    thai: Numbers
    others: Numbers
    gate: Numbers
    biases: dict[str, float]

    def scores(self, case: Case) -> Numbers:
        """The score of each sentence."""
        return case.matrix @ (self.thai if case.language == "th" else self.others)

    def odds(self, case: Case) -> float:
        """The log odds that the best sentence answers."""
        return float(_gate(case, self.scores(case)) @ self.gate) + self.biases[case.language]


def cases(data: dict[str, list[dict[str, Any]]]) -> Iterator[Case]:
    """Two cases for each question: over the page of its article and four others, and over those four alone."""
    for language, articles in data.items():
        chance = random.Random(1)
        documents = [Document(one["title"].replace("_", " "), markdown_of(one)) for one in articles]
        for number, article in enumerate(articles):
            for asked in (one for part in article["paragraphs"] for one in part["questions"] if one["answers"]):
                others = chance.sample([at for at in range(len(articles)) if at != number], OTHERS)
                for own, pages in ((True, [number, *others]), (False, others)):
                    yield _case(language, number, own, asked, [documents[at] for at in pages])


def _case(language: str, article: int, own: bool, asked: dict[str, Any], documents: Sequence[Document]) -> Case:
    question = Question.of(asked["q"])
    found = candidates(question.terms, question.language, documents)
    kind = question.kind.name if question.kind else None
    every = signals(kind, question.features(found), likeness(question.text, found))
    right = np.array([float(any(answer in one.text for answer in asked["answers"])) for one in found])
    return Case(language, article, own, every, right)


def fit(every: Sequence[Case]) -> Fitted:
    """The numbers fitted on some cases."""
    usable = [case for case in every if case.own and case.right.any()]
    thai, others = (fit_ranking([case for case in usable if (case.language == "th") is one]) for one in (True, False))
    fitted = Fitted(thai, others, np.zeros(len(Gate._fields)), {})
    judged = [case for case in every if case.sentences]
    languages = list(dict.fromkeys(case.language for case in judged))
    spoken = np.array([[float(case.language == one) for one in (*languages, case.language)] for case in judged])
    values = np.array([_gate(case, fitted.scores(case)) for case in judged])
    weights = _logistic(np.concatenate([values, spoken], 1), np.array([float(case.own) for case in judged]))
    fitted.gate, common = weights[: values.shape[1]], weights[-1]
    fitted.biases = dict(zip(languages, (weights[values.shape[1] : -1] + common).tolist(), strict=True))
    return fitted


def _gate(case: Case, scores: Numbers) -> Numbers:
    best = int(scores.argmax())
    return np.array(gate_values(case.sentences, case.sentences[best], float(scores[best])))


def _logistic(values: Numbers, answered: Numbers) -> Numbers:
    """Logistic regression by Newton's method; the last column of `values` is 1."""
    weights = np.zeros(values.shape[1])
    held = np.full(len(weights), HELD)
    held[-1] = 0.001
    for _ in range(25):
        likely = 1 / (1 + np.exp(-values @ weights))
        bent = (values * (likely * (1 - likely))[:, None]).T @ values + np.diag(held)
        weights += np.linalg.solve(bent, values.T @ (answered - likely) - held * weights)
    return weights


def figures(fitted: Fitted, every: Sequence[Case]) -> Numbers:
    """Shares of own questions: right first, right among the best, hedged; of foreign questions: not hedged."""
    own = [case for case in every if case.own]
    ranks = [_rank(fitted, case) for case in own]
    hedged = [not case.sentences or fitted.odds(case) < ANSWERED for case in own]
    strange = [case for case in every if not case.own]
    answered = [bool(case.sentences) and fitted.odds(case) >= ANSWERED for case in strange]
    return np.array([sum(rank < 1 for rank in ranks), sum(rank < MANY for rank in ranks), sum(hedged), sum(answered)])


def _rank(fitted: Fitted, case: Case) -> int:
    """The rank from 0 of the first right sentence."""
    places = np.flatnonzero(case.right[np.argsort(-fitted.scores(case))]) if case.sentences else []
    return int(places[0]) if len(places) else MANY


def main() -> None:
    """Print the figures of both kinds, then the numbers."""
    every = list(cases(json.loads(gzip.decompress(Path(sys.argv[1]).read_bytes()))))
    fitted = fit(every)
    left: dict[str, Numbers] = {}
    for fold in range(FOLDS):
        others = fit([case for case in every if case.article % FOLDS != fold])
        for language in fitted.biases:
            out = [case for case in every if case.language == language and case.article % FOLDS == fold]
            left[language] = left.get(language, np.zeros(4)) + figures(others, out)
    print(f"{'':<4}{'right first':>22}{'among four':>22}{'own hedged':>22}{'strangers answered':>22}")
    for language in fitted.biases:
        spoken = [case for case in every if case.language == language]
        asked = sum(case.own for case in spoken)
        pairs = zip(figures(fitted, spoken) / asked, left[language] / asked, strict=True)
        print(f"{language:<4}" + "".join(f"{inside:>10.3f}, left {out:.3f}" for inside, out in pairs))
    for name, numbers in (("WEIGHTS", fitted.others), ("THAI", fitted.thai)):
        print(name, Signals(*numbers.round(1).tolist()))
    print(Gate(*fitted.gate.round(1).tolist()), {name: round(bias, 1) for name, bias in fitted.biases.items()})


if __name__ == "__main__":
    main()
