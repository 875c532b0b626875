"""A request is a part of its caller's trace, and those who may not come in start none."""

from __future__ import annotations

import pytest

from tests.entrypoints.http.calls import QUESTION, VERSIONS, bearer, call, post, search
from tests.entrypoints.http.conftest import SECRET, Door
from tests.tracing import Spans

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
UNSAMPLED = PARENT.removesuffix("01") + "00"


def traces(spans: Spans) -> set[str]:
    """The ids of all traces."""
    return {f"{span.context.trace_id:032x}" for span in spans.ended if span.context}


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_header_traceparent_is_followed_down_to_the_upstream(door: Door, spans: Spans, version: str) -> None:
    async with door() as http:
        await post(http, search(version=version), traceparent=PARENT)
    assert traces(spans) == {TRACE}
    request, protocol, tool = spans.one("POST /mcp"), spans.one("tools/call search_web"), spans.one("search_web")
    assert f"{request.parent.span_id:016x}" == "00f067aa0ba902b7"
    assert protocol.parent.span_id == request.context.span_id
    assert tool.parent.span_id == protocol.context.span_id
    assert spans.one("upstream openai").parent.span_id == spans.one("answer").context.span_id
    assert dict(request.attributes) == {
        "http.request.method": "POST",
        "http.route": "/mcp",
        "http.response.status_code": 200,
    }


async def test_the_traceparent_of_a_message_wins(door: Door, spans: Spans) -> None:
    """MCP's `_meta` (SEP-414): the client's span for this message, which the transport knows nothing of."""
    made = call("tools/call", {"name": "search_web", "arguments": {"query": QUESTION}}, "2026-07-28")
    made["json"]["params"]["_meta"]["traceparent"] = PARENT
    async with door() as http:
        await post(http, made)
    tool, request = spans.one("search_web"), spans.one("POST /mcp")
    assert f"{tool.context.trace_id:032x}" == TRACE
    assert f"{request.context.trace_id:032x}" != TRACE


async def test_the_rest_twin_follows_it_too(door: Door, spans: Spans) -> None:
    async with door() as http:
        await http.post("/v1/search", json={"query": QUESTION}, headers={"traceparent": PARENT})
    assert traces(spans) == {TRACE}
    assert spans.one("search_web").parent.span_id == spans.one("POST /v1/search").context.span_id


@pytest.mark.parametrize("header", ["00-zz-00f067aa0ba902b7-01", "\xff", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", ""])
async def test_a_broken_traceparent_begins_a_trace_of_our_own(door: Door, spans: Spans, header: str) -> None:
    async with door() as http:
        reply = await http.post(
            "/v1/search", json={"query": QUESTION}, headers={b"traceparent": header.encode("latin-1")}
        )
    assert reply.status_code == 200
    assert len(traces(spans)) == 1


async def test_a_caller_who_does_not_record_is_not_recorded(door: Door, spans: Spans) -> None:
    async with door() as http:
        await http.post("/v1/search", json={"query": QUESTION}, headers={"traceparent": UNSAMPLED})
    assert spans.ended == ()


async def test_strangers_start_no_trace(door: Door, spans: Spans) -> None:
    async with door(auth_mode="secret", auth_secret=SECRET) as http:
        refused = await post(http, search(), traceparent=PARENT)
        assert spans.ended == ()
        await post(http, search(), **bearer())
    assert refused.status_code == 401
    assert spans.one("POST /mcp")


async def test_looking_is_not_traced(door: Door, spans: Spans) -> None:
    async with door() as http:
        for path in ("/", "/healthz", "/readyz", "/metrics", "/nowhere"):
            await http.get(path)
    assert spans.ended == ()


async def test_an_unknown_path_has_no_name_of_its_own(door: Door, spans: Spans) -> None:
    async with door() as http:
        await http.post("/what-is-my-secret", json={})
    assert spans.one("POST").attributes == {"http.request.method": "POST", "http.response.status_code": 404}
    assert "secret" not in spans.as_text()
