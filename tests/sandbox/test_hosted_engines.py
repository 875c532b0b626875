"""The stand-ins for Anthropic and Gemini refuse and reply as the real APIs do."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from websearch_gateway.sandbox import Sandbox, key_of

RPC = "type.googleapis.com/google.rpc"
QUESTION = "How tall is the Eiffel Tower?"
TOOL = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
MESSAGES = [{"role": "user", "content": QUESTION}]
CLAUDE: dict[str, Any] = {
    "model": "claude-haiku-5-5",
    "max_tokens": 4096,
    "messages": MESSAGES,
    "tools": [TOOL],
}
GEMINI: dict[str, Any] = {
    "contents": [{"role": "user", "parts": [{"text": QUESTION}]}],
    "tools": [{"googleSearch": {}}],
}


async def claude(http: httpx2.AsyncClient, **changes: Any) -> httpx2.Response:
    headers = {"x-api-key": key_of("anthropic"), "anthropic-version": "2023-06-01"}
    return await http.post("/anthropic/v1/messages", json={**CLAUDE, **changes}, headers=headers)


async def gemini(http: httpx2.AsyncClient, **changes: Any) -> httpx2.Response:
    url = "/gemini/v1beta/models/gemini-3.5-flash-lite:generateContent"
    return await http.post(
        url, json={**GEMINI, **changes}, headers={"x-goog-api-key": key_of("gemini")}
    )


@pytest.mark.parametrize("model", ["claude-haiku-5-5", "claude-sonnet-5-5", "claude-haiku-4-5"])
async def test_claude_thinks_searches_and_cites(http: httpx2.AsyncClient, model: str) -> None:
    reply = (await claude(http, model=model)).json()
    kinds = [block["type"] for block in reply["content"]]
    assert kinds[:4] == ["thinking", "text", "server_tool_use", "web_search_tool_result"]
    assert any(block.get("citations") for block in reply["content"])
    assert reply["usage"]["server_tool_use"]["web_search_requests"] == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"max_tokens": None},
        {"messages": []},
        {"temperature": 0},
        {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        {
            "messages": [
                *MESSAGES,
                {"role": "assistant", "content": [{"type": "text", "text": "It is"}]},
            ]
        },
        {"tools": [{"type": "web_search_20250305"}]},
        {"tools": [{**TOOL, "type": "web_search_19990101"}]},
        {"tools": [{**TOOL, "allowed_domains": ["a.example"], "blocked_domains": ["b.example"]}]},
        {"tools": [{**TOOL, "user_location": {"country": "GB"}}]},
    ],
    ids=str,
)
async def test_what_anthropic_refuses_is_refused(
    http: httpx2.AsyncClient, changes: dict[str, Any]
) -> None:
    reply = await claude(http, **changes)
    assert (reply.status_code, reply.json()["error"]["type"]) == (400, "invalid_request_error")


async def test_an_older_claude_takes_a_temperature_and_a_prefill(http: httpx2.AsyncClient) -> None:
    prefill = [*MESSAGES, {"role": "assistant", "content": [{"type": "text", "text": "It is"}]}]
    assert (
        await claude(http, model="claude-haiku-4-5", temperature=0, messages=prefill)
    ).status_code == 200


async def test_claude_finds_nothing_on_other_domains(http: httpx2.AsyncClient) -> None:
    async def found(**domains: Any) -> list[Any]:
        content = (await claude(http, tools=[{**TOOL, **domains}])).json()["content"]
        [result] = [
            block["content"] for block in content if block["type"] == "web_search_tool_result"
        ]
        return list(result)

    assert await found(allowed_domains=["0.0.1"]), "subdomains are covered"
    assert await found(allowed_domains=["a.example"]) == []
    assert await found(blocked_domains=["127.0.0.1"]) == []


async def test_a_search_of_claude_can_fail_within_a_good_reply(
    http: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    sandbox.fault("anthropic", "search_failed")
    reply = await claude(http)
    [result] = [
        block["content"]
        for block in reply.json()["content"]
        if block["type"] == "web_search_tool_result"
    ]
    assert (reply.status_code, result) == (
        200,
        {"type": "web_search_tool_result_error", "error_code": "unavailable"},
    )
    assert reply.json()["usage"]["server_tool_use"]["web_search_requests"] == 0


async def test_gemini_counts_its_thoughts(http: httpx2.AsyncClient) -> None:
    reply = (await gemini(http)).json()
    usage = reply["usageMetadata"]
    assert usage["thoughtsTokenCount"] > 0
    assert usage["totalTokenCount"] == sum(
        count for name, count in usage.items() if name != "totalTokenCount"
    )
    assert reply["responseId"]


@pytest.mark.parametrize(
    "changes",
    [{"contents": []}, {"tools": [{"googleSearch": {"excludeDomains": ["a.example"]}}]}],
    ids=str,
)
async def test_what_google_refuses_is_refused(
    http: httpx2.AsyncClient, changes: dict[str, Any]
) -> None:
    """Only Vertex AI takes domains."""
    reply = await gemini(http, **changes)
    assert (reply.status_code, reply.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    ("status", "reason", "kind", "details"),
    [
        (
            400,
            "API_KEY_INVALID",
            "INVALID_ARGUMENT",
            [{"@type": f"{RPC}.ErrorInfo", "reason": "API_KEY_INVALID"}],
        ),
        (400, "FAILED_PRECONDITION", "FAILED_PRECONDITION", []),
        (429, "34s", "RESOURCE_EXHAUSTED", [{"@type": f"{RPC}.RetryInfo", "retryDelay": "34s"}]),
        (
            429,
            "PerDay",
            "RESOURCE_EXHAUSTED",
            [{"@type": f"{RPC}.QuotaFailure", "violations": [{"quotaId": "PerDay"}]}],
        ),
        (504, None, "DEADLINE_EXCEEDED", []),
    ],
)
async def test_a_status_fault_has_the_body_that_google_sends(
    http: httpx2.AsyncClient,
    sandbox: Sandbox,
    status: int,
    reason: str | None,
    kind: str,
    details: list[Any],
) -> None:
    sandbox.fault("gemini", "status", status=status, reason=reason)
    reply = await gemini(http)
    error = reply.json()["error"]
    assert (reply.status_code, error["status"], error["details"]) == (status, kind, details)
