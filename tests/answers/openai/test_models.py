from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from websearch_gateway.answers.models import Billed
from websearch_gateway.answers.openai.models import EFFORT, MODELS, find_model
from websearch_gateway.settings import Settings


def test_a_dated_snapshot_is_its_model() -> None:
    assert find_model("gpt-5-nano-2025-08-07") == find_model("gpt-5-nano")
    assert find_model("gpt-5-nano-next") is None


def test_the_default_models_are_known_and_the_first_has_a_shutdown_date() -> None:
    first, *others = (find_model(name) for name in Settings().openai_models)
    assert first
    assert first.ends == date(2026, 12, 11)
    assert all(other and other.ends is None for other in others)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_model_accepts_the_effort_that_requests_name(model: object) -> None:
    assert EFFORT in model.efforts  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "billed", "usd"),
    [
        ("gpt-5-nano", Billed(prompt=1_000_000), 0.05),
        ("gpt-5-nano", Billed(prompt=1_000_000, cached=1_000_000), 0.005),
        ("gpt-5-nano", Billed(response=1_000_000), 0.40),
        ("gpt-6-luna", Billed(prompt=1_000_000, cached=500_000, cache_written=400_000), 0.005 + 0.05 + 0.01),
        ("gpt-5.4-nano", Billed(prompt=1_000_000, cache_written=1_000_000), 0.20),
        ("gpt-5-nano", Billed(prompt=10, cached=10**9, cache_written=10**9), 10 * 0.005 / 1e6),
    ],
)
def test_tokens_cost_what_the_price_list_says(name: str, billed: Billed, usd: float) -> None:
    model = find_model(name)
    assert model
    assert model.tokens_usd(billed, datetime(2026, 11, 22, tzinfo=UTC)) == pytest.approx(usd)
