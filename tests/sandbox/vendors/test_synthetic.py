from __future__ import annotations

import httpx2
import pytest

from websearch_gateway.sandbox import Sandbox, key_of

HEADERS = {"Authorization": f"Bearer {key_of('synthetic')}"}


async def test_a_result_carries_the_text_of_its_page(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    reply = await http.post("/synthetic/v2/search", json={"query": "sourdough bread"}, headers=HEADERS)
    first = reply.json()["results"][0]
    assert first["url"] == f"{sandbox.url}/pages/sourdough-bread"
    assert first["published"].startswith("2023-10-14")
    assert "500 grams" in first["text"]


async def test_quotas_are_told(http: httpx2.AsyncClient) -> None:
    quotas = (await http.get("/synthetic/v2/quotas", headers=HEADERS)).json()
    assert set(quotas["search"]["hourly"]) == {"limit", "requests", "renewsAt"}


@pytest.mark.parametrize(("body", "key", "status"), [({"query": "x"}, "wrong", 401), ({}, key_of("synthetic"), 400)])
async def test_wrong_keys_and_empty_queries_are_refused(
    http: httpx2.AsyncClient, body: dict[str, str], key: str, status: int
) -> None:
    reply = await http.post("/synthetic/v2/search", json=body, headers={"Authorization": f"Bearer {key}"})
    assert reply.status_code == status
    assert reply.json()["error"]
