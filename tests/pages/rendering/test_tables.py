"""Each text of a table stands in the column and row in which a browser shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pages.rendering.containers import CONTAINERS, as_fragment

HEAD = "<tr><th>Pier</th><th>Season</th><th>Depth</th></tr>"
SEASONS = "<td>Winter</td><td>4 m</td></tr><tr><td>Summer</td><td>3 m</td></tr>"
CASES = {
    "rowspan": (
        f"<table>{HEAD}<tr><td rowspan=2>North</td>{SEASONS}</table>",
        ["North | Winter | 4 m", "North | Summer | 3 m"],
    ),
    "rowspan to the end of its group": (
        f"<table>{HEAD}<tr><td rowspan=0>North</td>{SEASONS}</table>",
        ["North | Winter | 4 m", "North | Summer | 3 m"],
    ),
    "rowspan ends with its group": (
        f"<table><thead>{HEAD}</thead><tbody><tr><td rowspan=9>North</td><td>Winter</td><td>4 m</td></tr></tbody>"
        "<tbody><tr><td>South</td><td>Winter</td><td>5 m</td></tr></tbody></table>",
        ["North | Winter | 4 m", "South | Winter | 5 m"],
    ),
    "two rows of headers": (
        "<table><tr><th rowspan=2>Pier</th><th colspan=2>2023</th></tr><tr><th>boats</th><th>fees</th></tr>"
        "<tr><td>North</td><td>12</td><td>340</td></tr></table>",
        ["Pier | 2023 | 2023", "Pier | boats | fees", "North | 12 | 340"],
    ),
    "the foot before the body": (
        "<table><thead><tr><th>Pier</th><th>Boats</th></tr></thead><tfoot><tr><td>Sum</td><td>9</td></tr></tfoot>"
        "<tbody><tr><td>North</td><td>9</td></tr></tbody></table>",
        ["North | 9", "Sum | 9"],
    ),
    "lines and lists in cells": (
        "<table><tr><th>Pier</th><th>Open</th></tr><tr><td>North<br>pier</td><td><ul><li>8-11</li><li>14-18</li></ul></td></tr></table>",
        ["North pier | 8-11; 14-18"],
    ),
    "code in cells": (
        "<table><tr><th>Pier</th><th>Command</th></tr><tr><td>North</td><td><pre>open\nshut</pre></td></tr></table>",
        ["North | `open` `shut`"],
    ),
    "a title between the rows": (
        f"<table>{HEAD}<tr><td colspan=3>Old piers</td></tr><tr><td>North</td><td>Winter</td><td>4 m</td></tr></table>",
        ["Old piers |  | ", "North | Winter | 4 m"],
    ),
    "ARIA": (
        "<div role=table><div role=rowgroup><div role=row><span role=columnheader>Pier</span><span role=columnheader>"
        "Boats</span></div></div><div role=rowgroup><div role=row><span role=cell>North</span><span role=cell>9</span>"
        "</div></div></div>",
        ["Pier | Boats", "North | 9"],
    ),
    "a style sheet": (
        "<style>.t{display:table}.r{ display: table-row }\n.c{display:table-cell}</style><div class=t><div class=r>"
        "<span class=c>North</span><span class='c x'>9 boats</span></div><div class=r><span class=c>South</span>"
        "<span class=c>7 boats</span></div></div>",
        ["North | 9 boats", "South | 7 boats"],
    ),
    "spans of ARIA": (
        "<div role=table><div role=row><div role=columnheader aria-colspan=2>Boats</div><div role=columnheader>Fee</div>"
        "</div><div role=row><div role=cell>9</div><div role=cell>7</div><div role=cell>340</div></div></div>",
        ["Boats | Boats | Fee", "9 | 7 | 340"],
    ),
    "a number with a sign or a unit": (
        "<table><tr><th colspan='+2'>Boats</th><th>Fee</th></tr><tr><td colspan='2%'>9</td><td>340</td></tr></table>",
        ["Boats | Boats | Fee", "9 | 9 | 340"],
    ),
    "a hidden column": (
        "<table><tr><th>Pier</th><th style='display:none'>Key</th><th>Boats</th></tr>"
        "<tr><td>North</td><td style='display:none'>k1</td><td>9</td></tr></table>",
        ["Pier | Boats", "North | 9"],
    ),
    "a style sheet with lists and nesting": (
        "<style>.t, .q{display:table}.t .r{display:table-row}.t .r .c{display:table-cell}</style><ul class=t>"
        "<li class=r><span class=c>North</span><span class=c>9</span></li>"
        "<li class=r><span class=c>South</span><span class=c>7</span></li></ul>",
        ["North | 9", "South | 7"],
    ),
    "CSS": (
        "<div style='display:table'><div style='display:table-row'><span style='display:table-cell'>North</span>"
        "<span style='display:table-cell'>9 boats</span></div><div style='display:table-row'>"
        "<span style='display:table-cell'>South</span><span style='display:table-cell'>7 boats</span></div></div>",
        ["North | 9 boats", "South | 7 boats"],
    ),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("case", CASES)
def test_a_text_stands_in_its_column(case: str, container: str) -> None:
    html, rows = CASES[case]
    lines = [line for line in CONTAINERS[container](html).split("\n") if line.startswith("|")]
    wanted = [f"| {row} |" for row in rows]
    assert [line for line in lines if line in wanted] == wanted


def test_a_caption_stands_above_its_table() -> None:
    table = (
        "<table><caption>Boats <b>now</b></caption><tr><th>Pier<th>Boats<tr><td>North<td>9</table>"
    )
    assert as_fragment(table).startswith("Boats **now**\n\n| Pier | Boats |\n| --- | --- |\n")


@given(st.data())
def test_any_grid_is_written_as_it_is_placed(data: st.DataObject) -> None:
    """Rectangles are placed on a grid from the top left, as browsers do; their texts are then found at those places."""
    width, height = data.draw(st.integers(2, 5)), data.draw(st.integers(2, 5))
    grid: list[list[str]] = [[""] * width for _ in range(height)]
    rows = []
    for row in range(height):
        html = ""
        for column in range(width):
            if grid[row][column]:
                continue
            free = (
                next((place for place in range(column, width) if grid[row][place]), width) - column
            )
            across, down = data.draw(st.integers(1, free)), data.draw(st.integers(1, height - row))
            text = f"t{row}x{column}"
            for place in range(row, row + down):
                grid[place][column : column + across] = [text] * across
            html += f"<th colspan={across} rowspan={down}>{text}</th>"
        rows.append(f"<tr>{html}</tr>")
    lines = as_fragment(f"<table>{''.join(rows)}</table>").split("\n")
    for line, wanted in zip(lines[:1] + lines[2:], grid, strict=True):
        cells = line.removeprefix("| ").removesuffix(" |").split(" | ")
        is_title = len(set(wanted)) == 1 and wanted != grid[0]  # it stands once
        assert cells[0] == wanted[0]
        assert is_title or cells == wanted


def first_row(markup: str) -> str:
    return as_fragment(f"<table>{markup}</table>").splitlines()[0]


def test_a_cell_spans_at_most_a_hundred_columns() -> None:
    below = "".join(f"<td>{column}</td>" for column in range(150))
    row = first_row(f"<tr><th colspan=150>H</th></tr><tr>{below}</tr>")
    assert row.count("H") == 100


@pytest.mark.parametrize(("length", "times"), [(100, 2), (101, 1)])
def test_a_text_of_up_to_a_hundred_characters_is_repeated(length: int, times: int) -> None:
    row = first_row(f"<tr><th colspan=2>{'x' * length}</th></tr><tr><td>a</td><td>b</td></tr>")
    assert row.count("x") == length * times


@pytest.mark.parametrize(("lines", "is_table"), [(6, True), (7, False)])
def test_a_listing_of_up_to_six_lines_fits_into_a_cell(lines: int, is_table: bool) -> None:
    code = "\n".join(["call()"] * lines)
    row = first_row(f"<tr><th>A</th><th>B</th></tr><tr><td>a</td><td><pre>{code}</pre></td></tr>")
    assert row.startswith("|") is is_table


def test_the_foot_of_a_table_stands_below_its_bodies() -> None:
    rows = (
        "<tfoot><tr><td>Sum<td>9</tfoot><thead><tr><th>A<th>B</thead><tbody><tr><td>a<td>1</tbody>"
    )
    more = "<tbody><tr><td>b<td>2</tbody>"
    lines = as_fragment(f"<table>{rows}{more}</table>").splitlines()
    assert [line[2:5].strip(" |") for line in lines if "---" not in line] == ["A", "a", "b", "Sum"]
