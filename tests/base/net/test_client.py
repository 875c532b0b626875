from __future__ import annotations

import asyncio
import gzip
import logging
from collections.abc import AsyncIterator

import httpx2
import pytest

from tests.patience import PATIENCE
from websearch_gateway.base.net.client import create_client, send
from websearch_gateway.errors import (
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
)
from websearch_gateway.models import Deadline, HttpRequest

from .conftest import RawServer, Serve, page


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    async with create_client() as client:
        yield client


def get(server: RawServer, **fields: dict[str, str]) -> HttpRequest:
    return HttpRequest("GET", server.url(), **fields)  # type: ignore[arg-type]


def soon() -> Deadline:
    return Deadline.after(300)


async def test_the_reply_is_complete_and_has_its_status(
    client: httpx2.AsyncClient, serve: Serve
) -> None:
    server = await serve(page(b"busy", "Retry-After: 7", status="503 Busy"))
    reply = await send(
        client, get(server, params={"q": "a b"}, headers={"X-Key": "k"}), soon(), "vendor"
    )
    assert (reply.status, reply.headers["RETRY-AFTER"], reply.body) == (503, "7", b"busy")
    head = server.requests[0].lower()
    assert head.startswith((b"get /?q=a+b ", b"get /?q=a%20b "))
    assert b"x-key: k" in head
    assert b"user-agent: websearch-gateway/" in head


async def test_json_and_forms_are_sent_with_their_content_types(serve: Serve) -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, stream=httpx2.ByteStream(b""))

    async with create_client(httpx2.MockTransport(answer)) as client:
        await send(
            client, HttpRequest("POST", "http://v.example/?a=1", json={"q": "x"}), soon(), "vendor"
        )
        await send(
            client,
            HttpRequest("POST", "http://v.example/", form={"q": "a b", "b": ""}),
            soon(),
            "vendor",
        )
    assert [request.content for request in seen] == [b'{"q":"x"}', b"q=a+b&b="]
    assert str(seen[0].url) == "http://v.example/?a=1", "no parameters leave those of the URL alone"


async def test_a_compressed_reply_is_decompressed(client: httpx2.AsyncClient, serve: Serve) -> None:
    server = await serve(page(gzip.compress(b"{}" * 1000), "Content-Encoding: gzip"))
    assert (await send(client, get(server), soon(), "vendor")).body == b"{}" * 1000


async def test_a_server_that_drips_bytes_is_cut_off_at_the_deadline(
    client: httpx2.AsyncClient, serve: Serve
) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    server = await serve(drip)
    with pytest.raises(SearchTimeoutError, match="vendor"):
        await send(client, get(server), Deadline.after(1), "vendor")
    await asyncio.wait_for(server.gone.wait(), PATIENCE)


async def test_a_deadline_that_has_passed_is_a_timeout(
    client: httpx2.AsyncClient, serve: Serve
) -> None:
    server = await serve(page(b"late"))
    with pytest.raises(SearchTimeoutError):
        await send(client, get(server), Deadline.after(0), "vendor")


async def test_a_reply_may_be_as_large_as_the_limit_but_not_larger(
    client: httpx2.AsyncClient, serve: Serve
) -> None:
    server = await serve(page(b"x" * 1000))
    assert len((await send(client, get(server), soon(), "vendor", max_bytes=1000)).body) == 1000
    with pytest.raises(SearchProviderError, match="larger than 999 bytes"):
        await send(client, get(server), soon(), "vendor", max_bytes=999)


async def test_the_limit_counts_decompressed_bytes(
    client: httpx2.AsyncClient, serve: Serve
) -> None:
    server = await serve(page(gzip.compress(b" " * 50_000_000), "Content-Encoding: gzip"))
    with pytest.raises(SearchProviderError, match="larger than"):
        await send(client, get(server), soon(), "vendor", max_bytes=1000)


async def test_a_truncated_compressed_reply_is_retryable(
    client: httpx2.AsyncClient, serve: Serve
) -> None:
    server = await serve(page(gzip.compress(b"{}" * 1000)[:-9], "Content-Encoding: gzip"))
    with pytest.raises(SearchProviderError, match="ended too early") as raised:
        await send(client, get(server), soon(), "vendor")
    assert raised.value.retryable


