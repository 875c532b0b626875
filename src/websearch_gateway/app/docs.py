"""The documentation index, made of its store, the fetcher, the readers' workers and an embedder."""

from __future__ import annotations

from websearch_gateway.app.docs_documents import DocumentReading
from websearch_gateway.app.page_reading import PageReaders
from websearch_gateway.docs_index.crawl.runner import CrawlRunner
from websearch_gateway.docs_index.library import DocsLibrary
from websearch_gateway.docs_index.store.sqlite import SqliteDocs
from websearch_gateway.ports import Embedder
from websearch_gateway.settings import Settings


def open_docs(settings: Settings, reading: PageReaders, embedder: Embedder) -> DocsLibrary:
    """The index that DOCS_URL names. Its file is opened by the first call."""
    path = settings.docs_path
    store = SqliteDocs(path, embedder.name)
    read = DocumentReading(reading.workers, reading.browser)
    runner = CrawlRunner(store, reading.fetcher, reading.workers, read, embedder, path)
    return DocsLibrary(store, store, runner)
