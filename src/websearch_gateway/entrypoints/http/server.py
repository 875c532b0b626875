"""Runs the HTTP server on a socket of its own."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

from websearch_gateway.entrypoints.exporting import exporting
from websearch_gateway.entrypoints.http.app import create_app
from websearch_gateway.entrypoints.lazy import LazyGateway
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings import Settings

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from websearch_gateway.entrypoints.http.connections import Connections

KEEP_ALIVE_SECONDS = 65
"""Longer than the minute after which most proxies drop an idle connection, so that we never close first."""
MAX_HEADER_BYTES = 32_768
BACKLOG = 128
"""Connections that wait to be accepted; asyncio also accepts at most this many before it does anything else."""
CLOSE_SECONDS = 5.0
"""The time for closing after calls in flight have ended (seconds); then the process kills all running work."""

_log = logging.getLogger(__name__)


async def serve_http(settings: Settings, host: str, port: int, *, insecure: bool = False) -> None:
    """Serve until SIGTERM or Ctrl-C; calls in flight then get the time of one search to finish, and closing 5 s more.

    SIGTERM ends the process with exit code 0.

    Args:
        port: 0 for any free one; the log says which.
        insecure: serve other machines without authentication.

    Raises:
        SearchNotConfiguredError: the settings are unusable or unsafe, or the address cannot be bound.
    """
    import uvicorn

    from websearch_gateway.entrypoints.http.connections import (
        MOST_CONNECTIONS,
        AcceptErrors,
        Connections,
        raise_file_limit,
    )

    if settings.auth_mode == "none" and not insecure and not _is_loopback(host):
        raise SearchNotConfiguredError(
            f"Without authentication the server serves this machine only: {host} needs AUTH_MODE or --insecure."
        )
    with suppress(ValueError):  # only the main thread hears signals
        # uvicorn lets calls finish first, then passes the signal to the previous handler.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    gateway = LazyGateway(settings.over_http(), owns_process=True)
    await gateway.get()  # report bad settings before anything listens
    app = create_app(settings, gateway)
    async with exporting(settings):
        with listening(host, port) as listener:
            place = (f"[{host}]" if ":" in host else host, listener.getsockname()[1])
            _log.info("Serving MCP at http://%s:%s/mcp", *place)
            _log.info("The REST API is described at http://%s:%s/docs; / is the status page", *place)
            if settings.playground == "on":
                _log.info("A person asks at http://%s:%s/play", *place)
            asyncio.get_running_loop().set_exception_handler(AcceptErrors())
            connections = Connections(min(MOST_CONNECTIONS, raise_file_limit() // 2))
            server = uvicorn.Server(uvicorn_config(app, connections, settings.search_deadline_seconds))
            _end_by_force(server, settings.search_deadline_seconds + CLOSE_SECONDS)
            await server.serve([listener])


def uvicorn_config(app: ASGIApp, connections: Connections, search_seconds: float) -> uvicorn.Config:
    """How uvicorn serves `app`. Calls in flight have `search_seconds` to finish when it stops."""
    import uvicorn

    from websearch_gateway.entrypoints.http.connections import Connection

    return uvicorn.Config(
        app,
        # h11: httptools leaves white space at the end of header values
        http=partial(Connection, connections),  # type: ignore[arg-type]  # called like the class
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=math.ceil(search_seconds),
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        callback_notify=connections.sweep,
        timeout_notify=0,  # whenever uvicorn looks, which is once a second
    )


def _end_by_force(server: uvicorn.Server, seconds: float) -> None:
    """End the process this long after the first stop signal, even if a thread or the loop hangs."""
    handle_exit = server.handle_exit

    def handle(sig: int, frame: FrameType | None) -> None:
        timer = threading.Timer(seconds, os._exit, (0,))
        timer.daemon = True
        timer.start()
        if hasattr(signal, "alarm"):
            signal.alarm(math.ceil(seconds) + 1)  # the kernel's timer, in case no Python thread runs
        handle_exit(sig, frame)

    server.handle_exit = handle  # type: ignore[method-assign]


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listening(host: str, port: int) -> socket.socket:
    """A socket that waits for connections.

    Raises:
        SearchNotConfiguredError: the address is taken, or does not belong to this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only if the protocol is named; it costs 40 ms per reply.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise SearchNotConfiguredError(
            f"The server cannot listen on {host}:{port}: {str(error).rstrip('.')}."
        ) from None
    return listener
