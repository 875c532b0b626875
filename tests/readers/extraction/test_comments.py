from __future__ import annotations

import pytest

from websearch_gateway.readers.extraction import blocks, page
from websearch_gateway.readers.extraction.comments import in_comments, in_consent


@pytest.mark.parametrize(
    ("opening", "expected"),
    [
        ("<div class='comment-list'>", True),
        ("<section id='Comments'>", True),
        ("<div id='disqus_thread'>", True),
        ("<div class='corresponding'>", False),
        ("<div>", False),
    ],
)
def test_a_class_or_id_for_comments_applies_to_all_blocks_inside(opening: str, expected: bool) -> None:
    tag = opening[1:].split("'")[0].split(">")[0].split(" ")[0]
    root = page.parse(f"<p>Before.</p>{opening}<div><p>One.</p></div><p>Two.</p></{tag}><p>After.</p>")
    assert root is not None
    assert in_comments(blocks.outline(root)).tolist() == [False, expected, expected, False]


def test_the_body_of_a_page_with_comments_is_not_a_comment() -> None:
    root = page.parse("<body class='comments-open'><p>Text.</p></body>")
    assert root is not None
    assert in_comments(blocks.outline(root)).tolist() == [False]


@pytest.mark.parametrize(
    ("opening", "expected"),
    [
        ("<div id='onetrust-consent-sdk'>", True),
        ("<div class='page cookie-notice'>", True),
        ("<div class='cookies'>", False),
        ("<div class='category-cookies'>", False),
    ],
)
def test_a_box_that_asks_for_consent_is_known_by_its_name(opening: str, expected: bool) -> None:
    root = page.parse(f"<p>Before.</p>{opening}<p>One.</p></div><p>After.</p><p>The end.</p>")
    assert root is not None
    assert in_consent(blocks.outline(root)).tolist() == [False, expected, False, False]


def test_a_box_around_most_of_the_page_does_not_only_ask_for_consent() -> None:
    root = page.parse("<div class='gdpr'><p>One.</p><p>Two.</p></div><p>Three.</p>")
    assert root is not None
    assert in_consent(blocks.outline(root)).tolist() == [False] * 3
