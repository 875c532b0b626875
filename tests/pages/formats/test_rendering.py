"""What documents have in common when they become Markdown."""

from __future__ import annotations

import pytest

from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.rendering import (
    TOO_LONG,
    Builder,
    Cell,
    cleaned,
    leave_out_unseen,
    parse_html,
    to_markdown,
    until_too_long,
)

TAKEN = (0x00, 0x08, 0x0B, 0x0C, 0x0E, 0x1F, 0xD800, 0xDFFF, 0xFFFE, 0xFFFF)
KEPT = (0x09, 0x0D, 0x20, 0x7F, 0x85, 0xD7FF, 0xE000, 0xFFFD, 0x10000)


@pytest.mark.parametrize("code", [*TAKEN, *KEPT])
def test_what_no_xml_may_hold_is_taken_out_of_a_text(code: int) -> None:
    """https://www.w3.org/TR/xml/#charsets"""
    builder = Builder()
    paragraph = builder.block("p")
    builder.text(paragraph, f"a{chr(code)}b")
    assert (chr(code) in paragraph.text) is (code in KEPT)


@pytest.mark.parametrize(("level", "depth"), [(9, 10), (20, 10)])
def test_a_list_has_ten_levels(level: int, depth: int) -> None:
    builder = Builder()
    for outer in range(level + 1):
        item = builder.item(outer, is_ordered=False)
    assert sum(element.tag == "ul" for element in item.iterancestors()) == depth


def test_a_cell_spans_at_most_a_hundred_columns() -> None:
    builder = Builder()
    builder.table([[Cell("a", span) for span in (0, 1, 100, 101)]], lambda *_: None)
    spans = [cell.get("colspan") for cell in builder.root.iter("th")]
    assert spans == [None, None, "100", "100"]


def test_a_title_from_a_heading_has_at_most_300_characters() -> None:
    builder = Builder()
    builder.text(builder.block("h1"), "a" * 301)
    assert builder.first_heading() == "a" * 300


def page(markdown: str, title: str = "") -> Extracted:
    return cleaned(lambda: Extracted(title, markdown, None), "https://example.com/")


def test_a_page_has_at_most_two_million_characters() -> None:
    cut = page("a" * 2_000_001)
    assert len(cut.markdown) == 2_000_000
    assert cut.warnings == (TOO_LONG.format(2_000_000),)


def test_a_text_that_grows_ends_with_the_piece_that_makes_it_too_long() -> None:
    half = "a" * 1_000_000
    assert len(list(until_too_long([half] * 4))) == 3
    assert len(list(until_too_long([half, half + "a", half]))) == 2


def test_a_title_has_at_most_a_thousand_characters() -> None:
    assert page("", "a" * 1_001).title == "a" * 1_000


@pytest.mark.parametrize("title", ["", "<title>Tides</title>"])
def test_what_no_reader_sees_of_a_piece_is_left_out(title: str) -> None:
    tree = parse_html(f"{title}<p>Words</p><p hidden>secret</p><script>secret</script>")
    leave_out_unseen(tree)
    assert "".join(tree.itertext()) == "Words"


def test_a_document_says_of_three_pieces_at_most_what_was_left_out() -> None:
    def read() -> Extracted:
        for count in range(1, 5):
            to_markdown("<p hidden>secret</p>" * count + "<p>Words</p>")
        return Extracted("", "Words", None)

    assert len(cleaned(read, "").warnings) == 3
