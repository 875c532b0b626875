"""State in one table of a PostgreSQL database (https://www.psycopg.org/psycopg3/docs/)."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, LiteralString

from websearch_gateway.base import CONNECTION, migration, quieten
from websearch_gateway.errors import SearchNotConfiguredError, StateUnavailable
from websearch_gateway.models import StateEntry
from websearch_gateway.state.shared import (
    ROWS_PER_PAGE,
    RemoteState,
    bounds,
    entry_of,
    paged,
    require,
)

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from psycopg_pool import AsyncConnectionPool


# Each verb is one statement, and one statement sees and writes a row atomically.
_GET = "SELECT value, count FROM websearch_state WHERE key = %(key)s AND expires > %(now)s"
_PUT = """
    INSERT INTO websearch_state VALUES (%(key)s, NULL, %(value)s, NULL, %(expires)s)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, count = NULL, expires = excluded.expires
"""
_DELETE = "DELETE FROM websearch_state WHERE key = %(key)s AND expires > %(now)s RETURNING 1"
_ADD = """
    INSERT INTO websearch_state AS old VALUES (%(key)s, NULL, NULL, %(amount)s, %(expires)s)
    ON CONFLICT (key) DO UPDATE SET
        value = NULL,
        count = excluded.count + CASE WHEN old.expires > %(now)s THEN coalesce(old.count, 0) ELSE 0 END,
        expires = CASE WHEN old.expires > %(now)s AND old.count IS NOT NULL THEN old.expires ELSE excluded.expires END
    RETURNING count
"""
_SCAN = """
    SELECT key, value, count, expires FROM websearch_state
    WHERE key >= %(start)s AND key < %(end)s AND expires > %(now)s ORDER BY key LIMIT %(limit)s
"""
_PRUNE = """
    DELETE FROM websearch_state WHERE key IN (
        SELECT key FROM websearch_state WHERE expires <= %(now)s LIMIT 1000 FOR UPDATE SKIP LOCKED
    )
"""

_WRITES_PER_PRUNING = 256
_MOST_CONNECTIONS = 4
_MIGRATION_LOCK = 0x77656273  # an arbitrary number: the first bytes of our name

MIGRATIONS: Sequence[LiteralString] = (
    # Keys compare byte by byte. An entry has either a value or a count. `long_key` is no longer used.
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


class PostgresState(RemoteState):
    """A State in the table `websearch_state`, which it creates. The first verb opens a few connections, which belong to
    one event loop, and migrates the table.

    Args:
        url: a connection URI of libpq (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
        options: those of `RemoteState`.
    """

    backend: ClassVar[str] = "PostgreSQL"

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(**options)
        self._url = url
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] | None = None
        self._migrated = False
        self._opening = asyncio.Lock()
        self._writes = 0

    @classmethod
    def from_location(cls, location: str) -> PostgresState:
        """The backend for `postgresql://USER:PASSWORD@HOST/DATABASE`.

        Raises:
            SearchNotConfiguredError: the URL names no database, or the library is not installed.
        """
        if not location:
            raise SearchNotConfiguredError(
                "STATE_URL must be of the form postgresql://USER:PASSWORD@HOST/DATABASE."
            )
        require("psycopg_pool", extra="postgres")
        return cls(f"postgresql://{location}")

    async def get(self, key: str) -> bytes | None:
        rows = await self._fetch(_GET, {"key": key.encode(), "now": self._clock()})
        if not rows:
            return None
        value, count = rows[0]
        return value if count is None else b"%d" % count

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        await self._write(_PUT, key, ttl, {"value": bytes(value)})

    async def delete(self, key: str) -> bool:
        return bool(await self._fetch(_DELETE, {"key": key.encode(), "now": self._clock()}))

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        start, end = map(str.encode, bounds(prefix, after))
        async for entry in paged(self._page, start, end, b"\0"):
            yield entry

    async def _page(self, start: bytes, end: bytes) -> list[tuple[bytes, StateEntry]]:
        now = self._clock()
        named = {"start": start, "end": end, "now": now, "limit": ROWS_PER_PAGE}
        rows = await self._fetch(_SCAN, named)
        return [
            (key, entry_of(key, value if count is None else count, expires - now))
            for key, value, count, expires in rows
        ]

    async def _send_increment(self, key: str, amount: int, ttl: float | None) -> int:
        ((count,),) = await self._write(_ADD, key, ttl, {"amount": amount})
        return int(count)

    async def _write(
        self, statement: LiteralString, key: str, ttl: float | None, named: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        now = self._clock()
        if self._writes % _WRITES_PER_PRUNING == 0:
            await self._fetch(_PRUNE, {"now": now})
        self._writes += 1
        named |= {
            "key": key.encode(),
            "now": now,
            "expires": math.inf if ttl is None else now + ttl,
        }
        return await self._fetch(statement, named)

    async def _fetch(
        self, statement: LiteralString, named: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        return await self.run(self._fetched, statement, named)

    async def _fetched(
        self, statement: LiteralString, named: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        """The rows of one statement, which is a transaction of its own.

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

    def _load(self) -> tuple[type[Exception], ...]:
        """Server errors, lost connections, failed connections."""
        import psycopg_pool  # noqa: F401
        from psycopg import Error

        return (Error,)

    async def _disconnect(self) -> None:
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

        quieten()
        return AsyncConnectionPool(
            self._url,
            kwargs=CONNECTION,
            min_size=1,
            max_size=_MOST_CONNECTIONS,
            timeout=self._seconds,
            reconnect_timeout=0,  # or it waits for up to minutes; each verb and probe starts an attempt anyway
            configure=self._configure,
            open=False,
        )

    async def _configure(self, connection: AsyncConnection[Any]) -> None:
        await connection.execute(
            "SELECT set_config('statement_timeout', %s, false)", [f"{self._seconds * 1000:.0f}"]
        )


async def _migrate(connection: AsyncConnection[Any]) -> None:
    too_new = StateUnavailable("The state table was written by a newer version of the gateway.")
    steps = migration("websearch_state_version", _MIGRATION_LOCK, MIGRATIONS, too_new)
    with contextlib.suppress(StopIteration):
        statement = next(steps)
        while True:
            cursor = await connection.execute(*statement)
            statement = steps.send(await cursor.fetchall() if cursor.description else [])
