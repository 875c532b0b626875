"""The MCP server over stdio in the test's own process: all of it but the process and its start."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import CallToolResult, jsonrpc_message_adapter

from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.entrypoints.mcp.stdio import serve_pipe
from websearch_gateway.settings.loading import Settings

LONGEST_LINE = 2**26

Streams = tuple[Any, Any]


def structured(result: CallToolResult) -> dict[str, Any]:
    """The structured content of a call that may have failed."""
    assert result.structured_content is not None
    return result.structured_content


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Streams]:
    """The client's end of a pipe to a server with these settings, as the SDK's clients take it."""
    here, there = socket.socketpair()
    with (
        there,
        there.makefile("r", encoding="utf-8") as requests,
        there.makefile("w", encoding="utf-8") as replies,
    ):
        async with anyio.create_task_group() as tasks, _client(here) as streams:
            tasks.start_soon(
                _serve, settings, anyio.wrap_file(requests), anyio.wrap_file(replies), there
            )
            yield streams


async def _serve(settings: Settings, requests: Any, replies: Any, pipe: socket.socket) -> None:
    """As `serve_stdio` does, until the client closes its end."""
    gateway = LazyGateway(settings)
    try:
        await serve_pipe(gateway, requests.__aiter__(), replies)
    finally:
        await gateway.close()
        pipe.shutdown(socket.SHUT_WR)


@asynccontextmanager
async def _client(pipe: socket.socket) -> AsyncIterator[Streams]:
    reader, writer = await asyncio.open_connection(sock=pipe, limit=LONGEST_LINE)
    received, incoming = anyio.create_memory_object_stream[SessionMessage](0)
    outgoing, sent = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        with suppress(anyio.BrokenResourceError):  # the client has left
            async for line in reader:
                await received.send(
                    SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
                )
        received.close()

    async def write() -> None:
        async for message in sent:
            writer.write(
                message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            )
            await writer.drain()
        writer.write_eof()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            tasks.start_soon(write)
            yield incoming, outgoing
            await outgoing.aclose()
            await incoming.aclose()
    finally:
        for stream in (received, incoming, outgoing, sent):
            stream.close()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
