"""The tables of a PDF page: cells between ruling lines, and aligned columns of words. Pure and linear."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from websearch_gateway.pages.formats.pdf_page import Span, Word
from websearch_gateway.pages.formats.pdf_text import text_of


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


def ruled(
    words: Sequence[Word], lines: Mapping[bool, Sequence[Span]]
) -> tuple[list[Segment], list[Word]]:
    """The tables between ruling lines, each as one segment, and the words outside of them."""
    tables: list[Segment] = []
    left = list(words)
    for grid in _grids(lines):
        rows, outside = _filled(grid, left)
        with_several = sum(1 for row in rows if sum(map(bool, row)) > 1)
        if with_several > 1:
            cells = tuple(map(tuple, rows))
            tables.append(Segment(grid.xs[0], grid.xs[-1], -grid.ys[0], 1.0, "", 0, cells))
            left = outside
    return tables, left


SNAP = 3.0
"""Lines nearer to each other than this (points) are one."""
MOST_CROSSINGS = 60_000
MOST_CELLS = 20_000
"""Above these limits the lines of a page are a drawing."""
_LOOK_BACK = 20
"""With how many lines before it a line is compared to see whether it continues one."""

Place = tuple[int, int]
"""The row and column of a cell."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """Cells between ruling lines.

    `xs` are the edges of columns from left to right, `ys` those of rows from top to bottom, negated. `first` has for
    each place the first place of its cell: those without a line between them are one.
    """

    xs: list[float]
    ys: list[float]
    first: dict[Place, Place]

    def rows(self, texts: Mapping[Place, str]) -> Iterator[list[str]]:
        """The texts by row and column; a merged cell repeats its text, given by its first place."""
        for row in range(len(self.ys) - 1):
            places = ((row, column) for column in range(len(self.xs) - 1))
            yield [texts.get(self.first[place], "") for place in places]


def _grids(lines: Mapping[bool, Sequence[Span]]) -> Iterator[_Grid]:
    flat, steep = _joined_lines(lines.get(True, ())), _joined_lines(lines.get(False, ()))
    if len(flat) * len(steep) > MOST_CROSSINGS:
        return
    for rows, columns in _connected(flat, steep):
        xs, ys = _edges(x for x, _, _ in columns), _edges(-y for y, _, _ in rows)
        has_cells = len(xs) >= 3 and len(ys) >= 3
        if has_cells and len(xs) * len(ys) <= MOST_CELLS:
            yield _Grid(xs, ys, _first_places(xs, ys, rows, columns))


def _first_places(
    xs: Sequence[float], ys: Sequence[float], rows: Iterable[Span], columns: Iterable[Span]
) -> dict[Place, Place]:
    """The first place of the cell of each place. An edge is the least place of the lines that it joins."""
    walls, floors = set[Place](), set[Place]()
    for x, y0, y1 in columns:
        column = bisect_right(xs, x) - 1
        below, above = bisect_left(ys, -y1 - SNAP), bisect_right(ys, SNAP - y0) - 1
        walls.update((row, column) for row in range(below, above))
    for y, x0, x1 in rows:
        row = bisect_right(ys, -y) - 1
        start, end = bisect_left(xs, x0 - SNAP), bisect_right(xs, x1 + SNAP) - 1
        floors.update((row, column) for column in range(start, end))
    first: dict[Place, Place] = {}
    for row in range(len(ys) - 1):
        for column in range(len(xs) - 1):
            place = (row, column)
            if column and place not in walls:
                first[place] = first[row, column - 1]
            elif row and place not in floors:
                first[place] = first[row - 1, column]
            else:
                first[place] = place
    return first


def _joined_lines(lines: Iterable[Span]) -> list[Span]:
    """Parallel lines, (place, start, end) each, after joining those that continue or cover each other."""
    joined: list[Span] = []
    for place, start, end in sorted(lines):
        for at in range(len(joined) - 1, max(-1, len(joined) - _LOOK_BACK), -1):
            earlier, first, last = joined[at]
            if place - earlier <= SNAP and start <= last + SNAP and first <= end + SNAP:
                joined[at] = (earlier, min(first, start), max(last, end))
                break
        else:
            joined.append((place, start, end))
    return joined


def _connected(
    flat: Sequence[Span], steep: Sequence[Span]
) -> Iterator[tuple[list[Span], list[Span]]]:
    """The groups of horizontal and vertical lines that cross or meet each other."""
    touched = [[at for at, row in enumerate(flat) if _meet(row, column)] for column in steep]
    group_of = list(range(len(flat)))
    for crossed in touched:
        groups = {group_of[at] for at in crossed}
        if len(groups) > 1:
            least = min(groups)
            group_of = [least if group in groups else group for group in group_of]
    rows_of, columns_of = defaultdict[int, list[Span]](list), defaultdict[int, list[Span]](list)
    for row, group in zip(flat, group_of, strict=True):
        rows_of[group].append(row)
    for column, crossed in zip(steep, touched, strict=True):
        if crossed:
            columns_of[group_of[crossed[0]]].append(column)
    for group in sorted(columns_of):
        yield rows_of[group], columns_of[group]


def _meet(row: Span, column: Span) -> bool:
    y, x0, x1 = row
    x, y0, y1 = column
    return y0 - SNAP <= y <= y1 + SNAP and x0 - SNAP <= x <= x1 + SNAP


def _edges(values: Iterable[float]) -> list[float]:
    edges: list[float] = []
    for value in sorted(values):
        if not edges or value - edges[-1] > SNAP:
            edges.append(value)
    return edges


def _filled(grid: _Grid, words: Sequence[Word]) -> tuple[list[list[str]], list[Word]]:
    """The rows with their texts, without empty rows, and the words outside of the grid."""
    cells: dict[Place, list[Word]] = {}
    outside: list[Word] = []
    for word in words:
        column = bisect_right(grid.xs, (word.x0 + word.x1) / 2) - 1
        row = bisect_right(grid.ys, -(word.y + word.size / 3)) - 1
        first = grid.first.get((row, column))
        if first is None:
            outside.append(word)
        else:
            cells.setdefault(first, []).append(word)
    texts = {place: _text_of_cell(held) for place, held in cells.items()}
    return [row for row in grid.rows(texts) if any(row)], outside


def _text_of_cell(words: Iterable[Word]) -> str:
    lines: dict[int, list[Word]] = {}
    for word in words:
        lines.setdefault(round(word.y / (word.size / 2)), []).append(word)
    return " ".join(text_of(sorted(line)) for _, line in sorted(lines.items(), reverse=True))


MOST_COLUMNS = 60
LEAST_ROWS = 3
"""The fewest rows with several cells of a table without ruling lines; two are enough from three columns on."""
WRAPPED = 1.45
"""A line whose distance to the line above is less than this (in font sizes) may continue a cell."""
_FARTHEST_ROW = 2.2
"""How many times the usual distance of its rows a table may leave free."""
_GAP = 1.5
"""The least gap between two columns, in points."""

Extent = tuple[float, float]
"""The left and right edge of a column."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A table without ruling lines: the rows of text that it takes, from `start` to before `end`, and its cells."""

    start: int
    end: int
    cells: tuple[tuple[str, ...], ...]


