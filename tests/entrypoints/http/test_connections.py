"""What strangers can hold: idle connections, heads and bodies without an end, replies that nobody reads."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.clock import Clock
from tests.entrypoints.http.calls import bearer
from tests.entrypoints.http.conftest import SECRET, Door, served
from tests.patience import PATIENCE
from websearch_gateway.entrypoints.http.server import (
    HEAD_SECONDS,
    READ_BYTES,
    REPORT_SECONDS,
    REST_SECONDS,
    SEND_SECONDS,
    AcceptErrors,
    Connections,
    _network,
)
from websearch_gateway.models import LOCAL

LOCKED = {"auth_mode": "secret", "auth_secret": SECRET}


class Peer:
    """A client that sends and reads bytes as it likes."""

    def __init__(
        self, http: httpx2.AsyncClient, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._port = http.base_url.port
        self._reader = reader
        self.writer = writer

    async def send(self, text: str) -> None:
        self.writer.write(text.replace("\n", "\r\n").replace("PORT", str(self._port)).encode())
        await self.writer.drain()

    async def status(self) -> int:
        """The status of the next reply, whose body is read too."""
        head = (await asyncio.wait_for(self._reader.readuntil(b"\r\n\r\n"), PATIENCE)).decode()
        length = next(
            line for line in head.splitlines() if line.lower().startswith("content-length:")
        )
        await self._reader.readexactly(int(length.partition(":")[2]))
        return int(head.split(" ")[1])

    async def ask(self, path: str, *headers: str) -> int:
        """The status of the reply to a GET."""
        await self.send(
            "\n".join([f"GET {path} HTTP/1.1", "Host: 127.0.0.1:PORT", *headers, "", ""])
        )
        return await self.status()

    async def is_closed(self) -> bool:
        """Wait until the server has closed the connection."""
        try:
            return not await asyncio.wait_for(self._reader.read(1), PATIENCE)
        except ConnectionError:
            return True

    @property
    def is_open(self) -> bool:
        return not self._reader.at_eof() and self._reader.exception() is None


class Peers:
    """Opens connections to one server, and aborts them at the end."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http
        self.all: list[Peer] = []

    async def new(self, **options: Any) -> Peer:
        peer = Peer(
            self._http,
            *await asyncio.open_connection("127.0.0.1", self._http.base_url.port, **options),
        )
        self.all.append(peer)
        return peer


@asynccontextmanager
async def peers_of(http: httpx2.AsyncClient) -> AsyncIterator[Peers]:
    peers = Peers(http)
    try:
        yield peers
    finally:
        for peer in peers.all:
            peer.writer.transport.abort()


def token() -> str:
    return f"Authorization: {bearer(scope='ops')['Authorization']}"


async def test_the_stranger_who_came_first_makes_way_for_the_next_of_its_address(
    door: Door,
) -> None:
    connections = Connections(most=16)
    async with door(connections, **LOCKED) as http, peers_of(http) as peers:
        waiting = [await peers.new() for _ in range(10)]
        assert await waiting[-1].ask("/healthz") == 200
        for early in waiting[:6]:
            assert await early.is_closed()
        assert len(connections) == 4
        assert await waiting[6].ask("/healthz") == 200, "the others stay"


async def test_a_reply_without_a_token_does_not_make_a_client_known(door: Door) -> None:
    async with door(Connections(most=8), **LOCKED) as http, peers_of(http) as peers:
        early = await peers.new()
        for path, status in (("/healthz", 200), ("/readyz", 200), ("/mcp", 401), ("/nope", 401)):
            assert await early.ask(path) == status
        assert await early.ask("/metrics", "Authorization: Bearer invented") == 401
        for _ in range(2):
            late = await peers.new()
        assert await late.ask("/healthz") == 200
        assert await early.is_closed()


async def test_a_known_client_keeps_its_connection_and_its_address_counts_strangers_only(
    door: Door,
) -> None:
    connections = Connections(most=16)
    async with door(connections, **LOCKED) as http, peers_of(http) as peers:
        known = [await peers.new() for _ in range(4)]
        for one in known:
            assert await one.ask("/metrics", token()) == 200
        strangers = [await peers.new() for _ in range(8)]
        assert await strangers[-1].ask("/healthz") == 200
        assert len(connections) == 8
        for one in known:
            assert await one.ask("/healthz") == 200


async def test_without_authentication_every_call_makes_its_client_known(door: Door) -> None:
    async with door(Connections(most=8)) as http, peers_of(http) as peers:
        early = await peers.new()
        assert await early.ask("/metrics") == 200
        for _ in range(6):
            late = await peers.new()
        assert await late.ask("/healthz") == 200
        assert await early.ask("/healthz") == 200


async def test_the_known_client_idle_for_longest_makes_way_when_there_is_no_stranger(
    door: Door,
) -> None:
    connections = Connections(most=3)
    async with door(connections, **LOCKED) as http, peers_of(http) as peers:
        known = []
        for _ in range(3):
            known.append(await peers.new())
            assert await known[-1].ask("/metrics", token()) == 200
        first, second, _ = known
        assert await first.ask("/metrics", token()) == 200
        fourth = await peers.new()
        assert await fourth.ask("/metrics", token()) == 200
        assert await second.is_closed()
        assert await first.ask("/metrics", token()) == 200
        assert len(connections) == 3


