"""Which character encoding a body is in, out of a fixed list.

A label goes through the table below and never to Python's codec registry, which also knows encodings that are no
charsets (`rot13`, `zip`), that smuggle (`utf-7`) or that take quadratic time (`punycode`, `idna`).
"""

from __future__ import annotations

import codecs
import re

# The names of https://encoding.spec.whatwg.org/#names-and-labels, to the Python codec that reads the same bytes.
_CODECS = {
    "utf-8": ("utf8", "unicode-1-1-utf-8"),
    "utf-16-le": ("utf-16", "utf-16le", "ucs-2", "unicode"),
    "utf-16-be": ("utf-16be",),
    # Pages that claim one of these are written in its superset by Microsoft, and browsers read them so.
    "cp1252": ("iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1", "us-ascii", "ascii"),
    "cp1254": ("iso-8859-9", "iso8859-9", "latin5"),
    "cp874": ("windows-874", "iso-8859-11", "tis-620"),
    "koi8_r": ("koi8-r", "koi8"),
    "koi8_u": ("koi8-u", "koi8-ru"),
    "mac_roman": ("macintosh", "mac", "x-mac-roman"),
    "mac_cyrillic": ("x-mac-cyrillic",),
    "cp866": ("ibm866", "866"),
    "cp932": ("shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "windows-31j"),
    "euc_jp": ("euc-jp", "x-euc-jp"),
    "iso2022_jp": ("iso-2022-jp",),
    "cp949": ("euc-kr", "ks_c_5601-1987", "ksc5601", "windows-949", "korean"),
    "gb18030": ("gb2312", "gbk", "x-gbk", "gb_2312-80", "chinese"),
    "big5hkscs": ("big5", "big5-hkscs", "x-x-big5", "cn-big5"),
}
_BY_LABEL = {label: codec for codec, labels in _CODECS.items() for label in (codec, *labels)}
_BY_LABEL |= {f"iso-8859-{n}": f"iso8859_{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)}
_BY_LABEL |= {f"{prefix}-{n}": f"cp{n}" for n in range(1250, 1259) for prefix in ("windows", "cp")}
_BY_LABEL |= {f"cp{n}": f"cp{n}" for n in range(1250, 1259)}

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META_BYTES = 4_096
_UTF8_BYTES = 65_536
_HEADER = re.compile(r"charset\s*=\s*[\"']?([\w:.-]{1,40})", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w:.-]{1,40})", re.IGNORECASE)


def charset_of(body: bytes, content_type: str) -> str:
    """The Python codec for `body`: by its byte order mark, the Content-Type header, then its `<meta>`.

    An unknown label counts as none. Without any it is UTF-8 if the body is, else windows-1252.
    """
    for bom, codec in _BOMS:
        if body.startswith(bom):
            return codec
    if (header := _HEADER.search(content_type)) and (codec := _BY_LABEL.get(header[1].lower(), "")):
        return codec
    if (meta := _META.search(body[:_META_BYTES])) and (codec := _BY_LABEL.get(meta[1].decode("ascii").lower(), "")):
        # A tag that can be read byte by byte is not in UTF-16, whatever it says.
        return "utf-8" if codec.startswith("utf-16") else codec
    return "utf-8" if _is_utf8(body) else "cp1252"


def decode(body: bytes, charset: str) -> str:
    """The text of `body`, without a byte order mark. Bytes that the codec does not know become U+FFFD."""
    return body.decode(charset, errors="replace").removeprefix("\ufeff")


def _is_utf8(body: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body[:_UTF8_BYTES], final=len(body) <= _UTF8_BYTES)
    except UnicodeDecodeError:
        return False
    return True
