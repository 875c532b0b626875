"""The lines of a column of a PDF page as paragraphs, list items and listings. Pure and linear."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from websearch_gateway.pages.formats.pdf_lines import (
    LIST_MARK,
    LIST_MARKS,
    Row,
    Segment,
    has_letters,
)
from websearch_gateway.pages.formats.pdf_text import (
    BROKEN,
    between,
    has_right_to_left,
    hyphen_between,
    with_hyphens,
)


class Block(NamedTuple):
    """A paragraph, list item (`depth` from 1, with its `number` if it has one), listing or table of a page.

    `size` is the size of its font, 0 for a table.
    """

    text: str
    size: float
    depth: int = 0
    rows: tuple[tuple[str, ...], ...] = ()
    number: str = ""
    is_listing: bool = False


LEADING, HEADING_LEADING, LISTING_LEADING = 1.75, 1.45, 3.0
"""The largest distance of the lines of a paragraph, of a heading whose first line has room, and of a listing, which may
have empty lines; in font sizes."""
PROSE_WORDS = 6
"""A line of so many words may end in the middle of a sentence."""
_SAME_SIZE = 0.6
"""How many points the fonts of two lines of a paragraph may differ."""
_ITEM_MARKS = frozenset((*LIST_MARKS, "-", "–", "—"))
_ITEM_NUMBER = re.compile(r"\d{1,3}[.)]\s")


class Paragraphs:
    """The lines of a column between two tables.

    `right` is the right edge of the column, `larger` the least font size of headings.
    """

    def __init__(self, rows: Sequence[Row], right: float, larger: float) -> None:
        self._rows = rows
        self._right = right
        self._larger = larger
        self._leading = _leading(rows, right)
        self._indents: list[float] = []
        """The indents of the list items above, from the outermost on."""

    def blocks(self) -> Iterator[Block]:
        """The blocks from top to bottom."""
        paragraph: list[Row] = []
        for row in self._rows:
            if paragraph and not self._continues(paragraph[-1], row):
                yield self._block(paragraph)
                paragraph = []
            if row[0].rows:
                yield Block("", 0.0, rows=row[0].rows)
                self._indents.clear()
            else:
                paragraph.append(row)
        if paragraph:
            yield self._block(paragraph)

    def _continues(self, above: Row, row: Row) -> bool:
        """Whether a line belongs to the paragraph of the line above it."""
        first, last = row[0], above[-1]
        is_typed = _is_typed(row)
        if first.rows or is_typed != _is_typed(above):
            return False
        if is_typed and above[0].y - first.y <= LISTING_LEADING * first.size:
            return True
        is_heading = first.size >= self._larger
        is_full = _is_full(last, first, self._right)
        leading = HEADING_LEADING if is_heading and not is_full else self._leading
        has_other_font = abs(last.size - first.size) > _SAME_SIZE
        is_far = last.y - first.y > leading * first.size
        if has_other_font or is_far or _begins_with_mark(first):
            return False
        return not (is_heading and _is_another_heading(above, row, is_full=is_full))

    def _block(self, paragraph: Sequence[Row]) -> Block:
        first = paragraph[0][0]
        if len(paragraph) > 1 and all(map(_is_typed, paragraph)):
            self._indents.clear()
            return Block(_listing(paragraph), first.size, is_listing=True)
        text = self._text(paragraph)
        size = _size_of_words(paragraph[0])
        mark, _, words = text.partition(" ")
        is_numbered = _ITEM_NUMBER.match(text) is not None
        is_item = words and (is_numbered or mark in _ITEM_MARKS)
        if not is_item:
            self._indents.clear()
            return Block(text, size)
        number = mark.rstrip(".)") if is_numbered else ""
        return Block(words, size, depth=self._depth(first), number=number)

    def _depth(self, item: Segment) -> int:
        """The depth of a list item by its indent."""
        indents = self._indents
        slack = item.size / 2
        while indents and indents[-1] > item.x0 + slack:
            indents.pop()
        if not indents or indents[-1] < item.x0 - slack:
            indents.append(item.x0)
        return len(indents)

    def _text(self, paragraph: Sequence[Row]) -> str:
        """The lines of a paragraph as one, but where the author began a new one."""
        text = _text_of_line(paragraph[0])
        for above, row in pairwise(paragraph):
            words = _text_of_line(row)
            if text[-1] in BROKEN:
                text = text[:-1]
                text += hyphen_between(text, words) + words
            elif self._flows(above[-1], row[0]):
                text += between(text, words) + words
            else:
                text += "\n" + words
        return with_hyphens(text)

    def _flows(self, above: Segment, below: Segment) -> bool:
        """Whether a line was broken only because there was no more room."""
        if has_right_to_left(above.text):
            return True
        is_prose = above.words >= PROSE_WORDS or not above.text.isascii()
        may_flow = is_prose or below.text[0].islower()
        return may_flow and _is_full(above, below, self._right)


LEAST_DISTANCES = 4
"""The fewest pairs of full lines that tell how far apart the lines of a text stand."""
WIDEST_LEADING = 3.2
"""The largest distance of the lines of a draft with room for remarks, in font sizes."""
_LEADING_SLACK = 1.05


def _leading(rows: Sequence[Row], right: float) -> float:
    """The largest distance of the lines of a paragraph: more than usual where most full lines stand farther apart."""
    distances = []
    for above, below in pairwise(rows):
        has_table = above[0].rows or below[0].rows
        if not has_table and _is_full(above[-1], below[0], right):
            distances.append((above[-1].y - below[0].y) / below[0].size)
    if len(distances) < LEAST_DISTANCES:
        return LEADING
    middle = sorted(distances)[len(distances) // 2]
    is_draft = LEADING < middle <= WIDEST_LEADING
    return middle * _LEADING_SLACK if is_draft else LEADING


def _is_full(line: Segment, following: Segment, right: float) -> bool:
    """Whether the first word of the following line had no room in a line."""
    return line.x1 + following.first_word + 0.3 * following.size > right


def _is_typed(row: Row) -> bool:
    """Whether a line is one of a listing."""
    return all(segment.is_typed for segment in row)


def _begins_with_mark(segment: Segment) -> bool:
    """Whether a line begins like a list item."""
    if segment.words == 1:
        return False
    return LIST_MARK.fullmatch(segment.text.partition(" ")[0]) is not None


def _size_of_words(row: Row) -> float:
    """The size of the font of a line: of the first words of it that have letters."""
    for segment in row:
        if has_letters(segment.text):
            return segment.size
    return row[0].size


_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}\.?\s+([^\W\d_])")
"""The start of a heading with the number of its section."""
_UNFINISHED = re.compile(r"(?:\b[^\W\dA-Z_]{1,4}|[^\w\s)\]”’»\"'?!])$")
"""The end of a line that goes on: with a short word in small letters, such as `of`, or with a mark."""


def _is_another_heading(above: Row, row: Row, *, is_full: bool) -> bool:
    """Whether a line in the font of headings begins another heading than the line above it.

    It has a number, or no edge or middle in common with the line above, or that one had room for more (not `is_full`)
    and ends like a title.
    """
    first = row[0]
    if section := _SECTION.match(first.text):
        return not section[1].islower()
    if is_full:
        return False
    slack = first.size / 2
    start, end = above[0].x0, above[-1].x1
    own_start, own_end = first.x0, row[-1].x1
    if abs(start - own_start) > slack:
        between_middles = abs(start + end - own_start - own_end) / 2
        between_ends = abs(end - own_end)
        return min(between_middles, between_ends) > slack
    ends_like_title = _UNFINISHED.search(above[-1].text) is None
    return first.text[0].isupper() and ends_like_title


def _text_of_line(row: Row) -> str:
    """The text of a line, whose parts may be read from right to left."""
    parts = [segment.text for segment in row]
    if all(map(has_right_to_left, parts)):
        parts.reverse()
    return " ".join(parts)


def _listing(rows: Sequence[Row]) -> str:
    """The lines of a listing with their indents, and an empty one where there is room for it."""
    margin = min(row[0].x0 for row in rows)
    size = rows[0][0].size
    width = _width_of_letters(rows)
    text = ""
    above: Segment | None = None
    for row in rows:
        first = row[0]
        if above is not None:
            has_room = above.y - first.y > LEADING * size
            text += "\n\n" if has_room else "\n"
        text += " " * round((first.x0 - margin) / width)
        text += " ".join(segment.listing for segment in row)
        above = first
    return with_hyphens(text)


def _width_of_letters(rows: Sequence[Row]) -> float:
    """The width of a letter in the middle of all lines."""
    widths = []
    for row in rows:
        first = row[0]
        widths.append((first.x1 - first.x0) / max(len(first.listing), 1))
    widths.sort()
    return max(widths[len(widths) // 2], 0.1)