async def test_a_call_of_a_known_caller_is_never_interrupted() -> None:
    arrived, released = asyncio.Event(), asyncio.Event()

    async def slow(request: Request) -> Response:
        request.scope["caller"] = LOCAL
        arrived.set()
        await released.wait()
        return Response("done")

    async with (
        served(Starlette(routes=[Route("/", slow)]), Connections(most=1)) as http,
        peers_of(http) as peers,
    ):
        calling = asyncio.create_task(http.get("/"))
        await arrived.wait()
        assert await (await peers.new()).is_closed()
        released.set()
        assert (await calling).text == "done"


async def test_a_head_that_is_not_complete_after_ten_seconds_is_not_waited_for(door: Door) -> None:
    clock = Clock()
    connections = Connections(clock=clock)
    async with door(connections) as http, peers_of(http) as peers:
        silent, begun, used = [await peers.new() for _ in range(3)]
        await begun.send("GET /healthz HTTP/1.1\nHost: 127")
        assert await used.ask("/healthz") == 200
        clock.now += HEAD_SECONDS / 2
        await begun.send(".0")
        await used.send("G")
        assert await (await peers.new()).ask("/healthz") == 200  # by now the others have been read
        clock.now += HEAD_SECONDS / 2 + 1
        await connections.sweep()
        for one in (silent, begun):
            assert await one.is_closed()
        await used.send("ET /healthz HTTP/1.1\nHost: 127.0.0.1:PORT\n\nG")
        assert await used.status() == 200
        clock.now += HEAD_SECONDS + 1
        await connections.sweep()
        assert used.is_open, "the keep-alive timer counts until more of the next head comes"
        await used.send("E")
        assert await (await peers.new()).ask("/healthz") == 200
        clock.now += HEAD_SECONDS + 1
        await connections.sweep()
        assert await used.is_closed()


async def test_an_idle_connection_whose_requests_are_complete_is_kept(door: Door) -> None:
    clock = Clock()
    connections = Connections(clock=clock)
    async with door(connections) as http, peers_of(http) as peers:
        one = await peers.new()
        for _ in range(3):
            assert await one.ask("/healthz") == 200
            clock.now += 60
            await connections.sweep()
        assert one.is_open


async def test_the_rest_of_a_refused_body_is_not_waited_for(door: Door) -> None:
    clock = Clock()
    connections = Connections(clock=clock)
    async with door(connections, **LOCKED) as http, peers_of(http) as peers:
        one = await peers.new()
        await one.send("POST /mcp HTTP/1.1\nHost: 127.0.0.1:PORT\nContent-Length: 99999999\n\n[")
        assert await one.status() == 401
        await one.send("[" * 10)
        assert await (await peers.new()).ask("/healthz") == 200
        clock.now += REST_SECONDS + 1
        await connections.sweep()
        assert await one.is_closed()


async def test_a_client_that_leaves_its_reply_unread_is_closed(door: Door) -> None:
    clock = Clock()
    connections = Connections(clock=clock)
    async with door(connections) as http, peers_of(http) as peers:
        one = await peers.new(limit=1_024)
        while not any(held.transport.get_write_buffer_size() for held in connections):
            await one.send("GET /openapi.json HTTP/1.1\nHost: 127.0.0.1:PORT\n\n")
            await asyncio.sleep(0)
        clock.now += SEND_SECONDS - 1
        await connections.sweep()
        assert len(connections) == 1
        clock.now += 2
        await connections.sweep()
        assert len(connections) == 0


async def test_of_a_body_no_more_is_held_than_the_app_asks_for() -> None:
    arrived, released = asyncio.Event(), asyncio.Event()

    async def slow(request: Request) -> Response:
        arrived.set()
        await released.wait()  # as for the keys of a token's issuer
        return Response(str(len(await request.body())))

    connections = Connections()
    app = Starlette(routes=[Route("/", slow, methods=["POST"])])
    async with served(app, connections) as http:
        calling = asyncio.create_task(http.post("/", content=b"[" * 1_000_000))
        await arrived.wait()
        (one,) = connections
        while not one.flow.read_paused:
            await http.get("/")  # a turn of the event loop
        assert len(one.cycle.body) <= 2 * READ_BYTES
        released.set()
        assert (await calling).text == "1000000"


def test_errors_of_accepting_are_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(AcceptErrors(clock))
    full = {
        "message": "socket.accept() out of system resource",
        "exception": OSError(24, "Too many open files"),
    }
    for _ in range(200):
        loop.call_exception_handler(full)
    assert [record.getMessage() for record in caplog.records] == [
        "Errors while accepting connections: 1, the last one: [Errno 24] Too many open files."
    ]
    clock.now += REPORT_SECONDS
    loop.call_exception_handler(full)
    assert "connections: 200, the last" in caplog.records[-1].getMessage()
    loop.call_exception_handler({"message": "Another mistake"})
    assert caplog.records[-1].getMessage().startswith("Another mistake")
    loop.close()


def test_the_addresses_of_one_client_are_one() -> None:
    same = ["2001:db8::1", "2001:db8:0:0:ffff::", "2001:db8::1%eth0"]
    assert len({_network(host) for host in same}) == 1
    others = ["2001:db8:0:1::1", "192.0.2.1", "192.0.2.2", "::1", "a name"]
    assert len({_network(host) for host in (*same, *others)}) == 1 + len(others)
    assert _network("::ffff:192.0.2.1") == "192.0.2.1"


FILES = """
import resource
from websearch_gateway.entrypoints.http.server import raise_file_limit
for limits in ((9_000, 9_000), (256, 9_000), (256, 1_000)):
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    print(raise_file_limit(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_the_soft_limit_of_files_is_raised_as_far_as_is_useful() -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 9_000:
        pytest.skip("this machine allows fewer files")
    done = subprocess.run([sys.executable, "-c", FILES], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["9000 9000", "8192 8192", "1000 1000"]
