from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ToolListChangedNotification,
    ToolsCapability,
)

from tests.entrypoints.conftest import Connect
from tests.patience import PATIENCE, PATIENT_PROCESS
from tests.tracing import Spans
from websearch_gateway.docs.models import CrawlOptions
from websearch_gateway.docs.store.sqlite import SqliteDocs
from websearch_gateway.entrypoints.mcp import changes
from websearch_gateway.entrypoints.tools.table import TOOLS
from websearch_gateway.sandbox import OPENAI_KEY, Sandbox

QUESTION = "How tall is the Eiffel Tower?"
SEARCH_WEB = next(tool.arguments for tool in TOOLS if tool.name == "search_web")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_question_is_answered_with_exact_citations_in_both_protocol_eras(
    connect: Connect, mode: str
) -> None:
    async with connect(mode, OPENAI_MODELS="gpt-6-luna") as client:
        result = await client.call_tool("search_web", {"query": QUESTION})
    answer = result.structured_content
    assert not result.is_error
    assert answer is not None
    assert answer["provider"] == "gpt-6-luna-web-search"
    assert "330" in answer["text"]
    assert answer["citations"]
    for citation in answer["citations"]:
        cited = answer["text"][citation["startIndex"] : citation["endIndex"]]
        assert citation["url"] in cited
        assert citation["textSnippet"] in answer["text"]


async def test_requests_are_measured_by_the_conventions_and_unknown_names_stay_out(
    connect: Connect, spans: Spans
) -> None:
    def sessions() -> int:
        return sum(point["count"] for point in spans.measured("mcp.server.session.duration"))

    before = sessions()
    async with connect(TOOLSETS="ops") as client:
        await client.call_tool("get_provider_status", {})
        await client.call_tool("get_provider_status", {"nonsense": True})
        with pytest.raises(MCPError):
            await client.call_tool("made_up_by_the_caller", {})
    assert sessions() == before + 1
    calls = [
        point for point in spans.measured("mcp.server.operation.duration") if "error.type" in point
    ]
    assert "pipe" in {point["network.transport"] for point in calls}
    assert {(point.get("gen_ai.tool.name"), point["error.type"]) for point in calls} >= {
        ("get_provider_status", "tool_error"),
        (None, str(INVALID_PARAMS)),
    }
    assert "made_up" not in str(calls)
    (span,) = [one for one in spans.named("tools/call get_provider_status") if one.status.is_ok]
    assert (span.attributes or {})["network.transport"] == "pipe"
    assert (span.attributes or {})["gen_ai.tool.name"] == "get_provider_status"


async def test_the_result_validates_against_the_schema_that_was_listed(connect: Connect) -> None:
    async with connect() as client:
        (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "search_web"]
        good = await client.call_tool("search_web", {"query": QUESTION})
        bad = await client.call_tool("search_web", {"query": "x"})
    assert tool.output_schema is not None
    for result in (good, bad):
        jsonschema.validate(result.structured_content, tool.output_schema)


