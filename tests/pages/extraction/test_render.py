from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from websearch_gateway.pages.extraction import page
from websearch_gateway.pages.extraction.extract import extract
from websearch_gateway.pages.rendering import to_markdown, with_anchors

URL = "https://example.com/docs/page"


def rendered(html: str) -> str:
    root = page.parse(html)
    return "" if root is None else to_markdown(root, page.base_of(root, URL))


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h2>One <em>two</em></h2><p>Three", "## One *two*\n\nThree"),
        ("<p>a<br>b</p>", "a\nb"),
        ("<ul><li>a<ul><li>b</ul><li><p>c</ul>", "- a\n  - b\n- c"),
        ("<ol start=9><li>x<li>y</ol>", "9. x\n10. y"),
        ("<blockquote><p>q<p>r</blockquote>", "> q\n>\n> r"),
        ("<p><code>a`b</code> <kbd>Ctrl</kbd>", "`` a`b `` `Ctrl`"),
        ("<p><b> bold </b>text", "**bold** text"),
        ("<dl><dt>term<dd>meaning</dl>", "**term**\n\nmeaning"),
        ("<dl><dt>: <strong>ceil</strong> <em>(x)</em><dd>Up.</dl>", "**: ceil *(x)***\n\nUp."),
        ("<p>before <img src=x alt='a cat'> after", "before a cat after"),
        ("<h2>Return value<a href='#return-value'>\u200b</a></h2>", "## Return value"),
        ("just words", "just words"),
    ],
)
def test_each_element_has_its_markdown(html: str, markdown: str) -> None:
    assert rendered(html) == markdown


def test_the_language_of_a_nested_code_block_is_found() -> None:
    html = "<pre><pre class='playground'><code class='language-rust ignore'>fn main() {}</code></pre></pre>"
    assert rendered(html) == "```rust\nfn main() {}\n```"


def test_a_fence_names_its_language_and_is_followed_by_a_blank_line() -> None:
    html = "<pre><code class='language-python'>def f():\n    return `1`</code></pre><p>after</p>"
    assert rendered(html) == "```python\ndef f():\n    return `1`\n```\n\nafter"
    assert rendered("<div class='highlight-c notranslate'><pre>int a;</pre></div>").startswith(
        "```c\n"
    )
    assert rendered("<pre>a ``` b</pre>").startswith("````\n")


def test_a_data_table_keeps_rows_spans_and_pipes() -> None:
    html = "<table><tr><th>K<th>V<tr><td colspan=2>both<tr><td>a|b<td><ul><li>x<li>y</ul></table>"
    assert rendered(html) == "| K | V |\n| --- | --- |\n| both |  |\n| a\\|b | x; y |"


def test_a_layout_table_is_not_rendered_as_a_table() -> None:
    assert (
        rendered("<table><tr><td><p>text<table><tr><td>a<td>b</table></table>")
        == "text\n\n| a | b |\n| --- | --- |"
    )


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("../up?a=1#f", "https://example.com/up?a=1#f"),
        ("#part", "https://example.com/docs/page#part"),
        ("//cdn.example/x", "https://cdn.example/x"),
        ("/a b(c)", "https://example.com/a%20b%28c%29"),
        ("mailto:me@example.com", "mailto:me@example.com"),
    ],
)
def test_links_become_absolute(href: str, target: str) -> None:
    assert rendered(f"<p><a href='{href}'>label</a>") == f"[label]({target})"


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "data:text/html,x", "java\nscript:x", "http://[", "#", ""]
)
def test_a_link_without_a_safe_address_is_plain_text(href: str) -> None:
    assert rendered(f"<p><a href='{href}'>label</a>") == "label"


def test_links_are_relative_to_the_base_of_the_page() -> None:
    assert (
        rendered("<base href='/other/'><p><a href='x'>l</a>") == "[l](https://example.com/other/x)"
    )


def test_a_link_around_a_card_stays_on_its_first_line() -> None:
    assert (
        rendered("<a href='/c'><div><h3>Card</h3><p>text</p></div></a>")
        == "### [Card](https://example.com/c)\n\ntext"
    )


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("1. not a list", "1\\. not a list"),
        ("# no heading", "\\# no heading"),
        ("2 * 3 and snake_case [1]", "2 * 3 and snake_case [1]"),
        ("*stars* `ticks` &lt;b>", "\\*stars\\* \\`ticks\\` \\<b>"),
        ("x](y)", "x\\](y)"),
    ],
)
def test_only_characters_that_would_be_markdown_are_escaped(text: str, markdown: str) -> None:
    assert rendered(f"<p>{text}</p>") == markdown


