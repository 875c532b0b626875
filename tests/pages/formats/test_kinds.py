"""The kind of a reply depends on its content, and each kind becomes Markdown."""

from __future__ import annotations

import gzip
import re
from typing import Any

import pytest

from websearch_gateway.base.net.fetch import Fetched
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Deadline
from websearch_gateway.pages.formats.html import HtmlReader
from websearch_gateway.pages.formats.kinds import CONVERTERS, Kind, kind_of, most_bytes
from websearch_gateway.pages.formats.plain import csv_table, json_text, markdown
from websearch_gateway.pages.formats.rendering import MAX_MARKDOWN, TOO_LONG, cleaned


def fetched(body: bytes, content_type: str, charset: str = "utf-8", path: str = "") -> Fetched:
    url = f"https://example.com/{path}"
    return Fetched(url, url, 200, {}, body, content_type, charset)


@pytest.mark.parametrize(
    ("body", "declared", "kind"),
    [
        (b"<p>x", "text/html", "html"),
        (b"just words", "text/html", "text"),
        (b"<p>a stray\0nul", "text/html", "html"),
        (b"<!doctype html><p>source code", "text/plain", "code"),
        (b"# Head", "text/markdown", "markdown"),
        (b"<rss/>", "application/rss+xml", "feed"),
        (
            b'<?xml version="1.0"?><?xml-stylesheet href="x"?>\n<feed xmlns="y">',
            "text/html",
            "feed",
        ),
        (b"<atom:feed>", "application/xml", "feed"),
        (b"<rdf:RDF xmlns=", "", "feed"),
        (b"<rss>", "text/plain", "text"),
        (b"<note/>", "application/xml", "code"),
        (b"{}", "application/ld+json", "json"),
        (b"{}", "", "json"),
        (b"{}", "text/plain", "text"),
        (b'{"a":1}\n{"a":2}', "application/x-ndjson", "json"),
        (b"a,b", "text/csv", "csv"),
        (b"\xef\xbb\xbf\n<!-- a --><!-- b -->\n<!DOCTYPE HTML>", "", "html"),
        (b'<?xml version="1.0"?><html xmlns="x">', "application/octet-stream", "html"),
        (b"<html>", "application/ignore_progress-of", "html"),
        (b"<html>", "application/pdf", "html"),
        (b"%PDF-1.7", "text/html", "pdf"),
        (b"junk\n%PDF-1.7", "application/pdf", "pdf"),
        (b"%PDF-1.7\0", "", "pdf"),
        (b"PK\x03\x04", "text/html", "zip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/msword", "compound"),
        (b"{\\rtf1 words}", "text/plain", "rtf"),
        (b'{"cells": [], "nbformat": 4}', "text/plain", "notebook"),
        (b'{"cells": [' + b"1, " * 1_000 + b'1], "nbformat": 4}', "application/json", "notebook"),
        (b'{"cells": [], "nbformat": 4}', "text/markdown", "markdown"),
        (b"words", "message/rfc822", "mail"),
        (b"From: a\nTo: b\nSubject: c\n\nwords", "application/octet-stream", "mail"),
        (b"From: a\nTo: b\n\nwords", "text/plain", "text"),
        (b"words", "", "text"),
        (b"words", "application/octet-stream", "text"),
        ("h\xe9".encode("utf-16-le"), "text/plain", "text"),
    ],
)
def test_the_kind_follows_the_declared_type_and_the_first_bytes(
    body: bytes, declared: str, kind: str
) -> None:
    charset = "utf-16-le" if b"\0" in body and kind == "text" else "utf-8"
    assert kind_of(fetched(body, declared, charset)) == kind


@pytest.mark.parametrize(
    ("path", "declared", "kind"),
    [
        ("README.md", "text/plain", "markdown"),
        ("data.CSV", "", "csv"),
        ("data.tsv?x=y.json", "text/plain", "csv"),
        ("data.json", "text/plain", "json"),
        ("data.csv", "text/x-python", "code"),
        ("lift.py", "text/plain", "code"),
        ("lift.R", "application/octet-stream", "code"),
        ("notes.txt", "text/plain", "text"),
        ("csv", "text/plain", "text"),
    ],
)
def test_the_file_name_decides_if_the_type_is_vague(path: str, declared: str, kind: str) -> None:
    assert kind_of(fetched(b"words", declared, path=path)) == kind


