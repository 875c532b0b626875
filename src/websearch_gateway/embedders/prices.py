"""The prices of vectors: USD per million tokens (https://platform.openai.com/docs/pricing, 2026-11-21)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from websearch_gateway.text.urls import host

if TYPE_CHECKING:
    from websearch_gateway.settings import Settings

OPENAI_HOST = "api.openai.com"
OPENAI_USD = {"text-embedding-3-small": 0.02, "text-embedding-3-large": 0.13, "text-embedding-ada-002": 0.1}
DEFAULT_MODEL = "text-embedding-3-small"


def usd_per_million_tokens(settings: Settings) -> float:
    """The price of the embedder that the settings name: `embedding` in PRICES, else OpenAI's own price, else 0."""
    if (price := settings.prices.get("embedding")) is not None:
        return price
    if settings.embedding_server_url is None or host(settings.embedding_server_url) != OPENAI_HOST:
        return 0.0
    return OPENAI_USD.get(settings.embedding_model_name or DEFAULT_MODEL, 0.0)
