"""The lines of a PDF become paragraphs, list items and listings."""

from __future__ import annotations

import pytest

from tests.pages.formats.pdf_words import PROSE, line, page, word


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
