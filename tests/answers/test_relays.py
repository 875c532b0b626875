"""OPENAI_BASE_URL may be another server that speaks the Responses API, in a dialect of its own."""

from __future__ import annotations

import json

import pytest
from pydantic import SecretStr

from tests.opening import Open
from websearch_gateway.answers.openai import OpenAI
from websearch_gateway.base import Reply
from websearch_gateway.errors import Exhausted, SearchProviderError
from websearch_gateway.models import HttpRequest, SearchRequest
from websearch_gateway.sandbox import AZURE_DEPLOYMENT, Sandbox, key_of

TOWER = SearchRequest("How tall is the Eiffel Tower?")


@pytest.mark.parametrize(
    ("relay", "path", "model"),
    [
        ("azure", "/openai/v1/", AZURE_DEPLOYMENT),
        ("azure", "/openai/v1", AZURE_DEPLOYMENT),
        ("xai", "/v1", "grok-4.3"),
        ("openrouter", "/api/v1", "openai/gpt-5.4-nano:online"),
    ],
)
async def test_it_answers_with_citations_in_place(
    gateway: Open, sandbox: Sandbox, relay: str, path: str, model: str
) -> None:
    url = f"{sandbox.url}/{relay}{path}"
    async with gateway(
        openai_base_url=url, openai_api_key=key_of(relay), openai_models=model
    ) as opened:
        answer = await opened.search(TOWER)
        again = await opened.search(SearchRequest("How long is the Eiffel Tower's shadow?"))
    assert (answer.provider, answer.fallback) == (f"{model}-web-search", None)
    assert again.fallback is None
    assert "330 metres" in answer.text
    [citation] = answer.citations[:1]
    assert "eiffel-tower" in answer.text[citation.start_index : citation.end_index]
    assert not citation.title.isdecimal()
    assert not [warning for warning in answer.warnings if "left out" in warning]


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("https://api.x.ai", "https://api.x.ai/v1"),
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1"),
        ("https://r.openai.azure.com/openai", "https://r.openai.azure.com/openai/v1"),
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("https://relay.example/v1beta/openai", "https://relay.example/v1beta/openai"),
    ],
)
def test_an_address_without_a_version_gets_one(given: str, used: str) -> None:
    assert OpenAI(SecretStr("k"), given).base_url == used


async def test_a_deployment_that_azure_does_not_have_is_a_missing_model(
    gateway: Open, sandbox: Sandbox
) -> None:
    url = f"{sandbox.url}/azure/openai/v1"
    async with gateway(
        openai_base_url=url, openai_api_key=key_of("azure"), openai_models="gone"
    ) as opened:
        answer = await opened.search(TOWER)
    assert answer.fallback is not None
    assert "None of the models in OPENAI_MODELS serves (gone)." in answer.fallback.reason


@pytest.mark.parametrize(
    "body",
    [
        b"404 page not found",
        b'{"detail": "Not Found"}',
        b'{"error": "Unexpected endpoint or method. (POST /responses)"}',
        b'{"error": {"message": "Invalid URL (POST /responses)", "type": "invalid_request_error", "code": null}}',
        b"<!doctype html><title>404</title>",
    ],
)
def test_an_address_without_the_api_does_not_blame_the_model(body: bytes) -> None:
    error = OpenAI(SecretStr("k"), "https://o.example").refusal(
        HttpRequest("POST", "https://o.example/responses", json={"input": "q"}),
        Reply(404, {}, body),
    )
    assert type(error) is SearchProviderError
    assert "OPENAI_BASE_URL" in error.message
    assert "/v1" in error.message


@pytest.mark.parametrize(
    "error",
    [
        {"code": "model_not_found", "message": "x"},
        {"code": None, "message": "model 'x' not found, try pulling it first"},
        "The model grok-9 does not exist or your team does not have access to it.",
    ],
)
def test_an_error_about_the_model_blames_the_model(error: object) -> None:
    found = OpenAI(SecretStr("k"), "https://o.example").refusal(
        HttpRequest("POST", "https://o.example/responses", json={"input": "q"}),
        Reply(404, {}, json.dumps({"error": error}).encode()),
    )
    assert type(found).__name__ == "ModelGone"


async def test_a_relay_without_credit_is_not_asked_again_at_once(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "status", status=429, reason="insufficient_quota")
    sandbox.fault("serper", "status", status=400, reason="Not enough credits")
    async with gateway(search_providers="serper") as opened:
        for _ in range(2):
            with pytest.raises(Exhausted) as caught:
                await opened.search(TOWER)
    assert sandbox.calls("openai") == sandbox.calls("serper") == 1
    assert caught.value.retry_after is not None
    assert 800 < caught.value.retry_after <= 900
