"""What the state and the documentation index share of SQLite and PostgreSQL: opening, and bringing tables up to date.

Blocking calls for SQLite; https://www.psycopg.org/psycopg3/docs/ for PostgreSQL.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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

    connection = sqlite3.connect(
        path, timeout=patience, isolation_level=None, check_same_thread=False
    )
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
        # again, under the lock: another process may have been faster.
        version = _version(connection)
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


CONNECTION = {
    "autocommit": True,
    "application_name": "websearch-gateway",
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
"""The options of every connection."""


def quieten() -> None:
    """Silence the pool's warnings: they quote libpq's messages about the URL, which may contain part of a malformed
    password."""
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)


class Statement(NamedTuple):
    """A statement, and the values in place of its `%s`."""

    text: Any
    values: Sequence[Any] = ()


def migration(
    table: str, lock: int, steps: Sequence[Any], too_new: Exception
) -> Generator[Statement | Any, list[tuple[Any, ...]], None]:
    """What to run in one transaction to bring tables up to date. Other processes wait for its end.

    Yields statements, and takes their rows; a step that is not a text is yielded as it is. Step n (from 1) takes the
    tables from version n - 1 to n.

    Args:
        table: where the version is kept.
        lock: a number that nothing else locks.

    Raises:
        too_new: a newer version of the gateway wrote the tables.
    """
    yield Statement("SELECT pg_advisory_xact_lock(%s)", (lock,))
    yield Statement(f"CREATE TABLE IF NOT EXISTS {table} (version integer NOT NULL)")
    ((version,),) = yield Statement(f"SELECT coalesce(max(version), 0) FROM {table}")
    if version > len(steps):
        raise too_new
    for number, step in enumerate(steps[version:], version + 1):
        yield Statement(step) if isinstance(step, str) else step
        yield Statement(f"INSERT INTO {table} VALUES (%s)", (number,))
