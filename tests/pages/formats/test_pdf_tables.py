"""Words between ruling lines are a table, and aligned words where there is evidence for its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.pages.formats.pdf_words import page, word
from websearch_gateway.pages.formats.pdf_page import Ruling, Rulings, Word
from websearch_gateway.pages.formats.pdf_tables import ruled

PITCH = 14


def cells(*rows: Mapping[float, str], pitches: Sequence[float] = ()) -> list[tuple[str, ...]]:
    """The cells of the tables of a page with these rows below each other: what begins at each place from the left.

    `pitches` are the distances between the rows.
    """
    words: list[Word] = []
    y = 200.0
    for row, pitch in zip(rows, pitches or [PITCH] * len(rows), strict=False):
        words += [word(x, text, y) for x, text in row.items()]
        y -= pitch
    return [row for block in page(words) for row in block.rows]


@pytest.mark.parametrize(
    ("rows", "table"),
    [
        (
            [{20: "Port", 90: "Depth"}, {20: "Lark", 90: "5"}, {20: "Gull", 90: "7"}],
            [("Port", "Depth"), ("Lark", "5"), ("Gull", "7")],
        ),
        (
            [{20: "Port", 90: "Depth", 160: "Boats"}, {20: "Lark", 160: "12"}],
            [("Port", "Depth", "Boats"), ("Lark", "", "12")],
        ),
        (
            [{20: "Port", 90: "Depth"}, {90: "in", 160: "Boats"}, {20: "Lark", 160: "12"}],
            [("Port", "Depth", ""), ("", "in", "Boats"), ("Lark", "", "12")],
        ),
    ],
    ids=["three rows", "two rows of three columns", "rows that share a column"],
)
def test_rows_with_the_same_columns_are_a_table(
    rows: list[dict[float, str]], table: list[tuple[str, ...]]
) -> None:
    assert cells(*rows) == table


@pytest.mark.parametrize(
    "rows",
    [
        [{20: "Port", 90: "Depth"}, {20: "Lark", 90: "5"}],
        [{20: "Name", 90: "*"}, {20: "Address", 160: "*"}],
        [{20: "Gulls", 90: "fish", 160: "long"}, {90: "1", 160: "2"}],
        [{20: "a", 90: "b"}, {55: "c", 125: "d"}, {160: "e", 195: "f"}],
        [{20: "•1", 90: "Gull"}, {20: "•2", 90: "Lark"}, {20: "•3", 90: "Tern"}],
    ],
    ids=[
        "two rows of two",
        "no row with all columns",
        "a row that begins in the middle",
        "rows in the gaps of others",
        "items of a list",
    ],
)
def test_short_lines_with_wide_blanks_are_no_table(rows: list[dict[float, str]]) -> None:
    assert cells(*rows) == []


PORT: dict[float, str] = {20: "Port", 90: "Depth"}
LARK: dict[float, str] = {20: "Lark", 90: "5"}
GULL: dict[float, str] = {20: "Gull", 90: "7"}
TERN: dict[float, str] = {20: "Tern", 90: "9"}
FOUR = [("Port", "Depth"), ("Lark", "5"), ("Gull", "7"), ("Tern", "9")]


@pytest.mark.parametrize(
    ("pitches", "count"),
    [
        ((14, 14, 30.7, 0), 4),
        ((14, 14, 30.9, 0), 3),
        ((8, 8, 26.3, 0), 4),
        ((8, 8, 26.5, 0), 3),
        ((40, 40, 40, 0), 4),
    ],
    ids=["near", "far", "near to close rows", "far from close rows", "rows wide apart"],
)
def test_a_row_far_below_the_others_is_no_row_of_their_table(
    pitches: Sequence[float], count: int
) -> None:
    assert cells(PORT, LARK, GULL, TERN, pitches=pitches) == FOUR[:count]


@pytest.mark.parametrize(
    ("alone", "pitch", "table"),
    [
        ({90: "in m"}, 14.4, [("Port", "Depth in m"), *FOUR[1:]]),
        ({90: "in m"}, 14.6, [FOUR[0], ("", "in m"), *FOUR[1:]]),
        ({20: "name"}, 14.4, [FOUR[0], ("name", ""), *FOUR[1:]]),
        ({88.6: "m"}, 14, [("Port", "Depth m"), *FOUR[1:]]),
        ({88.4: "m"}, 14, FOUR[1:]),
        ({90: "a", 95.1: "bcde"}, 14, [("Port", "Depth a bcde"), *FOUR[1:]]),
        ({90: "inwater"}, 14, FOUR[1:]),
        ({160: "Boats"}, 14, FOUR[1:]),
        ({30: "wide" * 5}, 14, FOUR[1:]),
    ],
    ids=[
        "wrapped",
        "row of its own",
        "first column",
        "almost in the column",
        "left of the column",
        "hardly wider",
        "wider",
        "no column",
        "across columns",
    ],
)
def test_a_line_alone_continues_a_cell_only_within_its_column(
    alone: dict[float, str], pitch: float, table: list[tuple[str, ...]]
) -> None:
    assert cells(PORT, alone, LARK, GULL, TERN, pitches=(pitch, 14, 14, 14, 0)) == table


@pytest.mark.parametrize(
    ("place", "rows"),
    [
        (41.4, [("Port", "Depth"), ("x", "5"), ("Gull", "7")]),
        (41.6, [("Port", "", "Depth"), ("", "x", "5"), ("Gull", "", "7")]),
        (83.4, [("Port", "", "Depth"), ("", "x", "5"), ("Gull", "", "7")]),
    ],
)
def test_columns_have_a_gap_between_them(place: float, rows: list[tuple[str, ...]]) -> None:
    assert cells(PORT, {place: "x", 101: "5"}, GULL) == rows


@pytest.mark.parametrize(("count", "is_table"), [(60, True), (61, False)])
def test_words_in_more_columns_than_sixty_are_no_table(count: int, *, is_table: bool) -> None:
    row: dict[float, str] = {20.0 * at: "x" for at in range(count)}
    assert bool(cells(row, row, row)) == is_table


def between_lines(rulings: Rulings, *placed: tuple[float, float, str]) -> list[tuple[str, ...]]:
    """The rows of the table between ruling lines that holds words at these places."""
    tables, _ = ruled([word(x, text, y) for x, y, text in placed], rulings)
    return [row for table in tables for row in table.rows]


def lattice(xs: Sequence[float], ys: Sequence[float]) -> Rulings:
    """All lines between cells."""
    return Rulings([Ruling(y, xs[0], xs[-1]) for y in ys], [Ruling(x, ys[0], ys[-1]) for x in xs])


FEES = (25, 185, "Port"), (105, 185, "Fee"), (25, 165, "Lark"), (105, 165, "5")
TABLE = [("Port", "Fee"), ("Lark", "5")]


@pytest.mark.parametrize(
    ("xs", "ys", "table"),
    [
        ([20, 100, 180], [160, 180, 200], TABLE),
        ([20, 100, 102.9, 180], [160, 180, 200], TABLE),
        ([20, 100, 103.1, 180], [160, 180, 200], [("Port", "", "Fee"), ("Lark", "", "5")]),
        ([20, 100, 180], [160, 180, 182.9, 200], TABLE),
        ([20, 180], [160, 180, 200], []),
        ([20, 100, 180], [160, 200], []),
    ],
    ids=["table", "double wall", "narrow column", "double line", "one column", "one row"],
)
def test_lines_around_two_rows_and_two_columns_are_a_table(
    xs: list[float], ys: list[float], table: list[tuple[str, ...]]
) -> None:
    assert between_lines(lattice(xs, ys), *FEES) == table


def test_cells_with_text_in_one_column_only_are_no_table() -> None:
    both = lattice([20, 100, 180], [160, 180, 200])
    assert between_lines(both, FEES[0], FEES[2]) == []
    assert between_lines(both, *FEES[:3]) == []


def test_a_frame_beside_a_table_is_no_part_of_it() -> None:
    table, frame = lattice([20, 100, 180], [160, 180, 200]), lattice([220, 280], [170, 190])
    both = Rulings(table.level + frame.level, table.upright + frame.upright)
    assert between_lines(both, *FEES, (230, 180, "Note")) == TABLE


@pytest.mark.parametrize(
    ("broken", "first_column"),
    [
        ([(20, 58), (60.9, 180)], ("Port", "Lark")),
        ([(20, 58), (61.1, 180)], ("Port Lark", "Port Lark")),
        ([(20, 110), (50, 180)], ("Port", "Lark")),
        ([(22.9, 180)], ("Port", "Lark")),
        ([(23.1, 180)], ("Port Lark", "Port Lark")),
        ([(20, 177.1)], ("Port", "Lark")),
    ],
    ids=["hardly broken", "broken", "covered", "almost to the wall", "too short", "right end"],
)
def test_a_line_that_is_broken_within_a_column_merges_its_cells(
    broken: list[tuple[float, float]], first_column: tuple[str, str]
) -> None:
    level, upright = lattice([20, 100, 180], [160, 180, 200])
    middle = [Ruling(180, start, end) for start, end in broken]
    rows = between_lines(Rulings([level[0], *middle, level[2]], upright), *FEES)
    assert [row[0] for row in rows] == list(first_column)
    assert [row[1] for row in rows] == ["Fee", "5"]


@pytest.mark.parametrize(
    ("wall", "rows"),
    [
        ((160, 177.1), [("Port Fee", "Port Fee", "in"), ("Lark", "5", "m")]),
        ((162.9, 200), [("Port", "Fee", "in"), ("Lark", "5", "m")]),
        ((163.1, 200), [("Port", "Fee", "in"), ("Lark 5", "Lark 5", "m")]),
    ],
    ids=["below", "almost to the line", "above"],
)
def test_cells_without_a_wall_between_them_are_one(
    wall: tuple[float, float], rows: list[tuple[str, ...]]
) -> None:
    level, upright = lattice([20, 100, 180, 260], [160, 180, 200])
    rulings = Rulings(level, [upright[0], Ruling(100, *wall), *upright[2:]])
    assert between_lines(rulings, *FEES, (185, 185, "in"), (185, 165, "m")) == rows


@pytest.mark.parametrize(("between", "is_joined"), [(19, True), (20, False)])
def test_a_line_continues_one_of_the_twenty_before_it(between: int, *, is_joined: bool) -> None:
    level, upright = lattice([20, 100, 180], [160, 180, 200])
    dashes = [Ruling(180.1, 300 + 10 * at, 301 + 10 * at) for at in range(between)]
    middle = [Ruling(180, 20, 58), *dashes, Ruling(180.2, 60, 180)]
    rows = between_lines(Rulings([level[0], *middle, level[2]], upright), *FEES)
    assert rows[0][0] == ("Port" if is_joined else "Port Lark")


@pytest.mark.parametrize(("uprights", "is_table"), [(250, True), (251, False)])
def test_lines_with_more_than_60_000_crossings_are_a_drawing(
    uprights: int, *, is_table: bool
) -> None:
    level, upright = lattice([20, 100, 180], [160, 180, 200])
    level += [Ruling(300 + 4 * at, 20, 30) for at in range(240 - 3)]
    upright += [Ruling(300 + 4 * at, 20, 30) for at in range(uprights - 3)]
    assert between_lines(Rulings(level, upright), *FEES) == (TABLE if is_table else [])


@pytest.mark.parametrize(("rows", "is_table"), [(200, True), (201, False)])
def test_a_lattice_of_more_than_20_000_crossings_is_a_drawing(rows: int, *, is_table: bool) -> None:
    drawing = lattice([20 * at for at in range(100)], [20 * at for at in range(rows)])
    placed = [(x + 5.0, y + 5.0, "x") for x in (0, 20) for y in (0, 20)]
    assert bool(between_lines(drawing, *placed)) == is_table
