"""The fitted weights of passages on small pages of our own: what they must reach, with vectors and without.

Each floor is what is reached today, so that a weight is noticed when it changes by half: a smaller one finds fewer
answers probable or shows more passages beside them, a larger one is surer of what does not answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from tests.evidence.labelled_questions import PAGES
from websearch_gateway.evidence import encode
from websearch_gateway.evidence.passages import ANSWERS, Cut, cut_passages, ranked, shown

SIZE = 40
"""The tokens of a passage: small, so that each page has several."""
THRESHOLD = 0.05
VECTOR_WEIGHT = 0.3


@dataclass(frozen=True)
class Scored:
    """A passage of the page that a question is about: its relevance, and whether it has the words that answer."""

    relevance: float
    answers: bool


@dataclass(frozen=True)
class Measured:
    """The passages of each question, best first."""

    of_questions: list[list[Scored]]

    @property
    def passages(self) -> list[Scored]:
        return [passage for passages in self.of_questions for passage in passages]

    def hits(self, first: int) -> int:
        """The number of questions that one of the first passages answers."""
        return sum(
            any(passage.answers for passage in passages[:first]) for passages in self.of_questions
        )

    def probable_answers(self) -> int:
        return sum(passage.answers and passage.relevance >= ANSWERS for passage in self.passages)

    def all_shown(self) -> int:
        scores = [[passage.relevance for passage in passages] for passages in self.of_questions]
        return sum(shown(each, THRESHOLD) for each in scores)

    def loss(self) -> float:
        """How much the relevance misjudges (log loss): 0 if it were 1 for what answers and 0 for all else."""
        judged = [
            passage.relevance if passage.answers else 1 - passage.relevance
            for passage in self.passages
        ]
        return -sum(map(math.log, judged))


def measured(*, with_vectors: bool) -> Measured:
    cuts = [(page, cut_passages(page.markdown, SIZE)) for page in PAGES]
    return Measured(
        [
            scored(question, answer, cut, with_vectors=with_vectors)
            for page, cut in cuts
            for question, answer in page.questions.items()
        ]
    )


def scored(question: str, answer: str, cut: Cut, *, with_vectors: bool) -> list[Scored]:
    texts = [" ".join((*passage.section_path, passage.text)) for passage in cut.passages]
    near = similarities(question, cut) if with_vectors else [None] * len(texts)
    (best,) = ranked([question], texts, [near], VECTOR_WEIGHT, len(texts))
    return [Scored(score, answer in cut.passages[place].text) for place, score in best]


def similarities(question: str, cut: Cut) -> list[float]:
    (asked,) = encode([question])
    return [max(0.0, float(vector @ asked)) for vector in encode(cut.embedded)]


@dataclass(frozen=True)
class Floors:
    first: int
    first_three: int
    probable: int
    shown: int
    loss: float


@pytest.mark.parametrize(
    ("with_vectors", "floors"),
    [(False, Floors(35, 40, 38, 70, 103.0)), (True, Floors(35, 41, 38, 60, 129.0))],
)
def test_the_passage_that_answers_is_among_the_first_and_probable(
    with_vectors: bool, floors: Floors
) -> None:
    reached = measured(with_vectors=with_vectors)
    assert reached.hits(1) >= floors.first
    assert reached.hits(3) >= floors.first_three
    assert reached.probable_answers() >= floors.probable
    assert reached.all_shown() <= floors.shown
    assert reached.loss() <= floors.loss
