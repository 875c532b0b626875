"""Comments in Markdown are for its authors: no reader sees them, and no model should."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.text.markdown import blocks, code_blocks, without_comments


@pytest.mark.parametrize(
    ("markdown", "left"),
    [
        ("a <!-- x --> b", "a  b"),
        ("<!--\n```\nx\n-->\nafter", "\nafter"),
        ("```html\n<!-- code -->\n```\nb <!-- x -->", "```html\n<!-- code -->\n```\nb "),
        ("````\n```\n<!-- code -->\n````\n<!-- x -->b", "````\n```\n<!-- code -->\n````\nb"),
        ("~~~\n<!-- never closed", "~~~\n<!-- never closed"),
        ("``` no fence ``` <!-- x -->b", "``` no fence ``` b"),
        ("`<!-- code -->`", "`<!-- code -->`"),
        ("a <!-- not closed", "a <!-- not closed"),
        ("a <!-- not closed\n\n  <!-- to the end\n\nx", "a <!-- not closed\n\n"),
    ],
)
def test_comments_are_removed_except_in_code(markdown: str, left: str) -> None:
    assert without_comments(markdown) == left


@given(st.text("ab `~\n", max_size=80))
def test_text_without_comments_is_unchanged(markdown: str) -> None:
    assert without_comments(markdown) == markdown


@given(
    st.lists(st.sampled_from(["```", "~~~", "````", "``` a", "~~~ `", "`", "a", "| b", "- c", "  ", "\t", "\n", "\n"]))
)
def test_code_blocks_are_the_blocks_of_the_kind_code(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert list(code_blocks(text)) == [(block.start, block.end) for block in blocks(text) if block.kind == "code"]
