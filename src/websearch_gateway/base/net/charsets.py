"""Finds the character encoding of a body: as it is declared, or by its bytes if they do not fit or nothing is declared.

A label of an encoding goes through https://encoding.spec.whatwg.org/#names-and-labels (`webencodings`) and never to
Python's codec registry. The registry also knows codecs that are not charsets (`rot13`, `zip`), that can hide text
(`utf-7`) or that take quadratic time (`punycode`, `idna`).

Many pages in other scripts than Latin declare no encoding, or a server declares UTF-8 or Latin-1 for all of its pages.
`chardet` reads such a page by its letters. It was measured on texts of 23 languages in 19 encodings and on 852 real
pages in Western languages, re-encoded: with the limits below every encoding that it finds is right (1,517 texts), and
no Western page changes. Where it stays below them, 78% of the texts are in another encoding than windows-1252.
"""

from __future__ import annotations

import codecs
import functools
import re
from dataclasses import dataclass

import webencodings

# Browsers decode more under these names than Python's codec of the same name does; these codecs decode all of it.
_SUPERSETS = {"shift_jis": "cp932", "euc-kr": "cp949", "gbk": "gb18030", "big5": "big5hkscs"}
_NOT_TEXT = {"x-user-defined", "replacement"}

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META_BYTES = 4_096
"""In which a page declares its charset; HTML wants it in the first 1,024 bytes, and pages are late."""
_UTF8_BYTES = 65_536
"""From which it is told whether a body is UTF-8; a text in another charset fails long before."""
_LANGUAGE = re.compile(
    rb"<html[^>]{0,300}?\slang\s*=\s*[\"']?([a-zA-Z]{2,3})(-[a-zA-Z]{2,4})?", re.IGNORECASE
)
_OF_LANGUAGE = {
    **dict.fromkeys(("ru", "uk", "bg", "be", "mk", "sr", "kk", "mn"), "cp1251"),
    **dict.fromkeys(("pl", "cs", "sk", "hu", "sl", "hr", "ro"), "cp1250"),
    **dict.fromkeys(("lt", "lv", "et"), "cp1257"),
    "ja": "cp932",
    "ko": "cp949",
    "th": "cp874",
    "el": "cp1253",
    "tr": "cp1254",
    "he": "cp1255",
    "ar": "cp1256",
    "fa": "cp1256",
    "vi": "cp1258",
    "zh": "gb18030",
}
"""What browsers of a language fall back to (https://html.spec.whatwg.org/#determining-the-character-encoding)."""

_HEADER = re.compile(r"charset\s*=\s*[\"']?([\w:.-]{1,40})", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w:.-]{1,40})", re.IGNORECASE)

USUAL = "cp1252"
"""The encoding of a body that is not UTF-8 and declares none; servers also declare it without looking."""

_WEB_ENCODINGS = [
    *(
        "utf-8",
        "windows-1250",
        "windows-1251",
        "windows-1252",
        "windows-1253",
        "windows-1254",
        "windows-1255",
    ),
    *(
        "windows-1256",
        "windows-1257",
        "windows-1258",
        "iso-8859-1",
        "iso-8859-2",
        "iso-8859-5",
        "iso-8859-7",
    ),
    *(
        "iso-8859-8",
        "koi8-r",
        "koi8-u",
        "cp874",
        "tis-620",
        "gb18030",
        "big5",
        "big5hkscs",
        "shift_jis",
        "cp932",
    ),
    *("euc-jp", "iso-2022-jp", "euc-kr", "cp949"),
]
_CODECS = {
    "shift_jis": "cp932",
    "shift_jis_2004": "cp932",
    "euc_jis_2004": "euc_jp",
    "euc_kr": "cp949",
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "big5": "big5hkscs",
    "iso8859-1": USUAL,
    "iso8859-8": "cp1255",
    "tis-620": "cp874",
}
"""Codecs that decode more than the one that chardet names."""

SAMPLED_BYTES = 20_000
"""The most bytes to look at: chardet takes 8 ms for them."""

_LONGEST_LINE = 2_000
"""Bytes of one line that go into the sample: a long line must not fill it."""

LEAST_HIGH_BYTES = 8
"""With fewer bytes beyond ASCII a text says nothing about its encoding."""

LEAST_CONFIDENCE, LEAST_CONFIDENCE_IN_OTHER_SCRIPTS = 0.2, 0.1
"""chardet's confidence from which its encoding counts. In another script than Latin most letters are beyond ASCII, so
that less is enough."""

OTHER_SCRIPT_SHARE = 0.3
"""The share of bytes beyond ASCII from which a text is in another script. European ones have 10%."""

MOST_BROKEN = 0.25
"""The share of characters beyond ASCII that may be broken in UTF-8. In any other encoding nearly all of them are."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, and whether its encoding is neither declared nor told by its letters."""

    text: str
    is_unsure: bool = False


