"""The vectors of the SQLite file, compared in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from websearch_gateway.docs_index.models import ScoredChunk
from websearch_gateway.docs_index.store.sql import pages
from websearch_gateway.docs_index.store.sql.database import Database
from websearch_gateway.docs_index.store.sql.docs import Transactions
from websearch_gateway.docs_index.store.sqlite.vector_table import VectorTable
from websearch_gateway.net.own_threads import in_cache_thread

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


class MemoryVectors:
    """A `NearIndex`. Each search first reads what other threads and processes have written."""

    def __init__(self, file: Transactions, embedder: str) -> None:
        self._file = file
        self._embedder = embedder
        self._table: VectorTable | None = None
        self._dimensions = 0
        self._loaded = 0
        self._data_version = -1

    async def nearest(self, vector: Vectors, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """See `NearIndex`. Another thread scans, so that the thread of the file is free for the search for words."""
        rows = await self._file.read(lambda db: self._followed(db, vector.size).snapshot())
        return await in_cache_thread(rows.nearest, vector, versions, limit)

    async def follow(self) -> None:
        """See `NearIndex`. Does nothing, so a process that only crawls holds no vectors in memory."""

    async def close(self) -> None:
        """See `NearIndex`."""

    def _followed(self, db: Database, dimensions: int) -> VectorTable:
        """The up-to-date table in memory; rebuilt after many pages were removed."""
        ((data_version,),) = db.execute("PRAGMA data_version")
        if self._table is not None and self._dimensions == dimensions and self._data_version == data_version:
            return self._table
        count = pages.count_vectors(db, self._embedder, dimensions)
        if self._table is None or self._dimensions != dimensions or self._table.pages > 1.1 * count + 100:
            self._table, self._dimensions, self._loaded = VectorTable(dimensions), dimensions, 0
        for row in pages.vectors_after(db, self._embedder, dimensions, self._loaded):
            self._loaded = row.id
            self._table.put(row.page_id, row.version_id, row.chunk_ids, row.data)
        self._data_version = data_version  # last, so that the next search completes a read that failed
        return self._table
