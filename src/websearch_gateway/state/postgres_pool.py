"""Connections to PostgreSQL, and the numbered migrations of the one table."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, LiteralString

from websearch_gateway.errors import StateUnavailable

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from psycopg_pool import AsyncConnectionPool

MIGRATIONS: Sequence[LiteralString] = (
    # Keys compare byte by byte, which is the order of code points. An entry has either a value or a count.
    """
    CREATE TABLE websearch_state (
        key bytea PRIMARY KEY,
        long_key bytea,
        value bytea,
        count bigint,
        expires double precision NOT NULL,
        CHECK ((value IS NULL) <> (count IS NULL))
    )
    """,
    "CREATE INDEX websearch_state_by_expiry ON websearch_state (expires)",
)
"""Statement n (from 1) takes a database from version n - 1 to n. Only ever append."""

_MOST_CONNECTIONS = 4
_MIGRATION_LOCK = 0x77656273  # an arbitrary number: the first bytes of our name
_VERSION_TABLE = "CREATE TABLE IF NOT EXISTS websearch_state_version (version integer NOT NULL)"
_KEEP_ALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}


def load() -> tuple[type[Exception], ...]:
    """Import the library, and return its exceptions: server errors, lost connections, failed connections."""
    import psycopg_pool  # noqa: F401
    from psycopg import Error

    return (Error,)


class PostgresPool:
    """A few connections. The first statement opens them and migrates the table. Belongs to one event loop.

    Args:
        url: a connection URI of libpq (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
        seconds: the time limit of a statement, and of getting a connection.
    """

    def __init__(self, url: str, *, seconds: float) -> None:
        self._url = url
        self._seconds = seconds
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] | None = None
        self._migrated = False
        self._opening = asyncio.Lock()

    async def fetch(self, statement: LiteralString, named: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Run one statement in its own transaction and return its rows.

        Raises:
            psycopg.Error: the statement failed. Lost connections are replaced before this is raised.
            StateUnavailable: a newer version of the gateway wrote the table.
        """
        from psycopg import OperationalError

        pool = await self._ready()
        try:
            async with pool.connection() as connection:
                cursor = await connection.execute(statement, named)
                return await cursor.fetchall() if cursor.description else []
        except OperationalError:
            # If the server went away, all connections are lost, and each would fail one more verb.
            await pool.check()
            raise

    async def close(self) -> None:
        """Close all connections."""
        if self._pool is not None:
            await self._pool.close(timeout=self._seconds)

    async def _ready(self) -> AsyncConnectionPool[AsyncConnection[Any]]:
        async with self._opening:
            if self._pool is None:
                self._pool = self._make_pool()
                await self._pool.open()
            if not self._migrated:
                async with self._pool.connection() as connection, connection.transaction():
                    await _migrate(connection)
                self._migrated = True
            return self._pool

    def _make_pool(self) -> AsyncConnectionPool[AsyncConnection[Any]]:
        from psycopg_pool import AsyncConnectionPool

        # Its warnings quote libpq's message about the URL, which may contain a part of a badly escaped password.
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
        return AsyncConnectionPool(
            self._url,
            kwargs={"autocommit": True, "application_name": "websearch-gateway", **_KEEP_ALIVE},
            min_size=1,
            max_size=_MOST_CONNECTIONS,
            timeout=self._seconds,
            reconnect_timeout=0,  # or it waits for up to minutes; each verb and probe starts an attempt anyway
            configure=self._configure,
            open=False,
        )

    async def _configure(self, connection: AsyncConnection[Any]) -> None:
        await connection.execute("SELECT set_config('statement_timeout', %s, false)", [f"{self._seconds * 1000:.0f}"])


async def _migrate(connection: AsyncConnection[Any]) -> None:
    """Migrate the table in the current transaction; other processes wait for the lock until it ends."""
    await connection.execute("SELECT pg_advisory_xact_lock(%s)", [_MIGRATION_LOCK])
    await connection.execute(_VERSION_TABLE)
    cursor = await connection.execute("SELECT coalesce(max(version), 0) FROM websearch_state_version")
    ((version,),) = await cursor.fetchall()
    if version > len(MIGRATIONS):
        raise StateUnavailable("The state table was written by a newer version of the gateway.")
    for number, statement in enumerate(MIGRATIONS[version:], version + 1):
        await connection.execute(statement)
        await connection.execute("INSERT INTO websearch_state_version VALUES (%s)", [number])
