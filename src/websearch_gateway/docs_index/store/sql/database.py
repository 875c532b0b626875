"""The interface for the store's statements: a connection inside a transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from websearch_gateway.docs_index.models import ScoredChunk, TextQuery
    from websearch_gateway.ports import Vectors

IndexRow = tuple[int, tuple[str, str, str, str, str]]
"""A chunk's id, and its text index row, see `index_row`."""

MOST_VALUES = 500
"""Values in one list of a statement; SQLite allows 32,766 and PostgreSQL 65,535."""


MOST_COUNTED = 1_000
"""A word in so many chunks is not counted further."""


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """The number of changed rows."""
        ...

    def fetchone(self) -> Any:
        """The next row; None at the end."""
        ...

    def fetchall(self) -> list[Any]:
        """All remaining rows."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Database(Protocol):
    """A connection inside a transaction. Values replace `?`, or `:name` if they are a mapping.

    Append `lock` to a query to lock its rows until the transaction ends, or `skip_locked` to skip rows that others have
    locked; both are "" if only one transaction writes at a time.
    """

    lock: str
    skip_locked: str

    def execute(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ...) -> Rows:
        """Run a statement."""
        ...

    def executemany(self, statement: str, values: Sequence[Sequence[Any]]) -> Rows:
        """Run a statement once for each of several lists of values."""
        ...

    def index_text(self, rows: Sequence[IndexRow]) -> None:
        """Put chunks into the text index."""
        ...

    def unindex_text(self, rows: Sequence[IndexRow]) -> None:
        """Remove chunks from the text index; the rows must equal the inserted ones."""
        ...

    def search_text(self, query: TextQuery, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """See `ChunkIndex.search_text`."""
        ...

    def count_words(self, words: Sequence[str]) -> dict[str, int]:
        """See `ChunkIndex.count_words`."""
        ...

    def index_vectors(self, page_id: int, version_id: int, chunk_ids: Sequence[int], vectors: Vectors) -> None:
        """Store the vectors of a page, in place of its old ones."""
        ...

    def unindex_vectors(self, page_id: int) -> None:
        """Remove the vectors of a page."""
        ...


def marks(values: Sequence[object]) -> str:
    """A placeholder for each of the values."""
    return ", ".join("?" * len(values))
