"""Pages, their chunks and vectors in SQLite. Functions of a connection inside a transaction."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urldefrag

from websearch_gateway.docs_index.models import ChunkDraft, PageDraft, UrlTask
from websearch_gateway.docs_index.section_id import content_of, section_ids
from websearch_gateway.docs_index.store.index_row import COLUMNS, index_row
from websearch_gateway.docs_index.store.packing import pack_vectors, unpack_vectors

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    from websearch_gateway.ports import Vectors

HEADING_SEPARATOR = "\x1f"
_COLUMNS = ", ".join(COLUMNS)
_UNINDEX = f"INSERT INTO chunks_fts (chunks_fts, rowid, {_COLUMNS}) VALUES ('delete', ?, ?, ?, ?, ?, ?)"
_INDEX = f"INSERT INTO chunks_fts (rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"


def commit(
    connection: sqlite3.Connection, task: UrlTask, page: PageDraft, vectors: Vectors | None, embedder: str, now: float
) -> None:
    """Put a page in place of the one that its address has; chunks that are in both keep their ids."""
    old = _stored(connection, task.id)
    page_id = _put_page(connection, task, page, now)
    ids = _put_chunks(connection, task.version_id, page_id, page, old)
    connection.execute("DELETE FROM symbols WHERE page_id = ?", (page_id,))
    connection.executemany(
        "INSERT INTO symbols VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(task.version_id, page_id, s.ordinal, s.name, last_part(s.name), s.kind, s.anchor) for s in page.symbols],
    )
    connection.execute("DELETE FROM vectors WHERE page_id = ?", (page_id,))
    if vectors is not None:
        put_vectors(connection, page_id, task.version_id, ids, vectors, embedder)


def put_vectors(
    connection: sqlite3.Connection, page_id: int, version_id: int, ids: Sequence[int], vectors: Vectors, embedder: str
) -> None:
    """Store the vectors of a page, one row per chunk."""
    import numpy as np

    connection.execute(
        """
        INSERT OR REPLACE INTO vectors (page_id, version_id, embedder, dimensions, chunk_ids, data)
        VALUES (?, ?, ?, ?, ?, ?)
        """,
        (page_id, version_id, embedder, vectors.shape[1], np.array(ids, "<i8").tobytes(), pack_vectors(vectors)),
    )


def add_vectors(connection: sqlite3.Connection, page_id: int, vectors: Vectors, embedder: str) -> None:
    """See `DocsStore.put_vectors`. A page that has changed meanwhile keeps what it has."""
    rows = connection.execute(
        "SELECT id, version_id FROM chunks WHERE page_id = ? ORDER BY ordinal", (page_id,)
    ).fetchall()
    if rows and len(rows) == len(vectors):
        put_vectors(connection, page_id, rows[0][1], [row[0] for row in rows], vectors, embedder)


def unembedded(connection: sqlite3.Connection, version_id: int, embedder: str, limit: int) -> list[int]:
    """The ids of pages that have no vectors of this embedder."""
    query = """
        SELECT id FROM pages WHERE version_id = ? AND NOT EXISTS (
            SELECT 1 FROM vectors WHERE page_id = pages.id AND embedder = ?
        ) LIMIT ?
    """
    return [row[0] for row in connection.execute(query, (version_id, embedder, limit))]


class StoredVectors(NamedTuple):
    """The packed vectors of a page."""

    id: int
    page_id: int
    version_id: int
    chunk_ids: NDArray[np.int64]
    data: bytes


def count_vectors(connection: sqlite3.Connection, embedder: str, dimensions: int) -> int:
    """How many pages have vectors of this embedder."""
    query = "SELECT count(*) FROM vectors WHERE embedder = ? AND dimensions = ?"
    return int(connection.execute(query, (embedder, dimensions)).fetchone()[0])


def vectors_after(
    connection: sqlite3.Connection, embedder: str, dimensions: int, after: int
) -> Iterator[StoredVectors]:
    """What was written after the row `after`, in order."""
    import numpy as np

    query = """
        SELECT id, page_id, version_id, chunk_ids, data FROM vectors
        WHERE id > ? AND embedder = ? AND dimensions = ? ORDER BY id
    """
    for id_, page_id, version_id, chunk_ids, data in connection.execute(query, (after, embedder, dimensions)):
        yield StoredVectors(id_, page_id, version_id, np.frombuffer(chunk_ids, "<i8"), data)


def known_vectors(connection: sqlite3.Connection, task: UrlTask, embedder: str) -> dict[str, Vectors]:
    """See `DocsStore.known_vectors`."""
    import numpy as np

    row = connection.execute(
        """
        SELECT vectors.dimensions, chunk_ids, data FROM vectors JOIN pages ON pages.id = vectors.page_id
        WHERE pages.url_id = ? AND embedder = ?
        """,
        (task.id, embedder),
    ).fetchone()
    if row is None:
        return {}
    scales, numbers = unpack_vectors(row[2], row[0])
    by_chunk = dict(zip(map(int, np.frombuffer(row[1], "<i8")), scales[:, None] * numbers, strict=True))
    sections = connection.execute(
        "SELECT chunks.id, section FROM chunks JOIN pages ON pages.id = page_id WHERE url_id = ?", (task.id,)
    )
    return {section.hex(): by_chunk[id_] for id_, section in sections if id_ in by_chunk}


def remove_pages(connection: sqlite3.Connection, page_ids: Sequence[int]) -> None:
    """Remove pages with all that belongs to them alone."""
    for page_id in page_ids:
        (url_id,) = connection.execute("SELECT url_id FROM pages WHERE id = ?", (page_id,)).fetchone()
        for chunk_id, row in _stored(connection, url_id).values():
            connection.execute(_UNINDEX, (chunk_id, *row))
        for table in ("chunks", "symbols", "vectors"):
            connection.execute(f"DELETE FROM {table} WHERE page_id = ?", (page_id,))
        (body,) = connection.execute("DELETE FROM pages WHERE id = ? RETURNING body", (page_id,)).fetchone()
        _drop_body(connection, body)
        connection.execute(
            "UPDATE urls SET body_hash = NULL, etag = NULL, last_modified = NULL WHERE id = ?", (url_id,)
        )


def load_body(connection: sqlite3.Connection, body: bytes) -> str:
    """The Markdown of a page."""
    (data,) = connection.execute("SELECT data FROM bodies WHERE hash = ?", (body,)).fetchone()
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


def last_part(name: str) -> str:
    """The part of a dotted or coloned name that stands alone, without regard to case: what symbols are found by."""
    parts = [part for part in name.replace("::", ".").split(".") if part]
    return (parts[-1] if parts else name).casefold()


def split_headings(stored: str) -> tuple[str, ...]:
    """The headings of a stored chunk."""
    return tuple(stored.split(HEADING_SEPARATOR)) if stored else ()


_Stored = dict[bytes, tuple[int, tuple[str, ...]]]
"""The chunks of a page by their section: id, and what the text index holds of each."""


def _stored(connection: sqlite3.Connection, url_id: int) -> _Stored:
    page = connection.execute("SELECT id, title, body FROM pages WHERE url_id = ?", (url_id,)).fetchone()
    if page is None:
        return {}
    markdown = load_body(connection, page[2])
    found: _Stored = {}
    query = "SELECT id, section, start, stop, headings, before, after FROM chunks WHERE page_id = ?"
    for id_, section, start, stop, headings, before, after in connection.execute(query, (page[0],)):
        content = f"{before}{markdown[start:stop]}{after}"
        found[section] = id_, index_row(page[1], split_headings(headings), content)
    return found


def _put_page(connection: sqlite3.Connection, task: UrlTask, page: PageDraft, now: float) -> int:
    encoded = page.markdown.encode("utf-8", "surrogatepass")
    body = sha256(encoded).digest()
    if connection.execute("SELECT 1 FROM bodies WHERE hash = ?", (body,)).fetchone() is None:
        connection.execute("INSERT INTO bodies VALUES (?, ?)", (body, zlib.compress(encoded, 6)))
    (base,) = connection.execute("SELECT url FROM versions WHERE id = ?", (task.version_id,)).fetchone()
    before = connection.execute("SELECT body FROM pages WHERE url_id = ?", (task.id,)).fetchone()
    (page_id,) = connection.execute(
        """
        INSERT INTO pages (version_id, url_id, url, path, title, body, fetched_at) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (url_id) DO UPDATE SET url = excluded.url, path = excluded.path, title = excluded.title,
            body = excluded.body, fetched_at = excluded.fetched_at
        RETURNING id
        """,
        (task.version_id, task.id, page.url, relative_path(page.url, base), page.title, body, now),
    ).fetchone()
    if before is not None and before[0] != body:
        _drop_body(connection, before[0])
    return int(page_id)


def relative_path(url: str, base: str) -> str:
    """`url` relative to the folder of `base`; as it is, if it lies outside."""
    folder = urldefrag(base).url.rpartition("/")[0] + "/"
    return url.removeprefix(folder)


def _put_chunks(
    connection: sqlite3.Connection, version_id: int, page_id: int, page: PageDraft, old: _Stored
) -> list[int]:
    sections = [bytes.fromhex(section) for section in section_ids(page)]
    for section, (chunk_id, row) in old.items():
        if section not in sections:
            connection.execute(_UNINDEX, (chunk_id, *row))
            connection.execute("DELETE FROM chunks WHERE id = ?", (chunk_id,))
    ids = []
    for ordinal, (section, chunk) in enumerate(zip(sections, page.chunks, strict=True)):
        row = index_row(page.title, chunk.heading_path, content_of(chunk, page.markdown))
        place = (ordinal, chunk.start, chunk.stop, chunk.anchor)
        if (known := old.get(section)) is not None:
            connection.execute(
                "UPDATE chunks SET ordinal = ?, start = ?, stop = ?, anchor = ? WHERE id = ?", (*place, known[0])
            )
            if known[1] != row:
                connection.execute(_UNINDEX, (known[0], *known[1]))
                connection.execute(_INDEX, (known[0], *row))
            ids.append(known[0])
        else:
            ids.append(_insert_chunk(connection, version_id, page_id, section, place, chunk))
            connection.execute(_INDEX, (ids[-1], *row))
    return ids


def _insert_chunk(
    connection: sqlite3.Connection,
    version_id: int,
    page_id: int,
    section: bytes,
    place: tuple[int, int, int, str],
    chunk: ChunkDraft,
) -> int:
    headings = HEADING_SEPARATOR.join(chunk.heading_path)
    cursor = connection.execute(
        """
        INSERT INTO chunks (version_id, page_id, section, ordinal, start, stop, anchor, headings, before, after)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (version_id, page_id, section, *place, headings, chunk.before, chunk.after),
    )
    return cursor.lastrowid or 0


def _drop_body(connection: sqlite3.Connection, body: bytes) -> None:
    connection.execute(
        "DELETE FROM bodies WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM pages WHERE body = ?)", (body, body)
    )