@pytest.mark.parametrize("path", ["/a.PDF?x=1", "/pdf/2301.00001", "/a.txt"])
async def test_a_pdf_may_be_larger_than_a_page(bench: Any, path: str) -> None:
    bench.api.says(path, b"six megabytes " * 450_000, content_type="text/plain")
    reading = HtmlReader(bench.fetcher, bench.workers).read(
        bench.api.url + path, Deadline.after(40)
    )
    if path == "/a.txt":
        with pytest.raises(SearchFetchError, match="too large"):
            await reading
    else:
        page = await reading
        assert len(page.markdown) == MAX_MARKDOWN
        assert page.warnings == (TOO_LONG.format(MAX_MARKDOWN),)


@pytest.mark.parametrize(
    ("body", "declared", "named"),
    [
        (b"x" * 257 + b"ustar", "text/plain", "application/x-tar"),
        (b"\x89PNG", "text/html", "image/png"),
        (b"RIFF1234WEBPVP8 ", "text/plain", "image/webp"),
        (b"<svg>", "image/svg+xml", "image/svg+xml"),
        (b"<html>", "image/svg+xml", "image/svg+xml"),
        (b"\x00\x01\x02", "text/html", "text/html"),
        (b"\x00\x01\x02", "", "application/octet-stream"),
        (b"abc", "video/mp4", "video/mp4"),
        (b"%!PS-Adobe-3.0", "application/postscript", "application/postscript"),
        (b"a\x01b", "application/x-sh", "application/x-sh"),
        (b"abc", "application/pdf", "application/pdf"),
    ],
)
def test_content_that_is_not_text_is_refused_whatever_its_declared_type(
    body: bytes, declared: str, named: str
) -> None:
    with pytest.raises(SearchFetchError, match=re.escape(f"of type {named},")) as caught:
        kind_of(fetched(body, declared))
    assert caught.value.details == {"reason": "type", "content_type": named}


SOURCE = "<?lift?>\n<style>a</style>\n# define *a_b* &lt;\n\n\treturn  a_b[0] * *c[1];\n"


@pytest.mark.parametrize(
    "declared",
    [
        "application/x-sh",
        "application/x-python-code",
        "application/typescript",
        "application/x-tex",
        "application/x-subrip",
        "application/graphql",
        "application/x-bibtex",
        "application/vnd.oai.openapi",
        "application/xml",
        "application/xslt+xml",
        "application/toml",
        "text/x-c",
        "text/css",
        "text/javascript",
    ],
)
def test_source_of_any_type_is_unchanged_in_a_fence(declared: str) -> None:
    file = fetched(SOURCE.encode(), declared, path="a.src")
    page = cleaned(CONVERTERS[kind_of(file)], file.url, file.body, file.url, "utf-8")
    assert page.markdown == f"```src\n{SOURCE.rstrip()}\n```"


@pytest.mark.parametrize(
    "start", ['<?xml version="1.0"?>\n<project/>', "<!DOCTYPE html>\n<p>x</p>", "<svg></svg>"]
)
def test_markup_that_is_declared_as_plain_text_is_shown_as_it_is(start: str) -> None:
    file = fetched(start.encode(), "text/plain")
    page = cleaned(CONVERTERS[kind_of(file)], file.url, file.body, file.url, "utf-8")
    assert page.markdown == f"```\n{start}\n```"


def test_a_fence_is_longer_than_those_in_the_source() -> None:
    assert (
        CONVERTERS["code"](b"x\n````\ny", "https://example.com/a", "utf-8").markdown
        == "`````\nx\n````\ny\n`````"
    )


