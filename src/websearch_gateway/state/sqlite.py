"""State in one SQLite file, shared by any number of processes of one machine."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.models import StateEntry, StateUsage
from websearch_gateway.state.keys import raw_key, text_key
from websearch_gateway.state.sqlite_limit import SqliteLimit, live_bytes
from websearch_gateway.state.sqlite_thread import SqliteThread

if TYPE_CHECKING:
    import sqlite3

# Each verb is one statement. Outside a transaction, a single writing statement takes the write lock before it reads,
# like BEGIN IMMEDIATE, so no update is lost, and none fails half-way because of a lock.
_GET = """
    SELECT value FROM entries
    WHERE key = :key AND expires > :now AND typeof(value) IN ('blob', 'integer')
"""
_PUT = "INSERT OR REPLACE INTO entries VALUES (:key, :value, :expires)"
_DELETE = "DELETE FROM entries WHERE key = :key AND expires > :now RETURNING 1"
_ADD = """
    INSERT INTO entries VALUES (:key, :amount, :expires)
    ON CONFLICT (key) DO UPDATE SET
        value = excluded.value + iif(expires > :now AND typeof(value) = 'integer', value, 0),
        expires = iif(expires > :now AND typeof(value) = 'integer', expires, excluded.expires)
    RETURNING value
"""
_SCAN = """
    SELECT key, value, expires FROM entries
    WHERE key >= :start AND key < :end AND expires > :now
        AND typeof(value) IN ('blob', 'integer') AND typeof(expires) = 'real'
    ORDER BY key LIMIT :limit
"""
_PRUNE = "DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries WHERE expires <= :now LIMIT 1000)"

_WRITES_PER_PRUNING = 256
_ROWS_PER_PAGE = 32


class SqliteState:
    """A State in the file at `path`. The first verb opens it.

    A damaged file is moved aside and replaced. At any other problem with the file (locked, read-only, full) the verb
    raises StateUnavailable.

    Args:
        path: the file, relative to the working folder; `~` is the home folder.
        clock: seconds since the epoch, the same in all processes.
        timeout_seconds: seconds to wait for another process's lock.
        cooldown_seconds: how long all verbs fail at once after such a timeout.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.time,
        timeout_seconds: float = 2.0,
        cooldown_seconds: float = 5.0,
    ) -> None:
        self._thread = SqliteThread(
            path.expanduser().absolute(), timeout_seconds=timeout_seconds, cooldown_seconds=cooldown_seconds
        )
        self._clock = clock
        self._writes = 0
        self._limit: SqliteLimit | None = None

    def limit(self, most_bytes: int, evictable: Sequence[str]) -> None:
        """See ports.BoundedState."""
        self._limit = SqliteLimit(most_bytes, [raw_key(prefix) for prefix in evictable])

    async def usage(self) -> StateUsage:
        """See ports.BoundedState."""
        size = await self._thread.run(live_bytes, writes=False)
        limit = self._limit
        return StateUsage(size, limit.most_bytes, limit.evictions) if limit else StateUsage(size)

    @classmethod
    def from_location(cls, location: str) -> SqliteState:
        """The backend for `sqlite:///PATH`; an absolute path gives four slashes.

        Raises:
            SearchNotConfiguredError: the URL names no file.
        """
        path = location.removeprefix("/")
        if path == location or not path:
            raise SearchNotConfiguredError("STATE_URL must name a file, as in sqlite:///state.db.")
        return cls(Path(path))

    async def get(self, key: str) -> bytes | None:
        """See ports.State."""
        raw, now = raw_key(key), self._clock()

        def get(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
            if self._limit:
                self._limit.use(raw, now)
            return db.execute(_GET, {"key": raw, "now": now}).fetchall()

        rows = await self._thread.run(get, writes=False)
        return _decoded(rows[0][0]) if rows else None

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        """See ports.State."""
        await self._write(_PUT, {"key": raw_key(key), "value": value}, ttl)

    async def delete(self, key: str) -> bool:
        """See ports.State."""
        return bool(await self._write(_DELETE, {"key": raw_key(key)}))

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        """See ports.State."""
        ((count,),) = await self._write(_ADD, {"key": raw_key(key), "amount": amount}, ttl)
        return int(count)

    async def scan(self, prefix: str) -> AsyncIterator[tuple[str, bytes]]:
        """See ports.State."""
        async for entry in self.entries(prefix):
            yield entry.key, entry.value

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        """See ports.State. Reads page by page, so that an abandoned iterator keeps nothing open."""
        start = raw_key(prefix)
        # UTF-8 contains no byte 255, so incrementing the last byte of the start gives the end of the range.
        end = start[:-1] + bytes([start[-1] + 1]) if start else b"\xff"
        start = max(start, raw_key(after) + b"\0") if after else start
        while True:
            now = self._clock()
            rows = await self._read(_SCAN, {"start": start, "end": end, "now": now, "limit": _ROWS_PER_PAGE})
            for key, value, expires in rows:
                if (text := text_key(key)) is not None:
                    ttl = None if expires == math.inf else expires - now
                    yield StateEntry(text, _decoded(value), ttl, counts=isinstance(value, int))
            if len(rows) < _ROWS_PER_PAGE:
                return
            start = rows[-1][0] + b"\0"

    async def close(self) -> None:
        """See ports.State."""
        await self._thread.close()

    async def _read(self, statement: str, named: dict[str, Any]) -> list[tuple[Any, ...]]:
        return await self._thread.run(lambda db: db.execute(statement, named).fetchall(), writes=False)

    async def _write(self, statement: str, named: dict[str, Any], ttl: float | None = None) -> list[tuple[Any, ...]]:
        now = self._clock()
        named |= {"now": now, "expires": math.inf if ttl is None else now + ttl}
        prune = self._writes % _WRITES_PER_PRUNING == 0
        self._writes += 1

        def write(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
            if self._limit is None or db.in_transaction:
                return write_now(db)
            with db:  # commits, or rolls back
                db.execute("BEGIN IMMEDIATE")
                return write_now(db)

        def write_now(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
            if prune:
                db.execute(_PRUNE, named)
            if self._limit:
                size = len(value) if isinstance(value := named.get("value"), bytes) else 0
                if not self._limit.takes(named["key"], size):
                    return db.execute(_DELETE, named).fetchall()
                self._limit.use(named["key"], now)
                self._limit.make_room(db, size)
            return db.execute(statement, named).fetchall()

        return await self._thread.run(write, writes=True)


def _decoded(value: bytes | int) -> bytes:
    return str(value).encode() if isinstance(value, int) else value
