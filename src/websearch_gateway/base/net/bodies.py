"""Reads bodies: decodes content codings within a size limit, detects the character encoding, and parses replies in
threads or workers of their own.

A label of an encoding goes through https://encoding.spec.whatwg.org/#names-and-labels (`webencodings`) and never to
Python's codec registry. The registry also knows codecs that are not charsets (`rot13`, `zip`), that can hide text
(`utf-7`) or that take quadratic time (`punycode`, `idna`).

A slow parse in the default executor would delay name lookups and shutdown; in its own threads it delays only others of
its kind. Workers parse replies of vendors that are longer than 64 kB: a shorter one takes under 5 ms, but a hostile
vendor could make a longer one expensive.
"""

from __future__ import annotations

import codecs
import functools
import re
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import webencodings

from websearch_gateway.errors import (
    SearchFetchError,
    SearchProviderParseError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.models import Deadline
from websearch_gateway.ports import Workers

if TYPE_CHECKING:
    from pydantic import TypeAdapter

ACCEPT_ENCODING = "gzip, deflate"
MAX_BYTES = 5_000_000
"""The default limit of a decoded page or reply, in bytes."""
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_GZIP_MAGIC = 0x1F
_RAW_DEFLATE = -zlib.MAX_WBITS
_PIECES_PER_TURN = 100


class CodingError(Exception):
    """A body cannot be decoded. The message completes a sentence whose subject is the body."""


class BodyTooLarge(Exception):
    """A body is larger than allowed once decoded, or comes in too many pieces."""


class BodyCutShort(Exception):
    """A body ends in the middle of its compressed data."""


class Decoder:
    """Decodes a body without a content coding."""

    @property
    def complete(self) -> bool:
        """Whether the body may end here."""
        return True

    def feed(self, data: bytes, limit: int) -> bytes:
        """The decoded form of `data`, cut off after `limit` bytes.

        Raises:
            CodingError: the data is not in this coding.
        """
        return data[:limit]


class Inflate(Decoder):
    """gzip (also with several members) and deflate, with its zlib wrapper or, as some servers send it, without one."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._first = True

    @property
    def complete(self) -> bool:
        return self._first or self._zlib.eof

    def feed(self, data: bytes, limit: int) -> bytes:
        decoded = bytearray()
        while data and len(decoded) < limit:
            if self._zlib.eof:
                if data[0] != _GZIP_MAGIC:
                    break  # padding after the end, which all clients ignore
                self._zlib = zlib.decompressobj(_GZIP_OR_ZLIB)
            try:
                decoded += self._inflate(data, limit - len(decoded))
            except zlib.error:
                raise CodingError("has invalid compressed data") from None
            data = self._zlib.unused_data
        return bytes(decoded)

    def _inflate(self, data: bytes, limit: int) -> bytes:
        first, self._first = self._first, False
        try:
            return self._zlib.decompress(data, limit)
        except zlib.error:
            if not first:
                raise
            self._zlib = zlib.decompressobj(_RAW_DEFLATE)
            return self._zlib.decompress(data, limit)


def decoder_for(content_encoding: str) -> Decoder:
    """The decoder for a Content-Encoding header.

    Accepts only what `ACCEPT_ENCODING` lists, and only one: each stacked coding multiplies the work per byte by a
    thousand, and no honest server stacks them.

    Raises:
        CodingError: the header names another coding, or more than one.
    """
    codings = [name for part in content_encoding.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    if not codings:
        return Decoder()
    if len(codings) > 1 or codings[0] not in ("gzip", "x-gzip", "deflate"):
        raise CodingError("is in a content coding that was not requested")
    return Inflate()


async def give_way(pieces: int) -> None:
    """Let other tasks run after each hundred pieces: a buffer may hold thousands of chunks of one byte."""
    if pieces % _PIECES_PER_TURN == 0:
        import asyncio  # no worker needs it, which decodes whole pages

        await asyncio.sleep(0)


async def read_body(
    pieces: AsyncIterable[bytes], content_encoding: str, *, max_bytes: int, max_pieces: int | None = None
) -> bytes:
    """The decoded body that arrives in `pieces`. Raises what `decoded_body` raises."""
    body = bytearray()
    async for piece in decoded_body(pieces, content_encoding, max_bytes=max_bytes, max_pieces=max_pieces):
        body += piece
    return bytes(body)


async def decoded_body(
    pieces: AsyncIterable[bytes], content_encoding: str, *, max_bytes: int, max_pieces: int | None = None
) -> AsyncIterator[bytes]:
    """The decoded pieces of the body that arrives in `pieces`.

    Raises:
        CodingError: its compressed data is invalid, or its coding was not requested.
        BodyTooLarge: it has more than `max_bytes` once decoded, or more than `max_pieces`.
        BodyCutShort: the pieces end too early.
    """
    decoder = decoder_for(content_encoding)
    size = count = 0
    async for piece in pieces:
        count += 1
        await give_way(count)
        decoded = decoder.feed(piece, max_bytes + 1 - size)
        size += len(decoded)
        if size > max_bytes or (max_pieces is not None and count > max_pieces):
            raise BodyTooLarge
        yield decoded
    if not decoder.complete:
        raise BodyCutShort


# Browsers decode more under these names than Python's codec of the same name does; these codecs decode all of it.
_SUPERSETS = {"shift_jis": "cp932", "euc-kr": "cp949", "gbk": "gb18030", "big5": "big5hkscs"}
_NOT_TEXT = {"x-user-defined", "replacement"}

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META_BYTES = 4_096
_UTF8_BYTES = 65_536
_HEADER = re.compile(r"charset\s*=\s*[\"']?([\w:.-]{1,40})", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w:.-]{1,40})", re.IGNORECASE)


_LANGUAGE = re.compile(rb"<html[^>]{0,300}?\slang\s*=\s*[\"']?([a-zA-Z]{2,3})(-[a-zA-Z]{2,4})?", re.IGNORECASE)
_OF_LANGUAGE = {
    **dict.fromkeys(("ru", "uk", "bg", "be", "mk", "sr", "kk", "mn"), "cp1251"),
    **dict.fromkeys(("pl", "cs", "sk", "hu", "sl", "hr", "ro"), "cp1250"),
    "ja": "cp932",
    "ko": "cp949",
    "th": "cp874",
    "el": "cp1253",
    "tr": "cp1254",
    "he": "cp1255",
    "ar": "cp1256",
    "fa": "cp1256",
    "vi": "cp1258",
    "lt": "cp1257",
    "lv": "cp1257",
    "et": "cp1257",
    "zh": "gb18030",
}
"""What browsers of a language fall back to (https://html.spec.whatwg.org/#determining-the-character-encoding)."""


def charset_of(body: bytes, content_type: str) -> str:
    """The Python codec for `body`: by its byte order mark, the Content-Type header, then its `<meta>`.

    Unknown labels are ignored, and a header that says UTF-8 if the body is none and its `<meta>` knows better. Without
    a label it is UTF-8 if the body is valid UTF-8, else what browsers take for the page's language: windows-1252 for
    most.
    """
    for bom, codec in _BOMS:
        if body.startswith(bom):
            return codec
    header, meta = _HEADER.search(content_type), _META.search(body[:_META_BYTES])
    declared = _codec(header[1]) if header else ""
    written = _codec(meta[1].decode("ascii")) if meta else ""
    if written.startswith("utf-16"):  # a page whose tag is readable as ASCII bytes is not in UTF-16
        written = "utf-8"
    if declared and not (declared == "utf-8" and written not in ("", "utf-8") and not _is_in(body, "utf-8")):
        return declared
    if written:
        return written
    if _is_in(body, "utf-8"):
        return "utf-8"
    language = _LANGUAGE.search(body[:_META_BYTES])
    if language is None:
        return "cp1252"
    name = language[1].decode("ascii").lower()
    likely = "big5" if name == "zh" and language[2] in (b"-TW", b"-HK") else _OF_LANGUAGE.get(name, "cp1252")
    return likely if _is_in(body, likely) else "cp1252"


def _is_in(body: bytes, codec: str) -> bool:
    """Whether the beginning of a body is valid in an encoding."""
    try:
        codecs.getincrementaldecoder(codec)().decode(body[:_UTF8_BYTES], final=len(body) <= _UTF8_BYTES)
    except UnicodeDecodeError:
        return False
    return True


def decode(body: bytes, charset: str) -> str:
    """The text of `body`, without a byte order mark. Bytes that the codec cannot decode become U+FFFD."""
    return body.decode(charset, errors="replace").removeprefix("\ufeff")


def _codec(label: str) -> str:
    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name in _NOT_TEXT:
        return ""
    return _SUPERSETS.get(encoding.name) or encoding.codec_info.name


SMALL_BYTES = 65_536
MAX_REPLY_BYTES = 2_000_000
"""The longest reply of a vendor that is read; the longest real ones have some hundred kilobytes."""

THREADS = 2

P = ParamSpec("P")
T = TypeVar("T")


async def in_own_thread(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Run `function` like `asyncio.to_thread`, in a thread for parsing upstream replies."""
    return await _in_thread("upstream", functools.partial(function, *arguments, **options))


async def in_cache_thread(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Run `function` in a thread for the caches: packing, unpacking and comparing."""
    return await _in_thread("cache", functools.partial(function, *arguments, **options))


async def _in_thread(name: str, call: Callable[[], T]) -> T:
    import asyncio  # a worker embeds texts without it

    return await asyncio.get_running_loop().run_in_executor(_threads(name), copy_context().run, call)


@functools.cache
def _threads(name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix=name)


@dataclass(frozen=True, slots=True)
class ReplyParser:
    """Runs pure functions over replies. Without `workers` everything runs in a thread."""

    workers: Workers | None = field(default=None, repr=False)

    async def read(self, kind: Any, function: Callable[..., T], *bodies: bytes, vendor: str, deadline: Deadline) -> T:
        """The result of `function(*bodies)`, whose type is `kind`: a dataclass or a list of dataclasses.

        Raises:
            SearchProviderParseError: the reply made its worker fail, or `function` raised it.
            SearchTimeoutError: the reply could not be read by the deadline.
            SearchError: `function` raised it.
        """
        if self.workers is None or sum(map(len, bodies)) <= SMALL_BYTES:
            return await in_own_thread(function, *bodies)
        try:
            value, refusal = await self.workers.run(_read, function, *bodies, deadline=deadline)
        except SearchTimeoutError:
            raise SearchTimeoutError(f"The reply of {vendor} could not be read in time.") from None
        except SearchFetchError as error:
            raise SearchProviderParseError(f"The reply of {vendor} could not be read.") from error
        if refusal is not None:
            raise SearchValidationError(refusal)
        read: T = adapter(kind).validate_python(value)
        return read


def without_key(adapter: T) -> T:
    """A copy of a vendor's adapter without its key, which no worker may get."""
    key = getattr(adapter, "key", None)
    return adapter if key is None else replace(adapter, key=type(key)(""))  # type: ignore[type-var]


def _read(function: Callable[..., object], *bodies: bytes) -> tuple[object, str | None]:
    """The result, or the message of a refusal: a worker passes on no other error that stops a search."""
    try:
        return function(*bodies), None
    except SearchValidationError as error:
        return None, error.message


@functools.cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """What validates a worker's result of this type."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
