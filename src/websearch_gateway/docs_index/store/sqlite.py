"""The documentation index in one SQLite file: both ports, any number of processes of one machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from websearch_gateway.docs_index.models import (
    Chunk,
    CrawlOptions,
    HostState,
    Owner,
    PageDraft,
    ScoredChunk,
    SiteVersion,
    StoredPage,
    SymbolMatch,
    TextQuery,
    UrlFailure,
    UrlState,
    UrlTask,
    VersionStatus,
)
from websearch_gateway.docs_index.store import sqlite_frontier as frontier
from websearch_gateway.docs_index.store import sqlite_pages as pages
from websearch_gateway.docs_index.store import sqlite_search as searches
from websearch_gateway.docs_index.store import sqlite_transfer as transfer
from websearch_gateway.docs_index.store import sqlite_versions as sites
from websearch_gateway.docs_index.store.sqlite_file import SqliteFile
from websearch_gateway.docs_index.store.vector_table import VectorTable

if TYPE_CHECKING:
    import sqlite3

    from websearch_gateway.ports import Vectors


class SqliteDocs:
    """A `DocsStore` and a `ChunkIndex`.

    Args:
        path: the file; `~` is the home folder.
        embedder: the name of the embedder whose vectors are written and searched.
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(self, path: Path, embedder: str, *, clock: Callable[[], float] = time.time) -> None:
        self.file = SqliteFile(path.expanduser().absolute())
        self._embedder = embedder
        self._clock = clock
        self._table: VectorTable | None = None
        self._dimensions = 0
        self._loaded = 0
        self._data_version = -1

    # ------------------------------------------------------------------ DocsStore

    async def add_version(self, name: str, label: str, url: str, options: CrawlOptions) -> SiteVersion:
        """See `DocsStore`."""

        def act(db: sqlite3.Connection) -> SiteVersion:
            version_id = sites.add(db, name, label, url, options, self._clock())
            return sites.select(db, self._embedder, version_id)[0]

        return await self.file.write(act)

    async def versions(self) -> list[SiteVersion]:
        """See `DocsStore`."""
        return await self.file.read(lambda db: sites.select(db, self._embedder))

    async def version(self, version_id: int) -> SiteVersion | None:
        """See `DocsStore`."""
        found = await self.file.read(lambda db: sites.select(db, self._embedder, version_id))
        return found[0] if found else None

    async def delete_version(self, version_id: int) -> None:
        """See `DocsStore`."""
        await self.file.write(lambda db: sites.delete(db, version_id))

    async def claim(self, version_id: int, owner: Owner, seconds: float) -> bool:
        """See `DocsStore`."""
        return await self.file.write(lambda db: sites.claim(db, version_id, owner, self._clock(), seconds))

    async def release(self, version_id: int, owner: Owner) -> None:
        """See `DocsStore`."""
        await self.file.write(lambda db: sites.release(db, version_id, owner))

    async def set_status(
        self, version_id: int, status: VersionStatus, reason: str = "", *, refresh_at: float | None = None
    ) -> None:
        """See `DocsStore`."""
        put = partial(sites.set_status, now=self._clock(), refresh_at=refresh_at)
        await self.file.write(lambda db: put(db, version_id, status, reason))

    async def start_generation(self, version_id: int) -> int:
        """See `DocsStore`."""
        return await self.file.write(lambda db: frontier.start_generation(db, version_id))

    async def finish_generation(self, version_id: int) -> bool:
        """See `DocsStore`."""
        return await self.file.write(lambda db: frontier.finish_generation(db, version_id, self._clock()))

    async def add_urls(self, version_id: int, urls: Mapping[str, int]) -> int:
        """See `DocsStore`."""
        return await self.file.write(lambda db: frontier.add_urls(db, version_id, urls))

    async def lease_urls(self, version_id: int, count: int, now: float) -> list[UrlTask]:
        """See `DocsStore`."""
        return await self.file.write(lambda db: frontier.lease(db, version_id, count, now))

    async def next_due(self, version_id: int) -> float | None:
        """See `DocsStore`."""
        return await self.file.read(lambda db: frontier.next_due(db, version_id))

    async def commit_page(self, task: UrlTask, page: PageDraft, vectors: Vectors | None, links: Sequence[str]) -> None:
        """See `DocsStore`."""

        def act(db: sqlite3.Connection) -> None:
            pages.commit(db, task, page, vectors, self._embedder, self._clock())
            frontier.settle_page(db, task, page, links)

        await self.file.write(act)

    async def known_vectors(self, task: UrlTask) -> Mapping[str, Vectors]:
        """See `DocsStore`."""
        return await self.file.read(lambda db: pages.known_vectors(db, task, self._embedder))

    async def find_body(self, task: UrlTask, body_hash: str) -> str | None:
        """See `DocsStore`."""
        return await self.file.read(lambda db: frontier.find_body(db, task, body_hash))

    async def settle_url(
        self,
        task: UrlTask,
        state: UrlState,
        reason: str = "",
        *,
        due: float | None = None,
        links: Sequence[str] = (),
        alias_of: str | None = None,
    ) -> None:
        """See `DocsStore`."""
        settle = partial(frontier.settle, due=due, links=links, alias_of=alias_of)
        await self.file.write(lambda db: settle(db, task, state, reason))

    async def failures(self, version_id: int, limit: int = 100) -> list[UrlFailure]:
        """See `DocsStore`."""
        return await self.file.read(lambda db: frontier.failures(db, version_id, limit))

    async def host(self, host: str) -> HostState:
        """See `DocsStore`."""
        return await self.file.read(lambda db: sites.host(db, host))

    async def put_robots(self, host: str, robots: str | None) -> None:
        """See `DocsStore`."""
        await self.file.write(lambda db: sites.put_robots(db, host, robots, self._clock()))

    async def reserve(self, host: str, seconds: float) -> float:
        """See `DocsStore`."""
        return await self.file.write(lambda db: sites.reserve(db, host, seconds, self._clock()))

    async def park(self, host: str, until: float, reason: str) -> None:
        """See `DocsStore`."""
        await self.file.write(lambda db: sites.park(db, host, until, reason))

    async def pages_after(self, version_id: int, page_id: int, count: int) -> list[tuple[int, StoredPage]]:
        """See `DocsStore`."""
        return await self.file.read(lambda db: transfer.after(db, version_id, self._embedder, page_id, count))

    async def put_pages(self, version_id: int, pages: Sequence[StoredPage]) -> None:
        """See `DocsStore`."""
        await self.file.write(lambda db: transfer.put(db, version_id, pages, self._embedder))

    async def unembedded(self, version_id: int, limit: int) -> list[tuple[int, list[Chunk]]]:
        """See `DocsStore`."""

        def act(db: sqlite3.Connection) -> list[tuple[int, list[Chunk]]]:
            ids = pages.unembedded(db, version_id, self._embedder, limit)
            return [(page_id, searches.page_chunks(db, page_id, 0, None)) for page_id in ids]

        return await self.file.read(act)

    async def put_vectors(self, page_id: int, vectors: Vectors) -> None:
        """See `DocsStore`."""
        await self.file.write(lambda db: pages.add_vectors(db, page_id, vectors, self._embedder))

    # ------------------------------------------------------------------ ChunkIndex

    async def search_text(self, query: TextQuery, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """See `ChunkIndex`."""
        return await self.file.read(lambda db: searches.search_text(db, query, versions, limit))

    async def search_vectors(self, vector: Vectors, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """See `ChunkIndex`."""
        return await self.file.read(lambda db: self._vectors(db, vector.size).nearest(vector, versions, limit))

    async def find_symbols(self, names: Sequence[str], versions: Sequence[int], limit: int) -> list[SymbolMatch]:
        """See `ChunkIndex`."""
        return await self.file.read(lambda db: searches.find_symbols(db, names, versions, limit))

    async def chunks(self, ids: Sequence[int]) -> list[Chunk]:
        """See `ChunkIndex`."""
        return await self.file.read(lambda db: searches.chunks(db, ids))

    async def page_chunks(self, page_id: int, start: int = 0, stop: int | None = None) -> list[Chunk]:
        """See `ChunkIndex`."""
        return await self.file.read(lambda db: searches.page_chunks(db, page_id, start, stop))

    async def find_section(self, section_id: str) -> Chunk | None:
        """See `ChunkIndex`."""
        return await self.file.read(lambda db: searches.find_section(db, section_id))

    async def find_page(self, url: str, versions: Sequence[int]) -> int | None:
        """See `ChunkIndex`."""
        return await self.file.read(lambda db: searches.find_page(db, url, versions))

    async def close(self) -> None:
        """See `DocsStore`."""
        await self.file.close()

    def _vectors(self, db: sqlite3.Connection, dimensions: int) -> VectorTable:
        """The table in memory with all that was written since; made again after many pages have gone."""
        ((data_version,),) = db.execute("PRAGMA data_version")
        if self._table is not None and self._dimensions == dimensions and self._data_version == data_version:
            return self._table
        self._data_version = data_version
        count = pages.count_vectors(db, self._embedder, dimensions)
        if self._table is None or self._dimensions != dimensions or self._table.pages > 1.1 * count + 100:
            self._table, self._dimensions, self._loaded = VectorTable(dimensions), dimensions, 0
        for row in pages.vectors_after(db, self._embedder, dimensions, self._loaded):
            self._loaded = row.id
            self._table.put(row.page_id, row.version_id, row.chunk_ids, row.data)
        return self._table
