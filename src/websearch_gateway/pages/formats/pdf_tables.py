"""The words of a PDF page, and its tables: cells between ruling lines, and aligned columns of words.

Raised, lowered and linked parts of a text stand between marks, see `pdf_text`.
"""

from __future__ import annotations

import ctypes
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from websearch_gateway.pages.formats.pdf_text import (
    MARKS,
    Sign,
    has_digit,
    has_right_to_left,
    in_reading_order,
    marked,
    text_of,
)

MOST_OBJECTS = 20_000
"""The objects of a page that are searched for ruling lines; drawings have more, and no tables."""
MOST_POINTS = 20_000
"""The points of lines and boxes on a page that are looked at."""
MOST_CHARACTERS = 200_000
"""The characters of a page that are read: a page of a telephone book has 30,000."""

BROKEN = "\x02\ufffe\u00ad"
"""Marks of a hyphen at the end of a line, which PDFium joins with the next: its own two, and the soft hyphen."""
_WORD = re.compile(rf"[^\s\0{BROKEN}{MARKS}]+[{BROKEN}]?")
_HALVES = re.compile("[\ud800-\udfff]")


class Word(NamedTuple):
    """A word from `x0` to `x1` on the baseline `y`, which grows upwards, in points; `size` is that of its font.

    `is_typed`: all letters of its font have one width. `link` is the address to which it leads.
    """

    x0: float
    x1: float
    y: float
    size: float
    text: str
    rows: tuple[()] = ()
    is_typed: bool = False
    link: str = ""


Span = tuple[float, float, float]
"""A ruling line: the y of a horizontal or the x of a vertical one, its start and its end."""


class Sheet(NamedTuple):
    """A page: upright words, the text that runs in another direction, ruling lines, and its height.

    `lines` are the horizontal ones by True, and the vertical ones by False. `dots` are the middles of small shapes,
    such as the bullets that browsers draw.
    """

    words: list[Word]
    turned: str
    lines: dict[bool, list[Span]]
    height: float
    dots: list[tuple[float, float]] = []  # noqa: RUF012 - never changed


Turn = Callable[[float, float], tuple[float, float]]
_ASKEW = 0.15
"""Text that leans more than this from an axis (in right angles) is turned, such as DRAFT across a page."""


def sheet(page: Any, linked: Sequence[Link] = ()) -> Sheet:
    """The words and lines of a pypdfium2 page, turned so that most of its text is upright. `linked` are its links."""
    import pypdfium2.raw as pdfium

    textpage = page.get_textpage()
    raw = textpage.raw
    text = _characters(raw)
    runs: list[tuple[int, float, list[re.Match[str]]]] = []
    matrix = pdfium.FS_MATRIX()
    line_end = -1
    for match in _WORD.finditer(text):
        if match.start() > line_end:
            line_end = text.find("\n", match.start()) % (len(text) + 1)
            pdfium.FPDFText_GetMatrix(raw, match.start(), matrix)
            angle = math.atan2(matrix.b, matrix.a) / (math.pi / 2)
            direction = round(angle) % 4 if abs(angle - round(angle)) < _ASKEW else -1
            runs.append((direction, math.hypot(matrix.c, matrix.d) or 1.0, []))
        runs[-1][2].append(match)
    (width, height), shown = page.get_size(), page.get_rotation() // 90
    if shown % 2:
        width, height = height, width
    letters = Counter({shown: 0})
    for direction, _, matches in runs:
        letters[direction] += matches[-1].end() - matches[0].start()
    del letters[-1]
    upright = max(letters, key=letters.__getitem__)
    turn = _turn(upright, width, height)
    words: list[Word] = []
    for direction, scale, matches in runs:
        if direction == upright:
            is_typed = bool(matches) and _is_typed(raw, matches[0].start())
            words += (_word(raw, match, scale, turn, is_typed=is_typed) for match in matches)
    words = _linked(words, [link.turned(turn) for link in linked])
    turned = " ".join(
        _whole(match[0])
        for direction, _, matches in runs
        if direction != upright
        for match in matches
    )
    textpage.close()
    lines, dots = _shapes(page, turn) if words else ({}, [])
    return Sheet(words, turned, lines, width if upright % 2 else height, dots)


