from __future__ import annotations

import httpx2
import pytest

from websearch_gateway.sandbox import Sandbox, key_of

HEADERS = {"X-Subscription-Token": key_of("brave"), "Accept": "application/json", "Accept-Encoding": "gzip"}


async def _ask(http: httpx2.AsyncClient, kind: str = "web", **params: str) -> httpx2.Response:
    return await http.get(f"/brave/res/v1/{kind}/search", params=params, headers=HEADERS)


async def test_words_of_the_query_are_marked_in_descriptions(http: httpx2.AsyncClient) -> None:
    reply = await _ask(http, q="sourdough bread", count="3", extra_snippets="true")
    first = reply.json()["web"]["results"][0]
    assert "<strong>bread</strong>" in first["description"]
    assert first["page_age"] == "2023-10-14T00:00:00"
    assert first["age"] == "October 14, 2023"
    assert len(first["extra_snippets"]) == 3
    assert reply.headers["x-ratelimit-limit"] == "50, 0"


async def test_the_part_web_is_absent_when_nothing_is_found(http: httpx2.AsyncClient) -> None:
    body = (await _ask(http, q="zyzzyva")).json()
    assert "web" not in body
    assert body["query"]["more_results_available"] is False


async def test_offset_counts_pages(http: httpx2.AsyncClient) -> None:
    pages = [await _ask(http, q="water harbour coffee time", count="5", offset=str(page)) for page in (0, 1)]
    first, second = ({hit["url"] for hit in page.json()["web"]["results"]} for page in pages)
    assert len(first) == len(second) == 5
    assert not first & second
    assert pages[0].json()["query"]["more_results_available"] is True


async def test_freshness_is_a_letter_or_a_range_of_days(http: httpx2.AsyncClient) -> None:
    news = (await _ask(http, "news", q="harbour", freshness="pd")).json()
    assert [hit["title"][:10] for hit in news["results"]] == ["Storm Ines"]
    ranged = (await _ask(http, q="espresso", freshness="2025-02-01to2025-02-11")).json()
    assert [hit["title"] for hit in ranged["web"]["results"]] == ["How to pull a balanced espresso at home"]


async def test_language_and_country_are_honoured(http: httpx2.AsyncClient) -> None:
    body = (await _ask(http, q="patatas Kartoffeln", search_lang="es")).json()
    assert [hit["language"] for hit in body["web"]["results"]] == ["es"]
    body = (await _ask(http, q="patatas Kartoffeln", country="DE")).json()
    assert body["web"]["results"][0]["language"] == "de"


async def test_a_bad_token_is_422(http: httpx2.AsyncClient) -> None:
    reply = await http.get("/brave/res/v1/web/search", params={"q": "x"}, headers={"X-Subscription-Token": "bad"})
    body = reply.json()
    assert (reply.status_code, body["type"]) == (422, "ErrorResponse")
    assert body["error"]["code"] == "SUBSCRIPTION_TOKEN_INVALID"


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"q": " "},
        {"q": "x" * 401},
        {"q": "x " * 51},
        {"q": "x", "count": "21"},
        {"q": "x", "count": "many"},
        {"q": "x", "offset": "10"},
        {"q": "x", "freshness": "ph"},
        {"q": "x", "freshness": "2025-13-01to2025-13-02"},
        {"q": "x", "safesearch": "on"},
    ],
)
async def test_unusable_parameters_are_422(http: httpx2.AsyncClient, params: dict[str, str]) -> None:
    reply = await _ask(http, **params)
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "VALIDATION")


async def test_news_may_be_fifty(http: httpx2.AsyncClient) -> None:
    assert (await _ask(http, "news", q="harbour", count="50")).status_code == 200
    assert (await _ask(http, "news", q="harbour", count="51")).status_code == 422


@pytest.mark.parametrize(("reason", "code"), [(None, "RATE_LIMITED"), ("QUOTA_LIMITED", "QUOTA_LIMITED")])
async def test_a_limit_says_which_one(
    sandbox: Sandbox, http: httpx2.AsyncClient, reason: str | None, code: str
) -> None:
    sandbox.fault("brave", "status", status=429, reason=reason)
    error = (await _ask(http, q="x")).json()["error"]
    assert (error["code"], error["meta"]["component"]) == (code, "rate_limiter")
