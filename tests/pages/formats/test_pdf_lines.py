"""The words of a PDF page make lines, and segments between wide gaps."""

from __future__ import annotations

import pytest

from tests.pages.formats.pdf_words import line, word
from websearch_gateway.pages.formats.pdf_lines import SAME_LINE, WIDE_GAP, lines, segments
from websearch_gateway.pages.formats.pdf_page import Word

SIZE = 10
GAP = WIDE_GAP * SIZE


def beside(gap: float, *, before: str = "gulls", **more: object) -> list[Word]:
    """Two words with a gap between them."""
    first = word(0, before, **more)  # type: ignore[arg-type]
    return [first, word(first.x1 + gap, "eat", **more)]  # type: ignore[arg-type]


def test_words_whose_baselines_hardly_differ_are_on_one_line() -> None:
    near, far = SAME_LINE * SIZE - 0.1, SAME_LINE * SIZE + 0.1
    assert len(list(lines([word(0, "a", 100), word(20, "b", 100 - near)]))) == 1
    assert len(list(lines([word(0, "a", 100), word(20, "b", 100 - far)]))) == 2


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (beside(GAP - 0.1), ["gulls eat"]),
        (beside(GAP + 0.1), ["gulls", "eat"]),
        (beside(GAP + 0.1, before="•"), ["• eat"]),
        (beside(4 * SIZE, before="•"), ["•", "eat"]),
        (beside(4 * SIZE, is_typed=True), ["gulls eat"]),
    ],
    ids=["near", "far", "mark of an item", "mark in a cell", "listing"],
)
def test_a_wide_gap_parts_the_words_of_a_line(words: list[Word], texts: list[str]) -> None:
    assert [segment.text for segment in segments(words)] == texts


def test_the_blanks_of_a_listing_are_as_many_as_have_room() -> None:
    [segment] = segments(beside(20, is_typed=True))  # letters are 5 wide
    assert segment.listing == "gulls    eat"


def test_the_dots_before_the_number_of_a_page_become_one_sign() -> None:
    [segment] = segments(line(100, ["Of", "gulls", *"......", "12"]))
    assert segment.text == "Of gulls … 12"
