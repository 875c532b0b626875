"""What is raised, lowered, struck, a reading or a formula is the same text in every kind of document."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents import book, open_document, slides, word
from websearch_gateway.pages.formats.containers import zipped
from websearch_gateway.pages.formats.rtf import rtf

URL = "https://example.com/a"
Run = tuple[str, str]
"""A text, and what it is: `sup`, `sub`, `del`, or "" for plain."""

_WORD_LOOKS = {
    "sup": '<w:vertAlign w:val="superscript"/>',
    "sub": '<w:vertAlign w:val="subscript"/>',
    "del": "<w:strike/>",
}


def in_word(runs: Sequence[Run]) -> str:
    text = "".join(
        f'<w:r><w:rPr>{_WORD_LOOKS.get(look, "")}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'
        for text, look in runs
    )
    return zipped(word(f"<w:p>{text}</w:p>"), URL, "").markdown


def in_slides(runs: Sequence[Run]) -> str:
    looks = {"sup": 'baseline="30000"', "sub": 'baseline="-25000"', "del": 'strike="sngStrike"'}
    text = "".join(
        f"<a:r><a:rPr {looks.get(look, '')}/><a:t>{text}</a:t></a:r>" for text, look in runs
    )
    page = zipped(
        slides(f"<p:sp><p:nvSpPr/><p:txBody><a:p>{text}</a:p></p:txBody></p:sp>"), URL, ""
    ).markdown
    return page.removeprefix("## Slide 1\n\n")


def in_open_document(runs: Sequence[Run]) -> str:
    looks = {"sup": "super 58%", "sub": "-20% 58%"}
    styles = "".join(
        f'<style:style style:name="{name}"><style:text-properties style:text-position="{height}"/></style:style>'
        for name, height in looks.items()
    )
    styles += '<style:style style:name="del"><style:text-properties style:text-line-through-style="solid"/></style:style>'
    text = "".join(f'<text:span text:style-name="{look}">{text}</text:span>' for text, look in runs)
    return zipped(open_document("text", f"<text:p>{text}</text:p>", styles), URL, "").markdown


def in_rich_text(runs: Sequence[Run]) -> str:
    looks = {"sup": r"\super ", "sub": r"\dn6 ", "del": r"\strike "}
    groups = "".join(f"{{{looks.get(look, '')}{_in_code(text)}}}" for text, look in runs)
    return rtf(f"{{\\rtf1 {groups}}}".encode(), URL, "").markdown


def _in_code(text: str) -> str:
    return "".join(sign if sign.isascii() else f"\\u{ord(sign)}?" for sign in text)


def in_book(runs: Sequence[Run]) -> str:
    return zipped(
        book(
            [
                "<p>"
                + "".join(f"<{look or 'span'}>{text}</{look or 'span'}>" for text, look in runs)
                + "</p>"
            ]
        ),
        URL,
        "",
    ).markdown


DOCUMENTS: Mapping[str, Callable[[Sequence[Run]], str]] = {
    "docx": in_word,
    "pptx": in_slides,
    "odt": in_open_document,
    "rtf": in_rich_text,
    "epub": in_book,
}


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize(
    ("runs", "text"),
    [
        ([("It holds 10", ""), ("5", "sup"), (" litres.", "")], "It holds 10^5 litres."),
        ([("3×10", ""), ("-4", "sup"), (" m", ""), ("2", "sup")], "3×10^-4 m²"),
        ([("H", ""), ("2", "sub"), ("O and log", ""), ("2", "sub"), ("8", "")], "H₂O and log_2 8"),
        ([("It costs ", ""), ("48 €", "del"), (" 36 €.", "")], "It costs ~~48 €~~ 36 €."),
    ],
    ids=["power", "negative power", "index", "struck"],
)
def test_a_number_that_is_raised_lowered_or_struck_is_not_part_of_another(
    kind: str, runs: list[Run], text: str
) -> None:
    assert DOCUMENTS[kind](runs) == text


_TEXTS = st.text(alphabet="0123456789mx ", min_size=1, max_size=4)
_NUMBER = re.compile(r"\d+")
_PLAIN_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "01234567890123456789")


@given(st.lists(st.tuples(_TEXTS, st.sampled_from(["sup", "sub"])), min_size=1, max_size=4))
def test_every_number_of_a_document_is_one_of_its_source(scripts: list[Run]) -> None:
    runs = [run for script in scripts for run in (("a1", ""), script)]
    source = {number for text, _ in runs for number in _NUMBER.findall(text)}
    for kind, read in DOCUMENTS.items():
        markdown = re.sub(
            "[⁰¹²³⁴⁵⁶⁷⁸⁹]+|[₀₁₂₃₄₅₆₇₈₉]+",
            lambda run: f" {run[0].translate(_PLAIN_DIGITS)} ",
            read(runs),
        )
        assert set(_NUMBER.findall(markdown)) <= source, kind
