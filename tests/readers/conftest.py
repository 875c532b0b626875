"""The reader of pages, as the gateway builds it, allowed to reach the sandbox only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest

from websearch_gateway.net.address import AddressGuard
from websearch_gateway.net.fetch import Fetcher
from websearch_gateway.readers import ReaderTable
from websearch_gateway.readers.extract import warm_up
from websearch_gateway.readers.workers import Workers
from websearch_gateway.sandbox import Sandbox


@pytest.fixture
async def reader(sandbox: Sandbox) -> AsyncIterator[ReaderTable]:
    async with Fetcher(AddressGuard([urlsplit(sandbox.url).netloc])) as fetcher, Workers(warm_up=warm_up) as workers:
        yield ReaderTable.build(fetcher, workers)


@dataclass
class Api:
    """A loopback server that plays an API: each path with its query has one reply, any other is not found."""

    port: int = 0
    replies: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)

    @property
    def pair(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.pair}"

    def says(self, path: str, body: bytes, status: int = 200, **headers: str) -> None:
        self.replies[path] = (status, {name.replace("_", "-"): value for name, value in headers.items()}, body)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split(" ")[1]
        self.seen.append(path)
        self.heads.append(head.lower())
        status, headers, body = self.replies.get(path, (404, {}, b""))
        lines = [f"HTTP/1.1 {status} So", f"content-length: {len(body)}", *(f"{n}: {v}" for n, v in headers.items())]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()
        writer.close()


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    api = Api()
    server = await asyncio.start_server(api.serve, "127.0.0.1", 0)
    api.port = server.sockets[0].getsockname()[1]
    async with server:
        yield api
