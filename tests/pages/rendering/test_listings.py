# ruff: noqa: E501 (markup as highlighters write it)
"""A listing has the lines and the indent of its source, whatever its highlighter writes."""

from __future__ import annotations

import re

import pytest

from tests.pages.rendering.containers import CONTAINERS, as_fragment

LINES = [
    "def moor(boats):",
    "    for boat in boats:",
    "        if boat.length > 3:",
    "",
    "            return boat",
]
CODE = "\n".join(LINES)
ESCAPED = [line.replace(">", "&gt;") for line in LINES]
HARD = [line.replace(" ", "&nbsp;") for line in ESCAPED]
NUMBERS = range(1, len(LINES) + 1)


def each(template: str, lines: list[str] = ESCAPED) -> str:
    return "".join(template.format(n=n, line=line) for n, line in zip(NUMBERS, lines, strict=True))


HIGHLIGHTERS = {
    "plain": "<pre>" + "\n".join(ESCAPED) + "</pre>",
    "line breaks and hard blanks": "<pre>" + "<br>".join(HARD) + "</pre>",
    "a list of lines": f"<pre class='prettyprint'><ol class='linenums'>{each('<li class=L{n}><span>{line}</span></li>')}</ol></pre>",
    "lines shown as blocks": f"<pre><code>{each('<span style=display:block>{line}</span>')}</code></pre>",
    "lines in divisions": f"<pre><code>{each('<div><span>{line}</span></div>')}</code></pre>",
    "code around a listing": "<code><pre>" + "\n".join(ESCAPED) + "</pre></code>",
    "code alone": "<div><code style='display:block;white-space:pre'>"
    + "\n".join(ESCAPED)
    + "</code></div>",
    "a column of numbers": "<table><tr><td class='n'><pre>1\n2\n3\n4\n5</pre></td><td class='c'><pre>"
    + "\n".join(ESCAPED)
    + "</pre></td></tr></table>",
    "a row for each line": f"<table class='highlight'>{each('<tr><td data-line-number={n}></td><td class=blob-code>{line}</td></tr>')}</table>",
    "SyntaxHighlighter": f"<div class='syntaxhighlighter'><table><tr><td class='gutter'>{each('<div class=line>{n}</div>')}</td><td class='code'><div class='container'>{each('<div class=line><code>{line}</code></div>', HARD)}</div></td></tr></table></div>",
    "Crayon": f"<table class='crayon-table'><tr><td class='crayon-nums'><div>{each('<div class=crayon-num>{n}</div>')}</div></td><td class='crayon-code'><div class='crayon-pre'>{each('<div class=crayon-line>{line}</div>', HARD)}</div></td></tr></table>",
    "CodeMirror": f"<div class='CodeMirror-code'>{each('<div><div class=gutter-wrapper><div>{n}</div></div><pre class=CodeMirror-line><span>{line}</span></pre></div>')}</div>",
    "Ace": f"<div class='ace_static_highlight'>{each('<div class=ace_line><span class=ace_gutter></span>{line}</div>', [f'{line}&#10;' for line in HARD])}</div>",
    "Monaco": f"<div class='view-lines'>{each('<div class=view-line><span>{line}</span></div>', HARD)}</div>",
    "Pygments with numbers in its lines": f"<pre><span></span>{each('<span class=linenos>{n}</span>{line}&#10;')}</pre>",
    "Chroma with numbers in its lines": f"<pre><code>{each('<span class=line><span class=ln>{n}</span><span class=cl>{line}&#10;</span></span>')}</code></pre>",
    "Shiki without line feeds": f"<pre class='shiki'><code>{each('<span class=line>{line}</span>')}</code></pre>",
    "Expressive Code": f"<pre><code>{each('<div class=ec-line><div class=gutter><div class=ln>{n}</div></div><div class=code>{line}</div></div>')}</code></pre>",
    "rustdoc": f"<pre><code>{each('<a href=#{n} data-nosnippet>{n}</a>{line}&#10;')}</code></pre>",
    "highlightjs-line-numbers": f"<pre><code><table class='hljs-ln'>{each('<tr><td class=hljs-ln-numbers><div class=hljs-ln-n></div></td><td class=hljs-ln-code>{line}</td></tr>')}</table></code></pre>",
    "GeSHi": f"<div class='geshi'><ol>{each('<li class=li1><div class=de1>{line}</div></li>', HARD)}</ol></div>",
    "code with line breaks": "<div><code>" + "<br>".join(HARD) + "</code></div>",
    "an old element": "<listing>" + "\n".join(ESCAPED) + "</listing>",
    "a style sheet alone": "<style>.src{white-space:pre;font-family:monospace}</style><div class=src>"
    + "\n".join(ESCAPED)
    + "</div>",
    "a style alone": "<div style='white-space: pre; font-family: monospace'>"
    + "\n".join(ESCAPED)
    + "</div>",
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("highlighter", HIGHLIGHTERS)
def test_a_listing_is_fenced_as_it_was_written(highlighter: str, container: str) -> None:
    markdown = CONTAINERS[container](HIGHLIGHTERS[highlighter])
    assert f"```\n{CODE}\n```" in markdown.replace("```python", "```")
    assert "1\n2" not in markdown


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td>1</td><td>North pier</td></tr><tr><td>2</td><td>South pier</td></tr></table>",
        "<p>Type <code>moor\nnow</code> to moor.</p>",
        "<div><div class='line'>One <p>paragraph</p></div><div class='line'>Two</div></div>",
        "<div><div class='headline'>One</div><div class='headline'>Two</div></div>",
    ],
)
def test_what_only_looks_like_a_listing_is_none(html: str) -> None:
    assert "```" not in as_fragment(html)


