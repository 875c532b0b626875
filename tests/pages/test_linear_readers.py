"""The author of a page chooses its elements and their nesting, so every reader must take linear time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from tests.documents import W, paragraph, relations, word
from tests.growth import COUNTED, Text, too_much, without_collector
from websearch_gateway.pages.extraction import page
from websearch_gateway.pages.extraction.extract import extract, extract_from
from websearch_gateway.pages.formats.containers import zipped
from websearch_gateway.pages.formats.feed import feed
from websearch_gateway.pages.formats.kinds import warm_up
from websearch_gateway.pages.formats.notebook import notebook
from websearch_gateway.pages.formats.plain import csv_table, json_text
from websearch_gateway.pages.formats.rendering import to_markdown
from websearch_gateway.pages.formats.rtf import rtf

SIZES = (2_000,)

NESTED = (
    "a",
    "blockquote",
    "code",
    "details",
    "div",
    "dt",
    "h1",
    "h2",
    "li",
    "math",
    "rp",
    "sup",
    "table",
    "ul",
    "x-y",
)
REPEATED = {
    "paragraphs": "<p>",
    "short paragraphs": "<p>a",
    "headings": "<h2>a</h2>",
    "titles": "<h1>a</h1>",
    "links": "<a href=x>b</a> ",
    "hidden": "<p hidden>a</p>",
    "styled": '<span style="color:red">a</span>',
    "pictures": "<img alt=a src=b>",
    "tables": "<table><tr><td>a<td>b</table>",
    "lists": "<ol><li>a</ol>",
    "code": "<pre>a</pre>",
    "terms": "<dl><dt>a<dd>b</dl>",
    "line breaks": "a<br>",
    "words": "word ",
    "powers": "10<sup>5</sup>",
    "formulas": "<math><mi>x</mi></math>",
    "drawn formulas": "<b class=katex-html><b>1<b class=msupsub>2</b></b></b> ",
    "drawn formulas in each other": "<b class=katex-html>1<b class=msupsub>2",
    "marks of one note": "<sup><a href=#n>1</a></sup><p id=n><a href=#n>^</a>",
    "formulas in text": "\\(a_1\\) $b^2$ <i>c</i> $d_3$ ",
    "half a formula in text": "\\(a $b_ ",
    "fractions": "1<b>1</b>\u2044<b>2</b> ",
    "powers in code": "<code>10<sup>4<sub>2</sub></sup></code>",
    "powers in open code": "<code>10<sup>4",
    "numbered lines": "<pre><span class=lineno>1</span>a",
    "lists of lines": "<ol><li class=li1>a<li class=li2>b",
    "elements of a site": "a <x-y>b",
    "empty elements of a site": "<x-y></x-y>",
    "boxes": "<span style='display:block;position:relative'>a",
    "listings": "<div><div class=line>a</div><div class=line>b</div></div>",
    "numbered listings": "<table><tr><td>1<br>2<td>a<br>b</table>",
    "merged cells": "<table><tr><td rowspan=0>a<td colspan=9>b</table>",
    "posts": "<div><a class=author>a</a> b</div>",
    "prices": "<select><option>1 €<option>2 €</select>",
    "escaped characters": "_ _",
}
PIECES = {
    "kept lines": "<p style=white-space:pre-line>a\nb<i>c</i>\nd",
    "kept lines in each other": "<div style=white-space:pre>a\nb",
    "kept lines of one element": "\na<i>b</i>",
}
FEEDS = {
    "empty entries": "<item/>",
    "entries": "<item><title>a</title><description>&lt;b&gt;c</description></item>",
    "links": "<link/>",
}
JSON: dict[str, Text] = {
    "nested": lambda size: "[" + ",".join("[" * 400 + "]" * 400 for _ in range(size // 800)) + "]",
    "numbers": lambda size: "[" + "1," * (size // 2) + "1]",
    "numbers deep down": lambda size: "[" * 200 + "1," * (size // 2) + "1" + "]" * 200,
}
RTF: dict[str, Text] = {
    "tabs": "a\\tab ",
    "long marks": lambda size: "{\\listtext " + "\\tab " * (size // 5),
    "lists": lambda size: "".join(f"{{\\listtext 1.}}\\ls{n} x\\par " for n in range(size // 30)),
    "fields": "{\\field{\\*\\fldinst x",
    "marked words": "\\b a\\b0 b",
}
WORD: dict[str, Text] = {
    "runs": lambda size: f"<w:p>{'<w:r><w:t>a</w:t></w:r>' * (size // 24)}</w:p>",
    "lines of code": paragraph("a", '<w:pStyle w:val="code"/>'),
}
NOTEBOOKS = {"pictures": "![](data:", "brackets": "!["}
CELLS = {"rows": "a,b\n", "cells": "a,", "links": "[a](b),c\n"}


@pytest.fixture(autouse=True, scope="module")
def _warm() -> None:
    warm_up()


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    with without_collector():
        yield


def nested(tag: str, filling: str) -> Callable[[int], str]:
    """A page of elements in each other around others, as deep as libxml2 allows."""

    def page(size: int) -> str:
        depth = min(size // 20, 2_000)
        return f"<{tag}>" * depth + filling * (size // len(filling))

    return page


@pytest.mark.parametrize("tag", NESTED)
def test_elements_around_thousands_of_others_take_linear_time(tag: str) -> None:
    fillings = ("<p>a</p>", "<a href=x>b</a>", "<i></i>")
    slow = {filling: found for filling in fillings if (found := _of_html(nested(tag, filling)))}
    assert not slow


def test_menus_in_each_other_take_linear_time_in_documentation() -> None:
    def read(text: str) -> object:
        return extract_from(
            page.parse(f"<main><h1>T</h1><p>Words of the page.</p>{text}</main>"),
            "",
            thorough=False,
        )

    assert not too_much(read, '<nav><a href="#a">x</a><p>some words</p>', (16_000,), (16_000,))


@pytest.mark.parametrize("name", REPEATED)
def test_the_work_on_a_page_grows_with_its_length(name: str) -> None:
    assert not _of_html(REPEATED[name])


@pytest.mark.parametrize("name", PIECES)
def test_the_work_on_a_piece_of_html_grows_with_its_length(name: str) -> None:
    def read(text: str) -> object:
        return to_markdown(f"<div style=white-space:pre-wrap>{text}")

    assert not too_much(read, PIECES[name], SIZES, SIZES)


@pytest.mark.parametrize("name", FEEDS)
def test_the_work_on_a_feed_grows_with_its_length(name: str) -> None:
    def read(text: str) -> object:
        return feed(b"<rss><channel>" + text.encode(), "", "utf-8")

    assert not too_much(read, FEEDS[name], SIZES, SIZES)


@pytest.mark.parametrize("name", JSON)
def test_the_work_on_json_grows_with_its_length(name: str) -> None:
    assert not too_much(
        lambda text: json_text(text.encode(), "", "utf-8"), JSON[name], SIZES, SIZES
    )


@pytest.mark.parametrize("name", CELLS)
def test_the_work_on_a_table_grows_with_its_length(name: str) -> None:
    assert not too_much(
        lambda text: csv_table(text.encode(), "", "utf-8"), CELLS[name], SIZES, SIZES
    )


@pytest.mark.parametrize("name", RTF)
def test_the_work_on_rich_text_grows_with_its_length(name: str) -> None:
    assert not too_much(
        lambda text: rtf(b"{\\rtf1 " + text.encode(), "", ""), RTF[name], (20_000,), (20_000,)
    )


@pytest.mark.parametrize("name", WORD)
def test_the_work_on_a_word_document_grows_with_its_length(name: str) -> None:
    style = '<w:style w:styleId="code"><w:name w:val="Source Code"/></w:style>'
    parts: dict[str, str | bytes] = {
        "word/styles.xml": f"<w:styles {W}>{style}</w:styles>",
        "word/_rels/document.xml.rels": relations({"s": ("styles", "styles.xml")}),
    }

    def read(text: str) -> object:
        whole = text[: text.rfind("</w:p>") + 6]
        return zipped(word(whole, parts), "", "")

    assert not too_much(read, WORD[name], *[[one * 20 for one in COUNTED]] * 2)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_work_on_a_notebook_grows_with_its_length(name: str) -> None:
    def read(text: str) -> object:
        cells = [{"cell_type": "markdown", "source": text}]
        return notebook(json.dumps({"cells": cells}).encode(), "", "")

    assert not too_much(read, NOTEBOOKS[name])


def _of_html(text: Text) -> str | None:
    def read(page: str) -> object:
        return extract(f"<title>t</title><body><article>{page}", "https://a.example/", None)

    return too_much(read, text, SIZES, SIZES)
