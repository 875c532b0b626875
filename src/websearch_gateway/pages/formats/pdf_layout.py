"""The blocks of a PDF page in reading order: columns, paragraphs, lists, listings and tables. Pure and linear.

Words make lines, lines make segments between wide gaps, segments make columns, and the lines of a column make blocks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

from websearch_gateway.pages.formats.pdf_page import BROKEN, Point, Sheet, Word
from websearch_gateway.pages.formats.pdf_tables import Segment, aligned, ruled
from websearch_gateway.pages.formats.pdf_text import (
    between,
    has_right_to_left,
    text_of,
    without_marks,
)

Piece = TypeVar("Piece", Word, Segment)

LARGER = 1.12
"""A font this many times larger than that of the text makes a heading."""
WIDE_GAP = 0.95
"""A gap between words from this width on (in font sizes) separates cells or columns."""
SAME_LINE = 0.35
"""Words whose baselines differ by less than this (in font sizes) are on one line."""
PROSE_WORDS = 6
"""A line of so many words may end in the middle of a sentence."""

_BULLETS = "•●◦▪‣·○■□➢✓\uf0b7\uf0a7\uf0d8\u2043"
_DASHES = "-–—"
_LIST_MARK = re.compile(rf"[{_BULLETS}]|[-–—*o]|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivx]{{1,5}})[.)]")
_NUMBERED = re.compile(r"\d{1,3}[.)]\s")
_UNBROKEN = dict.fromkeys(map(ord, BROKEN), "-")


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


def blocks(sheet: Sheet) -> list[Block]:
    """The blocks of a page in reading order."""
    letters: Counter[float] = Counter()
    for word in sheet.words:
        letters[word.size] += len(word.text)
    usual = max(letters, key=letters.__getitem__, default=0.0)
    tables, words = ruled(_with_drop_caps(sheet.words, usual), sheet.lines)
    words = _with_bullets(_without_line_numbers(words), sheet.dots)
    typed = sum(len(word.text) for word in words if word.is_typed)
    if 2 * typed > letters.total():  # a typed page is no listing
        words = [word._replace(is_typed=False) for word in words]
    page: list[Block] = []
    for column in _ordered([*tables, *_segments(words)], 0):
        page += _blocks_of_column(column, usual * LARGER)
    if sheet.turned:
        page.append(Block(sheet.turned, 1.0))
    return page


DROP_CAP = 1.8
"""A letter that begins a paragraph and is so much larger than its text."""
MOST_DROP_CAPS = 10
"""A page with more large letters has them for other reasons, and each is compared with all words."""


def _with_drop_caps(words: Sequence[Word], usual: float) -> list[Word]:
    """The words with each large first letter before the word of the upper line beside it."""
    caps = set()
    for word in words:
        if len(word.text) == 1 and word.size >= DROP_CAP * usual and word.text.isalpha():
            caps.add(word)
    if not 0 < len(caps) <= MOST_DROP_CAPS:
        return list(words)
    left = [word for word in words if word not in caps]
    for cap in caps:
        beside = [word for word in left if _is_beside_cap(word, cap, usual)]
        first = max(beside, key=lambda word: (round(word.y), -word.x0), default=None)
        if first is None or first.y - cap.y < usual / 2:
            left.append(cap)  # beside one line alone it is no letter of the text
        else:
            left[left.index(first)] = first._replace(text=cap.text + first.text)
    return left


def _is_beside_cap(word: Word, cap: Word, usual: float) -> bool:
    is_as_high = cap.y - usual / 2 <= word.y <= cap.y + cap.size
    return is_as_high and -usual <= word.x0 - cap.x1 <= 2 * usual


LEAST_NUMBERED = 5
"""The fewest lines whose numbers may be those of a draft."""
NUMBERED_WORDS = 5
"""The words that a line of such a draft has, in the middle of all lines: a row of a table has fewer in a cell."""
_NUMBERING_STEPS = frozenset((1, 2, 5, 10))


def _without_line_numbers(words: Sequence[Word]) -> list[Word]:
    """The words without the numbers that count the lines of a draft at their left."""
    if sum(1 for word in words if word.text.isdecimal()) < LEAST_NUMBERED:
        return list(words)
    numbered = [row for row in lines(words) if _begins_with_number(row)]
    steps = {int(below[0].text) - int(above[0].text) for above, below in pairwise(numbered)}
    if len(numbered) < LEAST_NUMBERED or len(steps) != 1 or not steps <= _NUMBERING_STEPS:
        return list(words)
    lengths = sorted(len(row) - 1 for row in numbered)
    with_cells = sum(1 for row in numbered if any(map(_has_gap, pairwise(row[1:]))))
    if lengths[len(lengths) // 2] < NUMBERED_WORDS or with_cells * 4 > len(numbered):
        return list(words)  # rows of a table
    numbers = {row[0] for row in numbered}
    return [word for word in words if word not in numbers]


def _begins_with_number(row: Sequence[Word]) -> bool:
    return len(row) > 1 and row[0].text.isdecimal() and _has_gap((row[0], row[1]))


def _has_gap(pair: tuple[Word, Word]) -> bool:
    before, after = pair
    return after.x0 - before.x1 > WIDE_GAP * min(before.size, after.size)


MOST_BULLETS = 200
"""The most dots of a page; more are a drawing, and each is compared with all lines."""
FARTHEST_BULLET = 2.5
"""How far from its text a bullet may stand, in font sizes."""
_HIGHEST_BULLET = 0.7
"""How far above the baseline its middle may stand, in font sizes."""


def _with_bullets(words: Sequence[Word], dots: Sequence[Point]) -> list[Word]:
    """The words and, before the lines that have one, the bullets that are drawn."""
    if not 0 < len(dots) <= MOST_BULLETS:
        return list(words)
    bullets = []
    for row in lines(words):
        first = row[0]
        for x, y in dots:
            is_beside = 0 < first.x0 - x < FARTHEST_BULLET * first.size
            if is_beside and 0 <= y - first.y <= _HIGHEST_BULLET * first.size:
                bullets.append(Word(x - 1, x + 1, first.y, first.size, "•"))
                break
    return [*words, *bullets]


def lines(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """The words, or parts of lines, by their lines, from top to bottom; a table is a line of its own."""
    line: list[Piece] = []
    for piece in sorted(pieces, key=_place):
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


def _place(piece: Word | Segment) -> tuple[float, float]:
    return -piece.y, piece.x0


def _segments(words: Sequence[Word]) -> list[Segment]:
    """The parts of all lines between wide gaps."""
    segments: list[Segment] = []
    for line in lines(words):
        run: list[Word] = []
        for word in line:
            if run and _is_apart_from(run, word):
                segments.append(_segment(run))
                run = []
            run.append(word)
        segments.append(_segment(run))
    return segments


_GAP_AFTER_MARK = 3.5
"""The gap that parts a list item's text from its mark as a cell of a table, in font sizes."""


