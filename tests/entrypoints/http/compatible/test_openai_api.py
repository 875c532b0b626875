from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from tests.entrypoints.http.conftest import Door
from tests.opening import UPSTREAMS
from tests.patience import PATIENCE
from websearch_gateway.app.gateway import Gateway
from websearch_gateway.base.urls import host
from websearch_gateway.entrypoints.http.compatible import openai_answers
from websearch_gateway.entrypoints.http.compatible.openai_answers import (
    answered,
    cited_places,
    question,
)
from websearch_gateway.models import LOCAL, LONGEST_QUERY, SearchRequest
from websearch_gateway.sandbox import LLM_MODEL, Sandbox, key_of
from websearch_gateway.settings.loading import ENGINES

QUESTION = "Who keeps the lighthouse of Skerry?"


def events(text: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


async def test_a_failure_in_mid_stream_is_the_last_event(
    door: Door, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_answers, "EARLY_SECONDS", 0)
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


async def test_a_refusal_comes_before_the_stream(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine may take longer to refuse.
    monkeypatch.setattr(openai_answers, "EARLY_SECONDS", PATIENCE)
    async with door(rate_limit="1/minute") as http:
        bad = await http.post("/v1/responses", json={"input": "x", "stream": True})
        asked = (QUESTION, "What is a tide?")
        replies = [
            await http.post("/v1/responses", json={"input": one, "stream": True}) for one in asked
        ]
    assert bad.status_code == 400
    assert [reply.status_code for reply in replies] == [200, 429]
    assert int(replies[1].headers["retry-after"]) > 0


async def test_events_come_in_the_order_that_clients_need(door: Door) -> None:
    async with door() as http:
        told = events(
            (await http.post("/v1/responses", json={"input": QUESTION, "stream": True})).text
        )
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
    assert (
        "".join(event["delta"] for event in told if event["type"].endswith("delta")) == done["text"]
    )
    assert done["annotations"] == [event["annotation"] for event in told if "annotation" in event]


Open = Callable[..., AbstractAsyncContextManager[Gateway]]

LONG = "I have an old machine in the kitchen. " * 20


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("How tall is the Eiffel Tower?", "How tall is the Eiffel Tower?"),
        (f"{LONG}How do I descale it? Thanks!", "How do I descale it?"),
        (f"Which one is best? {LONG}How do I descale it?\n\n{LONG} OK?", "How do I descale it?"),
    ],
)
def test_the_last_question_of_a_long_message_is_asked(message: str, asked: str) -> None:
    assert question(message, []).query == asked


@pytest.mark.parametrize(
    "message", [LONG, "word " * 400, "x" * 1000, "x" * 1000 + "?", "。" * 900, "? " * 900]
)
def test_a_long_message_without_a_question_is_cut_between_words(message: str) -> None:
    asked = question(message, []).query
    assert 3 <= len(asked) <= LONGEST_QUERY
    assert " ".join(message.split()).startswith(asked)
    assert " " not in message.strip() or message[len(asked)] == " "


def test_a_message_is_never_cut_within_a_word_where_the_half_of_a_key_would_remain() -> None:
    asked = question(f"{LONG}Why does postgres://admin:S3cr3tWord9@db.example:5432/app?", []).query
    assert asked == "Why does postgres://admin:S3cr3tWord9@db.example:5432/app?"


def test_the_domains_of_the_search_tool_are_those_of_the_question() -> None:
    tool = {
        "type": "web_search",
        "filters": {"allowed_domains": ["a.example"], "blocked_domains": None},
    }
    assert question("What is new there?", [tool]).include_domains == ("a.example",)
    assert (
        question("What is new there?", [{"type": "web_search", "filters": None}]).include_domains
        == ()
    )


@pytest.mark.parametrize("engine", [*(row.name for row in ENGINES), "llm", "raw"])
async def test_every_citation_is_a_link_whatever_engine_wrote_the_answer(
    gateway: Open, engine: str
) -> None:
    settings = {
        f"{row.name}_api_key": key_of(row.name) for row in ENGINES if row.name != "openai"
    } | {"llm_model": LLM_MODEL}
    raw = dict.fromkeys(settings) | {"openai_api_key": None}
    asked = SearchRequest("How tall is the Eiffel Tower?")
    async with gateway(
        **(raw if engine == "raw" else {**settings, "answer_engines": engine})
    ) as opened:
        answer = await answered(opened, asked, LOCAL)
        own = await opened.search(asked)
    places = cited_places(answer)
    assert (
        {place["url"] for place in places} == {citation.url for citation in own.citations} != set()
    )
    for place in places:
        link = f"([{host(place['url'])}]({place['url']}))"
        shown = answer.text[place["start_index"] : place["end_index"]]
        assert link == shown or (engine == "openai" and place["url"] in shown)
    assert "[1]" not in answer.text
