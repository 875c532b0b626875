from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import pytest

from websearch_gateway.sandbox import Sandbox, key_of

HEADERS = {"Authorization": f"Bearer {key_of('tavily')}"}


async def _ask(http: httpx2.AsyncClient, path: str = "/search", **body: Any) -> httpx2.Response:
    return await http.post(f"/tavily{path}", json=body, headers=HEADERS)


async def test_results_are_scored_from_one_downwards(http: httpx2.AsyncClient) -> None:
    body = (await _ask(http, query="sourdough bread")).json()
    scores = [hit["score"] for hit in body["results"]]
    assert scores[0] == 1
    assert scores == sorted(scores, reverse=True)
    assert body["answer"] is None
    assert body["results"][0]["raw_content"] is None
    assert len((await _ask(http, query="water harbour coffee time")).json()["results"]) == 5


async def test_answer_and_raw_content_come_when_asked_for(http: httpx2.AsyncClient) -> None:
    body = (await _ask(http, query="sourdough bread", include_answer=True, include_raw_content="markdown")).json()
    assert "sourdough" in body["answer"]
    assert "500 grams" in body["results"][0]["raw_content"]


async def test_news_have_a_date_and_a_range_is_kept(http: httpx2.AsyncClient) -> None:
    results = (await _ask(http, query="harbour", topic="news", time_range="day")).json()["results"]
    assert [hit["title"][:10] for hit in results] == ["Storm Ines"]
    assert parsedate_to_datetime(results[0]["published_date"]).tzinfo is not None
    assert len((await _ask(http, query="harbour", topic="news", days=7)).json()["results"]) > 1
    spring = {"start_date": "2025-02-01", "end_date": "2025-03-01"}
    assert [hit["title"] for hit in (await _ask(http, query="espresso", **spring)).json()["results"]] == [
        "How to pull a balanced espresso at home"
    ]


async def test_domains_are_kept_in_or_out(http: httpx2.AsyncClient) -> None:
    for domains, some in ((["127.0.0.1"], True), (["example.com"], False)):
        assert bool((await _ask(http, query="bread", include_domains=domains)).json()["results"]) is some
        assert bool((await _ask(http, query="bread", exclude_domains=domains)).json()["results"]) is not some


async def test_extraction_tells_success_from_failure(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    known, unknown = f"{sandbox.url}/pages/compost", "http://example.com/"
    body = (await _ask(http, "/extract", urls=[known, unknown])).json()
    assert [hit["url"] for hit in body["results"]] == [known]
    assert body["failed_results"] == [{"url": unknown, "error": "Failed to fetch url"}]
    assert (await _ask(http, "/extract", urls=known)).json()["results"]
    assert (await _ask(http, "/extract", urls=[])).status_code == 400
    assert (await _ask(http, "/extract", urls=[known] * 21)).status_code == 400


async def test_a_wrong_key_is_401(http: httpx2.AsyncClient) -> None:
    for path in ("search", "extract"):
        reply = await http.post(f"/tavily/{path}", json={"query": "x"}, headers={"Authorization": "Bearer wrong"})
        assert reply.status_code == 401
        assert reply.json() == {"detail": {"error": "Unauthorized: missing or invalid API key."}}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"query": " "}, 400),
        ({"query": "x", "max_results": 21}, 400),
        ({"query": "x", "search_depth": "abyss"}, 400),
        ({"query": "x", "topic": "sports"}, 400),
        ({"query": "x", "topic": "news", "country": "germany"}, 400),
        ({"query": "x", "time_range": "hour"}, 400),
        ({"query": "x", "start_date": "yesterday"}, 400),
    ],
)
async def test_unusable_requests_are_refused(http: httpx2.AsyncClient, body: dict[str, Any], status: int) -> None:
    reply = await _ask(http, **body)
    assert reply.status_code == status
    assert reply.json()["detail"]


@pytest.mark.parametrize(("status", "words"), [(432, "set usage limit"), (433, "pay-as-you-go"), (429, "excess")])
async def test_limits_have_statuses_of_their_own(
    sandbox: Sandbox, http: httpx2.AsyncClient, status: int, words: str
) -> None:
    sandbox.fault("tavily", "status", status=status)
    reply = await _ask(http, query="x")
    assert reply.status_code == status
    assert words in reply.json()["detail"]["error"]
