"""The tables in PostgreSQL, in a schema of their own. They equal SQLite's, except for the two indexes of chunks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.sql import migration

if TYPE_CHECKING:
    from psycopg import Connection


SCHEMA = "websearch_docs"
_LOCK = 0x646F6373  # a number that nothing else locks; "docs"

_FIRST = """
CREATE TABLE versions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, label text NOT NULL, url text NOT NULL,
    options text NOT NULL, status text NOT NULL, reason text NOT NULL DEFAULT '', generation integer NOT NULL DEFAULT 0,
    added_at double precision NOT NULL, indexed_at double precision, refresh_at double precision,
    machine text, pid bigint, started double precision, heartbeat double precision, lease_until double precision,
    UNIQUE (name, label)
);
CREATE TABLE urls (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, version_id bigint NOT NULL, url text NOT NULL,
    depth integer NOT NULL, state text NOT NULL DEFAULT 'due', due double precision NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0, reason text NOT NULL DEFAULT '', etag text, last_modified text,
    body_hash text, final_url text, links bytea, seen integer NOT NULL, missing integer NOT NULL DEFAULT 0,
    missing_since double precision, UNIQUE (version_id, url)
);
CREATE INDEX urls_due ON urls (version_id, state, due);
CREATE INDEX urls_body ON urls (version_id, body_hash) WHERE body_hash IS NOT NULL;
CREATE TABLE hosts (
    host text PRIMARY KEY, robots text, robots_at double precision NOT NULL DEFAULT 0,
    next_at double precision NOT NULL DEFAULT 0, reason text NOT NULL DEFAULT ''
);
CREATE TABLE bodies (hash bytea PRIMARY KEY, data bytea NOT NULL);
ALTER TABLE bodies ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE pages (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, version_id bigint NOT NULL, url_id bigint NOT NULL UNIQUE,
    url text NOT NULL, path text NOT NULL, title text NOT NULL, body bytea NOT NULL,
    fetched_at double precision NOT NULL
);
CREATE INDEX pages_version ON pages (version_id);
CREATE INDEX pages_url ON pages (url);
CREATE INDEX pages_body ON pages (body);
CREATE TABLE chunks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, version_id bigint NOT NULL, page_id bigint NOT NULL,
    ordinal integer NOT NULL, section bytea NOT NULL, start integer NOT NULL, stop integer NOT NULL,
    headings text NOT NULL, anchor text NOT NULL, before text NOT NULL, after text NOT NULL, words tsvector
);
CREATE INDEX chunks_page ON chunks (page_id, ordinal);
CREATE INDEX chunks_section ON chunks (section);
CREATE INDEX chunks_words ON chunks USING gin (words) WITH (fastupdate = off);
CREATE TABLE symbols (
    rowid bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, version_id bigint NOT NULL, page_id bigint NOT NULL,
    ordinal integer NOT NULL, name text NOT NULL, last text NOT NULL, kind text NOT NULL, anchor text NOT NULL
);
CREATE INDEX symbols_last ON symbols (last);
CREATE INDEX symbols_page ON symbols (page_id);
CREATE TABLE vectors (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, page_id bigint NOT NULL UNIQUE, version_id bigint NOT NULL,
    embedder text NOT NULL, dimensions integer NOT NULL, chunk_ids bytea NOT NULL, data bytea NOT NULL
);
ALTER TABLE vectors ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX vectors_version ON vectors (version_id);
CREATE TABLE near (
    chunk_id bigint PRIMARY KEY, page_id bigint NOT NULL, version_id bigint NOT NULL, embedder text NOT NULL,
    dimensions integer NOT NULL, vector halfvec NOT NULL
);
CREATE INDEX near_page ON near (page_id);
CREATE TABLE near_indexes (dimensions integer PRIMARY KEY);
"""

_RANKED = """
DROP INDEX symbols_last;
CREATE INDEX symbols_last ON symbols
    (last, (CASE kind WHEN 'api' THEN 0 WHEN 'option' THEN 1 ELSE 2 END), length(name), version_id);
CREATE INDEX symbols_name ON symbols
    (lower(name), (CASE kind WHEN 'api' THEN 0 WHEN 'option' THEN 1 ELSE 2 END), name, version_id);
"""
"""The definitions of a name are read in their order, up to a limit."""

_DEATHS = """
ALTER TABLE urls ADD COLUMN deaths integer NOT NULL DEFAULT 0;
CREATE INDEX urls_deaths ON urls (version_id) WHERE deaths > 0;
ALTER TABLE versions ADD COLUMN reading text NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN died_reading text NOT NULL DEFAULT '';
"""


def _make_tables(connection: Connection) -> None:
    """The first tables, and the extension that they need."""
    from psycopg import errors

    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    except (errors.FeatureNotSupported, errors.UndefinedFile, errors.InsufficientPrivilege) as error:
        raise StateUnavailable(
            "The documentation index needs the extension `vector` in PostgreSQL. Install pgvector 0.7 or newer "
            "(https://github.com/pgvector/pgvector) and let an administrator run CREATE EXTENSION vector."
        ) from error
    connection.execute(_FIRST)


def _index_texts_again(connection: Connection) -> None:
    """The words are stemmed as SQLite stems them, and counted: a minute for 30,000 chunks."""
    from websearch_gateway.docs_index.store.pages import stored_rows
    from websearch_gateway.docs_index.store.postgres import PostgresDatabase

    db = PostgresDatabase(connection, None)
    connection.execute("ALTER TABLE chunks ADD COLUMN length integer NOT NULL DEFAULT 0")
    for (url_id,) in connection.execute("SELECT url_id FROM pages").fetchall():
        db.index_text(list(stored_rows(db, url_id).values()))


MIGRATIONS: tuple[str | Callable[[Connection], None], ...] = (_make_tables, _RANKED, _DEATHS, _index_texts_again)
"""Step n (from 1), a script or a function, takes the tables from version n - 1 to n. Only ever append."""


def migrate(connection: Connection) -> None:
    """Bring the tables up to date, in a transaction; other processes wait for its end.

    Raises:
        StateUnavailable: a newer version of the gateway wrote them, or the extension is not installed.
    """
    too_new = StateUnavailable("A newer version of the gateway wrote the documentation index. Update this one.")
    steps = migration("schema_version", _LOCK, MIGRATIONS, too_new)
    with connection.transaction(), contextlib.suppress(StopIteration):
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        step = next(steps)
        while True:
            if callable(step):
                step(connection)
                step = steps.send([])
            else:
                cursor = connection.execute(*step)
                step = steps.send(cursor.fetchall() if cursor.description else [])
