"""What a reader of a document cannot see is no text of it, in every container."""

from __future__ import annotations

import json

import pytest

from tests.documents import (
    W,
    book,
    open_document,
    paragraph,
    relations,
    word,
)
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.kinds import CONVERTERS, Kind
from websearch_gateway.pages.formats.rendering import cleaned

URL = "https://a.example/"
SECRET = "a hidden remark"
HIDING = (
    f"<p hidden>{SECRET}</p>",
    f'<p style="display:none">{SECRET}</p>',
    f'<p style="font-size:0">{SECRET}</p>',
    f"<style>.h{{visibility:hidden}}</style><p class=h>{SECRET}</p>",
    f'<p style="font-size:calc({"(" * 100}0px{")" * 100})">{SECRET}</p>',
    f"<div style='display:none'>{SECRET * 50}</div>",
)


def read(kind: Kind, body: bytes) -> Extracted:
    found: Extracted = cleaned(CONVERTERS[kind], URL, body, URL, "utf-8")
    return found


def in_mail(markup: str) -> tuple[Kind, bytes]:
    head = "From: a@example.com\nSubject: Tides\nContent-Type: text/html\n\n"
    return "mail", f"{head}<p>Seen.</p>{markup}".encode()


def in_feed(markup: str) -> tuple[Kind, bytes]:
    item = (
        f"<item><title>T</title><description><![CDATA[<p>Seen.</p>{markup}]]></description></item>"
    )
    return "feed", f"<rss><channel><title>F</title>{item}</channel></rss>".encode()


def in_notebook(markup: str) -> tuple[Kind, bytes]:
    output = {"output_type": "display_data", "data": {"text/html": f"<p>Seen.</p>{markup}"}}
    cell = {"cell_type": "code", "source": "x", "outputs": [output]}
    return "notebook", json.dumps({"nbformat": 4, "cells": [cell]}).encode()


def in_book(markup: str) -> tuple[Kind, bytes]:
    return "zip", book([f"<p>Seen.</p>{markup}"])


def in_word(markup: str) -> tuple[Kind, bytes]:
    parts: dict[str, str | bytes] = {
        "word/chunk.html": f"<html><p>Seen.</p>{markup}</html>",
        "word/_rels/document.xml.rels": relations({"c1": ("aFChunk", "chunk.html")}),
    }
    return "zip", word('<w:altChunk r:id="c1"/>', parts)


@pytest.mark.parametrize("markup", HIDING)
@pytest.mark.parametrize("container", [in_mail, in_feed, in_notebook, in_book, in_word])
def test_hidden_text_of_html_in_a_document_is_left_out_and_said(
    container: object, markup: str
) -> None:
    assert callable(container)
    page = read(*container(markup))
    assert SECRET not in page.markdown
    assert page.warnings
    assert ("Seen." in page.markdown) == ("((((" not in markup)


def field(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


@pytest.mark.parametrize("depth", [1, 20, 60])
def test_the_instruction_of_a_field_is_no_text_at_any_depth(depth: int) -> None:
    outer = (field("begin") + field("separate")) * depth
    inner = field("begin") + f"<w:r><w:t>{SECRET}</w:t></w:r>" + field("separate") + field("end")
    body = f"<w:p>{outer}{inner}{field('end') * depth}<w:r><w:t>after</w:t></w:r></w:p>"
    assert read("zip", word(body)).markdown == "after"


@pytest.mark.parametrize("steps", [0, 1, 40])
def test_a_style_hides_the_text_of_those_based_on_it_in_a_word_document(steps: int) -> None:
    chain = "".join(
        f'<w:style w:styleId="s{step}"><w:basedOn w:val="s{step + 1}"/></w:style>'
        for step in range(steps)
    )
    last = f'<w:style w:styleId="s{steps}"><w:rPr><w:vanish/></w:rPr></w:style>'
    shown = '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>Shown.</w:t></w:r>'
    body = paragraph(SECRET, '<w:pStyle w:val="s0"/>').replace("</w:p>", f"{shown}</w:p>")
    parts: dict[str, str | bytes] = {
        "word/styles.xml": f"<w:styles {W}>{chain}{last}</w:styles>",
        "word/_rels/document.xml.rels": relations({"r1": ("styles", "styles.xml")}),
    }
    assert read("zip", word(body + paragraph("Seen."), parts)).markdown == "Shown.\n\nSeen."


@pytest.mark.parametrize("steps", [0, 1, 40])
def test_a_style_hides_the_text_of_those_based_on_it_in_an_open_document(steps: int) -> None:
    styles = "".join(
        f'<style:style style:name="s{step}" style:parent-style-name="s{step + 1}"/>'
        for step in range(steps)
    )
    styles += f'<style:style style:name="s{steps}"><style:text-properties text:display="none"/></style:style>'
    body = (
        f'<text:p text:style-name="s0">{SECRET}</text:p>'
        f'<text:p>Seen.<text:span text:style-name="s0">{SECRET}</text:span></text:p>'
    )
    assert read("zip", open_document("text", body, styles)).markdown == "Seen."


@pytest.mark.parametrize(
    "body",
    [
        f'<text:section text:display="none"><text:p>{SECRET}</text:p></text:section>',
        '<text:section text:display="condition" text:is-hidden="true">'
        f"<text:p>{SECRET}</text:p></text:section>",
        f'<text:p><text:hidden-paragraph text:is-hidden="true"/>{SECRET}</text:p>',
        f'<text:p><text:hidden-text text:is-hidden="true">{SECRET}</text:hidden-text></text:p>',
        f'<text:p><text:a text:style-name="hiding">{SECRET}</text:a></text:p>',
        f'<text:h text:style-name="hiding">{SECRET}</text:h>',
    ],
)
def test_what_an_open_document_hides_is_left_out(body: str) -> None:
    style = '<style:style style:name="hiding"><style:text-properties text:display="none"/></style:style>'
    shown = '<text:section text:display="true" text:is-hidden="false"><text:p>Seen.</text:p></text:section>'
    assert read("zip", open_document("text", body + shown, style)).markdown == "Seen."


def test_hidden_slides_of_an_open_document_are_left_out_and_said() -> None:
    style = (
        '<style:style style:name="hiding"><style:drawing-page-properties presentation:visibility="hidden"/>'
        "</style:style>"
    )
    slides = (
        f'<draw:page draw:style-name="hiding"><draw:frame><text:p>{SECRET}</text:p></draw:frame></draw:page>'
        '<draw:page draw:style-name="other"><draw:frame><text:p>Seen.</text:p></draw:frame></draw:page>'
    )
    page = read("zip", open_document("presentation", slides, style))
    assert page.markdown == "## Slide 2\n\nSeen."
    assert page.warnings == ("Hidden slides were left out: 1.",)
