"""Finds the tables of a PDF page: cells between ruling lines, and columns of words that stand below each other."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from websearch_gateway.readers.formats.pdf_words import Line, Word

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


Span = tuple[float, float, float]


class Segment(NamedTuple):
    """Words of a line without a wide gap, from `x0` to `x1` on the baseline `y`. `rows` are those of a whole table."""

    x0: float
    x1: float
    y: float
    size: float
    text: str
    words: int
    rows: tuple[tuple[str, ...], ...] = ()
    first_word: float = 0.0


class Grid(NamedTuple):
    """Cells between ruling lines: the edges of columns from left to right, and of rows from top to bottom.

    `walls` are the vertical edges that are drawn, as (column edge, row), `floors` the horizontal ones.
    """

    xs: list[float]
    ys: list[float]
    walls: set[tuple[int, int]]
    floors: set[tuple[int, int]]


def ruled(words: Sequence[Word], lines: Sequence[Line]) -> tuple[list[Segment], list[Word]]:
    """The tables between ruling lines, each as one segment, and the words outside of them."""
    tables: list[Segment] = []
    left = list(words)
    for grid in _grids(lines):
        cells, outside = _filled(grid, left)
        if len(cells) > 1 and sum(1 for row in cells if sum(map(bool, row)) > 1) > 1:
            rows = tuple(tuple(row) for row in cells)
            tables.append(Segment(grid.xs[0], grid.xs[-1], grid.ys[0], 1.0, "", 0, rows))
            left = outside
    return tables, left


def _grids(lines: Sequence[Line]) -> Iterator[Grid]:
    flat = _joined_lines((line.y0, line.x0, line.x1) for line in lines if line.x1 - line.x0 > line.y1 - line.y0)
    steep = _joined_lines((line.x0, line.y0, line.y1) for line in lines if line.x1 - line.x0 < line.y1 - line.y0)
    if len(flat) * len(steep) > MOST_CROSSINGS:
        return
    for rows, columns in _connected(flat, steep):
        xs, ys = _edges(x for x, _, _ in columns), _edges(y for y, _, _ in rows)[::-1]
        if len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > MOST_CELLS:
            continue
        walls = {
            (_nearest(xs, x), row)
            for x, y0, y1 in columns
            for row in range(len(ys) - 1)
            if y0 - SNAP <= ys[row + 1] and ys[row] <= y1 + SNAP
        }
        floors = {
            (column, _nearest(ys, y))
            for y, x0, x1 in rows
            for column in range(len(xs) - 1)
            if x0 - SNAP <= xs[column] and xs[column + 1] <= x1 + SNAP
        }
        yield Grid(xs, ys, walls, floors)


def _joined_lines(lines: Iterable[Span]) -> list[Span]:
    """Parallel lines, (place, start, end) each, after joining those that continue or cover each other."""
    joined: list[Span] = []
    for place, start, end in sorted(lines):
        for at in range(len(joined) - 1, max(-1, len(joined) - _LOOK_BACK), -1):
            known, first, last = joined[at]
            if place - known > SNAP:
                joined.append((place, start, end))
                break
            if start <= last + SNAP and first <= end + SNAP:
                joined[at] = (known, min(first, start), max(last, end))
                break
        else:
            joined.append((place, start, end))
    return joined


def _connected(flat: Sequence[Span], steep: Sequence[Span]) -> Iterator[tuple[list[Span], list[Span]]]:
    """The groups of horizontal and vertical lines that cross or meet each other."""
    meets = [
        [at for at, (y, x0, x1) in enumerate(flat) if y0 - SNAP <= y <= y1 + SNAP and x0 - SNAP <= x <= x1 + SNAP]
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
            line for line, touched in zip(steep, meets, strict=True) if touched and group_of[touched[0]] == group
        ]
        if columns:
            yield [line for line, one in zip(flat, group_of, strict=True) if one == group], columns


def _edges(values: Iterable[float]) -> list[float]:
    edges: list[float] = []
    for value in sorted(values):
        if not edges or value - edges[-1] > SNAP:
            edges.append(value)
    return edges


def _nearest(edges: Sequence[float], value: float) -> int:
    return min(range(len(edges)), key=lambda place: abs(edges[place] - value))


def _filled(grid: Grid, words: Sequence[Word]) -> tuple[list[list[str]], list[Word]]:
    """The texts of the cells, in which a merged cell repeats its text, and the words outside of the grid."""
    xs, ys = grid.xs, [-y for y in grid.ys]
    cells: dict[tuple[int, int], list[Word]] = {}
    outside: list[Word] = []
    for word in words:
        column = bisect_right(xs, (word.x0 + word.x1) / 2) - 1
        row = bisect_right(ys, -(word.y + word.size / 3)) - 1
        if 0 <= column < len(xs) - 1 and 0 <= row < len(ys) - 1:
            cells.setdefault((row, column), []).append(word)
        else:
            outside.append(word)
    merged = _merged(grid)
    texts: dict[tuple[int, int], list[Word]] = {}
    for place, found in cells.items():
        texts.setdefault(merged[place], []).extend(found)
    written = {place: _text(found) for place, found in texts.items()}
    rows = [[written.get(merged[row, column], "") for column in range(len(xs) - 1)] for row in range(len(ys) - 1)]
    return [row for row in rows if any(row)], outside


def _merged(grid: Grid) -> dict[tuple[int, int], tuple[int, int]]:
    """The first place of the cell to which each place belongs: places without a line between them are one cell."""
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(len(grid.ys) - 1):
        for column in range(len(grid.xs) - 1):
            if column and (column, row) not in grid.walls:
                first[row, column] = first[row, column - 1]
            elif row and (column, row) not in grid.floors:
                first[row, column] = first[row - 1, column]
            else:
                first[row, column] = (row, column)
    return first


def _text(words: Sequence[Word]) -> str:
    lines: dict[int, list[Word]] = {}
    for word in words:
        lines.setdefault(round(word.y / (word.size / 2)), []).append(word)
    ordered = [word for _, line in sorted(lines.items(), reverse=True) for word in sorted(line)]
    return " ".join(word.text for word in ordered)


def aligned(rows: Sequence[Sequence[Segment]]) -> Iterator[tuple[int, int, tuple[tuple[str, ...], ...]]]:
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
        if joined is None or (len(row) == 1 and not _continues(columns, joined, row[0])):
            break
        columns = joined
        at += 1
        if len(row) > 1:
            pitch = max(pitch, distance)
            end = at
    return end, columns


def _joined(columns: list[tuple[float, float]], row: Sequence[Segment]) -> list[tuple[float, float]] | None:
    """The columns with another row; None if the row fills the gap between two of them, or two cells are in one."""
    joined = list(columns)
    used: set[int] = set()
    for segment in row:
        touched = [place for place, (x0, x1) in enumerate(joined) if segment.x0 < x1 + _GAP and x0 - _GAP < segment.x1]
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


def _continues(columns: list[tuple[float, float]], joined: list[tuple[float, float]], segment: Segment) -> bool:
    """Whether a row of one segment can belong to the table: within a column that is there already."""
    within = (x0 - _GAP <= segment.x0 and segment.x1 <= x1 + _GAP for x0, x1 in columns)
    return len(joined) == len(columns) and any(within)


def _cells(rows: Sequence[Sequence[Segment]], columns: Sequence[tuple[float, float]]) -> list[tuple[str, ...]]:
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
