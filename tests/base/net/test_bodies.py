from __future__ import annotations

import asyncio
import codecs
import gzip
import threading
import zlib
from collections.abc import AsyncIterator

import brotli
import pytest
import webencodings
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.net.bodies import (
    BodyCutShort,
    BodyTooLarge,
    CodingError,
    Decoder,
    decoder_for,
    in_own_thread_if_large,
    read_body,
)
from websearch_gateway.base.net.charsets import charset_of, decode

ROOMY = 1_000_000


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data, wbits=-zlib.MAX_WBITS)


def fed(decoder: Decoder, data: bytes, size: int) -> bytes:
    return b"".join(
        decoder.feed(data[start : start + size], ROOMY) for start in range(0, len(data), size)
    )


@given(st.binary(max_size=2_000), st.integers(2, 500))
@pytest.mark.parametrize(
    ("coding", "encode"),
    [
        ("gzip", gzip.compress),
        ("X-GZip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", raw_deflate),
        ("br", brotli.compress),
        ("zstd", zstd.compress),
    ],
)
def test_encoded_data_is_decoded_for_any_size_of_pieces(
    coding: str, encode: object, data: bytes, size: int
) -> None:
    assert callable(encode)
    decoder = decoder_for(coding)
    assert fed(decoder, encode(data), size) == data
    assert decoder.complete


@pytest.mark.parametrize(
    "coding", ["", "identity", "none", "utf-8", "UTF-8", "iso-8859-1", "utf-8, identity"]
)
def test_a_charset_in_the_place_of_a_coding_is_none(coding: str) -> None:
    assert decoder_for(coding).feed(b"text", 10) == b"text"


def test_bytes_without_a_coding_are_unchanged() -> None:
    for header in ("", "identity", " , identity"):
        assert decoder_for(header).feed(b"abc", ROOMY) == b"abc"


def test_consecutive_gzip_members_are_one_body_and_padding_is_ignored() -> None:
    data = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0" * 50
    for size in (7, 1_000):
        assert fed(decoder_for("gzip"), data, size) == b"one two"


def test_output_stops_at_the_limit() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    assert len(decoder_for("gzip").feed(bomb, 1_000)) == 1_000
    assert decoder_for("").feed(b"abcdef", 3) == b"abc"


@pytest.mark.parametrize(("coding", "encode"), [("br", brotli.compress), ("zstd", zstd.compress)])
async def test_a_bomb_in_a_newer_coding_stops_at_the_limit(coding: str, encode: object) -> None:
    assert callable(encode)
    bomb = encode(bytes(50_000_000))
    assert len(bomb) < 2_000
    assert decoder_for(coding).feed(bomb, 1_000) == bytes(1_000)

    async def whole() -> AsyncIterator[bytes]:
        yield bomb

    with pytest.raises(BodyTooLarge):
        await read_body(whole(), coding, max_bytes=100_000)
    assert len(await read_body(whole(), coding, max_bytes=50_000_000)) == 50_000_000


def test_zstd_frames_in_a_row_are_one_body_and_a_large_window_is_refused() -> None:
    for size in (3, 1_000):
        assert (
            fed(decoder_for("zstd"), zstd.compress(b"one ") + zstd.compress(b"two"), size)
            == b"one two"
        )
    options = {
        zstd.CompressionParameter.window_log: 27,
        zstd.CompressionParameter.compression_level: 1,
    }
    compressor = zstd.ZstdCompressor(options=options)
    wide = compressor.compress(bytes(range(256)) * 40_000) + compressor.flush()
    with pytest.raises(CodingError):
        decoder_for("zstd").feed(wide, ROOMY)


@pytest.mark.parametrize(("coding", "encode"), [("br", brotli.compress), ("zstd", zstd.compress)])
def test_a_truncated_body_in_a_newer_coding_is_not_complete(coding: str, encode: object) -> None:
    assert callable(encode)
    decoder = decoder_for(coding)
    assert decoder.complete
    decoder.feed(encode(b"0123456789" * 50)[:-4], ROOMY)
    assert not decoder.complete
    with pytest.raises(CodingError):
        decoder_for(coding).feed(b"this is in no coding", ROOMY)


