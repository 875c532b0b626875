"""Connections to PostgreSQL, each used by one thread at a time (https://www.psycopg.org/psycopg3/docs/)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from websearch_gateway.docs_index.store.postgres.database import PostgresDatabase
from websearch_gateway.docs_index.store.postgres.schema import SCHEMA, migrate
from websearch_gateway.docs_index.store.sql.database import Database
from websearch_gateway.docs_index.store.sql.docs import MOST_SEARCHES
from websearch_gateway.errors import StateUnavailable

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

T = TypeVar("T")

MOST_CONNECTIONS = 4
"""The most connections for crawls; as many searches as may run at once have others."""
CONNECT_SECONDS = 10.0
STATEMENT_SECONDS = 120
"""The time limit of a statement (seconds): removing a large version takes long."""
STOP_SECONDS = 5.0
TRIES = 5
"""The number of attempts for a transaction that conflicts with another."""


class PostgresPool:
    """A few connections, each with a thread. The first action connects and creates the tables.

    Args:
        url: as libpq understands it (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
        embedder: the embedder whose vectors are indexed; None if another index has them.
    """

    def __init__(self, url: str, embedder: str | None) -> None:
        self._url = url
        self._embedder = embedder
        self._threads = ThreadPoolExecutor(MOST_CONNECTIONS, thread_name_prefix="docs-postgres")
        self._searchers = ThreadPoolExecutor(MOST_SEARCHES, thread_name_prefix="docs-search")
        self._pool: ConnectionPool[Connection] | None = None
        self._opening = Lock()
        self._closed = False

    async def write(self, action: Callable[[Database], T]) -> T:
        """See `Transactions`."""
        return await self.run(action)

    async def read(self, action: Callable[[Database], T]) -> T:
        """See `Transactions`."""
        return await self.run(action)

    async def run(self, action: Callable[[PostgresDatabase], T]) -> T:
        """The result of `action`, run in one transaction.

        Raises:
            StateUnavailable: the server is unreachable or refuses.
        """
        return await self._start(self._threads, action, _Use())

    async def search(self, action: Callable[[PostgresDatabase], T]) -> T:
        """See `Transactions`. Raises what `run` raises."""
        use = _Use()
        running = self._start(self._searchers, action, use)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            await asyncio.to_thread(use.stop)
            await asyncio.gather(running, return_exceptions=True)
            raise

    def _start(
        self, threads: ThreadPoolExecutor, action: Callable[[PostgresDatabase], T], use: _Use
    ) -> asyncio.Future[T]:
        if self._closed:
            raise StateUnavailable("The documentation index is closed.")
        return asyncio.get_running_loop().run_in_executor(threads, self._act, action, use)

    async def close(self) -> None:
        """See `Transactions`."""
        if not self._closed:
            self._closed = True
            await asyncio.gather(*(asyncio.to_thread(one.shutdown) for one in (self._threads, self._searchers)))
            if self._pool is not None:
                await asyncio.to_thread(self._pool.close)

    def _act(self, action: Callable[[PostgresDatabase], T], use: _Use) -> T:
        import psycopg
        from psycopg import errors
        from psycopg_pool import PoolTimeout

        try:
            for _ in range(TRIES):
                try:
                    with self._opened().connection() as connection, connection.transaction(), use.of(connection):
                        return action(PostgresDatabase(connection, self._embedder))
                except (errors.DeadlockDetected, errors.SerializationFailure):
                    continue
            raise StateUnavailable("Others keep the documentation index busy. Try again.", retry_after=5)
        except PoolTimeout as error:
            raise StateUnavailable("The PostgreSQL server of the documentation index cannot be reached.") from error
        except psycopg.Error as error:  # its message may contain values, such as page text
            raise StateUnavailable(
                f"PostgreSQL cannot serve the documentation index ({type(error).__name__})."
            ) from error

    def _opened(self) -> ConnectionPool[Connection]:
        from psycopg import Connection
        from psycopg_pool import ConnectionPool

        with self._opening:
            if self._pool is None:
                # Its warnings quote libpq's messages about the URL, which may contain part of a malformed password.
                logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
                pool = ConnectionPool(
                    self._url,
                    connection_class=Connection,
                    kwargs={
                        "application_name": "websearch-gateway",
                        "autocommit": True,
                        "options": f"-c search_path={SCHEMA},public -c statement_timeout={STATEMENT_SECONDS}s",
                    },
                    min_size=1,
                    max_size=MOST_CONNECTIONS + MOST_SEARCHES,
                    timeout=CONNECT_SECONDS,
                    check=ConnectionPool.check_connection,
                    open=True,
                )
                try:
                    with pool.connection() as connection:
                        migrate(connection)
                except BaseException:
                    pool.close()
                    raise
                self._pool = pool
            return self._pool


class _Use:
    """The use of a connection by one action, which another thread may stop."""

    def __init__(self) -> None:
        self._connection: Connection | None = None
        self._lock = Lock()

    @contextlib.contextmanager
    def of(self, connection: Connection) -> Iterator[None]:
        self._connection = connection
        try:
            yield
        finally:
            with self._lock:  # never stop the next user of the connection
                self._connection = None

    def stop(self) -> None:
        """Stop the running statement. If the server does not answer, it runs to its end."""
        import psycopg

        with self._lock, contextlib.suppress(psycopg.Error):
            if self._connection is not None:
                self._connection.cancel_safe(timeout=STOP_SECONDS)