def _is_apart_from(run: Sequence[Word], word: Word) -> bool:
    """Whether a word behind a gap belongs to another cell or column than the words before it."""
    before = run[-1]
    if not _has_gap((before, word)) or (before.is_typed and word.is_typed):
        return False
    is_mark = len(run) == 1 and _LIST_MARK.fullmatch(before.text) is not None
    size = min(before.size, word.size) if before.size > 0.4 * word.size else word.size
    return word.x0 - before.x1 > (_GAP_AFTER_MARK if is_mark else WIDE_GAP) * size


def _segment(run: Sequence[Word]) -> Segment:
    first = run[0]
    is_typed = all(word.is_typed for word in run)
    largest = _largest(run)
    return Segment(
        x0=first.x0,
        x1=max(word.x1 for word in run) if len(run) > 1 else first.x1,
        y=largest.y,
        size=largest.size,
        text=_text_of(run),
        words=len(run),
        first_word=first.x1 - first.x0,
        is_typed=is_typed,
        listing=_listing(run) if is_typed else "",
    )


def _largest(run: Sequence[Word]) -> Word:
    """The word whose font is that of the segment: the number of a list item may be larger than its text."""
    if len(run) == 1:
        return run[0]
    named = run if _has_letters(run[0].text) else run[1:]
    return max(named, key=lambda word: (word.size, len(word.text)))


_LEADERS = re.compile(r"(?: ?\.){5,}")
"""The dots between a heading and its page in a table of contents."""
_BROKEN_WITHIN = re.compile(f"[{BROKEN}] ")


