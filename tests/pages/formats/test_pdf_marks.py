"""What stands beside the words of a PDF page: large first letters, numbers of lines, drawn bullets."""

from __future__ import annotations

import pytest

from tests.pages.formats.pdf_words import PROSE, line, page, word
from websearch_gateway.pages.formats.pdf_marks import (
    LEAST_NUMBERED,
    MOST_BULLETS,
    MOST_DROP_CAPS,
    without_line_numbers,
)


def test_the_numbers_of_the_lines_of_a_draft_are_left_out() -> None:
    rows = [
        [word(10, str(number)), *line(280 - 20 * number, PROSE)]
        for number in range(1, LEAST_NUMBERED + 1)
    ]
    placed = [part._replace(y=row[-1].y) for row in rows for part in row]
    assert [block.text for block in page(placed)] == [" ".join(PROSE * LEAST_NUMBERED)]


def test_the_numbers_of_rows_and_of_few_lines_stay() -> None:
    table = []
    for number in range(1, 8):
        y = 280 - 12 * number
        table += [word(10, str(number), y), word(60, "gull", y), word(140, "sea", y)]
    assert page(table)[0].rows[0] == ("1", "gull", "sea")
    few = []
    for number in range(1, LEAST_NUMBERED):
        y = 280 - 12 * number
        few += [word(10, str(number), y), *line(y, PROSE)]
    assert any("1" in str(block) for block in page(few))


def test_a_large_first_letter_belongs_to_the_word_beside_it() -> None:
    letter = word(20, "T", 76, 40, 24)
    lower = [*line(88, PROSE, 46), *line(76, PROSE, 46), *line(64, PROSE, 20)]
    words = [letter, *line(100, ["he", *PROSE], 46), *lower]
    assert [block.text[:15] for block in page(words)] == ["The the keepers"]


def test_a_number_of_thousands_of_digits_counts_no_lines() -> None:
    """Python refuses to read it, and a stranger writes the page."""
    words = []
    for number in range(LEAST_NUMBERED + 1):
        y = 280 - 12 * number
        words += [word(10, "9" * 5_000, y, width=20), *line(y, PROSE)]
    assert without_line_numbers(words) == words


def test_bullets_that_are_drawn_make_items() -> None:
    words = [*line(100, ["Short"]), *line(88, ["inner"], 60), *line(76, ["Last"])]
    found = page(words, [(30, 103), (50, 91), (30, 79)])
    assert [(block.text, block.depth) for block in found] == [
        ("Short", 1),
        ("inner", 2),
        ("Last", 1),
    ]


@pytest.mark.parametrize("more", [0, 1])
def test_large_letters_and_dots_that_are_too_many_are_part_of_a_drawing(more: int) -> None:
    rows = range(MOST_DROP_CAPS + more)
    letters = [word(20, "T", 76 - 200 * at, 40, 24) for at in rows]
    beside = []
    for at in rows:
        for row in range(3):
            beside += line(100 - 12 * row - 200 * at, ["he", *PROSE], 46)
    assert sum("The" in block.text for block in page([*letters, *beside])) == (
        0 if more else MOST_DROP_CAPS
    )
    dots = [(30.0, 103.0)] * (MOST_BULLETS + more)
    assert [block.depth for block in page(line(100, ["Short"]), dots)] == [0 if more else 1]
