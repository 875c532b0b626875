"""A fetch from a hostile server ends in time, with an error of ours, and with bounded memory."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import tracemalloc
from collections.abc import AsyncIterator
from itertools import repeat

import pytest

from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import Fetched, Fetcher
from websearch_gateway.errors import SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline

from .conftest import RawServer, Script, Serve, page

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
MEGABYTE = 1_000_000
GZIP_HEAD = gzip.compress(b"")[:10]
EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"


async def fetch(server: RawServer, seconds: float = 120) -> Fetched:
    async with Fetcher(AddressPolicy([server.pair])) as fetcher:
        return await fetcher.fetch(server.url(), Deadline.after(seconds))


def drip(start: bytes, drop: bytes) -> Script:
    """Send `start`, then `drop` forever, with a pause after each."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(drop)
            await writer.drain()
            await asyncio.sleep(0.02)

    return script


def flood(start: bytes, wave: bytes) -> Script:
    """Send `start`, then `wave` forever, as fast as possible."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(wave)
            await writer.drain()

    return script


async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close with an RST instead of a FIN."""
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(silence, id="nothing at all"),
        pytest.param(drip(b"HTTP/1.1 200 OK\r\nX: ", b"a"), id="dripping header"),
        pytest.param(drip(OK, b"X: a\r\n"), id="dripping headers"),
        pytest.param(drip(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), id="dripping 1xx"),
        pytest.param(drip(OK + b"Content-Length: 100000\r\n\r\n", b"a"), id="dripping body"),
        pytest.param(drip(CHUNKED, b"1\r\na\r\n"), id="dripping chunks"),
        pytest.param(drip(CHUNKED + b"1;", b"x"), id="dripping chunk extension"),
        pytest.param(drip(CHUNKED + b"1\r\na\r\n0\r\n", b"X: a\r\n"), id="dripping trailers"),
        pytest.param(
            drip(OK + b"Content-Encoding: gzip\r\n\r\n" + GZIP_HEAD, EMPTY_BLOCK),
            id="dripping gzip",
        ),
    ],
)
async def test_a_slow_server_is_cut_off_at_the_deadline(serve: Serve, script: Script) -> None:
    server = await serve(script)
    with pytest.raises(SearchTimeoutError, match="in time"):
        await fetch(server, 1.0)
    await server.gone.wait()


@pytest.fixture
async def flat_memory() -> AsyncIterator[None]:
    tracemalloc.start()
    yield
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30 * MEGABYTE


@pytest.mark.usefixtures("flat_memory")
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(flood(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100), id="endless 1xx"),
        pytest.param(flood(OK, b"X: a\r\n" * 1000), id="endless headers"),
        pytest.param(flood(b"HTTP/1.1 200 OK\r\nX: ", b"a" * 10_000), id="endless header"),
        pytest.param(flood(b"", b"a" * 10_000), id="endless status line"),
        pytest.param(flood(OK + b"\r\n", b"a" * 10_000), id="endless body"),
        pytest.param(flood(CHUNKED, b"1\r\na\r\n" * 1000), id="endless tiny chunks"),
        pytest.param(flood(CHUNKED + b"1;", b"x" * 10_000), id="endless chunk extension"),
        pytest.param(flood(CHUNKED + b"ffffffffffff\r\n", b"x" * 10_000), id="huge chunk"),
        pytest.param(
            flood(CHUNKED + b"1\r\na\r\n0\r\n", b"X: a\r\n" * 1000), id="endless trailers"
        ),
        pytest.param(
            flood(OK + b"Content-Encoding: gzip\r\n\r\n" + GZIP_HEAD, EMPTY_BLOCK * 1000),
            id="endless empty gzip",
        ),
    ],
)
async def test_a_server_that_never_stops_is_cut_off_before_the_deadline(
    serve: Serve, script: Script
) -> None:
    server = await serve(script)
    with pytest.raises(SearchFetchError):
        await fetch(server)
    await server.gone.wait()


