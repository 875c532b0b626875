"""One budget and one ledger for all engines, over real sockets to the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from tests.opening import Open
from websearch_gateway.models import SearchRequest
from websearch_gateway.sandbox import LLM_MODEL, Sandbox, key_of

TOWER = SearchRequest("How tall is the Eiffel Tower?")
FERRIES = SearchRequest("When do the ferries to the islands leave?")
HOSTED = ("openai", "anthropic", "gemini", "perplexity")
KEYS = {f"{name}_api_key": key_of(name) for name in HOSTED if name != "openai"}


async def test_the_costs_of_several_engines_for_one_question_are_in_one_ledger(
    gateway: Open, sandbox: Sandbox
) -> None:
    for name in ("openai", "anthropic", "gemini"):
        sandbox.fault(name, "no_search")
    async with gateway(**KEYS) as opened:
        response = await opened.search(TOWER)
        day = (await opened.operations.server_stats()).days[0]
    assert response.provider == "perplexity/sonar-web-search"
    assert day.calls_by_provider == dict.fromkeys(HOSTED, 1), (
        "a reply that cannot be used is billed all the same"
    )
    assert day.usd == pytest.approx(sum(day.by_provider.values()), abs=1e-6)
    assert response.cost_usd == pytest.approx(day.usd, abs=1e-5)


async def test_a_budget_that_one_engine_spent_stops_all_others(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(answer_engines="openai") as opened:
        spent = (await opened.search(TOWER)).cost_usd
    async with gateway(daily_budget_usd=spent, **KEYS) as opened:
        response = await opened.search(FERRIES)
        day = (await opened.operations.server_stats()).days[0]
    assert response.provider == "synthetic-raw-search"
    assert response.fallback is not None
    assert response.fallback.reason.count("BUDGET: DAILY_BUDGET_USD") == len(HOSTED)
    assert [sandbox.calls(name) for name in HOSTED] == [1, 0, 0, 0]
    assert day.usd == pytest.approx(spent, abs=1e-6)


async def test_the_first_engine_that_the_budget_covers_answers(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(**KEYS) as opened:
        *_, perplexity = opened.engines
        room = perplexity.most_usd
        assert all(engine.most_usd > room for engine in opened.engines[:-1])
    async with gateway(daily_budget_usd=room, **KEYS) as opened:
        response = await opened.search(TOWER)
    assert response.provider == "perplexity/sonar-web-search"
    assert [sandbox.calls(name) for name in HOSTED] == [0, 0, 0, 1]


async def test_a_free_model_of_your_own_answers_although_the_budget_is_overdrawn(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(answer_engines="openai") as opened:
        spent = (await opened.search(FERRIES)).cost_usd
    async with gateway(
        daily_budget_usd=spent / 2, llm_model=LLM_MODEL, search_providers="synthetic"
    ) as opened:
        response = await opened.search(TOWER)
    assert response.provider == "sandbox-model-over-synthetic"
    assert response.cost_usd == 0
    assert sandbox.calls("openai") == 1


async def test_a_priced_model_of_your_own_uses_the_same_budget(
    gateway: Open, sandbox: Sandbox
) -> None:
    settings = {
        "answer_engines": "llm",
        "llm_model": LLM_MODEL,
        "prices": "llm:0.02",
        "search_providers": "synthetic",
    }
    async with gateway(daily_budget_usd=0.03, **settings) as opened:
        first, second = await opened.search(TOWER), await opened.search(FERRIES)
        day = (await opened.operations.server_stats()).days[0]
    assert (first.provider, first.cost_usd) == ("sandbox-model-over-synthetic", 0.02)
    assert second.provider == "synthetic-raw-search"
    assert day.by_provider == {"llm": pytest.approx(0.02)}
    assert sandbox.calls("llm") == 1


@pytest.mark.parametrize(("hanging", "booked"), [("serper", {}), ("llm", {"llm": 0.02})])
async def test_a_cancelled_model_of_your_own_is_booked_only_once_it_was_asked(
    gateway: Open, sandbox: Sandbox, hanging: str, booked: Mapping[str, float]
) -> None:
    sandbox.fault(hanging, "hang")
    settings = {
        "answer_engines": "llm",
        "llm_model": LLM_MODEL,
        "prices": "llm:0.02",
        "search_providers": "serper",
    }
    costs = await _booked_when_cancelled(gateway, sandbox, hanging, calls=1, **settings)
    assert costs == pytest.approx({"serper": 0.001, **booked})


async def test_a_retry_that_is_cancelled_counts_beside_the_billed_attempt(
    gateway: Open, sandbox: Sandbox
) -> None:
    settings = {"answer_engines": "anthropic", "anthropic_api_key": key_of("anthropic")}
    sandbox.fault("anthropic", "pause_turn", times=1)
    sandbox.fault("anthropic", "status", status=503)
    async with gateway(**settings) as opened:
        (engine,) = [one for one in opened.engines if one.name == "anthropic"]
        await opened.search(FERRIES)
        turn = (await opened.operations.server_stats()).days[0].by_provider["anthropic"]
    sandbox.reset()
    sandbox.fault("anthropic", "pause_turn", times=1)
    sandbox.fault("anthropic", "status", status=503, times=1)
    sandbox.fault("anthropic", "hang")
    costs = await _booked_when_cancelled(gateway, sandbox, "anthropic", calls=3, **settings)
    assert turn > 0, "the turn before the error is billed"
    assert costs["anthropic"] == pytest.approx(turn + turn + engine.likely_usd, abs=1e-5)


async def test_a_call_that_is_cancelled_just_before_the_gateway_closes_is_on_the_ledger(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "hang")
    async with gateway(answer_engines="openai") as opened:
        (engine,) = opened.engines
        asking = asyncio.create_task(opened.search(TOWER))
        await sandbox.wait_for("openai", calls=1)
        asking.cancel()
    async with gateway() as opened:
        costs = (await opened.operations.server_stats()).days[0].by_provider
    assert costs == pytest.approx({"openai": engine.likely_usd}, abs=1e-5)


async def _booked_when_cancelled(
    gateway: Open, sandbox: Sandbox, target: str, *, calls: int, **settings: str
) -> Mapping[str, float]:
    """The costs of the day by upstream, after a call that is cancelled when `target` has been asked so often."""
    async with gateway(**settings) as opened:
        asking = asyncio.create_task(opened.search(TOWER))
        await sandbox.wait_for(target, calls=calls)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await sandbox.wait_for(target, cancelled=1)
    async with gateway(**settings) as opened:
        return (await opened.operations.server_stats()).days[0].by_provider
