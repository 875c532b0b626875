"""The documentation index, made on first use of its store, the fetcher, the workers of the readers and an embedder."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

from websearch_gateway.app.addresses import OperatorDomains
from websearch_gateway.app.reading import PageReaders
from websearch_gateway.base import WORKING_FOR, FairQueue, Fetched, Limits, Workers
from websearch_gateway.errors import SearchError, Unavailable
from websearch_gateway.models import BrowserUse, Deadline
from websearch_gateway.pages import CONVERTERS, HEAVY, kind_of
from websearch_gateway.ports import Embedder, Reranker
from websearch_gateway.settings.loading import Settings, index_variables
from websearch_gateway.state.shared import require

if TYPE_CHECKING:
    from websearch_gateway.docs import DocsLibrary, Document, SqlDocs, Turn
    from websearch_gateway.pages import CrawledPage, Renderer


INDEX_SECONDS = 2.0
"""For looking whether a site is indexed (seconds): tools are listed without it if the index is slow."""

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


def lazy_docs(
    settings: Settings,
    reading: PageReaders,
    embedder: Embedder,
    reranker: Reranker | None,
    guarded: Callable[[], Deadline],
) -> LazyDocs:
    """The index that DOCS_URL names. Its file or database is opened by the first call. `guarded`: see `CrawlRunner`.

    Raises:
        SearchNotConfiguredError: a library that it needs is not installed.
    """
    if settings.docs_vectors:
        require("lancedb", extra="lancedb", setting="DOCS_VECTORS")
    if settings.docs_path is None:
        require("psycopg_pool", extra="postgres", setting="DOCS_URL")
    unpackers = Workers(count=1, limits=UNPACKING, idle_seconds=1)
    return LazyDocs(
        partial(_open_library, settings, reading, unpackers, embedder, reranker, guarded),
        (unpackers.aclose,),
    )


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """A `ReadDocument` of `docs.models`: in the readers' worker processes, with their converters and browser."""

    workers: Workers
    renderer: Renderer

    async def __call__(
        self,
        fetched: Fetched,
        browser: BrowserUse,
        deadline: Deadline,
        draft: Callable[[Any], Mapping[str, Any]],
        *,
        only_links: bool = False,
    ) -> Document:
        from websearch_gateway.pages import crawled_html, crawled_text, followed_html

        kind = kind_of(fetched)
        if kind != "html":
            read = partial(crawled_text, CONVERTERS[kind])
            return await self._run(read, fetched, draft, deadline, heavy=kind in HEAVY)
        if only_links:
            return await self._run(followed_html, fetched, draft, deadline)
        if browser == "always":
            return await self._rendered(fetched, draft, deadline)
        document = await self._run(crawled_html, fetched, draft, deadline)
        if document.needs_scripts and browser == "auto":
            try:
                return replace(await self._rendered(fetched, draft, deadline), rendered=True)
            except Unavailable:
                return document
        return document

    async def _rendered(
        self,
        fetched: Fetched,
        draft: Callable[[CrawledPage], Mapping[str, Any]],
        deadline: Deadline,
    ) -> Document:
        from websearch_gateway.pages import crawled_html

        return await self._run(
            crawled_html, await self.renderer.render(fetched, deadline), draft, deadline
        )

    async def _run(
        self,
        read: Callable[[bytes, str, str], CrawledPage],
        fetched: Fetched,
        draft: Callable[[CrawledPage], Mapping[str, Any]],
        deadline: Deadline,
        *,
        heavy: bool = False,
    ) -> Document:
        from websearch_gateway.docs import ChunkDraft, Document, Symbol
        from websearch_gateway.pages import crawled

        arguments = (fetched.body, fetched.final_url, fetched.charset)
        page = await self.workers.run(
            crawled, read, draft, *arguments, deadline=deadline, heavy=heavy
        )
        made = {
            "chunks": tuple(map(ChunkDraft.of_values, page["chunks"])),
            "symbols": tuple(Symbol(**values) for values in page["symbols"]),
            "links": tuple(page["links"]),
        }
        return Document(**{**page, **made})


def _open_library(
    settings: Settings,
    reading: PageReaders,
    unpackers: Workers,
    embedder: Embedder,
    reranker: Reranker | None,
    guarded: Callable[[], Deadline],
) -> DocsLibrary:
    from websearch_gateway.docs import MOST_SEARCHES, CrawlRunner, DocsLibrary, Registries

    # Half of the searches may be one user's; a user without a running search does not wait for them.
    queue = FairQueue(MOST_SEARCHES // 2, MOST_SEARCHES // 2)
    store = _store(settings, embedder.name, lambda: queue.turn(WORKING_FOR.get()))
    read = DocumentReading(reading.workers, reading.browser)
    fetcher, workers = reading.site_fetcher, reading.workers
    runner = CrawlRunner(
        store, fetcher, workers, unpackers, read, embedder, settings.docs_path, guarded
    )
    registries = Registries(
        fetcher, workers, settings.pypi_base_url, settings.npm_base_url, index_variables()
    )
    return DocsLibrary(store, runner, registries, OperatorDomains.of(settings).admit, reranker)


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
        from websearch_gateway.docs import LanceVectors

        near = partial(
            LanceVectors, url.removeprefix("lance://" if url.startswith("lance:///") else "lance+")
        )
    if settings.docs_path is not None:
        from websearch_gateway.docs import SqliteDocs

        return SqliteDocs(settings.docs_path, embedder, near=near, turn=turn)
    from websearch_gateway.docs import PostgresDocs

    return PostgresDocs(settings.docs_url or "", embedder, near=near, turn=turn)
