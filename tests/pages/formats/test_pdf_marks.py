"""What stands beside the words of a PDF page: large first letters, numbers of lines, drawn bullets."""

from __future__ import annotations

import pytest

from tests.pages.formats.pdf_words import PROSE, line, page, word
from websearch_gateway.pages.formats.pdf_marks import (
    with_bullets,
    with_drop_caps,
    without_line_numbers,
)
from websearch_gateway.pages.formats.pdf_page import Word


def test_the_numbers_of_the_lines_of_a_draft_are_left_out() -> None:
    rows = [[word(10, str(number)), *line(280 - 20 * number, PROSE)] for number in range(1, 6)]
    placed = [part._replace(y=row[-1].y) for row in rows for part in row]
    assert [block.text for block in page(placed)] == [" ".join(PROSE * 5)]


def test_the_numbers_of_rows_and_of_few_lines_stay() -> None:
    table = []
    for number in range(1, 8):
        y = 280 - 12 * number
        table += [word(10, str(number), y), word(60, "gull", y), word(140, "sea", y)]
    assert page(table)[0].rows[0] == ("1", "gull", "sea")
    few = []
    for number in range(1, 5):
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
    for number in range(6):
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
    rows = range(10 + more)
    letters = [word(20, "T", 76 - 200 * at, 40, 24) for at in rows]
    beside = []
    for at in rows:
        for row in range(3):
            beside += line(100 - 12 * row - 200 * at, ["he", *PROSE], 46)
    assert sum("The" in block.text for block in page([*letters, *beside])) == (0 if more else 10)
    dots = [(30.0, 103.0)] * (200 + more)
    assert [block.depth for block in page(line(100, ["Short"]), dots)] == [0 if more else 1]


@pytest.mark.parametrize(("size", "text"), [(18.1, "The"), (17.9, "he")])
def test_a_large_first_letter_is_nearly_twice_as_large_as_its_text(size: float, text: str) -> None:
    letter = word(20, "T", 88, size, 14)
    words = with_drop_caps([letter, *line(100, ["he", "gulls"]), *line(88, ["eat"])], 10)
    assert text in [part.text for part in words]


def draft(numbers: list[int], words: int) -> list[Word]:
    """Lines of so many words, each with its number at the left."""
    placed = []
    for row, number in enumerate(numbers):
        y = 280 - 12 * row
        placed += [word(0, str(number), y, width=10), *line(y, PROSE[:words])]
    return placed


@pytest.mark.parametrize(
    ("numbers", "words", "is_draft"),
    [
        ([1, 2, 3, 4, 5], 5, True),
        ([1, 2, 3, 4, 5], 4, False),
        ([1, 2, 3, 4], 5, False),
        ([2, 4, 6, 8, 10], 5, True),
        ([5, 10, 15, 20, 25], 5, True),
        ([10, 20, 30, 40, 50], 5, True),
        ([3, 6, 9, 12, 15], 5, False),
        ([4, 8, 12, 16, 20], 5, False),
        ([1, 2, 3, 5, 6], 5, False),
        ([999_991, 999_992, 999_993, 999_994, 999_995], 5, True),
        ([1_999_991, 1_999_992, 1_999_993, 1_999_994, 1_999_995], 5, False),
    ],
)
def test_numbers_that_count_long_lines_in_even_steps_are_left_out(
    numbers: list[int], words: int, *, is_draft: bool
) -> None:
    left = without_line_numbers(draft(numbers, words))
    assert len(left) == len(numbers) * (words if is_draft else words + 1)


@pytest.mark.parametrize(
    ("distance", "height", "is_bullet"),
    [
        (24.9, 3, True),
        (25.1, 3, False),
        (10, 6.9, True),
        (10, 7.1, False),
        (10, -0.1, False),
        (-1, 3, False),
    ],
)
def test_a_bullet_stands_close_before_its_line(
    distance: float, height: float, *, is_bullet: bool
) -> None:
    words = with_bullets(line(100, ["Short"]), [(40 - distance, 100 + height)])
    assert [part.text for part in words] == ["Short", "•"][: 1 + is_bullet]
