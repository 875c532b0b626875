"""The sentences and table rows of a passage, and which of them are nearest to a claim or are the claim itself."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from websearch_gateway.base import blocks, fold, lines, plain, sentences_of, words
from websearch_gateway.evidence.facts import Word, read

MOST_QUOTES = 3
"""The most sentences that are shown for a claim."""
LONGEST_QUOTE = 500
"""The most characters of a quote that is shown."""
LONGEST_PASSAGE = 20_000
"""The most characters of a passage that are read."""

UNKNOWN = 0.6
"""The weight of a word that no sentence has, as a share of that of the rarest."""
LEAST_WORDS = 4
"""Copied words, if fewer, must be a whole cell or sentence."""

OF_HEADINGS = 0.5
"""The weight of a word of the headings, as a share of what it were: it is about all sentences, and tells them apart less."""
FACT_WEIGHT = 1.5
"""How much more a number or name of the claim weighs than another word."""
REPEATED = 0.5
"""What a word weighs for a further sentence, once a sentence before it has it."""
FURTHER = 0.15
"""What a further sentence must share more than, as a share of what the first one does."""

_UNIT_OF_COLUMN = re.compile(r"(.+?)\s*[(\[]([^()\[\]]{1,20})[)\]]")


@dataclass(frozen=True)
class Quote:
    """A sentence, or a table row with the header and text of each of its cells.

    `context` is the sentence with the one before and the one behind it in its paragraph; empty if it stands alone.
    """

    text: str
    cells: tuple[tuple[str, str], ...] = ()
    context: str = field(default="", compare=False)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """Its content words; in a row each cell follows its header, and a number has the unit of its column."""
        if not self.cells:
            return read(self.text)
        row = [_with_header(header, cell) for header, cell in self.cells]
        return read("; ".join(row))

    @cached_property
    def texts(self) -> frozenset[str]:
        """The texts of its words."""
        return frozenset(word.text for word in self.words)

    @property
    def shown(self) -> str:
        """Its words as the page shows them, cut to LONGEST_QUOTE characters."""
        filled = [cell for _, cell in self.cells if cell]
        return _cut(" ".join(filled) or self.text)


def _cut(text: str) -> str:
    if len(text) <= LONGEST_QUOTE:
        return text
    return text[:LONGEST_QUOTE].rpartition(" ")[0]


def _with_header(header: str, cell: str) -> str:
    """A cell behind its header: "9" below "Length (km)" becomes "Length 9 km"."""
    ends_in_digit = cell[-1:].isdigit()
    column = _UNIT_OF_COLUMN.fullmatch(header)
    if ends_in_digit and column:
        name, unit = column.groups()
        return f"{name} {cell} {unit}"
    return f"{header} {cell}"


@dataclass(frozen=True, slots=True)
class Quotable:
    """A passage prepared for quoting.

    `quotes` are its sentences and table rows, `context` the words of its headings and of the question, `names` its
    names.
    """

    quotes: tuple[Quote, ...]
    context: frozenset[str] = frozenset()
    names: frozenset[str] = field(default=frozenset(), repr=False)
    weights: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, markdown: str, *context: str) -> Self:
        """Read a passage. `context` are its headings, and the question."""
        distinct = dict.fromkeys(quotes_of(markdown[:LONGEST_PASSAGE]))
        above = [word for text in context for word in read(text)]
        texts = frozenset(word.text for word in above)
        return cls._made(tuple(distinct), texts, _names(above))

    @classmethod
    def of_sentences(cls, sentences: Sequence[str]) -> Self:
        """Sentences as one passage."""
        return cls._made(tuple(map(Quote, sentences)), frozenset(), frozenset())

    @classmethod
    def _made(cls, quotes: tuple[Quote, ...], context: frozenset[str], names: Set[str]) -> Self:
        counts: Counter[str] = Counter()
        every_name = set(names)
        for quote in quotes:
            counts.update(quote.texts)
            every_name |= _names(quote.words)
        weights = {}
        for text, count in counts.items():
            weights[text] = math.log(1 + len(quotes) / count)
            if text in context:
                weights[text] *= OF_HEADINGS
        return cls(quotes, context, frozenset(every_name), weights)

    def joined(self, passage: Self) -> Self:
        """Both passages as one."""
        quotes = (*self.quotes, *passage.quotes)
        context = self.context | passage.context
        names = self.names | passage.names
        return self._made(quotes, context, names)

    def weight(self, text: str) -> float:
        """How much a word tells the sentences apart."""
        of_rarest = math.log(1 + len(self.quotes))
        return self.weights.get(text) or of_rarest * UNKNOWN

    def weights_of(self, claim: str) -> dict[str, float]:
        """The words of a claim with their weights, in which facts count more."""
        weights = {}
        for word in read(claim):
            weights[word.text] = self.weight(word.text)
            if word.is_fact:
                weights[word.text] *= FACT_WEIGHT
        return weights

    def holding(self, copied: str) -> list[Quote]:
        """The sentences and rows in which words copied from the passage stand; empty if they do not.

        Differences of Unicode, blanks, quotation marks and punctuation do not count.
        """
        folded = _folded(copied)
        is_long = folded.count(" ") - 1 >= LEAST_WORDS
        texts = [_folded(quote.text) for quote in self.quotes]
        for quote, text in zip(self.quotes, texts, strict=True):
            if folded not in text:
                continue
            cells = [_folded(cell) for _, cell in quote.cells]
            is_whole = folded == text or folded in cells
            if is_long or is_whole:
                return [quote]
        if not is_long:
            return []
        return self._over_several(folded, texts)[:MOST_QUOTES]

    def _over_several(self, copied: str, texts: Sequence[str]) -> list[Quote]:
        """The neighbours over which copied words reach. A folded text begins and ends with a blank, which they share."""
        page = " " + "".join(text[1:] for text in texts)
        first = page.find(copied)
        if first < 0:
            return []
        last = first + len(copied) - 1
        touched = []
        start = 0
        for quote, text in zip(self.quotes, texts, strict=True):
            end = start + len(text) - 1
            if start < last and first < end:
                touched.append(quote)
            start = end
        return touched


def _names(words: Iterable[Word]) -> set[str]:
    """The texts of the names among some words."""
    return {word.text for word in words if word.kind == "name"}


_NOT_WORDS = re.compile(r"[\W_]+")
_STRUCK = re.compile(r"~~(?=\S)[^~\n]{1,2000}~~")


def _folded(text: str) -> str:
    """The words with a blank before and behind each."""
    spaced = _NOT_WORDS.sub(" ", fold(plain(text)))
    return f" {spaced.strip()} "


def quotes_of(markdown: str) -> Iterator[Quote]:
    """The sentences and table rows of a passage, without its headings and without struck text."""
    valid = _STRUCK.sub("", markdown) if "~~" in markdown else markdown
    for block in blocks(valid):
        if block.kind == "table":
            rows = lines(valid, block.start, block.end)
            yield from _rows([valid[start:end] for start, end in rows])
        elif block.kind != "heading":
            spans = sentences_of(valid, block)
            sentences = [plain(valid[start:end]) for start, end in spans]
            yield from _in_context([text for text in sentences if text])


def _in_context(sentences: Sequence[str]) -> Iterator[Quote]:
    """The sentences of a paragraph, each with its neighbours."""
    if len(sentences) == 1:
        yield Quote(sentences[0])
        return
    for place, text in enumerate(sentences):
        first = max(0, place - 1)
        around = [_cut(neighbour) for neighbour in sentences[first : place + 2]]
        yield Quote(text, context=" ".join(around))


def _rows(rows: Sequence[str]) -> Iterator[Quote]:
    """The rows of a table below its header, if it has one; cells beyond the header have an empty one."""
    has_rule = len(rows) > 1 and not words(rows[1])
    if has_rule:
        header, body = _cells(rows[0]), rows[2:]
    elif _is_header_without_rule(rows):
        header, body = _cells(rows[0]), rows[1:]
    else:
        header, body = [], rows
    for row in body:
        cells = _cells(row)
        headers = [*header, *[""] * len(cells)]
        yield Quote(row.strip(), tuple(zip(headers, cells, strict=False)))


def _cells(row: str) -> list[str]:
    inside = row.strip().strip("|")
    return [plain(cell.strip()) for cell in inside.split("|")]


def _is_header_without_rule(rows: Sequence[str]) -> bool:
    """Whether the first row is a header although no rule follows: it is the only row without a digit."""
    if len(rows) <= 2:
        return False
    first, *further = [any(letter.isdigit() for letter in row) for row in rows]
    return not first and all(further)


_QUOTATION_MARKS = re.compile(r"[\"“”„‟«»‹›]|(?<!\w)['‘‚]|'(?!\w)")
_BLANK_BEFORE_MARK = re.compile(r"\s+(?=[,;:.!?)\]])|(?<=[(\[])\s+")


def is_verbatim(claim: str, quote: Quote) -> bool:
    """Whether the claim is the whole sentence, row or list item, and not a part of it or more than it."""
    copied = _as_written(claim.replace("|", " "))
    if not copied:
        return False
    row = _as_written(quote.text.replace("|", " "))
    shown_row = _as_written(quote.shown)
    return copied in (row, shown_row)


def _as_written(text: str) -> str:
    """The text without what may differ: case, blanks, quotation marks, marks of notes and the last full stop."""
    straight = plain(text).replace("’", "'")
    unquoted = _QUOTATION_MARKS.sub("", straight.casefold())
    spaced = " ".join(unquoted.split())
    bare = _BLANK_BEFORE_MARK.sub("", spaced)
    return bare.removesuffix(".")


def nearest(claim: str, passage: Quotable) -> list[Quote]:
    """The sentences that share most with the claim, best first; a further one adds words that those before lack."""
    weights = passage.weights_of(claim)
    shared = {}
    for quote in passage.quotes:
        shared[quote] = weights.keys() & quote.texts
    best: list[Quote] = []
    least = 0.0
    while shared and len(best) < MOST_QUOTES:
        scores = {}
        for quote, texts in shared.items():
            # An exact sum: the order of a set differs between processes, and must not break ties.
            scores[quote] = math.fsum(weights[text] for text in texts)
        # Of equally near sentences the shortest.
        quote = max(shared, key=lambda quote: (scores[quote], -len(quote.words)))
        if scores[quote] <= least:
            break
        least = least or scores[quote] * FURTHER
        best.append(quote)
        for text in shared.pop(quote):
            weights[text] *= REPEATED
    return best


def share(claim: str, quotes: Sequence[Quote], passage: Quotable) -> float:
    """The share of the claim's words, by weight, that the sentences have; a number or name weighs more."""
    weights = passage.weights_of(claim)
    whole = sum(weights.values())
    if not whole:
        return 0.0
    quoted = set[str]()
    for quote in quotes:
        quoted |= quote.texts
    shared = sum(weight for text, weight in weights.items() if text in quoted)
    return shared / whole