NOTES = {
    "Pandoc": "<p>Oak<sup><a href='#n1' id='r1'>1</a></sup> lasts.</p><section role='doc-endnotes'><hr><ol><li id='n1'><p>From the hill.<a href='#r1' role='doc-backlink'>↩︎</a></p></li></ol></section>",
    "a mark around": "<p>Oak<a href='#n1' id='r1' class='footnote-ref'><sup>1</sup></a> lasts.</p><ol><li id='n1'>From the hill. <a href='#r1'>↩</a></li></ol>",
    "a name in a paragraph": "<p>Oak<sup><a href='#n1' name='r1'>[1]</a></sup> lasts.</p><p><a name='n1' href='#r1'>[1]</a> From the hill.</p>",
    "brackets around the link": "<p>Oak<sup class='footnote'>[<a href='#n1'>1</a>]</sup> lasts.</p><div id='n1'><a href='#r1'>1</a>. From the hill.</div>",
    "EPUB": "<p>Oak<a epub:type='noteref' href='#n1'>1</a> lasts.</p><aside epub:type='footnote' id='n1'><p>From the hill.</p></aside>",
    "an aside": "<p>Oak<a role='doc-noteref' href='#n1'>1</a> lasts.</p><aside id='n1' role='doc-footnote'><p>From the hill.</p></aside>",
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", NOTES)
def test_a_note_is_kept_with_its_mark(kind: str, container: str) -> None:
    markdown = CONTAINERS[container](NOTES[kind])
    assert "Oak[^1] lasts." in markdown
    # The sanitiser sets a mark apart from its colon.
    assert re.search(r"\[\^1\] ?: From the hill\.", markdown)
    assert "↩" not in markdown


def test_a_note_in_the_margin_stands_in_brackets() -> None:
    assert (
        as_fragment("<p>Oak<span class='sidenote'>From the <i>hill</i>.</span> lasts.</p>")
        == "Oak (From the *hill*.) lasts."
    )


def test_a_link_to_a_section_is_no_note() -> None:
    html = "<p>See <a href='#s'>2</a>.</p><section id='s'><p>Text.</p></section>"
    assert "[^" not in as_fragment(html)


@pytest.mark.parametrize(
    ("lines", "start"), [(1, "1. code 0"), (2, "```\ncode 0\ncode 1"), (3, "```\ncode 0\ncode 1")]
)
def test_a_listing_has_at_least_two_lines(lines: int, start: str) -> None:
    items = "".join(f"<li class=L{line}>code {line}</li>" for line in range(lines))
    assert as_fragment(f"<ol>{items}</ol>").startswith(start)
