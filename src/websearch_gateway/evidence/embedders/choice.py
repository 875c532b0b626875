"""Text embedders (`ports.Embedder`), one file each, and the choice between them; and the reranker (`ports.Reranker`).

To add an embedder, write one file and one branch in `open_embedder`. It must open nothing before the first text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from websearch_gateway.base import host
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.ports import no_layer

if TYPE_CHECKING:
    import httpx2

    from websearch_gateway.base import Retry
    from websearch_gateway.ports import Embedder, Layer, Reranker
    from websearch_gateway.settings.loading import Settings


OLLAMA_PORT = ":11434"


def open_embedder(settings: Settings, client: httpx2.AsyncClient, retry: Retry) -> Embedder:
    """Return the embedder that the settings name. Models load and servers are called on the first text, not here.

    Without EMBEDDING_SERVER_URL it is the built-in model. An address whose path ends in `/api`, or one on port 11434
    without a path, is Ollama; any other address is OpenAI-compatible (including `http://localhost:11434/v1`).

    Raises:
        SearchNotConfiguredError: EMBEDDING_MODEL_NAME names a model, and there is no server.
    """
    if settings.embedding_server_url is None:
        if settings.embedding_model_name not in (None, "static"):
            raise SearchNotConfiguredError(
                "EMBEDDING_MODEL_NAME names a model of EMBEDDING_SERVER_URL, which is not set. Set the address of the "
                "server, or leave EMBEDDING_MODEL_NAME out to use the built-in model."
            )
        from websearch_gateway.evidence.embedders.local import StaticEmbedder

        return StaticEmbedder()
    secret = settings.embedding_server_api_key
    key = secret.get_secret_value() if secret else None
    url = settings.embedding_server_url
    parts = urlsplit(url)
    if parts.path.endswith("/api") or (parts.netloc.endswith(OLLAMA_PORT) and not parts.path):
        from websearch_gateway.evidence.embedders.remote import OllamaEmbedder

        base = url if parts.path else f"{url}/api"
        return OllamaEmbedder(
            base, client, retry, settings.embedding_model_name or "nomic-embed-text", key
        )
    from websearch_gateway.evidence.embedders.remote import OpenAICompatibleEmbedder

    return OpenAICompatibleEmbedder(
        url, client, retry, settings.embedding_model_name or "text-embedding-3-small", key
    )


def open_reranker(
    settings: Settings,
    client: httpx2.AsyncClient,
    guard: Layer = no_layer,
) -> Reranker | None:
    """The reranker that the settings name, if any. It is called with the first texts, not here."""
    if settings.reranker_url is None:
        return None
    from websearch_gateway.evidence.embedders.remote import HttpReranker

    secret = settings.reranker_api_key
    key = secret.get_secret_value() if secret else None
    price = settings.prices.get("reranker", 0.0)
    return HttpReranker(settings.reranker_url, client, settings.reranker_model, key, guard, price)


OPENAI_HOST = "api.openai.com"
OPENAI_USD = {
    "text-embedding-3-small": 0.02,
    "text-embedding-3-large": 0.13,
    "text-embedding-ada-002": 0.1,
}
DEFAULT_MODEL = "text-embedding-3-small"


def usd_per_million_tokens(settings: Settings) -> float:
    """The price of the embedder that the settings name: `embedding` in PRICES, else OpenAI's own price, else 0."""
    if (price := settings.prices.get("embedding")) is not None:
        return price
    if settings.embedding_server_url is None or host(settings.embedding_server_url) != OPENAI_HOST:
        return 0.0
    return OPENAI_USD.get(settings.embedding_model_name or DEFAULT_MODEL, 0.0)
