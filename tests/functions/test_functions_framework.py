"""The function in Google's own server, in an environment made of `functions/requirements.txt` alone."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.functions.conftest import QUESTION, SECRET, Start, mcp_client, token
from tests.functions.instances import Running, left_behind
from tests.patience import PATIENCE
from websearch_gateway.sandbox import Sandbox

pytestmark = pytest.mark.timeout(300)


async def ask(url: str, query: str = QUESTION, user: str = "main-agent") -> dict[str, Any]:
    async with mcp_client(url, user) as client:
        result = await client.call_tool("search_web", {"query": query})
    assert result.structured_content is not None
    return result.structured_content


def access_log(server: Running) -> list[tuple[str, int]]:
    """Route and status of every request, as the log tells them."""
    events = [json.loads(line) for line in server.lines if line.startswith("{")]
    return [(event["route"], event["status"]) for event in events if event["event"] == "http"]


async def test_only_who_has_a_token_gets_an_answer_and_the_end_leaves_no_orphan_and_no_file(
    instance: Start, sandbox: Sandbox
) -> None:
    with instance() as (url, server):
        async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=PATIENCE) as http:
            assert (await http.get("/healthz")).json() == {"status": "ok"}
            refused = await http.post("/mcp", json={})
            lost = await http.get("/nowhere", headers=token())
        answer = await ask(url)
        sandbox.fault("openai", "status", status=503)
        other = await ask(url, "How tall is the tower of Pisa?")
        # So pages were read, by processes of their own.
        assert other["fallback"]["from"] == "openai"
        assert len(left_behind(server.folder, 0)) >= 3
    assert (refused.status_code, lost.status_code) == (401, 404)
    assert (
        f'resource_metadata="{url}/.well-known/oauth-protected-resource/mcp"'
        in refused.headers["www-authenticate"]
    )
    assert "330" in answer["text"]
    assert answer["provider"].endswith("-web-search")
    assert all(answer["text"][c["startIndex"] : c["endIndex"]] for c in answer["citations"])
    assert answer["citations"]
    assert access_log(server)[:3] == [("(none)", 401), ("(none)", 404), ("/mcp", 200)]
    assert SECRET not in "".join(server.lines)
    assert left_behind(server.folder) == []
    assert [path for path in server.folder.rglob("*") if path.is_file()] == []


async def test_two_instances_share_limits_and_cache(instance: Start, sandbox: Sandbox) -> None:
    limit = "5/10minutes"
    with (
        instance(CACHED_RATE_LIMIT=limit) as (one, _),
        instance(CACHED_RATE_LIMIT=limit) as (other, _),
    ):
        assert (await ask(one))["cache"] == "miss"
        assert (await ask(other))["cache"] == "exact"
        # One after the other: only the real Firestore returns each caller its own count.
        answers = [await ask(url) for url in (one, other) * 4]
        assert "error" not in await ask(other, user="another")
    refused = [answer["error"]["code"] for answer in answers if "error" in answer]
    assert refused == ["RATE_LIMIT"] * 4
    assert sandbox.calls("openai") == 1


async def test_what_cannot_start_says_so_and_keeps_the_reason_to_its_log(instance: Start) -> None:
    with instance(AUTH_MODE="none") as (url, server):
        async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=PATIENCE) as http:
            replies = [await http.get("/healthz") for _ in range(2)]
    assert {reply.status_code for reply in replies} == {503}
    assert "AUTH_MODE" not in replies[0].text
    assert any("AUTH_MODE" in line for line in server.lines)