@pytest.mark.parametrize(
    ("coding", "message"),
    [
        ("compress", "The reply of vendor is in a content coding that was not requested."),
        ("gzip", "The reply of vendor has invalid compressed data."),
    ],
)
async def test_a_reply_that_cannot_be_decompressed_is_a_parse_error(
    client: httpx2.AsyncClient, serve: Serve, coding: str, message: str
) -> None:
    server = await serve(page(b"this is not compressed", f"Content-Encoding: {coding}"))
    with pytest.raises(SearchProviderParseError) as raised:
        await send(client, get(server), soon(), "vendor")
    assert raised.value.message == message
    assert not raised.value.retryable


@pytest.mark.parametrize(
    "answer", [b"", b"not HTTP at all\r\n\r\n", page(b"x")[:-1]], ids=["nothing", "noise", "short"]
)
async def test_a_broken_exchange_is_retryable(
    client: httpx2.AsyncClient, serve: Serve, answer: bytes
) -> None:
    server = await serve(answer)
    with pytest.raises(SearchProviderError) as raised:
        await send(client, get(server), soon(), "vendor")
    assert raised.value.retryable


async def test_other_tasks_run_while_a_reply_arrives_in_thousands_of_pieces() -> None:
    class Crumbs(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for _ in range(5_000):
                yield b"a"

    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with create_client(
        httpx2.MockTransport(lambda _: httpx2.Response(200, stream=Crumbs()))
    ) as client:
        counting = asyncio.create_task(count())
        reply = await send(client, HttpRequest("GET", "http://v.example/"), soon(), "vendor")
        counting.cancel()
    assert len(reply.body) == 5_000
    assert turns >= 50


async def test_a_refused_connection_is_retryable_and_its_error_names_no_address(
    client: httpx2.AsyncClient,
) -> None:
    with pytest.raises(SearchProviderError) as raised:
        await send(client, HttpRequest("GET", "http://127.0.0.1:1/?key=secret"), soon(), "vendor")
    assert raised.value.retryable
    assert str(raised.value) == "vendor cannot be reached."


@pytest.mark.parametrize("url", ["not a url", "ftp://v.example/"])
async def test_an_invalid_address_is_not_retryable(client: httpx2.AsyncClient, url: str) -> None:
    with pytest.raises(SearchProviderError) as raised:
        await send(client, HttpRequest("GET", url), soon(), "vendor")
    assert not raised.value.retryable
    assert str(raised.value) == "The address of vendor in the settings is invalid; correct it."


async def test_a_redirect_is_not_followed(client: httpx2.AsyncClient, serve: Serve) -> None:
    server = await serve(page(b"", "Location: http://elsewhere.example/", status="302 Found"))
    assert (await send(client, get(server), soon(), "vendor")).status == 302
    assert len(server.requests) == 1


async def test_cookies_are_not_sent_back(client: httpx2.AsyncClient, serve: Serve) -> None:
    server = await serve(page(b"", "Set-Cookie: user=1; Path=/"))
    for _ in range(2):
        await send(client, get(server), soon(), "vendor")
    assert b"cookie" not in server.requests[1].lower()


async def test_proxies_of_the_environment_are_not_used(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    server = await serve(page(b"direct"))
    async with create_client() as client:
        assert (await send(client, get(server), soon(), "vendor")).body == b"direct"


async def test_no_url_reaches_a_log(
    client: httpx2.AsyncClient, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = await serve(page(b""))
    with caplog.at_level(logging.INFO):
        await send(client, get(server, params={"key": "a-secret-key"}), soon(), "vendor")
    assert "a-secret-key" not in caplog.text


async def test_cancelling_the_caller_closes_the_connection(
    client: httpx2.AsyncClient, serve: Serve
) -> None:
    asked = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()

    server = await serve(hang)
    task = asyncio.create_task(send(client, get(server), soon(), "vendor"))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(server.gone.wait(), PATIENCE)


async def test_a_hundred_calls_at_once_need_no_queue(
    client: httpx2.AsyncClient, serve: Serve
) -> None:
    arrived, all_there = 0, asyncio.Event()

    async def wait_for_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == 100:
            all_there.set()
        await all_there.wait()
        writer.write(page(b"at last"))
        await writer.drain()

    server = await serve(wait_for_all)
    replies = await asyncio.gather(
        *(send(client, get(server), soon(), "vendor") for _ in range(100))
    )
    assert {reply.body for reply in replies} == {b"at last"}
