"""Runs the HTTP server on a socket of its own."""

from __future__ import annotations

import ipaddress
import logging
import math
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

from websearch_gateway.entrypoints.exporting import exporting
from websearch_gateway.entrypoints.http.app import create_app
from websearch_gateway.entrypoints.lazy import LazyGateway
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings import Settings

if TYPE_CHECKING:
    import uvicorn

KEEP_ALIVE_SECONDS = 65
"""Longer than the minute after which most proxies drop an idle connection, so that it is never us who hang up first."""
MAX_HEADER_BYTES = 32_768
BACKLOG = 2_048
CLOSE_SECONDS = 5.0
"""What closing may take after calls in flight had their time; then the process ends whatever still runs."""

_log = logging.getLogger(__name__)


async def serve_http(settings: Settings, host: str, port: int, *, insecure: bool = False) -> None:
    """Serve until SIGTERM or Ctrl-C; calls in flight then get the time of one search to finish, and closing 5 s more.

    SIGTERM ends the process with exit code 0.

    Args:
        port: 0 for any free one; the log tells which.
        insecure: serve other machines without authentication.

    Raises:
        SearchNotConfiguredError: the settings are unusable or unsafe, or the address cannot be bound.
    """
    import uvicorn

    if settings.auth_mode == "none" and not insecure and not _is_loopback(host):
        raise SearchNotConfiguredError(
            f"Without authentication only this machine is served: {host} needs AUTH_MODE, or --insecure."
        )
    with suppress(ValueError):  # only the main thread hears signals
        # uvicorn lets calls finish first, and then hands the signal on to whoever was there before.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    gateway = LazyGateway(settings, owns_process=True)
    await gateway.get()  # a mistake in the settings is told before anything listens
    config = uvicorn.Config(
        create_app(settings, gateway),
        http="h11",  # httptools leaves white space at the end of header values
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=math.ceil(settings.search_deadline_seconds),
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )
    async with exporting(settings):
        with listening(host, port) as listener:
            _log.info("Serving MCP at http://%s:%s/mcp", host, listener.getsockname()[1])
            server = uvicorn.Server(config)
            _end_by_force(server, settings.search_deadline_seconds + CLOSE_SECONDS)
            await server.serve([listener])


def _end_by_force(server: uvicorn.Server, seconds: float) -> None:
    """Have the process end so long after the first signal to stop, also if a thread or the loop never comes back."""
    handle_exit = server.handle_exit

    def handle(sig: int, frame: FrameType | None) -> None:
        timer = threading.Timer(seconds, os._exit, (0,))
        timer.daemon = True
        timer.start()
        if hasattr(signal, "alarm"):
            signal.alarm(math.ceil(seconds) + 1)  # the kernel's own, should no thread of Python's get its turn
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
        SearchNotConfiguredError: the address is taken, or none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only where the protocol is named does asyncio switch Nagle's algorithm off, which costs 40 ms per reply.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise SearchNotConfiguredError(f"{host}:{port} cannot be served: {str(error).rstrip('.')}.") from None
    return listener
