"""The documentation index in one SQLite file: both ports, any number of processes of one machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from websearch_gateway.docs_index.store.sql.docs import NearIndex, SqlDocs, Transactions, Turn
from websearch_gateway.docs_index.store.sqlite.file import SqliteFile
from websearch_gateway.docs_index.store.sqlite.memory_vectors import MemoryVectors


class SqliteDocs(SqlDocs):
    """See `SqlDocs`.

    Args:
        path: the file; `~` is the home folder.
        near: makes the vector index; in memory by default.
        turn: see `SqlDocs`.
    """

    def __init__(
        self,
        path: Path,
        embedder: str,
        *,
        near: Callable[[Transactions, str], NearIndex] | None = None,
        turn: Turn | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        file = SqliteFile(path.expanduser().absolute())
        super().__init__(file, (near or MemoryVectors)(file, embedder), embedder, turn=turn, clock=clock)
