"""What is searched for a message of a chat."""

from __future__ import annotations

import pytest

from websearch_gateway.entrypoints.http.compatible.openai_api.common import question
from websearch_gateway.text.normalise import LONGEST_QUERY

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