def _text_of(run: Sequence[Word]) -> str:
    text = text_of(run)
    if len(run) > 1:
        text = _BROKEN_WITHIN.sub(_joint, text)
    return _LEADERS.sub(" …", text) if text.count(".") >= 5 else text


def _joint(broken: re.Match[str]) -> str:
    """What stands between the halves of a word that is broken: the hyphen only if it belongs to the word."""
    return _hyphen(broken.string[: broken.start()], broken.string[broken.end() :])


def _hyphen(before: str, after: str) -> str:
    """The hyphen between the end of a line and the beginning of the next, if it is no mere sign of a broken word."""
    part = without_marks(before).rpartition(" ")[2]
    rest = without_marks(after)[:1]
    belongs = "-" in part or not part[-1:].islower() or not rest.islower()
    return "-" if belongs else ""


TYPED_WIDTH = 0.6
"""The width of a letter of most such fonts, in font sizes."""


def _listing(run: Sequence[Word]) -> str:
    """The words with as many blanks between them as have room there."""
    letters = sum(len(word.text) for word in run)
    width = sum(word.x1 - word.x0 for word in run) / letters or TYPED_WIDTH * run[0].size
    text = run[0].text
    for before, word in pairwise(run):
        text += " " * max(1, round((word.x0 - before.x1) / width)) + word.text
    return text