@pytest.mark.parametrize(
    ("name", "inside", "markdown"),
    [
        ("changelog.gz", b"Grease the hinges.", "Grease the hinges."),
        ("a.json.gz", b"[1]", "```json\n[\n  1\n]\n```"),
        ("a.md.gz", b"# T\n\n[a](b.md)", "# T\n\n[a](https://example.com/b.md)"),
        (
            "page.gz",
            b"<html><body><main><p>Words of the page.</p></main></body></html>",
            "Words of the page.",
        ),
    ],
)
def test_a_compressed_file_is_read_by_its_own_kind(name: str, inside: bytes, markdown: str) -> None:
    file = fetched(gzip.compress(inside), "application/gzip", path=name)
    assert CONVERTERS[kind_of(file)](file.body, file.url, "utf-8").markdown == markdown


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\x1f\x8b\x08damaged", "damaged"),
        (gzip.compress(b"x" * 257 + b"ustar"), "type"),
        (gzip.compress(gzip.compress(b"x")), "type"),
        (gzip.compress(b" " * (20_000_001)), "too_large"),
    ],
    ids=["damaged", "archive", "twice", "bomb"],
)
def test_a_compressed_file_that_holds_no_text_says_why(body: bytes, reason: str) -> None:
    with pytest.raises(SearchFetchError) as raised:
        CONVERTERS["gzip"](body, "https://example.com/a.gz", "utf-8")
    assert raised.value.details["reason"] == reason


def test_a_head_full_of_comments_is_classified_quickly() -> None:
    assert kind_of(fetched(b"<!---->" * 200 + b"?", "")) == "text"


@pytest.mark.parametrize(
    "kind", sorted(CONVERTERS.keys() - {"pdf", "feed", "zip", "compound", "notebook", "gzip"})
)
@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe\x00", b"[" * 99_999, b"<" * 1_000, b'a,"b\n' * 3], ids=range(5)
)
def test_any_bytes_can_be_read_as_text(kind: Kind, body: bytes) -> None:
    CONVERTERS[kind](body, "https://example.com/a", "utf-8")


def test_json_is_indented_and_named() -> None:
    page = json_text('{"name": "Höhe", "m": [1]}'.encode(), "", "utf-8")
    assert (page.title, page.markdown) == (
        "Höhe",
        '```json\n{\n  "name": "Höhe",\n  "m": [\n    1\n  ]\n}\n```',
    )


def test_invalid_json_is_plain_text() -> None:
    assert json_text(b"{oops", "", "utf-8").markdown == "{oops"


def test_comments_in_markdown_are_left_out() -> None:
    assert markdown(b"# Mill\n\n<!-- nobody sees this -->", "", "utf-8").markdown == "# Mill"


def test_the_first_main_heading_is_the_title_of_markdown() -> None:
    page = markdown(b"intro\n## No\n# The *Mill* #\ntext", "", "utf-8")
    assert (page.title, page.markdown) == ("The Mill", "intro\n## No\n# The *Mill* #\ntext")


@pytest.mark.parametrize(
    ("text", "title", "rest"),
    [
        ('---\ntitle: "Lifts: a guide"\nauthor: x\n---\n\n# One\n', "Lifts: a guide", "# One"),
        ("+++\ntitle = 'Lifts'\n+++\n# One\n", "Lifts", "# One"),
        ("# [gull](https://gull.example) ![build](https://ci.example/b.svg)\n", "gull", None),
        ("The `gull` *guide*\n==========\n\nWords.\n", "The gull guide", None),
        ("---\n\nWords between\n\n---\n", "", None),
        ("```\n---\ntitle: x\n---\n```\n", "", None),
    ],
)
def test_the_title_of_markdown_is_words_of_its_front_matter_or_first_heading(
    text: str, title: str, rest: str | None
) -> None:
    page = markdown(text.encode(), "", "utf-8")
    assert (page.title, page.markdown) == (title, text.strip() if rest is None else rest)


def test_the_front_matter_of_markdown_dates_it() -> None:
    assert (
        markdown(b"---\ntitle: a\ndate: 2024-03-05T10:00:00+02:00\n---\nb", "", "utf-8").published
        == "2024-03-05"
    )


