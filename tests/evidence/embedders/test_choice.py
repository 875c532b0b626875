"""The settings choose the embedder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from websearch_gateway.base.net.requests import Retry
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.evidence.embedders.choice import (
    open_embedder,
    open_reranker,
    usd_per_million_tokens,
)
from websearch_gateway.evidence.embedders.remote import OllamaEmbedder, OpenAICompatibleEmbedder
from websearch_gateway.settings.loading import load_settings


@pytest.fixture
def open_with(client_of: Callable[..., httpx2.AsyncClient], retry: Retry) -> Callable[..., Any]:
    client = client_of(lambda _: httpx2.Response(500))
    return lambda **settings: open_embedder(load_settings(**settings), client, retry)


def test_without_an_address_the_built_in_model_serves(open_with: Callable[..., Any]) -> None:
    assert open_with().name == "static/1"


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("http://localhost:11434", "http://localhost:11434/api"),
        ("http://localhost:11434/", "http://localhost:11434/api"),
        ("https://models.test/ollama/api/", "https://models.test/ollama/api"),
    ],
)
def test_an_address_of_ollama_is_recognised(
    open_with: Callable[..., Any], address: str, url: str
) -> None:
    chosen = open_with(embedding_server_url=address)
    assert isinstance(chosen, OllamaEmbedder)
    assert (chosen.url, chosen.name) == (url, "ollama/nomic-embed-text")


@pytest.mark.parametrize(
    "address", ["http://localhost:11434/v1", "https://api.openai.com/v1", "http://tei.test:8080"]
)
def test_every_other_address_is_openai_compatible(
    open_with: Callable[..., Any], address: str
) -> None:
    chosen = open_with(embedding_server_url=address, embedding_server_api_key="k")
    assert isinstance(chosen, OpenAICompatibleEmbedder)
    assert (chosen.url, chosen.key, chosen.name) == (
        address,
        "k",
        "openai_compatible/text-embedding-3-small",
    )


def test_the_model_can_be_named(open_with: Callable[..., Any]) -> None:
    assert (
        open_with(embedding_server_url="http://a.test/v1", embedding_model_name="bge-m3").model
        == "bge-m3"
    )
    assert (
        open_with(embedding_server_url="http://a.test/api", embedding_model_name="bge-m3").model
        == "bge-m3"
    )


def test_another_name_needs_an_address(open_with: Callable[..., Any]) -> None:
    assert open_with(embedding_model_name="static").name == "static/1"
    with pytest.raises(SearchNotConfiguredError, match="EMBEDDING_SERVER_URL"):
        open_with(embedding_model_name="bge-m3")


@pytest.mark.parametrize(
    ("model", "price"),
    [
        (None, 0.02),
        ("text-embedding-3-small", 0.02),
        ("text-embedding-3-large", 0.13),
        ("text-embedding-ada-002", 0.1),
        ("bge-m3", 0.0),
    ],
)
def test_the_models_of_openai_cost_what_openai_says(model: str | None, price: float) -> None:
    settings = load_settings(
        embedding_server_url="https://api.openai.com/v1", embedding_model_name=model
    )
    assert usd_per_million_tokens(settings) == price


@pytest.mark.parametrize("url", [None, "http://rerank.test/v2"])
def test_a_reranker_is_opened_if_it_has_an_address(url: str | None) -> None:
    reranker = open_reranker(load_settings(reranker_url=url), httpx2.AsyncClient())
    assert (reranker is not None) is (url is not None)
