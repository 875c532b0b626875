"""What is searched for a message of a chat."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from websearch_gateway.app import Gateway
from websearch_gateway.entrypoints.http.compatible.openai_api.common import answered, cited_places, question
from websearch_gateway.models import LOCAL, SearchRequest
from websearch_gateway.sandbox import key_of
from websearch_gateway.sandbox.keys import LLM_MODEL
from websearch_gateway.settings.engines import ENGINES
from websearch_gateway.text.normalise import LONGEST_QUERY
from websearch_gateway.text.urls import host

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


@pytest.mark.parametrize("message", [LONG, "word " * 400, "x" * 1000, "x" * 1000 + "?", "。" * 900, "? " * 900])
def test_a_long_message_without_a_question_is_cut_between_words(message: str) -> None:
    asked = question(message, []).query
    assert 3 <= len(asked) <= LONGEST_QUERY
    assert " ".join(message.split()).startswith(asked)
    assert " " not in message.strip() or message[len(asked)] == " "


def test_a_message_is_never_cut_within_a_word_where_the_half_of_a_key_would_remain() -> None:
    asked = question(f"{LONG}Why does postgres://admin:S3cr3tWord9@db.example:5432/app?", []).query
    assert asked == "Why does postgres://admin:S3cr3tWord9@db.example:5432/app?"


def test_the_domains_of_the_search_tool_are_those_of_the_question() -> None:
    tool = {"type": "web_search", "filters": {"allowed_domains": ["a.example", 7], "blocked_domains": None}}
    assert question("What is new there?", [tool]).include_domains == ("a.example",)
    assert question("What is new there?", [{"type": "web_search", "filters": None}]).include_domains == ()


@pytest.mark.parametrize("engine", [*(row.name for row in ENGINES), "llm", "raw"])
async def test_every_citation_is_a_link_whatever_engine_wrote_the_answer(gateway: Open, engine: str) -> None:
    settings = {f"{row.name}_api_key": key_of(row.name) for row in ENGINES if row.name != "openai"} | {
        "llm_model": LLM_MODEL
    }
    raw = dict.fromkeys(settings) | {"openai_api_key": None}
    asked = SearchRequest("How tall is the Eiffel Tower?")
    async with gateway(**(raw if engine == "raw" else {**settings, "answer_engines": engine})) as opened:
        answer = await answered(opened, asked, LOCAL)
        own = await opened.search(asked)
    places = cited_places(answer)
    assert {place["url"] for place in places} == {citation.url for citation in own.citations} != set()
    for place in places:
        link = f"([{host(place['url'])}]({place['url']}))"
        shown = answer.text[place["start_index"] : place["end_index"]]
        assert link == shown or (engine == "openai" and place["url"] in shown)
    assert "[1]" not in answer.text
