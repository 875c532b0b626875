"""Ollama's API as its own source answers: a missing model is a 404, and a failed pull hides in a stream with 200."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import httpx2
import numpy as np
import pytest

from websearch_gateway.embedders.remote import OllamaEmbedder
from websearch_gateway.errors import SearchProviderError, SearchProviderParseError, Unavailable
from websearch_gateway.net.requests import Retry

ClientOf = Callable[[Callable[[httpx2.Request], httpx2.Response]], httpx2.AsyncClient]

PULL = (
    {"status": "pulling manifest"},
    {"status": "pulling 970aa74c0a90", "digest": "sha256:970aa74c0a90", "total": 200},
    {"status": "pulling 970aa74c0a90", "digest": "sha256:970aa74c0a90", "total": 200, "completed": 100},
    {"status": "pulling 970aa74c0a90", "digest": "sha256:970aa74c0a90", "total": 200, "completed": 101},
    {"status": "verifying sha256 digest"},
    {"status": "success"},
)


class Server:
    """Lacks the model until it is pulled; a pull answers with `pull`, one JSON object per line."""

    def __init__(
        self, *, present: bool = True, pull: tuple[dict[str, Any], ...] = PULL, pull_status: int = 200
    ) -> None:
        self.present = present
        self.pull = pull
        self.pull_status = pull_status
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.seen.append((request.url.path, body))
        if request.url.path == "/api/pull":
            self.present = any(report.get("status") == "success" for report in self.pull)
            return httpx2.Response(self.pull_status, content="".join(json.dumps(r) + "\n" for r in self.pull).encode())
        if not self.present:
            return httpx2.Response(404, json={"error": f"model '{body['model']}' not found"})
        return httpx2.Response(200, json={"embeddings": [[3.0, 4.0] for _ in body["input"]]})


def embedder(client: httpx2.AsyncClient, retry: Retry, **options: Any) -> OllamaEmbedder:
    return OllamaEmbedder("http://ollama.test/api", client, retry, **options)


async def test_texts_are_embedded_in_batches_as_unit_vectors(client_of: ClientOf, retry: Retry) -> None:
    server = Server()
    vectors = await embedder(client_of(server), retry, model="all-minilm").embed(["x"] * 33, "document")
    np.testing.assert_allclose(vectors, [[0.6, 0.8]] * 33, rtol=1e-6)
    assert [(path, len(body["input"])) for path, body in server.seen] == [("/api/embed", 32), ("/api/embed", 1)]


@pytest.mark.parametrize(("kind", "before"), [("query", "search_query: "), ("document", "search_document: ")])
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


async def test_a_missing_model_is_pulled_and_each_step_is_reported_once(client_of: ClientOf, retry: Retry) -> None:
    told: list[str] = []

    async def progress(step: str) -> None:
        told.append(step)

    server = Server(present=False)
    vectors = await embedder(client_of(server), retry, progress=progress).embed(["x"], "query")
    assert vectors.shape == (1, 2)
    assert [path for path, _ in server.seen] == ["/api/embed", "/api/pull", "/api/embed"]
    assert told == [
        "nomic-embed-text: pulling manifest",
        "nomic-embed-text: pulling 0%",
        "nomic-embed-text: pulling 50%",
        "nomic-embed-text: verifying sha256 digest",
        "nomic-embed-text: success",
    ]


@pytest.mark.parametrize(
    ("pull", "error", "message"),
    [
        ((PULL[0], {"error": "pull model manifest: file does not exist"}), SearchProviderError, "cannot download"),
        (PULL[:3], SearchProviderError, "stopped downloading"),
        (({"state": "?"},), SearchProviderParseError, "unknown form"),
        (({"status": "pulling", "total": "much"},), SearchProviderParseError, "unknown form"),
    ],
)
async def test_a_failed_pull_inside_a_good_stream_is_seen(
    client_of: ClientOf, retry: Retry, pull: Sequence[dict[str, Any]], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        await embedder(client_of(Server(present=False, pull=pull)), retry).embed(["x"], "query")


async def test_a_refused_pull_is_unavailable(client_of: ClientOf, retry: Retry) -> None:
    with pytest.raises(Unavailable, match="HTTP 500"):
        await embedder(client_of(Server(present=False, pull_status=500)), retry).embed(["x"], "query")


async def test_endless_progress_is_cut_off(client_of: ClientOf, retry: Retry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("websearch_gateway.embedders.remote.MOST_PROGRESS_BYTES", 100)
    server = Server(present=False, pull=PULL * 2)
    with pytest.raises(SearchProviderError, match="endless progress"):
        await embedder(client_of(server), retry).embed(["x"], "query")


async def test_a_model_that_is_missing_after_its_pull_is_unavailable(client_of: ClientOf, retry: Retry) -> None:
    def always_missing(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/api/pull":
            return httpx2.Response(200, content=b'{"status":"success"}')
        return httpx2.Response(404, json={"error": "model not found"})

    with pytest.raises(Unavailable, match="HTTP 404"):
        await embedder(client_of(always_missing), retry).embed(["x"], "query")


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"embeddings": null}', b'{"embeddings": []}'])
async def test_a_reply_of_another_form_is_a_parse_error(client_of: ClientOf, retry: Retry, body: bytes) -> None:
    client = client_of(lambda _: httpx2.Response(200, content=body))
    with pytest.raises(SearchProviderParseError):
        await embedder(client, retry).embed(["x"], "query")


async def test_a_server_error_is_retried_once(client_of: ClientOf, retry: Retry) -> None:
    replies = [httpx2.Response(500), httpx2.Response(200, json={"embeddings": [[1.0]]})]
    vectors = await embedder(client_of(lambda _: replies.pop(0)), retry).embed(["x"], "query")
    assert vectors.tolist() == [[1.0]]