def test_relative_links_of_markdown_lead_where_they_do_on_the_site() -> None:
    text = (
        "[a](b/c.md) ![d](../e.png) [f](#g) [h](https://x.example/) [i](mailto:j@k.example) [l][m] `[n](o)`\n\n"
        '[m]: /p "Q"\n\n```\n[r](s)\n```\n'
    )
    assert markdown(text.encode(), "https://e.example/docs/README.md", "utf-8").markdown == (
        "[a](https://e.example/docs/b/c.md) ![d](https://e.example/e.png) [f](#g) [h](https://x.example/) "
        "[i](mailto:j@k.example) [l][m] `[n](o)`\n\n"
        '[m]: https://e.example/p "Q"\n\n```\n[r](s)\n```'
    )


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_keeps_its_cells(delimiter: str) -> None:
    rows = [["port", "height, m; about|tide"], ["Skerry", 'a "b"\nc'], ["Gull"]]
    text = "\n".join(
        delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows
    )
    text = text.replace('"port"', "port")
    assert csv_table(text.encode(), "", "utf-8").markdown == (
        '| port | height, m; about\\|tide |\n| --- | --- |\n| Skerry | a "b" c |\n| Gull |  |'
    )


def test_a_table_that_would_be_mostly_empty_cells_stays_as_it_is() -> None:
    text = "a," * 3_000 + "\n" + "a,b\n" * 1_000
    assert csv_table(text.encode(), "", "utf-8").markdown == text.strip()


@pytest.mark.parametrize(
    ("body", "declared"),
    [
        (bytes(range(1, 256)) * 40, "application/octet-stream"),
        (bytes(range(1, 256)) * 40, "text/plain"),
        (b"words " * 10_000 + b"\0", "text/plain"),
        (b"words\x01", ""),
    ],
)
def test_binary_bytes_are_refused(body: bytes, declared: str) -> None:
    with pytest.raises(SearchFetchError, match="cannot be read as text"):
        kind_of(fetched(body, declared))


@pytest.mark.parametrize("byte", [*range(1, 9), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F])
def test_each_control_character_is_a_sign_of_binary_data(byte: int) -> None:
    with pytest.raises(SearchFetchError, match="cannot be read as text"):
        kind_of(fetched(b"words" + bytes([byte]), ""))


@pytest.mark.parametrize("byte", [0x09, 0x0A, 0x0C, 0x0D, 0x1B, 0x20, 0x7E, 0x80])
def test_other_characters_are_none(byte: int) -> None:
    assert kind_of(fetched(b"words" + bytes([byte]), "")) == "text"


@pytest.mark.parametrize(("length", "is_text"), [(400, True), (399, False)])
def test_one_byte_in_two_hundred_of_a_text_may_be_a_control_character(
    length: int, is_text: bool
) -> None:
    body = b"\x07\x07".ljust(length, b"x")
    if is_text:
        assert kind_of(fetched(body, "text/plain")) == "text"
    else:
        with pytest.raises(SearchFetchError):
            kind_of(fetched(body, "text/plain"))


@pytest.mark.parametrize(("before", "is_text"), [(65_535, False), (65_536, True)])
def test_the_first_64_kilobytes_are_searched_for_control_characters(
    before: int, is_text: bool
) -> None:
    body = b"x" * before + b"\0"
    if is_text:
        assert kind_of(fetched(body, "")) == "text"
    else:
        with pytest.raises(SearchFetchError):
            kind_of(fetched(body, ""))


@pytest.mark.parametrize(
    ("body", "declared"),
    [
        (b"words", "application/octet-stream"),
        (b"\x1b[1mbold\x1b[0m\x0c", "text/plain"),
        (b"log " * 100 + b"\x07", "text/plain"),
    ],
)
def test_text_with_a_stray_control_character_is_text(body: bytes, declared: str) -> None:
    assert kind_of(fetched(body, declared)) == "text"


def test_the_size_of_converted_json_and_tables_is_limited() -> None:
    """Indented, each of these numbers takes four hundred blanks."""
    deep = "[" * 200 + "1," * 100_000 + "1" + "]" * 200
    assert len(json_text(deep.encode(), "", "utf-8").markdown) < MAX_MARKDOWN + 1_000
    assert len(csv_table(b"a,b\n" * 600_000, "", "utf-8").markdown) < MAX_MARKDOWN + 1_000


