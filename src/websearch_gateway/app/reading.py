"""Page reading: the fetcher behind its address policy, the readers, and the page cache. And the documentation index,
made on first use of its store, the fetcher, the readers' workers and an embedder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from websearch_gateway.answers.extractive import compose, shortlist
from websearch_gateway.app.upstreams import OperatorDomains, address_policy, outbound
from websearch_gateway.cache.pages import BlobCache, PageCache, Similarity
from websearch_gateway.embedders.static import encode
from websearch_gateway.errors import SearchError
from websearch_gateway.models import Hit, SearchQuery
from websearch_gateway.net.fetch import Fetcher, user_agent
from websearch_gateway.pipeline.read_page import PassageFinder
from websearch_gateway.ports import Embedder, Reranker, State
from websearch_gateway.readers import ReaderTable
from websearch_gateway.readers.browser import Browser
from websearch_gateway.readers.extraction.extract import warm_up
from websearch_gateway.readers.robots_fetcher import RobotsFetcher
from websearch_gateway.settings import Settings, index_variables
from websearch_gateway.state.shared import require
from websearch_gateway.text.passages import cut
from websearch_gateway.upstream.layers import BoundedReader
from websearch_gateway.upstream.telemetry import TracedReader
from websearch_gateway.workers.child import Limits, prepare
from websearch_gateway.workers.pool import WORKING_FOR, FairQueue, Workers

if TYPE_CHECKING:
    from websearch_gateway.docs_index.library import DocsLibrary
    from websearch_gateway.docs_index.store.database import Turn
    from websearch_gateway.docs_index.store.docs import SqlDocs


COMPOSE = partial(compose, encode=encode)
"""Quotes pages, with the built-in vectors of English words. Runs in a worker."""

SHORTLIST = partial(shortlist, encode=encode)

_QUESTION, _HIT = SearchQuery("What is a page?"), Hit("https://a.example/", "A page", "A page is a text.", "warm-up")
WARM_UP = partial(prepare, (warm_up, partial(cut, "A page.", 64), partial(COMPOSE, _QUESTION, (_HIT,), {})))
"""Runs first in each worker: imports what most jobs need."""


@dataclass(frozen=True, slots=True)
class PageReaders:
    """What reads pages and finds passages in them; `closers` release its sockets and processes.

    `site_fetcher` is for fetching many pages of one site.
    """

    page_cache: PageCache
    finder: PassageFinder
    workers: Workers
    browser: Browser
    site_fetcher: Fetcher
    closers: tuple[Callable[[], Awaitable[None]], ...]


def open_reading(
    settings: Settings, state: State, embedder: Embedder, workers: Workers, reranker: Reranker | None = None
) -> PageReaders:
    """The parts that read pages. Sockets, processes and the browser open on first use."""
    addresses = address_policy(settings)
    name, way = user_agent(settings.contact_url), outbound(settings)
    fetcher = Fetcher(addresses, user_agent=name, outbound=way)
    site_fetcher = Fetcher(addresses, user_agent=name, keep_alive=True, outbound=way)
    blobs = BlobCache(state)
    readers, browser = _readers(settings, fetcher, workers)
    page_cache = PageCache(
        TracedReader(BoundedReader(readers, settings.request_timeout_ms / 1000)),
        blobs,
        addresses.check_url,
        ttl_seconds=settings.page_ttl_seconds,
        stale_seconds=settings.stale_if_error_seconds,
        secrets=settings.secrets(),
    )
    finder = PassageFinder(
        Similarity(embedder, blobs),
        workers,
        size=settings.embedding_tokens_size,
        threshold=settings.similarity_threshold,
        reranker=reranker,
    )
    closers = (fetcher.aclose, site_fetcher.aclose, browser.aclose, workers.aclose)
    return PageReaders(page_cache, finder, workers, browser, site_fetcher, closers)


def _readers(settings: Settings, fetcher: Fetcher, workers: Workers) -> tuple[ReaderTable, Browser]:
    pages = RobotsFetcher(fetcher, workers) if settings.respect_robots else fetcher
    browser = Browser(
        pages,
        path=settings.browser_path,
        retries=settings.browser_retries,
        backoff_seconds=settings.browser_backoff_ms / 1000,
    )
    token = settings.github_token.get_secret_value() if settings.github_token else ""
    tells_contact = settings.contact_url is not None
    table = ReaderTable.build(fetcher, workers, token, pages=pages, renderer=browser, tells_contact=tells_contact)
    return table, browser


INDEX_SECONDS = 2.0

UNPACKING = Limits(megabytes=512, seconds=600.0, cpu_seconds=120.0)
"""For an archive of 500 MB that unpacks to 2 GB."""


@dataclass(slots=True)
class LazyDocs:
    """Makes the index on first use: its fifty modules take 3 MB, and most servers have no documentation."""

    make: Callable[[], DocsLibrary]
    closers: tuple[Callable[[], Awaitable[None]], ...] = ()
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
            for close in self.closers:
                await close()


def lazy_docs(settings: Settings, reading: PageReaders, embedder: Embedder) -> LazyDocs:
    """The index that DOCS_URL names. Its file or database is opened by the first call.

    Raises:
        SearchNotConfiguredError: a library that it needs is not installed.
    """
    if settings.docs_vectors:
        require("lancedb", extra="lancedb", setting="DOCS_VECTORS")
    if settings.docs_path is None:
        require("psycopg_pool", extra="postgres", setting="DOCS_URL")
    unpackers = Workers(count=1, limits=UNPACKING, idle_seconds=1)
    return LazyDocs(partial(_make, settings, reading, unpackers, embedder), (unpackers.aclose,))


def _make(settings: Settings, reading: PageReaders, unpackers: Workers, embedder: Embedder) -> DocsLibrary:
    from websearch_gateway.app.docs_documents import DocumentReading
    from websearch_gateway.docs_index.crawl.runner import CrawlRunner
    from websearch_gateway.docs_index.library import DocsLibrary
    from websearch_gateway.docs_index.packages import Registries
    from websearch_gateway.docs_index.store.database import MOST_SEARCHES

    # Half of the searches may be one user's; a user without a running search does not wait for them.
    queue = FairQueue(MOST_SEARCHES // 2, MOST_SEARCHES // 2)
    store = _store(settings, embedder.name, lambda: queue.turn(WORKING_FOR.get()))
    read = DocumentReading(reading.workers, reading.browser)
    fetcher, workers = reading.site_fetcher, reading.workers
    runner = CrawlRunner(store, fetcher, workers, unpackers, read, embedder, settings.docs_path)
    registries = Registries(fetcher, workers, settings.pypi_base_url, settings.npm_base_url, index_variables())
    return DocsLibrary(store, runner, OperatorDomains.of(settings).admit, registries)


async def is_indexed(settings: Settings, docs: LazyDocs, url: str) -> bool:
    """Whether exactly this address is a page of the documentation index. False where there is no index yet."""
    if settings.docs_path is not None and not settings.docs_path.exists():
        return False
    library = docs.get()
    try:
        async with asyncio.timeout(INDEX_SECONDS):
            versions = [version.id for version in await library.searchable()]
            return await library.store.find_page(urldefrag(url).url, versions) is not None
    except (TimeoutError, SearchError):
        return False


def _store(settings: Settings, embedder: str, turn: Turn) -> SqlDocs:
    near = None
    if url := settings.docs_vectors:
        from websearch_gateway.docs_index.store.lance import LanceVectors

        near = partial(LanceVectors, url.removeprefix("lance://" if url.startswith("lance:///") else "lance+"))
    if settings.docs_path is not None:
        from websearch_gateway.docs_index.store.sqlite import SqliteDocs

        return SqliteDocs(settings.docs_path, embedder, near=near, turn=turn)
    from websearch_gateway.docs_index.store.postgres import PostgresDocs

    return PostgresDocs(settings.docs_url or "", embedder, near=near, turn=turn)
