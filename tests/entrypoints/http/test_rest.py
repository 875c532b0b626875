"""REST: what it answers, and that a bad request gets a typed error."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from pathlib import Path

import pytest

from tests.entrypoints.command import start
from tests.entrypoints.http.calls import QUESTION, post, search
from tests.entrypoints.http.conftest import Door
from websearch_gateway.entrypoints.http.replies import STATUS
from websearch_gateway.entrypoints.tools.table import TOOLS
from websearch_gateway.errors import ErrorCode
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.groups import APART, TOOLSETS

AS_JSON = {"Content-Type": "application/json"}


async def test_the_answer_is_that_of_the_tool(door: Door) -> None:
    async with door() as http:
        rest = (await http.post("/v1/search", json={"query": QUESTION})).json()
        tool = (await post(http, search())).json()["result"]["structuredContent"]
    assert rest["text"] == tool["text"]
    for citation, over_mcp in zip(rest["citations"], tool["citations"], strict=True):
        spans = [
            span | lean for span, lean in zip(citation["spans"], over_mcp["spans"], strict=True)
        ]
        assert citation | over_mcp | {"spans": spans} == citation, "over MCP it has no nulls"


BAD_BODIES = [
    b"",
    b"[]",
    b"{",
    b"\xff",
    b"[" * 50_000,
    b'{"query":"x"}',
    b'{"query":7}',
    b'{"query":"How tall is it?","maxResults":NaN}',
    b'{"query":"How tall is it?","other":[-Infinity]}',
    b'{"query":"How tall is it?","maxResults":0}',
    b'{"query":"How tall is it?","\\ud800":1}',
    b'{"query":"\\ud800"}',
    b'{"query":' + b"9" * 5_000 + b"}",
]


async def test_a_bad_request_gets_400_and_a_typed_error(door: Door, sandbox: Sandbox) -> None:
    async with door() as http:
        for body in BAD_BODIES:
            reply = await http.post(
                "/v1/search", content=body, headers={"Content-Type": "application/json"}
            )
            assert reply.status_code == 400, body[:80]
            assert reply.json()["error"]["code"] == "VALIDATION"
    assert sandbox.calls("openai") == 0


@pytest.mark.parametrize("half", ["\\ud800", "\\uDC80", "an emoji \\ud83d\\ud83d in halves"])
async def test_half_of_a_character_is_refused_wherever_it_stands(door: Door, half: str) -> None:
    bodies = (
        '{"query":"%s"}',
        '{"query":["How tall?","%s"]}',
        '{"url":"http://a.example/%s"}',
        '{"claims":[{"claim":"It is 330 m.","%s":1}]}',
        '{"%s":1}',
    )
    async with door(toolsets=(*TOOLSETS, *APART)) as http:
        for tool, body in itertools.product(TOOLS, bodies):
            content = (body % half).encode()
            reply = await http.post(f"/v1/tools/{tool.name}", content=content, headers=AS_JSON)
            assert reply.status_code == 400, (tool.name, body)
            assert reply.json()["error"]["code"] == "VALIDATION"
            assert "half of a character" in reply.json()["error"]["message"]


async def test_a_whole_pair_is_one_character(door: Door) -> None:
    body = rb'{"query":"How tall is the Eiffel Tower? \ud83d\uddfc"}'
    async with door() as http:
        assert (await http.post("/v1/search", content=body, headers=AS_JSON)).status_code == 200


async def test_an_unknown_name_is_repeated_with_escapes_and_cut(door: Door) -> None:
    async with door() as http:
        reply = await http.post(
            "/v1/search", json={"query": QUESTION, "\x1b]0;title\x07": 1, "n" * 9_000: 1}
        )
    assert r"\\x1b]0;title\\x07: Unknown argument" in reply.text
    assert len(reply.content) < 1_000


@pytest.mark.parametrize("url", ["\x1b[31mred", "x" * 9_000, "https://%s.example/" % ("x" * 9_000)])
async def test_of_an_address_that_cannot_be_read_the_beginning_is_repeated(
    door: Door, url: str
) -> None:
    async with door() as http:
        one = await http.post("/v1/read", json={"url": url})
        several = await http.post("/v1/read", json={"urls": [url] * 10})
        extracted = await http.post("/tavily/extract", json={"urls": [url] * 10})
    assert len(one.content) < 1_200
    assert len(several.content) < 10_000
    assert len(extracted.content) < 8_000
    assert "\\u001b" not in one.text + several.text + extracted.text


@pytest.mark.parametrize(
    "flood",
    [
        {"query": [1] * 500_000},
        {"query": QUESTION, **{f"n{number}": 1 for number in range(80_000)}},
    ],
)
async def test_a_flood_of_bad_arguments_gets_a_short_error(
    door: Door, flood: dict[str, object]
) -> None:
    async with door() as http:
        body = json.dumps(flood, separators=(",", ":"))
        reply = await http.post(
            "/v1/search", content=body, headers={"Content-Type": "application/json"}
        )
    assert reply.status_code == 400
    assert len(reply.content) < 10_000


async def test_indexed_documentation_is_searched_and_read(door: Door, tmp_path: Path) -> None:
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.md").write_text(
        "# Zebras\n\nThe zebra eats grass, at length and on most days.\n"
    )
    data = str(tmp_path / "data")
    added = await asyncio.to_thread(
        start, {**os.environ, "DATA_DIR": data}, "docs", "add", str(tmp_path / "book"), "book"
    )
    assert added.returncode == 0, added.stderr
    async with door(toolsets="docs", data_dir=data) as http:
        short = (await http.post("/v1/docs", json={"query": "what does a zebra eat"})).json()
        long = (
            await http.post("/v1/tools/search_docs", json={"query": "what does a zebra eat"})
        ).json()
        (hit,) = short["results"]
        section = (
            await http.post("/v1/tools/read_docs", json={"section_id": hit["section_id"]})
        ).json()
        (site,) = (await http.post("/v1/tools/list_sites", json={})).json()["sites"]
    assert hit["section_id"] == long["results"][0]["section_id"]
    assert "grass" in section["content"]
    assert site["name"] == "book"


async def test_another_type_of_body_gets_415(door: Door) -> None:
    """A page of another site can send these without asking first."""
    async with door() as http:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""):
            reply = await http.post(
                "/v1/search", content=b'{"query":"How tall?"}', headers={"Content-Type": kind}
            )
            assert reply.status_code == 415


async def test_a_rate_limit_says_when_to_come_back(door: Door) -> None:
    async with door(rate_limit="1/minute") as http:
        replies = [
            await http.post("/v1/search", json={"query": asked})
            for asked in (QUESTION, "What is a tide?")
        ]
    assert [reply.status_code for reply in replies] == [200, 429]
    assert 0 < int(replies[1].headers["retry-after"]) <= 60
    assert replies[1].json()["error"]["code"] == "RATE_LIMIT"


async def test_users_who_share_a_server_have_limits_that_nobody_set(door: Door) -> None:
    async with door(rate_limit=None) as http:
        first = [
            await http.post("/v1/search", json={"query": f"{QUESTION} Call {n}."})
            for n in range(21)
        ]
        again = await asyncio.gather(
            *(http.post("/v1/search", json={"query": f"{QUESTION} Call 1."}) for _ in "again")
        )
    assert [reply.status_code for reply in first] == [200] * 20 + [429]
    assert [reply.json()["cache"] for reply in again] == ["exact"] * 5


async def test_a_key_of_the_gateway_that_is_refused_is_not_the_callers_fault(door: Door) -> None:
    async with door(openai_api_key="sk-proj-wrong0123456789abcdefghijkl") as http:
        reply = await http.post("/v1/search", json={"query": QUESTION})
    assert reply.status_code == 502
    assert reply.json()["error"]["code"] == "AUTH"


async def test_hanging_up_cancels_the_call_upstream(door: Door, sandbox: Sandbox) -> None:
    sandbox.fault("openai", "hang")
    async with door() as http:
        calling = asyncio.create_task(http.post("/v1/search", json={"query": QUESTION}))
        await sandbox.wait_for("openai", calls=1)
        calling.cancel()
        await sandbox.wait_for("openai", cancelled=1)


def test_every_code_of_an_error_has_its_status() -> None:
    assert set(STATUS) == set(ErrorCode.__args__)  # type: ignore[attr-defined]


async def test_without_the_tool_there_is_no_twin(door: Door) -> None:
    async with door(toolsets="search") as http:
        assert (await http.post("/v1/search", json={"query": QUESTION})).status_code == 404
