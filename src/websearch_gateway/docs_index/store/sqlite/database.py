"""A SQLite connection as a `Database`, with FTS5 for the text (https://sqlite.org/fts5.html)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from websearch_gateway.docs_index.models import ScoredChunk, TextQuery
from websearch_gateway.docs_index.store.index_row import COLUMNS, WEIGHTS, match_expression
from websearch_gateway.docs_index.store.sql.database import MOST_COUNTED, IndexRow, Rows, marks

if TYPE_CHECKING:
    import sqlite3

    from websearch_gateway.ports import Vectors

_COLUMNS = ", ".join(COLUMNS)
_UNINDEX = f"INSERT INTO chunks_fts (chunks_fts, rowid, {_COLUMNS}) VALUES ('delete', ?, ?, ?, ?, ?, ?)"
_INDEX = f"INSERT INTO chunks_fts (rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
_RANK = f"bm25(chunks_fts, {', '.join(map(str, WEIGHTS))})"


class SqliteDatabase:
    """See `Database`. Vectors need no index here: `VectorTable` follows their table."""

    lock = skip_locked = ""  # one transaction writes at a time

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def execute(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Rows:
        """See `Database`."""
        return self.connection.execute(statement, values)

    def executemany(self, statement: str, values: Sequence[Sequence[Any]]) -> Rows:
        """See `Database`."""
        return self.connection.executemany(statement, values)

    def index_text(self, rows: Sequence[IndexRow]) -> None:
        """See `Database`."""
        self.connection.executemany(_INDEX, [(chunk_id, *columns) for chunk_id, columns in rows])

    def unindex_text(self, rows: Sequence[IndexRow]) -> None:
        """See `Database`."""
        self.connection.executemany(_UNINDEX, [(chunk_id, *columns) for chunk_id, columns in rows])

    def count_words(self, words: Sequence[str]) -> dict[str, int]:
        """See `Database`."""
        counted = "SELECT count(*) FROM (SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? LIMIT ?)"
        counts = {word: self.execute(counted, (f'"{word}"', MOST_COUNTED)).fetchone()[0] for word in words}
        return {word: count for word, count in counts.items() if count}

    def index_vectors(self, page_id: int, version_id: int, chunk_ids: Sequence[int], vectors: Vectors) -> None:
        """See `Database`."""

    def unindex_vectors(self, page_id: int) -> None:
        """See `Database`."""

    def search_text(self, query: TextQuery, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """See `Database`."""
        if not (expression := match_expression(query)) or not versions:
            return []
        # Looking up the version of each match costs more than the search, so a search of all versions skips it.
        everywhere = {row[0] for row in self.execute("SELECT id FROM versions")} <= set(versions)
        where = f"AND (SELECT version_id FROM chunks WHERE id = chunks_fts.rowid) IN ({marks(versions)})"
        rows = self.execute(
            f"""
            SELECT chunks.id, page_id, version_id, -score FROM (
                SELECT rowid AS id, {_RANK} AS score FROM chunks_fts
                WHERE chunks_fts MATCH ? {"" if everywhere else where} ORDER BY score LIMIT ?
            ) AS found JOIN chunks ON chunks.id = found.id ORDER BY score, chunks.id
            """,
            (expression, *([] if everywhere else versions), limit),
        )
        return [ScoredChunk(*row) for row in rows]