def aligned(rows: Sequence[Sequence[Segment]]) -> Iterator[Aligned]:
    """The tables without ruling lines among the rows of a column of text.

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
            yield Aligned(start, end, tuple(_cells(rows[start:end], columns)))
            start = end
        else:
            start += 1


def _run(rows: Sequence[Sequence[Segment]], start: int) -> tuple[int, list[Extent]]:
    """The end of the table that begins with the row `start`, and the extents of its columns."""
    columns = [(cell.x0, cell.x1) for cell in rows[start]]
    end, pitch = start + 1, 0.0
    for at in range(start + 1, len(rows)):
        row, above = rows[at], rows[at - 1]
        first = row[0]
        if first.rows or len(row) > MOST_COLUMNS:
            break
        distance = above[0].y - first.y
        if pitch and distance > _FARTHEST_ROW * max(pitch, first.size * 1.2):
            break
        wider = _with_row(columns, row)
        if wider is None or (len(row) == 1 and not _continues_cell(columns, wider, first)):
            break
        columns = wider
        if len(row) > 1:
            pitch = max(pitch, distance)
            end = at + 1
    return end, columns


def _continues_cell(columns: Sequence[Extent], wider: Sequence[Extent], line: Segment) -> bool:
    """Whether a line alone stands within a column that is there already."""
    if len(wider) != len(columns):
        return False
    return any(x0 - _GAP <= line.x0 and line.x1 <= x1 + _GAP for x0, x1 in columns)


def _with_row(columns: list[Extent], row: Sequence[Segment]) -> list[Extent] | None:
    """The columns with another row; None if the row fills the gap between two of them, or two cells are in one."""
    wider = list(columns)
    next_free = 0  # cells come from left to right, each in a column of its own
    for cell in row:
        at = bisect_right(wider, cell.x0 - _GAP, key=_right_edge)
        if at < next_free:
            return None
        touches = at < len(wider) and wider[at][0] - _GAP < cell.x1
        if not touches:
            wider.insert(at, (cell.x0, cell.x1))
        elif at + 1 < len(wider) and wider[at + 1][0] - _GAP < cell.x1:
            return None
        else:
            x0, x1 = wider[at]
            wider[at] = (min(x0, cell.x0), max(x1, cell.x1))
        next_free = at + 1
    return wider


def _right_edge(column: Extent) -> float:
    return column[1]


def _cells(
    rows: Sequence[Sequence[Segment]], columns: Sequence[Extent]
) -> Iterator[tuple[str, ...]]:
    """The rows with their texts by column; a line that continues a cell joins the row above it."""
    starts = [x0 for x0, _ in columns]
    current: list[str] = []
    above = 0.0
    for row in rows:
        texts = [""] * len(columns)
        for segment in row:
            texts[max(0, bisect_right(starts, segment.x0 + _GAP) - 1)] = segment.text
        is_near = len(row) == 1 and above - row[0].y < WRAPPED * row[0].size
        if current and is_near and not texts[0]:
            current = [f"{old} {new}".strip() for old, new in zip(current, texts, strict=True)]
        else:
            if current:
                yield tuple(current)
            current = texts
        above = row[0].y
    if current:
        yield tuple(current)
