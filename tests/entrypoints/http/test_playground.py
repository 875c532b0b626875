"""What the server side of `/play` gives, and to whom."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from tests.entrypoints.http.calls import QUESTION, bearer
from tests.entrypoints.http.conftest import SECRET, Door, address
from websearch_gateway.entrypoints.http.playground import why_nothing
from websearch_gateway.models import AskedUpstream
from websearch_gateway.results import (
    Citation,
    DocsSearchResponse,
    PagePassages,
    QueryPassages,
    SearchResponse,
    WebSearchResponse,
    WireModel,
)
from websearch_gateway.sandbox import Sandbox


async def ask(
    http: httpx2.AsyncClient,
    tool: str = "search_web",
    headers: dict[str, str] | None = None,
    **arguments: Any,
) -> httpx2.Response:
    """What the script of the page posts."""
    own = {"Origin": address(http), "Sec-Fetch-Site": "same-origin", **(headers or {})}
    return await http.post("/play/ask", headers=own, json={"tool": tool, "arguments": arguments})


def events(reply: httpx2.Response) -> list[dict[str, Any]]:
    assert reply.status_code == 200, reply.text
    return [json.loads(line) for line in reply.text.splitlines()]


async def test_the_page_is_the_same_for_everybody_and_needs_no_token(door: Door) -> None:
    async with (
        door(auth_mode="secret", auth_secret=SECRET, toolsets="answer") as one,
        door(
            auth_mode="secret", auth_secret=SECRET, toolsets="all", search_providers="serper"
        ) as other,
    ):
        paths = ("/play", "/play.js", "/play/suggestions")
        pages = [await http.get(path) for http in (one, other) for path in paths]
    assert [page.status_code for page in pages] == [200] * 6
    assert [page.text for page in pages[:3]] == [page.text for page in pages[3:]]
    assert 'type="password"' in pages[0].text
    policy = pages[0].headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert pages[1].headers["content-type"] == "text/javascript; charset=utf-8"


async def test_without_authentication_no_form_asks_for_a_token(door: Door) -> None:
    async with door() as http:
        assert "password" not in (await http.get("/play")).text


async def test_it_can_be_off(door: Door) -> None:
    async with door(playground="off") as http:
        replies = [await http.get(path) for path in ("/play", "/play.js", "/play/suggestions")]
        replies.append(await ask(http, query=QUESTION))
    assert [reply.status_code for reply in replies] == [404] * 4


async def test_a_call_needs_a_token_with_the_scope_of_its_tool(door: Door) -> None:
    async with door(auth_mode="secret", auth_secret=SECRET) as http:
        nobody = await ask(http, query=QUESTION)
        reader = await ask(http, headers=bearer(scope="read"), query=QUESTION)
        alice = await ask(http, headers=bearer(), query=QUESTION)
    assert (nobody.status_code, reader.status_code) == (401, 403)
    assert "330 metres" not in nobody.text + reader.text
    assert "330 metres" in alice.text


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, False),
        ({"Origin": "OWN"}, True),
        ({"Origin": "OWN", "Sec-Fetch-Site": "same-site"}, False),
        ({"Origin": "OWN", "Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-origin"}, False),
        ({"Origin": "null", "Sec-Fetch-Site": "same-origin"}, False),
        ({"Origin": "http://friend.example"}, False),
        ({"Origin": "http://localhost:PORT"}, False),
    ],
)
async def test_only_its_own_page_may_ask(
    door: Door, headers: dict[str, str], allowed: bool
) -> None:
    async with door(allowed_origins="http://friend.example") as http:
        own = {
            "OWN": address(http),
            "http://localhost:PORT": f"http://localhost:{http.base_url.port}",
        }
        sent = {name: own.get(value, value) for name, value in headers.items()}
        body = {"tool": "search_web", "arguments": {"query": QUESTION}}
        reply = await http.post("/play/ask", headers=sent, json=body)
        asked = await http.get("/play/ask", headers={"Origin": address(http)})
    assert reply.status_code == (200 if allowed else 403)
    assert asked.status_code == 405


async def test_the_reply_tells_stages_upstreams_and_at_last_the_result(door: Door) -> None:
    async with door() as http:
        told = events(await ask(http, query=QUESTION))
    assert told[0]["stage"] == "Checking the question"
    assert "Searching the web with gpt-5-nano" in [event.get("stage") for event in told]
    began, ended = (event["upstream"] for event in told if "upstream" in event)
    assert (began["name"], began["outcome"], ended["outcome"]) == ("openai", "", "ok")
    last = told[-1]
    assert "330 metres" in last["result"]["text"]
    assert last["upstreams"] == [
        {**ended, "usd": pytest.approx(last["result"]["costUsd"], abs=1e-6)}
    ]
    assert 0 < last["upstreams"][0]["seconds"] <= last["seconds"]
    assert [event["seconds"] for event in told] == sorted(event["seconds"] for event in told)


async def test_a_fallback_shows_who_failed_and_what_each_cost(door: Door, sandbox: Sandbox) -> None:
    sandbox.fault("openai", "status", status=503)
    async with door() as http:
        last = events(await ask(http, query="How do I descale an espresso machine?"))[-1]
    asked = {one["name"]: (one["outcome"], one["usd"]) for one in last["upstreams"]}
    assert asked == {"openai": ("PROVIDER", 0.0), "serper": ("ok", 0.001)}
    assert last["result"]["fallback"]["from"] == "openai"


async def test_what_comes_from_the_cache_asked_nobody(door: Door) -> None:
    async with door() as http:
        await ask(http, query=QUESTION)
        last = events(await ask(http, query=QUESTION))[-1]
    assert (last["result"]["cache"], last["upstreams"]) == ("exact", [])


async def test_an_error_ends_the_reply(door: Door) -> None:
    async with door() as http:
        last = events(await ask(http, query="polymarket odds on a fed rate cut"))[-1]
    assert (last["error"]["code"], last["upstreams"]) == ("VALIDATION", [])


@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [
        ("cache_clear", {}, "TOOLSETS"),
        ("search_docs", {"query": "x"}, "TOOLSETS"),
        ("search_web", {"q2": 1}, "q2"),
    ],
)
async def test_other_tools_and_bad_arguments_are_refused(
    door: Door, tool: str, arguments: dict[str, Any], word: str
) -> None:
    async with door(toolsets="answer,admin") as http:
        reply = await ask(http, tool, **arguments)
    assert reply.status_code == 400
    assert word in reply.json()["error"]["message"]


async def test_a_person_who_leaves_cancels_the_call(door: Door, sandbox: Sandbox) -> None:
    sandbox.fault("openai", "hang")
    async with door() as http:
        task = asyncio.create_task(ask(http, query=QUESTION))
        await sandbox.wait_for("openai", calls=1)
        task.cancel()
        await sandbox.wait_for("openai", cancelled=1)


def asked(**outcomes: str) -> list[AskedUpstream]:
    return [AskedUpstream(name, 1, 0.1, outcome) for name, outcome in outcomes.items()]


@pytest.mark.parametrize(
    ("result", "upstreams", "said"),
    [
        (SearchResponse(text="x", citations=(Citation(),)), [], ""),
        (SearchResponse(text="x"), [], "nothing in it is proven"),
        (
            SearchResponse(),
            asked(a="TIMEOUT", b="ok", c="ok"),
            "b and c answered, but found no page",
        ),
        (SearchResponse(), asked(a="TIMEOUT", b="ok"), "a (TIMEOUT) failed."),
        (
            WebSearchResponse(),
            asked(a="CANCELLED", b="ok"),
            "b answered, but found no page for these words. Try",
        ),
        (WebSearchResponse(cache="exact"), [], "the cache kept that"),
        (WebSearchResponse(), [], "No upstream was asked."),
        (
            PagePassages(queries=(QueryPassages(query="x"),), note="scanned"),
            [],
            "It says: scanned.",
        ),
        (DocsSearchResponse(), [], "No section matches"),
    ],
)
def test_an_empty_result_says_why(
    result: WireModel, upstreams: list[AskedUpstream], said: str
) -> None:
    told = why_nothing(result, upstreams)
    assert said in told
    assert bool(said) == bool(told)