def _turn(quarters: int, width: float, height: float) -> Turn:
    """How a place moves when text that runs in this direction, in right angles to the left, becomes upright."""
    turns: tuple[Turn, ...] = (
        lambda x, y: (x, y),
        lambda x, y: (y, width - x),
        lambda x, y: (width - x, height - y),
        lambda x, y: (height - y, x),
    )
    return turns[quarters]


def _word(raw: Any, match: re.Match[str], scale: float, turn: Turn, *, is_typed: bool) -> Word:
    import pypdfium2.raw as pdfium

    text = match[0]
    first, last = match.start(), match.end() - 1
    box, x, y = pdfium.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(raw, first, x, y)
    pdfium.FPDFText_GetLooseCharBox(raw, last, box)
    start, baseline = turn(x.value, y.value)
    end = max(turn(box.left, box.bottom)[0], turn(box.right, box.top)[0], start)
    size = pdfium.FPDFText_GetFontSize(raw, first)
    if len(text) > 1 and not _HALVES.search(text):
        runs_backwards = has_right_to_left(text)
        if runs_backwards or _has_two_sizes(raw, text, first, size):
            signs = [_sign(raw, index, sign, turn) for index, sign in enumerate(text, first)]
            size = max(sign.size for sign in signs)
            baseline = next(sign.y for sign in signs if sign.size == size)
            text = in_reading_order(signs) if runs_backwards else marked(signs, size, baseline)
            if runs_backwards:
                farthest = max(range(len(signs)), key=lambda at: signs[at].x)
                pdfium.FPDFText_GetLooseCharBox(raw, first + farthest, box)
                end = max(turn(box.left, box.bottom)[0], turn(box.right, box.top)[0], end)
                start = min(start, *(sign.x for sign in signs))
    return Word(start, end, baseline, max(size * scale, 1.0), _whole(text), is_typed=is_typed)


def _has_two_sizes(raw: Any, text: str, first: int, size: float) -> bool:
    """Whether a word may have raised or lowered signs. The middle of a word counts only if it has numbers."""
    import pypdfium2.raw as pdfium

    end = first + len(text)
    indexes = range(end - 1, first, -1) if has_digit(text) else (end - 1,)
    return any(pdfium.FPDFText_GetFontSize(raw, index) != size for index in indexes)


def _sign(raw: Any, index: int, text: str, turn: Turn) -> Sign:
    import pypdfium2.raw as pdfium

    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(raw, index, x, y)
    return Sign(text, *turn(x.value, y.value), pdfium.FPDFText_GetFontSize(raw, index))


_FIXED_PITCH = 1  # of the flags of a font (ISO 32000-1, table 123)
_TYPED_FONTS = re.compile(
    rb"mono|courier|consol|menlo|typewriter|cmtt|inconsolata|source ?code", re.IGNORECASE
)
_LONGEST_NAME = 200


def _is_typed(raw: Any, index: int) -> bool:
    import pypdfium2.raw as pdfium

    flags, name = ctypes.c_int(), ctypes.create_string_buffer(_LONGEST_NAME)
    length = pdfium.FPDFText_GetFontInfo(raw, index, name, _LONGEST_NAME, flags)
    return bool(flags.value & _FIXED_PITCH) or (
        length <= _LONGEST_NAME and bool(_TYPED_FONTS.search(name.value))
    )


MOST_LINKS, MOST_COMPARED = 500, 1_000_000
"""The links of a page that are looked at, and how often one is compared with a word."""
_LONGEST_ADDRESS = 2_000


