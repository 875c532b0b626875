"""The lines of a PDF page, and their segments: the words between two wide gaps. Pure and linear."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

from websearch_gateway.pages.formats.pdf_page import Word
from websearch_gateway.pages.formats.pdf_text import BROKEN, hyphen_between, text_of


class Segment(NamedTuple):
    """Words of a line without a wide gap, from `x0` to `x1` on the baseline `y`. `rows` are those of a whole table.

    `is_typed`: all words are in a font with letters of one width; `listing` is then the text with its blanks.
    """

    x0: float
    x1: float
    y: float
    size: float
    text: str
    words: int
    rows: tuple[tuple[str, ...], ...] = ()
    first_word: float = 0.0
    is_typed: bool = False
    listing: str = ""


Row = Sequence[Segment]
"""The segments of a line, from left to right."""

Piece = TypeVar("Piece", Word, Segment)

SAME_LINE = 0.35
"""Words whose baselines differ by less than this (in font sizes) are on one line."""


def lines(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """The words, or parts of lines, by their lines, from top to bottom; a table is a line of its own."""
    line: list[Piece] = []
    for piece in sorted(pieces, key=downwards):
        if line:
            first = line[0]
            is_below = first.y - piece.y > SAME_LINE * max(first.size, piece.size)
            if is_below or piece.rows or first.rows:
                line.sort()
                yield line
                line = []
        line.append(piece)
    if line:
        line.sort()
        yield line


def downwards(piece: Word | Segment) -> tuple[float, float]:
    """The key by which pieces are in order from top to bottom, and from left to right at one height."""
    return -piece.y, piece.x0


def segments(words: Sequence[Word]) -> list[Segment]:
    """The segments of all lines."""
    parts: list[Segment] = []
    for line in lines(words):
        run: list[Word] = []
        for word in line:
            if run and _is_apart(run, word):
                parts.append(_segment(run))
                run = []
            run.append(word)
        parts.append(_segment(run))
    return parts


WIDE_GAP = 0.95
"""A gap between words from this width on (in font sizes) separates cells or columns."""
LIST_MARKS = "•●◦▪‣·○■□➢✓\uf0b7\uf0a7\uf0d8\u2043"
LIST_MARK = re.compile(rf"[{LIST_MARKS}]|[-–—*o]|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivx]{{1,5}})[.)]")
"""What may stand before the text of a list item."""
_GAP_AFTER_MARK = 3.5
"""The gap that parts a list item's text from its mark as a cell of a table, in font sizes."""
_SMALL_PRINT = 0.4
"""A word that is smaller than this beside the next, such as a raised note, does not tell how wide a gap is."""


def has_gap(before: Word, after: Word) -> bool:
    """Whether there is a wide gap between two words of a line."""
    return after.x0 - before.x1 > WIDE_GAP * min(before.size, after.size)


def _is_apart(run: Sequence[Word], word: Word) -> bool:
    """Whether a word belongs to another cell or column than the words before it."""
    before = run[-1]
    if not has_gap(before, word):
        return False
    if before.is_typed and word.is_typed:  # the blanks of a listing
        return False
    size = word.size
    if before.size > _SMALL_PRINT * word.size:
        size = min(before.size, word.size)
    is_mark = len(run) == 1 and LIST_MARK.fullmatch(before.text) is not None
    least = _GAP_AFTER_MARK if is_mark else WIDE_GAP
    return word.x0 - before.x1 > least * size


def _segment(run: Sequence[Word]) -> Segment:
    first = run[0]
    end = first.x1
    for word in run:
        end = max(end, word.x1)
    is_typed = all(word.is_typed for word in run)
    largest = _largest(run)
    return Segment(
        x0=first.x0,
        x1=end,
        y=largest.y,
        size=largest.size,
        text=_text_of_run(run),
        words=len(run),
        first_word=first.x1 - first.x0,
        is_typed=is_typed,
        listing=_with_blanks(run) if is_typed else "",
    )


def _largest(run: Sequence[Word]) -> Word:
    """The word whose font is that of the segment: the number of a list item may be larger than its text."""
    if len(run) == 1:
        return run[0]
    without_number = run if has_letters(run[0].text) else run[1:]
    return max(without_number, key=lambda word: (word.size, len(word.text)))


def has_letters(text: str) -> bool:
    """Whether there is a letter in a text."""
    return any(map(str.isalpha, text))


_LEADERS = re.compile(r"(?: ?\.){5,}")
"""The dots between a heading and its page in a table of contents."""
_BROKEN_WITHIN = re.compile(f"[{BROKEN}] ")


def _text_of_run(run: Sequence[Word]) -> str:
    text = _BROKEN_WITHIN.sub(_joint, text_of(run))
    if text.count(".") >= 5:  # most lines have fewer, and to search them takes longer
        text = _LEADERS.sub(" …", text)
    return text


def _joint(broken: re.Match[str]) -> str:
    """What stands between the halves of a word that is broken within a line."""
    line = broken.string
    return hyphen_between(line[: broken.start()], line[broken.end() :])


TYPED_WIDTH = 0.6
"""The width of a letter of most fonts whose letters have one width, in font sizes."""


def _with_blanks(run: Sequence[Word]) -> str:
    """The words with as many blanks between them as have room there."""
    letters = sum(len(word.text) for word in run)
    width = sum(word.x1 - word.x0 for word in run) / letters
    if not width:
        width = TYPED_WIDTH * run[0].size
    text = run[0].text
    for before, word in pairwise(run):
        blanks = round((word.x0 - before.x1) / width)
        text += " " * max(1, blanks) + word.text
    return text
