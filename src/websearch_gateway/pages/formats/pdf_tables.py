"""The tables of a PDF page: cells between ruling lines, and aligned columns of words. Pure and linear."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from websearch_gateway.pages.formats.pdf_lines import LIST_MARKS, Row, Segment
from websearch_gateway.pages.formats.pdf_page import Ruling, Rulings, Word
from websearch_gateway.pages.formats.pdf_text import text_of


def ruled(words: Sequence[Word], rulings: Rulings) -> tuple[list[Segment], list[Word]]:
    """The tables between ruling lines, each as one segment, and the words outside of them."""
    tables: list[Segment] = []
    outside = list(words)
    for grid in _grids(rulings):
        rows, others = _filled(grid, outside)
        if sum(map(_has_several_texts, rows)) > 1:
            tables.append(_as_segment(grid, rows))
            outside = others
    return tables, outside


def _has_several_texts(row: Sequence[str]) -> bool:
    return len(row) - row.count("") > 1


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

    def cell_of(self, word: Word) -> Place | None:
        """The first place of the cell in which a word stands; None outside of the grid."""
        x = (word.x0 + word.x1) / 2
        y = word.y + word.size / 3
        column = bisect_right(self.xs, x) - 1
        row = bisect_right(self.ys, -y) - 1
        return self.first.get((row, column))

    def rows(self, texts: Mapping[Place, str]) -> Iterator[list[str]]:
        """The texts by row and column; a merged cell repeats its text, given by its first place."""
        for row in range(len(self.ys) - 1):
            places = ((row, column) for column in range(len(self.xs) - 1))
            yield [texts.get(self.first[place], "") for place in places]


def _as_segment(grid: _Grid, rows: Iterable[Sequence[str]]) -> Segment:
    return Segment(
        x0=grid.xs[0],
        x1=grid.xs[-1],
        y=-grid.ys[0],
        size=1.0,
        text="",
        words=0,
        rows=tuple(map(tuple, rows)),
    )


def _grids(rulings: Rulings) -> Iterator[_Grid]:
    joined = Rulings(_joined(rulings.level), _joined(rulings.upright))
    if len(joined.level) * len(joined.upright) > MOST_CROSSINGS:
        return
    for lattice in _connected(joined):
        xs = _edges(ruling.place for ruling in lattice.upright)
        ys = _edges(-ruling.place for ruling in lattice.level)
        has_cells = len(xs) >= 3 and len(ys) >= 3
        if has_cells and len(xs) * len(ys) <= MOST_CELLS:
            yield _Grid(xs, ys, _first_places(xs, ys, lattice))


def _joined(rulings: Iterable[Ruling]) -> list[Ruling]:
    """Parallel lines, after joining those that continue or cover each other."""
    joined: list[Ruling] = []
    for ruling in sorted(rulings):
        at = _continued_by(ruling, joined)
        if at is None:
            joined.append(ruling)
        else:
            earlier = joined[at]
            start, end = min(earlier.start, ruling.start), max(earlier.end, ruling.end)
            joined[at] = Ruling(earlier.place, start, end)
    return joined


def _continued_by(ruling: Ruling, joined: Sequence[Ruling]) -> int | None:
    """Where the latest of the lines before it stands that a line continues or covers."""
    count = len(joined)
    for at in reversed(range(max(0, count - _LOOK_BACK), count)):
        earlier = joined[at]
        is_near = ruling.place - earlier.place <= SNAP
        if is_near and ruling.start <= earlier.end + SNAP and earlier.start <= ruling.end + SNAP:
            return at
    return None


def _connected(rulings: Rulings) -> Iterator[Rulings]:
    """The lines that cross or meet each other, in groups."""
    crossings = [_crossed_by(upright, rulings.level) for upright in rulings.upright]
    group_of = _groups(len(rulings.level), crossings)
    groups: dict[int, Rulings] = {}
    for level, group in zip(rulings.level, group_of, strict=True):
        groups.setdefault(group, Rulings([], [])).level.append(level)
    for upright, crossed in zip(rulings.upright, crossings, strict=True):
        if crossed:
            groups[group_of[crossed[0]]].upright.append(upright)
    for group in sorted(groups):
        if groups[group].upright:
            yield groups[group]


def _crossed_by(upright: Ruling, levels: Sequence[Ruling]) -> list[int]:
    """The numbers of the level lines that an upright one crosses or meets."""
    x, bottom, top = upright
    crossed = []
    for at, (y, start, end) in enumerate(levels):
        is_as_high = bottom - SNAP <= y <= top + SNAP
        if is_as_high and start - SNAP <= x <= end + SNAP:
            crossed.append(at)
    return crossed


def _groups(count: int, crossings: Sequence[Sequence[int]]) -> list[int]:
    """The group of each level line: those that an upright one crosses are in the same."""
    group_of = list(range(count))
    for crossed in crossings:
        meeting = {group_of[at] for at in crossed}
        if len(meeting) > 1:
            least = min(meeting)
            group_of = [least if group in meeting else group for group in group_of]
    return group_of


def _edges(places: Iterable[float]) -> list[float]:
    edges: list[float] = []
    for place in sorted(places):
        if not edges or place - edges[-1] > SNAP:
            edges.append(place)
    return edges


def _first_places(xs: Sequence[float], ys: Sequence[float], lattice: Rulings) -> dict[Place, Place]:
    """The first place of the cell of each place."""
    walls = _places_right_of(lattice.upright, xs, ys)
    ceilings = _places_below(lattice.level, xs, ys)
    first: dict[Place, Place] = {}
    for row in range(len(ys) - 1):
        for column in range(len(xs) - 1):
            place = (row, column)
            if column and place not in walls:
                first[place] = first[row, column - 1]
            elif row and place not in ceilings:
                first[place] = first[row - 1, column]
            else:
                first[place] = place
    return first


# An edge is the least place of the lines that it joins: hence the search for the edge before a line.


def _places_right_of(
    uprights: Iterable[Ruling], xs: Sequence[float], ys: Sequence[float]
) -> set[Place]:
    """The places with a line at their left."""
    places: set[Place] = set()
    for x, bottom, top in uprights:
        column = bisect_right(xs, x) - 1
        first = bisect_left(ys, -top - SNAP)
        last = bisect_right(ys, SNAP - bottom) - 1
        places.update((row, column) for row in range(first, last))
    return places


def _places_below(levels: Iterable[Ruling], xs: Sequence[float], ys: Sequence[float]) -> set[Place]:
    """The places with a line above them."""
    places: set[Place] = set()
    for y, start, end in levels:
        row = bisect_right(ys, -y) - 1
        first = bisect_left(xs, start - SNAP)
        last = bisect_right(xs, end + SNAP) - 1
        places.update((row, column) for column in range(first, last))
    return places


def _filled(grid: _Grid, words: Sequence[Word]) -> tuple[list[list[str]], list[Word]]:
    """The rows with their texts, without empty rows, and the words outside of the grid."""
    cells: dict[Place, list[Word]] = {}
    outside: list[Word] = []
    for word in words:
        cell = grid.cell_of(word)
        if cell is None:
            outside.append(word)
        else:
            cells.setdefault(cell, []).append(word)
    texts = {cell: _text_of_cell(inside) for cell, inside in cells.items()}
    return [row for row in grid.rows(texts) if any(row)], outside


def _text_of_cell(words: Iterable[Word]) -> str:
    lines: dict[int, list[Word]] = {}
    for word in words:
        height = round(word.y / (word.size / 2))
        lines.setdefault(height, []).append(word)
    downwards = sorted(lines, reverse=True)
    return " ".join(text_of(sorted(lines[height])) for height in downwards)


MOST_COLUMNS = 60
LEAST_ROWS = 3
"""The fewest rows with several cells of a table without ruling lines, but see `_is_table`."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A table without ruling lines: the rows of text that it takes, from `start` to before `end`, and its cells."""

    start: int
    end: int
    cells: tuple[tuple[str, ...], ...]


