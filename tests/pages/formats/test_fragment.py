"""HTML that is all content becomes Markdown, in any structure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.pages.formats.rendering import to_markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("", ""),
        ("plain &amp; simple", "plain & simple"),
        ("<p>one<p>two", "one\n\ntwo"),
        ("a<br>b", "a\nb"),
        ("<b>bold </b>word", "**bold** word"),
        ("<code>a  b</code>", "`a b`"),
        ("10<sup>6</sup> the 1<sup>st</sup>", "10^6 the 1st"),
        ('<a href="/x y">z</a>', "[z](https://site.example/x%20y)"),
        ('<a href="javascript:x()">z</a>', "z"),
        ('<math alttext="x^2"><msup><mi>x</mi><mn>2</mn></msup></math>', "`$x^2$`"),
        ("<h2> A <i>b</i> </h2>", "## A *b*"),
        ("<ul><li>a<ol><li>b</ol><li><p>c</ul>", "- a\n  1. b\n- c"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
        ("<pre>a\n  ```b</pre>", "````\na\n  ```b\n````"),
        ('<pre><code class="language-sh">ls</code></pre>', "```sh\nls\n```"),
        ("<dl><dt>a<dd>b</dl>", "**a**\n\nb"),
        ("<script>x</script><style>y</style>z<!-- c -->", "z"),
        ("<table><tr><td>one<p>cell</table>", "one\n\ncell"),
        ("<table><tr><th>a<th>b<tr><td>1|2</table>", "| a | b |\n| --- | --- |\n| 1\\|2 |  |"),
        ("<table><tr><th colspan=2>a<tr><td>1<td>2</table>", "| a | a |\n| --- | --- |\n| 1 | 2 |"),
        ("<span>a<div>b</div></span>c", "a\n\nb\n\nc"),
        ("<p>## Accepted answer", "\\## Accepted answer"),
        ("<ol start=7><li>a<li>b</ol>", "7. a\n8. b"),
    ],
)
def test_html_becomes_markdown(html: str, markdown: str) -> None:
    assert to_markdown(html, "https://site.example/dir/") == markdown


def test_the_span_of_a_cell_is_limited() -> None:
    """Ours: a page of a megabyte must not become one of a gigabyte."""
    cell = "<th rowspan=999999999 colspan=999999999>a</th>"
    assert to_markdown(f"<table><tr>{cell}{'<tr><td>b' * 99}</table>").count("a") == 100
    wide = "<td colspan=100>c" * 100
    assert len(to_markdown(f"<table><tr>{wide}{'<tr><td>b' * 99}</table>")) < 40_000
    assert len(to_markdown(f"<table><tr>{'<td>c' * 2_000}{'<tr><td>b' * 2_000}</table>")) < 100_000
    long = f"<td rowspan=50>{'long ' * 50}</td>"
    assert to_markdown(f"<table><tr>{long}<td>b{'<tr><td>b' * 99}</table>").count("long") == 50


def test_no_depth_of_nesting_breaks_it() -> None:
    assert to_markdown("<span>" * 400 + "deep") == "deep"
    assert "deep" in to_markdown("<ul><li>" * 400 + "deep")


@given(st.text(st.sampled_from("<>/abp tdrliu&;=\"'\n"), max_size=80))
def test_any_text_can_be_converted(html: str) -> None:
    to_markdown(html, "https://site.example/")


def test_merged_cells_of_a_page_repeat_only_so_much() -> None:
    """A cell of a hundred characters may span a hundred columns, and a page may have thousands of such cells."""
    table = "<table>" + f"<tr><td colspan=100>{'x' * 100}</td><td>y</td></tr>" * 600 + "</table>"
    assert len(to_markdown(table * 4)) < 2 * 600 * 100 * 110
    assert to_markdown(table).count("x" * 100) == 600 * 100
