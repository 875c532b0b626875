"""RERANKER_URL chooses the order of passages, quotes and documentation, and a broken one costs only a warning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager

import pytest

from websearch_gateway.app import Gateway
from websearch_gateway.models import Caller, PassagesRequest, SearchRequest
from websearch_gateway.ports import NOT_RERANKED
from websearch_gateway.sandbox import Sandbox, key_of

Open = Callable[..., AbstractAsyncContextManager[Gateway]]
ANN = Caller("ann")
TOWER = "How tall is the Eiffel Tower?"


@pytest.fixture
def reranking(sandbox: Sandbox) -> Mapping[str, str]:
    return {"reranker_url": f"{sandbox.url}/reranker/tei", "reranker_api_key": key_of("reranker")}


def request(sandbox: Sandbox) -> PassagesRequest:
    return PassagesRequest(f"{sandbox.url}/pages/tides-explained", ("why are there two tides a day",), max_results=3)


async def test_the_reranker_orders_passages_and_the_best_place_has_the_best_score(
    gateway: Open, sandbox: Sandbox, reranking: Mapping[str, str]
) -> None:
    small = {"embedding_tokens_size": 64, "similarity_threshold": 0.0}
    async with gateway(**small) as opened:
        own = (await opened.reading.passages(request(sandbox), ANN)).queries[0].results
    async with gateway(**small, **reranking) as opened:
        found = await opened.reading.passages(request(sandbox), ANN)
    other = found.queries[0].results
    assert [one.id for one in own] != [one.id for one in other]
    assert [one.score for one in own] == [one.score for one in other]
    assert found.warnings == ()


async def test_the_reranker_chooses_the_first_quote(
    gateway: Open, sandbox: Sandbox, reranking: Mapping[str, str]
) -> None:
    async with gateway(openai_api_key=None, cache_ttl_seconds=0) as opened:
        own = await opened.search(SearchRequest(TOWER), ANN)
    async with gateway(openai_api_key=None, cache_ttl_seconds=0, **reranking) as opened:
        other = await opened.search(SearchRequest(TOWER), ANN)
    assert sandbox.calls("reranker") > 0
    assert own.text != other.text
    assert not [warning for warning in other.warnings if warning.startswith(NOT_RERANKED)]
    assert all(other.text[one.start_index : one.end_index] for one in other.citations)


async def test_a_broken_reranker_costs_a_warning_and_nothing_else(
    gateway: Open, sandbox: Sandbox, reranking: Mapping[str, str]
) -> None:
    async with gateway(openai_api_key=None, cache_ttl_seconds=0) as opened:
        answer = await opened.search(SearchRequest(TOWER), ANN)
        found = await opened.reading.passages(request(sandbox), ANN)
    sandbox.fault("reranker", "status", status=500)
    async with gateway(openai_api_key=None, cache_ttl_seconds=0, **reranking) as opened:
        same = await opened.search(SearchRequest(TOWER), ANN)
        again = await opened.reading.passages(request(sandbox), ANN)
        checks = {check.name: check for check in (await opened.diagnose()).checks}
    assert (same.text, again.queries) == (answer.text, found.queries)
    for warnings in (same.warnings, again.warnings):
        assert [one for one in warnings if one.startswith(f"{NOT_RERANKED}The reranker answered with HTTP 500")]
    assert (checks["reranker"].status, "RERANKER_URL" in checks["reranker"].remedy) == ("warn", True)


async def test_the_doctor_looks_at_a_reranker_only_where_there_is_one(
    gateway: Open, reranking: Mapping[str, str]
) -> None:
    async with gateway(**reranking) as opened:
        checks = {check.name: check.status for check in (await opened.diagnose()).checks}
    async with gateway() as opened:
        without = {check.name for check in (await opened.diagnose()).checks}
    async with gateway(reranker_model="some-model") as opened:
        half = {check.name: check for check in (await opened.diagnose()).checks}
    assert checks["reranker"] == "ok"
    assert "reranker" not in without
    assert (half["reranker"].status, "RERANKER_URL is not" in half["reranker"].finding) == ("warn", True)