def _linked(words: list[Word], places: Sequence[Link]) -> list[Word]:
    """The words with the addresses to which the page links them."""
    found = list(words)
    for place in places[: MOST_COMPARED // max(len(words), 1)]:
        for at, word in enumerate(found):
            if not word.link and place.holds(word):
                found[at] = word._replace(link=place.address)
    return found


class Link(NamedTuple):
    """A part of a page that leads to an address."""

    x0: float
    y0: float
    x1: float
    y1: float
    address: str

    def holds(self, word: Word) -> bool:
        """Whether the middle of a word lies in this part."""
        middle = word.y + word.size / 3
        return self.x0 <= (word.x0 + word.x1) / 2 <= self.x1 and self.y0 <= middle <= self.y1

    def turned(self, turn: Turn) -> Link:
        """The same part of the page after a turn."""
        (ax, ay), (bx, by) = turn(self.x0, self.y0), turn(self.x1, self.y1)
        return Link(min(ax, bx), min(ay, by), max(ax, bx), max(ay, by), self.address)


def links(page: Any) -> list[Link]:
    """The parts of a page that lead to addresses of the web, up to MOST_LINKS."""
    import pypdfium2.raw as pdfium

    found = []
    place, link, box = ctypes.c_int(0), pdfium.FPDF_LINK(), pdfium.FS_RECTF()
    address = ctypes.create_string_buffer(_LONGEST_ADDRESS)
    for _ in range(MOST_LINKS):
        if not pdfium.FPDFLink_Enumerate(page.raw, place, link):
            break
        action = pdfium.FPDFLink_GetAction(link)
        length = (
            pdfium.FPDFAction_GetURIPath(page.pdf.raw, action, address, _LONGEST_ADDRESS)
            if action
            else 0
        )
        url = address.value.decode("utf-8", "replace") if 0 < length <= _LONGEST_ADDRESS else ""
        if url.startswith(("http://", "https://", "mailto:")) and pdfium.FPDFLink_GetAnnotRect(
            link, box
        ):
            found.append(Link(box.left, box.bottom, box.right, box.top, url))
    return found


def with_form_values(page: Any) -> bool:
    """Make what is written into the form of a page a part of its text. Returns whether the page must be opened anew."""
    import pypdfium2.raw as pdfium

    return bool(
        pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS
    )


def _whole(text: str) -> str:
    """The text with whole characters: one beyond the first 65,536 comes in two halves."""
    if not _HALVES.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _characters(raw: Any) -> str:
    """The text of a page in which each character has the index that PDFium gives it."""
    import pypdfium2.raw as pdfium

    count = min(pdfium.FPDFText_CountChars(raw), MOST_CHARACTERS)
    buffer = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(raw, 0, count, buffer) - 1
    if written == count:
        return "".join(map(chr, buffer[:count]))
    codes = (pdfium.FPDFText_GetUnicode(raw, index) for index in range(count))
    return "".join(chr(code) if code < 0x110000 else " " for code in codes)


def _shapes(page: Any, turn: Turn) -> tuple[dict[bool, list[Span]], list[tuple[float, float]]]:
    """The ruling lines, which are thin boxes and the straight parts of paths, and the middles of dots."""
    import pypdfium2.raw as pdfium

    lines: dict[bool, list[Span]] = {True: [], False: []}
    dots: list[tuple[float, float]] = []
    left = MOST_POINTS
    count = pdfium.FPDFPage_CountObjects(page.raw)
    for index in range(count if count <= MOST_OBJECTS else 0):
        element = pdfium.FPDFPage_GetObject(page.raw, index)
        if pdfium.FPDFPageObj_GetType(element) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        points = pdfium.FPDFPath_CountSegments(element)
        left -= points
        if left < 0:
            return {}, []
        if dot := _dot(element, turn):
            dots.append(dot)
            continue
        for start, end in _straight(element, points, turn):
            (x0, x1), (y0, y1) = sorted((start[0], end[0])), sorted((start[1], end[1]))
            if (x1 - x0 < 1) != (is_flat := y1 - y0 < 1):
                lines[is_flat].append((y0, x0, x1) if is_flat else (x0, y0, y1))
    return lines, dots


_DOT_SIZES = (1.5, 8.0)
"""The width and height of a bullet, in points."""


def _dot(path: Any, turn: Turn) -> tuple[float, float] | None:
    """The middle of a shape that is small and as wide as high; None for any other."""
    import pypdfium2.raw as pdfium

    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(path, left, bottom, right, top):
        return None
    width, height = right.value - left.value, top.value - bottom.value
    least, most = _DOT_SIZES
    if not (least <= width <= most and abs(width - height) < least / 2):
        return None
    return turn((left.value + right.value) / 2, (bottom.value + top.value) / 2)


def _straight(
    path: Any, points: int, turn: Turn
) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """The places between which a path has straight parts."""
    import pypdfium2.raw as pdfium

    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    start = before = (0.0, 0.0)
    for index in range(points):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        place = turn(
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = place
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield before, place
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield place, start
        before = place


SNAP = 3.0
"""Lines nearer to each other than this (points) are one."""
MOST_CROSSINGS = 60_000
MOST_CELLS = 20_000
"""Above these limits the lines of a page are a drawing."""
_GAP = 1.5
_LOOK_BACK = 20

MOST_COLUMNS = 60
LEAST_ROWS = 3
"""The fewest rows with several cells of a table without ruling lines; two are enough from three columns on."""
WRAPPED = 1.45
"""A line whose distance to the line above is less than this (in font sizes) may continue a cell."""


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


Place = tuple[int, int]
Grid = tuple[list[float], list[float], dict[Place, Place]]
"""Cells between ruling lines: the edges of columns from left to right, and of rows from top to bottom, negated; and for
each place, (row, column), the first place of its cell: those without a line between them are one."""


def ruled(
    words: Sequence[Word], lines: Mapping[bool, Sequence[Span]]
) -> tuple[list[Segment], list[Word]]:
    """The tables between ruling lines, each as one segment, and the words outside of them."""
    tables: list[Segment] = []
    left = list(words)
    for grid in _grids(lines):
        cells, outside = _filled(grid, left)
        if len(cells) > 1 and sum(1 for row in cells if sum(map(bool, row)) > 1) > 1:
            rows = tuple(tuple(row) for row in cells)
            tables.append(Segment(grid[0][0], grid[0][-1], -grid[1][0], 1.0, "", 0, rows))
            left = outside
    return tables, left


def _grids(lines: Mapping[bool, Sequence[Span]]) -> Iterator[Grid]:
    flat, steep = (_joined_lines(lines.get(is_flat, ())) for is_flat in (True, False))
    if len(flat) * len(steep) > MOST_CROSSINGS:
        return
    for rows, columns in _connected(flat, steep):
        xs, ys = _edges(x for x, _, _ in columns), _edges(-y for y, _, _ in rows)
        if len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > MOST_CELLS:
            continue
        # An edge is the least place of the lines that it joins.
        walls = {
            (bisect_right(xs, x) - 1, row)
            for x, y0, y1 in columns
            for row in range(bisect_left(ys, -y1 - SNAP), bisect_right(ys, SNAP - y0) - 1)
        }
        floors = {
            (column, bisect_right(ys, -y) - 1)
            for y, x0, x1 in rows
            for column in range(bisect_left(xs, x0 - SNAP), bisect_right(xs, x1 + SNAP) - 1)
        }
        first: dict[Place, Place] = {}
        for row in range(len(ys) - 1):
            for column in range(len(xs) - 1):
                place = first[row, column] = (row, column)
                if column and (column, row) not in walls:
                    first[place] = first[row, column - 1]
                elif row and (column, row) not in floors:
                    first[place] = first[row - 1, column]
        yield xs, ys, first


def _joined_lines(lines: Iterable[Span]) -> list[Span]:
    """Parallel lines, (place, start, end) each, after joining those that continue or cover each other."""
    joined: list[Span] = []
    for place, start, end in sorted(lines):
        for at in range(len(joined) - 1, max(-1, len(joined) - _LOOK_BACK), -1):
            known, first, last = joined[at]
            if place - known <= SNAP and start <= last + SNAP and first <= end + SNAP:
                joined[at] = (known, min(first, start), max(last, end))
                break
        else:
            joined.append((place, start, end))
    return joined


def _connected(
    flat: Sequence[Span], steep: Sequence[Span]
) -> Iterator[tuple[list[Span], list[Span]]]:
    """The groups of horizontal and vertical lines that cross or meet each other."""
    meets = [
        [
            at
            for at, (y, x0, x1) in enumerate(flat)
            if y0 - SNAP <= y <= y1 + SNAP and x0 - SNAP <= x <= x1 + SNAP
        ]
        for x, y0, y1 in steep
    ]
    group_of = list(range(len(flat)))
    for touched in meets:
        groups = {group_of[at] for at in touched}
        if len(groups) > 1:
            least = min(groups)
            group_of = [least if one in groups else one for one in group_of]
    for group in sorted(set(group_of)):
        columns = [
            line
            for line, touched in zip(steep, meets, strict=True)
            if touched and group_of[touched[0]] == group
        ]
        if columns:
            yield [line for line, one in zip(flat, group_of, strict=True) if one == group], columns


def _edges(values: Iterable[float]) -> list[float]:
    edges: list[float] = []
    for value in sorted(values):
        if not edges or value - edges[-1] > SNAP:
            edges.append(value)
    return edges


def _filled(grid: Grid, words: Sequence[Word]) -> tuple[list[list[str]], list[Word]]:
    """The texts of the cells, in which a merged cell repeats its text, and the words outside of the grid."""
    xs, ys, merged = grid
    texts: dict[Place, list[Word]] = {}
    outside: list[Word] = []
    for word in words:
        column = bisect_right(xs, (word.x0 + word.x1) / 2) - 1
        row = bisect_right(ys, -(word.y + word.size / 3)) - 1
        if 0 <= column < len(xs) - 1 and 0 <= row < len(ys) - 1:
            texts.setdefault(merged[row, column], []).append(word)
        else:
            outside.append(word)
    written = {}
    for place, found in texts.items():
        lines: dict[int, list[Word]] = {}
        for word in found:
            lines.setdefault(round(word.y / (word.size / 2)), []).append(word)
        written[place] = " ".join(
            text_of(sorted(line)) for _, line in sorted(lines.items(), reverse=True)
        )
    rows = [
        [written.get(merged[row, column], "") for column in range(len(xs) - 1)]
        for row in range(len(ys) - 1)
    ]
    return [row for row in rows if any(row)], outside


def aligned(
    rows: Sequence[Sequence[Segment]],
) -> Iterator[tuple[int, int, tuple[tuple[str, ...], ...]]]:
    """The tables without ruling lines among the rows of a column of text: first row, end, and cells.

    A table is a run of rows whose segments leave the same gaps free from top to bottom.
    """
    start = 0
    while start < len(rows):
        if not 2 <= len(rows[start]) <= MOST_COLUMNS:
            start += 1
            continue
        end, columns = _run(rows, start)
        several = sum(1 for row in rows[start:end] if len(row) > 1)
        if several >= LEAST_ROWS or (several == 2 and len(columns) > 2):
            yield start, end, tuple(_cells(rows[start:end], columns))
            start = end
        else:
            start += 1


def _run(rows: Sequence[Sequence[Segment]], start: int) -> tuple[int, list[tuple[float, float]]]:
    """The end of the table that begins with the row `start`, and the extents of its columns."""
    columns = [(one.x0, one.x1) for one in rows[start]]
    end, at, pitch = start + 1, start + 1, 0.0
    while at < len(rows):
        row, before = rows[at], rows[at - 1]
        if row[0].rows or len(row) > MOST_COLUMNS:
            break
        distance = before[0].y - row[0].y
        if pitch and distance > 2.2 * max(pitch, row[0].size * 1.2):
            break
        joined = _joined(columns, row)
        if joined is None:
            break
        if len(row) == 1:  # it continues a cell within a column that is there already
            within = any(x0 - _GAP <= row[0].x0 and row[0].x1 <= x1 + _GAP for x0, x1 in columns)
            if len(joined) != len(columns) or not within:
                break
        columns = joined
        at += 1
        if len(row) > 1:
            pitch = max(pitch, distance)
            end = at
    return end, columns


def _joined(
    columns: list[tuple[float, float]], row: Sequence[Segment]
) -> list[tuple[float, float]] | None:
    """The columns with another row; None if the row fills the gap between two of them, or two cells are in one."""
    joined = list(columns)
    used: set[int] = set()
    for segment in row:
        touched = [
            place
            for place, (x0, x1) in enumerate(joined)
            if segment.x0 < x1 + _GAP and x0 - _GAP < segment.x1
        ]
        if len(touched) > 1:
            return None
        if touched:
            place = touched[0]
            joined[place] = (min(joined[place][0], segment.x0), max(joined[place][1], segment.x1))
        else:
            place = bisect_left(joined, (segment.x0, segment.x1))
            joined.insert(place, (segment.x0, segment.x1))
            used = {one + (one >= place) for one in used}
        if place in used:
            return None
        used.add(place)
    return joined


def _cells(
    rows: Sequence[Sequence[Segment]], columns: Sequence[tuple[float, float]]
) -> list[tuple[str, ...]]:
    cells: list[list[str]] = []
    starts = [x0 for x0, _ in columns]
    above = 0.0
    for row in rows:
        texts = [""] * len(columns)
        for segment in row:
            texts[max(0, bisect_right(starts, segment.x0 + _GAP) - 1)] = segment.text
        wraps = bool(cells) and len(row) == 1 and above - row[0].y < WRAPPED * row[0].size
        if wraps and not texts[0]:
            cells[-1] = [f"{old} {new}".strip() for old, new in zip(cells[-1], texts, strict=True)]
        else:
            cells.append(texts)
        above = row[0].y
    return [tuple(row) for row in cells]
