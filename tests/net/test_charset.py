"""A charset label is an attacker's string: it selects from a list and never reaches Python's codec registry."""

from __future__ import annotations

import codecs

import pytest
import webencodings
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.net.charset import charset_of, decode


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("naïve – €", "windows-1252"),
        ("naïve", "ISO-8859-1"),
        ("Привет", "windows-1251"),
        ("Привет", "koi8-r"),
        ("Zażółć", "iso-8859-2"),
        ("日本語", "Shift_JIS"),
        ("日本語", "euc-jp"),
        ("한국어", "euc-kr"),
        ("中文", "gb2312"),
        ("中文", "GB18030"),
        ("中文", "big5"),
        ("שלום", "windows-1255"),
        ("ไทย", "tis-620"),
        ("plain", "us-ascii"),
        ("ünï", "utf-8"),
        ("ünï", "utf-16le"),
    ],
)
def test_a_declared_charset_is_used(text: str, label: str) -> None:
    body = text.encode(label)
    assert decode(body, charset_of(body, f'text/html; charset="{label}"')) == text


@pytest.mark.parametrize(
    "label",
    [
        "punycode",
        "idna",
        "rot13",
        "rot_13",
        "zip",
        "hex",
        "utf-7",
        "utf-32",
        "unicode_escape",
        "undefined",
        "x",
        "hz-gb-2312",
    ],
)
def test_a_label_outside_the_list_is_ignored(label: str) -> None:
    assert charset_of("ü".encode(), f"text/html; charset={label}") == "utf-8"
    assert charset_of(f"<meta charset={label}>ü".encode(), "text/html") == "utf-8"


@pytest.mark.parametrize(
    "head",
    [
        b'<meta charset="windows-1251">',
        b"<META http-equiv='Content-Type' content='text/html; charset=windows-1251'>",
        b"<!doctype html><html><head><title>x</title>\n<meta\nCHARSET = windows-1251 />",
    ],
)
def test_the_meta_element_counts_when_the_header_has_no_charset(head: bytes) -> None:
    body = head + "Привет".encode("cp1251")
    assert decode(body, charset_of(body, "text/html")).endswith("Привет")
    assert charset_of(body, "text/html; charset=koi8-r") == "koi8-r", "the header is stronger"


def test_a_byte_order_mark_takes_precedence_and_is_not_part_of_the_text() -> None:
    body = codecs.BOM_UTF16_LE + "hé".encode("utf-16-le")
    assert decode(body, charset_of(body, "text/html; charset=utf-8")) == "hé"
    body = codecs.BOM_UTF8 + "hé".encode()
    assert decode(body, charset_of(body, "text/html; charset=latin1")) == "hé"


def test_a_meta_that_claims_utf16_is_read_as_utf8() -> None:
    assert charset_of(b"<meta charset=utf-16>", "") == "utf-8"


def test_an_undeclared_body_is_utf8_or_windows_1252() -> None:
    assert charset_of("é".encode() * 40_000, "") == "utf-8"
    assert charset_of("é".encode("cp1252"), "") == "cp1252"


def test_every_codec_of_the_list_exists() -> None:
    found = {charset_of(b"\xff", f"text/html; charset={label}") for label in webencodings.LABELS}
    assert len(found) > 30
    assert all(codecs.lookup(codec) for codec in found)


@given(st.binary(max_size=200), st.text(max_size=60))
def test_any_body_under_any_header_becomes_text(body: bytes, content_type: str) -> None:
    assert isinstance(decode(body, charset_of(body, content_type)), str)
