"""The documentation index in PostgreSQL: both ports, any number of processes on any number of machines."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from websearch_gateway.docs_index.models import ScoredChunk
from websearch_gateway.docs_index.store.postgres.pool import PostgresPool
from websearch_gateway.docs_index.store.sql.docs import NearIndex, SqlDocs, Transactions, Turn

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


class PostgresDocs(SqlDocs):
    """See `SqlDocs`.

    Args:
        url: see `PostgresPool`.
        near: makes the vector index; pgvector by default.
        turn: see `SqlDocs`.
    """

    def __init__(
        self,
        url: str,
        embedder: str,
        *,
        near: Callable[[Transactions, str], NearIndex] | None = None,
        turn: Turn | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        pool = PostgresPool(url, None if near else embedder)
        vectors = near(pool, embedder) if near else _PgVectors(pool)
        super().__init__(pool, vectors, embedder, turn=turn, clock=clock)


class _PgVectors:
    """A `NearIndex` that the transactions of a crawl keep up to date."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def nearest(self, vector: Vectors, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """See `NearIndex`."""
        return await self._pool.search(lambda db: db.search_vectors(vector, versions, limit))

    async def follow(self) -> None:
        """See `NearIndex`."""

    async def close(self) -> None:
        """See `NearIndex`."""
