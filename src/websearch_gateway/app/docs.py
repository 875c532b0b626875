"""The documentation index, made of its store, the fetcher, the readers' workers and an embedder."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from websearch_gateway.app.docs_documents import DocumentReading
from websearch_gateway.app.page_reading import PageReaders
from websearch_gateway.docs_index.crawl.runner import CrawlRunner
from websearch_gateway.docs_index.library import DocsLibrary
from websearch_gateway.docs_index.store.lance.near import LanceVectors
from websearch_gateway.docs_index.store.postgres.docs import PostgresDocs
from websearch_gateway.docs_index.store.sqlite.docs import SqliteDocs
from websearch_gateway.ports import Embedder
from websearch_gateway.settings import Settings
from websearch_gateway.state.extras import require


def open_docs(settings: Settings, reading: PageReaders, embedder: Embedder) -> DocsLibrary:
    """The index that DOCS_URL names. Its file or database is opened by the first call."""
    path = settings.docs_path
    store = _store(settings, path, embedder.name)
    read = DocumentReading(reading.workers, reading.browser)
    runner = CrawlRunner(store, reading.site_fetcher, reading.workers, read, embedder, path)
    return DocsLibrary(store, store, runner)


def _store(settings: Settings, path: Path | None, embedder: str) -> SqliteDocs | PostgresDocs:
    near = None
    if url := settings.docs_vectors:
        require("lancedb", extra="lancedb", setting="DOCS_VECTORS")
        near = partial(LanceVectors, url.removeprefix("lance://" if url.startswith("lance:///") else "lance+"))
    if path is not None:
        return SqliteDocs(path, embedder, near=near)
    require("psycopg_pool", extra="postgres", setting="DOCS_URL")
    return PostgresDocs(settings.docs_url or "", embedder, near=near)
