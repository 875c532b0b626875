"""`search` and `fetch`, as ChatGPT's connectors and OpenAI's deep research call them."""

from __future__ import annotations

import json
import re
from typing import Any

from mcp.types import CallToolResult

from tests.entrypoints.conftest import Connect
from websearch_gateway.sandbox import Sandbox

MARKED = re.compile(
    r'<untrusted-web-text id="([0-9a-f]{32})">\n(.*)\n</untrusted-web-text id="\1">', re.DOTALL
)
QUERY = {"query": "How do I descale an espresso machine?"}


def data(result: CallToolResult) -> dict[str, Any]:
    """What the one JSON text of a call holds."""
    assert result.structured_content is None
    (block,) = result.content
    held: dict[str, Any] = json.loads(block.text)  # type: ignore[union-attr]
    return held


def unmarked(text: str) -> str:
    match = MARKED.fullmatch(text)
    assert match is not None, text
    return match[2]


async def test_search_finds_pages_and_fetch_reads_one_by_its_id(
    connect: Connect, sandbox: Sandbox
) -> None:
    async with connect(TOOLSETS="chatgpt") as client:
        tools = (await client.list_tools()).tools
        found = data(await client.call_tool("search", QUERY))
        first = found["results"][0]
        page = data(await client.call_tool("fetch", {"id": first["id"]}))
    assert [(tool.name, tool.output_schema) for tool in tools] == [
        ("search", None),
        ("fetch", None),
    ]
    assert [tool.input_schema["required"] for tool in tools] == [["query"], ["id"]]
    assert all(len(tool.input_schema["properties"]) == 1 for tool in tools)
    assert set(found) == {"results"}
    assert all(set(hit) == {"id", "title", "url"} for hit in found["results"])
    assert first["id"] == first["url"] == f"{sandbox.url}/pages/descale-espresso-machine"
    assert unmarked(first["title"]) == "How to descale an espresso machine"
    assert set(page) == {"id", "title", "url", "metadata", "text"}
    assert (page["id"], page["url"]) == (first["id"], first["url"])
    assert "citric acid" in unmarked(page["text"])
    assert page["metadata"]["totalChars"] == len(unmarked(page["text"]))
    assert "nextId" not in page["metadata"]


async def test_a_page_that_does_not_fit_is_read_on_by_the_next_id(
    connect: Connect, sandbox: Sandbox
) -> None:
    whole, text, ident = "", "", f"{sandbox.url}/pages/sqlite-wal"
    async with connect(TOOLSETS="chatgpt,read", MAX_REPLY_TOKENS="2000") as client:
        whole = unmarked(
            (await client.call_tool("get_content", {"url": ident})).structured_content[
                "page_content"
            ]
        )  # type: ignore[index]
        sizes = []
        while ident:
            result = await client.call_tool("fetch", {"id": ident})
            sizes.append(len(result.content[0].text.encode()))  # type: ignore[union-attr]
            page = data(result)
            text += unmarked(page["text"])
            ident = page["metadata"].get("nextId", "")
    assert text.startswith(whole[:500])
    assert len(text) == page["metadata"]["totalChars"]
    assert max(sizes) <= 6_000


async def test_a_failure_says_its_code_and_keeps_to_no_shape(
    connect: Connect, sandbox: Sandbox
) -> None:
    async with connect(TOOLSETS="chatgpt") as client:
        gone = await client.call_tool("fetch", {"id": f"{sandbox.url}/pages/special/not-found"})
        empty = await client.call_tool("search", {"query": ""})
    for result, code in ((gone, "FETCH"), (empty, "VALIDATION")):
        assert result.is_error
        assert result.structured_content is None
        assert result.content[0].text.startswith(f"Error {code}: ")  # type: ignore[union-attr]


async def test_all_toolsets_do_not_include_it(connect: Connect) -> None:
    async with connect(TOOLSETS="all") as client:
        assert not {"search", "fetch"} & {tool.name for tool in (await client.list_tools()).tools}
    async with connect(TOOLSETS="all,chatgpt") as client:
        assert {"search", "fetch"} <= {tool.name for tool in (await client.list_tools()).tools}
