"""Reads bodies: decodes content codings within a size limit, and parses replies in threads or workers of their own.

A slow parse in the default executor would delay name lookups and shutdown; in its own threads it delays only others of
its kind. Workers parse replies of vendors that are longer than 64 kB: a shorter one takes under 5 ms, but a hostile
vendor could make a longer one expensive.
"""

from __future__ import annotations

import functools
import sys
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
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

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
MAX_BYTES = 5_000_000
"""The default limit of a decoded page or reply, in bytes."""
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_GZIP_MAGIC = 0x1F
_RAW_DEFLATE = -zlib.MAX_WBITS
_ZSTD_WINDOW_LOG = 23
"""8 MB, the most that https://www.rfc-editor.org/rfc/rfc9659 allows a body to need."""
_PIECES_PER_TURN = 100
"""Pieces of a body until other calls get a turn: a few milliseconds of work."""


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


class Brotli(Decoder):
    """`br` (https://www.rfc-editor.org/rfc/rfc7932)."""

    def __init__(self) -> None:
        import brotli

        self._brotli = brotli.Decompressor()
        self._error: type[Exception] = brotli.error
        self._first = True

    @property
    def complete(self) -> bool:
        return self._first or self._brotli.is_finished()

    def feed(self, data: bytes, limit: int) -> bytes:
        decoded = bytearray()
        while len(decoded) < limit and not self._brotli.is_finished():
            self._first = False
            try:
                decoded += self._brotli.process(data, output_buffer_limit=limit - len(decoded))
            except self._error:
                raise CodingError("has invalid compressed data") from None
            data = b""
            if self._brotli.can_accept_more_data():
                break
        return bytes(decoded[:limit])


class Zstandard(Decoder):
    """`zstd` (https://www.rfc-editor.org/rfc/rfc8878), also with several frames."""

    def __init__(self) -> None:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd

        self._error: type[Exception] = zstd.ZstdError
        self._new = partial(
            zstd.ZstdDecompressor,
            options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG},
        )
        self._zstd = self._new()
        self._first = True

    @property
    def complete(self) -> bool:
        return self._first or self._zstd.eof

    def feed(self, data: bytes, limit: int) -> bytes:
        decoded = bytearray()
        try:
            while len(decoded) < limit:
                if self._zstd.eof:
                    data = data or self._zstd.unused_data
                    if not data:
                        break
                    self._zstd = self._new()
                self._first = False
                decoded += self._zstd.decompress(data, limit - len(decoded))
                data = b""
                if self._zstd.needs_input:
                    break
        except self._error:
            raise CodingError("has invalid compressed data") from None
        return bytes(decoded)


_DECODERS: Mapping[str, type[Decoder]] = {
    "gzip": Inflate,
    "x-gzip": Inflate,
    "deflate": Inflate,
    "br": Brotli,
    "zstd": Zstandard,
}


def decoder_for(content_encoding: str) -> Decoder:
    """The decoder for a Content-Encoding header.

    Accepts only what `ACCEPT_ENCODING` lists, and only one: each stacked coding multiplies the work per byte by a
    thousand, and no honest server stacks them.

    Raises:
        CodingError: the header names another coding, or more than one.
    """
    codings = [
        name
        for part in content_encoding.split(",")
        if not _is_no_coding(name := part.strip().lower())
    ]
    if not codings:
        return Decoder()
    if len(codings) > 1 or codings[0] not in _DECODERS:
        raise CodingError("is in a content coding that was not requested")
    return _DECODERS[codings[0]]()


def _is_no_coding(name: str) -> bool:
    """Whether a name in the header is not that of a coding: some servers put the charset there."""
    return name in ("", "identity", "none") or webencodings.lookup(name) is not None


async def give_way(pieces: int) -> None:
    """Let other tasks run after each hundred pieces: a buffer may hold thousands of chunks of one byte."""
    if pieces % _PIECES_PER_TURN == 0:
        import asyncio  # no worker needs it, which decodes whole pages

        await asyncio.sleep(0)


async def read_body(
    pieces: AsyncIterable[bytes],
    content_encoding: str,
    *,
    max_bytes: int,
    max_pieces: int | None = None,
) -> bytes:
    """The decoded body that arrives in `pieces`. Raises what `decoded_body` raises."""
    body = bytearray()
    async for piece in decoded_body(
        pieces, content_encoding, max_bytes=max_bytes, max_pieces=max_pieces
    ):
        body += piece
    return bytes(body)


async def decoded_body(
    pieces: AsyncIterable[bytes],
    content_encoding: str,
    *,
    max_bytes: int,
    max_pieces: int | None = None,
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


SMALL_BYTES = 65_536
"""A reply up to this size is parsed in a thread; a longer one in a worker, which can be killed."""
MAX_REPLY_BYTES = 2_000_000
"""The longest reply of a vendor that is read; the longest real ones have some hundred kilobytes."""

THREADS = 2
"""For parsing short replies: more would only wait for the interpreter's lock."""

P = ParamSpec("P")
T = TypeVar("T")


async def in_own_thread(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Run `function` like `asyncio.to_thread`, in a thread for parsing upstream replies."""
    return await _in_thread("upstream", functools.partial(function, *arguments, **options))


SMALL_WORK = 16_000
"""Characters that any of our functions reads in a few milliseconds; a hop to a thread and back costs a fifth of one."""


async def in_own_thread_if_large(
    size: int, function: Callable[P, T], *arguments: P.args, **options: P.kwargs
) -> T:
    """Run `function`, which reads `size` characters: a large text in a thread, as `in_own_thread`, a small one here."""
    if size <= SMALL_WORK:
        return function(*arguments, **options)
    return await in_own_thread(function, *arguments, **options)


async def in_cache_thread(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Run `function` in a thread for the caches: packing, unpacking and comparing."""
    return await _in_thread("cache", functools.partial(function, *arguments, **options))


async def _in_thread(name: str, call: Callable[[], T]) -> T:
    import asyncio  # a worker embeds texts without it

    return await asyncio.get_running_loop().run_in_executor(
        _threads(name), copy_context().run, call
    )


@functools.cache
def _threads(name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix=name)


@dataclass(frozen=True, slots=True)
class ReplyParser:
    """Runs pure functions over replies. Without `workers` everything runs in a thread."""

    workers: Workers | None = field(default=None, repr=False)

    async def read(
        self, kind: Any, function: Callable[..., T], *bodies: bytes, vendor: str, deadline: Deadline
    ) -> T:
        """The result of `function(*bodies)`, whose type is `kind`: a dataclass or a list of dataclasses.

        Raises:
            SearchProviderParseError: the reply made its worker fail, or `function` raised it.
            SearchTimeoutError: the reply could not be read by the deadline.
            SearchError: `function` raised it.
        """
        size = sum(map(len, bodies))
        if self.workers is None or size <= SMALL_BYTES:
            return await in_own_thread_if_large(size, function, *bodies)
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