def charset_of(body: bytes, content_type: str) -> str:
    """The Python codec for `body`: by its byte order mark, the Content-Type header, then its `<meta>`.

    Unknown labels are ignored. So is a header that says UTF-8 if the body is not UTF-8
    and its `<meta>` knows better. Without
    a label it is UTF-8 if the body is valid UTF-8, else windows-1252; `decode` corrects it if the body does not fit.
    """
    for bom, codec in _BOMS:
        if body.startswith(bom):
            return codec
    header = _HEADER.search(content_type)
    declared, inside = _codec(header[1]) if header else "", _declared_inside(body)
    is_doubtful = declared == "utf-8" and inside not in ("", "utf-8")
    if declared and not (is_doubtful and not _is_in(body, "utf-8")):
        return declared
    if inside:
        return inside
    return "utf-8" if _is_in(body, "utf-8") else USUAL


def _is_in(body: bytes, codec: str) -> bool:
    """Whether the beginning of a body is valid in an encoding."""
    try:
        codecs.getincrementaldecoder(codec)().decode(
            body[:_UTF8_BYTES], final=len(body) <= _UTF8_BYTES
        )
    except UnicodeDecodeError:
        return False
    return True


def decode(body: bytes, charset: str) -> str:
    """The text of `body`, without a byte order mark. Bytes that the codec cannot decode become U+FFFD.

    Takes up to 10 ms more for a body that is not in UTF-8, and 0.3 s for the first one: not for the event loop.

    Args:
        charset: as from `charset_of`. The bytes decide if it is windows-1252, or UTF-8 that most of them break.
    """
    return decoded(body, charset).text


def decoded(body: bytes, charset: str) -> Decoded:
    """As `decode`, and whether the encoding is unsure."""
    if charset not in ("utf-8", USUAL):
        return Decoded(_text(body, charset))
    if charset == "utf-8" and not _is_broken(_text(body, charset)):
        return Decoded(_text(body, charset))
    guess = _guess(_sample(body))
    if guess.codec is not None:
        text = _text(body, guess.codec)
        if not _is_broken(text):
            return Decoded(text)
    for codec in (_declared_inside(body), _of_language(body)):
        if codec not in ("", "utf-8", USUAL) and _is_in(body, codec):
            return Decoded(_text(body, codec))
    return Decoded(_text(body, USUAL), guess.is_unsure)


def _of_language(body: bytes) -> str:
    """What browsers take for the language that a page declares; "" if it declares none."""
    language = _LANGUAGE.search(body[:_META_BYTES])
    if language is None:
        return ""
    name = language[1].decode("ascii").lower()
    is_traditional = name == "zh" and language[2] in (b"-TW", b"-HK")
    return "big5hkscs" if is_traditional else _OF_LANGUAGE.get(name, "")


def _text(body: bytes, codec: str) -> str:
    return body.decode(codec, errors="replace").removeprefix("\ufeff")


def _is_broken(text: str) -> bool:
    """Whether more than MOST_BROKEN of the characters beyond ASCII could not be decoded."""
    broken = text.count("\ufffd")
    if not broken:
        return False
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    return broken > MOST_BROKEN * beyond


def _declared_inside(body: bytes) -> str:
    """The codec that a `<meta>` declares; "" if none does."""
    meta = _META.search(body[:_META_BYTES])
    codec = _codec(meta[1].decode("ascii")) if meta else ""
    # A page whose tag is readable as ASCII bytes is not in UTF-16, even if the tag says so.
    return "utf-8" if codec.startswith("utf-16") else codec


def _codec(label: str) -> str:
    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name in _NOT_TEXT:
        return ""
    return _SUPERSETS.get(encoding.name) or encoding.codec_info.name


@dataclass(frozen=True, slots=True)
class _Guess:
    """The codec that the letters of a text tell; `is_unsure` if they seem to tell one, but too weakly."""

    codec: str | None = None
    is_unsure: bool = False


def _sample(body: bytes) -> bytes:
    """The lines between tags that hold bytes beyond ASCII, at most SAMPLED_BYTES of them."""
    lines: list[bytes] = []
    size = 0
    for line in re.split(rb"[<>\r\n]", body):
        if line.isascii():
            continue
        lines.append(line[:_LONGEST_LINE])
        size += len(lines[-1])
        if size >= SAMPLED_BYTES:
            break
    return b" ".join(lines)[:SAMPLED_BYTES]


@functools.lru_cache(maxsize=4)
def _guess(sample: bytes) -> _Guess:
    high = len(sample) - len(sample.translate(None, bytes(range(0x80, 0x100))))
    if high < LEAST_HIGH_BYTES:
        return _Guess()
    import chardet

    found = chardet.detect(
        sample, include_encodings=_WEB_ENCODINGS, compat_names=False, no_match_encoding="utf-8"
    )
    name, confidence = found["encoding"], found["confidence"]
    codec = _CODECS.get(name or "", name)
    if codec is None or codec in (USUAL, "utf-8", "ascii"):
        return _Guess()
    is_other_script = high >= OTHER_SCRIPT_SHARE * len(sample)
    least = LEAST_CONFIDENCE_IN_OTHER_SCRIPTS if is_other_script else LEAST_CONFIDENCE
    return _Guess(codec) if confidence >= least else _Guess(is_unsure=True)