def aligned(rows: Sequence[Row]) -> Iterator[Aligned]:
    """The tables without ruling lines among the rows of a column of text.

    A table is a run of rows whose segments leave the same gaps free from top to bottom.
    """
    start = 0
    while start < len(rows):
        if not _has_cells(rows[start]):
            start += 1
            continue
        run = _run_from(rows, start)
        taken = rows[start : run.end]
        if _is_table(taken, run.columns):
            yield Aligned(start, run.end, _cells(taken, run.columns))
            start = run.end
        else:
            start += 1


class Column(NamedTuple):
    """The left and right edge of a column of cells."""

    x0: float
    x1: float


def _has_cells(row: Row) -> bool:
    """Whether a row may be one of a table: it has several parts, and is no item of a list whose text has wide gaps."""
    return 2 <= len(row) <= MOST_COLUMNS and row[0].text[0] not in LIST_MARKS


def _is_table(rows: Sequence[Row], columns: Sequence[Column]) -> bool:
    """Whether there are rows enough: two are, if both begin in the first of three columns, and one has a cell in each."""
    with_cells = [row for row in rows if len(row) > 1]
    if len(with_cells) >= LEAST_ROWS:
        return True
    if len(with_cells) < 2 or len(columns) < 3:
        return False
    is_one_full = any(len(row) == len(columns) for row in with_cells)
    begin_together = all(row[0].x0 <= columns[0].x1 for row in with_cells)
    return is_one_full and begin_together