LEAST_LINES = 4
"""The fewest lines beside each other that make columns."""
MOST_GUTTERS = 8
MOST_CUTS = 6
"""How often columns may be cut into columns."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """A part of a page with two columns: where the right one begins, and its highest and lowest baseline."""

    x: float
    upper: float
    lower: float


def _ordered(segments: Sequence[Segment], depth: int) -> Iterator[Sequence[Segment]]:
    """The segments in groups to read one after the other: what is above columns, each column, what is below them."""
    may_have_columns = depth < MOST_CUTS and len(segments) >= 2 * LEAST_LINES
    columns = _columns(segments) if may_have_columns else None
    if columns is None:
        if segments:
            yield segments
        return
    above, left, right, below = list[Segment](), list[Segment](), list[Segment](), list[Segment]()
    for segment in segments:
        if segment.y > columns.upper:
            above.append(segment)
        elif segment.y < columns.lower:
            below.append(segment)
        elif segment.x0 < columns.x:
            left.append(segment)
        else:
            right.append(segment)
    for part in (above, left, right, below):
        yield from _ordered(part, depth + 1)


def _columns(segments: Sequence[Segment]) -> _Columns | None:
    """The two columns with the most lines; None if there are none."""
    starts = Counter(round(segment.x0 / 2) for segment in segments if not segment.rows)
    downwards = sorted(segments, key=_place)
    longest = 0
    columns: _Columns | None = None
    for start, count in starts.most_common(MOST_GUTTERS):
        if count < LEAST_LINES:
            break
        x = start * 2 - 1.5
        for run in _uncrossed(downwards, x):
            if len(run) > longest and _has_columns(run, x):
                longest = len(run)
                columns = _Columns(x, upper=run[0].y, lower=run[-1].y)
    return columns


def _uncrossed(downwards: Sequence[Segment], x: float) -> Iterator[list[Segment]]:
    """Runs of segments from top to bottom of which none crosses `x`."""
    run: list[Segment] = []
    for segment in downwards:
        if segment.x0 < x < segment.x1 + 1:
            if run:
                yield run
                run = []
        else:
            run.append(segment)
    if run:
        yield run


def _has_columns(run: Sequence[Segment], x: float) -> bool:
    """Whether the segments left and right of `x` are read one side after the other, not row by row as a table is."""
    if len(run) < 2 * LEAST_LINES:
        return False
    left = [segment for segment in run if segment.x0 < x]
    right = [segment for segment in run if segment.x0 >= x]
    if min(len(left), len(right)) < LEAST_LINES:
        return False
    if _is_prose(left) and _is_prose(right):
        return True
    few, many = sorted((left, right), key=len)
    heights = {round(segment.y / 2) for segment in many}
    beside = 0
    for segment in few:
        height = round(segment.y / 2)
        beside += not heights.isdisjoint((height - 1, height, height + 1))
    return beside < len(few) / 2


_PROSE_LINE, _PROSE_WIDTH = 4, 0.6
"""The words of a line of prose, and the part of its column that it fills, in the middle of all lines."""


def _is_prose(column: Sequence[Segment]) -> bool:
    """Whether lines are full of words."""
    middle = len(column) // 2
    if sorted(segment.words for segment in column)[middle] < _PROSE_LINE:
        return False
    width = max(segment.x1 for segment in column) - min(segment.x0 for segment in column)
    return sorted(segment.x1 - segment.x0 for segment in column)[middle] > _PROSE_WIDTH * width


def _blocks_of_column(segments: Sequence[Segment], larger: float) -> Iterator[Block]:
    """The blocks of one column, from top to bottom. Headings of the page have at least the font size `larger`."""
    rows = list(lines(segments))
    at = 0
    right = max((segment.x1 for segment in segments if not segment.rows), default=0.0)
    for table in aligned(rows):
        yield from _Paragraphs(rows[at : table.start], right, larger).blocks()
        yield Block("", 0.0, rows=table.cells)
        at = table.end
    yield from _Paragraphs(rows[at:], right, larger).blocks()


LEADING, HEADING_LEADING, LISTING_LEADING = 1.75, 1.45, 3.0
"""The largest distance of the lines of a paragraph, of a heading whose first line has room, and of a listing, which may
have empty lines; in font sizes."""
WIDEST_LEADING = 3.2
"""The largest distance of the lines of a draft with room for remarks, in font sizes."""
_SAME_SIZE = 0.6
"""How many points the fonts of two lines of a paragraph may differ."""


class _Paragraphs:
    """The lines of a column between two tables, parted into paragraphs, list items and listings.

    `right` is the right edge of the column, `larger` the least font size of headings.
    """

    def __init__(self, rows: Sequence[Sequence[Segment]], right: float, larger: float) -> None:
        self._rows = rows
        self._right = right
        self._larger = larger
        self._leading = _leading(rows, right)
        self._indents: list[float] = []
        """The indents of the list items above, from the outermost on."""

    def blocks(self) -> Iterator[Block]:
        """The blocks from top to bottom."""
        paragraph: list[Sequence[Segment]] = []
        for row in self._rows:
            if paragraph and not self._continues(paragraph, row):
                yield self._block(paragraph)
                paragraph = []
            if row[0].rows:
                yield Block("", 0.0, rows=row[0].rows)
                self._indents.clear()
            else:
                paragraph.append(row)
        if paragraph:
            yield self._block(paragraph)

    def _continues(self, paragraph: Sequence[Sequence[Segment]], row: Sequence[Segment]) -> bool:
        """Whether a line belongs to the paragraph above it."""
        first, above = row[0], paragraph[-1]
        is_typed = _is_typed(row)
        if first.rows or is_typed != _is_typed(above):
            return False
        if is_typed and above[0].y - first.y <= LISTING_LEADING * first.size:
            return True
        is_large = first.size >= self._larger
        had_room = not _is_full(above[-1], first, self._right)
        leading = HEADING_LEADING if is_large and had_room else self._leading
        has_other_font = abs(above[-1].size - first.size) > _SAME_SIZE
        if has_other_font or above[-1].y - first.y > leading * first.size:
            return False
        if first.words != 1 and _LIST_MARK.fullmatch(first.text.partition(" ")[0]):
            return False
        return not (is_large and _is_another_heading(above, row, is_full=not had_room))

    def _block(self, paragraph: Sequence[Sequence[Segment]]) -> Block:
        first = paragraph[0][0]
        if len(paragraph) > 1 and all(map(_is_typed, paragraph)):
            self._indents.clear()
            return Block(_listed(paragraph), first.size, is_listing=True)
        lettered = (segment.size for segment in paragraph[0] if _has_letters(segment.text))
        size = next(lettered, first.size)
        text = self._text(paragraph)
        mark, _, rest = text.partition(" ")
        is_numbered = _NUMBERED.match(text) is not None
        if not rest or not (is_numbered or mark in _BULLETS or mark in _DASHES):
            self._indents.clear()
            return Block(text, size)
        number = mark.rstrip(".)") if is_numbered else ""
        return Block(rest, size, depth=self._depth(first), number=number)

    def _depth(self, item: Segment) -> int:
        """The depth of a list item by its indent."""
        indents = self._indents
        while indents and indents[-1] > item.x0 + item.size / 2:
            indents.pop()
        if not indents or indents[-1] < item.x0 - item.size / 2:
            indents.append(item.x0)
        return len(indents)

    def _text(self, paragraph: Sequence[Sequence[Segment]]) -> str:
        """The lines of a paragraph as one, but where the author began a new one."""
        text = _line_of(paragraph[0])
        for above, line in pairwise(paragraph):
            words = _line_of(line)
            if text[-1] in BROKEN:
                text = text[:-1] + _hyphen(text[:-1], words) + words
            elif self._flows(above[-1], line[0]):
                text += between(text, words) + words
            else:
                text += "\n" + words
        return text.translate(_UNBROKEN)

    def _flows(self, above: Segment, below: Segment) -> bool:
        """Whether a line was broken only because there was no more room."""
        if has_right_to_left(above.text):
            return True
        is_prose = above.words >= PROSE_WORDS or not above.text.isascii()
        return (is_prose or below.text[0].islower()) and _is_full(above, below, self._right)


def _leading(rows: Sequence[Sequence[Segment]], right: float) -> float:
    """The largest distance of the lines of a paragraph: more than usual where most full lines stand farther apart."""
    distances = []
    for above, below in pairwise(rows):
        has_table = above[0].rows or below[0].rows
        if not has_table and _is_full(above[-1], below[0], right):
            distances.append((above[-1].y - below[0].y) / below[0].size)
    if len(distances) < LEAST_LINES:
        return LEADING
    middle = sorted(distances)[len(distances) // 2]
    return middle * 1.05 if LEADING < middle <= WIDEST_LEADING else LEADING


def _is_typed(row: Sequence[Segment]) -> bool:
    """Whether a line is one of a listing."""
    return all(segment.is_typed for segment in row)


_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}\.?\s+([^\W\d_])")
"""The start of a heading with the number of its section."""
_UNFINISHED = re.compile(r"(?:\b[^\W\dA-Z_]{1,4}|[^\w\s)\]”’»\"'?!])$")
"""The end of a line that goes on: with a short word in small letters, such as `of`, or with a mark."""


def _is_another_heading(
    above: Sequence[Segment], line: Sequence[Segment], *, is_full: bool
) -> bool:
    """Whether a line in the font of headings begins another heading than the line above it.

    It has a number, or no edge or middle in common with the line above, or that one had room for more (not `is_full`)
    and ends like a title.
    """
    if section := _SECTION.match(line[0].text):
        return not section[1].islower()
    left, right = above[0].x0, above[-1].x1
    own_left, own_right = line[0].x0, line[-1].x1
    slack = line[0].size / 2
    if abs(left - own_left) > slack:
        from_middle = abs(left + right - own_left - own_right) / 2
        return not is_full and min(from_middle, abs(right - own_right)) > slack
    return not is_full and line[0].text[0].isupper() and not _UNFINISHED.search(above[-1].text)


def _is_full(line: Segment, following: Segment, right: float) -> bool:
    """Whether the first word of the following line had no room in a line."""
    return line.x1 + following.first_word + 0.3 * following.size > right


def _line_of(line: Sequence[Segment]) -> str:
    """The text of a line, whose parts may be read from right to left."""
    parts = [segment.text for segment in line]
    if len(parts) > 1 and all(map(has_right_to_left, parts)):
        parts.reverse()
    return " ".join(parts)


def _listed(rows: Sequence[Sequence[Segment]]) -> str:
    """The lines of a listing with their indents, and an empty one where there is room for it."""
    left = min(row[0].x0 for row in rows)
    size = rows[0][0].size
    widths = sorted((row[0].x1 - row[0].x0) / max(len(row[0].listing), 1) for row in rows)
    width = max(widths[len(widths) // 2], 0.1)
    written = ""
    above: Segment | None = None
    for row in rows:
        first = row[0]
        if above is not None:
            written += "\n\n" if above.y - first.y > LEADING * size else "\n"
        indent = " " * round((first.x0 - left) / width)
        written += indent + " ".join(segment.listing for segment in row)
        above = first
    return written.translate(_UNBROKEN)


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))
