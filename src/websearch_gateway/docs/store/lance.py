"""Searches vectors in a LanceDB table (https://docs.lancedb.com), which follows the store's table `vectors`."""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from websearch_gateway.docs.models import ScoredChunk
from websearch_gateway.docs.store import pages
from websearch_gateway.docs.store.database import Database, Transactions, unpack_vectors
from websearch_gateway.errors import StateUnavailable

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import AsyncTable

    from websearch_gateway.ports import Vectors


_log = logging.getLogger(__name__)

LAG_SECONDS = 60.0
"""The least seconds between updates by searches: each adds files to the table. The end of a crawl updates at once."""
PAGES_AT_ONCE = 2_000
LEAST_INDEXED = 100_000
"""The fewest rows for an approximate index; fewer are compared one by one in milliseconds."""


class LanceVectors:
    """A `NearIndex`. A process without write access to the folder or bucket searches the existing tables.

    Args:
        url: a folder, or `s3://bucket/prefix` and `gs://bucket/prefix` with the credentials of their own libraries.
        lag: see `LAG_SECONDS`.
        clock: seconds on a monotonic clock.
    """

    def __init__(
        self,
        url: str,
        store: Transactions,
        embedder: str,
        *,
        lag: float = LAG_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url
        self._store = store
        self._embedder = embedder
        self._lag = lag
        self._clock = clock
        self._followed_at: float | None = None
        self._tables: dict[int, AsyncTable] = {}
        self._following = asyncio.Lock()

    async def nearest(
        self, vector: Vectors, versions: Sequence[int], limit: int
    ) -> list[ScoredChunk]:
        """See `NearIndex`."""
        async with self._store.turn():
            return await self._nearest(vector, versions, limit)

    async def _nearest(
        self, vector: Vectors, versions: Sequence[int], limit: int
    ) -> list[ScoredChunk]:
        if self._followed_at is None or self._clock() - self._followed_at >= self._lag:
            await self.follow()
        try:
            table = await self._table(vector.size)
            if table is None:
                return []
            query = table.vector_search(vector.reshape(-1)).distance_type("cosine")
            named = ", ".join(map(str, versions))
            found = await query.where(f"version_id IN ({named})").limit(limit).to_list()
        except (OSError, RuntimeError, ValueError) as error:
            name = type(error).__name__
            raise StateUnavailable(
                f"The vectors in DOCS_VECTORS cannot be searched ({name})."
            ) from error
        return [
            ScoredChunk(row["chunk_id"], row["page_id"], row["version_id"], 1 - row["_distance"])
            for row in found
            if row["_distance"] < 1
        ]

    async def follow(self) -> None:
        """See `NearIndex`."""
        async with self._following:
            self._followed_at = self._clock()
            try:
                query = "SELECT DISTINCT dimensions FROM vectors WHERE embedder = ?"
                for (dimensions,) in await self._store.read(
                    lambda db: db.execute(query, (self._embedder,)).fetchall()
                ):
                    await self._follow(dimensions)
            except (OSError, RuntimeError, ValueError) as error:
                _log.warning("New vectors are not searchable yet: %s", type(error).__name__)

    async def close(self) -> None:
        """See `NearIndex`."""
        for table in self._tables.values():
            table.close()
        self._tables.clear()

    async def _follow(self, dimensions: int) -> None:
        from lancedb.index import IvfPq

        table = await self._table(dimensions, make=True)
        if table is None:
            return
        rows = (
            (await table.query().select(["page_id", "row"]).to_arrow())
            .group_by(["page_id", "row"])
            .aggregate([])
        )
        known = {row["page_id"]: row["row"] for row in rows.to_pylist()}
        query = "SELECT page_id, id FROM vectors WHERE embedder = ? AND dimensions = ?"
        stored = await self._store.read(
            lambda db: dict(db.execute(query, (self._embedder, dimensions)).fetchall())
        )
        gone = [page for page, row in known.items() if stored.get(page) != row]
        new = sorted(row for page, row in stored.items() if known.get(page) != row)
        for start in range(0, len(gone), PAGES_AT_ONCE):
            await table.delete(
                f"page_id IN ({', '.join(map(str, gone[start : start + PAGES_AT_ONCE]))})"
            )
        for start in range(0, len(new), PAGES_AT_ONCE):
            some = new[start : start + PAGES_AT_ONCE]
            batch = await self._store.read(
                functools.partial(_batch, rows=some, dimensions=dimensions)
            )
            await table.add(batch)
        if gone or new:
            await table.optimize()
            if not await table.list_indices() and await table.count_rows() >= LEAST_INDEXED:
                await table.create_index("vector", config=IvfPq(distance_type="cosine"))

    async def _table(self, dimensions: int, *, make: bool = False) -> AsyncTable | None:
        """The table for vectors of these dimensions; None if there is none yet."""
        import lancedb

        if (table := self._tables.get(dimensions)) is not None:
            await table.checkout_latest()
            return table
        connection = await lancedb.connect_async(self._url)
        name = f"vectors_{dimensions}"
        known = name in (await connection.list_tables()).tables
        if not known and not make:
            return None
        table = await (
            connection.open_table(name)
            if known
            else connection.create_table(name, schema=_schema(dimensions), exist_ok=True)
        )
        self._tables[dimensions] = table
        return table


def _schema(dimensions: int) -> pa.Schema:
    import pyarrow as pa

    numbers = [(name, pa.int64()) for name in ("row", "chunk_id", "page_id", "version_id")]
    return pa.schema([*numbers, ("vector", pa.list_(pa.float16(), dimensions))])


def _batch(db: Database, rows: Sequence[int], dimensions: int) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    columns: dict[str, list[Any]] = {"row": [], "chunk_id": [], "page_id": [], "version_id": []}
    vectors = []
    for packed in pages.vectors_of(db, rows):
        scales, numbers = unpack_vectors(packed.data, dimensions)
        vectors.append((scales[:, None] * numbers).astype(np.float16))
        columns["row"] += [packed.id] * len(numbers)
        columns["chunk_id"] += packed.chunk_ids.tolist()
        columns["page_id"] += [packed.page_id] * len(numbers)
        columns["version_id"] += [packed.version_id] * len(numbers)
    flat = np.concatenate(vectors or [np.empty((0, dimensions), np.float16)]).reshape(-1)
    arrays = [pa.array(column, pa.int64()) for column in columns.values()]
    vector = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float16()), dimensions)
    return pa.Table.from_arrays([*arrays, vector], schema=_schema(dimensions))
