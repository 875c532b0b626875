"""The words of a PDF page make lines, and segments between wide gaps."""

from __future__ import annotations

import pytest

from tests.pages.formats.pdf_words import line, word
from websearch_gateway.pages.formats.pdf_lines import lines, segments
from websearch_gateway.pages.formats.pdf_page import Word


def beside(gap: float, *, before: str = "gulls", **more: object) -> list[Word]:
    """Two words with a gap between them."""
    first = word(0, before, **more)  # type: ignore[arg-type]
    return [first, word(first.x1 + gap, "eat", **more)]  # type: ignore[arg-type]


def test_words_whose_baselines_hardly_differ_are_on_one_line() -> None:
    assert len(list(lines([word(0, "a", 100), word(20, "b", 96.6)]))) == 1
    assert len(list(lines([word(0, "a", 100), word(20, "b", 96.4)]))) == 2


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (beside(9.4), ["gulls eat"]),
        (beside(9.6), ["gulls", "eat"]),
        (beside(34.9, before="•"), ["• eat"]),
        (beside(35.1, before="•"), ["•", "eat"]),
        (beside(40, is_typed=True), ["gulls eat"]),
        ([word(0, "gull", size=4.1), word(25, "eats")], ["gull", "eats"]),
        ([word(0, "1", size=3.9), word(12, "eats")], ["1 eats"]),
    ],
    ids=["near", "far", "mark of an item", "mark in a cell", "listing", "small print", "raised"],
)
def test_a_wide_gap_parts_the_words_of_a_line(words: list[Word], texts: list[str]) -> None:
    assert [segment.text for segment in segments(words)] == texts


def test_the_blanks_of_a_listing_are_as_many_as_have_room() -> None:
    [segment] = segments(beside(20, is_typed=True))  # letters are 5 wide
    assert segment.listing == "gulls    eat"
    [segment] = segments(
        [word(0, "gulls", width=0, is_typed=True), word(12, "eat", width=0, is_typed=True)]
    )
    assert segment.listing == "gulls  eat"  # of letters 6 wide, if the page does not say how wide


def test_the_dots_before_the_number_of_a_page_become_one_sign() -> None:
    [segment] = segments(line(100, ["Of", "gulls", *"......", "12"]))
    assert segment.text == "Of gulls … 12"
