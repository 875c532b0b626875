"""RERANKER_URL chooses the order of passages, quotes and documentation, and a broken one costs only a warning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager

import pytest

from websearch_gateway.app.gateway import Gateway
from websearch_gateway.evidence.embedders import remote
from websearch_gateway.models import Caller, PassagesRequest, SearchRequest
from websearch_gateway.ports import NOT_RERANKED
from websearch_gateway.sandbox import Sandbox, key_of

Open = Callable[..., AbstractAsyncContextManager[Gateway]]
ANN = Caller("ann")
TOWER = "When was the Eiffel Tower built?"


@pytest.fixture
def reranking(sandbox: Sandbox) -> Mapping[str, str]:
    return {"reranker_url": f"{sandbox.url}/reranker/tei", "reranker_api_key": key_of("reranker")}


def request(sandbox: Sandbox) -> PassagesRequest:
    return PassagesRequest(
        f"{sandbox.url}/pages/tides-explained", ("why are there two tides a day",), max_results=3
    )


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
        checks = {check.name: check for check in (await opened.doctor.examine()).checks}
    assert (same.text, again.queries) == (answer.text, found.queries)
    for warnings in (same.warnings, again.warnings):
        assert [
            one
            for one in warnings
            if one.startswith(f"{NOT_RERANKED}The reranker answered with HTTP 500")
        ]
    assert (checks["reranker"].status, "RERANKER_URL" in checks["reranker"].remedy) == (
        "warn",
        True,
    )


async def test_the_doctor_looks_at_a_reranker_only_where_there_is_one(
    gateway: Open, reranking: Mapping[str, str]
) -> None:
    async with gateway(**reranking) as opened:
        checks = {check.name: check.status for check in (await opened.doctor.examine()).checks}
    async with gateway() as opened:
        without = {check.name for check in (await opened.doctor.examine()).checks}
    async with gateway(reranker_model="some-model") as opened:
        half = {check.name: check for check in (await opened.doctor.examine()).checks}
    assert checks["reranker"] == "ok"
    assert "reranker" not in without
    assert (half["reranker"].status, "RERANKER_URL is not" in half["reranker"].finding) == (
        "warn",
        True,
    )


async def test_a_reranker_that_is_down_is_not_asked_again_for_a_while(
    gateway: Open, sandbox: Sandbox, reranking: Mapping[str, str]
) -> None:
    sandbox.fault("reranker", "status", status=500)
    async with gateway(breaker_failures=2, **reranking) as opened:
        found = [await opened.reading.passages(request(sandbox), ANN) for _ in range(4)]
        statuses = {one.name: one.breaker for one in opened.operations.provider_status().providers}
    assert sandbox.calls("reranker") == 2
    assert [
        any("circuit of reranker is open" in warning for warning in one.warnings) for one in found
    ] == [
        False,
        False,
        True,
        True,
    ]
    assert statuses["reranker"] == "open"


async def test_a_reranker_that_hangs_costs_one_call_its_time(
    gateway: Open, sandbox: Sandbox, reranking: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "RERANK_SECONDS", 1.6)
    sandbox.fault("reranker", "hang")
    async with gateway(**reranking) as opened:
        found = [await opened.reading.passages(request(sandbox), ANN) for _ in range(3)]
    assert sandbox.calls("reranker") == 1
    assert ["circuit of reranker is open" in " ".join(one.warnings) for one in found] == [
        False,
        True,
        True,
    ]


async def test_a_priced_reranker_is_on_the_bill_and_only_what_it_answered(
    gateway: Open, sandbox: Sandbox, reranking: Mapping[str, str]
) -> None:
    priced = {
        "openai_api_key": None,
        "cache_ttl_seconds": 0,
        "prices": {"reranker": 0.002},
        **reranking,
    }
    async with gateway(**priced) as opened:
        response = await opened.search(SearchRequest(TOWER), ANN)
        day = (await opened.operations.server_stats()).days[0]
    assert sandbox.calls("reranker") == 2, "TEI refuses the first form, which costs nothing"
    assert day.by_provider["reranker"] == pytest.approx(0.002)
    assert day.calls_by_provider["reranker"] == 1
    assert response.cost_usd == pytest.approx(day.usd, abs=1e-6)
    sandbox.fault("reranker", "status", status=500)
    async with gateway(**priced) as opened:
        await opened.search(SearchRequest(TOWER), ANN)
        after = (await opened.operations.server_stats()).days[0]
    assert after.by_provider["reranker"] == pytest.approx(0.002)


async def test_an_answer_in_the_order_of_another_reranker_is_not_served_from_the_cache(
    gateway: Open, sandbox: Sandbox, reranking: Mapping[str, str]
) -> None:
    async with gateway(openai_api_key=None) as opened:
        own = [await opened.search(SearchRequest(TOWER), ANN) for _ in range(2)]
    async with gateway(openai_api_key=None, **reranking) as opened:
        other = [await opened.search(SearchRequest(TOWER), ANN) for _ in range(2)]
    async with gateway(openai_api_key=None, reranker_model="other", **reranking) as opened:
        third = await opened.search(SearchRequest(TOWER), ANN)
    assert [one.cache for one in (*own, *other, third)] == [
        "miss",
        "exact",
        "miss",
        "exact",
        "miss",
    ]
    assert own[1].text != other[1].text
