"""Servers on loopback for tests. They leave nothing open when they end."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Serves one connection, which is closed when it returns."""

TURNS = 3
"""Turns of the loop from the accept of a connection to its handler."""


@asynccontextmanager
async def serving(handle: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve on a free port, and yield the port. The end of the block ends every connection.

    asyncio (3.11) leaves a connection open when its handler is cancelled, or when its listener closes in the turns
    between accept and handler; a garbage collection in a later test then reports it there.
    """
    open_ones: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}
    ended = False

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            # The client went away.
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await handle(reader, writer)
        finally:
            writer.close()

    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if ended:
            writer.transport.abort()
        else:
            open_ones[writer] = asyncio.create_task(serve(reader, writer))

    listener = await asyncio.start_server(accepted, "127.0.0.1", 0, ssl=tls)
    async with listener:
        try:
            yield listener.sockets[0].getsockname()[1]
        finally:
            ended = True
            for accepting in listener.sockets:
                asyncio.get_running_loop().remove_reader(accepting.fileno())
            for _ in range(TURNS):
                await asyncio.sleep(0)
            listener.close()
            for writer, task in open_ones.items():
                task.cancel()
                writer.transport.abort()
            ends = await asyncio.gather(*open_ones.values(), return_exceptions=True)
            for writer in open_ones:
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
        for end in ends:
            if isinstance(end, Exception):
                raise end
