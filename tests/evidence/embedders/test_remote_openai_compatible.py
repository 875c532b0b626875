"""OpenAI's embeddings API, as the vendor documents it, against a scripted server and against the sandbox."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import httpx2
import numpy as np
import pytest

from websearch_gateway.base.net.client import create_client
from websearch_gateway.base.net.requests import Retry
from websearch_gateway.errors import (
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    Unavailable,
)
from websearch_gateway.evidence.embedders.remote import OpenAICompatibleEmbedder
from websearch_gateway.sandbox import OPENAI_KEY, Sandbox

ClientOf = Callable[[Callable[[httpx2.Request], httpx2.Response]], httpx2.AsyncClient]
URL = "http://embed.test/v1"


def packed(values: list[float]) -> str:
    return base64.b64encode(np.array(values, dtype="<f4").tobytes()).decode()


class Server:
    """Embeds a text as [its length, 1]; `failures` are the statuses of the first replies."""

    def __init__(self, *failures: int, base64_floats: bool = True, backwards: bool = False) -> None:
        self.failures = list(failures)
        self.base64_floats = base64_floats
        self.backwards = backwards
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[httpx2.Headers] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.bodies.append(body)
        self.headers.append(request.headers)
        if self.failures:
            return httpx2.Response(
                self.failures.pop(0), headers={"retry-after": "7"}, json={"error": {}}
            )
        vectors = [[float(len(text)), 1.0] for text in body["input"]]
        data = [
            {"index": i, "embedding": packed(v) if self.base64_floats else v}
            for i, v in enumerate(vectors)
        ]
        return httpx2.Response(200, json={"data": data[::-1] if self.backwards else data})


def embedder(client: httpx2.AsyncClient, retry: Retry, **options: Any) -> OpenAICompatibleEmbedder:
    return OpenAICompatibleEmbedder(URL, client, retry, **options)


@pytest.mark.parametrize("base64_floats", [True, False])
async def test_vectors_come_in_the_order_of_their_texts(
    client_of: ClientOf, retry: Retry, base64_floats: bool
) -> None:
    server = Server(base64_floats=base64_floats, backwards=True)
    vectors = await embedder(client_of(server), retry).embed(["a", "bbb"], "document")
    np.testing.assert_allclose(vectors, [[2**-0.5, 2**-0.5], [0.9486833, 0.31622777]], rtol=1e-6)


async def test_texts_are_sent_in_batches_of_32_and_blank_ones_not_at_all(
    client_of: ClientOf, retry: Retry
) -> None:
    """The vendor refuses an empty text with HTTP 400."""
    server = Server()
    vectors = await embedder(client_of(server), retry).embed(["", *["x"] * 70, " "], "document")
    assert [len(body["input"]) for body in server.bodies] == [32, 32, 6]
    assert vectors.shape == (72, 2)
    assert not vectors[[0, 71]].any()
    np.testing.assert_allclose(np.linalg.norm(vectors[1:71], axis=1), 1, rtol=1e-6)


async def test_no_request_is_sent_if_all_texts_are_blank(client_of: ClientOf, retry: Retry) -> None:
    server = Server()
    one = embedder(client_of(server), retry)
    assert (await one.embed(["", " "], "query")).shape == (2, 0)
    assert server.bodies == []
    await one.embed(["x"], "query")
    assert one.dimensions == 2
    assert (await one.embed([""], "query")).shape == (1, 2)


async def test_the_key_travels_as_a_bearer_token_and_is_never_shown(
    client_of: ClientOf, retry: Retry
) -> None:
    server = Server()
    one = embedder(client_of(server), retry, key="sk-secret")
    await one.embed(["x"], "query")
    assert server.headers[0]["authorization"] == "Bearer sk-secret"
    assert "sk-secret" not in repr(one)


async def test_a_server_error_is_retried_once(client_of: ClientOf, retry: Retry) -> None:
    server = Server(500)
    await embedder(client_of(server), retry).embed(["x"], "query")
    assert len(server.bodies) == 2


async def test_a_second_server_error_is_not_retried(client_of: ClientOf, retry: Retry) -> None:
    server = Server(503, 503)
    with pytest.raises(SearchProviderError, match="HTTP 503"):
        await embedder(client_of(server), retry).embed(["x"], "query")
    assert len(server.bodies) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429])
async def test_other_errors_are_not_retried(client_of: ClientOf, retry: Retry, status: int) -> None:
    """A 429 passes on its `Retry-After`. Every error is Unavailable, so the ranking continues with words alone."""
    server = Server(status)
    with pytest.raises(Unavailable, match=f"HTTP {status}") as caught:
        await embedder(client_of(server), retry).embed(["a private question"], "query")
    assert len(server.bodies) == 1
    assert caught.value.retry_after == 7
    assert "private" not in caught.value.message


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[]",
        b"{}",
        b'{"data": []}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 0, "embedding": "###"}]}',
        b'{"data": [{"index": 0, "embedding": ""}]}',
        b'{"data": [{"index": 0, "embedding": "AAA="}]}',
        b'{"data": [{"index": 0, "embedding": ["a"]}]}',
        b'{"data": [{"index": 0, "embedding": [1, null]}]}',
        b'{"data": [{"index": 0, "embedding": [NaN]}]}',
        b'{"data": [{"index": 0, "embedding": 3}]}',
        b'{"data": [{"index": Infinity, "embedding": [1]}]}',
        b'{"data": [{"index": 1e400, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [%s]}]}' % (b"9" * 400),
        b'{"data": [{"index": 0, "embedding": [1e308, 1e308]}]}',
        b'{"data": [{"index": 0, "embedding": [%s]}]}' % (b"[" * 900 + b"]" * 900),
        b"[" * 100_000,
        b'{"data":' * 300 + b"1" + b"}" * 300,
        b'{"data": [{"index": 0, "embedding": [%s1]}]}' % (b"1," * 16_384),
        b'{"data": [{"index": 0, "embedding": {"0": 1}}]}',
        b'{"data": {"index": 0, "embedding": [1]}}',
        b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1]}]}',
    ],
)
async def test_a_reply_of_another_form_is_a_parse_error(
    client_of: ClientOf, retry: Retry, body: bytes
) -> None:
    client = client_of(lambda _: httpx2.Response(200, content=body))
    with pytest.raises(SearchProviderParseError):
        await embedder(client, retry).embed(["x"], "query")


async def test_a_vector_has_up_to_16384_numbers(client_of: ClientOf, retry: Retry) -> None:
    row = {"index": 0, "embedding": [1] * 16_384}
    client = client_of(lambda _: httpx2.Response(200, json={"data": [row]}))
    assert (await embedder(client, retry).embed(["x"], "query")).shape == (1, 16_384)


@pytest.mark.parametrize(
    ("status", "setting"),
    [
        (401, "EMBEDDING_SERVER_API_KEY"),
        (403, "EMBEDDING_SERVER_API_KEY"),
        (404, "EMBEDDING_MODEL_NAME"),
    ],
)
async def test_a_refusal_names_the_setting(
    client_of: ClientOf, retry: Retry, status: int, setting: str
) -> None:
    with pytest.raises(Unavailable, match=setting):
        await embedder(client_of(lambda _: httpx2.Response(status)), retry).embed(["x"], "query")


async def test_vectors_of_another_length_than_before_are_refused(
    client_of: ClientOf, retry: Retry
) -> None:
    """An index or a cache cannot compare them; a server whose model was swapped must be seen."""
    lengths = [2, 2, 3]

    def server(_: httpx2.Request) -> httpx2.Response:
        row = {"index": 0, "embedding": [1.0] * lengths.pop(0)}
        return httpx2.Response(200, json={"data": [row]})

    one = embedder(client_of(server), retry)
    for _ in range(2):
        assert (await one.embed(["x"], "query")).shape == (1, 2)
    with pytest.raises(SearchProviderParseError, match="3 numbers after those of 2"):
        await one.embed(["x"], "query")
    assert one.dimensions == 2


async def test_a_slow_server_is_a_timeout(client_of: ClientOf, retry: Retry) -> None:
    def slow(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadTimeout("slow")

    with pytest.raises(SearchTimeoutError):
        await embedder(client_of(slow), retry).embed(["x"], "query")


async def test_the_sandbox_embeds_over_a_socket(sandbox: Sandbox, retry: Retry) -> None:
    client = create_client()
    one = OpenAICompatibleEmbedder(f"{sandbox.url}/openai/v1", client, retry, key=OPENAI_KEY)
    near, same, far = await one.embed(["bake bread", "baking bread", "a rook endgame"], "document")
    await client.aclose()
    assert near @ same > near @ far
    assert one.dimensions == 1536
