"""MCP over stdin and stdout: one client, until it disconnects."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Self

from mcp.server import NotificationOptions
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from websearch_gateway.entrypoints.lifecycle import LazyGateway, exporting
from websearch_gateway.entrypoints.mcp.messages import Item, refusal_of_fault, refusal_of_request, repaired_item
from websearch_gateway.entrypoints.mcp.server import create_server
from websearch_gateway.settings.loading import Settings

_log = logging.getLogger(__name__)

INTERRUPTED = 130
"""The exit code of a process that Ctrl-C ended."""

TELLS_CHANGES = NotificationOptions(tools_changed=True)
"""For clients that stay connected."""


async def serve_stdio(settings: Settings, context: str) -> None:
    """Serve one client over stdin and stdout until it disconnects. `context` names that client in the log."""
    from mcp.server.stdio import stdio_server

    gateway = LazyGateway(settings, owns_process=True)
    server = create_server(gateway)
    _log.debug("serving %s over stdio", context)
    _leave_on_interrupt(gateway)
    try:
        async with exporting(settings), stdio_server() as (incoming, outgoing):
            options = server.create_initialization_options(TELLS_CHANGES)
            await server.run(SurrogateFixStream(incoming, outgoing), outgoing, options)
    finally:
        await gateway.close()


def _leave_on_interrupt(gateway: LazyGateway) -> None:
    """Close and exit on Ctrl-C: the SDK's reader waits for stdin in a thread that cannot be cancelled."""
    loop = asyncio.get_running_loop()
    closing: set[asyncio.Task[None]] = set()

    def leave() -> None:
        task = loop.create_task(gateway.close())
        task.add_done_callback(lambda _: os._exit(INTERRUPTED))
        closing.add(task)

    with suppress(NotImplementedError):  # on Windows, Ctrl-C ends the reader too
        loop.add_signal_handler(signal.SIGINT, leave)


class SurrogateFixStream:
    """The SDK's stream of messages. It repairs those with lone surrogates, and refuses requests that stay unreadable.

    The SDK drops a line that it cannot read, and its client waits for ever. A client in JavaScript that cuts a text in
    the middle of an emoji sends a lone surrogate (`"\\ud83d"`); other lines are broken, nested deeper than pydantic
    reads (about 200 levels), or break the rules of JSON-RPC.

    Args:
        stream: the messages of the client.
        replies: the SDK's stream to the client.
    """

    def __init__(self, stream: Any, replies: Any) -> None:
        self._stream = stream
        self._replies = replies

    async def receive(self) -> Item:
        """The next message."""
        return await self._next(self._stream.receive)

    async def aclose(self) -> None:
        """Close the underlying stream."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        return await self._next(self._stream.__anext__)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _next(self, receive: Callable[[], Awaitable[Item]]) -> Item:
        while True:
            item = repaired_item(await receive())
            if isinstance(item, SessionMessage):
                if (refusal := refusal_of_request(vars(item.message))) is None:
                    return item
                await self._replies.send(refusal)
                continue
            if isinstance(item, ValidationError) and (refusal := refusal_of_fault(item)):
                await self._replies.send(refusal)
            return item
