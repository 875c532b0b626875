"""How much a sentence looks like a question: shared runs of letters, which outlast endings, compounds and tense."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from websearch_gateway.text.retrieval.candidates import Candidate
from websearch_gateway.text.retrieval.rank import inverse_document_frequency, saturated
from websearch_gateway.text.retrieval.tokens import UNSPACED, fold

RUN = 4
"""Letters in a run; the beginning and the end of a word count as a letter."""

AROUND = 2
"""Sentences before and after one that are looked at with it."""

_WORD = re.compile(rf"[{UNSPACED}]+|(?:[^\W_{UNSPACED}]|[\u0900-\u0963])+")
_HAN = re.compile("[\u3005\u3400-\u9fff]")


class Likeness(NamedTuple):
    """Shares from 0 to 1; runs that few sentences have weigh more.

    `shared` are the runs of the question that the sentence has; `around` is the BM25 score of the sentence with those
    around it.
    """

    shared: float
    around: float


def likeness(question: str, found: Sequence[Candidate]) -> list[Likeness]:
    """The likeness of each sentence to the question."""
    asked = dict.fromkeys(runs(question))
    counts, lengths = [], []
    for one in found:
        every = list(runs(one.text))
        counts.append(Counter(run for run in every if run in asked))
        lengths.append(len(every))
    rarity = inverse_document_frequency(asked, counts)
    whole = sum(rarity.values()) or 1.0
    places = {(one.document, *one.order): at for at, one in enumerate(found)}
    windows, widths = [], []
    for one in found:
        steps = range(-AROUND, AROUND + 1)
        near = [places.get((one.document, one.order[0], one.order[1] + step)) for step in steps]
        windows.append(sum((counts[at] for at in near if at is not None), Counter[str]()))
        widths.append(sum(lengths[at] for at in near if at is not None))
    around = saturated(inverse_document_frequency(asked, windows), windows, widths)
    return [
        Likeness(sum(map(rarity.__getitem__, count)) / whole, score)
        for count, score in zip(counts, around, strict=True)
    ]


def runs(text: str) -> Iterator[str]:
    """The runs of letters of each word, in order; in scripts without spaces those of one (Han), two and three."""
    for match in _WORD.finditer(fold(text)):
        word: str = match[0]
        if re.match(f"[{UNSPACED}]", word):
            for size in (1, 2, 3) if _HAN.match(word) else (2, 3):
                yield from (word[at : at + size] for at in range(len(word) - size + 1))
        else:
            bounded = f"_{word}_"
            yield from (bounded[at : at + RUN] for at in range(max(1, len(bounded) - RUN + 1)))
