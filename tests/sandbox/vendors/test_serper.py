from __future__ import annotations

from typing import Any

import httpx2
import pytest

from websearch_gateway.sandbox import Sandbox, key_of


async def _ask(http: httpx2.AsyncClient, path: str = "/search", **body: Any) -> httpx2.Response:
    return await http.post(f"/serper{path}", json=body, headers={"X-API-KEY": key_of("serper")})


async def test_results_are_organic_and_dated(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    body = (await _ask(http, q="sourdough bread")).json()
    first = body["organic"][0]
    assert first["link"] == f"{sandbox.url}/pages/sourdough-bread"
    assert first["date"] == "Oct 14, 2023"
    assert [hit["position"] for hit in body["organic"]] == list(range(1, len(body["organic"]) + 1))
    assert body["searchParameters"] == {"q": "sourdough bread", "type": "search", "engine": "google"}
    assert body["credits"] == 1


async def test_more_than_ten_results_cost_two_credits(http: httpx2.AsyncClient) -> None:
    body = (await _ask(http, q="the water of the harbour and the sea", num=20)).json()
    assert len(body["organic"]) > 10
    assert body["credits"] == 2


async def test_pages_follow_each_other_without_overlap(http: httpx2.AsyncClient) -> None:
    first = (await _ask(http, q="water harbour coffee time", num=5)).json()["organic"]
    second = (await _ask(http, q="water harbour coffee time", num=5, page=2)).json()["organic"]
    assert len(first) == len(second) == 5
    assert not {hit["link"] for hit in first} & {hit["link"] for hit in second}


async def test_news_are_news_and_a_day_is_a_day(http: httpx2.AsyncClient) -> None:
    news = (await _ask(http, "/news", q="harbour", tbs="qdr:d")).json()["news"]
    assert [(hit["title"][:10], hit["source"]) for hit in news] == [("Storm Ines", "The Harbour Post")]
    everything = (await _ask(http, "/news", q="opening hours of the library")).json()["news"]
    assert everything
    assert "Gull Harbour Town" not in {hit["source"] for hit in everything}


async def test_a_region_moves_its_pages_up(http: httpx2.AsyncClient) -> None:
    first = (await _ask(http, q="patatas Kartoffeln", gl="de")).json()["organic"][0]
    assert first["title"].startswith("Kartoffelsuppe")


@pytest.mark.parametrize("key", [None, "wrong"])
async def test_a_missing_or_wrong_key_is_403(http: httpx2.AsyncClient, key: str | None) -> None:
    reply = await http.post("/serper/search", json={"q": "x"}, headers={"X-API-KEY": key} if key else {})
    assert (reply.status_code, reply.json()) == (403, {"message": "Unauthorized.", "statusCode": 403})


@pytest.mark.parametrize("body", [{}, {"q": " "}, {"q": "x", "num": 0}, {"q": "x", "num": 101}, {"q": "x", "page": 0}])
async def test_unusable_requests_are_400(http: httpx2.AsyncClient, body: dict[str, Any]) -> None:
    assert (await _ask(http, **body)).status_code == 400


async def test_an_empty_credit_is_400(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    sandbox.fault("serper", "status", status=400)
    assert (await _ask(http, q="x")).json() == {"message": "Not enough credits", "statusCode": 400}
