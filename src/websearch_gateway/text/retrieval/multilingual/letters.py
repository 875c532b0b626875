"""Compares sentences with a question by shared runs of letters, which survive endings, compounds and tense."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from websearch_gateway.text.retrieval.candidates import Candidate, Paragraph
from websearch_gateway.text.retrieval.rank import inverse_document_frequency, saturated
from websearch_gateway.text.retrieval.tokens import UNSPACED, fold

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
