"""The documentation index, made of its store, the fetcher, the readers' workers and an embedder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from websearch_gateway.app.domains import OperatorDomains
from websearch_gateway.app.page_reading import PageReaders
from websearch_gateway.ports import Embedder
from websearch_gateway.settings import Settings
from websearch_gateway.state.extras import require
from websearch_gateway.workers.fair_queue import FairQueue
from websearch_gateway.workers.pool import WORKING_FOR

if TYPE_CHECKING:
    from websearch_gateway.docs_index.library import DocsLibrary
    from websearch_gateway.docs_index.store.sql.docs import SqlDocs, Turn


@dataclass(slots=True)
class LazyDocs:
    """Makes the index on first use: its fifty modules take 3 MB, and most servers have no documentation."""

    make: Callable[[], DocsLibrary]
    _made: DocsLibrary | None = None
    _lock: Lock = field(default_factory=Lock)

    def get(self) -> DocsLibrary:
        """The index. Thread-safe."""
        with self._lock:
            if self._made is None:
                self._made = self.make()
            return self._made

    async def close(self) -> None:
        """Release its files, sockets and threads. Idempotent."""
        if self._made is not None:
            await self._made.close()


def lazy_docs(settings: Settings, reading: PageReaders, embedder: Embedder) -> LazyDocs:
    """The index that DOCS_URL names. Its file or database is opened by the first call.

    Raises:
        SearchNotConfiguredError: a library that it needs is not installed.
    """
    if settings.docs_vectors:
        require("lancedb", extra="lancedb", setting="DOCS_VECTORS")
    if settings.docs_path is None:
        require("psycopg_pool", extra="postgres", setting="DOCS_URL")
    return LazyDocs(partial(_make, settings, reading, embedder))


def _make(settings: Settings, reading: PageReaders, embedder: Embedder) -> DocsLibrary:
    from websearch_gateway.app.docs_documents import DocumentReading
    from websearch_gateway.docs_index.crawl.runner import CrawlRunner
    from websearch_gateway.docs_index.library import DocsLibrary
    from websearch_gateway.docs_index.store.sql.docs import MOST_SEARCHES

    # Half of the searches may be one user's; a user without a running search does not wait for them.
    queue = FairQueue(MOST_SEARCHES // 2, MOST_SEARCHES // 2)
    store = _store(settings, embedder.name, lambda: queue.turn(WORKING_FOR.get()))
    read = DocumentReading(reading.workers, reading.browser)
    runner = CrawlRunner(store, reading.site_fetcher, reading.workers, read, embedder, settings.docs_path)
    return DocsLibrary(store, store, runner, OperatorDomains.of(settings).admit)


def _store(settings: Settings, embedder: str, turn: Turn) -> SqlDocs:
    near = None
    if url := settings.docs_vectors:
        from websearch_gateway.docs_index.store.lance.near import LanceVectors

        near = partial(LanceVectors, url.removeprefix("lance://" if url.startswith("lance:///") else "lance+"))
    if settings.docs_path is not None:
        from websearch_gateway.docs_index.store.sqlite.docs import SqliteDocs

        return SqliteDocs(settings.docs_path, embedder, near=near, turn=turn)
    from websearch_gateway.docs_index.store.postgres.docs import PostgresDocs

    return PostgresDocs(settings.docs_url or "", embedder, near=near, turn=turn)
