"""The cost of an answer engine's call for every outcome: in the ledger, and for the code that abandons the call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import pytest

from websearch_gateway.budget.budgeted import BudgetedEngine
from websearch_gateway.budget.ledger import Ledger
from websearch_gateway.errors import (
    SearchAuthError,
    SearchBudgetError,
    SearchError,
    SearchProviderError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.models import Answer, Deadline, SearchQuery, Span
from websearch_gateway.net.cost_context import spent
from websearch_gateway.pipeline.fallback import FallbackEngine, Ranked
from websearch_gateway.ports import Progress, no_progress
from websearch_gateway.state.memory import MemoryState

QUERY = SearchQuery("how tall is the tower", user="ann")
MOST, LIKELY, BILL = 0.2, 0.03, 0.012


@dataclass
class Engine:
    """An engine with a scripted outcome."""

    outcome: Callable[[], Awaitable[Answer]]
    name: str = "openai"

    async def answer(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Answer:
        return await self.outcome()


def sourced(provider: str, cost_usd: float) -> Answer:
    return Answer("It is tall.", (Span("https://a.example/", "A", 0, 11),), provider, cost_usd=cost_usd)


async def answers() -> Answer:
    return sourced("openai", BILL)


async def hangs() -> Answer:
    await asyncio.Event().wait()
    raise AssertionError


def failing(error: SearchError, cost_usd: float = 0.0) -> Callable[[], Awaitable[Answer]]:
    async def fail() -> Answer:
        error.cost_usd = cost_usd
        raise error

    return fail


def paid(ledger: Ledger, outcome: Callable[[], Awaitable[Answer]]) -> BudgetedEngine:
    return BudgetedEngine(Engine(outcome), ledger, MOST, LIKELY)


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(MemoryState(), daily_usd=1.0)


@pytest.mark.parametrize(
    ("outcome", "usd"),
    [
        (answers, BILL),
        (failing(SearchProviderError("HTTP 500")), 0.0),
        (failing(SearchProviderError("stopped before the answer"), BILL), BILL),
        (failing(SearchValidationError("declined"), BILL), BILL),
        (failing(SearchAuthError("wrong key")), 0.0),
        (failing(SearchTimeoutError("too late")), LIKELY),
    ],
)
async def test_a_call_costs_its_bill_or_the_likely_cost_without_a_bill(
    ledger: Ledger, outcome: Callable[[], Awaitable[Answer]], usd: float
) -> None:
    before = spent()
    with suppress(SearchError):
        await paid(ledger, outcome).answer(QUERY, Deadline.after(60), no_progress)
    assert spent() - before == pytest.approx(usd)
    assert (await ledger.day()).usd == pytest.approx(usd)


async def test_an_engine_that_is_overtaken_counts_in_the_answer_and_in_the_ledger(ledger: Ledger) -> None:
    async def raw() -> Answer:
        return sourced("brave-raw-search", 0.005)

    engine = FallbackEngine([Ranked(paid(ledger, hangs))], Engine(raw, "raw-search"), hedge_seconds=0)
    answer = await engine.answer(QUERY, Deadline.after(60), no_progress)
    assert answer.cost_usd == pytest.approx(LIKELY + 0.005)
    assert (await ledger.day()).usd_by_upstream == {"openai": pytest.approx(LIKELY)}


async def test_a_call_without_room_in_the_budget_costs_nothing() -> None:
    ledger = Ledger(MemoryState(), daily_usd=MOST / 2)
    before = spent()
    with pytest.raises(SearchBudgetError):
        await paid(ledger, answers).answer(QUERY, Deadline.after(60), no_progress)
    assert spent() == before
    assert (await ledger.day()).usd == 0.0
