"""The lines of a PDF become paragraphs, list items and listings."""

from __future__ import annotations

import pytest

from tests.pages.formats.pdf_words import PROSE, line, page, word
from websearch_gateway.pages.formats.pdf_lines import lines, segments
from websearch_gateway.pages.formats.pdf_page import Word
from websearch_gateway.pages.formats.pdf_paragraphs import Paragraphs


def test_lines_in_a_typed_font_are_a_listing_with_their_indents() -> None:
    code = [
        word(20, "def", 100, is_typed=True),
        word(40, "lift(n):", 100, is_typed=True),
        word(40, "return", 88, is_typed=True),
        word(85, "n", 88, is_typed=True),
        word(20, "x", 64, is_typed=True),
    ]
    found = page([*line(140, PROSE), *line(128, PROSE), *code, *line(20, PROSE), *line(8, PROSE)])
    assert [block.text for block in found if block.is_listing] == [
        "def lift(n):\n    return   n\n\nx"
    ]
    assert not any(block.is_listing for block in page(code))  # all of the page is typed


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("neces|sary", "necessary"),
        ("state-of-the|art", "state-of-the-art"),
        ("COVID|19", "COVID-19"),
        ("anti|American", "anti-American"),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_stays_if_it_belongs_to_the_word(
    broken: str, whole: str
) -> None:
    first, second = broken.split("|")
    words = [*line(100, [*PROSE, f"{first}\x02"]), *line(88, [second, "ends", "here."])]
    assert page(words)[0].text == f"{' '.join(PROSE)} {whole} ends here."


@pytest.mark.parametrize(
    ("words", "block"),
    [
        (["•", "Gulls", "eat"], ("Gulls eat", 1, "")),
        (["–", "Gulls", "eat"], ("Gulls eat", 1, "")),
        (["12.", "Gulls", "eat"], ("Gulls eat", 1, "12")),
        (["•"], ("•", 0, "")),
        (["Gulls", "-", "all"], ("Gulls - all", 0, "")),
        (["."] * 9 + ["12"], (" … 12", 0, "")),
    ],
    ids=["bullet", "dash", "number", "bullet alone", "dash inside", "leaders without a title"],
)
def test_a_line_with_a_mark_before_its_words_is_a_list_item(
    words: list[str], block: tuple[str, int, str]
) -> None:
    [item] = page(line(100, words))
    assert (item.text, item.depth, item.number) == block


def texts(words: list[Word], right: float = 300, larger: float = 16) -> list[str]:
    """The texts of the blocks of a column, whose right edge and least size of headings are given."""
    rows = list(lines(segments(words)))
    return [block.text for block in Paragraphs(rows, right, larger).blocks()]


def title(upper: str, lower: str, x0: float = 40, distance: float = 20) -> list[Word]:
    """Two lines in the font of headings, of which the lower one begins at `x0`."""
    return [
        word(40, upper, 100, 16, width=100, is_typed=False),
        word(x0, lower, 100 - distance, 16, width=60),
    ]


FULL = line(0, PROSE)[-1].x1
"""The right edge of a column that a line of prose fills."""


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ([*line(100, PROSE), *line(82.6, PROSE)], 1),
        ([*line(100, PROSE), *line(82.4, PROSE)], 2),
        ([word(40, "Gulls", 100, 10), word(40, "eat", 88, 10.5)], 1),
        ([word(40, "Gulls", 100, 10), word(40, "eat", 88, 10.7)], 2),
        ([word(40, "a()", 100, is_typed=True), word(40, "b()", 70.1, is_typed=True)], 1),
        ([word(40, "a()", 100, is_typed=True), word(40, "b()", 69.9, is_typed=True)], 2),
        ([word(40, "a()", 100, is_typed=True), word(40, "b()", 88)], 2),
        ([*line(100, PROSE), *line(88, ["12."])], 1),
        ([*line(100, PROSE), *line(88, ["12.", "gulls"])], 2),
    ],
    ids=[
        "near",
        "far",
        "hardly larger",
        "larger",
        "near in a listing",
        "far in a listing",
        "text below a listing",
        "number alone",
        "item",
    ],
)
def test_lines_that_are_near_and_alike_are_a_paragraph(words: list[Word], count: int) -> None:
    assert len(texts(words)) == count


@pytest.mark.parametrize(
    ("words", "larger", "count"),
    [
        (title("Harbours", "on islands", distance=23.1), 16, 1),
        (title("Harbours", "on islands", distance=23.3), 16, 2),
        (title("Harbours", "on islands", distance=23.3), 16.1, 1),
        (title("Harbours", "Tides"), 16, 2),
        (title("Harbours:", "Tides"), 16, 1),
        (title("Harbours of", "Tides"), 16, 1),
        (title("Harbours", "2 Tides"), 16, 2),
        (title("Harbours", "2 tides"), 16, 1),
        (title("Harbours", "tides", 47.9), 16, 1),
        (title("Harbours", "tides", 50), 16, 2),
        (title("Harbours", "Tides", 60), 16, 1),
        (title("Harbours", "Tides", 80), 16, 1),
    ],
    ids=[
        "near",
        "far",
        "small font",
        "ends like a title",
        "colon",
        "short word",
        "section",
        "number",
        "hardly indented",
        "indented",
        "same middle",
        "same end",
    ],
)
def test_two_lines_of_a_heading_are_near_and_do_not_begin_another(
    words: list[Word], larger: float, count: int
) -> None:
    assert len(texts(words, larger=larger)) == count


@pytest.mark.parametrize(
    ("above", "right", "joint"),
    [
        (PROSE[:6], 0.1, " "),
        (PROSE[:5], 0.1, "\n"),
        (PROSE[:6], -0.1, "\n"),
        (["Ähren", "am", "Feld"], 0.1, " "),
    ],
    ids=["prose", "few words", "room for a word", "not English"],
)
def test_a_full_line_of_prose_goes_on_in_the_next(
    above: list[str], right: float, joint: str
) -> None:
    """A line is full if the next word, here 25 wide, and a blank of 3 had no room behind it."""
    upper = line(100, above)
    edge = upper[-1].x1 + 25 + 3 - right
    assert texts([*upper, *line(88, ["Gulls"])], edge) == [f"{' '.join(above)}{joint}Gulls"]


@pytest.mark.parametrize(
    ("distances", "count"),
    [
        ([20, 20, 20, 20], 1),
        ([20, 20, 20], 4),
        ([20, 20, 20, 20, 20.9], 1),
        ([20, 20, 20, 20, 21.1], 2),
        ([31.9] * 4, 1),
        ([32.1] * 4, 5),
    ],
)
def test_lines_of_a_draft_stand_far_apart(distances: list[float], count: int) -> None:
    y = 300.0
    words = line(y, PROSE)
    for distance in distances:
        y -= distance
        words += line(y, PROSE)
    assert len(texts(words, FULL)) == count


def test_the_depth_of_an_item_grows_with_an_indent_of_more_than_half_a_letter() -> None:
    indents = [40, 44.9, 60, 55.1, 40, 45.1, 50.2]
    words = []
    for at, indent in enumerate(indents):
        words += line(200 - 12 * at, ["•", "Gull"], indent)
    rows = list(lines(segments(words)))
    depths = [block.depth for block in Paragraphs(rows, 300, 16).blocks()]
    assert depths == [1, 1, 2, 2, 1, 2, 3]


def test_the_parts_of_a_line_from_right_to_left_begin_with_the_right_one() -> None:
    assert texts([word(40, "בב"), word(90, "אא")]) == ["אא בב"]
    assert texts([word(40, "Gull"), word(90, "אא")]) == ["Gull אא"]