def test_a_line_separator_ends_no_row() -> None:
    assert (
        csv_table("a,b\nc\u2028d,e\n".encode(), "", "utf-8").markdown
        == "| a | b |\n| --- | --- |\n| c d | e |"
    )


def test_a_compressed_file_may_hold_twenty_million_bytes() -> None:
    body = gzip.compress(b"Words" + b" " * 19_999_995)
    assert CONVERTERS["gzip"](body, "https://example.com/a.gz", "utf-8").markdown == "Words"


@pytest.mark.parametrize(("rows", "is_table"), [(2_000, True), (2_001, False)])
def test_a_table_of_more_than_two_million_cells_stays_text(rows: int, *, is_table: bool) -> None:
    """Each row has as many cells as the longest, of 1000."""
    body = "a,b\nc" + "," * 999 + "\nd" * (rows - 2)
    found = csv_table(body.encode(), "https://example.com/a.csv", "utf-8").markdown
    assert found.startswith("| a | b |") == is_table


@pytest.mark.parametrize(
    ("path", "most"), [("a", 5_000_000), ("a.pdf", 20_000_000), ("a.docx", 20_000_000)]
)
def test_a_page_has_at_most_5_and_a_document_20_million_bytes(path: str, most: int) -> None:
    assert most_bytes(f"https://example.com/{path}") == most


@pytest.mark.parametrize(
    ("headers", "before_last", "kind"),
    [(2, 0, "mail"), (1, 0, "text"), (2, 1_000, "mail"), (2, 1_030, "text")],
    ids=["three", "two", "within 1024 bytes", "behind them"],
)
def test_a_message_begins_with_three_of_the_usual_headers(
    headers: int, before_last: int, kind: str
) -> None:
    first = b"From: a@b.c\nTo: d@e.f\n".splitlines(keepends=True)[:headers]
    head = b"".join(first)
    other = b"X: ".ljust(before_last - len(head), b"y") + b"\n" if before_last else b""
    assert kind_of(fetched(head + other + b"Subject: tides\n\nWords.", "")) == kind


@pytest.mark.parametrize(
    ("controls", "text", "is_text"),
    [(327, 65_209, True), (328, 65_208, False), (5, 995, True), (6, 994, False)],
)
def test_one_byte_in_200_of_the_first_65_536_may_be_a_control_character(
    controls: int, text: int, *, is_text: bool
) -> None:
    body = b"\1" * controls + b"x" * text + b"\1" * (1_000 if controls > 300 else 0)
    if is_text:
        assert kind_of(fetched(body, "text/plain")) == "text"
    else:
        with pytest.raises(SearchFetchError, match="cannot be read as text"):
            kind_of(fetched(body, "text/plain"))


@pytest.mark.parametrize(
    ("code", "is_text"),
    [
        *((code, False) for code in (1, 8, 0x0B, 0x0E, 0x1A, 0x1C, 0x1F, 0x7F)),
        *((code, True) for code in (9, 0x0A, 0x0C, 0x0D, 0x1B, 0x20, 0x7E)),
    ],
)
def test_a_text_of_an_unknown_type_has_no_control_character(code: int, *, is_text: bool) -> None:
    body = b"Words " + bytes([code]) + b" of a text"
    if is_text:
        assert kind_of(fetched(body, "")) == "text"
    else:
        with pytest.raises(SearchFetchError, match="cannot be read as text"):
            kind_of(fetched(body, ""))


@pytest.mark.parametrize(
    ("before", "mark", "kind"),
    [(4, b"ftyp", "video/mp4"), (8, b"WEBP", "image/webp"), (257, b"ustar", "application/x-tar")],
)
def test_a_signature_counts_in_its_place_only(before: int, mark: bytes, kind: str) -> None:
    with pytest.raises(SearchFetchError, match=kind):
        kind_of(fetched(b"x" * before + mark, "text/plain"))
    assert kind_of(fetched(b"x" * (before + 1) + mark, "text/plain")) == "text"
