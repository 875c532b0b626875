from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from tests.answers.engine_replies import RIVER, TOWER, encoded, perplexity
from websearch_gateway.answers.perplexity import Perplexity
from websearch_gateway.errors import SearchError, SearchProviderError, SearchProviderParseError
from websearch_gateway.models import SearchQuery

API = Perplexity(SecretStr("key"), "https://api.example")


def test_a_mark_names_the_id_of_a_result_and_becomes_the_rank_of_its_page() -> None:
    answer = API.parse(encoded(perplexity("The river is long[3]. It is 330 m high. [7][9]")))
    assert answer.text == "The river is long [1]. It is 330 m high. [2]"
    assert [(answer.text[span.start : span.end], span.url) for span in answer.spans] == [
        ("[1]", RIVER),
        ("[2]", TOWER),
    ]
    assert [source.published for source in answer.sources] == ["2026-05-01", "2026-06-02"]
    assert answer.warnings == ("Citations left out because they name no source: 1.",)


def test_an_index_in_code_is_not_a_mark() -> None:
    code = "Use `row[0]` or:\n\n```\nx = row[7]\n```\n\nIt is zero-based."
    answer = API.parse(encoded(perplexity(f"{code}[7]")))
    assert answer.text == f"{code} [1]"
    assert not answer.warnings


def test_annotations_are_used_if_there_are_no_marks() -> None:
    note = {
        "type": "url_citation",
        "url": TOWER,
        "title": "Tower",
        "start_index": 0,
        "end_index": 17,
    }
    answer = API.parse(encoded(perplexity("It is 330 m high.", [note])))
    assert [(answer.text[span.start : span.end], span.url) for span in answer.spans] == [
        ("It is 330 m high.", TOWER)
    ]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (
            {"status": "failed", "error": {"message": "x", "code": "server_error"}},
            SearchProviderError,
        ),
        (
            perplexity("From memory.", output=[{"type": "message", "content": []}]),
            SearchProviderParseError,
        ),
        (perplexity("   "), SearchProviderParseError),
    ],
)
def test_a_reply_without_an_answer_is_an_error(
    reply: dict[str, object], error: type[SearchError]
) -> None:
    with pytest.raises(error):
        API.parse(encoded(reply))


def test_the_request_forces_a_search() -> None:
    request = API.request(
        SearchQuery("how high", region="GB"), "perplexity/sonar", datetime(2026, 11, 22, tzinfo=UTC)
    )
    assert request.url == "https://api.example/v1/agent"
    assert request.json is not None
    assert (request.json["tool_choice"], request.json["store"]) == ("required", False)
    assert request.json["tools"] == [{"type": "web_search", "user_location": {"country": "GB"}}]
    assert API.billed(encoded(perplexity("x"))).searches == 2
