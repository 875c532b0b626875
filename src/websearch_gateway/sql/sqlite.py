"""Creates, opens and migrates a SQLite file. Blocking calls."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

Step = str | Callable[["sqlite3.Connection"], None]
"""A script without a semicolon inside a statement, or a function."""


def created(path: Path) -> Path:
    """`path`, created with mode 0600 if it was missing.

    Raises:
        OSError: it cannot be created.
    """
    # Do not open an existing file: closing a file that SQLite has open drops SQLite's locks on it.
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return path


def opened(path: Path, patience: float) -> sqlite3.Connection:
    """A connection that any one thread at a time may use, and that opens no transaction by itself.

    Args:
        patience: seconds to wait for a lock that another process holds.
    """
    import sqlite3

    connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # In WAL mode NORMAL can lose the last commits in a power cut, never the file: https://sqlite.org/pragma.html
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def migrate(connection: sqlite3.Connection, steps: Sequence[Step], too_new: Exception) -> None:
    """Bring the tables up to date. Step n (from 1) takes a file from version n - 1 to n.

    Raises:
        too_new: a newer version of the gateway wrote the file.
    """
    if _version(connection) == len(steps):
        return
    with connection:  # commits, or rolls back
        connection.execute("BEGIN IMMEDIATE")
        version = _version(connection)  # again, under the lock: another process may have been faster
        if version > len(steps):
            raise too_new
        for number, step in enumerate(steps[version:], version + 1):
            if callable(step):
                step(connection)
            else:
                for statement in step.split(";"):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number:d}")


def _version(connection: sqlite3.Connection) -> int:
    ((version,),) = connection.execute("PRAGMA user_version")
    return int(version)


def code(error: sqlite3.Error) -> int:
    """The primary result code of an error (https://sqlite.org/rescode.html); 0 if it has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether `error` means that the file is damaged or not a SQLite database."""
    import sqlite3

    return code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_locked(error: sqlite3.Error) -> bool:
    """Whether `error` means that another process kept the file locked for longer than our patience."""
    import sqlite3

    return code(error) == sqlite3.SQLITE_BUSY
