"""A connection inside a transaction, and methods that run as one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from websearch_gateway.docs_index.models import ScoredChunk, TextQuery
    from websearch_gateway.ports import Vectors


P = ParamSpec("P")
T = TypeVar("T")

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
        """See `SqlDocs.search_text`."""
        ...

    def count_words(self, words: Sequence[str]) -> dict[str, int]:
        """See `SqlDocs.count_words`."""
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
        """See `SqlDocs.search_vectors`."""
        ...

    async def follow(self) -> None:
        """Index the new vectors now, instead of at a later search."""
        ...

    async def close(self) -> None:
        """Release its resources. Idempotent."""
        ...


class Transacted:
    """What the parts of `SqlDocs` share.

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

    async def close(self) -> None:
        """Release files, sockets and threads. Idempotent."""
        await self._near.close()
        await self.file.close()


S = TypeVar("S", bound=Transacted)


def write(action: Callable[Concatenate[S, Database, P], T]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """A method of a `Transacted` as a transaction: it is awaited, and called without its database."""

    @wraps(action)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.file.write(lambda db: action(self, db, *args, **kwargs))

    return run


def read(action: Callable[Concatenate[S, Database, P], T]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """As `write`, for a method that only reads."""

    @wraps(action)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.file.read(lambda db: action(self, db, *args, **kwargs))

    return run


def search(action: Callable[Concatenate[S, Database, P], T]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """As `read`, beside others and in turn."""

    @wraps(action)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        async with self._turn():
            return await self.file.search(lambda db: action(self, db, *args, **kwargs))

    return run
