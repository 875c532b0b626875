"""MCP over stdin and stdout: one client, until it disconnects."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from io import TextIOWrapper
from typing import Any, BinaryIO, Self

import anyio
import anyio.to_thread
from mcp.server import NotificationOptions
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from websearch_gateway.entrypoints.lifecycle import LazyGateway, exporting
from websearch_gateway.entrypoints.mcp.messages import (
    Item,
    refusal_of_fault,
    refusal_of_id,
    refusal_of_request,
    repaired_item,
)
from websearch_gateway.entrypoints.mcp.server import create_server
from websearch_gateway.settings.loading import Settings

_log = logging.getLogger(__name__)

INTERRUPTED = 130
"""The exit code of a process that Ctrl-C ended."""

TELLS_CHANGES = NotificationOptions(tools_changed=True)
"""For clients that stay connected."""

BYTE_ORDER_MARK = "\ufeff"


async def serve_stdio(settings: Settings, context: str) -> None:
    """Serve one client over stdin and stdout until it disconnects. `context` names that client in the log."""
    gateway = LazyGateway(settings, owns_process=True)
    _log.debug("serving %s over stdio", context)
    _leave_on_interrupt(gateway)
    is_heard = True
    try:
        async with exporting(settings):
            is_heard = await serve_pipe(gateway, _lines_of(_stdin_for_us_alone()))
    finally:
        await gateway.close()
    if not is_heard:
        os._exit(0)  # stdin may be open yet, and a thread that cannot be cancelled waits for it


async def serve_pipe(
    gateway: LazyGateway, requests: AsyncIterator[str], replies: Any = None
) -> bool:
    """Serve the client that writes these lines until they end. Whether it read all replies: it may have gone before.

    Args:
        replies: where to write; stdout if None.
    """
    from mcp.server.stdio import stdio_server

    server = create_server(gateway)
    lines = ClientLines(requests)
    is_heard = True
    try:
        async with stdio_server(lines, replies) as (incoming, outgoing):  # type: ignore[arg-type]  # it iterates only
            to_client = Replies(outgoing, lines)
            lines.refuse = to_client.send
            options = server.create_initialization_options(TELLS_CHANGES)
            await server.run(SurrogateFixStream(incoming, to_client), to_client, options)
    except* (BrokenPipeError, ConnectionResetError):
        is_heard = False
    return is_heard


def _stdin_for_us_alone() -> BinaryIO:
    """The client's pipe. File descriptor 0 becomes the null device, so that no child process can read from the pipe.

    The SDK does the same for a stdin that it opens itself.
    """
    try:
        pipe = os.dup(0)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
    except OSError:  # it is closed, or no descriptor is left
        return sys.stdin.buffer
    # A thread may still read from it when this process ends.
    return os.fdopen(pipe, "rb", closefd=False)


async def _lines_of(pipe: BinaryIO) -> AsyncIterator[str]:
    """The lines of a pipe as text; what is no UTF-8 in them is U+FFFD. A cancelled reader leaves its thread behind."""
    text = TextIOWrapper(pipe, encoding="utf-8", errors="replace")
    while line := await anyio.to_thread.run_sync(text.readline, abandon_on_cancel=True):
        yield line


class ClientLines:
    """The lines of a client, for the SDK: without a byte order mark, which some clients on Windows write first, and
    without requests whose id the SDK cannot keep, which it would take for notifications and never answer.

    Attributes:
        refuse: takes the refusals of such requests. To be set before the first line is read.
        have_ended: whether the client has closed its end.
    """

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines
        self.refuse: Callable[[SessionMessage], Awaitable[None]]
        self.have_ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        try:
            while True:
                line = (await anext(self._lines)).lstrip(BYTE_ORDER_MARK)
                refusal = refusal_of_id(line)
                if refusal is None:
                    return line
                await self.refuse(refusal)
        except StopAsyncIteration:
            self.have_ended = True
            raise


class Replies:
    """The SDK's stream to the client, which ends when the client closes its own.

    The SDK would answer all calls under way then, but a client that has closed stdin no longer reads: that of mcp 1.x
    raises an ExceptionGroup.
    """

    def __init__(self, stream: Any, lines: ClientLines) -> None:
        self._stream = stream
        self._lines = lines

    async def send(self, message: SessionMessage) -> None:
        """Write a message, if the client still reads."""
        if not self._lines.have_ended:
            await self._stream.send(message)

    async def aclose(self) -> None:
        """Close the underlying stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _leave_on_interrupt(gateway: LazyGateway) -> None:
    """Close and exit on Ctrl-C: a thread that cannot be cancelled waits for stdin."""
    loop = asyncio.get_running_loop()
    closing: set[asyncio.Task[None]] = set()

    def leave() -> None:
        task = loop.create_task(gateway.close())
        task.add_done_callback(lambda _: os._exit(INTERRUPTED))
        closing.add(task)

    with suppress(NotImplementedError):  # on Windows, Ctrl-C ends the reader too
        loop.add_signal_handler(signal.SIGINT, leave)


class SurrogateFixStream:
    """The SDK's stream of messages. It makes those with lone surrogates readable, and refuses what stays unreadable.

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