@pytest.mark.usefixtures("flat_memory")
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param(
            OK + b"".join(b"X-%d: a\r\n" % n for n in range(100_000)) + b"\r\n",
            "broke off",
            id="100,000 headers",
        ),
        pytest.param(
            page(gzip.compress(bytes(50 * MEGABYTE)), "Content-Encoding: gzip"),
            "too large",
            id="gzip bomb",
        ),
        pytest.param(
            page(gzip.compress(gzip.compress(bytes(MEGABYTE))), "Content-Encoding: gzip, gzip"),
            "not requested",
            id="stacked codings",
        ),
        pytest.param(
            page(b"x", *repeat("Content-Encoding: gzip", 50)), "not requested", id="50 codings"
        ),
        pytest.param(
            OK + b"Content-Length: 99999999999\r\n\r\nx", "too large", id="announced too large"
        ),
        pytest.param(
            page(b"", "Location: /" + "a" * 200_000, status="302 Found"),
            "broke off",
            id="200 kB Location",
        ),
    ],
)
async def test_a_reply_beyond_the_limits_is_refused(
    serve: Serve, reply: bytes, reason: str
) -> None:
    server = await serve(reply)
    with pytest.raises(SearchFetchError, match=reason):
        await fetch(server)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(b"", id="closed at once"),
        pytest.param(b"<html>hello</html>", id="HTTP/0.9"),
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", id="another protocol"),
        pytest.param(b"HTTP/1.1 abc OK\r\n\r\n", id="status that is no number"),
        pytest.param(b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n", id="header without a colon"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", id="NUL in a header"),
        pytest.param(OK + b"Content-Length: 1000\r\n\r\nshort", id="Content-Length too long"),
        pytest.param(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", id="two lengths"),
        pytest.param(OK + b"Content-Length: -1\r\n\r\n", id="negative length"),
        pytest.param(OK + b"Content-Length: \xc2\xb2\r\n\r\n", id="length in superscript"),
        pytest.param(CHUNKED + b"zz\r\n", id="chunk size that is no number"),
        pytest.param(CHUNKED + b"5\r\nhel", id="cut chunk"),
        pytest.param(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
            id="upgrade",
        ),
        pytest.param(
            page(gzip.compress(b"hello" * 99)[:-9], "Content-Encoding: gzip"), id="cut gzip"
        ),
        pytest.param(page(b"not gzip", "Content-Encoding: gzip"), id="a body that is not gzip"),
        pytest.param(page(b"", "Location: \xff\xfe", status="302 Found")[:-4], id="cut head"),
    ],
)
async def test_a_broken_reply_is_a_fetch_error(serve: Serve, reply: bytes) -> None:
    server = await serve(reply)
    with pytest.raises(SearchFetchError):
        await fetch(server)


async def test_a_reset_connection_is_a_fetch_error(serve: Serve) -> None:
    with pytest.raises(SearchFetchError, match="broke off"):
        await fetch(await serve(reset))


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        pytest.param(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", b"ok", id="bare LF"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\nuntil it closes", b"until it closes", id="HTTP/1.0"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\nbody", b"", id="204 with a body"),
        pytest.param(
            OK + b"Content-Length: 2\r\n\r\nok and more", b"ok", id="Content-Length too short"
        ),
        pytest.param(
            b"HTTP/1.1 100 Continue\r\n\r\n" + page(b"ok"), b"ok", id="100 Continue unasked"
        ),
        pytest.param(
            page(b"ok", "Content-Type: text/html; charset=punycode"),
            b"ok",
            id="charset that is a trap",
        ),
    ],
)
async def test_odd_but_harmless_replies_are_read(serve: Serve, reply: bytes, body: bytes) -> None:
    fetched = await fetch(await serve(reply))
    assert (fetched.body, fetched.charset) == (body, "utf-8")


async def test_a_hostile_server_does_not_block_the_event_loop(serve: Serve) -> None:
    """Ours: while one fetch parses a flood, the others get their turns."""
    server = await serve(flood(CHUNKED, b"1\r\na\r\n" * 1000))
    task = asyncio.create_task(fetch(server))
    turns = 0
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    with pytest.raises(SearchFetchError):
        await task
    assert turns > 10
