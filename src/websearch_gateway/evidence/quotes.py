"""The sentences and table rows of a passage, and which of them are nearest to a claim or are the claim itself."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
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
        row = "; ".join(_cell(head, cell) for head, cell in self.cells)
        return read(row or self.text)

    @cached_property
    def texts(self) -> frozenset[str]:
        """The texts of its words."""
        return frozenset(word.text for word in self.words)

    @property
    def shown(self) -> str:
        """Its words as the page shows them, cut to LONGEST_QUOTE characters."""
        row = " ".join(cell for _, cell in self.cells if cell)
        return _cut(row or self.text)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE].rpartition(" ")[0]


def _cell(head: str, cell: str) -> str:
    in_unit = _UNIT_OF_COLUMN.fullmatch(head) if cell[-1:].isdigit() else None
    return f"{in_unit[1]} {cell} {in_unit[2]}" if in_unit else f"{head} {cell}"


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
        quotes = tuple(dict.fromkeys(quotes_of(markdown[:LONGEST_PASSAGE])))
        above = [word for text in context for word in read(text)]
        names = {word.text for word in above if word.kind == "name"}
        return cls._made(quotes, frozenset(word.text for word in above), names)

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
            every_name.update(word.text for word in quote.words if word.kind == "name")
        weights = {text: math.log(1 + len(quotes) / count) for text, count in counts.items()}
        # A word of the headings is about all sentences, and tells them apart less.
        weights |= {text: weights[text] / 2 for text in context & weights.keys()}
        return cls(quotes, context, frozenset(every_name), weights)

    def joined(self, other: Self) -> Self:
        """Both passages as one."""
        quotes = (*self.quotes, *other.quotes)
        return self._made(quotes, self.context | other.context, self.names | other.names)

    def weight(self, text: str) -> float:
        """How much a word tells the sentences apart."""
        return self.weights.get(text) or math.log(1 + len(self.quotes)) * UNKNOWN

    def weights_of(self, claim: str) -> dict[str, float]:
        """The words of a claim with their weights, in which facts count more."""
        weights = {}
        for word in read(claim):
            factor = FACT_WEIGHT if word.is_fact else 1
            weights[word.text] = self.weight(word.text) * factor
        return weights

    def holding(self, copied: str) -> list[Quote]:
        """The sentences and rows in which words copied from the passage stand; empty if they do not.

        Differences of Unicode, blanks, quotation marks and punctuation do not count.
        """
        wanted = _folded(copied)
        is_long = wanted.count(" ") - 1 >= LEAST_WORDS
        texts = [_folded(quote.text) for quote in self.quotes]
        for quote, text in zip(self.quotes, texts, strict=True):
            is_whole = wanted == text or any(wanted == _folded(cell) for _, cell in quote.cells)
            if wanted in text and (is_long or is_whole):
                return [quote]
        return self._over_several(wanted, texts)[:MOST_QUOTES] if is_long else []

    def _over_several(self, wanted: str, texts: Sequence[str]) -> list[Quote]:
        """The neighbours over which copied words reach. A folded text begins and ends with a blank, which they share."""
        start = f" {''.join(text[1:] for text in texts)}".find(wanted)
        if start < 0:
            return []
        touched = []
        begin = 0
        for quote, text in zip(self.quotes, texts, strict=True):
            end = begin + len(text) - 1
            if begin < start + len(wanted) - 1 and end > start:
                touched.append(quote)
            begin = end
        return touched


_NOT_WORDS = re.compile(r"[\W_]+")
_STRUCK = re.compile(r"~~(?=\S)[^~\n]{1,2000}~~")


def _folded(text: str) -> str:
    """The words with a blank before and behind each."""
    return f" {_NOT_WORDS.sub(' ', fold(plain(text))).strip()} "


def quotes_of(markdown: str) -> Iterator[Quote]:
    """The sentences and table rows of a passage, without its headings and without struck text."""
    kept = _STRUCK.sub("", markdown) if "~~" in markdown else markdown
    for block in blocks(kept):
        if block.kind == "table":
            rows = lines(kept, block.start, block.end)
            yield from _rows([kept[start:end] for start, end in rows])
        elif block.kind != "heading":
            sentences = [plain(kept[start:end]) for start, end in sentences_of(kept, block)]
            yield from _in_context([text for text in sentences if text])


def _in_context(sentences: Sequence[str]) -> Iterator[Quote]:
    if len(sentences) == 1:
        yield Quote(sentences[0])
        return
    for place, text in enumerate(sentences):
        around = sentences[max(0, place - 1) : place + 2]
        yield Quote(text, context=" ".join(map(_cut, around)))


def _rows(rows: Sequence[str]) -> Iterator[Quote]:
    table = [[plain(cell.strip()) for cell in row.strip().strip("|").split("|")] for row in rows]
    has_rule = len(rows) > 1 and not words(rows[1])
    has_header = has_rule or _is_header_without_rule(rows)
    header = table[0] if has_header else []
    first = 1 + has_rule if has_header else 0
    for row, cells in zip(rows[first:], table[first:], strict=True):
        heads = [*header, *[""] * len(cells)]
        yield Quote(row.strip(), tuple(zip(heads, cells, strict=False)))


def _is_header_without_rule(rows: Sequence[str]) -> bool:
    """Whether the first row is a header although no rule follows: it is the only row without a digit."""
    has_digits = [any(letter.isdigit() for letter in row) for row in rows]
    return len(rows) > 2 and not has_digits[0] and all(has_digits[1:])


_QUOTATION_MARKS = re.compile(r"[\"“”„‟«»‹›]|(?<!\w)['‘‚]|'(?!\w)")
_BLANK_BEFORE_MARK = re.compile(r"\s+(?=[,;:.!?)\]])|(?<=[(\[])\s+")


def is_verbatim(claim: str, quote: Quote) -> bool:
    """Whether the claim is the whole sentence, row or list item, and not a part of it or more than it."""
    wanted = _as_written(claim.replace("|", " "))
    on_page = (_as_written(quote.text.replace("|", " ")), _as_written(quote.shown))
    return bool(wanted) and wanted in on_page


def _as_written(text: str) -> str:
    """The text without what may differ: case, blanks, quotation marks, marks of notes and the last full stop."""
    bare = _QUOTATION_MARKS.sub("", plain(text).replace("’", "'").casefold())
    return _BLANK_BEFORE_MARK.sub("", " ".join(bare.split())).removesuffix(".")


def nearest(claim: str, passage: Quotable) -> list[Quote]:
    """The sentences that share most with the claim, best first; a further one adds words that those before lack."""
    weights = passage.weights_of(claim)
    shared = {quote: weights.keys() & quote.texts for quote in passage.quotes}
    best: list[Quote] = []
    least = 0.0
    while shared and len(best) < MOST_QUOTES:
        scores = {quote: sum(weights[text] for text in texts) for quote, texts in shared.items()}
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
    there = frozenset[str]().union(*(quote.texts for quote in quotes))
    shared = sum(weight for text, weight in weights.items() if text in there)
    return shared / (sum(weights.values()) or 1)
