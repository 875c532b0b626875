"""Connects to PostgreSQL and migrates its tables (https://www.psycopg.org/psycopg3/docs/)."""

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

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
