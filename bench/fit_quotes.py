"""Fit the numbers of `evidence/ranking.json`: `python -m bench.fit_quotes FILE...`.

    --every N    take only every Nth question
    --seed N     draw other folds and other pages
    --cases DIR  keep there what was read of each set, so that a further fit takes seconds
    --write      store the numbers fitted on all

Each FILE has the format of `bench.questions` or of `bench.languages`; an article has one title everywhere. Prints for
each kind of page and language how often the best sentence holds the known answer, how many questions with an answer are
hedged, and how many are answered from pages of other articles: all on articles that were left out of the fit, also as
the other pages. Questions without a known answer count for the gate alone.
The last columns are those of whole answers: how often they hold the known answer, in any quote and in the first, and
how many quotes and characters they have. The last line has the numbers fitted on all.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import json
import pickle
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.quotes import ROOM, markdown_of
from websearch_gateway.evidence import ranking as shipped
from websearch_gateway.evidence import sentences
from websearch_gateway.evidence.embedders.local import encode
from websearch_gateway.evidence.ranking import (
    Question,
    Ranked,
    Signals,
    fitted,
    gate_of,
    gate_values,
    has_kind,
    signals,
)
from websearch_gateway.evidence.selection import MOST_SENTENCES, Selection, choose, joined
from websearch_gateway.evidence.sentences import Candidate, Document, candidates

FOLDS, OTHERS, STEPS = 3, 4, 200
LONG = 8_000
"""A page with at least this many characters is long."""

ENGLISH = 3.0
"""The weight of an English question: the other languages have eleven times as many."""

HELD = 0.5
"""The strength of the regularisation of the gate."""

LEAST_ENGLISH, LEAST = -0.1, -0.45
"""The log odds that count as an answer, in English and elsewhere; the printed biases are those for 0."""

Numbers = NDArray[np.float64]


@dataclass
class Case:
    """The signals of the sentences of some pages, and which of them hold the known answer; `own` if a page is right.

    `matrix` has a row for each sentence with a column for each weight of the ranking. `gates` are the values of the
    gate for each sentence that some ranking took for the best one, by its row.
    """

    pages: str
    language: str
    fold: int
    own: bool
    matrix: Numbers
    right: Numbers
    is_known: bool
    is_hopeless: bool
    question: Question
    found: Sequence[Candidate]
    read: Mapping[int, Signals]
    answers: Sequence[str]
    documents: Sequence[Document]
    gates: dict[int, Numbers] = field(default_factory=dict)

    def gate(self, row: int) -> Numbers:
        """The values of the gate if the sentence of this row is the best one."""
        if row not in self.gates:
            at = list(self.read)[row]
            values = gate_values(
                self.question, self.found[at], self.read[at], self.documents, encode
            )
            self.gates[row] = _table([values], gate_of(self.language))[0]
        return self.gates[row]

    def ranked(self, ranking: Numbers) -> Ranked:
        """The sentences in the order of fitted weights; whether they answer is not decided."""
        scores = dict(zip(self.read, (self.matrix @ ranking).tolist(), strict=True))
        order = sorted(scores, key=lambda at: -scores[at])
        given = frozenset(at for at, one in self.read.items() if has_kind(one))
        return Ranked(order, scores, True, True, given)

    def holds(self, text: str) -> bool:
        """Whether a text has the known answer."""
        return any(answer in text for answer in self.answers)


def folds(sets: Sequence[Sequence[dict[str, Any]]], seed: int) -> dict[str, int]:
    """The fold of each article by its title, in all sets the same: first those of the smallest set."""
    chance, titles = random.Random(seed), dict[str, None]()
    for articles in sorted(sets, key=len):
        further = [title for title in map(_title, articles) if title not in titles]
        titles |= dict.fromkeys(chance.sample(further, len(further)))
    return {title: place % FOLDS for place, title in enumerate(titles)}


def cases(
    articles: Sequence[dict[str, Any]],
    folds: Mapping[str, int],
    every: int,
    language: str,
    seed: int,
) -> Iterator[Case]:
    """Two cases for each question: over the page of its article and four others of its fold, and over those four."""
    chance = random.Random(seed)
    fold = [folds[_title(one)] for one in articles]
    documents = [Document(_title(one), markdown_of(one)) for one in articles]
    kind = language or ("long" if any(len(one.markdown) > LONG for one in documents) else "short")
    asked = [
        (number, one["q"], one["answers"])
        for number, article in enumerate(articles)
        for part in article["paragraphs"]
        for one in part["questions"]
    ]
    for number, text, answers in asked[::every]:
        same = [at for at in range(len(articles)) if at != number and fold[at] == fold[number]]
        others = chance.sample(same, min(OTHERS, len(same)))
        for own, pages in ((True, [number, *others]), (False, others)):
            yield _case(kind, fold[number], own, text, answers, [documents[at] for at in pages])


def _case(
    kind: str,
    fold: int,
    own: bool,
    text: str,
    answers: Sequence[str],
    documents: Sequence[Document],
) -> Case:
    question = Question.of(text)
    found = candidates(question.terms, question.language, documents)
    read = signals(question, found, encode)
    right = np.array(
        [float(own and any(answer in found[at].text for answer in answers)) for at in read]
    )
    hopeless = not read or (question.kind is not None and not any(map(has_kind, read.values())))
    return Case(
        kind,
        question.language,
        fold,
        own,
        _table(read.values(), fitted().ranking),
        right,
        is_known=bool(answers),
        is_hopeless=hopeless,
        question=question,
        found=found,
        read=read,
        answers=answers,
        documents=documents,
    )


def _table(values: Iterable[Signals], names: Signals) -> Numbers:
    """A row for each sentence, and a column for each name."""
    rows = [[one.get(name, 0.0) for name in names] for one in values]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(names))


def _title(article: dict[str, Any]) -> str:
    return str(article["title"].replace("_", " "))


def fit_ranking(every: Sequence[Case]) -> Numbers:
    """The weights that make a right sentence of each case most likely, by a softmax over its sentences."""
    usable = [case for case in every if case.own and case.right.any()]
    values = np.concatenate([case.matrix for case in usable])
    right = np.concatenate([case.right for case in usable])
    starts = np.cumsum([0, *(len(case.right) for case in usable[:-1])])
    owner = np.repeat(np.arange(len(usable)), [len(case.right) for case in usable])
    counted = np.array([ENGLISH if case.language == "en" else 1.0 for case in usable])[owner]
    spread = values.std(0) + 1e-6
    scaled = (values - values.mean(0)) / spread
    weights, mean, square = (np.zeros(values.shape[1]) for _ in range(3))
    for step in range(1, STEPS + 1):
        odds = np.exp(scaled @ weights - np.maximum.reduceat(scaled @ weights, starts)[owner])
        share = odds / np.add.reduceat(odds, starts)[owner]
        wanted = odds * right / (np.add.reduceat(odds * right, starts) + 1e-12)[owner]
        slope = (scaled.T @ (counted * (wanted - share)) - weights) / len(usable)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        weights += 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    fitted_weights: Numbers = weights / spread
    return fitted_weights


@dataclass
class Fitted:
    """The fitted numbers of a gate: a weight for each value, and a bias for each language that has its own."""

    weights: Numbers
    bias: float
    biases: dict[str, float]

    @classmethod
    def fit(cls, every: Sequence[Case], ranking: Numbers, languages: Sequence[str]) -> Fitted:
        """A logistic regression by Newton's method, in which each kind of page counts as much as another.

        Args:
            languages: those with a bias of their own.
        """
        judged = [case for case in every if not case.is_hopeless]
        sizes = Counter(case.pages for case in judged)
        counted = np.array([len(judged) / len(sizes) / sizes[case.pages] for case in judged])
        spoken = [[float(case.language == one) for one in languages] for case in judged]
        read = np.array(
            [
                [*values_of(case, ranking), *own, 1.0]
                for case, own in zip(judged, spoken, strict=True)
            ]
        )
        count = read.shape[1] - len(languages) - 1
        answered = np.array([float(case.own) for case in judged])
        spread = read.std(0)
        spread[count:] = 1.0
        read /= spread
        weights = np.zeros(read.shape[1])
        held = np.array([HELD] * (len(weights) - 1) + [0.001])
        for _ in range(25):
            likely = 1 / (1 + np.exp(-read @ weights))
            bent = (read * (counted * likely * (1 - likely))[:, None]).T @ read + np.diag(held)
            weights += np.linalg.solve(
                bent, read.T @ (counted * (answered - likely)) - held * weights
            )
        weights /= spread
        least = LEAST if languages else LEAST_ENGLISH
        own = zip(languages, (weights[count:-1] + weights[-1] - least).tolist(), strict=True)
        return cls(weights[:count], float(weights[-1]) - least, dict(own))

    def answers(self, case: Case, ranking: Numbers) -> bool:
        """Whether the best sentence of a case answers."""
        if case.is_hopeless:
            return False
        return (
            float(values_of(case, ranking) @ self.weights)
            + self.biases.get(case.language, self.bias)
            >= 0
        )


def fit_gates(every: Sequence[Case], ranking: Numbers) -> dict[bool, Fitted]:
    """The gate of English (True) and that of the other languages."""
    return {
        is_english: Fitted.fit(
            chosen, ranking, () if is_english else [one for one in fitted().biases if one != "en"]
        )
        for is_english in (True, False)
        if (chosen := [case for case in every if (case.language == "en") is is_english])
    }


def fit_choice(every: Sequence[Case], ranking: Numbers) -> Signals:
    """The weights of the chance that the next sentence answers, from the best ones until one does."""
    names = fitted().choice
    rows: list[list[float]] = []
    answered: list[float] = []
    for case in every:
        if not (case.own and case.is_known and case.read):
            continue
        selection = Selection(case.question, case.found, case.ranked(ranking), 10 * ROOM, 0)
        for _ in range(MOST_SENTENCES):
            open_places = selection.open_places()
            considered = open_places if selection.chosen else open_places[:1]
            for at in considered:
                values = selection.values(at)
                rows.append([values[name] for name in names])
                answered.append(float(case.holds(case.found[at].text)))
            if not considered or case.holds(case.found[considered[0]].text):
                break
            selection.take(considered[0])
    read, right = np.array(rows), np.array(answered)
    weights = np.zeros(len(names))
    for _ in range(25):
        likely = 1 / (1 + np.exp(-read @ weights))
        bent = (read * (likely * (1 - likely))[:, None]).T @ read + np.eye(len(names))
        weights += np.linalg.solve(bent, read.T @ (right - likely) - weights)
    return dict(zip(names, weights.round(2).tolist(), strict=True))


def quotes_of(case: Case, ranking: Numbers, choice: Signals) -> list[str]:
    """The quotes of a whole answer by fitted weights."""
    numbers = replace(fitted(), choice=choice)
    runs = choose(case.question, case.found, case.ranked(ranking), ROOM, 7, numbers)
    return [joined(run) for run in runs]


def values_of(case: Case, ranking: Numbers) -> Numbers:
    """The values of the gate for a case."""
    return case.gate(int((case.matrix @ ranking).argmax()))


def validated(every: Sequence[Case]) -> Iterator[str]:
    """A line for each kind of page: the errors of numbers that were fitted without its articles."""
    counted: dict[str, Counter[str]] = {}
    for fold in range(FOLDS):
        kept, out = (
            [case for case in every if (case.fold == fold) is left] for left in (False, True)
        )
        ranking = fit_ranking(kept)
        gates = fit_gates(kept, ranking)
        choice = fit_choice(kept, ranking)
        for case in out:
            answers = gates[case.language == "en"].answers(case, ranking)
            figures = counted.setdefault(case.pages, Counter())
            figures["own" if case.own else "strangers"] += 1
            if case.own and case.is_known:
                figures["known"] += 1
                figures["first"] += bool(len(case.right)) and bool(
                    case.right[(case.matrix @ ranking).argmax()]
                )
                quotes = quotes_of(case, ranking, choice)
                figures["gold"] += any(map(case.holds, quotes))
                figures["gold first"] += any(map(case.holds, quotes[:1]))
                figures["quotes"] += len(quotes)
                figures["characters"] += sum(map(len, quotes))
            figures["hedged"] += case.own and not answers
            figures["answered"] += answers and not case.own
    for pages, figures in counted.items():
        own, strangers, known = figures["own"], figures["strangers"], figures["known"] or 1
        yield (
            f"{pages:<10}{own:>6}{figures['first'] / known:>14.3f}{figures['hedged'] / own:>12.3f}"
            f"{figures['answered'] / strangers:>20.3f}{figures['gold'] / known:>8.3f}"
            f"{figures['gold first'] / known:>10.3f}{figures['quotes'] / known:>8.2f}"
            f"{figures['characters'] / known:>12.0f}"
        )


def main() -> None:
    """Print the figures on articles left out, then the numbers fitted on all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--every", type=int, default=1, help="take only every Nth question")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="store the numbers fitted on all")
    parser.add_argument("--cases", type=Path, help="a folder that keeps what was read of each set")
    arguments = parser.parse_args()
    # The same pages are asked about hundreds of times.
    sentences.chunk = functools.cache(sentences.chunk)  # type: ignore[attr-defined]
    read = [json.loads(gzip.decompress(path.read_bytes())) for path in arguments.files]
    sets = [
        pair for one in read for pair in (one.items() if isinstance(one, dict) else [("", one)])
    ]
    fold = folds([articles for _, articles in sets], arguments.seed)
    every: list[Case] = []
    for number, (language, articles) in enumerate(sets):
        name = f"{number}-{language}-{arguments.every}-{arguments.seed}.pickle"
        path = arguments.cases / name if arguments.cases else None
        if path and path.exists():
            every += pickle.loads(path.read_bytes())
            continue
        of_set = list(cases(articles, fold, arguments.every, language, arguments.seed))
        if path:
            path.write_bytes(pickle.dumps(of_set))
        every += of_set
    print(
        f"{'pages':<10}{'own':>6}{'right first':>14}{'hedged':>12}{'strangers answered':>20}{'gold':>8}"
        f"{'in first':>10}{'quotes':>8}{'characters':>12}"
    )
    for line in validated(every):
        print(line, flush=True)
    numbers = fitted_on(every)
    print(json.dumps(numbers))
    if arguments.write:
        path = Path(shipped.__file__).with_name(shipped.NUMBERS)
        data = json.loads(path.read_text("utf-8"))["data"]
        path.write_text(json.dumps({"data": data, **numbers}, indent=2) + "\n", "utf-8")


def fitted_on(every: Sequence[Case]) -> dict[str, Any]:
    """The content of the file of numbers, without the names of the data; as it ships where no file has the language."""
    ranking = fit_ranking(every)
    gates = fit_gates(every, ranking)
    weights = dict(zip(fitted().ranking, ranking.round(1).tolist(), strict=True))
    by_hand = {"scrap": fitted().ranking["scrap"]}
    gates_of = {"gate": fitted().gate, "english_gate": fitted().english_gate}
    bias, biases = fitted().bias, dict(fitted().biases)
    for is_english, gate in gates.items():
        names = gate_of("en" if is_english else "")
        weights_of_gate = dict(zip(names, gate.weights.round(2).tolist(), strict=True))
        gates_of["english_gate" if is_english else "gate"] = weights_of_gate
        own = {"en": gate.bias} if is_english else gate.biases
        biases |= {language: round(value, 1) for language, value in own.items()}
        if not is_english:
            bias = round(gate.bias, 1)
    return {
        "ranking": weights | by_hand,
        **gates_of,
        "bias": bias,
        "biases": biases,
        "choice": fit_choice(every, ranking),
    }


if __name__ == "__main__":
    main()
