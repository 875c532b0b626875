from __future__ import annotations

import httpx2
import pytest

from websearch_gateway.sandbox import Sandbox


async def _ask(http: httpx2.AsyncClient, **params: str) -> httpx2.Response:
    return await http.get("/searxng/search", params={"format": "json", **params})


async def test_results_and_their_companions_are_there(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    body = (await _ask(http, q="sourdough bread")).json()
    first = body["results"][0]
    assert (first["url"], first["engines"]) == (f"{sandbox.url}/pages/sourdough-bread", ["sandbox"])
    assert first["publishedDate"].startswith("2023-10-14")
    assert all(body[name] == [] for name in ("answers", "corrections", "infoboxes", "unresponsive_engines"))
    posted = await http.post("/searxng/search", data={"q": "sourdough bread", "format": "json"})
    assert posted.json()["results"] == body["results"]


async def test_filters_and_pages_are_honoured(http: httpx2.AsyncClient) -> None:
    fresh = (await _ask(http, q="Gull Harbour", time_range="day", categories="news")).json()["results"]
    assert [hit["title"][:10] for hit in fresh] == ["Storm Ines"]
    spanish = (await _ask(http, q="patatas Kartoffeln", language="es-ES")).json()["results"]
    assert [hit["title"][:8] for hit in spanish] == ["Tortilla"]
    pages = [(await _ask(http, q="water harbour coffee time", pageno=str(page))).json()["results"] for page in (1, 2)]
    assert len(pages[0]) == 10
    assert not {hit["url"] for hit in pages[0]} & {hit["url"] for hit in pages[1]}


async def test_the_usual_format_is_html_and_others_are_forbidden(http: httpx2.AsyncClient) -> None:
    page = await http.get("/searxng/search", params={"q": "bread"})
    assert page.headers["content-type"].startswith("text/html")
    assert "sourdough-bread" in page.text
    assert (await _ask(http, q="bread", format="csv")).status_code == 403


async def test_an_empty_query_is_refused_in_searxngs_words(http: httpx2.AsyncClient) -> None:
    reply = await _ask(http, q=" ")
    assert (reply.status_code, reply.json()) == (400, {"error": "No query"})


@pytest.mark.parametrize("params", [{"pageno": "0"}, {"pageno": "x"}, {"safesearch": "3"}, {"time_range": "hour"}])
async def test_unusable_values_are_refused(http: httpx2.AsyncClient, params: dict[str, str]) -> None:
    assert (await _ask(http, q="bread", **params)).status_code == 400


async def test_an_instance_without_json_and_its_limiter_are_faults(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    for status in (403, 429):
        sandbox.fault("searxng", "status", status=status, times=1)
        assert (await _ask(http, q="bread")).status_code == status
