"""Lays out a PDF page: lines, columns in reading order, tables, lists and paragraphs. Pure and linear."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from websearch_gateway.readers.formats.pdf_tables import Segment, aligned, ruled
from websearch_gateway.readers.formats.pdf_words import BROKEN, Sheet, Word

WIDE_GAP = 0.95
"""A gap between words from this width on (in font sizes) separates cells or columns."""
SAME_LINE = 0.35
"""Words whose baselines differ by less than this (in font sizes) are on one line."""
LEAST_LINES = 4
"""The fewest lines beside each other that make columns."""
MOST_GUTTERS = 8
PROSE_WORDS = 6
"""A line of so many words may end in the middle of a sentence."""
DEEPEST = 6
"""How often columns may be cut into columns."""
LEADING = 1.75
"""The largest distance of the lines of a paragraph, in font sizes."""

_BULLETS = "•●◦▪‣·○■□➢✓\uf0b7\uf0a7\uf0d8\u2043"
_LIST_MARK = re.compile(rf"[{_BULLETS}]|[-–—*o]|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivx]{{1,5}})[.)]")
_LEADERS = re.compile(r"(?: ?\.){5,}")
_WITHIN = re.compile(f"[{BROKEN}] ")
_NUMBERED = re.compile(r"\d{1,3}[.)]\s")


class Block(NamedTuple):
    """A paragraph, list item (`depth` from 1) or table of a page; `size` is the size of its font, 0 for a table.

    `top` is its place on the page, in points from the lower edge; `lines` counts the lines that it was made from.
    """

    text: str
    size: float
    top: float
    lines: int = 1
    depth: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


def blocks(sheet: Sheet) -> list[Block]:
    """The blocks of a page in reading order."""
    tables, words = ruled(sheet.words, sheet.lines)
    found = [
        block for leaf in _ordered([*tables, *_segments(words)], 0) for block in _leaf_blocks(sorted(leaf, key=_place))
    ]
    return [*found, Block(sheet.turned, 1.0, 0.0)] if sheet.turned else found


def _place(segment: Segment) -> tuple[float, float]:
    return -segment.y, segment.x0


def _segments(words: Sequence[Word]) -> list[Segment]:
    segments: list[Segment] = []
    for line in lines(words):
        run: list[Word] = []
        for word in sorted(line):
            if run and word.x0 - run[-1].x1 > _widest(run, word):
                segments.append(_segment(run))
                run = []
            run.append(word)
        segments.append(_segment(run))
    return segments


def _widest(run: Sequence[Word], word: Word) -> float:
    """The widest gap between words of one segment; the text of a list item may stand far behind its mark."""
    wide = 3.5 if len(run) == 1 and _LIST_MARK.fullmatch(run[0].text) else WIDE_GAP
    return wide * min(run[-1].size, word.size) if run[-1].size > 0.4 * word.size else wide * word.size


def lines(words: Sequence[Word]) -> Iterator[list[Word]]:
    """The words by their lines, from top to bottom."""
    line: list[Word] = []
    for word in sorted(words, key=lambda one: (-one.y, one.x0)):
        if line and line[0].y - word.y > SAME_LINE * max(line[0].size, word.size):
            yield line
            line = []
        line.append(word)
    if line:
        yield line


def _segment(run: Sequence[Word]) -> Segment:
    largest = max(run, key=lambda word: (word.size, len(word.text)))
    text = _LEADERS.sub(" …", _WITHIN.sub("", " ".join(word.text for word in run)))
    first = run[0].x1 - run[0].x0
    return Segment(run[0].x0, run[-1].x1, largest.y, largest.size, text, len(run), first_word=first)


def _ordered(segments: Sequence[Segment], depth: int) -> Iterator[Sequence[Segment]]:
    """The segments in groups to read one after the other: what is above columns, each column, what is below them."""
    zone = _columns(segments) if depth < DEEPEST and len(segments) >= 2 * LEAST_LINES else None
    if zone is None:
        if segments:
            yield segments
        return
    x, upper, lower = zone
    inside = [one for one in segments if lower <= one.y <= upper]
    for part in (
        [one for one in segments if one.y > upper],
        [one for one in inside if one.x0 < x],
        [one for one in inside if one.x0 >= x],
        [one for one in segments if one.y < lower],
    ):
        yield from _ordered(part, depth + 1)


def _columns(segments: Sequence[Segment]) -> tuple[float, float, float] | None:
    """Where a column on the right begins, and the highest and lowest baseline beside it; None if there is none."""
    starts = Counter(round(one.x0 / 2) for one in segments if not one.rows)
    best: tuple[int, float, float, float] | None = None
    for start, count in starts.most_common(MOST_GUTTERS):
        if count < LEAST_LINES:
            break
        x = start * 2 - 1.5
        for run in _uncrossed(segments, x):
            left, right = [one for one in run if one.x0 < x], [one for one in run if one.x0 >= x]
            lines = min(len(left), len(right))
            if lines >= LEAST_LINES and (best is None or len(run) > best[0]) and _are_columns(left, right):
                best = len(run), x, max(one.y for one in run), min(one.y for one in run)
    return best[1:] if best else None


def _uncrossed(segments: Sequence[Segment], x: float) -> Iterator[list[Segment]]:
    """Runs of segments from top to bottom of which none crosses `x`."""
    run: list[Segment] = []
    for one in sorted(segments, key=_place):
        if one.x0 < x < one.x1 + 1:
            yield run
            run = []
        else:
            run.append(one)
    yield run


def _are_columns(left: Sequence[Segment], right: Sequence[Segment]) -> bool:
    """Whether two sides are read one after the other, not row by row as a table is."""
    if _is_prose(left) and _is_prose(right):
        return True
    few, many = sorted((left, right), key=len)
    tops = {round(one.y / 2) for one in many}
    beside = sum(1 for one in few if not tops.isdisjoint(range(round(one.y / 2) - 1, round(one.y / 2) + 2)))
    return beside < len(few) / 2


def _is_prose(side: Sequence[Segment]) -> bool:
    """Whether lines are full of words."""
    width = max(one.x1 for one in side) - min(one.x0 for one in side)
    middle = len(side) // 2
    return (
        sorted(one.words for one in side)[middle] >= 4 and sorted(one.x1 - one.x0 for one in side)[middle] > 0.6 * width
    )


def _leaf_blocks(segments: Sequence[Segment]) -> Iterator[Block]:
    """The blocks of one column, from top to bottom."""
    rows = _rows(segments)
    at = 0
    right = max((one.x1 for one in segments if not one.rows), default=0.0)
    for start, end, cells in aligned([row if not row[0].rows else row[:1] for row in rows]):
        yield from _paragraphs(rows[at:start], right)
        yield Block("", 0.0, rows[start][0].y, end - start, rows=cells)
        at = end
    yield from _paragraphs(rows[at:], right)


def _rows(segments: Iterable[Segment]) -> list[list[Segment]]:
    rows: list[list[Segment]] = []
    for one in segments:
        same = rows and not one.rows and not rows[-1][0].rows
        if same and rows[-1][0].y - one.y <= SAME_LINE * max(one.size, rows[-1][0].size):
            rows[-1].append(one)
        else:
            rows.append([one])
    return [sorted(row) for row in rows]


def _paragraphs(rows: Sequence[Sequence[Segment]], right: float) -> Iterator[Block]:
    paragraph: list[list[Segment]] = []
    items: list[float] = []
    for row in rows:
        joins = bool(paragraph) and _joins(paragraph, row)
        if paragraph and not joins:
            yield _written(paragraph, items, right)
            paragraph = []
        if row[0].rows:
            yield Block("", 0.0, row[0].y, len(row[0].rows), rows=row[0].rows)
            items = []
        else:
            paragraph.append(list(row))
    if paragraph:
        yield _written(paragraph, items, right)


def _joins(paragraph: Sequence[Sequence[Segment]], row: Sequence[Segment]) -> bool:
    """Whether a line belongs to the paragraph above it: it is near, of the same size, and no list item."""
    above, one = paragraph[-1][-1], row[0]
    if one.rows or abs(above.size - one.size) > 0.6 or above.y - one.y > LEADING * one.size:
        return False
    return one.words == 1 or not _LIST_MARK.fullmatch(one.text.partition(" ")[0])


def _flows(above: Segment, one: Segment, right: float) -> bool:
    """Whether a line continues the sentence above it: that line is full, its first word had no room there."""
    if above.x1 + one.first_word + 0.3 * one.size <= right:
        return False
    return above.words >= PROSE_WORDS or one.text[0].islower() or not above.text.isascii()


def _written(paragraph: Sequence[Sequence[Segment]], items: list[float], right: float) -> Block:
    """The block of a paragraph's lines. `items` are the indents of the list items above it."""
    text = ""
    above: Segment | None = None
    for line in paragraph:
        words = " ".join(one.text for one in line)
        if above and text[-1] in BROKEN:
            text = text[:-1] + words
        elif above:
            text += (" " if _flows(above, line[0], right) else "\n") + words
        else:
            text = words
        above = line[-1]
    text = text.translate(_UNBROKEN)
    first = paragraph[0][0]
    mark, _, rest = text.partition(" ")
    if not (rest and (mark in _BULLETS or mark in "-–—" or _NUMBERED.match(text))):
        items.clear()
        return Block(text, first.size, first.y, len(paragraph))
    while items and items[-1] > first.x0 + first.size / 2:
        items.pop()
    if not items or items[-1] < first.x0 - first.size / 2:
        items.append(first.x0)
    return Block(text if mark[0].isdigit() else f"- {rest}", first.size, first.y, len(paragraph), depth=len(items))


_UNBROKEN = dict.fromkeys(map(ord, BROKEN), "-")
