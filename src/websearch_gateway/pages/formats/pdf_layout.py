"""The blocks of a PDF page in reading order: columns, and in each its paragraphs and tables. Pure and linear.

Words make lines, lines make segments between wide gaps, segments make columns, and the lines of a column make blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from websearch_gateway.pages.formats.pdf_lines import Segment, downwards, lines, segments
from websearch_gateway.pages.formats.pdf_marks import (
    with_bullets,
    with_drop_caps,
    without_line_numbers,
)
from websearch_gateway.pages.formats.pdf_page import Sheet, Word
from websearch_gateway.pages.formats.pdf_paragraphs import Block, Paragraphs
from websearch_gateway.pages.formats.pdf_tables import aligned, ruled

LARGER = 1.12
"""A font this many times larger than that of the text makes a heading."""


def blocks(sheet: Sheet) -> list[Block]:
    """The blocks of a page in reading order."""
    usual = _usual_size(sheet.words)
    tables, words = ruled(with_drop_caps(sheet.words, usual), sheet.rulings)
    words = with_bullets(without_line_numbers(words), sheet.dots)
    typed = sum(len(word.text) for word in words if word.is_typed)
    letters = sum(len(word.text) for word in sheet.words)
    if 2 * typed > letters:  # a typed page is no listing
        words = [word._replace(is_typed=False) for word in words]
    page: list[Block] = []
    for column in _in_reading_order([*tables, *segments(words)]):
        page += _blocks_of_column(column, usual * LARGER)
    if sheet.turned:
        page.append(Block(sheet.turned, 1.0))
    return page


def _usual_size(words: Sequence[Word]) -> float:
    """The size of the font of most letters; 0 without words."""
    letters: Counter[float] = Counter()
    for word in words:
        letters[word.size] += len(word.text)
    return max(letters, key=letters.__getitem__, default=0.0)


LEAST_LINES = 4
"""The fewest lines beside each other that make columns."""
MOST_GUTTERS = 8
"""The places at which most lines begin, which are tried as the left edge of a column."""
MOST_CUTS = 6
"""How often columns may be cut into columns."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """A part of a page with two columns: where the right one begins, and its highest and lowest baseline."""

    x: float
    upper: float
    lower: float


def _in_reading_order(page: Sequence[Segment], cuts: int = 0) -> Iterator[Sequence[Segment]]:
    """The segments in groups to read one after the other: what is above columns, each column, what is below them."""
    may_have_columns = cuts < MOST_CUTS and len(page) >= 2 * LEAST_LINES
    columns = _columns(page) if may_have_columns else None
    if columns is None:
        if page:
            yield page
        return
    above: list[Segment] = []
    first: list[Segment] = []
    second: list[Segment] = []
    below: list[Segment] = []
    for segment in page:
        if segment.y > columns.upper:
            above.append(segment)
        elif segment.y < columns.lower:
            below.append(segment)
        elif segment.x0 < columns.x:
            first.append(segment)
        else:
            second.append(segment)
    for part in (above, first, second, below):
        yield from _in_reading_order(part, cuts + 1)


def _columns(page: Sequence[Segment]) -> _Columns | None:
    """The two columns with the most lines; None if there are none."""
    starts = Counter(round(segment.x0 / 2) for segment in page if not segment.rows)
    ordered = sorted(page, key=downwards)
    longest = 0
    columns: _Columns | None = None
    for start, count in starts.most_common(MOST_GUTTERS):
        if count < LEAST_LINES:
            break
        x = start * 2 - 1.5
        for run in _uncrossed(ordered, x):
            if len(run) > longest and _has_columns(run, x):
                longest = len(run)
                columns = _Columns(x, upper=run[0].y, lower=run[-1].y)
    return columns


def _uncrossed(ordered: Sequence[Segment], x: float) -> Iterator[list[Segment]]:
    """Runs of segments from top to bottom of which none crosses `x`."""
    run: list[Segment] = []
    for segment in ordered:
        if segment.x0 < x < segment.x1 + 1:
            if run:
                yield run
                run = []
        else:
            run.append(segment)
    if run:
        yield run


def _has_columns(run: Sequence[Segment], x: float) -> bool:
    """Whether the segments on both sides of `x` are read one side after the other, not row by row as a table is."""
    first: list[Segment] = []
    second: list[Segment] = []
    for segment in run:
        side = first if segment.x0 < x else second
        side.append(segment)
    if min(len(first), len(second)) < LEAST_LINES:
        return False
    if _is_prose(first) and _is_prose(second):
        return True
    few, many = sorted((first, second), key=len)
    return _count_beside(few, many) < len(few) / 2


def _count_beside(few: Sequence[Segment], many: Sequence[Segment]) -> int:
    """How many segments stand at the height of one of the many."""
    heights = {round(segment.y / 2) for segment in many}
    beside = 0
    for segment in few:
        height = round(segment.y / 2)
        if not heights.isdisjoint((height - 1, height, height + 1)):
            beside += 1
    return beside


_PROSE_LINE, _PROSE_WIDTH = 4, 0.6
"""The words of a line of prose, and the part of its column that it fills, in the middle of all lines."""


def _is_prose(column: Sequence[Segment]) -> bool:
    """Whether lines are full of words."""
    middle = len(column) // 2
    words = sorted(segment.words for segment in column)
    if words[middle] < _PROSE_LINE:
        return False
    start = min(segment.x0 for segment in column)
    end = max(segment.x1 for segment in column)
    widths = sorted(segment.x1 - segment.x0 for segment in column)
    return widths[middle] > _PROSE_WIDTH * (end - start)


def _blocks_of_column(column: Sequence[Segment], larger: float) -> Iterator[Block]:
    """The blocks of one column, from top to bottom. Headings of the page have at least the font size `larger`."""
    rows = list(lines(column))
    right = max((segment.x1 for segment in column if not segment.rows), default=0.0)
    at = 0
    for table in aligned(rows):
        yield from Paragraphs(rows[at : table.start], right, larger).blocks()
        yield Block("", 0.0, rows=table.cells)
        at = table.end
    yield from Paragraphs(rows[at:], right, larger).blocks()
