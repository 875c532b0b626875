"""The REST twin: what it answers, and that its description is the truth."""

from __future__ import annotations

import asyncio

import jsonschema
import pytest

from tests.doors.http.calls import QUESTION, post, search
from tests.doors.http.conftest import SECRET, Door
from websearch_gateway.doors.http.replies import STATUS
from websearch_gateway.errors import ErrorCode
from websearch_gateway.sandbox import Sandbox


async def test_the_answer_is_that_of_the_tool(door: Door) -> None:
    async with door() as http:
        rest = (await http.post("/v1/search", json={"query": QUESTION})).json()
        tool = (await post(http, search())).json()["result"]["structuredContent"]
    assert rest["text"] == tool["text"]
    assert rest["citations"] == tool["citations"]


BAD_BODIES = [
    b"",
    b"[]",
    b"{",
    b"\xff",
    b"[" * 50_000,
    b'{"query":"x"}',
    b'{"query":7}',
    b'{"query":"How tall is it?","maxResults":9}',
    b'{"query":"How tall is it?","\\ud800":1}',
    b'{"query":"\\ud800"}',
    b'{"query":' + b"9" * 5_000 + b"}",
]


async def test_a_bad_request_gets_400_and_a_typed_error(door: Door, sandbox: Sandbox) -> None:
    async with door() as http:
        for body in BAD_BODIES:
            reply = await http.post("/v1/search", content=body, headers={"Content-Type": "application/json"})
            assert reply.status_code == 400, body[:80]
            assert reply.json()["error"]["code"] == "VALIDATION"
    assert sandbox.calls("openai") == 0


async def test_another_type_of_body_gets_415(door: Door) -> None:
    """A page of another site can send these without asking first."""
    async with door() as http:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""):
            reply = await http.post("/v1/search", content=b'{"query":"How tall?"}', headers={"Content-Type": kind})
            assert reply.status_code == 415


async def test_a_rate_limit_says_when_to_come_back(door: Door) -> None:
    async with door(rate_limit="1/minute") as http:
        replies = [await http.post("/v1/search", json={"query": QUESTION}) for _ in range(2)]
    assert [reply.status_code for reply in replies] == [200, 429]
    assert 0 < int(replies[1].headers["retry-after"]) <= 60
    assert replies[1].json()["error"]["code"] == "RATE_LIMIT"


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
        await sandbox.wait_for("openai", cancelled=1, within=1)


def test_every_code_of_an_error_has_its_status() -> None:
    assert set(STATUS) == set(ErrorCode.__args__)  # type: ignore[attr-defined]


async def test_the_description_fits_what_is_served(door: Door) -> None:
    async with door(auth_mode="secret", auth_secret=SECRET) as http:
        described = (await http.get("/openapi.json")).json()
    async with door() as http:
        good = (await http.post("/v1/search", json={"query": QUESTION})).json()
        bad = (await http.post("/v1/search", json={"query": "x"})).json()
    operation = described["paths"]["/v1/search"]["post"]
    registry = {"components": described["components"]}
    for status, body in (("200", good), ("400", bad)):
        schema = operation["responses"][status]["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator({**schema, **registry}).validate(body)
    wanted = {**operation["requestBody"]["content"]["application/json"]["schema"], **registry}
    jsonschema.Draft202012Validator(wanted).validate({"query": QUESTION, "maxResults": 3})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(wanted).validate({"query": QUESTION, "max_results": 3})
    assert described["openapi"] == "3.1.0"
    assert operation["security"] == [{"bearer": ["search"]}]


async def test_without_the_tool_there_is_no_twin(door: Door) -> None:
    async with door(toolsets="search") as http:
        assert (await http.post("/v1/search", json={"query": QUESTION})).status_code == 404
