from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from tests.answers.engine_replies import (
    RIVER,
    TOWER,
    claude,
    claude_cited,
    claude_searched,
    encoded,
)
from websearch_gateway.answers.anthropic import MAX_SEARCHES, Anthropic
from websearch_gateway.base.net.client import Reply
from websearch_gateway.errors import (
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchValidationError,
)
from websearch_gateway.models import HttpRequest, SearchQuery

API = Anthropic(SecretStr("key"), "https://api.example")
NOW = datetime(2026, 11, 22, tzinfo=UTC)
GLUE = {"type": "text", "text": " "}


def test_a_cited_block_is_the_span_and_blocks_are_joined_as_they_are() -> None:
    thought = {"type": "thinking", "thinking": "Let me see.", "signature": "x"}
    aloud = {"type": "text", "text": "I look that up. "}
    claims = (
        claude_cited("It is 330 m high.", TOWER, RIVER),
        GLUE,
        claude_cited("The river is long.", RIVER),
    )
    answer = API.parse(
        encoded(
            claude(thought, aloud, *claude_searched("a", TOWER, RIVER, age="2026-05-01"), *claims)
        )
    )
    assert answer.text == "It is 330 m high. The river is long."
    assert [(answer.text[span.start : span.end], span.url) for span in answer.spans] == [
        ("It is 330 m high.", TOWER),
        ("It is 330 m high.", RIVER),
        ("The river is long.", RIVER),
    ]
    assert [(source.url, source.published) for source in answer.sources] == [
        (TOWER, "2026-05-01"),
        (RIVER, "2026-05-01"),
    ]


def test_a_paused_turn_is_sent_back_as_it_is_and_its_search_may_end_in_the_next() -> None:
    call, result = claude_searched("a", TOWER)
    paused = claude(
        {"type": "text", "text": "Searching."}, call, stop="pause_turn", container={"id": "c1"}
    )
    request = API.request(SearchQuery("how high", region="GB"), "claude-haiku-5-5", NOW)
    following = API.next_turn(request, encoded(paused))
    assert following is not None
    assert request.json is not None
    assert following.json is not None
    assert following.json["messages"] == [
        *request.json["messages"],
        {"role": "assistant", "content": paused["content"]},
    ]
    assert following.json["container"] == "c1"
    assert API.next_turn(following, encoded(claude())) is None
    answer = API.parse(
        encoded(paused), encoded(claude(result, claude_cited("It is 330 m high.", TOWER)))
    )
    assert (answer.text, len(answer.spans), len(answer.sources)) == ("It is 330 m high.", 1, 1)


@pytest.mark.parametrize("model", ["claude-haiku-5-5", "claude-haiku-4-5", "unknown"])
def test_searches_are_always_limited(model: str) -> None:
    body = API.request(SearchQuery("how high", region="GB"), model, NOW).json
    assert body is not None
    (tool,) = body["tools"]
    assert tool["max_uses"] == MAX_SEARCHES
    assert tool["user_location"] == {"type": "approximate", "country": "GB"}
    assert not {"temperature", "top_p", "top_k"} & body.keys()


FAILED = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (claude(stop="refusal"), SearchValidationError),
        (claude({"type": "text", "text": "From memory."}), SearchProviderParseError),
        (claude(*claude_searched("a", TOWER)), SearchProviderParseError),
        (claude(*claude_searched("a", TOWER), stop="max_tokens"), SearchProviderError),
        (
            claude(
                {"type": "web_search_tool_result", "content": FAILED},
                {"type": "text", "text": "I could not."},
            ),
            SearchProviderError,
        ),
    ],
)
def test_a_reply_without_an_answer_is_an_error(
    reply: dict[str, object], error: type[SearchError]
) -> None:
    with pytest.raises(error):
        API.parse(encoded(reply))


def test_a_spent_quota_is_distinguished_from_a_rate_limit() -> None:
    def refused(status: int, **error: object) -> SearchError | None:
        return API.refusal(
            HttpRequest("POST", ""), Reply(status, {}, encoded({"type": "error", "error": error}))
        )

    spent = refused(
        429, type="rate_limit_error", details={"error_code": "enforced_spend_limit_reached"}
    )
    assert isinstance(spent, SearchProviderError)
    assert (spent.retryable, spent.details) == (False, {"reason": "quota"})
    assert refused(402, type="billing_error") is not None
    assert refused(429, type="rate_limit_error") is None
    empty = (
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."
    )
    assert isinstance(
        refused(400, type="invalid_request_error", message=empty), SearchProviderError
    )
    limit = (
        "You have reached your specified API usage limits. You will regain access on 2026-12-01."
    )
    assert isinstance(
        refused(400, type="invalid_request_error", message=limit), SearchProviderError
    )
    assert refused(400, type="invalid_request_error", message="max_tokens: too large") is None
    assert API.refusal(HttpRequest("POST", ""), Reply(500, {}, b"<html>")) is None
