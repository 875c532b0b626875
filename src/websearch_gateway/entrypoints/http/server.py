"""Runs the HTTP server on a socket of its own, and bounds what strangers can hold: connections in all and per address,
and the time of each wait for a client.

A connection belongs to a stranger until one of its requests has proved its caller. When there is no room, the stranger
who came first makes way, then the known client that has been idle for longest; a request of a known caller is never
interrupted. So somebody who holds hundreds of connections disturbs nobody, and a proxy, whose clients all have its
address, is limited only by the number of connections in all.
"""

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
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from websearch_gateway.entrypoints.http.app import create_app
from websearch_gateway.entrypoints.lifecycle import LazyGateway, exporting
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings.loading import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp


KEEP_ALIVE_SECONDS = 65
"""Longer than the minute after which most proxies drop an idle connection, so that we never close first."""
MAX_HEADER_BYTES = 32_768
"""Of a request's headers, of which a token is the longest."""
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
            _log.info(
                "The REST API is described at http://%s:%s/openapi.json; / is the status page",
                *place,
            )
            if settings.playground == "on":
                _log.info("Ask by hand at http://%s:%s/play", *place)
            asyncio.get_running_loop().set_exception_handler(AcceptErrors())
            connections = Connections(min(MOST_CONNECTIONS, raise_file_limit() // 2))
            server = uvicorn.Server(
                uvicorn_config(app, connections, settings.search_deadline_seconds)
            )
            end_by_force(server, settings.search_deadline_seconds + CLOSE_SECONDS)
            await server.serve([listener])


def uvicorn_config(app: ASGIApp, connections: Connections, search_seconds: float) -> uvicorn.Config:
    """How uvicorn serves `app`. Calls in flight have `search_seconds` to finish when it stops."""
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


def end_by_force(server: uvicorn.Server, seconds: float) -> None:
    """End the process this long after the first stop signal, even if a thread or the loop hangs."""
    handle_exit = server.handle_exit

    def handle(sig: int, frame: FrameType | None) -> None:
        timer = threading.Timer(seconds, os._exit, (0,))
        timer.daemon = True
        timer.start()
        if hasattr(signal, "alarm"):
            # The kernel's timer, in case no Python thread runs.
            signal.alarm(math.ceil(seconds) + 1)
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


MOST_CONNECTIONS = 2_048
ADDRESS_SHARE = 4
"""The strangers of one address have at most this part of all connections: a quarter."""
WANTED_FILES = 4 * MOST_CONNECTIONS
"""The soft limit of open files to ask for: half for connections, half for everything else."""

HEAD_SECONDS = 10.0
"""The most time between the first byte of a request (for the first one, the connection) and the end of its head
(seconds)."""
REST_SECONDS = 1.0
"""How long the rest of a body is read after its reply (seconds): a client that still sends should see the reply."""
SEND_SECONDS = 60.0
"""The most time that a client may leave a part of a reply unread (seconds)."""
MOST_JOINED_BYTES = 16_384
"""The most bytes of a reply that wait for its next part, so that both are sent at once. Most replies are shorter."""
READ_BYTES = 8_192
"""The most bytes to take from a socket at once. Of a body that the app has not asked for, twice as much may wait."""

REPORT_SECONDS = 60.0
"""Events that strangers can cause at any rate are logged at most once in this time (seconds)."""


def raise_file_limit() -> int:
    """Raise the soft limit of open files as far as it is useful and allowed. Returns the limit in force."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return WANTED_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    useful = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= useful:
        return WANTED_FILES if soft == resource.RLIM_INFINITY else soft
    with suppress(ValueError, OSError):  # a system may refuse what its limits seem to allow
        resource.setrlimit(resource.RLIMIT_NOFILE, (useful, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


class Connections:
    """All open connections of a server; `Connection` asks it for room.

    Args:
        most: how many connections there may be.
        clock: monotonic seconds.
    """

    def __init__(
        self, most: int = MOST_CONNECTIONS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.clock = clock
        self.buffer = memoryview(bytearray(READ_BYTES))
        """Where sockets are read to; a connection copies what it got before any other reads."""
        self._most = max(1, most)
        self._most_of_address = max(1, most // ADDRESS_SHARE)
        self._strangers: dict[Connection, None] = {}  # in the order in which they came
        self._strangers_of: dict[str, dict[Connection, None]] = {}
        self._known: dict[Connection, None] = {}  # in the order of their last replies
        self._dropped = _Counted("Connections closed to make room for others", clock)

    def __len__(self) -> int:
        return len(self._strangers) + len(self._known)

    def __iter__(self) -> Iterator[Connection]:
        return iter((*self._strangers, *self._known))

    def admit(self, new: Connection) -> None:
        """Take a new connection. If there is no room, another one is closed, or this one if all others are at work."""
        of_address = self._strangers_of.get(new.address, {})
        if len(of_address) >= self._most_of_address and (first := self._first_stranger(of_address)):
            self._drop(first)
        if len(self) >= self._most:
            self._drop(self._first_stranger(self._strangers) or self._first_idle() or new)
        if not new.transport.is_closing():
            self._strangers[new] = None
            self._strangers_of.setdefault(new.address, {})[new] = None

    def replied(self, connection: Connection) -> None:
        """Note the end of a reply."""
        if connection in self._known or (connection in self._strangers and connection.is_known):
            self.forget(connection)
            self._known[connection] = None

    def forget(self, connection: Connection) -> None:
        """Remove a connection that is closed."""
        self._known.pop(connection, None)
        if connection in self._strangers:
            del self._strangers[connection]
            del self._strangers_of[connection.address][connection]
            if not self._strangers_of[connection.address]:
                del self._strangers_of[connection.address]

    async def sweep(self) -> None:
        """Close the connections whose clients have kept us waiting for too long. To be called every second."""
        now = self.clock()
        for connection in self:
            if connection.is_overdue(now):
                self.forget(connection)
                connection.transport.abort()
        self._dropped.report()

    def _first_stranger(self, some: dict[Connection, None]) -> Connection | None:
        """The one that came first. Those that have meanwhile proved their caller become known."""
        while (first := next(iter(some), None)) is not None and first.is_known:
            self.replied(first)
        return first

    def _first_idle(self) -> Connection | None:
        return next((connection for connection in self._known if not connection.is_busy), None)

    def _drop(self, connection: Connection) -> None:
        self.forget(connection)
        connection.transport.abort()
        self._dropped.add()


class Connection(H11Protocol, asyncio.BufferedProtocol):
    """One connection: uvicorn's protocol, which by itself waits for ever for a head and for a client that reads."""

    def __init__(self, connections: Connections, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._connections = connections
        self._waiting_since: float | None = connections.clock()
        self._sent_at = connections.clock()
        self.address = ""

    @property
    def is_busy(self) -> bool:
        """Whether a request is under way."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def is_known(self) -> bool:
        """Whether the caller of the current or the last request is known."""
        return self.scope is not None and "caller" in self.scope

    def is_overdue(self, now: float) -> bool:
        """Whether the client has kept us waiting for too long."""
        if self.transport.get_write_buffer_size() == 0:
            self._sent_at = now
        waited = 0.0 if self._waiting_since is None else now - self._waiting_since
        most = REST_SECONDS if self.conn.their_state is h11.SEND_BODY else HEAD_SECONDS
        return waited > most or now - self._sent_at > SEND_SECONDS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(JoinedWrites(transport))  # type: ignore[arg-type]  # it is one but for its base
        self.address = _network(self.client[0]) if self.client else ""
        self._connections.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.forget(self)
        super().connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._connections.buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(self._connections.buffer[:nbytes]))

    def data_received(self, data: bytes) -> None:
        if self._waiting_since is None and not self.is_busy:
            self._waiting_since = self._connections.clock()
        super().data_received(data)
        if self.is_busy or (self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]):
            self._waiting_since = None
        if self.is_busy and len(self.cycle.body) > READ_BYTES:
            self.flow.pause_reading()  # until the app asks for more

    def on_response_complete(self) -> None:
        self._connections.replied(self)
        super().on_response_complete()


class JoinedWrites:
    """A transport that sends what one turn of the event loop writes at once. uvicorn writes the head of a reply and its
    body apart: two system calls and two packets, each of which wakes the client.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._waiting = bytearray()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send `data` with what the turn writes after it; much of it at once, since the transport bounds what waits."""
        if not self._waiting:
            self._loop.call_soon(self._send)
        self._waiting += data
        if len(self._waiting) > MOST_JOINED_BYTES:
            self._send()

    def close(self) -> None:
        """Send what waits, then close."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, bytearray()
        if waiting:
            self._transport.write(waiting)


class AcceptErrors:
    """The exception handler of an event loop: it reports that no connection can be accepted once a minute, since
    asyncio tries again, and fails, up to a hundred times a second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._failed = _Counted("Errors while accepting connections", clock)

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle what no task has caught."""
        error = context.get("exception")
        if isinstance(error, OSError) and "accept" in context["message"].lower():
            self._failed.add(f", the last one: {error}")
            self._failed.report()
        else:
            loop.default_exception_handler(context)


class _Counted:
    """Counts events, and logs their number at most once a minute."""

    def __init__(self, what: str, clock: Callable[[], float]) -> None:
        self._what = what
        self._clock = clock
        self._count = 0
        self._last = ""
        self._reported_at = float("-inf")

    def add(self, about: str = "") -> None:
        self._count += 1
        self._last = about

    def report(self) -> None:
        now = self._clock()
        if self._count and now - self._reported_at >= REPORT_SECONDS:
            _log.warning("%s: %d%s.", self._what, self._count, self._last)
            self._count = 0
            self._reported_at = now


def _network(host: str) -> str:
    """The addresses that one client may have: of IPv6 all with the same first 64 bits."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    return str(address.ipv4_mapped or ipaddress.IPv6Address(int(address) >> 64 << 64))
