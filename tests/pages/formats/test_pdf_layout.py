"""The columns of a PDF page are read one after the other, and the lines of a table row by row."""

from __future__ import annotations

import pytest

from tests.pages.formats.pdf_words import PROSE, line, page, word
from websearch_gateway.pages.formats.pdf_layout import blocks
from websearch_gateway.pages.formats.pdf_page import Rulings, Sheet, Word


def column(x0: float, rows: int, words: int, first: float = 200) -> list[Word]:
    """Lines of so many words below each other."""
    placed = []
    for row in range(rows):
        placed += line(first - 12 * row, PROSE[:words], x0)
    return placed


@pytest.mark.parametrize(
    ("rows", "words", "is_table"),
    [(4, 4, False), (3, 4, True), (4, 3, True)],
    ids=["columns of prose", "few lines", "few words"],
)
def test_four_lines_of_prose_beside_each_other_are_columns(
    rows: int, words: int, *, is_table: bool
) -> None:
    found = page([*column(20, rows, words), *column(200, rows, words)])
    assert bool(found[0].rows) == is_table
    assert len(found) == (1 if is_table else 2)


@pytest.mark.parametrize(("width", "is_table"), [(61, False), (59, True)])
def test_the_lines_of_prose_are_as_wide_as_most_of_their_column(
    width: float, *, is_table: bool
) -> None:
    left = []
    for row, right in enumerate((width, width, 100, width)):
        y = 200 - 12 * row
        each = (right - 9) / 4
        left += [word(20 + (each + 3) * at, "gull", y, width=each) for at in range(4)]
    assert bool(page([*left, *column(200, 4, 4)])[0].rows) == is_table


@pytest.mark.parametrize(("starts", "are_columns"), [(7, True), (8, False)])
def test_only_the_eight_places_where_most_lines_begin_are_tried_as_a_column(
    starts: int, *, are_columns: bool
) -> None:
    words = [word(300, f"right{row}", 594 - 24 * row) for row in range(4)]
    for row in range(5):
        for start in range(starts):
            y = 600 - 12 * (8 * row + start)
            words += [word(20 + 10 * start, f"left{start}", y, width=120)]
    texts = [part for block in page(words) for part in block.text.split()]
    last_left = max(at for at, text in enumerate(texts) if text.startswith("left"))
    assert (last_left < texts.index("right0")) == are_columns


@pytest.mark.parametrize(("columns", "are_read_apart"), [(7, True), (8, False)])
def test_a_page_has_at_most_seven_columns(columns: int, *, are_read_apart: bool) -> None:
    words = []
    for at in range(columns):
        words += [word(20 + 100 * at, f"{at}", 400 - 5 * at - 40 * row) for row in range(4)]
    texts = [part for block in page(words) for part in block.text.split()]
    assert len(texts) == 4 * columns
    assert (texts == sorted(texts)) == are_read_apart


def test_what_stands_above_and_below_columns_is_read_before_and_after_them() -> None:
    wide = [*line(220, PROSE), *line(140, PROSE[::-1])]
    both = [*column(20, 4, 4), *column(120, 4, 4)]
    found = [block.text for block in page([*wide, *both])]
    assert [text.count("the") for text in found] == [3, 4, 4, 3]


@pytest.mark.parametrize(("typed", "is_listing"), [(2, True), (3, False)])
def test_a_page_that_is_mostly_typed_has_no_listing(typed: int, *, is_listing: bool) -> None:
    words = [word(40, "gull", 200 - 12 * at, is_typed=at < typed) for at in range(4)]
    assert any(block.is_listing for block in page(words)) == is_listing


def test_the_size_of_most_letters_is_that_of_the_text() -> None:
    """A line of a larger font is no paragraph with the next one."""
    words = [*line(200, ["Tides", "of"]), *(part._replace(size=16) for part in line(220, ["Sea"]))]
    assert [block.size for block in page(words)] == [16, 10]


def test_text_in_another_direction_stands_at_the_end() -> None:
    found = blocks(Sheet(line(100, PROSE), "DRAFT", Rulings([], []), 300, []))
    assert [block.text for block in found] == [" ".join(PROSE), "DRAFT"]
    assert blocks(Sheet([], "", Rulings([], []), 300, [])) == []


@pytest.mark.parametrize(("size", "count"), [(11.1, 1), (11.3, 2)])
def test_lines_an_eighth_larger_than_the_text_stand_closer_in_a_heading(
    size: float, count: int
) -> None:
    """The distance is that of a paragraph."""
    heading = [word(40, "Harbours", 200, size), word(40, "on", 200 - 1.6 * size, size)]
    assert len(page([*heading, *column(20, 4, 15, 100)])) == count + 1
