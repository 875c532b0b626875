"""The SQLite file itself: creates it, migrates it, and moves it aside if it is damaged. Blocking calls."""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.sql.sqlite import code, created, is_damaged, migrate, opened

if TYPE_CHECKING:
    import sqlite3

MIGRATIONS = (
    # A key is UTF-8 bytes, whose order is that of code points. A value is a BLOB; a counter is an INTEGER.
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


class SqliteFile:
    """One file and at most one connection to it. Used from one thread only.

    Args:
        path: absolute. Creates a missing file (mode 0600) and a missing folder (mode 0700).
        timeout_seconds: seconds to wait for a lock that another process holds.
    """

    def __init__(self, path: Path, *, timeout_seconds: float) -> None:
        self._path = path
        self._timeout_seconds = timeout_seconds
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._damaged = False

    def connection(self) -> sqlite3.Connection:
        """The open connection; the first call opens it. Moves a damaged file aside and creates a new one.

        Raises:
            sqlite3.Error: the file cannot be opened.
            OSError: the folder or the file cannot be created or moved.
            StateUnavailable: a newer version of the gateway wrote the file.
        """
        if self._connection is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._opening_alone():
                self._connection = self._open_checked()
        return self._connection

    def close(self, *, damaged: bool = False) -> None:
        """Close the connection, if any. If `damaged`, the next `connection` moves the file aside."""
        self._damaged = damaged
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextlib.contextmanager
    def _opening_alone(self) -> Iterator[None]:
        """Keep other processes from opening the file.

        SQLite's own locks cover neither the switch to WAL nor a rename. This lock is on an empty
        database beside the file, so the system releases it when a process dies.
        """
        import sqlite3

        with contextlib.closing(
            sqlite3.connect(created(self._sibling(".lock")), timeout=self._timeout_seconds)
        ) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield

    def _open_checked(self) -> sqlite3.Connection:
        import sqlite3

        if self._damaged:
            self._set_aside()
        try:
            return self._open()
        except sqlite3.DatabaseError as error:
            if not is_damaged(error):
                raise
        self._set_aside()
        return self._open()

    def _set_aside(self) -> None:
        self._damaged = False
        if self._identity is None or _identity(self._path) != self._identity:
            return  # another process was faster, and this is its new file
        number = next(n for n in itertools.count(1) if not self._sibling(f".corrupt-{n}").exists())
        # The write-ahead log goes first: a new file must never see the old log.
        for suffix in ("-wal", "-shm", ""):
            with contextlib.suppress(FileNotFoundError):
                self._sibling(suffix).rename(self._sibling(f".corrupt-{number}{suffix}"))
        _log.warning("The state file was damaged. It is now *.corrupt-%d, and a new file replaces it.", number)

    def _sibling(self, suffix: str) -> Path:
        return self._path.with_name(self._path.name + suffix)

    def _open(self) -> sqlite3.Connection:
        self._identity = _identity(created(self._path))
        connection = opened(self._path, self._timeout_seconds)
        try:
            migrate(
                connection,
                MIGRATIONS,
                StateUnavailable(
                    "The state file was written by a newer version of the gateway.", details={"reason": UNUSABLE_FILE}
                ),
            )
        except BaseException:
            connection.close()
            raise
        return connection


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
