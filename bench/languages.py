"""The quality of quoted answers in other languages: `python -m bench.languages FILE [--questions N]`.

FILE is gzipped JSON: languages, each with a list of articles as `bench.questions` has them. Each question is asked over
its article among four others, in random order, and over those four alone. The columns: the share of answers that hold
the known answer, of those that hold it in the first sentence, of own questions with a hedge, and of questions that no
page answers without one; the hedges that are in the language of the question; CPU time per answer.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from websearch_gateway.answers.extractive import compose
from websearch_gateway.base.notes import LANGUAGES, nearest, no_answer
from websearch_gateway.evidence.embedders.local import encode
from websearch_gateway.models import Answer, Hit, Page, SearchQuery

OTHERS = 4
SEED = 11
FIGURES = ("in the answer", "in the first", "own hedged", "strangers unhedged")
DEFAULT_GOALS = (0.90, 0.75, 0.03, 0.05)
_HIGHER = dict.fromkeys(("de", "es", "hi", "th", "zh"), (0.92, *DEFAULT_GOALS[1:]))
GOALS = {"ar": (0.85, *DEFAULT_GOALS[1:])} | _HIGHER
"""For each of the figures; the first two at least, the others at most."""


def measure(language: str, articles: Sequence[dict[str, Any]], most: int) -> Counter[str]:
    """The counts of the figures, with `asked` and `microseconds`, over `most` questions."""
    draw = random.Random(SEED)
    pages = [_page(number, article) for number, article in enumerate(articles)]
    questions = list(_questions(articles))
    draw.shuffle(questions)
    counted: Counter[str] = Counter()
    for own, question, answers in questions[:most]:
        others = draw.sample([page for number, page in enumerate(pages) if number != own], OTHERS)
        served = [pages[own], *others]
        draw.shuffle(served)
        counted += _asked(language, question, answers, served, others)
    return counted


def _asked(
    language: str, question: str, answers: list[str], served: list[Page], others: list[Page]
) -> Counter[str]:
    begun = time.process_time()
    own, strange = _answer(question, served), _answer(question, others)
    counted = Counter({"asked": 1, "microseconds": int((time.process_time() - begun) / 2 * 1e6)})
    sentences = [text for text in own.text.split("\n\n") if not _is_hedge(text, language)]
    counted["in the answer"] = any(answer in text for text in sentences for answer in answers)
    counted["in the first"] = bool(sentences) and any(answer in sentences[0] for answer in answers)
    counted["own hedged"] = _is_hedged(own)
    counted["strangers unhedged"] = not _is_hedged(strange)
    hedged = [one for one in (own, strange) if _is_hedged(one)]
    counted["hedges"] = len(hedged)
    counted["hedges in its language"] = sum(
        _is_hedge(one.text.split("\n\n")[0], language) for one in hedged
    )
    return counted


def _answer(question: str, pages: list[Page]) -> Answer:
    hits = [Hit(page.url, page.title, "", "bench") for page in pages]
    return compose(SearchQuery(question), hits, {page.url: page for page in pages}, encode=encode)


def _is_hedged(answer: Answer) -> bool:
    return any(_is_hedge(answer.text.split("\n\n")[0], language) for language in LANGUAGES)


def _is_hedge(line: str, language: str) -> bool:
    return line in (nearest(language), no_answer(language))


def _page(number: int, article: dict[str, Any]) -> Page:
    url, title = f"https://{number}.example/", article["title"].replace("_", " ")
    text = "\n\n".join((f"# {title}", *(paragraph["text"] for paragraph in article["paragraphs"])))
    return Page(url=url, final_url=url, title=title, markdown=text)


def _questions(articles: Sequence[dict[str, Any]]) -> Iterator[tuple[int, str, list[str]]]:
    for number, article in enumerate(articles):
        for paragraph in article["paragraphs"]:
            for question in paragraph["questions"]:
                if question["answers"]:
                    yield number, question["q"], question["answers"]


def row(language: str, counted: Counter[str]) -> str:
    """A line of the table: each figure and its goal, with a mark if it misses the goal."""
    asked = counted["asked"]
    cells = []
    for place, (figure, goal) in enumerate(
        zip(FIGURES, GOALS.get(language, DEFAULT_GOALS), strict=True)
    ):
        share = counted[figure] / asked
        missed = share < goal if place < 2 else share > goal
        cells.append(f"{share:>8.3f} ({goal:.2f}){'!' if missed else ' '}")
    spoken = f"{counted['hedges in its language']}/{counted['hedges']}"
    return f"{language:<4}{asked:>5}{''.join(cells)}{spoken:>10}{counted['microseconds'] / asked / 1e3:>10.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--questions", type=int, default=120, help="questions in each language")
    parser.add_argument("--languages", nargs="*", help="these alone")
    arguments = parser.parse_args()
    data = json.loads(gzip.decompress(arguments.file.read_bytes()))
    print(f"{'':<9}" + "".join(f"{name:<16}" for name in FIGURES) + "  hedges    CPU ms")
    for name in arguments.languages or data:
        print(row(name, measure(name, data[name], arguments.questions)), flush=True)
