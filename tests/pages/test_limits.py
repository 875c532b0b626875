"""Each numeric limit of the house fails closed: what it cuts off is left out and said, an error, or taken as hostile."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

import pytest

from tests.documents import (
    at,
    book,
    drawn,
    open_document,
    paragraph,
    relations,
    shape,
    slides,
    word,
)
from tests.limits import (
    Limit,
    check_that_a_test_holds_it,
    check_that_it_fails_closed,
    limits_of,
)
from tests.pages.formats.test_pdf import ruled
from tests.pages.formats.test_sheets import cell, sheets
from tests.pages.formats.test_slides import CHART
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages import robots_fetcher
from websearch_gateway.pages.extraction.crawled import crawled_html
from websearch_gateway.pages.formats import kinds, number_formats, numbering
from websearch_gateway.pages.formats.kinds import CONVERTERS, Kind
from websearch_gateway.pages.formats.rendering import cleaned, to_markdown
from websearch_gateway.pages.sites.threads import HackerNews

URL = "https://a.example/"
SECRET = "a hidden remark"
FILL = "<p>Words that everybody reads about tides and harbours, at some length.</p>" * 20


def read(kind: Kind, body: bytes | str) -> Callable[[], str]:
    """What becomes of a document: its text with its warnings, or its error."""

    def outcome() -> str:
        data = body if isinstance(body, bytes) else body.encode()
        try:
            found = cleaned(CONVERTERS[kind], URL, data, URL, "utf-8")
        except SearchFetchError as error:
            return f"refused: {error.message} {error.details}"
        return "\n".join((found.title, found.markdown, *found.warnings))

    return outcome


def page(markup: str, css: str = "") -> Callable[[], str]:
    """A page with enough text beside this."""
    head = f"<title>t</title><style>{css}</style>" if css else "<title>t</title>"
    return read("html", f"<html><head>{head}</head><body><article>{FILL}{markup}</article>")


def hidden(style: str, css: str = "") -> Callable[[], str]:
    return page(f'<p class="h">{SECRET}</p>', f"{css}.h{{{style}}}")


def cells(*texts: str) -> str:
    return "<tr>" + "".join(f"<td>{text}</td>" for text in texts) + "</tr>"


def output(**data: str) -> str:
    found = {
        "output_type": "display_data",
        "data": {f"text/{name}": text for name, text in data.items()},
    }
    return json.dumps(
        {"nbformat": 4, "cells": [{"cell_type": "code", "source": "x", "outputs": [found]}]}
    )


def field(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def linked(instruction: str) -> str:
    told = f"<w:r><w:instrText>{instruction}</w:instrText></w:r>"
    shown = "<w:r><w:t>shown</w:t></w:r>"
    return f"<w:p>{field('begin')}{told}{field('separate')}{shown}{field('end')}</w:p>"


def nested_fields() -> str:
    inner = f"{field('begin')}<w:r><w:t>{SECRET}</w:t></w:r>{field('separate')}{field('end')}"
    outer = (field("begin") + field("separate")) * 3
    return f"<w:p>{outer}{inner}{field('end') * 3}<w:r><w:t>after</w:t></w:r></w:p>"


def styled(steps: int) -> bytes:
    chain = "".join(
        f'<style:style style:name="s{step}" style:parent-style-name="s{step + 1}"/>'
        for step in range(steps)
    )
    last = (
        f'<style:style style:name="s{steps}"><style:text-properties fo:color="#000"/></style:style>'
    )
    return open_document("text", '<text:p text:style-name="s0">Words.</text:p>', chain + last)


def chart() -> bytes:
    frame = (
        '<p:graphicFrame><c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    )
    frame += ' r:id="c1"/></p:graphicFrame>'
    parts: dict[str, str | bytes] = {
        "ppt/slides/_rels/slide1.xml.rels": relations({"c1": ("chart", "../charts/c.xml")}),
        "ppt/charts/c.xml": CHART,
    }
    return slides(shape("T", "title") + frame, parts=parts)


def comments() -> str:
    item = {
        "title": "T", "author": "a", "points": 1, "created_at": "2026-01-01T00:00:00Z", "text": "x",
        "children": [{"author": "b", "text": f"comment{number}", "children": []} for number in range(4)],
    }  # fmt: skip
    found = HackerNews.parse("https://news.ycombinator.com/item?id=1", [json.dumps(item).encode()])
    return "\n".join((found.markdown, *found.warnings))


def decimals() -> str:
    form = number_formats.number_format("0.00")
    assert form is not None
    return str(form.decimals)


def table_of_pdf() -> Callable[[], str]:
    words = "".join(at(25 + 50 * x, 255 - 20 * y, f"c{x}{y}") for x in range(2) for y in range(2))
    return read("pdf", drawn(ruled([20, 70, 120], [230, 250, 270]) + words))


def links_of_crawl() -> str:
    body = "<title>t</title>" + "".join(f'<a href="/p{number}">p</a>' for number in range(5))
    return " ".join(crawled_html(body.encode(), URL, "utf-8").links)


FORMULAS = (
    f'<row r="1">{cell("A1", "Port")}<c r="B1"><f>SUM(X1)</f></c><c r="C1"><f>SUM(X2)</f></c>'
    f'{cell("D1", "last")}</row><row r="2" hidden="1">{cell("A2", SECRET)}</row>'
)
"""A row with two formulas without values, and a hidden row."""

COLUMNS = '<cols><col min="9" max="9"/><col min="9" max="9"/></cols>'
TIDE = "The tide rises every day at noon in the old harbour of the town. " * 10
BOATS = "A second text says how the boats go out to the sea and come back. " * 10

ROWS = (
    Limit(
        "extraction.elsewhere._MOST_DATA",
        50,
        read(
            "html", '<title>t</title><script type="application/json">{"a":"' + TIDE + '"}</script>'
        ),
        gone="The tide rises",
    ),
    Limit(
        "extraction.elsewhere._MOST_CHARS",
        100,
        read(
            "html",
            '<title>t</title><script type="application/json">["'
            + TIDE
            + '","'
            + BOATS
            + '"]</script>',
        ),
        gone="A second text",
    ),
    Limit(
        "extraction.elsewhere._MOST_FRAMES",
        1,
        read("html", "<frameset><frame src=/one><frame src=/two></frameset>"),
        gone="/two",
    ),
    Limit("extraction.crawled.MOST_LINKS", 2, links_of_crawl, gone="/p3"),
    Limit(
        "extraction.extract.MOST_ELEMENTS",
        15,
        page("<p>The last words.</p>"),
        gone="The last words",
        said="the rest is left out",
    ),
    Limit(
        "extraction.page._MOST_OPTIONS",
        2,
        page("<p>Sizes</p><select><option>S $1<option>M $2<option>L $3</select>"),
        gone="$3",
    ),
    Limit(
        "extraction.page._MOST_BUILDERS",
        0,
        page("<p>[vc_row]Words of a builder.[/vc_row]</p>"),
        said="vc_row",
    ),
    Limit(
        "formats.books.MOST_CHAPTERS",
        1,
        read("zip", book(["<p>One</p>", "<p>Two</p>"])),
        gone="Two",
        said="were left out",
    ),
    Limit(
        "formats.books.MOST_AUTHORS",
        1,
        read("zip", book(["<p>x</p>"], "<dc:creator>Jo</dc:creator><dc:creator>Sam</dc:creator>")),
        gone="Sam",
        said="and others",
    ),
    Limit(
        "formats.books.MOST_STYLES",
        5,
        read(
            "zip",
            book(
                [f'<link rel="stylesheet" href="a.css"/><p class="h">{SECRET}</p><p>Words</p>'],
                parts={"OEBPS/a.css": ".h{display:none}"},
            ),
        ),
        gone="Words",
        said="hidden text",
        never=SECRET,
    ),
    Limit(
        "formats.feed.MOST_ENTRIES",
        1,
        read(
            "feed",
            "<rss><channel><item><title>One</title></item><item><title>Two</title></item></channel></rss>",
        ),
        gone="Two",
        said="left out",
    ),
    Limit(
        "robots_fetcher.MAX_RULES",
        20,
        lambda: robots_fetcher._whole_lines(
            b"User-agent: *\nAllow: /public/\n", robots_fetcher.MAX_RULES
        ).decode(),
        gone="Allow: /",
    ),
    Limit("formats.kinds.MAX_PAGE_BYTES", 7, lambda: str(kinds.most_bytes(URL)), said="7"),
    Limit(
        "formats.kinds.MAX_DOCUMENT_BYTES",
        7,
        lambda: str(kinds.most_bytes(f"{URL}a.pdf")),
        said="7",
    ),
    Limit(
        "formats.mail.MOST_HEADER",
        10,
        read("mail", "From: a@example.com\nSubject: A long subject of a message\n\nText"),
        gone="of a message",
    ),
    Limit(
        "formats.notebook.LONGEST_OUTPUT",
        10,
        read("notebook", output(plain="Words and more words")),
        gone="more words",
        said="left out",
    ),
    Limit(
        "formats.notebook.LONGEST_MARKUP",
        50,
        read(
            "notebook",
            output(html=f"<p class=h>{SECRET}</p><p>Words</p><style>.h{{display:none}}</style>"),
        ),
        gone="Words",
        said="rest of this output",
        never=SECRET,
    ),
    Limit(
        "formats.number_formats.LONGEST_CODE",
        3,
        lambda: str(number_formats.number_format("0.00") is None),
        said="True",
    ),
    Limit("formats.number_formats.MOST_DECIMALS", 1, decimals, said="1"),
    Limit("formats.numbering.MOST_COUNTED", 5, lambda: str(numbering._number("123")), said="5"),
    Limit(
        "formats.word_fields._MOST_FIELDS",
        0,
        read("zip", word(linked("HYPERLINK &quot;https://b.example/&quot;"))),
        gone="shown",
    ),
    Limit(
        "formats.word_fields._LONGEST_INSTRUCTION",
        12,
        read("zip", word(linked("HYPERLINK &quot;https://b.example/&quot;"))),
        gone="https://b.example",
    ),
    Limit(
        "formats.slides.MOST_SLIDES",
        1,
        read("zip", slides(shape("One"), shape("Two"))),
        gone="Two",
        said="were left out",
    ),
    Limit(
        "formats.slides._DEEPEST",
        0,
        read("zip", slides(f"<p:grpSp>{shape('Grouped')}</p:grpSp>")),
        gone="Grouped",
    ),
    Limit("formats.open_styles._MOST_PARENTS", 3, read("zip", styled(5)), gone="Words."),
    Limit(
        "formats.package.MOST_ENTRIES",
        1,
        read("zip", word(paragraph("Words"))),
        gone="Words",
        said="refused",
    ),
    Limit(
        "formats.package.MOST_UNPACKED",
        10,
        read("zip", word(paragraph("Words"))),
        gone="Words",
        said="refused",
    ),
    Limit(
        "formats.package.MOST_RELATIONS",
        1,
        read("zip", slides(shape("One"), shape("Two"))),
        gone="One",
        said="refused",
    ),
    Limit(
        "formats.containers.LONGEST_TYPE",
        5,
        read("zip", open_document("text", "<text:p>Words</text:p>")),
        gone="Words",
        said="refused",
    ),
    Limit(
        "formats.office_drawings._MOST_POINTS",
        1,
        read("zip", chart()),
        gone="West",
        said="rest of this chart is left out",
    ),
    Limit(
        "formats.office_drawings._MOST_SERIES",
        0,
        read("zip", chart()),
        gone="12.5",
        said="rest of this chart is left out",
    ),
    Limit(
        "formats.pdf.MOST_PAGES",
        1,
        read("pdf", drawn(at(20, 280, "One"), at(20, 280, "Two"))),
        gone="Two",
        said="only the first",
    ),
    Limit("formats.pdf_page.MOST_OBJECTS", 1, table_of_pdf(), gone="| c00"),
    Limit("formats.pdf_page.MOST_POINTS", 1, table_of_pdf(), gone="| c00"),
    Limit("formats.pdf_tables.MOST_CROSSINGS", 1, table_of_pdf(), gone="| c00"),
    Limit("formats.pdf_tables.MOST_CELLS", 1, table_of_pdf(), gone="| c00"),
    Limit(
        "formats.plain.MAX_INFLATED",
        5,
        read("gzip", gzip.compress(b"Words of a text")),
        gone="Words",
        said="refused",
    ),
    Limit("formats.plain._MOST_CELLS", 2, read("csv", "a,b\nc,d\n"), gone="| --- |"),
    Limit(
        "formats.rendering.MAX_MARKDOWN",
        20,
        read("text", "Words of a text that go on."),
        gone="go on",
        said="the rest is left out",
    ),
    Limit(
        "formats.rendering.MAX_TITLE",
        3,
        read("html", f"<title>Harbour news</title>{FILL}"),
        gone="Harbour news",
    ),
    Limit(
        "formats.rendering._MOST_NOTES",
        0,
        read(
            "mail",
            f"From: a@example.com\nSubject: s\nContent-Type: text/html\n\n<p>x</p><p hidden>{SECRET}</p>",
        ),
        gone="cannot see",
        never=SECRET,
    ),
    Limit("formats.rtf.DEEPEST", 2, read("rtf", r"{\rtf1 a{b{c{d}}}}"), gone="abcd"),
    Limit(
        "formats.sheet_looks.MOST_HIDDEN",
        1,
        read(
            "zip",
            sheets(f'<row r="1">{cell("A1", "Port")}</row></sheetData>{COLUMNS}<sheetData>'),
        ),
        gone="Port",
    ),
    Limit(
        "formats.sheet_looks.MOST_LOOKED_AT",
        1,
        read("zip", sheets(FORMULAS)),
        gone="SUM",
        never=SECRET,
    ),
    Limit(
        "formats.sheet_looks.MOST_LOOKS",
        0,
        read("zip", sheets(FORMULAS)),
        gone="SUM(X2)",
        never=SECRET,
    ),
    Limit("formats.sheet_looks.LONGEST_TEXT", 3, read("zip", sheets(FORMULAS)), gone="SUM(X1)"),
    Limit(
        "formats.sheets.MOST_SHEETS",
        1,
        read(
            "zip",
            sheets(
                f'<row r="1">{cell("A1", "One")}</row>', f'<row r="1">{cell("A1", "Two")}</row>'
            ),
        ),
        gone="Two",
        said="were read",
    ),
    Limit(
        "formats.sheets.MOST_COLUMNS",
        1,
        read("zip", sheets(f'<row r="1">{cell("A1", "One")}{cell("B1", "Two")}</row>')),
        gone="Two",
        said="left out",
    ),
    Limit(
        "rendering.formulas._LONGEST_UNSEEN",
        3,
        page(r'<p><script type="math/tex">x+yz^2</script></p>'),
        gone="yz",
    ),
    Limit(
        "rendering.tables.LARGEST_CELL",
        2,
        lambda: to_markdown(
            f"<table><tr><th colspan=4>H</th></tr>{cells('a', 'b', 'c', 'd')}</table>"
        ),
        gone="| H | H | H |",
    ),
    Limit(
        "rendering.tables._MOST_CELLS",
        2,
        lambda: to_markdown(f"<table><tr><th colspan=2>H</th></tr>{cells('a', 'b')}</table>"),
        gone="| H | H |",
    ),
    Limit(
        "rendering.writer._MOST_LINKED",
        1,
        lambda: to_markdown("<a href='https://b.example/'><p>One</p><p>Two</p></a>"),
        gone="b.example",
    ),
    Limit(
        "rendering.writer._DEEPEST",
        0,
        lambda: to_markdown("<ul><li>One<ul><li>Two</ul></ul>"),
        gone="  - Two",
    ),
    Limit("sites.threads._MOST_COMMENTS", 2, comments, gone="comment3", said="were left out"),
    Limit(
        "visibility.css.MAX_DEPTH",
        1,
        hidden("color:red", "@media ((min-width:1px)){.h{display:none}}"),
        gone="Words that",
        said="The page was left out",
        never=SECRET,
    ),
    Limit(
        "visibility.lengths.MAX_CALCULATED_CHARS",
        10,
        hidden("font-size:calc(0px*1*1*2)"),
        gone="Words that",
        said="The page was left out",
        never=SECRET,
    ),
    Limit(
        "visibility.lengths.MAX_BRACKETS",
        2,
        hidden("font-size:calc(((0px*3)))"),
        gone="Words that",
        said="The page was left out",
        never=SECRET,
    ),
    Limit(
        "visibility.strip.MAX_ROUNDS",
        1,
        hidden("--a:var(--b);--b:var(--c);--c:none;display:var(--a)"),
        gone="Words that",
        said="The page was left out",
        never=SECRET,
    ),
    Limit(
        "visibility.strip.MAX_VALUE_CHARS",
        3,
        hidden("--a:none;display:var(--a)"),
        gone="Words that",
        said="The page was left out",
        never=SECRET,
    ),
    Limit(
        "visibility.styles.MAX_CSS_CHARS",
        5,
        hidden("display:none"),
        gone="Words that",
        said="The page was left out",
        never=SECRET,
    ),
    Limit(
        "visibility.styles.MAX_RULES",
        0,
        hidden("display:none"),
        gone="Words that",
        said="The page was left out",
        never=SECRET,
    ),
    Limit(
        "visibility.selectors.MAX_SELECTOR_CHARS",
        1,
        page(f'<p class="h">{SECRET}</p>', ".h:not(.x){display:none}"),
        gone="Words that",
        said="The page was left out",
        never=SECRET,
    ),
    Limit(
        "visibility.strip.MAX_ALT_CHARS",
        3,
        page('<p>See <img src="/a.png" alt="a long story"> here.</p>'),
        gone="a long story",
    ),
    Limit(
        "visibility.strip.MAX_BRACKET_CHARS",
        0,
        page("<p><ruby>x<rp>(</rp><rt>y</rt></ruby></p>"),
        said="cannot see",
    ),
    Limit(
        "visibility.strip.MAX_LABEL_CHARS",
        3,
        page('<p><i aria-hidden="true">*</i><span class="sr-only">Rated five</span></p>'),
        gone="Rated five",
    ),
    Limit(
        "visibility.strip.MAX_REVEALED",
        0,
        read("html", f'<title>t</title><p>x</p><div style="display:none">{FILL}</div>'),
        gone="Words that",
    ),
)

HELD_ELSEWHERE = {
    "browser.MAX_BYTES": "pages/test_browser_rendering.py::test_the_bytes_of_all_replies_to_a_page_are_limited",
    "browser.MAX_REQUESTS": "pages/test_browser_rendering.py::test_the_number_of_requests_of_a_page_is_limited",
    "formats.open_sheets.MOST_HIDDEN_ROWS": "pages/formats/test_sheets.py::"
    "test_a_sheet_of_open_document_with_very_many_hidden_rows_is_left_out",
}
"""Limits that only a browser, a server or many pages can spend, with the test that does."""

NEVER_SHOWS = {
    "visibility.css.MAX_NESTED_CHARS": 0,
    "visibility.hostile.LONGEST_CACHED": 0,
    "visibility.watched._MOST_PAIRS": 0,
    "visibility.watched._MOST_VALUES": 0,
    "visibility.styles.MAX_CACHED": 0,
    "visibility.styles.MAX_COMPARISONS": 0,
    "visibility.selectors.MAX_DEPTH": 0,
    "visibility.selectors.MAX_STEPS": 1,
    "visibility.strip.MAX_CONTROL_PARTS": 0,
    "visibility.strip.MAX_JUDGED_CHARS": 0,
    "visibility.strip.MAX_SHORT_PARTS": 0,
    "visibility.strip.MAX_STEPS": 0,
}
"""Limits of the search for hidden text whose end makes it slower or stricter: a page keeps its text or loses more."""

HIDING = (
    ".h{display:none}",
    ".o > .h:not(.x):is(p, .y):nth-child(1){display:none}",
    ".o{& .h{opacity:0}}",
    ".o{--a:#fff;--b:var(--a)}.h{color:var(--b)}",
    ".o{background:#eee}.h{color:#eee}",
    "p ~ p ~ p ~ p:not(.z){opacity:.9}.o .h{font-size:0}",
)

CLAMPED = {
    "formats.open_documents.MOST_REPEATED": "columns and rows that a repeated cell stands for",
    "formats.open_documents.MOST_SPACES": "blanks that an element stands for",
    "formats.open_sheets._MOST_ROWS": "columns and rows that a repeated cell stands for",
    "formats.open_sheets._MOST_SPANNED": "the columns and rows of a cell",
    "formats.pdf._DEEPEST_HEADING": "the level of a heading",
    "formats.notebook._DEEPEST_HEADING": "the level of a heading",
    "formats.rendering.DEEPEST_LIST": "the level of an item",
    "formats.rendering.MOST_SPANNED": "the columns of a cell",
    "sites.api.LONGEST_PAUSE_SECONDS": "the pause that a site asks for",
}
"""Numbers of a document that are lowered to the limit, so that none of them makes work."""

PLAINER = {
    "extraction.extract.MOST_JUDGED_BLOCKS": "the page is kept whole, with its menus",
    "extraction.page._MOST_XML": "the page is read as HTML instead of XHTML",
    "extraction.page._MOST_POSTS": "further posts are left out, and a warning says so",
    "formats.books._LONGEST_HEAD": "prefixes of elements that are declared later are unknown",
    "formats.feed._MOST_BASES": "links are relative to a nearer base",
    "formats.formulas._DEEPEST": "the words of a deeper formula are text",
    "formats.mail.DEEPEST_PART": "deeper parts are left out",
    "formats.mail.MOST_PARTS": "further parts are left out",
    "formats.pdf._MOST_HEADINGS": "later headings of the outline are paragraphs",
    "formats.pdf_page.MOST_CHARACTERS": "fonts of later characters are unknown",
    "formats.pdf_page.MOST_COMPARED": "words have no link",
    "formats.pdf_page.MOST_LINKS": "words have no link",
    "formats.pdf_page._LONGEST_ADDRESS": "words have no link",
    "formats.pdf_page._LONGEST_NAME": "the font is unknown",
    "formats.rendering.LONGEST_HEADING": "the title is cut",
    "formats.rtf._FARTHEST": "a link or the name of a picture is lost",
    "formats.rtf._LONGEST_MARK": "the mark of an item is cut",
    "formats.rtf._MOST_EDGES": "a table has fewer columns",
    "formats.sheets.LONGEST_REPEATED": "a merged cell does not repeat its text",
    "formats.open_sheets.MOST_BOOK_CELLS": "a workbook without its far cells",
    "formats.sheets.MOST_CELLS": "a sheet without its far cells",
    "formats.sheets.MOST_REPEATED": "a merged cell does not repeat its text",
    "formats.open_sheets.MOST_SHEET_CELLS": "a sheet without its far cells",
    "rendering.drawings.DEEPEST": "the words of a deeper formula are text",
    "rendering.drawings.MOST_PARTS": "the words of a larger formula are text",
    "rendering.formulas._LONGEST_SIGN": "a formula is kept as one",
    "rendering.formulas._MOST_SIGNS": "a formula is kept as one",
    "rendering.listings._MOST_ROWS": "a listing is a table",
    "rendering.notes._LONGEST_NOTE": "a note is a link",
    "rendering.notes._MOST_LINKS": "a note is a link",
    "rendering.notes._MOST_NOTES": "a note is a link",
    "rendering.notes._MOST_PIECES": "a note is a link",
    "rendering.styles._MOST_RULES": "the layout is that of the markup",
    "rendering.styles._MOST_STYLES": "the layout is that of the markup",
    "rendering.styles._MOST_AROUND": "the layout is that of the markup",
    "rendering.styles._MOST_LINES": "the lines of an element run on",
    "rendering.formulas._MOST_TEXTS": "a formula is text",
    "rendering.formulas._MOST_STEPS_UP": "text deep in code may be a formula",
    "formats.sheet_looks._MOST_RICH": "raised text of a cell is plain",
    "formats.sheet_looks._LONGEST_RICH": "raised text of a cell is plain",
    "rendering.scripts._LONGEST": "raised text is plain",
    "rendering.tables.MOST_FILLED": "a merged cell does not repeat its text",
}
"""Limits of the layout alone, judged after hidden text has been removed, and what the text looks like beyond them."""

GUESSES = {
    *(f"extraction.features.{name}" for name in ("_DEEPEST", "_FARTHEST")),
    *(f"extraction.measures.{name}" for name in ("_LONGEST_AWAY", "_LONGEST_CREDIT")),
    "extraction.trees.MOST_LEAVES",
    "extraction.crawled._FARTHEST",
    "extraction.choice.MOST",
    "extraction.choice._MOST_MAINS",
    *(
        f"extraction.page.{name}"
        for name in (
            *("_MOST_CHOSEN", "_MOST_DATED", "_MOST_HEADINGS", "_MOST_OF_A_CARD"),
            *("_MOST_PIECES", "_MOST_SCRIPT"),
        )
    ),
    *(
        f"extraction.threads.{name}"
        for name in ("_DEEPEST", "_LARGEST", "_LONGEST_NAME", "_MOST_NAMES", "_MOST_OF_PAGE")
    ),
    *(f"formats.html.{name}" for name in ("LONGEST_CHALLENGE", "_MOST_REFRESHES")),
    *(f"needs_scripts.{name}" for name in ("_MOST_MENUS", "_MOST_MOUNTS")),
    "formats.kinds.MOST_BINARY",
    *(
        f"formats.pdf.{name}"
        for name in ("LONGEST_HEADING", "MOST_MARGIN_LINES", "MOST_PAGE_NUMBERS")
    ),
    *(f"formats.pdf_layout.{name}" for name in ("MOST_CUTS", "MOST_GUTTERS")),
    *(
        f"formats.pdf_marks.{name}"
        for name in ("FARTHEST_BULLET", "MOST_BULLETS", "MOST_DROP_CAPS")
    ),
    "formats.pdf_tables.MOST_COLUMNS",
    "formats.pdf_tables._FARTHEST_ROW",
    "rendering.anchors._DEEPEST",
    "rendering.code._MOST_AROUND",
    "rendering.formulas._MOST_OUTPUTS",
    "rendering.listings._MOST_AROUND",
    "rendering.prepare._MOST_AROUND",
    "rendering.notes._MOST_STEPS",
    "rendering.tables._MOST_CODE_LINES",
    "rendering.numerals.LARGEST_ROMAN",
    "rendering.writer._MOST_STEPS",
    "visibility.looks.MOST_BLUR_PX",
}
"""What a part of a page is, such as its title, menu, date or listing: thresholds and windows, not limits of work."""

SERVER = {"browser.MOST_MEGABYTES": "the memory of Chromium, which the kernel limits"}


def test_every_limit_has_a_row_here() -> None:
    rows = [limit.where for limit in ROWS]
    lists = [rows, HELD_ELSEWHERE, NEVER_SHOWS, CLAMPED, PLAINER, GUESSES, SERVER]
    known = [where for places in lists for where in places]
    assert sorted(known) == sorted(limits_of("pages"))


@pytest.mark.parametrize("where", NEVER_SHOWS)
def test_a_spent_limit_of_the_search_for_hidden_text_shows_none(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"websearch_gateway.pages.{where}", NEVER_SHOWS[where])
    for css in HIDING:
        found = page(f'<div class="o"><p class="h">{SECRET}</p></div>', css)()
        assert SECRET not in found, css


@pytest.mark.parametrize("where", HELD_ELSEWHERE)
def test_another_test_holds_the_limit(where: str) -> None:
    check_that_a_test_holds_it(where, HELD_ELSEWHERE[where])


@pytest.mark.parametrize("limit", ROWS, ids=lambda limit: limit.where)
def test_a_spent_limit_fails_closed(limit: Limit, monkeypatch: pytest.MonkeyPatch) -> None:
    check_that_it_fails_closed(limit, "pages", monkeypatch)
