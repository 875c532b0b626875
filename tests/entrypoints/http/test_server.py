"""`websearch-gateway serve --http` as an operator meets it: a real process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from tests.entrypoints.command import run
from tests.entrypoints.http.calls import QUESTION, call, post, search
from tests.entrypoints.http.conftest import SECRET
from tests.loopback import serving
from tests.patience import PATIENCE, PATIENT_PROCESS
from websearch_gateway.entrypoints.http.server import JoinedWrites, listening
from websearch_gateway.sandbox import Sandbox

PROGRAM = (sys.executable, "-m", "websearch_gateway")
AUTH = {"AUTH_MODE": "secret", "AUTH_SECRET": SECRET}

Served = tuple[asyncio.subprocess.Process, httpx2.AsyncClient]
Serve = Callable[..., AbstractAsyncContextManager[Served]]


@pytest.fixture
def environment(sandbox: Sandbox, tmp_path: Path) -> dict[str, str]:
    return {**os.environ, **PATIENT_PROCESS, **sandbox.environment(), "DATA_DIR": str(tmp_path)}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "stderr.log"


def lines(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.fixture
def serve(environment: dict[str, str], log: Path) -> Serve:
    """A function that starts the server with the given settings; gives its process, and a client of its address."""

    @asynccontextmanager
    async def start(*options: str, **settings: str) -> AsyncIterator[Served]:
        command = [*PROGRAM, "serve", "--http", "--port", "0", *options]
        with log.open("wb") as stderr:
            process = await asyncio.create_subprocess_exec(
                *command, env={**environment, **settings}, stderr=stderr
            )
        try:
            address = await asyncio.to_thread(address_in, log, process.pid)
            async with httpx2.AsyncClient(base_url=address, timeout=PATIENCE) as http:
                yield process, http
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()

    return start


def address_in(log: Path, server: int) -> str:
    """The address that the server, a process, logs once it listens."""
    command = ["tail", "-n", "+1", "-F", f"--pid={server}", log]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as follower:
        assert follower.stdout is not None
        for line in follower.stdout:
            event = str(json.loads(line)["event"])
            if event.startswith("Serving MCP at "):
                follower.terminate()
                return (
                    event.removeprefix("Serving MCP at ")
                    .removesuffix("/mcp")
                    .replace("0.0.0.0", "127.0.0.1")
                )
    raise AssertionError("the log ended")


def refused(environment: dict[str, str], *arguments: str, **settings: str) -> str:
    """What is told by a command that must fail with one line."""
    done = run({**environment, **settings}, *arguments)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


def test_without_authentication_other_machines_are_not_served(environment: dict[str, str]) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.com"):
        assert "--insecure" in refused(environment, "serve", "--http", "--host", host)


def test_a_weak_secret_does_not_start(environment: dict[str, str]) -> None:
    told = refused(environment, "serve", "--http", AUTH_MODE="secret", AUTH_SECRET="weak-secret")
    assert "AUTH_SECRET" in told
    assert "weak-secret" not in told


def test_a_mistake_in_the_settings_is_told_before_anything_listens(
    environment: dict[str, str],
) -> None:
    assert "nope" in refused(environment, "serve", "--http", SEARCH_PROVIDERS="nope")


def test_a_port_that_is_taken_is_told(environment: dict[str, str]) -> None:
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert f"127.0.0.1:{port}" in refused(environment, "serve", "--http", "--port", str(port))


def test_a_port_that_cannot_be_is_told_in_one_sentence(environment: dict[str, str]) -> None:
    assert refused(environment, "serve", "--http", "--port", "99999").endswith("must be 0-65535.\n")


async def test_a_reply_is_sent_at_once() -> None:
    """Nagle's algorithm would hold its second half back until the client has acknowledged the first, 40 ms later."""
    delay: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted_socket = writer.get_extra_info("socket")
        delay.set_result(accepted_socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with listening("127.0.0.1", 0) as listener:
        async with await asyncio.start_server(accepted, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            assert await delay != 0
            writer.close()
            await writer.wait_closed()


class Written(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview[int]) -> None:
        self.parts.append(bytes(data))

    def close(self) -> None:
        self.parts.append(b"closed")


async def test_the_head_and_the_body_of_a_reply_are_sent_together() -> None:
    transport = Written()
    writes = JoinedWrites(transport)
    for data in (b"head ", b"body", b""):
        writes.write(data)
    assert transport.parts == []
    await asyncio.sleep(0)
    writes.write(b"next")
    await asyncio.sleep(0)
    assert transport.parts == [b"head body", b"next"]


@pytest.mark.parametrize(("size", "sent"), [(16_384, 0), (16_385, 16_385)])
async def test_up_to_16384_bytes_wait_for_the_rest_of_their_turn(size: int, sent: int) -> None:
    transport = Written()
    JoinedWrites(transport).write(b"x" * size)
    assert len(b"".join(transport.parts)) == sent


@pytest.mark.parametrize("size", [100, 16_384, 163_840])
async def test_no_more_than_a_short_reply_waits_for_its_end(size: int) -> None:
    transport = Written()
    writes = JoinedWrites(transport)
    for number in range(1, 6):
        writes.write(b"x" * size)
        waiting = number * size - len(b"".join(transport.parts))
        assert waiting <= 16_384
    await asyncio.sleep(0)
    assert len(b"".join(transport.parts)) == 5 * size


async def test_what_waits_is_sent_before_the_connection_closes() -> None:
    transport = Written()
    writes = JoinedWrites(transport)
    writes.write(b"reply")
    writes.close()
    assert transport.parts == [b"reply", b"closed"]


async def test_a_minted_token_opens_the_door(serve: Serve, environment: dict[str, str]) -> None:
    told = run(
        {**environment, **AUTH},
        "token",
        "mint",
        "--user",
        "alice",
        "--scope",
        "search",
        "--ttl",
        "60",
        "--json",
    )
    minted = json.loads(told.stdout)
    assert minted["expiresInSeconds"] == 60
    async with serve(**AUTH) as (_, http):
        assert (await post(http, call("tools/list"))).status_code == 401
        assert (
            await post(http, call("tools/list"), Authorization=f"Bearer {minted['token']}")
        ).status_code == 200


def test_only_the_holder_of_the_secret_can_mint(environment: dict[str, str]) -> None:
    assert "AUTH_MODE" in refused(environment, "token", "mint")


async def test_the_log_of_an_insecure_server_tells_who_did_what_and_never_what_was_asked(
    serve: Serve, log: Path
) -> None:
    async with serve("--host", "0.0.0.0", "--insecure", LOG_LEVEL="DEBUG") as (_, http):
        assert (await http.get("/healthz", headers={"Host": "evil.example"})).status_code == 421
        await post(http, search())
        await http.post("/v1/search?q=secretplace", json={"query": QUESTION})
        await http.get("/secretplace")
        await http.get("/healthz")
    events = [line for line in lines(log) if line["event"] == "http"]
    assert [(e["method"], e["route"], e["status"]) for e in events] == [
        ("(any)", "(none)", 421),
        ("POST", "/mcp", 200),
        ("POST", "/v1/search", 200),
        ("(any)", "(none)", 404),
        ("GET", "/healthz", 200),
    ]
    assert events[1]["user"] == events[2]["user"]
    assert all(isinstance(event["ms"], float) for event in events)
    assert [event["level"] for event in events] == ["info", "info", "info", "info", "debug"]
    assert "Eiffel" not in log.read_text()
    assert "secretplace" not in log.read_text()


async def test_calls_in_flight_are_answered_before_the_server_ends(
    serve: Serve, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "delay", seconds=1)
    asked = {"2025-11-25": QUESTION, "2026-07-28": "Which river runs through Paris?"}
    async with serve() as (process, http):
        calling = [
            asyncio.create_task(post(http, search(text, version)))
            for version, text in asked.items()
        ]
        await sandbox.wait_for("openai", calls=2)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)  # who is in a hurry changes nothing
        replies = await asyncio.gather(*calling)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    assert all(reply.json()["result"]["structuredContent"]["citations"] for reply in replies)


async def test_a_call_that_does_not_end_is_given_up_after_the_time_of_one_search(
    serve: Serve, sandbox: Sandbox, log: Path
) -> None:
    async with serve(SEARCH_DEADLINE_SECONDS="10") as (process, http):
        # Imports would take their time from the call.
        await post(http, search("Which river runs through Paris?"))
        asked = sandbox.calls("openai")
        sandbox.fault("", "hang")
        calling = asyncio.create_task(post(http, search()))
        await sandbox.wait_for("openai", calls=asked + 1)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
        await asyncio.gather(calling, return_exceptions=True)
    assert "Traceback" not in log.read_text()


HOSTILE = {
    "/images.txt": ("text/plain", b"![" * 1_000_000),
    "/links.txt": ("text/plain", b"[" * 400_000 + b"](a)" * 400_000),
    "/deep": ("text/html", b"<article>" + b"<h2>" * 2_000 + b"<a href=x>b</a>" * 65_000),
    "/numbers.json": ("application/json", b"[" + b"1," * 1_000_000 + b"1]"),
}
MOST_GROWTH = 60e6
"""The most bytes by which hostile pages may make the main process grow."""


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the memory of another process is read there"
)
async def test_hostile_pages_leave_the_server_answering_small_and_stoppable(
    serve: Serve, log: Path
) -> None:
    asked = asyncio.Semaphore(0)

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).decode().split(" ")[1]
        kind, body = HOSTILE.get(path.removesuffix("?again"), ("text/html", b"<p>A tiny page."))
        writer.write(
            f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        await writer.drain()
        asked.release()

    async with serving(site) as port:
        host = f"127.0.0.1:{port}"
        async with serve(FETCH_ALLOW_PRIVATE_HOSTS=host, RESPECT_ROBOTS="false") as (process, http):

            async def read(path: str) -> int:
                return (
                    await http.post(
                        "/v1/read", json={"url": f"http://{host}{path}"}, timeout=PATIENCE
                    )
                ).status_code

            assert await read("/tiny") == 200
            await asked.acquire()
            warm = resident(process.pid)
            reads = [asyncio.create_task(read(path)) for path in HOSTILE]
            for _ in reads:
                await asked.acquire()
            assert (await http.get("/healthz")).status_code == 200
            assert not all(one.done() for one in reads), "it answers while it reads"
            assert 500 not in await asyncio.gather(*reads), (
                "a page that takes too long has an error of its own"
            )
            assert resident(process.pid) < warm + MOST_GROWTH
            # For each worker one.
            again = [asyncio.create_task(read(f"{path}?again")) for path in list(HOSTILE)[:2]]
            await asked.acquire()
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
            await asyncio.gather(*again, return_exceptions=True)
    assert "Traceback" not in log.read_text()


def resident(pid: int) -> int:
    """The resident memory of a process in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


STUCK = """
import asyncio, os, signal, sys, threading, time
from websearch_gateway.entrypoints.http import server

class Server:
    def handle_exit(self, sig, frame):
        pass

stand_in = Server()
server.end_by_force(stand_in, 0.2)
signal.signal(signal.SIGTERM, stand_in.handle_exit)
signal.raise_signal(signal.SIGTERM)

def never_ends():
    while True:
        pass

threading.Thread(target=never_ends).start()  # an exit would wait for it
never_ends()
"""


def test_a_process_that_never_comes_back_ends_by_force() -> None:
    done = subprocess.run([sys.executable, "-c", STUCK], timeout=PATIENCE, check=False)
    assert done.returncode == 0
