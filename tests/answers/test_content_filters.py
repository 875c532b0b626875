"""Each vendor has a word of its own for an answer that its content filter stopped; callers see one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import SecretStr

from websearch_gateway.answers.common import FILTERED, EngineApi
from websearch_gateway.answers.gemini import Gemini
from websearch_gateway.answers.openai import OpenAI
from websearch_gateway.answers.perplexity import Perplexity
from websearch_gateway.base import Reply
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import HttpRequest

INCOMPLETE: dict[str, Any] = {
    "status": "incomplete",
    "incomplete_details": {"reason": "content_filter"},
}


def openai_reply(text: str) -> dict[str, Any]:
    call = {"type": "web_search_call", "status": "completed", "action": {"type": "search"}}
    return {
        **INCOMPLETE,
        "output": [call, {"type": "message", "content": [{"type": "output_text", "text": text}]}],
    }


def perplexity_reply(text: str) -> dict[str, Any]:
    search = {"type": "search_results", "results": []}
    return {
        **INCOMPLETE,
        "output": [search, {"type": "message", "content": [{"type": "output_text", "text": text}]}],
    }


def gemini_reply(text: str) -> dict[str, Any]:
    content = {"parts": [{"text": text}]} if text else {}
    return {
        "candidates": [
            {
                "content": content,
                "finishReason": "SAFETY",
                "groundingMetadata": {"webSearchQueries": ["q"]},
            }
        ]
    }


ENGINES = pytest.mark.parametrize(
    ("api", "reply"),
    [
        (OpenAI(SecretStr(""), "https://o.example"), openai_reply),
        (Perplexity(SecretStr(""), "https://p.example"), perplexity_reply),
        (Gemini(SecretStr(""), "https://g.example"), gemini_reply),
    ],
    ids=["openai", "perplexity", "gemini"],
)


@ENGINES
def test_an_answer_that_the_filter_cut_off_is_served_with_a_warning_that_names_it(
    api: EngineApi, reply: Any
) -> None:
    answer = api.parse(json.dumps(reply("Built in 1889.")).encode())
    assert (answer.text, answer.warnings) == ("Built in 1889.", (FILTERED,))


@ENGINES
def test_an_answer_that_the_filter_stopped_at_once_is_a_refusal_that_names_it(
    api: EngineApi, reply: Any
) -> None:
    with pytest.raises(SearchValidationError, match=f"The content filter of {api.vendor}"):
        api.parse(json.dumps(reply("")).encode())


@pytest.mark.parametrize("code", ["content_filter", "ResponsibleAIPolicyViolation"])
def test_a_question_that_azures_filter_refuses_says_so(code: str) -> None:
    """https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter"""
    body = {
        "error": {
            "code": code,
            "param": "prompt",
            "message": "The response was filtered.",
            "status": 400,
        }
    }
    error = OpenAI(SecretStr("k"), "https://o.example").refusal(
        HttpRequest("POST", "https://o.example/responses", json={"input": "q"}),
        Reply(400, {}, json.dumps(body).encode()),
    )
    assert isinstance(error, SearchValidationError)
    assert "content filter of OpenAI" in error.message
