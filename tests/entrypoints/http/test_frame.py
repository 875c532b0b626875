"""What becomes of an error that nobody expected."""

from __future__ import annotations

import json
import logging

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway.entrypoints.http.frame import Frame

TOLD = "quotes a secret"
SCOPE: Scope = {"type": "http", "method": "GET", "path": "/", "headers": []}


async def served(app: ASGIApp, sent: list[Message]) -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await Frame(app)(dict(SCOPE), receive, send)


async def test_it_is_told_as_a_typed_error_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
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
    assert [record.msg["status"] for record in caplog.records if isinstance(record.msg, dict)] == [200]


@pytest.mark.parametrize(("given", "kept"), [("call-7.a", True), ("x" * 129, False), ("a b", False), ("", False)])
async def test_a_request_keeps_its_id_or_gets_one(given: str, kept: bool, caplog: pytest.LogCaptureFixture) -> None:
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
    assert [record.msg["request_id"] for record in caplog.records if isinstance(record.msg, dict)] == [told]
