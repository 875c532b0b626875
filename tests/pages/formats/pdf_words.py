"""Words of a PDF page, placed by hand."""

from __future__ import annotations

from websearch_gateway.pages.formats.pdf_layout import blocks
from websearch_gateway.pages.formats.pdf_page import Rulings, Sheet, Word
from websearch_gateway.pages.formats.pdf_paragraphs import Block


def word(
    x0: float,
    text: str,
    y: float = 100,
    size: float = 10,
    width: float | None = None,
    **more: object,
) -> Word:
    """A word whose letters are half as wide as high, if `width` does not say otherwise."""
    return Word(x0, x0 + (width if width is not None else 5 * len(text)), y, size, text, **more)  # type: ignore[arg-type]


def page(words: list[Word], dots: list[tuple[float, float]] | None = None) -> list[Block]:
    """The blocks of a page with these words, and dots that are drawn."""
    return blocks(Sheet(words, "", Rulings([], []), 300, dots or []))


PROSE = [
    "the",
    "keepers",
    "meet",
    "at",
    "the",
    "old",
    "mill",
    "and",
    "talk",
    "of",
    "the",
    "gates",
    "all",
    "day",
    "long",
]


def line(y: float, words: list[str], x0: float = 40) -> list[Word]:
    """The words of a line beside each other."""
    placed: list[Word] = []
    for text in words:
        placed.append(word(x0, text, y))
        x0 = placed[-1].x1 + 3
    return placed
