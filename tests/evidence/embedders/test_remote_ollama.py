"""Ollama's API as its own source answers: a missing model is a 404, and a pull without a stream has one reply."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import httpx2
import numpy as np
import pytest

from bench.virtual_time import in_virtual_time, now
from websearch_gateway.base.net.requests import Retry
from websearch_gateway.errors import SearchProviderParseError, Unavailable
from websearch_gateway.evidence.embedders.remote import OllamaEmbedder

ClientOf = Callable[[Callable[[httpx2.Request], httpx2.Response]], httpx2.AsyncClient]


class Server:
    """Lacks the model until it is pulled; a pull answers with `pull`."""

    def __init__(
        self, *, present: bool = True, pull: Any = MappingProxyType({"status": "success"})
    ) -> None:
        self.present = present
        self.pull = pull
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.seen.append((request.url.path, body))
        if request.url.path == "/api/pull":
            assert body["stream"] is False
            self.present = "status" in self.pull
            return httpx2.Response(500 if "error" in self.pull else 200, json=dict(self.pull))
        if not self.present:
            return httpx2.Response(404, json={"error": f"model '{body['model']}' not found"})
        return httpx2.Response(200, json={"embeddings": [[3.0, 4.0] for _ in body["input"]]})


def embedder(client: httpx2.AsyncClient, retry: Retry, **options: Any) -> OllamaEmbedder:
    return OllamaEmbedder("http://ollama.test/api", client, retry, **options)


async def test_texts_are_embedded_in_batches_as_unit_vectors(
    client_of: ClientOf, retry: Retry
) -> None:
    server = Server()
    vectors = await embedder(client_of(server), retry, model="all-minilm").embed(
        ["x"] * 33, "document"
    )
    np.testing.assert_allclose(vectors, [[0.6, 0.8]] * 33, rtol=1e-6)
    assert [(path, len(body["input"])) for path, body in server.seen] == [
        ("/api/embed", 32),
        ("/api/embed", 1),
    ]


@pytest.mark.parametrize(
    ("kind", "before"), [("query", "search_query: "), ("document", "search_document: ")]
)
async def test_nomic_embed_text_reads_the_task_before_the_text(
    client_of: ClientOf, retry: Retry, kind: Any, before: str
) -> None:
    server = Server()
    await embedder(client_of(server), retry).embed(["x"], kind)
    assert server.seen[0][1]["input"] == [before + "x"]


async def test_other_models_read_the_text_alone(client_of: ClientOf, retry: Retry) -> None:
    server = Server()
    await embedder(client_of(server), retry, model="all-minilm").embed(["x"], "query")
    assert server.seen[0][1]["input"] == ["x"]


async def test_a_missing_model_is_pulled(client_of: ClientOf, retry: Retry) -> None:
    server = Server(present=False)
    vectors = await embedder(client_of(server), retry).embed(["x"], "query")
    assert vectors.shape == (1, 2)
    assert [path for path, _ in server.seen] == ["/api/embed", "/api/pull", "/api/embed"]


@pytest.mark.parametrize(
    ("pull", "message"),
    [
        ({"error": "pull model manifest: file does not exist"}, "EMBEDDING_MODEL_NAME"),
        ({"error": "unexpected EOF"}, "HTTP 500"),
        ({"state": "?"}, "cannot download"),
    ],
)
async def test_a_failed_pull_is_unavailable(
    client_of: ClientOf, retry: Retry, pull: dict[str, str], message: str
) -> None:
    with pytest.raises(Unavailable, match=message):
        await embedder(client_of(Server(present=False, pull=pull)), retry).embed(["x"], "query")


async def test_a_model_that_is_missing_after_its_pull_is_unavailable(
    client_of: ClientOf, retry: Retry
) -> None:
    def always_missing(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/api/pull":
            return httpx2.Response(200, content=b'{"status":"success"}')
        return httpx2.Response(404, json={"error": "model not found"})

    with pytest.raises(Unavailable, match="HTTP 404"):
        await embedder(client_of(always_missing), retry).embed(["x"], "query")


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"embeddings": null}', b'{"embeddings": []}'])
async def test_a_reply_of_another_form_is_a_parse_error(
    client_of: ClientOf, retry: Retry, body: bytes
) -> None:
    client = client_of(lambda _: httpx2.Response(200, content=body))
    with pytest.raises(SearchProviderParseError):
        await embedder(client, retry).embed(["x"], "query")


async def test_a_server_error_is_retried_once(client_of: ClientOf, retry: Retry) -> None:
    replies = [httpx2.Response(500), httpx2.Response(200, json={"embeddings": [[1.0]]})]
    vectors = await embedder(client_of(lambda _: replies.pop(0)), retry).embed(["x"], "query")
    assert vectors.tolist() == [[1.0]]


@pytest.mark.parametrize(("is_missing", "seconds"), [(False, 20), (True, 600)])
def test_a_batch_may_take_twenty_seconds_and_a_pull_ten_minutes(
    retry: Retry, is_missing: bool, seconds: float
) -> None:
    async def serve(request: httpx2.Request) -> httpx2.Response:
        if is_missing and request.url.path == "/api/embed":
            return httpx2.Response(404, stream=httpx2.ByteStream(b""))
        await asyncio.sleep(3_600)
        raise AssertionError("nobody waits so long")

    @in_virtual_time
    async def waited() -> float:
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(serve))
        with pytest.raises(Unavailable):
            await embedder(client, retry).embed(["x"], "query")
        return now()

    assert waited() == pytest.approx(seconds, rel=0.2)


@pytest.mark.parametrize(("before", "is_recognised"), [(9_900, True), (10_100, False)])
async def test_a_missing_model_is_recognised_at_the_beginning_of_a_reply(
    client_of: ClientOf, retry: Retry, before: int, is_recognised: bool
) -> None:
    reply = httpx2.Response(500, content=b" " * before + b'{"error": "model \'x\' not found"}')
    with pytest.raises(Unavailable) as caught:
        await embedder(client_of(lambda _: reply), retry).embed(["x"], "query")
    assert ("reason" in caught.value.details) is is_recognised
