from __future__ import annotations

import asyncio
import itertools
import json
import logging
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.entrypoints.http.calls import QUESTION, VERSIONS, bearer, call, post, raw, search
from tests.entrypoints.http.conftest import SECRET, Door
from tests.patience import PATIENCE
from tests.tracing import Spans
from websearch_gateway.entrypoints.http import middleware as exchange
from websearch_gateway.entrypoints.http.middleware import MAX_BODY_BYTES, Frame, Names

TOLD = "quotes a secret"
SCOPE: Scope = {"type": "http", "method": "GET", "path": "/", "headers": []}


async def served(app: ASGIApp, sent: list[Message]) -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await Frame(app)(dict(SCOPE), receive, send)


async def test_it_is_told_as_a_typed_error_without_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(_: Scope, __: Receive, ___: Send) -> None:
        raise RuntimeError(TOLD)

    sent: list[Message] = []
    await served(broken, sent)
    assert sent[0]["status"] == 500
    assert json.loads(sent[1]["body"])["error"]["code"] == "PROVIDER"
    assert TOLD not in f"{sent} {caplog.text}"
    assert "RuntimeError" in caplog.text


async def test_a_reply_that_has_begun_is_broken_off(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError

    caplog.set_level(logging.INFO, "websearch_gateway")
    sent: list[Message] = []
    with pytest.raises(RuntimeError):
        await served(broken, sent)
    assert [message["type"] for message in sent] == ["http.response.start"]
    assert [record.msg["status"] for record in caplog.records if isinstance(record.msg, dict)] == [
        200
    ]


@pytest.mark.parametrize(
    ("given", "kept"), [("call-7.a", True), ("x" * 129, False), ("a b", False), ("", False)]
)
async def test_a_request_keeps_its_id_or_gets_one(
    given: str, kept: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """In X-Request-Id and in the log; one that could break either is replaced."""

    async def fine(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    caplog.set_level(logging.INFO, "websearch_gateway")
    sent: list[Message] = []
    SCOPE["headers"] = [(b"x-request-id", given.encode())]
    await served(fine, sent)
    SCOPE["headers"] = []
    told = dict(sent[0]["headers"])[b"x-request-id"].decode()
    assert (told == given) is kept
    assert [
        record.msg["request_id"] for record in caplog.records if isinstance(record.msg, dict)
    ] == [told]


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
UNSAMPLED = PARENT.removesuffix("01") + "00"


def traces(spans: Spans) -> set[str]:
    """The ids of all traces."""
    return {f"{span.context.trace_id:032x}" for span in spans.ended if span.context}


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_header_traceparent_is_followed_down_to_the_upstream(
    door: Door, spans: Spans, version: str
) -> None:
    async with door() as http:
        await post(http, search(version=version), traceparent=PARENT)
    assert traces(spans) == {TRACE}
    request, protocol, tool = (
        spans.one("POST /mcp"),
        spans.one("tools/call search_web"),
        spans.one("search_web"),
    )
    assert f"{request.parent.span_id:016x}" == "00f067aa0ba902b7"
    assert protocol.parent.span_id == request.context.span_id
    assert tool.parent.span_id == protocol.context.span_id
    assert spans.one("upstream openai").parent.span_id == spans.one("answer").context.span_id
    assert dict(request.attributes) == {
        "http.request.method": "POST",
        "http.route": "/mcp",
        "http.response.status_code": 200,
    }


async def test_the_span_of_a_request_names_its_session_if_the_client_does(
    door: Door, spans: Spans
) -> None:
    async with door() as http:
        for session in ("5b2f-1", "not one"):
            await post(http, search(), **{"Mcp-Session-Id": session})
    told = [
        (span.attributes or {}).get("mcp.session.id")
        for span in spans.named("tools/call search_web")
    ]
    assert told == ["5b2f-1", None]


async def test_the_traceparent_of_a_message_wins(door: Door, spans: Spans) -> None:
    """MCP's `_meta` (SEP-414): the client's span for this message, which the transport knows nothing of."""
    made = call(
        "tools/call", {"name": "search_web", "arguments": {"query": QUESTION}}, "2026-07-28"
    )
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


@pytest.mark.parametrize(
    "header", ["00-zz-00f067aa0ba902b7-01", "\xff", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", ""]
)
async def test_a_broken_traceparent_begins_a_trace_of_our_own(
    door: Door, spans: Spans, header: str
) -> None:
    async with door() as http:
        reply = await http.post(
            "/v1/search",
            json={"query": QUESTION},
            headers={b"traceparent": header.encode("latin-1")},
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
    assert spans.one("POST").attributes == {
        "http.request.method": "POST",
        "http.response.status_code": 404,
    }
    assert "secret" not in spans.as_text()


METADATA = "/.well-known/oauth-protected-resource"
ROUTES = ["/mcp", "/v1/search", "/healthz", "/readyz", "/openapi.json", METADATA, "/nope"]
EVERY_ROUTE = list(itertools.product(("GET", "POST", "OPTIONS"), ROUTES))
EVIL_HOSTS = [
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost:1",
    "[::1]",
    "0.0.0.0",
    "",
]
EVIL_ORIGINS = [
    "http://evil.example",
    "null",
    "http://localhost",
    "http://localhost:1",
    "https://localhost",
    "file:",
    "",
]


async def test_another_host_is_refused_on_every_route(door: Door) -> None:
    async with door(auth_mode="secret", auth_secret=SECRET) as http:
        for host, (method, path) in itertools.product(EVIL_HOSTS, EVERY_ROUTE):
            assert (
                await http.request(method, path, headers={"Host": host, **bearer()})
            ).status_code == 421


async def test_another_origin_is_refused_on_every_route(door: Door) -> None:
    async with door(auth_mode="secret", auth_secret=SECRET) as http:
        for origin, (method, path) in itertools.product(EVIL_ORIGINS, EVERY_ROUTE):
            reply = await http.request(method, path, headers={"Origin": origin, **bearer()})
            assert reply.status_code == 403
            assert "access-control-allow-origin" not in reply.headers


async def test_this_machine_is_served_by_its_names_with_the_port(door: Door) -> None:
    async with door() as http:
        for name in ("localhost", "LOCALHOST", "127.0.0.1", "[::1]"):
            here = f"{name}:{http.base_url.port}"
            assert (
                await http.get("/healthz", headers={"Host": here, "Origin": f"http://{here}"})
            ).status_code == 200


@pytest.mark.parametrize(
    ("settings", "host", "origin"),
    [
        ({"public_url": "https://gw.example"}, "gw.example", "https://gw.example"),
        ({"public_url": "https://GW.example/"}, "Gw.Example:443", "https://gw.example:443"),
        ({"public_url": "http://gw.example:8080"}, "gw.example:8080", "http://gw.example:8080"),
        ({"allowed_hosts": "a.example, b.example:*"}, "a.example", None),
        ({"allowed_hosts": "a.example, b.example:8"}, "A.example:8080", None),
        ({"allowed_hosts": "[fd00::1]"}, "[fd00::1]:8080", None),
        ({"public_url": "https://gw.example"}, "gw.example:8443", None),
        ({"allowed_hosts": "a.example, b.example:*"}, "b.example:7", None),
        (
            {"allowed_hosts": "a.example", "allowed_origins": "https://app.example/"},
            "a.example",
            "https://app.example",
        ),
        (
            {"allowed_hosts": "a.example", "allowed_origins": "http://app.example:*"},
            "a.example",
            "http://app.example:3",
        ),
    ],
)
async def test_names_that_the_operator_gave_are_served(
    door: Door, settings: dict[str, Any], host: str, origin: str | None
) -> None:
    headers = {"Host": host, **({"Origin": origin} if origin else {})}
    async with door(**settings) as http:
        reply = await http.get("/healthz", headers=headers)
    assert reply.status_code == 200
    assert reply.headers.get("access-control-allow-origin") == origin


@pytest.mark.parametrize(
    "name",
    ["b.example:", "b.example:x", "b.example:7:7", "xb.example:7", "b.example:٧", "a.example:1"],
)
def test_a_pattern_matches_its_name_and_digits_only(name: str) -> None:
    assert name not in Names(["a.example", "b.example:*"])


@pytest.mark.parametrize(
    "name",
    ["a.example:", "a.example:x", "xa.example:7", "c.example:8", "c.example", "a.example.:1"],
)
def test_a_host_without_a_port_matches_any_port_of_its_name_only(name: str) -> None:
    assert name not in Names(["a.example", "c.example:7"], any_port=True)


async def test_a_path_with_a_slash_at_its_end_is_the_path(door: Door) -> None:
    listing = call("tools/list")
    async with door() as http:
        for path in ("/mcp/", "/mcp//"):
            assert "tools" in (await http.post(path, **listing)).json()["result"]
        assert (await http.post("/v1/search/", json={"query": QUESTION})).status_code == 200
        assert (await http.get("/healthz/")).status_code == 200


@pytest.mark.parametrize("path", ["/mcp", "/v1/web", "/search"])
@pytest.mark.parametrize(
    "media_type", ["Application/JSON", "application/json; charset=UTF-8", "APPLICATION/JSON;q=1"]
)
async def test_a_media_type_has_no_case(door: Door, path: str, media_type: str) -> None:
    body: dict[str, Any] = (
        call("tools/list") if path == "/mcp" else {"headers": {}, "json": {"query": QUESTION}}
    )
    headers = {**body["headers"], "Content-Type": media_type}
    headers |= {"Accept": headers["Accept"].title()} if "Accept" in headers else {}
    async with door() as http:
        reply = await http.post(path, content=json.dumps(body["json"]), headers=headers)
    assert reply.status_code == 200, reply.text


async def test_a_request_with_two_ends_is_refused_and_ends_its_connection(door: Door) -> None:
    """A request in the rest of the body would be hidden from a proxy that counts by the length."""
    async with door() as http:
        host = f"127.0.0.1:{http.base_url.port}"
        hidden = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n"
        framing = f"Content-Length: {len(hidden) + 5}\r\nTransfer-Encoding: chunked"
        request = f"POST /v1/search HTTP/1.1\r\nHost: {host}\r\n{framing}\r\n\r\n0\r\n\r\n{hidden}"
        reader, writer = await asyncio.open_connection("127.0.0.1", http.base_url.port)
        writer.write(request.encode())
        replies = await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()
    assert replies.startswith(b"HTTP/1.1 400 ")
    assert replies.count(b"HTTP/1.1") == 1


async def test_two_hosts_are_too_many(door: Door) -> None:
    async with door() as http:
        here = f"127.0.0.1:{http.base_url.port}".encode()
        twice = b"GET /healthz HTTP/1.1\r\nHost: " + here + b"\r\nHost: evil.example\r\n\r\n"
        none = b"GET /healthz HTTP/1.0\r\n\r\n"
        absolute = b"GET http://evil.example/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n"
        disguised = b"GET http://evil.example/healthz HTTP/1.1\r\nHost: " + here + b"\r\n\r\n"
        replies = [await raw(http, request) for request in (twice, none, absolute, disguised)]
    assert [reply.split(b" ")[1] for reply in replies] == [b"400", b"421", b"421", b"404"]


async def test_a_browser_of_an_allowed_origin_may_ask_first(door: Door) -> None:
    wanted = "authorization, content-type, mcp-protocol-version, mcp-method, mcp-name"
    headers = {
        "Origin": "https://app.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": wanted,
    }
    async with door(
        allowed_origins="https://app.example", auth_mode="secret", auth_secret=SECRET
    ) as http:
        before = await http.options("/mcp", headers=headers)
        then = await post(http, call("tools/list"), Origin="https://app.example", **bearer())
    assert before.status_code == 200
    assert before.headers["access-control-allow-origin"] == "https://app.example"
    assert set(wanted.split(", ")) <= set(
        before.headers["access-control-allow-headers"].lower().split(", ")
    )
    assert "access-control-allow-credentials" not in before.headers
    assert then.headers["access-control-allow-origin"] == "https://app.example"
    assert "WWW-Authenticate" in then.headers["access-control-expose-headers"]


async def test_every_reply_has_sane_headers_and_no_banner(door: Door) -> None:
    async with door() as http:
        for path in ROUTES:
            reply = await http.get(path)
            assert reply.headers["x-content-type-options"] == "nosniff"
            assert reply.headers["cache-control"] == "no-store"
            assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
            assert "server" not in reply.headers
            assert reply.headers["content-type"] == "application/json"


async def test_the_largest_body_is_served_and_one_byte_more_is_refused(door: Door) -> None:
    made = call("tools/list")
    async with door() as http:
        for excess, status in ((0, 200), (1, 413)):
            body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"x":"'
            body += b"x" * (MAX_BODY_BYTES + excess - len(body) - 4) + b'"}}}'
            headers = {**made["headers"], "Content-Type": "application/json"}
            reply = await http.post("/mcp", headers=headers, content=body)
            assert reply.status_code == status


async def test_a_path_without_a_token_takes_only_a_short_body(door: Door) -> None:
    async with door(auth_mode="secret", auth_secret=SECRET) as http:
        for path in ("/healthz", "/openapi.json", METADATA):
            assert (
                await http.post(path, content=b" " * exchange.MAX_STRANGER_BYTES)
            ).status_code == 405
            assert (
                await http.post(path, content=b" " * (exchange.MAX_STRANGER_BYTES + 1))
            ).status_code == 413


async def test_bodies_share_a_budget_of_which_a_caller_has_half(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "BUDGET_BYTES", 4_000)
    begun: list[asyncio.StreamWriter] = []

    async def status(user: str) -> int:
        return (await http.post("/nope", headers=bearer(user), content=b" " * 1_500)).status_code

    async def begin(user: str) -> None:
        """Send all but the last byte."""
        _, writer = await asyncio.open_connection("127.0.0.1", http.base_url.port)
        head = f"POST /nope HTTP/1.1\r\nHost: 127.0.0.1:{http.base_url.port}\r\nContent-Length: 1501\r\n"
        writer.write(
            f"{head}Authorization: {bearer(user)['Authorization']}\r\n\r\n".encode() + b" " * 1_500
        )
        begun.append(writer)
        assert (await http.get("/healthz")).status_code == 200  # by now it has been read

    async with door(auth_mode="secret", auth_secret=SECRET) as http:
        assert await status("alice") == 404
        await begin("alice")
        assert await status("alice") == 429
        assert await status("bob") == 404
        await begin("bob")
        refused = await http.post("/nope", headers=bearer("carol"), content=b" " * 1_500)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert refused.json()["error"]["code"] == "RATE_LIMIT"
        begun[0].write(b" ")  # it is complete, and answered
        assert (await http.get("/healthz")).status_code == 200
        assert await status("carol") == 404
        begun[1].transport.abort()
        assert (await http.get("/healthz")).status_code == 200
        assert await status("alice") == 404
    begun[0].transport.abort()


async def test_a_body_without_an_end_is_cut_off(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "DISCARD_SECONDS", 0.1)
    async with door() as http:
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{http.base_url.port}\r\nContent-Type: application/json\r\n"
        piece = b"40000\r\n" + b"[" * 0x40000 + b"\r\n"
        chunked = await raw(http, head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + piece * 5)
        declared = await raw(http, head.encode() + b"Content-Length: 99999999999999\r\n\r\n")
    for reply in (chunked, declared):
        assert reply.split(b" ")[1] in (b"413", b"400")
    assert b"connection: close" in chunked.lower()


async def test_a_body_that_never_comes_is_not_waited_for(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "BODY_SECONDS", 0.1)
    async with door() as http:
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{http.base_url.port}\r\nContent-Length: 10\r\n\r\n12"
        reply = await raw(http, head.encode())
    assert reply.split(b" ")[1] == b"408"


async def test_a_client_who_leaves_before_its_body_came_does_no_harm(door: Door) -> None:
    async with door() as http:
        _, writer = await asyncio.open_connection("127.0.0.1", http.base_url.port)
        writer.write(
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{http.base_url.port}\r\nContent-Length: 9\r\n\r\n1".encode()
        )
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        assert (await http.get("/healthz")).status_code == 200
