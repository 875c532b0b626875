"""Crawls whose embedder does not work: for the moment, or never."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import asynccontextmanager

import httpx2
import pytest

from tests.docs.conftest import search_text
from tests.docs.crawl.small_site import FAST, Site, html, library
from websearch_gateway.base.net.requests import Retry
from websearch_gateway.docs.crawl import page_work, runner
from websearch_gateway.docs.library import DocsLibrary
from websearch_gateway.docs.models import TextQuery
from websearch_gateway.docs.store.sqlite import SqliteDocs
from websearch_gateway.errors import SearchAuthError, SearchNotConfiguredError
from websearch_gateway.evidence.embedders.remote import OllamaEmbedder, OpenAICompatibleEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="module")

Answer = Callable[[httpx2.Request], httpx2.Response]


async def no_sleep(_: float) -> None:
    await asyncio.sleep(0)


def good(request: httpx2.Request) -> httpx2.Response:
    texts = json.loads(request.content)["input"]
    return httpx2.Response(
        200, json={"data": [{"index": i, "embedding": [1.0, 0.0]} for i in range(len(texts))]}
    )


@asynccontextmanager
async def crawling(tmp_path, site: Site, workers, answer: Answer, kind=OpenAICompatibleEmbedder):
    site.pages = {
        "/docs/": html("Start", links=("a.html",)),
        "/docs/a.html": html("Alpha", "The zebra eats grass."),
    }

    def unread(request: httpx2.Request) -> httpx2.Response:
        reply = answer(request)
        return httpx2.Response(reply.status_code, stream=httpx2.ByteStream(reply.content))

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(unread)) as client:
        embedder = kind("http://embedder.test/v1", client, Retry(sleep=no_sleep), key="sk-secret")
        store = SqliteDocs(tmp_path / "docs.db", embedder.name)
        async with library(store, site.port, workers, embedder=embedder) as docs:
            yield docs


async def added(docs: DocsLibrary, site: Site) -> int:
    return (await docs.add(site.url, "x", "1", FAST)).id


@pytest.mark.parametrize(
    ("status", "body", "error", "words"),
    [
        (401, b"{}", SearchAuthError, "check EMBEDDING_SERVER_API_KEY"),
        (403, b"{}", SearchAuthError, "check EMBEDDING_SERVER_API_KEY"),
        (404, b"", SearchNotConfiguredError, "check EMBEDDING_SERVER_URL"),
        (
            400,
            b'{"error": "model `m` not found"}',
            SearchNotConfiguredError,
            "check EMBEDDING_MODEL_NAME",
        ),
        (
            500,
            b'{"error": {"message": "The model m does not exist."}}',
            SearchNotConfiguredError,
            "EMBEDDING_MODEL",
        ),
        (422, b"{}", SearchNotConfiguredError, "HTTP 422"),
        (200, b"<html>", SearchNotConfiguredError, "not JSON"),
    ],
)
async def test_an_embedder_that_will_never_work_fails_the_crawl_at_once_and_keeps_its_pages(
    tmp_path, site, workers, status, body, error, words
):
    async with crawling(
        tmp_path, site, workers, lambda _: httpx2.Response(status, content=body)
    ) as docs:
        id_ = await added(docs, site)
        with pytest.raises(error, match=words) as caught:
            await docs.runner.crawl(id_)
        failed = await docs.store.version(id_)
        assert (failed.status, failed.reason, failed.indexed_at) == (
            "failed",
            caught.value.message,
            None,
        )
        assert (failed.page_count, failed.unembedded) == (1, 1)
        assert len(await search_text(docs.store, TextQuery(("Start",)), [id_], 5)) > 0
        assert await docs.runner.pending() == []


async def test_a_model_that_ollama_cannot_find_fails_the_crawl_at_once(tmp_path, site, workers):
    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/pull"):
            return httpx2.Response(
                200, content=b'{"error": "pull model manifest: file does not exist"}'
            )
        return httpx2.Response(404, json={"error": "model not found"})

    async with crawling(tmp_path, site, workers, answer, OllamaEmbedder) as docs:
        id_ = await added(docs, site)
        with pytest.raises(SearchNotConfiguredError, match="cannot download its model"):
            await docs.runner.crawl(id_)
        assert (await docs.store.version(id_)).status == "failed"


async def test_pages_get_their_vectors_when_the_server_is_back(
    tmp_path, site, workers, monkeypatch
):
    monkeypatch.setattr(page_work, "SERVER_RETRY_SECONDS", 0.0)
    monkeypatch.setattr(runner, "HEARTBEAT_SECONDS", 0.01)
    down, seen = [True], []

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(503) if down else good(request)

    async with crawling(tmp_path, site, workers, answer) as docs:
        id_, put = await added(docs, site), docs.store.set_status

        async def noted(version_id, status, reason="", **more):
            seen.append((status, reason))
            if "have no vectors yet" in reason:
                down.clear()
            await put(version_id, status, reason, **more)

        monkeypatch.setattr(docs.store, "set_status", noted)
        version = await docs.runner.crawl(id_)
    assert (version.status, version.reason, version.unembedded) == ("completed", "", 0)
    assert [status for status, _ in seen].count("completed") == 1
    assert any("HTTP 503" in reason for status, reason in seen if status == "crawling")


async def test_a_server_that_is_down_for_a_day_fails_the_crawl(
    tmp_path, site, workers, monkeypatch
):
    monkeypatch.setattr(page_work, "SERVER_RETRY_SECONDS", 0.0)
    monkeypatch.setattr(page_work, "MOST_DOWN_SECONDS", 0.0)
    async with crawling(tmp_path, site, workers, lambda _: httpx2.Response(503)) as docs:
        id_ = await added(docs, site)
        with pytest.raises(SearchNotConfiguredError, match="has not worked for a day"):
            await docs.runner.crawl(id_)
        assert (await docs.store.version(id_)).status == "failed"


async def test_the_same_add_goes_on_when_the_key_is_right(tmp_path, site, workers):
    answers = [lambda _: httpx2.Response(401)]
    async with crawling(
        tmp_path, site, workers, lambda request: (answers or [good])[0](request)
    ) as docs:
        with pytest.raises(SearchAuthError):
            await docs.runner.crawl(await added(docs, site))
        answers.clear()
        version = await docs.runner.crawl(await added(docs, site))
    assert (version.status, version.page_count, version.unembedded) == ("completed", 2, 0)
