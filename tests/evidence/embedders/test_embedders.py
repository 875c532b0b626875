"""The price of a million tokens: the operator's, else OpenAI's, else zero."""

from __future__ import annotations

import pytest

from websearch_gateway.evidence.embedders.choice import OPENAI_USD, usd_per_million_tokens
from websearch_gateway.settings.loading import Settings

OPENAI = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("settings", "price"),
    [
        ({}, 0.0),
        ({"embedding_server_url": OPENAI}, OPENAI_USD["text-embedding-3-small"]),
        ({"embedding_server_url": OPENAI, "embedding_model_name": "text-embedding-3-large"}, 0.13),
        ({"embedding_server_url": OPENAI, "embedding_model_name": "text-embedding-9"}, 0.0),
        (
            {
                "embedding_server_url": "http://127.0.0.1:11434/v1",
                "embedding_model_name": "text-embedding-3-large",
            },
            0.0,
        ),
        ({"embedding_server_url": "https://api.openai.com.evil.example/v1"}, 0.0),
        ({"embedding_server_url": OPENAI, "prices": "embedding:0.5"}, 0.5),
        ({"embedding_server_url": OPENAI, "prices": "embedding:0"}, 0.0),
    ],
)
def test_the_price_of_an_embedder(settings: dict[str, str], price: float) -> None:
    assert usd_per_million_tokens(Settings(**settings)) == price
