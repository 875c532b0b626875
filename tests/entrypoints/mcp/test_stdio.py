"""The bytes that clients write to the pipe, and the moment when they close it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

import pytest

from tests.patience import PATIENCE
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.entrypoints.mcp.stdio import serve_pipe
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import Settings

HELLO = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def ping(request_id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": "ping"}


class Written:
    """What the server writes; it is told to the client's side at once."""

    def __init__(self) -> None:
        self.replies: list[dict[str, Any]] = []
        self.changed = asyncio.Event()

    async def write(self, line: str) -> None:
        self.replies.append(json.loads(line))
        self.changed.set()

    async def flush(self) -> None:
        """Nothing is held back."""

    async def until(self, count: int) -> None:
        """Wait for so many replies."""
        async with asyncio.timeout(PATIENCE):
            while len(self.replies) < count:
                self.changed.clear()
                await self.changed.wait()


async def served(lines: Iterable[str], replies: int) -> dict[Any, dict[str, Any]]:
    """The replies to these lines, by their ids as JSON. The client waits for so many before it closes its end."""
    written = Written()

    async def client() -> AsyncIterator[str]:
        for line in lines:
            yield line
        await written.until(replies)

    gateway = LazyGateway(Settings(state_url="memory://"))
    try:
        await serve_pipe(gateway, client(), written)
    finally:
        await gateway.close()
    return {json.dumps(reply.get("id")): reply for reply in written.replies}


@pytest.mark.parametrize(
    "wrapped",
    ["\ufeff{}\n", "{}\r\n", "\r\n\n  \n{}\n", " {} \n"],
    ids=["mark", "crlf", "blank", "spaces"],
)
async def test_a_line_is_read_whatever_stands_around_its_message(wrapped: str) -> None:
    lines = [wrapped.replace("{}", json.dumps(message)) for message in (HELLO, READY, ping(1))]
    replies = await served(lines, 2)
    assert "result" in replies['"hello"']
    assert replies["1"]["result"] == {}


@pytest.mark.parametrize("request_id", [None, 1.5, 2.0, True, [1], {"a": 1}], ids=str)
async def test_a_request_with_an_id_that_is_not_allowed_gets_a_reply(request_id: Any) -> None:
    lines = [
        f"{json.dumps(message)}\n" for message in (HELLO, READY, ping(request_id), ping("after"))
    ]
    replies = await served(lines, 3)
    told = request_id if isinstance(request_id, float) else None
    assert replies[json.dumps(told)]["error"]["code"] == -32600
    assert "id of a request" in replies[json.dumps(told)]["error"]["message"]
    assert replies['"after"']["result"] == {}


async def test_an_id_within_the_arguments_is_none_of_the_request() -> None:
    asked = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "ping",
        "params": {"_meta": {"id": None, "x": {"id": 1.5}}},
    }
    assert (
        "result"
        in (await served([f"{json.dumps(message)}\n" for message in (HELLO, READY, asked)], 2))["7"]
    )


async def test_nothing_is_written_once_the_client_has_closed_its_end(sandbox: Sandbox) -> None:
    sandbox.fault("openai", "hang")
    written = Written()
    called = {"name": "search_web", "arguments": {"query": "How tall is the Eiffel Tower?"}}

    async def client() -> AsyncIterator[str]:
        for message in (
            HELLO,
            READY,
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called},
        ):
            yield f"{json.dumps(message)}\n"
        await sandbox.wait_for("openai", calls=1)

    gateway = LazyGateway(
        Settings(state_url="memory://", answer_engines=("openai",), **sandbox.flags())
    )
    try:
        assert await serve_pipe(gateway, client(), written)
    finally:
        await gateway.close()
    assert [reply["id"] for reply in written.replies] == ["hello"]


def test_a_reader_that_goes_away_ends_the_server_without_a_word(
    served_environment: Mapping[str, str],
) -> None:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "websearch_gateway", "serve"]
    with subprocess.Popen(
        command, env=dict(served_environment), stdin=pipe, stdout=pipe, stderr=pipe
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdout.close()
        server.stdin.write(f"{json.dumps(HELLO)}\n".encode())
        server.stdin.flush()  # and stays open
        try:
            assert server.wait(PATIENCE) == 0
            assert server.stderr is not None
            assert server.stderr.read() == b""
        finally:
            server.kill()
