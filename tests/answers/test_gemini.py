from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from tests.answers.engine_replies import encoded, gemini, gemini_support
from websearch_gateway.answers.gemini import Gemini
from websearch_gateway.base.net.client import Reply
from websearch_gateway.errors import (
    SearchAuthError,
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchValidationError,
)
from websearch_gateway.models import HttpRequest, SearchQuery

API = Gemini(SecretStr("key"), "https://api.example")
TEXT = "Es sind 20 °C in Köln 🗼. Der Turm ist 330 m hoch."


def test_byte_offsets_become_character_offsets() -> None:
    supports = [
        gemini_support(TEXT, "Es sind 20 °C in Köln 🗼.", 1),
        gemini_support(TEXT, "Der Turm ist 330 m hoch.", 0, 1),
    ]
    answer = API.parse(encoded(gemini({"text": TEXT}, supports=supports)))
    assert [answer.text[span.start : span.end] for span in answer.spans] == [
        "Es sind 20 °C in Köln 🗼.",
        "Der Turm ist 330 m hoch.",
        "Der Turm ist 330 m hoch.",
    ]
    assert answer.spans[0].url == "https://www.google.com/search?q=the%20tower"
    assert answer.search_suggestions == "<style>.c{}</style><div>the tower</div>"
    assert answer.warnings == ()


@pytest.mark.parametrize("named", [None, 0, 1, 2])
def test_a_support_is_found_in_its_part_however_the_parts_are_counted(named: int | None) -> None:
    thought = {"text": "I think.", "thought": True}
    support = gemini_support(TEXT, "Der Turm ist 330 m hoch.", 0, part=named)
    answer = API.parse(
        encoded(gemini(thought, {"text": "Ja. "}, {"text": TEXT}, supports=[support]))
    )
    assert answer.text == f"Ja. {TEXT}"
    assert [answer.text[span.start : span.end] for span in answer.spans] == [
        "Der Turm ist 330 m hoch."
    ]


def test_a_chunk_that_is_no_web_page_is_counted_and_not_cited() -> None:
    reply = gemini({"text": TEXT}, supports=[gemini_support(TEXT, "Der Turm ist 330 m hoch.", 0)])
    reply["candidates"][0]["groundingMetadata"]["groundingChunks"][0] = {
        "maps": {"uri": "https://maps.example/x"}
    }
    answer = API.parse(encoded(reply))
    assert answer.spans == ()
    assert "Citations left out because they name no source: 1." in answer.warnings


def test_a_support_without_a_place_is_counted_and_not_guessed() -> None:
    support = {
        "segment": {"startIndex": 3, "endIndex": 9, "text": "other"},
        "groundingChunkIndices": [0],
    }
    answer = API.parse(encoded(gemini({"text": TEXT}, supports=[support])))
    assert (answer.spans, len(answer.warnings)) == ((), 1)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, SearchValidationError),
        (gemini(finish="PROHIBITED_CONTENT"), SearchValidationError),
        (gemini(finish="MAX_TOKENS"), SearchProviderError),
        (gemini(finish="A_NEW_REASON"), SearchProviderError),
        (gemini(), SearchProviderParseError),
        (gemini({"text": TEXT}, webSearchQueries=[], groundingChunks=[]), SearchProviderParseError),
        ({"candidates": [{"content": {}}]}, SearchProviderParseError),
    ],
)
def test_a_reply_without_an_answer_is_an_error(
    reply: dict[str, object], error: type[SearchError]
) -> None:
    with pytest.raises(error):
        API.parse(encoded(reply))


def refused(code: int, *details: object, **error: object) -> SearchError | None:
    return API.refusal(
        HttpRequest("POST", ""),
        Reply(code, {}, encoded([{"error": {"code": code, "details": list(details), **error}}])),
    )


def test_a_wrong_key_is_recognised_by_its_reason_since_its_status_is_400() -> None:
    assert isinstance(
        refused(400, {"reason": "API_KEY_INVALID"}, status="INVALID_ARGUMENT"), SearchAuthError
    )
    assert isinstance(
        refused(400, {"reason": "API_KEY_EXPIRED"}, status="INVALID_ARGUMENT"), SearchAuthError
    )
    assert refused(400, {"reason": "OTHER"}, status="INVALID_ARGUMENT") is None
    assert isinstance(refused(400, status="FAILED_PRECONDITION"), SearchAuthError)


def test_a_spent_daily_quota_is_distinguished_from_a_rate_limit() -> None:
    busy = refused(429, {"retryDelay": "34s"}, status="RESOURCE_EXHAUSTED")
    spent = refused(429, {"violations": [{"quotaId": "GenerateRequestsPerDayPerProject"}]})
    assert isinstance(busy, SearchProviderError)
    assert (busy.retry_after, busy.retryable) == (34.0, True)
    assert isinstance(spent, SearchProviderError)
    assert (spent.retryable, spent.details) == (False, {"reason": "quota"})


def test_each_search_query_is_billed_and_thinking_is_output() -> None:
    billed = API.billed(encoded(gemini({"text": TEXT})))
    assert (billed.prompt, billed.response, billed.searches) == (100, 80, 2)


def test_the_request_searches_and_carries_the_key_in_a_header_alone() -> None:
    request = API.request(
        SearchQuery("how high"), "gemini-3.5-flash-lite", datetime(2026, 11, 22, tzinfo=UTC)
    )
    assert request.url == "https://api.example/v1beta/models/gemini-3.5-flash-lite:generateContent"
    assert API.headers() == {"x-goog-api-key": "key"}
    assert "key" not in request.url
    assert request.json is not None
    assert request.json["tools"] == [{"googleSearch": {}}]
