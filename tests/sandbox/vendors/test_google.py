from __future__ import annotations

import httpx2
import pytest

from websearch_gateway.sandbox import GOOGLE_ENGINE, Sandbox, key_of

KEYS = {"key": key_of("google"), "cx": GOOGLE_ENGINE}


async def _ask(http: httpx2.AsyncClient, **params: str) -> httpx2.Response:
    return await http.get("/google/customsearch/v1", params={**KEYS, **params})


async def test_an_item_has_its_place_and_its_date(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    body = (await _ask(http, q="sourdough bread", num="3")).json()
    first = body["items"][0]
    assert (first["link"], first["displayLink"]) == (f"{sandbox.url}/pages/sourdough-bread", "127.0.0.1")
    assert first["pagemap"]["metatags"][0]["article:published_time"].startswith("2023-10-14")
    assert int(body["searchInformation"]["totalResults"]) >= 1


async def test_items_are_absent_when_nothing_is_found(http: httpx2.AsyncClient) -> None:
    body = (await _ask(http, q="zyzzyva")).json()
    assert "items" not in body
    assert body["searchInformation"]["totalResults"] == "0"


async def test_the_next_page_is_named_and_does_not_overlap(http: httpx2.AsyncClient) -> None:
    first = (await _ask(http, q="water harbour coffee time", num="5")).json()
    start = first["queries"]["nextPage"][0]["startIndex"]
    second = (await _ask(http, q="water harbour coffee time", num="5", start=str(start))).json()
    assert start == 6
    assert not {item["link"] for item in first["items"]} & {item["link"] for item in second["items"]}
    far = (await _ask(http, q="water harbour coffee time", start="90")).json()
    assert "items" not in far
    assert "nextPage" not in far["queries"]


async def test_date_language_and_region_are_honoured(http: httpx2.AsyncClient) -> None:
    fresh = (await _ask(http, q="Gull Harbour", dateRestrict="d1")).json()
    assert [item["title"][:10] for item in fresh["items"]] == ["Storm Ines"]
    german = (await _ask(http, q="patatas Kartoffeln", lr="lang_de", safe="active")).json()
    assert [item["title"] for item in german["items"]] == ["Kartoffelsuppe wie bei Großmutter"]
    spanish = (await _ask(http, q="patatas Kartoffeln", gl="es")).json()
    assert spanish["items"][0]["title"].startswith("Tortilla")


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"q": ""},
        {"q": "x", "num": "11"},
        {"q": "x", "num": "0"},
        {"q": "x", "start": "0"},
        {"q": "x", "start": "91"},
        {"q": "x", "num": "ten"},
        {"q": "x", "dateRestrict": "h1"},
        {"q": "x", "safe": "high"},
        {"q": "x", "cx": "other"},
    ],
)
async def test_unusable_parameters_are_invalid_arguments(http: httpx2.AsyncClient, params: dict[str, str]) -> None:
    reply = await _ask(http, **params)
    assert (reply.status_code, reply.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


async def test_a_wrong_key_is_400_and_a_missing_one_403(http: httpx2.AsyncClient) -> None:
    wrong = (await _ask(http, q="x", key="wrong")).json()["error"]
    assert (wrong["code"], wrong["message"]) == (400, "API key not valid. Please pass a valid API key.")
    missing = await http.get("/google/customsearch/v1", params={"q": "x", "cx": GOOGLE_ENGINE})
    assert (missing.status_code, missing.json()["error"]["status"]) == (403, "PERMISSION_DENIED")


async def test_a_spent_quota_is_429_with_googles_reason(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    sandbox.fault("google", "status", status=429)
    error = (await _ask(http, q="x")).json()["error"]
    assert (error["status"], error["errors"][0]["reason"]) == ("RESOURCE_EXHAUSTED", "rateLimitExceeded")