def test_a_truncated_body_is_not_complete_and_an_empty_one_is() -> None:
    decoder = decoder_for("gzip")
    assert decoder.complete
    decoder.feed(gzip.compress(b"hello" * 100)[:-10], ROOMY)
    assert not decoder.complete


@pytest.mark.parametrize(
    "data", [b"this is not gzip at all", gzip.compress(b"", mtime=0)[:10] + b"\xff" * 40]
)
def test_broken_data_is_a_coding_error(data: bytes) -> None:
    with pytest.raises(CodingError, match="has invalid compressed data"):
        decoder_for("gzip").feed(data, ROOMY)


@pytest.mark.parametrize(
    "coding", ["compress", "gzip, gzip", "br, gzip", "gzip,deflate", ", ".join(["gzip"] * 200)]
)
def test_unrequested_and_stacked_codings_are_refused(coding: str) -> None:
    with pytest.raises(CodingError, match="not requested"):
        decoder_for(coding)


async def pieces(*given: bytes) -> AsyncIterator[bytes]:
    for piece in given:
        yield piece


async def test_a_body_is_read_completely_up_to_the_limits() -> None:
    assert await read_body(pieces(b"ab", b"cd"), "", max_bytes=4, max_pieces=2) == b"abcd"
    for limits in ({"max_bytes": 3}, {"max_bytes": 4, "max_pieces": 1}):
        with pytest.raises(BodyTooLarge):
            await read_body(pieces(b"ab", b"cd"), "", **limits)
    with pytest.raises(BodyTooLarge):
        await read_body(pieces(gzip.compress(bytes(1_001))), "gzip", max_bytes=1_000)
    with pytest.raises(BodyCutShort):
        await read_body(pieces(gzip.compress(b"hello" * 100)[:-10]), "gzip", max_bytes=1_000)


async def test_other_tasks_run_while_a_body_arrives_in_tiny_pieces() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    await read_body(pieces(*[b"x"] * 1_000), "", max_bytes=1_000)
    task.cancel()
    assert turns >= 10


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


@pytest.mark.parametrize(
    ("language", "codec", "text"),
    [
        ("ru", "cp1251", "Комитет реки собрался"),
        ("pl", "cp1250", "Zażółć gęślą jaźń"),
        ("ja", "cp932", "川の委員会は火曜日に"),
        ("zh-TW", "big5", "河流委員會星期二"),
        ("zh-CN", "gb18030", "河流委员会星期二"),
        ("el", "cp1253", "Η επιτροπή του ποταμού"),
        ("de", "cp1252", "Größe – „Maß“"),
    ],
)
def test_a_page_that_declares_nothing_is_read_as_in_a_browser_of_its_language(
    language: str, codec: str, text: str
) -> None:
    body = f'<!DOCTYPE html><html lang="{language}"><p>{text}</p>'.encode(codec)
    assert text in decode(body, charset_of(body, "text/html"))


def test_a_header_that_says_utf_8_yields_to_the_page_if_it_is_wrong() -> None:
    page = '<meta charset="gbk"><p>河流委员会星期二</p>'
    assert charset_of(page.encode("gbk"), "text/html; charset=utf-8") == "gb18030"
    assert charset_of(page.encode(), "text/html; charset=utf-8") == "utf-8"
    assert charset_of("<p>Größe".encode("cp1252"), "text/html; charset=utf-8") == "utf-8"


@pytest.mark.parametrize(("size", "in_a_thread"), [(15_000, False), (17_000, True)])
async def test_small_texts_are_read_here_and_large_ones_in_a_thread(
    size: int, in_a_thread: bool
) -> None:
    where = await in_own_thread_if_large(size, threading.current_thread)
    assert (where is not threading.current_thread()) is in_a_thread
