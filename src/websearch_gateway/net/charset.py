"""Detects the character encoding of a body, among those that browsers support.

A label goes through https://encoding.spec.whatwg.org/#names-and-labels (`webencodings`) and never to Python's codec
registry. The registry also knows codecs that are not charsets (`rot13`, `zip`), that can hide text (`utf-7`) or that
take quadratic time (`punycode`, `idna`).
"""

from __future__ import annotations

import codecs
import re

import webencodings

# Browsers decode more under these names than Python's codec of the same name does; these codecs decode all of it.
_SUPERSETS = {"shift_jis": "cp932", "euc-kr": "cp949", "gbk": "gb18030", "big5": "big5hkscs"}
_NOT_TEXT = {"x-user-defined", "replacement"}

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META_BYTES = 4_096
_UTF8_BYTES = 65_536
_HEADER = re.compile(r"charset\s*=\s*[\"']?([\w:.-]{1,40})", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w:.-]{1,40})", re.IGNORECASE)


def charset_of(body: bytes, content_type: str) -> str:
    """The Python codec for `body`: by its byte order mark, the Content-Type header, then its `<meta>`.

    Unknown labels are ignored. Without a label it is UTF-8 if the body is valid UTF-8, else windows-1252.
    """
    for bom, codec in _BOMS:
        if body.startswith(bom):
            return codec
    if (header := _HEADER.search(content_type)) and (codec := _codec(header[1])):
        return codec
    if (meta := _META.search(body[:_META_BYTES])) and (codec := _codec(meta[1].decode("ascii"))):
        # A page whose tag is readable as ASCII bytes is not in UTF-16, even if the tag says so.
        return "utf-8" if codec.startswith("utf-16") else codec
    return "utf-8" if _is_utf8(body) else "cp1252"


def decode(body: bytes, charset: str) -> str:
    """The text of `body`, without a byte order mark. Bytes that the codec cannot decode become U+FFFD."""
    return body.decode(charset, errors="replace").removeprefix("\ufeff")


def _codec(label: str) -> str:
    """Python's name of the codec for a label; empty for an unknown label."""
    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name in _NOT_TEXT:
        return ""
    return _SUPERSETS.get(encoding.name) or encoding.codec_info.name


def _is_utf8(body: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body[:_UTF8_BYTES], final=len(body) <= _UTF8_BYTES)
    except UnicodeDecodeError:
        return False
    return True
