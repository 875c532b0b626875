"""The quality of answers without a model, over five pages each: the last figures of `bench.questions`."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from websearch_gateway.answers.extractive import Findings, find_evidence
from websearch_gateway.evidence.embedders.local import encode
from websearch_gateway.evidence.sentences import Document

OTHERS = 4
ROOM = 720
LONG = 10
"""An article with at least this many paragraphs is long."""


@dataclass
class Quoted:
    """The counts over the questions of some articles."""

    asked: int = 0
    held: int = 0
    held_first: int = 0
    hedged: int = 0
    from_paragraph: int = 0
    strangers: int = 0
    strangers_answered: int = 0
    unanswerable: int = 0
    unanswerable_answered: int = 0
    sentences: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def count(self, found: Findings, answers: Sequence[str], paragraph: str) -> None:
        """Count the quotes from the page that answers and others."""
        texts = [one.text for one in found.sentences]
        holding = [any(answer in text for answer in answers) for text in texts]
        self.asked += 1
        self.held += any(holding)
        self.held_first += any(holding[:1])
        self.hedged += not found.is_answer
        self.from_paragraph += sum(_flat(text) in _flat(paragraph) for text in texts)
        self.sentences.append(len(texts))

    def shown(self, is_long: bool) -> str:
        """The report."""
        asked = self.asked or 1
        rows = (
            ("known answer in the answer", self.held / asked, "at least .930"),
            ("known answer in the first sentence", self.held_first / asked, "at least .870"),
            ("sentences, median", statistics.median(self.sentences or [0]), "at most 2"),
            (
                "sentences from the paragraph that answers",
                self.from_paragraph / (sum(self.sentences) or 1),
                "at least .700" if is_long else "at least .850",
            ),
            ("hedged though a page answers", self.hedged / asked, "at most .030"),
            (
                "not hedged, asked about another article",
                self.strangers_answered / (self.strangers or 1),
                "at most .050",
            ),
            (
                "not hedged though no page answers",
                self.unanswerable_answered / (self.unanswerable or 1),
                "",
            ),
            ("CPU ms of an answer, mean", 1000 * statistics.mean(self.seconds or [0]), ""),
        )
        return "\n".join(
            f"{name:<44}{figure:>8.3f}  {goal}".rstrip() for name, figure, goal in rows
        )


def quotes(articles: Sequence[dict[str, Any]]) -> str:
    """The figures for each question over the page of its article and four others, and over five others."""
    documents = [
        Document(article["title"].replace("_", " "), markdown_of(article)) for article in articles
    ]
    chance, counted = random.Random(1), Quoted()
    for number, paragraph, question, answers in _questions(articles):
        others = chance.sample(
            [at for at in range(len(articles)) if at != number], min(OTHERS + 1, len(articles) - 1)
        )
        pages = [number, *others[:OTHERS]]
        chance.shuffle(pages)
        begun = time.process_time()
        found = find_evidence(question, [documents[at] for at in pages], ROOM, encode, 7)
        counted.seconds.append(time.process_time() - begun)
        if not answers:
            counted.unanswerable += 1
            counted.unanswerable_answered += found.is_answer
            continue
        counted.count(found, answers, paragraph)
        counted.strangers += 1
        counted.strangers_answered += find_evidence(
            question, [documents[at] for at in others], ROOM, encode, 7
        ).is_answer
    is_long = any(len(article["paragraphs"]) >= LONG for article in articles)
    return f"quotes from {'long' if is_long else 'short'} pages, five to a question\n{counted.shown(is_long)}"


def _questions(articles: Sequence[dict[str, Any]]) -> Iterator[tuple[int, str, str, list[str]]]:
    """The questions with a known answer, and those that are labelled as having none."""
    for number, article in enumerate(articles):
        for paragraph in article["paragraphs"]:
            for question in paragraph["questions"]:
                if question["answers"]:
                    yield number, paragraph["text"], question["q"], question["answers"]
            for question in paragraph.get("impossible", ()):
                yield number, paragraph["text"], question, []


def markdown_of(article: dict[str, Any]) -> str:
    """The page of an article."""
    return "\n\n".join(
        (f"# {article['title'].replace('_', ' ')}", *(one["text"] for one in article["paragraphs"]))
    )


def _flat(text: str) -> str:
    return " ".join(text.split())
