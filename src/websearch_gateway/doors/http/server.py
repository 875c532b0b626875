"""The HTTP door on a socket of its own."""

from __future__ import annotations

import ipaddress
import logging
import math
import signal
import socket
import sys
from contextlib import suppress

from websearch_gateway.doors.exporting import exporting
from websearch_gateway.doors.http.app import create_app
from websearch_gateway.doors.lazy import LazyGateway
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings import Settings

KEEP_ALIVE_SECONDS = 65
"""Longer than the minute after which most proxies drop an idle connection, so that it is never us who hang up first."""
MAX_HEADER_BYTES = 32_768
BACKLOG = 2_048

_log = logging.getLogger(__name__)


async def serve_http(settings: Settings, host: str, port: int, *, insecure: bool = False) -> None:
    """Serve until SIGTERM or Ctrl-C; calls in flight then get the time of one search to finish.

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
            await uvicorn.Server(config).serve([listener])


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