@dataclass(frozen=True, slots=True)
class _Run:
    """The end of a run of rows with the same gaps, and the columns between these."""

    end: int
    columns: list[Column]


_FARTHEST_ROW = 2.2
"""How many times the usual distance of its rows a table may leave free."""
_LINE_HEIGHT = 1.2
"""The distance of lines that stand close, in font sizes."""


def _run_from(rows: Sequence[Row], start: int) -> _Run:
    columns = [Column(cell.x0, cell.x1) for cell in rows[start]]
    end = start + 1
    pitch = 0.0  # the largest distance of two rows so far
    for at in range(start + 1, len(rows)):
        row = rows[at]
        first = row[0]
        distance = rows[at - 1][0].y - first.y
        is_far = pitch > 0 and distance > _FARTHEST_ROW * max(pitch, _LINE_HEIGHT * first.size)
        is_alone = len(row) == 1
        if first.rows or is_far or not (is_alone or _has_cells(row)):
            break
        wider = _with_row(columns, row)
        if wider is None:
            break
        if is_alone:
            if not _continues_cell(first, columns, wider):
                break
        else:
            shares_column = len(wider) < len(columns) + len(row)
            if not shares_column:
                break
            pitch = max(pitch, distance)
            end = at + 1
        columns = wider
    return _Run(end, columns)


_GAP = 1.5
"""The least gap between two columns, in points."""


def _continues_cell(line: Segment, columns: Sequence[Column], wider: Sequence[Column]) -> bool:
    """Whether a line alone stands within a column that is there already."""
    if len(wider) != len(columns):
        return False
    return any(x0 - _GAP <= line.x0 and line.x1 <= x1 + _GAP for x0, x1 in columns)


def _with_row(columns: Sequence[Column], row: Row) -> list[Column] | None:
    """The columns with another row; None if the row fills the gap between two of them, or two cells are in one."""
    wider = list(columns)
    next_free = 0  # cells come from left to right, each in a column of its own
    for cell in row:
        at = bisect_right(wider, cell.x0 - _GAP, key=_right_edge)
        if at < next_free:
            return None
        if not _reaches(cell, wider, at):
            wider.insert(at, Column(cell.x0, cell.x1))
        elif _reaches(cell, wider, at + 1):
            return None
        else:
            x0, x1 = wider[at]
            wider[at] = Column(min(x0, cell.x0), max(x1, cell.x1))
        next_free = at + 1
    return wider


def _right_edge(column: Column) -> float:
    return column.x1


def _reaches(cell: Segment, columns: Sequence[Column], at: int) -> bool:
    """Whether a cell, which begins before the end of a column, reaches it."""
    return at < len(columns) and columns[at].x0 - _GAP < cell.x1


WRAPPED = 1.45
"""A line whose distance to the line above is less than this (in font sizes) may continue a cell."""


def _cells(rows: Sequence[Row], columns: Sequence[Column]) -> tuple[tuple[str, ...], ...]:
    """The texts of rows by column; a line that continues a cell joins the row above it."""
    starts = [column.x0 for column in columns]
    cells: list[list[str]] = []
    above = 0.0
    for row in rows:
        first = row[0]
        texts = [""] * len(columns)
        for segment in row:
            column = bisect_right(starts, segment.x0 + _GAP) - 1
            texts[max(0, column)] = segment.text
        is_near = above - first.y < WRAPPED * first.size
        if cells and len(row) == 1 and is_near and not texts[0]:
            upper = cells[-1]
            cells[-1] = [f"{old} {new}".strip() for old, new in zip(upper, texts, strict=True)]
        else:
            cells.append(texts)
        above = first.y
    return tuple(map(tuple, cells))
