"""Which engines and readers of claims the settings choose."""

from __future__ import annotations

from typing import Any

import pytest

from tests.opening import Open
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.sandbox import key_of


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"claims_reader": "llm"}, "CLAIMS_READER=llm needs LLM_BASE_URL and LLM_MODEL"),
        (
            {"claims_reader": "engine", "openai_api_key": None},
            "CLAIMS_READER=engine needs an answer engine, and none is configured",
        ),
        (
            {
                "claims_reader": "engine",
                "answer_engines": "perplexity",
                "perplexity_api_key": key_of("perplexity"),
            },
            "CLAIMS_READER=engine cannot ask perplexity: .* Name another one in ANSWER_ENGINES",
        ),
    ],
    ids=["no own model", "no engine", "no engine that can judge"],
)
async def test_a_reader_of_claims_that_cannot_be_is_told_at_the_start(
    gateway: Open, settings: dict[str, Any], problem: str
) -> None:
    with pytest.raises(SearchNotConfiguredError, match=problem):
        async with gateway(**settings):
            pass


async def test_an_engine_named_without_its_key_is_told_at_the_start(gateway: Open) -> None:
    with pytest.raises(SearchNotConfiguredError, match=r"ANSWER_ENGINES.*PERPLEXITY_API_KEY"):
        async with gateway(answer_engines="perplexity", perplexity_api_key=None):
            pass


async def test_engines_answer_in_the_order_in_which_they_are_named(gateway: Open) -> None:
    keys = {"perplexity_api_key": key_of("perplexity")}
    async with gateway(answer_engines="perplexity,openai", **keys) as opened:
        assert [engine.name for engine in opened.engines] == ["perplexity", "openai"]
