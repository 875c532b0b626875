"""The ids of headings and terms survive extraction, so that a section can be cited by its URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from websearch_gateway.readers.extraction.extract import extract
from websearch_gateway.readers.extraction.render import to_markdown, with_anchors

BASE = "https://docs.example/guide.html"


def anchored(body: str) -> list[tuple[str, str]]:
    """Each id with the line of Markdown that it leads to."""
    markdown, anchors = with_anchors(html.fromstring(f"<body>{body}</body>"), BASE)
    return [(identifier, markdown[at:].partition("\n")[0]) for at, identifier in anchors]


@pytest.mark.parametrize(
    "heading",
    [
        "<h2 id=setup>Setup</h2>",
        "<h2><a name=setup></a>Setup</h2>",
        "<h2><a class=header id=setup>Setup</a></h2>",
        "<section id=setup><h2>Setup</h2></section>",
        "<section><span id=setup></span><h2>Setup</h2></section>",
        "<div id=setup><div><div><div>\n<h2>Setup</h2></div></div></div></div>",
        "<p>Before.</p><a id=setup></a><h2>Setup</h2>",
    ],
)
def test_a_heading_has_the_id_that_links_to_it(heading: str) -> None:
    assert anchored(heading) == [("setup", "## Setup")]


@pytest.mark.parametrize(
    "body",
    [
        "<h2>Setup</h2>",
        "<section id=whole><p>Text first.</p><h2>Setup</h2></section>",
        "<p><a id=word></a>A word.</p><h2>Setup</h2>",
        "<h2 id='two words'>Setup</h2>",
        "<body id=page><h2>Setup</h2></body>",
    ],
)
def test_an_id_of_another_place_is_not_used(body: str) -> None:
    assert anchored(body) == []


def test_every_term_of_a_definition_list_has_its_own_id() -> None:
    body = "<dl><dt id=a.run>run(<em>x</em>)</dt><dt id=a.stop>stop()</dt><dd>Runs, or stops.</dd></dl>"
    assert anchored(body) == [("a.run", "**run(*x*)**"), ("a.stop", "**stop()**")]


def test_ids_in_lists_and_tables_have_the_offsets_of_their_lines() -> None:
    body = (
        "<ul><li><h3 id=one>One</h3></li></ul><table><tr><th>k</th></tr><tr><td><dl><dt id=two>Two</dt></dl></td></tr>"
    )
    assert anchored(body) == [("one", "### One"), ("two", "| **Two** |")]


def test_a_page_that_forges_marks_only_loses_them() -> None:
    markdown, _ = with_anchors(html.fromstring("<p>a\ufdd0forged\ufdd1b \ufdd0</p>"), BASE)
    assert markdown == "ab \ufdd0"


def test_extraction_returns_the_ids_with_offsets_in_its_markdown() -> None:
    text = "<p>" + "Readable prose that any filter keeps. " * 8 + "</p>"
    page = extract(
        f"<html><body><main><h1 id=top>Guide</h1>{text}<h2 id=end>End</h2>{text}</main></body></html>", BASE, None
    )
    assert [(i, page.markdown[at:].partition("\n")[0]) for at, i in page.anchors] == [
        ("top", "# Guide"),
        ("end", "## End"),
    ]


@given(st.lists(st.sampled_from(["<h2 id=a>A", "<dt id=b>B", "<section id=c>", "</section>", "<p>t", "<li>", "<td>"])))
def test_ids_do_not_change_the_text(parts: list[str]) -> None:
    body = f"<body>{''.join(parts)}</body>"
    bare = body.replace(" id=", " data-id=")
    assert to_markdown(html.fromstring(body), BASE) == to_markdown(html.fromstring(bare), BASE)


def test_many_empty_elements_before_a_heading_take_linear_time() -> None:
    body = "<a></a>" * 20_000 + "<h2>x</h2>" * 20_000
    assert anchored(body) == []
