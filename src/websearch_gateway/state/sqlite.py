"""State in one SQLite file, shared by any number of processes of one machine.

One thread talks to SQLite, so that the event loop never waits for a disk or a lock. Verbs that wait at the same time
run in one transaction, so a hundred take little longer than ten. The file stays below a size: the least recently used
entries of the cache go.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import math
import queue
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from websearch_gateway.base import code, created, is_damaged, is_locked, migrate, opened
from websearch_gateway.errors import SearchNotConfiguredError, StateUnavailable
from websearch_gateway.models import StateEntry, StateUsage
from websearch_gateway.ports import State
from websearch_gateway.state.shared import FREED_SHARE, ROWS_PER_PAGE, bounds, entry_of, paged

if TYPE_CHECKING:
    import sqlite3


MIGRATIONS = (
    # A key is bytes, which sort one by one. A value is a BLOB; a counter is an INTEGER.
    "CREATE TABLE entries (key BLOB PRIMARY KEY, value NOT NULL, expires REAL NOT NULL)",
    "CREATE INDEX entries_by_expiry ON entries (expires)",
    # When an entry was last read or written; only evictable entries need it (`sqlite.py`).
    "CREATE TABLE uses (key BLOB PRIMARY KEY, used REAL NOT NULL) WITHOUT ROWID",
)
"""Statement n (from 1) takes a file from version n - 1 to n. Append only: files of every version are in use."""

UNUSABLE_FILE = "unusable_file"
"""`details["reason"]` of an error that stays as long as the file or its disk is as it is."""

_log = logging.getLogger(__name__)


def unusable(error: sqlite3.Error | OSError) -> StateUnavailable:
    """The error for a file that cannot be used: on a full or read-only disk, in a folder of somebody else."""
    import sqlite3

    reasons = {
        sqlite3.SQLITE_FULL: "its disk is full",
        sqlite3.SQLITE_READONLY: "it is read-only",
        sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
        sqlite3.SQLITE_PERM: "it cannot be opened",
        sqlite3.SQLITE_IOERR: "its disk fails",
    }
    if isinstance(error, FileExistsError | FileNotFoundError | NotADirectoryError):
        reason = "its folder cannot be made"
    elif isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
    else:
        reason = reasons.get(code(error), "")
    kind = getattr(error, "sqlite_errorname", type(error).__name__)
    details = {"reason": UNUSABLE_FILE} if reason else None
    return StateUnavailable(f"The state file cannot be used ({reason or kind}).", details=details)


T = TypeVar("T")

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


class SqliteState(State):
    """A State in the file at `path`. The first verb opens it.

    A damaged file is set aside and a new one begins. At any other problem with the file (locked, read-only, full) the
    verb raises StateUnavailable.

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
            path.expanduser().absolute(),
            timeout_seconds=timeout_seconds,
            cooldown_seconds=cooldown_seconds,
        )
        self._clock = clock
        self._writes = 0
        self._limit: SqliteLimit | None = None

    def limit(self, most_bytes: int, evictable: Sequence[str]) -> None:
        self._limit = SqliteLimit(most_bytes, [prefix.encode() for prefix in evictable])

    async def usage(self) -> StateUsage:
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
        raw, now = key.encode(), self._clock()

        def get(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
            if self._limit:
                self._limit.use(raw, now)
            return db.execute(_GET, {"key": raw, "now": now}).fetchall()

        rows = await self._thread.run(get, writes=False)
        return entry_of(key, rows[0][0], math.inf).value if rows else None

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        await self._write(_PUT, {"key": key.encode(), "value": value}, ttl)

    async def delete(self, key: str) -> bool:
        return bool(await self._write(_DELETE, {"key": key.encode()}))

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        ((count,),) = await self._write(_ADD, {"key": key.encode(), "amount": amount}, ttl)
        return int(count)

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        start, end = map(str.encode, bounds(prefix, after))
        async for entry in paged(self._page, start, end, b"\0"):
            yield entry

    async def _page(self, start: bytes, end: bytes) -> list[tuple[bytes, StateEntry]]:
        now = self._clock()
        named = {"start": start, "end": end, "now": now, "limit": ROWS_PER_PAGE}
        rows = await self._read(_SCAN, named)
        return [(key, entry_of(key, value, expires - now)) for key, value, expires in rows]

    async def close(self) -> None:
        await self._thread.close()

    async def _read(self, statement: str, named: dict[str, Any]) -> list[tuple[Any, ...]]:
        return await self._thread.run(
            lambda db: db.execute(statement, named).fetchall(), writes=False
        )

    async def _write(
        self, statement: str, named: dict[str, Any], ttl: float | None = None
    ) -> list[tuple[Any, ...]]:
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
                self._limit.make_room(db, size, now)
            return db.execute(statement, named).fetchall()

        return await self._thread.run(write, writes=True)


_MOST_PER_TRANSACTION = 128  # limits how long other processes wait for the lock


@dataclass(frozen=True, slots=True)
class _Job:
    """A verb to run on the connection, and the future for its result. A job without a verb ends the thread."""

    verb: Callable[[sqlite3.Connection], Any] | None
    writes: bool
    future: asyncio.Future[Any]


class SqliteThread:
    """Runs verbs in order on one connection. The first verb starts the thread.

    Args:
        path: absolute. Creates a missing file (mode 0600) and a missing folder (mode 0700).
        timeout_seconds: seconds to wait for another process's lock.
        cooldown_seconds: how long all verbs fail at once after such a timeout; otherwise the waiting verbs would time
            out one after the other.
    """

    def __init__(self, path: Path, *, timeout_seconds: float, cooldown_seconds: float) -> None:
        self._path = path
        self._timeout_seconds = timeout_seconds
        self._connection: sqlite3.Connection | None = None
        # Device and inode of the file that was opened last.
        self._identity: tuple[int, int] | None = None
        self._damaged = False
        self._cooldown_seconds = cooldown_seconds
        self._cooldown_until = 0.0
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(self, verb: Callable[[sqlite3.Connection], T], *, writes: bool) -> T:
        """Run `verb` and return its result. If the caller is cancelled, the verb still completes.

        Raises:
            StateUnavailable: the file cannot be used, or the thread was closed.
        """
        job = _Job(verb, writes, asyncio.get_running_loop().create_future())
        with self._lock:
            if self._closed:
                raise StateUnavailable("The state is closed.")
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run_jobs, name="sqlite-state", daemon=True
                )
                self._thread.start()
            self._jobs.put(job)
        result: T = await job.future
        return result

    async def close(self) -> None:
        """Finish the waiting verbs, then close the file and end the thread. Idempotent."""
        with self._lock:
            if self._closed or self._thread is None:
                self._closed = True
                return
            self._closed = True
            end = _Job(None, False, asyncio.get_running_loop().create_future())
            self._jobs.put(end)
        await end.future

    def _run_jobs(self) -> None:
        while True:
            jobs = self._next_jobs()
            verbs = [job for job in jobs if job.verb is not None]
            together = (
                self._in_one_transaction(verbs) if sum(job.writes for job in verbs) > 1 else None
            )
            _deliver(verbs, [self._alone(job) for job in verbs] if together is None else together)
            if len(verbs) < len(jobs):
                self._disconnect()
                _deliver(jobs[-1:], [None])
                return

    def _next_jobs(self) -> list[_Job]:
        """The next job and those queued behind it, up to _MOST_PER_TRANSACTION. Waits for the first."""
        jobs = [self._jobs.get()]
        while len(jobs) < _MOST_PER_TRANSACTION and not self._jobs.empty():
            jobs.append(self._jobs.get())
        return jobs

    def _in_one_transaction(self, jobs: Sequence[_Job]) -> list[Any] | None:
        """All results; None if one job failed, which rolls all of them back."""
        if self._is_paused():
            return None
        try:
            connection = self._connected()
            with connection:  # commits, or rolls back
                connection.execute("BEGIN IMMEDIATE")
                return [job.verb(connection) for job in jobs if job.verb]
        except Exception as error:  # noqa: BLE001 - thread boundary; each job then runs alone and fails by itself
            self._translated(error)
            return None

    def _alone(self, job: _Job) -> Any:
        if self._is_paused():
            return StateUnavailable("The state file is locked by another process.")
        try:
            return job.verb(self._connected()) if job.verb else None
        except Exception as error:  # noqa: BLE001 - thread boundary; the caller gets the error
            return self._translated(error)

    def _is_paused(self) -> bool:
        return time.monotonic() < self._cooldown_until

    def _translated(self, error: Exception) -> Exception:
        """The error for the caller. Remembers a lock timeout or damage for the next verb."""
        import sqlite3

        if not isinstance(error, (sqlite3.Error, OSError)):
            return error
        if isinstance(error, sqlite3.Error) and is_locked(error):
            self._cooldown_until = time.monotonic() + self._cooldown_seconds
        if isinstance(error, sqlite3.Error) and is_damaged(error):
            self._disconnect()
            self._damaged = True
        unavailable = unusable(error)
        unavailable.__cause__ = error
        return unavailable

    def _connected(self) -> sqlite3.Connection:
        """The open connection; the first call opens it. Sets a damaged file aside and begins a new one.

        Raises:
            sqlite3.Error: the file cannot be opened.
            OSError: the folder or the file cannot be created or moved.
            StateUnavailable: a newer version of the gateway wrote the file.
        """
        import sqlite3

        if self._connection is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._opening_alone():
                if self._damaged:
                    self._set_aside()
                try:
                    self._connection = self._open()
                except sqlite3.DatabaseError as error:
                    if not is_damaged(error):
                        raise
                    self._set_aside()
                    self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        self._identity = _identity(created(self._path))
        connection = opened(self._path, self._timeout_seconds)
        try:
            too_new = "The state file was written by a newer version of the gateway."
            migrate(
                connection, MIGRATIONS, StateUnavailable(too_new, details={"reason": UNUSABLE_FILE})
            )
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_aside(self) -> None:
        """Move the damaged file away, unless another process was faster and this is its new file."""
        if self._identity and _identity(self._path) == self._identity:
            number = next(
                n for n in itertools.count(1) if not self._beside(f".corrupt-{n}").exists()
            )
            # The write-ahead log goes first: a new file must never see the old log.
            for suffix in ("-wal", "-shm", ""):
                with contextlib.suppress(FileNotFoundError):
                    self._beside(suffix).rename(self._beside(f".corrupt-{number}{suffix}"))
            _log.warning(
                "The state file was damaged. It is now *.corrupt-%d, and a new file replaces it.",
                number,
            )
        self._damaged = False

    def _beside(self, suffix: str) -> Path:
        return self._path.with_name(self._path.name + suffix)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextlib.contextmanager
    def _opening_alone(self) -> Iterator[None]:
        """Keep other processes from opening the file.

        SQLite's own locks cover neither the switch to WAL nor a rename. This lock is on an empty database beside the
        file, so the system releases it when a process dies.
        """
        import sqlite3

        beside = created(self._beside(".lock"))
        with contextlib.closing(sqlite3.connect(beside, timeout=self._timeout_seconds)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield


def _identity(path: Path) -> tuple[int, int] | None:
    with contextlib.suppress(FileNotFoundError):
        status = path.stat()
        return status.st_dev, status.st_ino
    return None


def _deliver(jobs: Sequence[_Job], outcomes: Sequence[Any]) -> None:
    """Pass the outcomes to the waiting event loops, waking each loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
    for job, outcome in zip(jobs, outcomes, strict=True):
        by_loop.setdefault(job.future.get_loop(), []).append((job.future, outcome))
    for loop, settled in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed, so its callers are gone
            loop.call_soon_threadsafe(_settle, settled)


def _settle(settled: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, outcome in settled:
        if future.done():  # its caller was cancelled
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)


_OVERHEAD_BYTES = 16_384  # pages that one write may add to the index and the tables
MEASURED_SECONDS = 0.05
"""How long the measured size of the file counts (seconds): the writes of one call; other processes write too."""
_USED = (
    "INSERT INTO uses VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET used = max(used, excluded.used)"
)
# Before each write, so in one statement.
_LIVE_BYTES = """
    SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
_BY_USE = """
    SELECT entries.key, length(value) FROM entries LEFT JOIN uses USING (key)
    WHERE typeof(value) = 'blob' AND ({ranges}) ORDER BY coalesce(used, 0)
"""


class SqliteLimit:
    """The size limit of one file. Used only from the thread of its connection.

    Args:
        most_bytes: the most bytes of the file, without its write-ahead log.
        evictable: prefixes of the keys that may be deleted. Counters are never deleted.
    """

    def __init__(self, most_bytes: int, evictable: Sequence[bytes]) -> None:
        self.most_bytes = most_bytes
        self.evictions = 0
        self._evictable = tuple(evictable)
        self._used: dict[bytes, float] = {}
        self._room = 0
        """The bytes that were free when the file was measured, less what was written since."""
        self._measured_at = -math.inf

    def use(self, key: bytes, now: float) -> None:
        """Record that an entry was read or written."""
        if key.startswith(self._evictable):
            self._used[key] = now

    def takes(self, key: bytes, size: int) -> bool:
        """Whether a value of this many bytes is small enough to store."""
        return not key.startswith(self._evictable) or size <= self.most_bytes * FREED_SHARE

    def make_room(self, db: sqlite3.Connection, size: int, now: float) -> None:
        """Save the recorded uses, and delete the least recently used entries if `size` more bytes do not fit."""
        if self._used:
            db.executemany(_USED, self._used.items())
            self._used.clear()
        self._room -= size + _OVERHEAD_BYTES
        if self._room >= 0 and abs(now - self._measured_at) < MEASURED_SECONDS:
            return
        self._measured_at = now
        self._room = self.most_bytes - live_bytes(db) - size - _OVERHEAD_BYTES
        if self._room < 0:
            self._evict(db, int(self.most_bytes * FREED_SHARE) - self._room)

    def _evict(self, db: sqlite3.Connection, least_bytes: int) -> None:
        ranges = " OR ".join("entries.key >= ? AND entries.key < ?" for _ in self._evictable)
        bounds = [
            bound
            for prefix in self._evictable
            for bound in (prefix, prefix[:-1] + bytes([prefix[-1] + 1]))
        ]
        keys: list[tuple[bytes]] = []
        freed = 0
        for key, length in db.execute(_BY_USE.format(ranges=ranges), bounds):
            if freed >= least_bytes:
                break
            keys.append((key,))
            freed += length
        db.executemany("DELETE FROM entries WHERE key = ?", keys)
        db.execute("DELETE FROM uses WHERE key NOT IN (SELECT key FROM entries)")
        self.evictions += len(keys)


def live_bytes(db: sqlite3.Connection) -> int:
    """The bytes of the pages that hold data. SQLite fills free pages before the file grows."""
    (size,) = db.execute(_LIVE_BYTES).fetchone()
    return int(size)
