"""The tables of the SQLite file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from websearch_gateway.sql import Step

if TYPE_CHECKING:
    import sqlite3


_FIRST = """
CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, label TEXT NOT NULL, url TEXT NOT NULL,
    options TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', generation INTEGER NOT NULL DEFAULT 0,
    added_at REAL NOT NULL, indexed_at REAL, refresh_at REAL,
    machine TEXT, pid INTEGER, started REAL, heartbeat REAL, lease_until REAL, UNIQUE (name, label)
);
-- The frontier and the ledger in one. `links` are the ids of the addresses that the page links to, packed.
CREATE TABLE urls (
    id INTEGER PRIMARY KEY, version_id INTEGER NOT NULL, url TEXT NOT NULL, depth INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'due', due REAL NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '', etag TEXT, last_modified TEXT, body_hash TEXT, final_url TEXT, links BLOB,
    seen INTEGER NOT NULL, missing INTEGER NOT NULL DEFAULT 0, missing_since REAL, UNIQUE (version_id, url)
);
CREATE INDEX urls_due ON urls (version_id, state, due);
CREATE INDEX urls_body ON urls (version_id, body_hash) WHERE body_hash IS NOT NULL;
CREATE TABLE hosts (
    host TEXT PRIMARY KEY, robots TEXT, robots_at REAL NOT NULL DEFAULT 0, next_at REAL NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT ''
);
-- Markdown, compressed, by the hash of its text. Pages of several versions share it.
CREATE TABLE bodies (hash BLOB PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, url_id INTEGER NOT NULL UNIQUE,
    url TEXT NOT NULL, path TEXT NOT NULL, title TEXT NOT NULL, body BLOB NOT NULL, fetched_at REAL NOT NULL
);
CREATE INDEX pages_version ON pages (version_id);
CREATE INDEX pages_url ON pages (url);
CREATE INDEX pages_body ON pages (body);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, page_id INTEGER NOT NULL,
    ordinal INTEGER NOT NULL, section BLOB NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
    headings TEXT NOT NULL, anchor TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL
);
CREATE INDEX chunks_page ON chunks (page_id, ordinal);
CREATE INDEX chunks_section ON chunks (section);
CREATE TABLE symbols (
    version_id INTEGER NOT NULL, page_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    name TEXT NOT NULL, last TEXT NOT NULL, kind TEXT NOT NULL, anchor TEXT NOT NULL
);
CREATE INDEX symbols_last ON symbols (last);
CREATE INDEX symbols_page ON symbols (page_id);
-- One row per page. A new `id` tells other processes that the page changed.
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT, page_id INTEGER NOT NULL UNIQUE, version_id INTEGER NOT NULL,
    embedder TEXT NOT NULL, dimensions INTEGER NOT NULL, chunk_ids BLOB NOT NULL, data BLOB NOT NULL
);
-- The text of a row is not kept: it follows from its chunk (`index_row`), and a delete must repeat it.
CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    title, path, parts, code, text, content = 'chunks', content_rowid = 'id',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
"""

_COUNTED = "CREATE INDEX vectors_version ON vectors (version_id, embedder)"
"""Without it, counting the vectors of a version reads all of them: 15 ms of each search at 28,000 chunks."""

_RANKED = """
DROP INDEX symbols_last;
CREATE INDEX symbols_last ON symbols
    (last, (CASE kind WHEN 'api' THEN 0 WHEN 'option' THEN 1 ELSE 2 END), length(name), version_id);
CREATE INDEX IF NOT EXISTS symbols_name ON symbols
    (lower(name), (CASE kind WHEN 'api' THEN 0 WHEN 'option' THEN 1 ELSE 2 END), name, version_id)
"""
"""The definitions of a name are read in their order, up to a limit; sorting 200,000 of them took two seconds."""

_DEATHS = """
ALTER TABLE urls ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
CREATE INDEX urls_deaths ON urls (version_id) WHERE deaths > 0;
ALTER TABLE versions ADD COLUMN reading TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN died_reading TEXT NOT NULL DEFAULT ''
"""
"""`deaths` counts the owners in a row that died with the address in work. `reading` is the list that the owner reads,
`died_reading` the one that the owner before it was reading when it died."""


def _index_texts_again(connection: sqlite3.Connection) -> None:
    """The text index rows of Chinese, Japanese and Korean have changed; ten seconds for 30,000 chunks."""
    from websearch_gateway.docs_index.store.pages import stored_rows
    from websearch_gateway.docs_index.store.sqlite import SqliteDatabase

    db = SqliteDatabase(connection)
    connection.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')")
    for (url_id,) in connection.execute("SELECT url_id FROM pages").fetchall():
        db.index_text(list(stored_rows(db, url_id).values()))


MIGRATIONS: tuple[Step, ...] = (_FIRST, _COUNTED, _index_texts_again, _RANKED, _DEATHS)
"""Step n (from 1) takes a file from version n - 1 to n. Only ever append."""
