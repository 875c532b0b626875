"""What the statements of the store run on: a connection inside a transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from websearch_gateway.docs_index.models import ScoredChunk, TextQuery
    from websearch_gateway.ports import Vectors

IndexRow = tuple[int, tuple[str, str, str, str, str]]
"""A chunk's id, and what the text index holds of it, see `index_row`."""

MOST_VALUES = 500
"""Values in one list of a statement; SQLite allows 32,766 and PostgreSQL 65,535."""


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""
        ...

    def fetchone(self) -> Any:
        """The next row; None at the end."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Database(Protocol):
    """A connection inside a transaction. Values stand for `?`, or for `:name` where they are a mapping.

    `lock` ends a query whose rows no other transaction may change until this one is over, `skip_locked` one that
    leaves out the rows that others have locked; both are "" where one transaction writes at a time.
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
        """Take chunks out of the text index; the rows are those that were put in."""
        ...

    def search_text(self, query: TextQuery, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """See `ChunkIndex.search_text`."""
        ...

    def index_vectors(self, page_id: int, version_id: int, chunk_ids: Sequence[int], vectors: Vectors) -> None:
        """Note the vectors of a page, in place of those that it has."""
        ...

    def unindex_vectors(self, page_id: int) -> None:
        """Forget the vectors of a page."""
        ...


def marks(values: Sequence[object]) -> str:
    """A placeholder for each of the values."""
    return ", ".join("?" * len(values))
