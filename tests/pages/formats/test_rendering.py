"""What documents have in common when they become Markdown."""

from __future__ import annotations

import pytest

from websearch_gateway.pages.formats.rendering import Builder

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
