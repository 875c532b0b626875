"""Opens and checks the SQLite file of the index. Several threads use it, so a search never waits for a crawl."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from websearch_gateway.docs_index.store.sql.database import Database
from websearch_gateway.docs_index.store.sqlite.database import SqliteDatabase
from websearch_gateway.docs_index.store.sqlite.schema import migrate
from websearch_gateway.errors import StateUnavailable

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

PATIENCE_SECONDS = 10.0
"""How long a transaction waits for the lock of another process. A crawl's transactions take milliseconds."""
STEPS_BETWEEN_LOOKS = 10_000
"""How often a statement looks whether it should stop, in steps of SQLite's machine: less than a millisecond."""
LARGEST_CHECKED_BYTES = 300_000_000
"""A file with more bytes is not checked on opening, because that would take seconds."""
ELSEWHERE = "DATA_DIR or DOCS_URL may name a folder that can be written."
LEAST_FREE_BYTES = 1_000_000
"""On a disk with fewer, an error of the device means that it is full: SQLite's shared memory finds no room."""


class SqliteFile:
    """One file with a connection that writes, one that reads, and several that search, each in a thread of its own.

    Opened by the first call.

    Args:
        path: absolute; a missing file is created for the owner only (0600), a missing folder too (0700).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer = _Connection(self._open_checked, "docs-write")
        self._reader = _Connection(self._open, "docs-read")
        self._searchers: list[_Connection] = []
        self._idle_searchers: list[_Connection] = []
        self._ready = asyncio.Lock()
        self._is_ready = False

    async def write(self, action: Callable[[Database], T]) -> T:
        """The result of `action`, run in one transaction that holds the write lock.

        Raises:
            StateUnavailable: the file is locked for too long, damaged, full or cannot be opened.
        """

        def transaction(connection: sqlite3.Connection) -> T:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                return action(SqliteDatabase(connection))

        self._is_ready = True
        return await self._run(self._writer, transaction)

    async def read(self, action: Callable[[Database], T]) -> T:
        """The result of `action`, which only reads, run in one transaction. Raises what `write` raises."""
        return await self._read(self._reader, action)

    async def search(self, action: Callable[[Database], T]) -> T:
        """As `read`, beside others. Cancelling the call stops its statement."""
        if not self._idle_searchers:
            self._idle_searchers.append(_Connection(self._open, "docs-search", stoppable=True))
            self._searchers += self._idle_searchers
        searcher = self._idle_searchers.pop()
        try:
            return await self._read(searcher, action)
        finally:
            self._idle_searchers.append(searcher)

    async def close(self) -> None:
        """Wait for running actions, then close the file. Idempotent."""
        await asyncio.gather(*(one.close() for one in (self._reader, self._writer, *self._searchers)))

    async def _read(self, connection: _Connection, action: Callable[[Database], T]) -> T:
        async with self._ready:
            if not self._is_ready:  # the writer creates the tables
                await self._run(self._writer, lambda _: None)
                self._is_ready = True

        def transaction(db: sqlite3.Connection) -> T:
            with db:
                db.execute("BEGIN")
                return action(SqliteDatabase(db))

        return await self._run(connection, transaction)

    async def _run(self, connection: _Connection, action: Callable[[sqlite3.Connection], T]) -> T:
        def translated(db: sqlite3.Connection) -> T:
            with self._translating():
                return action(db)

        return await connection.run(translated)

    @contextlib.contextmanager
    def _translating(self) -> Iterator[None]:
        import sqlite3

        try:
            yield
        except sqlite3.Error as error:
            raise self._unavailable(error) from error
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise StateUnavailable(
                f"The documentation index {self.path} cannot be opened: {reason}. {ELSEWHERE}"
            ) from error

    def _unavailable(self, error: sqlite3.Error) -> StateUnavailable:
        import sqlite3

        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return self._damaged()
        if code == sqlite3.SQLITE_BUSY:
            return StateUnavailable("Another process keeps the documentation index locked. Try again.", retry_after=5)
        has_room = shutil.disk_usage(self.path.parent).free >= LEAST_FREE_BYTES
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and not has_room):
            return StateUnavailable(
                f"The disk that holds {self.path} is full. Free some space and try again. {ELSEWHERE}"
            )
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        cure = f" {ELSEWHERE}" if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) else ""
        return StateUnavailable(f"The documentation index {self.path} cannot be used ({name}).{cure}")

    def _damaged(self) -> StateUnavailable:
        return StateUnavailable(
            f"The documentation index {self.path} is damaged. Move the file away and add the sites again, or import "
            f"an export; `sqlite3 {self.path.name} .recover` may rescue its contents."
        )

    def _open_checked(self) -> sqlite3.Connection:
        """The writing connection. Checks for damage, unless the file is very large."""
        with self._translating():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            connection = self._open()
            try:
                if self.path.stat().st_size <= LARGEST_CHECKED_BYTES:
                    self._check(connection)
                migrate(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def _check(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise self._damaged()

    def _open(self) -> sqlite3.Connection:
        import sqlite3

        with self._translating():
            connection = sqlite3.connect(
                self.path, timeout=PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                # In WAL mode NORMAL can lose the last commits in a power cut, never the file: https://sqlite.org/pragma.html
                connection.execute("PRAGMA synchronous = NORMAL")
            except BaseException:
                connection.close()
                raise
            return connection


class _Connection:
    """A connection and the one thread that uses it.

    Args:
        stoppable: whether a cancelled call stops its action. If not, the action runs to its end.
    """

    def __init__(
        self, open_connection: Callable[[], sqlite3.Connection], name: str, *, stoppable: bool = False
    ) -> None:
        self._open = open_connection
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._connection: sqlite3.Connection | None = None
        self._stoppable = stoppable
        self._stopped = False
        self._closed = False

    async def run(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `action`. A cancelled call ends when its action has ended, if it is stoppable, else at once."""
        if self._closed:
            raise StateUnavailable("The documentation index is closed.")
        self._stopped = False
        running = asyncio.get_running_loop().run_in_executor(self._thread, self._act, action)
        if not self._stoppable:
            return await running
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            self._stopped = True
            await asyncio.gather(running, return_exceptions=True)
            raise

    def _act(self, action: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = self._open()
            if self._stoppable:  # the handler stops the running statement when it returns true
                self._connection.set_progress_handler(lambda: self._stopped, STEPS_BETWEEN_LOOKS)
        return action(self._connection)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._end)
            self._thread.shutdown()

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
