"""A stream whose answer fails late ends with an event that says so; one that is refused at once is an HTTP error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.entrypoints.http.conftest import Door
from websearch_gateway.entrypoints.http.compatible.openai_api import streaming
from websearch_gateway.sandbox import Sandbox

QUESTION = "Who keeps the lighthouse of Skerry?"
UPSTREAMS = ("openai", "serper", "tavily", "brave", "google", "synthetic", "searxng", "duckduckgo", "wikipedia")


def events(text: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


async def test_a_failure_in_mid_stream_is_the_last_event(
    door: Door, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "EARLY_SECONDS", 0)
    for name in UPSTREAMS:
        sandbox.fault(name, "status", status=500)
    async with door() as http:
        responses = await http.post("/v1/responses", json={"input": QUESTION, "stream": True})
        messages = [{"role": "user", "content": QUESTION}]
        chat = await http.post("/v1/chat/completions", json={"messages": messages, "stream": True})
    told = events(responses.text)
    assert [event["type"] for event in told[:2]] == ["response.created", "response.in_progress"]
    assert [event["type"] for event in told[-2:]] == ["response.failed", "error"]
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    for last in (told[-1], events(chat.text)[-1]):
        assert set(last["error"]) == {"message", "type", "param", "code"}


async def test_a_refusal_comes_before_the_stream(door: Door, sandbox: Sandbox) -> None:
    async with door(rate_limit="1/minute") as http:
        bad = await http.post("/v1/responses", json={"input": "x", "stream": True})
        asked = (QUESTION, "What is a tide?")
        replies = [await http.post("/v1/responses", json={"input": one, "stream": True}) for one in asked]
    assert bad.status_code == 400
    assert [reply.status_code for reply in replies] == [200, 429]
    assert int(replies[1].headers["retry-after"]) > 0


async def test_events_come_in_the_order_that_clients_need(door: Door) -> None:
    async with door() as http:
        told = events((await http.post("/v1/responses", json={"input": QUESTION, "stream": True})).text)
    kinds = [event["type"].removeprefix("response.") for event in told]
    assert list(dict.fromkeys(kinds)) == [
        "created",
        "in_progress",
        "output_item.added",
        "web_search_call.in_progress",
        "web_search_call.searching",
        "web_search_call.completed",
        "output_item.done",
        "content_part.added",
        "output_text.delta",
        "output_text.annotation.added",
        "output_text.done",
        "content_part.done",
        "completed",
    ]
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    done = told[-1]["response"]["output"][1]["content"][0]
    assert "".join(event["delta"] for event in told if event["type"].endswith("delta")) == done["text"]
    assert done["annotations"] == [event["annotation"] for event in told if "annotation" in event]
