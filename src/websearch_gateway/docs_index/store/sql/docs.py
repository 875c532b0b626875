"""Both ports of the documentation index over any `Database`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from websearch_gateway.docs_index.models import (
    Booking,
    Chunk,
    CrawlOptions,
    HostState,
    Owner,
    PageDraft,
    PageFacts,
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
from websearch_gateway.docs_index.store.sql import chunks as searches
from websearch_gateway.docs_index.store.sql import frontier, pages
from websearch_gateway.docs_index.store.sql import versions as sites
from websearch_gateway.docs_index.store.sql import versions as sql_versions
from websearch_gateway.docs_index.store.sql.database import Database
from websearch_gateway.docs_index.store.sql.pages import prepared

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

T = TypeVar("T")

Turn = Callable[[], AbstractAsyncContextManager[None]]
"""Waits for the turn of the current caller, which lasts for the block."""

MOST_SEARCHES = 4
"""The most searches at once."""


class Transactions(Protocol):
    """Runs actions on a database, each in one transaction."""

    async def write(self, action: Callable[[Database], T]) -> T:
        """The result of `action`. A failed action may run again.

        Raises:
            StateUnavailable: the database cannot be used.
        """
        ...

    async def read(self, action: Callable[[Database], T]) -> T:
        """The result of `action`, which only reads. Raises what `write` raises."""
        ...

    async def search(self, action: Callable[[Database], T]) -> T:
        """As `read`, beside up to `MOST_SEARCHES` others. Cancelling the call stops its statement."""
        ...

    async def close(self) -> None:
        """Wait for running actions, then close the database. Idempotent."""
        ...


class NearIndex(Protocol):
    """Finds vectors near to another. The table `vectors` is the source of truth; an index follows it."""

    async def nearest(self, vector: Vectors, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """See `ChunkIndex.search_vectors`."""
        ...

    async def follow(self) -> None:
        """Index the new vectors now, instead of at a later search."""
        ...

    async def close(self) -> None:
        """Release its resources. Idempotent."""
        ...


class SqlDocs:
    """A `DocsStore` and a `ChunkIndex`.

    Args:
        near: where vectors are searched.
        embedder: the name of the embedder whose vectors are written and searched.
        turn: grants turns to at most `MOST_SEARCHES` searches at once; by default in the order of their calls.
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(
        self,
        file: Transactions,
        near: NearIndex,
        embedder: str,
        *,
        turn: Turn | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.file = file
        self._near = near
        self._embedder = embedder
        self._clock = clock
        in_order = asyncio.Semaphore(MOST_SEARCHES)
        self._turn = turn or (lambda: in_order)
        self._putting = asyncio.Lock()  # two transactions of many pages may lock the same rows

    # ------------------------------------------------------------------ DocsStore

    async def add_version(self, name: str, label: str, url: str, options: CrawlOptions) -> SiteVersion:
        """See `DocsStore`."""

        def act(db: Database) -> SiteVersion:
            version_id = sites.add(db, name, label, url, options, self._clock())
            return sites.select(db, self._embedder, version_id)[0]

        return await self.file.write(act)

    async def versions(self) -> list[SiteVersion]:
        """See `DocsStore`."""
        return await self._search(lambda db: sites.select(db, self._embedder))

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

    async def note_reading(self, version_id: int, url: str) -> None:
        """See `DocsStore`."""
        await self.file.write(lambda db: sites.note_reading(db, version_id, url))

    async def release(self, version_id: int, owner: Owner) -> None:
        """See `DocsStore`."""
        await self.file.write(lambda db: sites.release(db, version_id, owner))

    async def set_status(
        self, version_id: int, status: VersionStatus, reason: str = "", *, refresh_at: float | None = None
    ) -> None:
        """See `DocsStore`."""
        put = partial(sites.set_status, now=self._clock(), refresh_at=refresh_at)
        await self.file.write(lambda db: put(db, version_id, status, reason))
        if status == "completed":
            await self._near.follow()

    async def start_generation(self, version_id: int) -> int:
        """See `DocsStore`."""
        return await self.file.write(lambda db: frontier.start_generation(db, version_id))

    async def finish_generation(self, version_id: int) -> bool:
        """See `DocsStore`."""
        return await self.file.write(lambda db: frontier.finish_generation(db, version_id, self._clock()))

    async def add_urls(self, version_id: int, urls: Mapping[str, int]) -> int:
        """See `DocsStore`."""
        return await self.file.write(lambda db: frontier.add_urls(db, version_id, urls))

    async def known_urls(self, version_id: int) -> list[str]:
        """See `DocsStore`."""
        return await self.file.read(lambda db: frontier.known_urls(db, version_id))

    async def lease_urls(self, version_id: int, count: int, now: float) -> list[UrlTask]:
        """See `DocsStore`."""
        return await self.file.write(lambda db: frontier.lease(db, version_id, count, now))

    async def next_due(self, version_id: int) -> float | None:
        """See `DocsStore`."""
        return await self.file.read(lambda db: frontier.next_due(db, version_id))

    async def commit_page(self, task: UrlTask, page: PageDraft, vectors: Vectors | None, links: Sequence[str]) -> None:
        """See `DocsStore`."""
        ready = await asyncio.to_thread(prepared, page, vectors)

        def act(db: Database) -> None:
            db.index_text(pages.commit(db, task, ready, self._embedder, self._clock()))
            frontier.finish_page(db, task, page, frontier.note_links(db, task, links))

        await self.file.write(act)

    async def known_vectors(self, task: UrlTask) -> Mapping[str, Vectors]:
        """See `DocsStore`."""
        return await self.file.read(lambda db: pages.known_vectors(db, task, self._embedder))

    async def find_body(self, task: UrlTask, body_hash: str) -> str | None:
        """See `DocsStore`."""
        return await self.file.read(lambda db: frontier.find_body(db, task, body_hash))

    async def finish_url(
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
        finish = partial(frontier.finish, due=due, links=links, alias_of=alias_of)
        await self.file.write(lambda db: finish(db, task, state, reason))

    async def name_linked_pages(self, version_id: int) -> None:
        """See `DocsStore`. The pages are read before the transaction that writes, which would block others."""
        found = await self.file.read(lambda db: pages.linked_names(db, version_id))
        await self.file.write(lambda db: pages.put_linked(db, version_id, found))

    async def failures(self, version_id: int, limit: int = 100) -> list[UrlFailure]:
        """See `DocsStore`."""
        return await self._search(lambda db: frontier.failures(db, version_id, limit))

    async def host(self, host: str) -> HostState:
        """See `DocsStore`."""
        return await self.file.read(lambda db: sites.host(db, host))

    async def put_robots(self, host: str, robots: str | None) -> None:
        """See `DocsStore`."""
        await self.file.write(lambda db: sites.put_robots(db, host, robots, self._clock()))

    async def reserve(self, host: str, seconds: float) -> Booking:
        """See `DocsStore`."""
        return await self.file.write(lambda db: sites.reserve(db, host, seconds, self._clock()))

    async def rebook(self, host: str, booking: Booking, until: float) -> Booking:
        """See `DocsStore`."""
        return await self.file.write(lambda db: sites.rebook(db, host, booking, until))

    async def pause_host(self, host: str, until: float, reason: str) -> None:
        """See `DocsStore`."""
        await self.file.write(lambda db: sites.pause_host(db, host, until, reason))

    async def pages_after(self, version_id: int, page_id: int, count: int) -> list[tuple[int, StoredPage]]:
        """See `DocsStore`."""
        return await self.file.read(lambda db: sql_versions.after(db, version_id, self._embedder, page_id, count))

    async def put_pages(self, version_id: int, pages: Sequence[StoredPage]) -> None:
        """See `DocsStore`."""
        ready = await asyncio.to_thread(lambda: [(page, prepared(page.draft, page.vectors)) for page in pages])
        async with self._putting:
            await self.file.write(lambda db: sql_versions.put(db, version_id, ready, self._embedder))

    async def unembedded(self, version_id: int, limit: int) -> list[tuple[int, list[Chunk]]]:
        """See `DocsStore`."""

        def act(db: Database) -> list[tuple[int, list[Chunk]]]:
            ids = pages.unembedded(db, version_id, self._embedder, limit)
            return [(page_id, searches.page_chunks(db, page_id, 0, None)) for page_id in ids]

        return await self.file.read(act)

    async def put_vectors(self, page_id: int, vectors: Vectors) -> None:
        """See `DocsStore`."""
        await self.file.write(lambda db: pages.add_vectors(db, page_id, vectors, self._embedder))

    # ------------------------------------------------------------------ ChunkIndex

    async def search_text(self, query: TextQuery, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """See `ChunkIndex`."""
        return await self._search(lambda db: db.search_text(query, versions, limit))

    async def search_vectors(self, vector: Vectors, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """See `ChunkIndex`."""
        if not versions:
            return []
        async with self._turn():
            return await self._near.nearest(vector, versions, limit)

    async def find_symbols(self, names: Sequence[str], versions: Sequence[int], limit: int) -> list[SymbolMatch]:
        """See `ChunkIndex`."""
        return await self._search(lambda db: searches.find_symbols(db, names, versions, limit))

    async def chunks(self, ids: Sequence[int]) -> list[Chunk]:
        """See `ChunkIndex`."""
        return await self._search(lambda db: searches.chunks(db, ids))

    async def page_facts(self, page_ids: Sequence[int]) -> Mapping[int, PageFacts]:
        """See `ChunkIndex`."""
        return await self._search(lambda db: searches.page_facts(db, page_ids))

    async def count_words(self, words: Sequence[str]) -> Mapping[str, int]:
        """See `ChunkIndex`."""
        return await self._search(lambda db: db.count_words(words))

    async def page_chunks(self, page_id: int, start: int = 0, stop: int | None = None) -> list[Chunk]:
        """See `ChunkIndex`."""
        return await self._search(lambda db: searches.page_chunks(db, page_id, start, stop))

    async def find_section(self, section_id: str) -> Chunk | None:
        """See `ChunkIndex`."""
        return await self._search(lambda db: searches.find_section(db, section_id))

    async def find_page(self, url: str, versions: Sequence[int]) -> int | None:
        """See `ChunkIndex`."""
        return await self._search(lambda db: searches.find_page(db, url, versions))

    async def find_anchor(self, page_id: int, anchor: str) -> int | None:
        """See `ChunkIndex`."""
        return await self._search(lambda db: searches.find_anchor(db, page_id, anchor))

    async def close(self) -> None:
        """See `DocsStore`."""
        await self._near.close()
        await self.file.close()

    async def _search(self, action: Callable[[Database], T]) -> T:
        async with self._turn():
            return await self.file.search(action)
