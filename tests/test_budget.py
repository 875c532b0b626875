"""Costs and budgets, end to end: a gateway on the sandbox with limits on its spending."""

from __future__ import annotations

import asyncio

import pytest

from tests.opening import Open
from websearch_gateway.errors import Exhausted
from websearch_gateway.models import Caller, SearchRequest, WebSearchRequest
from websearch_gateway.sandbox import Sandbox

TOWER = SearchRequest("How tall is the Eiffel Tower?")
FERRIES = SearchRequest("When do the ferries to the islands leave?")


async def test_the_ledger_holds_the_cost_of_an_answer(gateway: Open) -> None:
    async with gateway() as opened:
        response = await opened.search(TOWER)
        stats = await opened.operations.server_stats()
    assert response.cost_usd > 0
    assert stats.days[0].by_provider == {"openai": pytest.approx(response.cost_usd, abs=1e-6)}
    assert stats.days[0].calls_by_provider == {"openai": 1}
    assert stats.left_today_usd == pytest.approx(5 - response.cost_usd, abs=1e-6)


async def test_with_a_spent_budget_free_providers_serve_and_the_answer_says_so(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(daily_budget_usd=0.0) as opened:
        response = await opened.search(TOWER)
    assert response.provider == "synthetic-raw-search"
    assert response.cost_usd == 0.0
    assert response.fallback is not None
    assert response.fallback.reason.startswith("BUDGET: DAILY_BUDGET_USD")
    assert any(warning.startswith("serper failed: BUDGET") for warning in response.warnings)
    assert [
        name for name in ("openai", "serper", "tavily", "brave", "google") if sandbox.calls(name)
    ] == []


async def test_with_a_spent_budget_and_no_free_provider_the_error_is_budget(gateway: Open) -> None:
    async with gateway(daily_budget_usd=0.0, search_providers="serper,brave") as opened:
        with pytest.raises(Exhausted) as spent:
            await opened.search(TOWER)
    assert spent.value.code == "BUDGET"
    assert spent.value.retry_after is not None
    assert 0 < spent.value.retry_after <= 86_400


async def test_each_user_has_a_budget_of_their_own(gateway: Open) -> None:
    ann, bob = Caller("ann"), Caller("bob")
    async with gateway(
        user_daily_budget_usd=0.081, openai_api_key=None, search_providers="tavily"
    ) as opened:
        for number in range(10):
            await opened.web_search(WebSearchRequest(f"ferry number {number}"), ann)
        with pytest.raises(Exhausted):
            await opened.web_search(WebSearchRequest("one ferry more"), ann)
        await opened.web_search(WebSearchRequest("one ferry more"), bob)


async def test_two_processes_share_one_budget(gateway: Open) -> None:
    settings = {
        "daily_budget_usd": 0.05,
        "openai_api_key": None,
        "search_providers": "brave",
        "rate_limit": "none",
        "cache_ttl_seconds": 0,  # or one serves the results of the other, free of charge
    }
    async with gateway(**settings) as one, gateway(**settings) as other:
        outcomes = await asyncio.gather(
            *(
                place.web_search(WebSearchRequest(f"ferry {n}"))
                for n in range(10)
                for place in (one, other)
            ),
            return_exceptions=True,
        )
        cost = (await one.operations.server_stats()).days[0].usd
    assert sum(isinstance(outcome, Exhausted) for outcome in outcomes) >= 10
    assert cost <= 0.05


async def test_the_operators_price_replaces_the_built_in_one(gateway: Open) -> None:
    async with gateway(openai_api_key=None, search_providers="brave", prices="brave:0.5") as opened:
        await opened.search(TOWER)
        stats = await opened.operations.server_stats()
    assert stats.days[0].usd == 0.5


async def test_health_names_every_upstream_and_its_last_error(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "status", status=500)
    async with gateway() as opened:
        await opened.search(TOWER)
        statuses = {status.name: status for status in opened.operations.provider_status().providers}
    assert statuses["openai"].failures == 1
    assert statuses["openai"].last_error is not None
    assert statuses["openai"].last_error.code == "PROVIDER"
    assert (statuses["openai"].error_rate, statuses["openai"].last_success_at) == (1.0, None)
    assert statuses["serper"].calls == 1
    assert statuses["serper"].error_rate == 0.0
    assert statuses["serper"].last_success_at
    assert statuses["duckduckgo"].error_rate is None
    assert statuses["serper"].p50_ms is not None
    assert statuses["duckduckgo"].p50_ms is None
