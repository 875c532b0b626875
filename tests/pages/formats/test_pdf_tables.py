"""Aligned words of a PDF page are a table where there is evidence for its columns, and lines with wide blanks are not."""

from __future__ import annotations

import pytest

from tests.pages.formats.pdf_words import page, word
from websearch_gateway.pages.formats.pdf_page import Word

PITCH = 14


def rows_of(*rows: dict[int, str]) -> list[Word]:
    """The words of rows below each other: what begins at each place from the left."""
    words = []
    for number, row in enumerate(rows):
        words += [word(x, text, 200 - PITCH * number) for x, text in row.items()]
    return words


def cells(*rows: dict[int, str]) -> list[tuple[str, ...]]:
    """The cells of the tables of a page with these rows."""
    return [row for block in page(rows_of(*rows)) for row in block.rows]


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
    rows: list[dict[int, str]], table: list[tuple[str, ...]]
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
def test_short_lines_with_wide_blanks_are_no_table(rows: list[dict[int, str]]) -> None:
    assert cells(*rows) == []
