"""The quotes that a passage offers: its sentences and table rows, found by the words of a model or of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote as percent_encoded

from websearch_gateway.text.citation.facts import Word, read
from websearch_gateway.text.citation.sentences import sentences_of
from websearch_gateway.text.markdown import blocks, lines, plain
from websearch_gateway.text.tokens import fold, words

MOST_QUOTES = 4
LONGEST_QUOTE = 500
"""The most characters of a quote that is shown."""
LONGEST_PASSAGE = 20_000
"""The most characters of a passage that are read."""
LEAST_WORDS = 4
"""A shorter quote must be a whole cell, heading or sentence."""

_EDGE_WORDS = 5
"""The words at each end of a long quote by which a browser finds it."""
_NOT_WORDS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence, or a table row with the header and text of each of its cells."""

    text: str
    cells: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> tuple[Word, ...]:
        """Its content words; in a row each cell follows its header."""
        return read("; ".join(f"{head} {cell}" for head, cell in self.cells) or self.text)

    @property
    def shown(self) -> str:
        """Its words as the page shows them, cut to LONGEST_QUOTE characters."""
        text = " ".join(cell for _, cell in self.cells if cell) or self.text
        return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE].rpartition(" ")[0]


@dataclass(frozen=True, slots=True)
class Quotable:
    """A passage prepared for quoting.

    `quotes` are its sentences and table rows, `context` the words of its headings and of the question, `names` its
    names.
    """

    quotes: tuple[Quote, ...]
    context: frozenset[str] = frozenset()
    names: frozenset[str] = field(default=frozenset(), repr=False)

    @classmethod
    def of(cls, markdown: str, *context: str) -> Quotable:
        """Read a passage. `context` are its headings, and the question."""
        quotes = tuple(_quotes(markdown[:LONGEST_PASSAGE]))
        every = [word for quote in quotes for word in quote.words]
        above = [word for text in context for word in read(text)]
        return cls(
            quotes,
            context=frozenset(word.text for word in above),
            names=frozenset(word.text for word in (*above, *every) if word.kind == "name"),
        )

    @classmethod
    def joined(cls, passages: Sequence[Quotable]) -> Quotable:
        """Several passages as one."""
        return cls(
            tuple(quote for one in passages for quote in one.quotes),
            frozenset[str]().union(*(one.context for one in passages)),
            frozenset[str]().union(*(one.names for one in passages)),
        )

    def holding(self, copied: str) -> list[Quote]:
        """The sentences and rows in which words copied from the passage stand; empty if they do not.

        Differences of Unicode, blanks, quotation marks and punctuation do not count.
        """
        wanted = _folded(copied)
        texts = [_folded(quote.text) for quote in self.quotes]
        for place, text in enumerate(texts):
            cells = [_folded(cell) for _, cell in self.quotes[place].cells]
            if wanted in text and (wanted.count(" ") - 1 >= LEAST_WORDS or wanted in (text, *cells)):
                return [self.quotes[place]]
        joined = "".join(text[1:] for text in texts)
        start = f" {joined}".find(wanted) if wanted.count(" ") - 1 >= LEAST_WORDS else -1
        if start < 0:
            return []
        found, at = [], 0
        for quote, text in zip(self.quotes, texts, strict=True):
            if at < start + len(wanted) - 1 and at + len(text) - 1 > start:
                found.append(quote)
            at += len(text) - 1
        return found[:MOST_QUOTES]


def best_quotes(sentence: str, quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes that together hold most facts and words of the sentence, best first, at most MOST_QUOTES."""
    said = read(sentence)
    left = {word.text: 2 if word.is_fact else 1 for word in said}
    mentioned = frozenset(left)
    rest = [(quote, {word.text for word in quote.words}) for quote in quotes if _is_about(quote, mentioned)]
    found: list[Quote] = []
    while rest and len(found) < MOST_QUOTES:
        best = max(rest, key=lambda one: (sum(left.get(text, 0) for text in one[1]), -len(one[1])))
        if found and not any(text in left for text in best[1]):
            break
        found.append(best[0])
        rest.remove(best)
        left = {text: weight for text, weight in left.items() if text not in best[1]}
    return found


def quote_url(url: str, quote: str) -> str:
    """`url` with a text fragment that lets a browser show the quote (https://wicg.github.io/scroll-to-text-fragment)."""
    said = quote.split()
    pieces = [quote] if len(said) <= 2 * _EDGE_WORDS else [" ".join(said[:_EDGE_WORDS]), " ".join(said[-_EDGE_WORDS:])]
    # A hyphen and a comma have a meaning in a fragment.
    text = ",".join(percent_encoded(piece, safe="").replace("-", "%2D") for piece in pieces)
    address, _, fragment = url.partition("#")
    return f"{address}#{fragment.partition(':~:')[0]}:~:text={text}"


def _quotes(markdown: str) -> Iterator[Quote]:
    for block in blocks(markdown):
        if block.kind == "table":
            rows = [markdown[start:end] for start, end in lines(markdown, block.start, block.end)]
            header = _cells(rows[0]) if len(rows) > 1 and not words(rows[1]) else []
            for row in rows[2 if header else 0 :]:
                cells = _cells(row)
                yield Quote(row.strip(), tuple(zip([*header, *[""] * len(cells)], cells, strict=False)))
        else:
            for start, end in sentences_of(markdown, block):
                yield Quote(plain(markdown[start:end]))


def _cells(row: str) -> list[str]:
    return [plain(cell.strip()) for cell in row.strip().strip("|").split("|")]


def _is_about(quote: Quote, mentioned: frozenset[str]) -> bool:
    """Whether a row's first cell, which names it, is among the words; a sentence may be about anything."""
    name = [word.text for word in read(quote.cells[0][1])] if quote.cells else []
    return not name or not mentioned.isdisjoint(name)


def _folded(text: str) -> str:
    """The words with a blank before and behind each."""
    return f" {_NOT_WORDS.sub(' ', fold(plain(text))).strip()} "
