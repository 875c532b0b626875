from __future__ import annotations

import math
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai
import pytest

from websearch_gateway.sandbox import OPENAI_KEY, Sandbox
from websearch_gateway.sandbox.vendors.openai_embeddings import vector

HEADERS = {"Authorization": f"Bearer {OPENAI_KEY}"}


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(api_key=OPENAI_KEY, base_url=f"{sandbox.url}/openai/v1", max_retries=0) as sdk:
        yield sdk


async def _embed(client: openai.AsyncOpenAI, *texts: str, **options: Any) -> list[list[float]]:
    reply = await client.embeddings.create(model="text-embedding-3-small", input=list(texts), **options)
    return [item.embedding for item in reply.data]


def _likeness(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


async def test_base64_and_plain_numbers_are_the_same_vectors(client: openai.AsyncOpenAI) -> None:
    """The SDK asks for base64 unless told otherwise."""
    [packed], [plain] = await _embed(client, "bread"), await _embed(client, "bread", encoding_format="float")
    assert packed == pytest.approx(plain)
    assert len(packed) == 1536
    assert math.hypot(*packed) == pytest.approx(1, abs=1e-5)


def test_a_vector_is_the_same_in_every_process_and_on_every_day() -> None:
    assert [round(value, 3) for value in vector("bread", 4)] == [0.192, 0.0, 0.192, 0.962]


async def test_texts_that_share_words_are_near_each_other(client: openai.AsyncOpenAI) -> None:
    near, same, far = await _embed(client, "baking sourdough bread", "bake a sourdough bread", "rook endgame in chess")
    assert _likeness(near, same) > 0.9
    assert _likeness(near, far) < 0.3


async def test_a_vector_can_be_shorter_and_an_old_models_cannot(client: openai.AsyncOpenAI) -> None:
    assert [len(vector) for vector in await _embed(client, "a", "b", dimensions=64)] == [64, 64]
    with pytest.raises(openai.BadRequestError):
        await client.embeddings.create(model="text-embedding-ada-002", input="a", dimensions=64)
    with pytest.raises(openai.BadRequestError):
        await _embed(client, "a", dimensions=5000)


@pytest.mark.parametrize(
    ("body", "status", "code", "words"),
    [
        ({"input": ""}, 400, None, "'$.input' is invalid."),
        ({"input": []}, 400, None, "'$.input' is invalid."),
        ({"input": ["a", ""]}, 400, None, "'$.input' is invalid."),
        ({"input": ["a"] * 2049}, 400, None, "2048"),
        ({"input": "a" * 40_000}, 400, None, "Invalid 'input[0]': maximum input length is 8192 tokens."),
        ({"input": ["a" * 32_000] * 38}, 400, "max_tokens_per_request", "max 300000 tokens per request"),
        ({"input": "a", "model": "gpt-9"}, 404, "model_not_found", "gpt-9"),
        ({"input": "a", "model": "gpt-6-luna"}, 400, "model_not_supported", "embeddings"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_what_openai_refuses_to_embed_is_refused(
    http: httpx2.AsyncClient, body: dict[str, Any], status: int, code: str | None, words: str
) -> None:
    asked = {"model": "text-embedding-3-small", **body}
    reply = await http.post("/openai/v1/embeddings", json=asked, headers=HEADERS)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert words in reply.json()["error"]["message"]
