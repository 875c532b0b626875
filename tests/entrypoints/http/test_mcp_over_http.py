"""MCP over a real socket, by the SDK's own client, in both protocol eras."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_REQUEST

from tests.entrypoints.http.calls import QUESTION, VERSIONS, bearer, call, post, search
from tests.entrypoints.http.conftest import SECRET, Door, address
from websearch_gateway.sandbox import Sandbox

ERAS = pytest.mark.parametrize("era", ["legacy", "2026-07-28", "auto"])


def mcp(http: httpx2.AsyncClient, era: str = "auto") -> Client:
    return Client(streamable_http_client(f"{address(http)}/mcp", http_client=http), mode=era)


@ERAS
async def test_a_question_is_answered(door: Door, era: str) -> None:
    async with door() as http, mcp(http, era) as client:
        assert "search_web" in [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("search_web", {"query": QUESTION})
    assert result.structured_content is not None
    assert "330" in result.structured_content["text"]


async def test_every_version_answers_in_json_without_a_handshake(door: Door) -> None:
    async with door() as http:
        for version in VERSIONS:
            reply = await post(http, search(version=version))
            assert reply.status_code == 200
            assert reply.headers["content-type"] == "application/json"
            assert reply.json()["result"]["structuredContent"]["citations"]


async def test_half_of_a_character_is_refused_as_over_rest(door: Door) -> None:
    async with door() as http:
        for version in VERSIONS:
            made = search(f"{QUESTION} \ud83d", version)
            reply = await http.post(
                "/mcp",
                headers={**made["headers"], "Content-Type": "application/json"},
                content=json.dumps(made["json"]),
            )
            result = reply.json()["result"]
            assert result["isError"], version
            assert result["structuredContent"]["error"]["code"] == "VALIDATION"
            assert (
                "query: It holds half of a character"
                in result["structuredContent"]["error"]["message"]
            )


@pytest.mark.parametrize("part", ["id", "method", "progressToken"])
async def test_a_part_that_replies_repeat_has_a_limit(door: Door, part: str) -> None:
    long = "x" * 100_000
    async with door() as http:
        for version in VERSIONS:
            made = search(version=version)
            holder = (
                made["json"]["params"].setdefault("_meta", {})
                if part == "progressToken"
                else made["json"]
            )
            holder[part] = long
            reply = await post(http, made)
            assert reply.status_code == 400
            assert reply.json()["id"] == (None if part == "id" else 1)
            assert "200 characters at most" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    "message", [{"query": [1] * 1_000}, [[]] * 1_000, {"id": 7, "method": ["x"] * 1_000}, "x", 7]
)
async def test_what_is_no_message_is_refused_in_a_short_reply(door: Door, message: Any) -> None:
    async with door() as http:
        for version in VERSIONS:
            reply = await http.post(
                "/mcp", headers=call("ping", version=version)["headers"], json=message
            )
            assert reply.status_code == 400
            assert reply.json()["error"]["code"] == INVALID_REQUEST
            assert len(reply.content) < 200


async def test_there_is_no_stream_to_open_and_no_session_to_end(door: Door) -> None:
    async with door() as http:
        for version, method in itertools.product(VERSIONS, ("GET", "DELETE", "PUT", "HEAD")):
            headers = {"Accept": "text/event-stream", "MCP-Protocol-Version": version}
            reply = await http.request(method, "/mcp", headers=headers)
            assert reply.status_code == 405
            assert reply.headers["allow"] == "POST"


@ERAS
async def test_cancelling_a_call_cancels_it_upstream(
    door: Door, sandbox: Sandbox, era: str
) -> None:
    sandbox.fault("openai", "hang")
    async with door() as http, mcp(http, era) as client:
        calling = asyncio.create_task(client.call_tool("search_web", {"query": QUESTION}))
        await sandbox.wait_for("openai", calls=1)
        calling.cancel()
        await sandbox.wait_for("openai", cancelled=1)


async def test_a_cancelled_call_is_answered_and_only_the_one_that_was_named(
    door: Door, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "hang")
    async with door(auth_mode="secret", auth_secret=SECRET) as http:
        greeting = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        session = (await post(http, call("initialize", greeting), **bearer())).headers[
            "mcp-session-id"
        ]
        calling = asyncio.create_task(
            post(http, search(), **bearer(), **{"Mcp-Session-Id": session})
        )
        await sandbox.wait_for("openai", calls=1)
        for user, named, request_id in (
            ("mallory", session, 1),
            ("alice", "another", 1),
            ("alice", session, "1"),
        ):
            notification = {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": request_id},
            }
            made = {**call("-"), "json": notification}
            assert (
                await post(http, made, **bearer(user), **{"Mcp-Session-Id": named})
            ).status_code == 202
        assert not calling.done()
        made["json"]["params"]["requestId"] = 1
        await post(http, made, **bearer(), **{"Mcp-Session-Id": session})
        reply = await calling
        await sandbox.wait_for("openai", cancelled=1)
    assert (reply.json()["id"], reply.json()["error"]["code"]) == (1, -32800)


@pytest.mark.parametrize("version", VERSIONS)
async def test_hanging_up_cancels_the_call_upstream(
    door: Door, sandbox: Sandbox, version: str
) -> None:
    sandbox.fault("openai", "hang")
    async with door() as http:
        calling = asyncio.create_task(post(http, search(version=version)))
        await sandbox.wait_for("openai", calls=1)
        calling.cancel()
        await sandbox.wait_for("openai", cancelled=1)


async def test_who_hangs_up_does_not_cancel_others_who_asked_the_same(
    door: Door, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "delay", seconds=1)
    async with door() as http:
        leaving = asyncio.create_task(post(http, search()))
        await sandbox.wait_for("openai", calls=1)
        staying = asyncio.create_task(post(http, search()))
        await asyncio.sleep(0)
        leaving.cancel()
        assert (await staying).json()["result"]["structuredContent"]["citations"]


HOSTILE_BODIES = {
    "nothing": b"",
    "no JSON": b"{",
    "not UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
    "deep": b"[" * 100_000,
    "deep arguments": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_web","arguments":'
    + b'{"query":' * 3_000
    + b"1"
    + b"}" * 3_002,
    "huge number": b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"tools/list"}',
    "half a character": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_web","arguments":'
    b'{"query":"\\ud800 is half a letter","\\udc00":1}}}',
    "half an id": b'{"jsonrpc":"2.0","id":"\\ud800","method":"tools/list"}',
    "batch": b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]',
    "id object": b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
    "params list": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
    "name number": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}',
    "arguments text": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_web","arguments":"x"}}',
    "a response": b'{"jsonrpc":"2.0","id":1,"result":{}}',
    "cancelled nothing": b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    "cancelled oddly": b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":[]}}}',
}


@pytest.mark.parametrize("version", VERSIONS)
async def test_no_body_breaks_the_door(door: Door, version: str) -> None:
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": version,
        "Mcp-Session-Id": "x",
    }
    async with door() as http:
        for name, body in HOSTILE_BODIES.items():
            reply = await http.post("/mcp", headers=headers, content=body)
            assert reply.status_code < 500, (name, reply.text)
        assert (await post(http, call("tools/list", version=version))).status_code == 200


async def test_an_unknown_tool_is_a_protocol_error(door: Door) -> None:
    async with door() as http, mcp(http) as client:
        with pytest.raises(MCPError, match="search_web"):
            await client.call_tool("no_such_tool", {})


@ERAS
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_web", {"query": QUESTION}),
        ("web_search", {"query": QUESTION, "max_results": 1}),
        (
            "get_content",
            {"urls": ["SANDBOX/pages/sourdough-bread", "SANDBOX/pages/roman-concrete"]},
        ),
    ],
)
async def test_progress_is_streamed_to_who_asks_for_it(
    door: Door, sandbox: Sandbox, era: str, tool: str, arguments: dict[str, Any]
) -> None:
    told: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    filled = json.loads(json.dumps(arguments).replace("SANDBOX", sandbox.url))
    async with door() as http, mcp(http, era) as client:
        result = await client.call_tool(tool, filled, progress_callback=hear)
    assert not result.is_error
    assert told
    assert all(told)


@pytest.mark.parametrize("accept", ["application/json, text/event-stream", "application/json"])
async def test_the_reply_is_a_stream_only_for_a_client_that_wants_progress_and_reads_streams(
    door: Door, accept: str
) -> None:
    async with door() as http:
        made = search(version="2025-06-18")
        made["json"]["params"]["_meta"] = {"progressToken": 7}
        reply = await post(http, made, accept=accept)
    if "event-stream" in accept:
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert '"progressToken":7' in reply.text.replace(" ", "")
    else:
        assert reply.headers["content-type"] == "application/json"


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_call_whose_progress_is_streamed_can_be_cancelled(
    door: Door, sandbox: Sandbox, era: str
) -> None:
    async def hear(progress: float, total: float | None, message: str | None) -> None:
        """Asks for progress."""

    sandbox.fault("openai", "hang")
    async with door() as http, mcp(http, era) as client:
        calling = asyncio.create_task(
            client.call_tool("search_web", {"query": QUESTION}, progress_callback=hear)
        )
        await sandbox.wait_for("openai", calls=1)
        calling.cancel()
        await sandbox.wait_for("openai", cancelled=1)
