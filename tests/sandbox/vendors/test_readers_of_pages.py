"""The stand-ins for the vendors that send the texts of pages refuse what the vendors refuse, in the vendors' words."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from websearch_gateway.sandbox import key_of

LINKUP = {"q": "sourdough bread", "depth": "standard", "outputType": "searchResults"}
PATHS = {
    "exa": "/exa/search",
    "firecrawl": "/firecrawl/v2/search",
    "linkup": "/linkup/v1/search",
    "perplexity": "/perplexity/search",
}


async def _ask(http: httpx2.AsyncClient, vendor: str, body: dict[str, Any], key: str = "") -> httpx2.Response:
    headers = {"Authorization": f"Bearer {key or key_of(vendor)}"}
    return await http.post(PATHS[vendor], json=body, headers=headers)


async def _jina(http: httpx2.AsyncClient, headers: dict[str, str] | None = None, **params: Any) -> httpx2.Response:
    bearer = {"Authorization": f"Bearer {key_of('jina')}"}
    return await http.get("/jina/", params=params, headers=bearer | (headers or {}))


@pytest.mark.parametrize(
    ("vendor", "body"),
    [
        ("exa", {"query": " "}),
        ("exa", {"query": "x", "numResults": 101}),
        ("exa", {"query": "x", "includeDomains": ["a.example"], "excludeDomains": ["b.example"]}),
        ("exa", {"query": "x", "startPublishedDate": "soon"}),
        ("exa", {"query": "x", "type": "slow"}),
        ("firecrawl", {"query": "x" * 501}),
        ("firecrawl", {"query": "x", "limit": 0}),
        ("firecrawl", {"query": "x", "includeDomains": ["a.example"], "excludeDomains": ["b.example"]}),
        ("firecrawl", {"query": "x", "tbs": "qdr:decade"}),
        ("firecrawl", {"query": "x", "sources": [{"type": "maps"}]}),
        ("linkup", {"q": "x", "depth": "standard"}),
        ("linkup", LINKUP | {"fromDate": "last week"}),
        ("perplexity", {"query": "x", "max_results": 21}),
        ("perplexity", {"query": "x", "search_domain_filter": ["a.example", "-b.example"]}),
        ("perplexity", {"query": "x", "search_recency_filter": "decade"}),
    ],
)
async def test_an_invalid_request_is_refused(http: httpx2.AsyncClient, vendor: str, body: dict[str, Any]) -> None:
    assert (await _ask(http, vendor, body)).status_code == 400
    assert (await _ask(http, vendor, body, key="wrong")).status_code == 401


async def test_errors_have_the_shapes_of_the_vendors(http: httpx2.AsyncClient) -> None:
    assert (await _ask(http, "exa", {}, "wrong")).json()["tag"] == "INVALID_API_KEY"
    assert (await _ask(http, "firecrawl", {}, "wrong")).json()["success"] is False
    assert (await _ask(http, "linkup", {})).json()["error"]["code"] == "VALIDATION_ERROR"
    nothing = await _ask(http, "linkup", LINKUP | {"q": "zzyzxqua"})
    assert (nothing.status_code, nothing.json()["error"]["code"]) == (400, "SEARCH_QUERY_NO_RESULT")
    nothing = await _jina(http, q="zzyzxqua")
    assert (nothing.status_code, nothing.json()["data"]) == (422, None)
    assert (await _jina(http, q="x", num=21)).status_code == 400
    assert (await http.get("/jina/", params={"q": "x"})).status_code == 401


async def test_texts_come_when_asked_for(http: httpx2.AsyncClient) -> None:
    bare = (await _ask(http, "exa", {"query": "sourdough bread"})).json()["results"][0]
    assert "text" not in bare
    cut = {"query": "sourdough bread", "contents": {"text": {"maxCharacters": 40}}}
    assert len((await _ask(http, "exa", cut)).json()["results"][0]["text"]) == 40
    whole = {"query": "sourdough bread", "contents": {"text": True}}
    assert "500 grams" in (await _ask(http, "exa", whole)).json()["results"][0]["text"]
    body = {"query": "water time", "limit": 2}
    assert "markdown" not in (await _ask(http, "firecrawl", body)).json()["data"]["web"][0]
    found = (await _ask(http, "firecrawl", body | {"scrapeOptions": {"formats": ["markdown"]}})).json()
    assert (len(found["data"]["web"][0]["markdown"]) > 500, found["creditsUsed"]) == (True, 4)
    assert "500 grams" in (await _ask(http, "linkup", LINKUP)).json()["results"][0]["content"]
    assert "500 grams" in (await _jina(http, q="sourdough bread")).json()["data"][0]["content"]
    bare = (await _jina(http, {"X-Respond-With": "no-content"}, q="sourdough bread")).json()["data"][0]
    assert "content" not in bare


async def test_filters_are_kept(http: httpx2.AsyncClient) -> None:
    news = {"query": "harbour", "tbs": "qdr:d", "sources": [{"type": "news"}]}
    assert [row["title"][:10] for row in (await _ask(http, "firecrawl", news)).json()["data"]["news"]] == ["Storm Ines"]
    denied = {"query": "bread", "search_domain_filter": ["-127.0.0.1"]}
    assert (await _ask(http, "perplexity", denied)).json()["results"] == []
    allowed = {"query": "bread", "search_domain_filter": ["127.0.0.1"]}
    assert (await _ask(http, "perplexity", allowed)).json()["results"]
    first, second = [(await _jina(http, q="water time", num=2, page=page)).json()["data"] for page in (1, 2)]
    assert {row["url"] for row in first}.isdisjoint(row["url"] for row in second)
