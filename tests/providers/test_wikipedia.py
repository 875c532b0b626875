"""The behaviour that only Wikipedia has; the rest is in test_contract.py."""

from __future__ import annotations

import json

import pytest

from websearch_gateway.errors import SearchProviderError
from websearch_gateway.models import SearchQuery
from websearch_gateway.providers.wikipedia import Wikipedia

CONTACT = "https://ops.example/gateway"


def test_the_search_uses_the_language_of_the_question() -> None:
    provider = Wikipedia()
    asked = SearchQuery("Wie hoch ist der Eiffelturm?")
    assert provider.request(asked).url == "https://de.wikipedia.org/w/api.php"
    assert (
        provider.request(SearchQuery(asked.text, language="nb")).url
        == "https://no.wikipedia.org/w/api.php"
    )
    assert (
        Wikipedia("http://mirror.example/wiki").request(asked).url
        == "http://mirror.example/wiki/w/api.php"
    )


def test_question_words_and_search_operators_are_left_out() -> None:
    asked = SearchQuery('How tall is the "Eiffel Tower" -intitle:Paris insource:/a.*/ O\'Brien?')
    assert (
        Wikipedia().request(asked).params["gsrsearch"]
        == "tall Eiffel Tower intitle Paris insource O'Brien"
    )
    assert Wikipedia().request(SearchQuery("Who was it?")).params["gsrsearch"] == "Who was it"


def test_the_user_agent_contains_the_contact_address() -> None:
    agent = Wikipedia(contact=CONTACT).request(SearchQuery("herons")).headers["User-Agent"]
    assert agent.startswith("websearch-gateway/")
    assert CONTACT in agent
    assert "Mozilla" not in Wikipedia().request(SearchQuery("herons")).headers["User-Agent"]


def test_hits_come_by_rank_with_their_introductions_and_a_short_snippet() -> None:
    pages = [
        {
            "title": "Second",
            "index": 2,
            "fullurl": "https://en.wikipedia.org/wiki/B",
            "extract": "B.",
        },
        {
            "title": "First",
            "index": 1,
            "fullurl": "https://en.wikipedia.org/wiki/A",
            "extract": "word " * 100,
        },
        {"title": "No introduction", "fullurl": "https://en.wikipedia.org/wiki/C"},
    ]
    first, second, third = Wikipedia().parse(json.dumps({"query": {"pages": pages}}).encode())
    assert [first.title, second.title, third.title] == ["First", "Second", "No introduction"]
    assert len(first.snippet) <= 302 < len(first.content or "")
    assert third.content is None


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, b'{"error":{"code":"maxlag","info":"herons"}}', "maxlag"),
        (200, b'{"error":{"code":"<b>herons</b>"}}', "unknown"),
        (403, b"<html>herons</html>", "CONTACT_URL"),
    ],
)
def test_errors_with_status_200_and_refusals_of_unknown_callers_are_reported(
    status: int, body: bytes, words: str
) -> None:
    error = Wikipedia().refusal(status, {}, body)
    assert isinstance(error, SearchProviderError)
    assert words in error.message
    assert "herons" not in error.message
