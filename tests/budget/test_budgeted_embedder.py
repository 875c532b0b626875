"""Vectors that cost money stand in the ledger of the user who asked, and wait for the budget."""

from __future__ import annotations

import pytest

from websearch_gateway.budget.budgeted_embedder import BudgetedEmbedder
from websearch_gateway.budget.ledger import Ledger
from websearch_gateway.embedders.prices import usd_per_million_tokens
from websearch_gateway.embedders.static import StaticEmbedder
from websearch_gateway.errors import SearchBudgetError
from websearch_gateway.net.cost_context import pay_as
from websearch_gateway.settings import Settings
from websearch_gateway.state.memory import MemoryState

TEXT = "a" * 3_000  # a thousand tokens


async def test_a_batch_is_booked_by_its_length_for_the_user_who_asked() -> None:
    state = MemoryState()
    ledger = Ledger(state, daily_usd=1.0)
    pay_as("ann")
    await BudgetedEmbedder(StaticEmbedder(), ledger, 20.0).embed([TEXT, TEXT], "document")
    day = await ledger.day()
    assert day.usd_by_upstream == {"embedding": pytest.approx(0.04)}
    assert len([key async for key, _ in state.scan(f"ledger/{day.day}/user/")]) == 1


async def test_a_spent_budget_stops_the_embedder_and_nothing_else() -> None:
    """`Unavailable`: passages are ranked by words then."""
    embedder = BudgetedEmbedder(StaticEmbedder(), Ledger(MemoryState(), daily_usd=0.01), 20.0)
    with pytest.raises(SearchBudgetError):
        await embedder.embed([TEXT], "document")


@pytest.mark.parametrize(
    ("settings", "usd"),
    [
        ({}, 0.0),
        ({"embedding_server_url": "http://localhost:11434/v1"}, 0.0),
        ({"embedding_server_url": "https://api.openai.com/v1"}, 0.02),
        (
            {"embedding_server_url": "https://api.openai.com/v1", "embedding_model_name": "text-embedding-3-large"},
            0.13,
        ),
        ({"embedding_server_url": "https://vectors.example/v1", "prices": "embedding:0.5"}, 0.5),
    ],
)
def test_openais_models_have_their_price_and_others_that_of_the_operator(settings: dict[str, str], usd: float) -> None:
    assert usd_per_million_tokens(Settings(**settings)) == usd
