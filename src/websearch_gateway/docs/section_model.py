"""How well a section answers a query: a few named features, and the product with their weights.

`tools/fit_docs_ranking.py` fits the weights on queries whose answers are known, and writes them with the names of its
data. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import log
from typing import NamedTuple

from websearch_gateway.base import words
from websearch_gateway.docs.models import values_of

WEIGHTS_FILE = "section_weights.json"
WITHIN = 200
"""Words with at most so many characters between them stand close to each other."""
RICH = 12
"""A section with so many words of the query has many."""
MOST_WORDS = 32
"""The most words of a query that are looked for in a row."""


class HeldWord(NamedTuple):
    """A word of the query in a text: where it begins, and its stem."""

    offset: int
    stem: str


@dataclass(frozen=True, slots=True)
class Section:
    """A section that may be shown, as far as it would be seen.

    `heading_length` is that of its first line if this is a heading or the line of a definition, 0 if the section begins
    in the middle of another one. `held` are the words of the query in `text`, in their order.
    """

    text: str
    heading_length: int
    held: tuple[HeldWord, ...]
    begins_inside: bool


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of a section for a query; all but `page` are in 0..1.

    Args:
        page: the logarithm of its page's score.
        words: the words of the query that it holds, by their weights.
        close: those that stand close to each other.
        heading: those in its heading.
        pairs: the pairs of words that follow each other, in the query and here.
        run: the longest run of words of the query, an error's message for example.
        rich: how many words of the query it holds, each time that it does.
        code: whether it has a code block.
        inside: whether it begins in the middle of another section.
    """

    page: float
    words: float
    close: float
    heading: float
    pairs: float
    run: float
    rich: float
    code: float
    inside: float


def features(
    page_score: float, query: str, weights: Mapping[str, float], section: Section
) -> Features:
    """The features of a section.

    Args:
        page_score: of its page, more than 0.
        weights: the weight of each word of the query by its stem, 1 in all, in the order of the query.
    """
    in_heading = {word.stem for word in section.held if word.offset < section.heading_length}
    pairs = set(pairwise(weights))
    found_pairs = pairs.intersection(pairwise(word.stem for word in section.held))
    return Features(
        page=log(page_score),
        words=sum(weights[stem] for stem in {word.stem for word in section.held}),
        close=_closest(section.held, weights),
        heading=sum(weights[stem] for stem in in_heading),
        pairs=len(found_pairs) / max(1, len(pairs)),
        run=_longest_run(words(query)[:MOST_WORDS], section.text),
        rich=min(len(section.held), RICH) / RICH,
        code=float("```" in section.text),
        inside=float(section.begins_inside),
    )


def score(found: Features) -> float:
    """The product of the features with their weights: higher is better, within one query."""
    weights = fitted_weights()
    products: list[float] = [weights[name] * value for name, value in values_of(found).items()]
    return sum(products)


@cache
def fitted_weights() -> Mapping[str, float]:
    """The weight of each feature by its name."""
    stored = files("websearch_gateway.docs").joinpath(WEIGHTS_FILE).read_text("utf-8")
    weights: dict[str, float] = json.loads(stored)["weights"]
    return weights


def _closest(held: Sequence[HeldWord], weights: Mapping[str, float]) -> float:
    """The largest weight of different words that stand close to each other."""
    best = 0.0
    first = 0
    for place, word in enumerate(held):
        while held[first].offset < word.offset - WITHIN:
            first += 1
        near = {other.stem for other in held[first : place + 1]}
        best = max(best, sum(weights[stem] for stem in near))
    return best


def _longest_run(asked: Sequence[str], text: str) -> float:
    """The most words in a row that the query and the text share, as a part of the query."""
    if not asked:
        return 0.0
    there = f" {' '.join(words(text))} "
    longest = 0
    for start in range(len(asked)):
        while start + longest < len(asked):
            run = " ".join(asked[start : start + longest + 1])
            if f" {run} " not in there:
                break
            longest += 1
    return longest / len(asked)
