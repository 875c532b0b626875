"""Adding sites to the index: folders with addresses of the web."""

from __future__ import annotations

from pathlib import Path

from tests.docs_index.crawl.small_site import EMBEDDER, FAST, html, library
from websearch_gateway.docs_index.reading import read_docs, search_docs
from websearch_gateway.docs_index.store.sql.docs import SqlDocs
from websearch_gateway.docs_index.transfer import export_site, import_site
from websearch_gateway.embedders.reranker import HttpReranker
from websearch_gateway.net.client import create_client
from websearch_gateway.ports import NOT_RERANKED
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.workers.pool import Workers

HOME = "https://docs.example.org/heron/"


async def test_a_base_url_holds_over_searches_refreshes_and_exports_on_every_store(
    docs: SqlDocs, tmp_path: Path, workers: Workers
) -> None:
    book = tmp_path / "book"
    book.mkdir()
    (book / "tides.html").write_text(html("Tides", "The heron.forecast tells the tides."))
    (book / "index.html").write_text(html("Heron", links=("tides.html",)))
    async with library(docs, 1, workers) as opened:
        for _ in range(2):
            added = await opened.add(str(book), "heron", "2", FAST, base_url=HOME)
            await opened.crawl(added.id)
        (version,) = await opened.find(HOME)
        assert (version.status, version.page_count, version.generation) == ("completed", 2, 1)
        found = await search_docs(opened, EMBEDDER, "forecast tides")
        assert found.results[0].url.startswith(f"{HOME}tides.html")
        page = await docs.find_page(f"{HOME}tides.html", [version.id])
        assert page is not None
        assert (await docs.page_chunks(page))[0].path == "tides.html"
        assert (await read_docs(opened, url=f"{HOME}tides.html#top")).section_id == found.results[0].section_id
        await export_site(opened, version, EMBEDDER.name, tmp_path / "heron.gz")
        await opened.delete(version)
        imported = await import_site(opened, EMBEDDER.name, tmp_path / "heron.gz")
        assert (imported.home, imported.page_count) == (HOME, 2)
        again = await search_docs(opened, EMBEDDER, "forecast tides")
        assert [hit.section_id for hit in again.results] == [hit.section_id for hit in found.results]


async def test_a_refusing_reranker_leaves_the_order_and_a_warning(
    docs: SqlDocs, tmp_path: Path, workers: Workers, sandbox: Sandbox
) -> None:
    for name in ("tides", "storms"):
        (tmp_path / f"{name}.html").write_text(html(name, f"The heron.forecast tells the {name} of the sea."))
    client = create_client()
    reranker = HttpReranker(f"{sandbox.url}/reranker/v2", client, key="wrong")
    async with library(docs, 1, workers) as opened:
        added = await opened.add(str(tmp_path), "heron", "2", FAST)
        await opened.crawl(added.id)
        own = await search_docs(opened, EMBEDDER, "storms of the sea")
        found = await search_docs(opened, EMBEDDER, "storms of the sea", reranker=reranker)
    await client.aclose()
    assert len(own.results) == 2
    assert found.results == own.results
    assert found.warnings == (f"{NOT_RERANKED}The reranker answered with HTTP 401; check RERANKER_API_KEY.",)
