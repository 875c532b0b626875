"""What each client is sent: data beside the text or the text alone, and no more than it shows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.types import CallToolResult, Implementation

from tests.entrypoints.conftest import Connect
from tests.entrypoints.http.calls import call, post
from tests.entrypoints.http.conftest import (
    Door,
    door,  # noqa: F401 - a fixture
)
from websearch_gateway.entrypoints.mcp.clients import (
    CLIENTS,
    FRAME,
    LONGEST_NAME,
    UNKNOWN,
    USUAL,
    Client,
    room_of,
    sends_data,
)
from websearch_gateway.settings.loading import Settings

TEXT_ALONE = [
    "claude-code",
    "codex-mcp-client",
    "copilot-cli",
    "@cline/core",
    "fast-agent-mcp",
    "google-adk",
    "Visual Studio Code",
    "Visual Studio Code - Insiders",
]
WITH_DATA = [
    "mcp",
    "fastmcp",
    "opencode",
    "gemini-cli-mcp-client",
    "Claude-Code",
    "claude-code-like",
    "test",
    "",
]
SAYS_WHO = [
    ("claude-code/2.1.197 (sdk-cli)", False),
    ("codex-mcp-client/0.171.0", False),
    ("copilot-cli/1.0.102", False),
    ("Visual Studio Code/1.110.0", False),
    ("MistralAI-VibeCLI/3.0.2", False),
    ("opencode/1.18.33", True),
    ("node", True),
    ("python-httpx2/2.0", True),
    ("Mozilla/5.0 claude-code/2.1", True),
]
PAGES = {"query": "the water and the time", "maxResults": 20}


def named(name: str) -> Client:
    return next((client for client in CLIENTS if client.is_named(name)), UNKNOWN)


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    return block.text  # type: ignore[union-attr]


@pytest.mark.parametrize("name", TEXT_ALONE)
def test_an_agent_that_shows_data_gets_the_text_alone(name: str) -> None:
    assert not sends_data("auto", named(name))
    assert sends_data("on", named(name))


@pytest.mark.parametrize("name", WITH_DATA)
def test_everybody_else_gets_both(name: str) -> None:
    assert sends_data("auto", named(name))
    assert not sends_data("off", named(name))


def test_the_table_names_each_client_once_and_knows_none_without_a_name_or_a_user_agent() -> None:
    names = [(client.name, client.user_agent) for client in CLIENTS]
    assert len(set(names)) == len(names)
    assert ("", "") not in names
    assert {client.evidence for client in CLIENTS} == {"run", "read"}


def settings(**given: Any) -> Settings:
    return Settings(**given)


@pytest.mark.parametrize(
    ("client", "has_data", "given", "room"),
    [
        (named("claude-code"), False, {}, 48_128 - FRAME),
        (named("@cline/core"), False, {}, 8_000 - FRAME),
        (named("copilot-cli"), False, {}, 20_480 - FRAME),
        (named("copilot-cli"), True, {}, (20_480 - FRAME) // 2),
        (named("gemini-cli-mcp-client"), True, {}, 30_000),
        (named("qwen-cli-mcp-client-websearch"), True, {}, 25_000 - FRAME),
        (named("google-adk"), False, {}, 60_000),
        (UNKNOWN, True, {}, 30_000),
        (UNKNOWN, False, {}, USUAL - FRAME),
        (UNKNOWN, False, {"max_reply_tokens": 50_000}, 150_000),
        (named("claude-code"), False, {"max_reply_tokens": 50_000}, 48_128 - FRAME),
        (named("claude-code"), False, {"max_reply_tokens": 2_000}, 6_000),
    ],
)
def test_the_room_of_a_reply_is_what_the_client_shows_and_the_operator_allows(
    client: Client, has_data: bool, given: dict[str, Any], room: int
) -> None:
    assert room_of(client, settings(**given), has_data=has_data) == room


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize(
    ("name", "has_data"), [("claude-code", False), ("@cline/core", False), ("mcp", True)]
)
async def test_the_list_and_the_calls_agree_on_the_data(
    connect: Connect, mode: str, name: str, has_data: bool
) -> None:
    """`legacy` gives the name in the handshake, `auto` with each request."""
    async with connect(mode, client_info=Implementation(name=name, version="1")) as client:
        tools = (await client.list_tools()).tools
        bad = await client.call_tool("search_web", {"query": "x"})
    assert {tool.output_schema is not None for tool in tools} == {has_data}
    assert bad.is_error
    assert (bad.structured_content is not None) == has_data
    assert text_of(bad).startswith("Error VALIDATION: ")


@pytest.mark.parametrize(
    ("setting", "name", "has_data"), [("on", "claude-code", True), ("off", "mcp", False)]
)
async def test_the_operator_decides_for_all_clients(
    connect: Connect, setting: str, name: str, has_data: bool
) -> None:
    info = Implementation(name=name, version="1")
    async with connect("legacy", client_info=info, STRUCTURED_OUTPUT=setting) as client:
        tools = (await client.list_tools()).tools
        bad = await client.call_tool("search_web", {"query": "x"})
    assert {tool.output_schema is not None for tool in tools} == {has_data}
    assert (bad.structured_content is not None) == has_data


async def test_over_http_the_user_agent_says_who_it_is_unless_the_request_does(door: Door) -> None:  # noqa: F811
    bad = call("tools/call", {"name": "search_web", "arguments": {"query": "x"}})
    introduced = call(
        "tools/call", {"name": "search_web", "arguments": {"query": "x"}}, "2026-07-28"
    )
    info = {"name": "claude-code", "version": "1"}
    introduced["json"]["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = info
    async with door() as http:
        for user_agent, has_data in SAYS_WHO:
            headers = {"User-Agent": user_agent}
            tools = (await post(http, call("tools/list"), **headers)).json()["result"]["tools"]
            reply = (await post(http, bad, **headers)).json()["result"]
            assert {"outputSchema" in tool for tool in tools} == {has_data}, user_agent
            assert ("structuredContent" in reply) == has_data, user_agent
        named_reply = (await post(http, introduced, **{"User-Agent": "node"})).json()["result"]
    assert "structuredContent" not in named_reply


@pytest.mark.parametrize(("name", "limit"), [("@cline/core", 8_000), ("fast-agent-mcp", 16_200)])
async def test_a_reply_fits_what_its_client_shows_and_says_first_what_was_cut(
    connect: Connect, name: str, limit: int
) -> None:
    async with connect("legacy", client_info=Implementation(name=name, version="1")) as client:
        text = text_of(await client.call_tool("web_search", PAGES))
    assert limit * 0.6 < len(json.dumps(text, ensure_ascii=False)) <= limit
    assert " pages are cut or left out to fit the reply" in text.split("\n\n")[0]
    assert text.count("\n[") >= 10


async def test_a_client_that_shows_both_forms_gets_both_within_its_limit(connect: Connect) -> None:
    info = Implementation(name="@cline/core", version="1")
    async with connect("legacy", client_info=info, STRUCTURED_OUTPUT="on") as client:
        result = await client.call_tool("web_search", PAGES)
    data = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
    assert len(text_of(result)) + len(data) <= 8_000


def test_every_known_client_is_told_by_the_first_hundred_characters_of_its_name() -> None:
    assert LONGEST_NAME == 100
    for client in CLIENTS:
        assert max(len(client.name), len(client.user_agent)) < 100