async def test_no_tool_costs_an_agent_more_than_seven_hundred_tokens(connect: Connect) -> None:
    """About four characters to the token: what every conversation pays before its first question."""
    async with connect(TOOLSETS="all") as client:
        tools = (await client.list_tools()).tools
    sizes = {
        tool.name: len(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in tools
    }
    assert {name: size for name, size in sizes.items() if size > 2_800} == {}


BAD_INPUT: list[tuple[dict[str, Any], str]] = [
    ({}, "query"),
    ({"query": "ab"}, "3 to 400"),
    ({"query": QUESTION, "maxResults": 0}, "maxResults"),
    ({"query": QUESTION, "most": 5}, "most"),
    ({"query": QUESTION, "region": "XX"}, "region"),
    ({"query": QUESTION, "freshnessHours": 0}, "freshnessHours"),
    ({"query": "polymarket odds on a fed cut"}, "polymarket"),
    ({"query": "rss feed of the verge"}, "google-news-rss"),
]


async def test_bad_input_gets_one_typed_error_that_says_what_to_do(
    connect: Connect, sandbox: Sandbox
) -> None:
    async with connect() as client:
        results = [await client.call_tool("search_web", arguments) for arguments, _ in BAD_INPUT]
    for result, (_, told) in zip(results, BAD_INPUT, strict=True):
        assert result.is_error
        assert result.structured_content is not None
        assert set(result.structured_content) == {"error"}
        error = result.structured_content["error"]
        assert error["code"] == "VALIDATION"
        assert told in error["message"]
    assert sandbox.calls("openai") == 0


FLOODS: list[tuple[str, dict[str, Any]]] = [
    ("web_search_raw", {"query": [1] * 500_000}),
    ("read_from_page", {"url": "https://example.com/", "query": [1] * 500_000}),
    ("web_search", {"query": QUESTION, "providers": [1] * 500_000}),
    ("search_web", {"query": QUESTION, **{f"unknown{number}": 1 for number in range(95_000)}}),
    ("search_web", {"query": QUESTION, "a" * 1_000_000: 1}),
    ("get_content", {"url": "https://example.com/" + "a" * 1_000_000}),
]


async def test_a_flood_of_bad_arguments_gets_a_short_error(connect: Connect) -> None:
    """A report of each fault took 1.25 GB of memory and was 143 MB long."""
    async with connect() as client:
        results = [await client.call_tool(tool, arguments) for tool, arguments in FLOODS]
    assert all(result.is_error for result in results)
    assert [size for result in results if (size := len(result.model_dump_json())) > 10_000] == []


async def test_an_unknown_tool_is_a_protocol_error_that_names_the_listed_tools(
    connect: Connect,
) -> None:
    async with connect() as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        with pytest.raises(MCPError, match=f"The tools are: {', '.join(listed)}[.]"):
            await client.call_tool("no_such_tool", {})
        with pytest.raises(MCPError, match="There is no tool of that name here"):
            await client.call_tool("delete_docs", {"site": "1"})


DEFAULT = [
    "search_web",
    "check_claims",
    "web_search",
    "web_search_raw",
    "get_content",
    "read_from_page",
]
DOCS = ["search_docs", "read_docs", "list_sites"]
DOCS_ADMIN = ["add_docs", "update_docs", "delete_docs", "docs_status"]


async def index_a_site(path: Path) -> SqliteDocs:
    store = SqliteDocs(path, "tests/1")
    site = await store.add_version("python", "3", "https://example.org/", CrawlOptions())
    await store.set_status(site.id, "completed")
    return store


async def test_the_tools_that_change_the_index_are_listed_only_when_named(
    connect: Connect, tmp_path: Path
) -> None:
    await (await index_a_site(tmp_path / "docs.db")).close()
    for toolsets, names in (
        ({}, [*DEFAULT, *DOCS]),
        ({"TOOLSETS": "docs"}, DOCS),
        ({"TOOLSETS": "docs-admin"}, DOCS_ADMIN),
        ({"TOOLSETS": "docs,docs-admin"}, [*DOCS, *DOCS_ADMIN]),
    ):
        async with connect(DOCS_URL=f"sqlite:///{tmp_path}/docs.db", **toolsets) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == names
    async with connect(TOOLSETS="all") as client:
        assert {*DOCS, *DOCS_ADMIN} <= {tool.name for tool in (await client.list_tools()).tools}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_is_told_when_the_first_site_is_indexed_and_the_last_one_is_deleted(
    connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(changes, "LOOK_SECONDS", 0.01)
    news: asyncio.Queue[object] = asyncio.Queue()

    async def note(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            news.put_nowait(message)

    async def listen(client: Client) -> None:
        async with client.listen(tools_list_changed=True) as stream:
            news.put_nowait("listening")
            async for event in stream:
                news.put_nowait(event)

    path = tmp_path / "docs.db"
    told = note if mode == "legacy" else None  # the handler would note what the stream notes too
    async with (
        connect(mode, told, DOCS_URL=f"sqlite:///{path}") as client,
        anyio.create_task_group() as tasks,
    ):
        assert client.server_capabilities.tools == ToolsCapability(list_changed=True)
        if mode == "auto":
            assert client.protocol_version == "2026-07-28"
            tasks.start_soon(listen, client)
            assert await news.get() == "listening"
        assert [tool.name for tool in (await client.list_tools()).tools] == DEFAULT
        store = await index_a_site(path)
        await news.get()
        assert [tool.name for tool in (await client.list_tools()).tools] == [*DEFAULT, *DOCS]
        await store.delete_version(1)
        await news.get()
        assert [tool.name for tool in (await client.list_tools()).tools] == DEFAULT
        assert news.empty()
        await store.close()
        tasks.cancel_scope.cancel()


async def test_progress_is_told_in_rising_steps(connect: Connect, sandbox: Sandbox) -> None:
    sandbox.fault("openai", "status", status=503)
    steps: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, message))

    async with connect() as client:
        await client.call_tool("search_web", {"query": QUESTION}, progress_callback=note)
    assert [step for step, _ in steps] == sorted({step for step, _ in steps})
    assert any("Reading" in (message or "") for _, message in steps)


async def test_openai_down_still_gives_a_cited_answer_that_says_so(
    connect: Connect, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "status", status=503)
    async with connect() as client:
        result = await client.call_tool("search_web", {"query": QUESTION})
    answer = result.structured_content
    assert answer is not None
    assert answer["provider"].endswith("-raw-search")
    assert answer["fallback"]["from"] == "openai"
    assert "330" in answer["text"]
    assert answer["citations"]


async def test_a_wrong_key_is_shown_and_not_printed(launch: Connect, log: Path) -> None:
    wrong = "sk-wrong-0123456789abcdefghijklmnop"
    async with launch(OPENAI_API_KEY=wrong) as client:
        result = await client.call_tool("search_web", {"query": QUESTION})
    assert result.structured_content is not None
    assert result.structured_content["error"]["code"] == "AUTH"
    assert wrong not in str(result)
    assert wrong not in log.read_text()


async def test_the_second_answer_comes_from_the_cache(connect: Connect, sandbox: Sandbox) -> None:
    async with connect() as client:
        await client.call_tool("search_web", {"query": QUESTION})
        again = await client.call_tool("search_web", {"query": f"  {QUESTION.lower()} "})
    assert again.structured_content is not None
    assert again.structured_content["cache"] == "exact"
    assert again.structured_content["costUsd"] == 0
    assert sandbox.calls("openai") == 1


async def test_the_cache_survives_a_restart(connect: Connect, sandbox: Sandbox) -> None:
    for expected in ("miss", "exact"):
        async with connect() as client:
            result = await client.call_tool("search_web", {"query": QUESTION})
        assert result.structured_content is not None
        assert result.structured_content["cache"] == expected
    assert sandbox.calls("openai") == 1


async def test_the_rate_limit_lets_exactly_the_limit_through(connect: Connect) -> None:
    async with connect(RATE_LIMIT="3/minute") as client:
        asked = [f"{QUESTION} Call {number}." for number in range(5)]
        results = [await client.call_tool("search_web", {"query": question}) for question in asked]
    assert [result.is_error for result in results] == [False, False, False, True, True]
    assert results[-1].structured_content is not None
    error = results[-1].structured_content["error"]
    assert error["code"] == "RATE_LIMIT"
    assert 0 < error["retryAfterSeconds"] <= 60


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_cancelling_the_call_cancels_it_upstream(
    connect: Connect, sandbox: Sandbox, mode: str
) -> None:
    sandbox.fault("openai", "hang")
    async with connect(mode) as client:
        calling = asyncio.create_task(client.call_tool("search_web", {"query": QUESTION}))
        await sandbox.wait_for("openai", calls=1)
        calling.cancel()
        await sandbox.wait_for("openai", cancelled=1)
        sandbox.clear_faults()
        after = await client.call_tool("search_web", {"query": QUESTION})
    assert not after.is_error


async def test_a_hundred_calls_at_once_are_one_upstream_call(
    connect: Connect, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "delay", seconds=0.5)
    async with connect(RATE_LIMIT="none") as client:
        results = await asyncio.gather(
            *(client.call_tool("search_web", {"query": QUESTION}) for _ in range(100))
        )
    assert not any(result.is_error for result in results)
    assert sandbox.calls("openai") == 1


async def test_neither_the_key_nor_the_question_is_logged(
    launch: Connect, sandbox: Sandbox, log: Path
) -> None:
    sandbox.fault("openai", "status", status=503)
    async with launch(LOG_LEVEL="DEBUG") as client:
        await client.call_tool("search_web", {"query": QUESTION})
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["event"] for line in lines].count("search") == 1
    for secret in (
        *(value for name, value in sandbox.environment().items() if name.endswith("_KEY")),
        "Eiffel",
    ):
        assert secret not in log.read_text()


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def talk(
    sandbox: Sandbox, folder: Path, *messages: dict[str, Any] | str, requests: int = 2
) -> tuple[list[dict[str, Any]], str, str, int]:
    """The replies to requests written to a bare pipe, what else the server wrote to it, its log and exit code."""
    environment = {
        **os.environ,
        **sandbox.environment(),
        **PATIENT_PROCESS,
        "DATA_DIR": str(folder),
    }
    command = [sys.executable, "-m", "websearch_gateway", "start-mcp-server", "--context", "test"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        lines = (
            message if isinstance(message, str) else json.dumps(message) for message in messages
        )
        server.stdin.write("".join(f"{line}\n" for line in lines))
        server.stdin.flush()
        replies = [json.loads(server.stdout.readline()) for _ in range(requests)]
        rest, log = server.communicate(timeout=PATIENCE)  # closes stdin
    return replies, rest, log, server.returncode


def test_stdout_holds_only_the_protocol_and_the_server_ends_with_its_client(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    replies, rest, log, code = talk(sandbox, tmp_path, INITIALIZE, INITIALIZED, listing)
    assert rest == ""
    assert code == 0
    assert [reply["id"] for reply in replies] == [1, 2]
    assert "search_web" in replies[0]["result"]["instructions"]
    assert OPENAI_KEY not in f"{replies} {log}"


def test_lines_that_the_sdk_cannot_read_are_answered(sandbox: Sandbox, tmp_path: Path) -> None:
    """JavaScript strings can end in half a surrogate pair, and JSON can be nested deeper than pydantic reads."""
    arguments = {"query": f"{QUESTION} \U0001f5fc \ud83d"}
    half = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "search_web", "arguments": arguments},
    }
    too_deep = "[" * 20_000 + "]" * 20_000
    deep = f'{{"method":"tools/call","params":{{"name":{too_deep}}},"jsonrpc":"2.0","id":3}}'
    no_request = {"jsonrpc": "2.0", "id": 4, "method": 7}
    long = {"jsonrpc": "2.0", "id": 5, "method": "m" * 100_000}
    replies, _, _, _ = talk(
        sandbox, tmp_path, INITIALIZE, INITIALIZED, deep, no_request, long, half, requests=5
    )
    by_id = {reply["id"]: reply for reply in replies}
    refused = by_id[2]["result"]["structuredContent"]["error"]
    assert by_id[2]["result"]["isError"]
    assert refused["code"] == "VALIDATION"
    assert "query: It holds half of a character" in refused["message"]
    assert by_id[3]["error"]["code"] == PARSE_ERROR
    assert by_id[4]["error"]["code"] == INVALID_REQUEST
    assert by_id[5]["error"]["code"] == INVALID_REQUEST
    assert len(json.dumps(by_id[5])) < 200


async def test_prompts_reach_a_client(connect: Connect) -> None:
    async with connect() as client:
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        filled = await client.get_prompt("fact_check", {"claim": "The {tower} is 330 m tall."})
        for wrong in (("nope", {}), ("research", {}), ("research", {"topic": " "})):
            with pytest.raises(MCPError):
                await client.get_prompt(*wrong)
    assert set(prompts) == {"research", "fact_check"}
    assert prompts["research"].arguments is not None
    assert prompts["research"].arguments[0].required
    assert "The {tower} is 330 m tall." in filled.messages[0].content.text  # type: ignore[union-attr]