@pytest.mark.parametrize(
    "tag", ["div", "b", "blockquote", "ul><li", "table><tr><td", "a href=x", "pre", "code"]
)
def test_any_depth_is_rendered(tag: str) -> None:
    assert "word" in rendered(f"<p>word</p>{f'<{tag}>' * 100_000}")


def test_a_tag_with_a_hundred_thousand_attributes_loses_them() -> None:
    assert rendered(f"<p {' '.join(f'a{n}=1' for n in range(100_000))}>word</p>") == "word"


@pytest.mark.parametrize("before", [0, 9_000, 19_999])
def test_a_large_tag_loses_its_attributes_wherever_it_begins(before: int) -> None:
    tag = f"<p {' '.join(f'a{n}=1' for n in range(3_000))}>"
    root = page.parse(f"<i>{'x' * before}</i>{tag}word</p>")
    assert root is not None
    assert root.find(".//p").keys() == []


@given(st.text(alphabet="<>/abpreulitd =\"'&;#`*_[]()!\n\\|", max_size=200))
def test_any_sequence_of_tags_can_be_rendered(soup: str) -> None:
    assert isinstance(rendered(soup), str)


def test_a_list_of_sections_has_their_headings() -> None:
    body = "<ul><li><section><h3>add</h3><p>Adds.</p></section></li><li><section><h3>poll</h3></section></li></ul>"
    assert rendered(body) == "### add\n\nAdds.\n\n### poll"


@pytest.mark.parametrize("mark", ["¶", "◆", "\u200b"])
def test_a_heading_is_rendered_without_its_permalink(mark: str) -> None:
    assert rendered(f"<h2>Usage <a href='#usage'>{mark}</a></h2>") == "## Usage"


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
        "<h2>Setup of an <a name=scala.Int href=Int.html>Int</a></h2>",
        "<body id=page><h2>Setup</h2></body>",
    ],
)
def test_an_id_of_another_place_is_not_used(body: str) -> None:
    assert anchored(body) == []


def test_every_term_of_a_definition_list_has_its_own_id() -> None:
    body = "<dl><dt id=a.run>run(<em>x</em>)</dt><dt id=a.stop>stop()</dt><dd>Runs, or stops.</dd></dl>"
    assert anchored(body) == [("a.run", "**run(*x*)**"), ("a.stop", "**stop()**")]


def test_ids_in_lists_and_tables_have_the_offsets_of_their_lines() -> None:
    body = "<ul><li><h3 id=one>One</h3></li></ul><table><tr><th>k</th></tr><tr><td><dl><dt id=two>Two</dt></dl></td></tr>"
    assert anchored(body) == [("one", "### One"), ("two", "| **Two** |")]


def test_a_page_that_forges_marks_only_loses_them() -> None:
    markdown, _ = with_anchors(html.fromstring("<p>a\ufdd0forged\ufdd1b \ufdd0</p>"), BASE)
    assert markdown == "ab \ufdd0"


def test_extraction_returns_the_ids_with_offsets_in_its_markdown() -> None:
    text = "<p>" + "Readable prose that any filter keeps. " * 8 + "</p>"
    page = extract(
        f"<html><body><main><h1 id=top>Guide</h1>{text}<h2 id=end>End</h2>{text}</main></body></html>",
        BASE,
        None,
    )
    assert [(i, page.markdown[at:].partition("\n")[0]) for at, i in page.anchors] == [
        ("top", "# Guide"),
        ("end", "## End"),
    ]


@given(
    st.lists(
        st.sampled_from(
            ["<h2 id=a>A", "<dt id=b>B", "<section id=c>", "</section>", "<p>t", "<li>", "<td>"]
        )
    )
)
def test_ids_do_not_change_the_text(parts: list[str]) -> None:
    body = f"<body>{''.join(parts)}</body>"
    bare = body.replace(" id=", " data-id=")
    assert to_markdown(html.fromstring(body), BASE) == to_markdown(html.fromstring(bare), BASE)


def test_many_empty_elements_before_a_heading_take_linear_time() -> None:
    body = "<a></a>" * 20_000 + "<h2>x</h2>" * 20_000
    assert anchored(body) == []
