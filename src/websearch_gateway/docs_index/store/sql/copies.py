"""Whole pages out of the store and into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from websearch_gateway.docs_index.models import ChunkDraft, PageDraft, StoredPage, Symbol, UrlTask
from websearch_gateway.docs_index.store.packing import unpack_ids, unpack_vectors
from websearch_gateway.docs_index.store.sql import frontier, pages
from websearch_gateway.docs_index.store.sql.database import MOST_VALUES, Database, IndexRow, marks

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


def after(db: Database, version_id: int, embedder: str, page_id: int, count: int) -> list[tuple[int, StoredPage]]:
    """Up to `count` pages whose ids are above `page_id`, in the order of their ids."""
    rows = db.execute(
        """
        SELECT pages.id, pages.url, title, body, fetched_at, urls.url, etag, last_modified, body_hash, links
        FROM pages JOIN urls ON urls.id = url_id WHERE pages.version_id = ? AND pages.id > ? ORDER BY pages.id LIMIT ?
        """,
        (version_id, page_id, count),
    ).fetchall()
    found = []
    for id_, url, title, body, fetched_at, address, etag, last_modified, body_hash, links in rows:
        draft = PageDraft(
            url=url,
            title=title,
            markdown=pages.load_body(db, body),
            chunks=_chunks(db, id_),
            symbols=_symbols(db, id_),
            etag=etag,
            last_modified=last_modified,
            body_hash=body_hash or "",
        )
        page = StoredPage(address, draft, _links(db, links), fetched_at, _vectors(db, id_, embedder))
        found.append((id_, page))
    return found


def put(db: Database, version_id: int, stored: Sequence[StoredPage], embedder: str) -> None:
    """Write pages as they were fetched; of several at one address, the last."""
    new: list[IndexRow] = []
    for page in {page.address: page for page in stored}.values():
        frontier.add_urls(db, version_id, {page.address: 0})
        query = "SELECT id FROM urls WHERE version_id = ? AND url = ?"
        (url_id,) = db.execute(query, (version_id, page.address)).fetchone()
        task = UrlTask(url_id, version_id, page.address)
        new += pages.commit(db, task, page.draft, page.vectors, embedder, page.fetched_at)
        frontier.finish_page(db, task, page.draft, page.links)
    # At the end: inserts with RETURNING set a savepoint in SQLite, at which FTS5 writes out what it has gathered.
    db.index_text(new)


def _chunks(db: Database, page_id: int) -> tuple[ChunkDraft, ...]:
    query = "SELECT start, stop, headings, anchor, before, after FROM chunks WHERE page_id = ? ORDER BY ordinal"
    return tuple(
        ChunkDraft(start, stop, pages.split_headings(headings), anchor, before, behind)
        for start, stop, headings, anchor, before, behind in db.execute(query, (page_id,))
    )


def _symbols(db: Database, page_id: int) -> tuple[Symbol, ...]:
    query = "SELECT name, kind, anchor, ordinal FROM symbols WHERE page_id = ? ORDER BY rowid"
    return tuple(Symbol(*row) for row in db.execute(query, (page_id,)))


def _links(db: Database, packed: bytes | None) -> tuple[str, ...]:
    ids = unpack_ids(packed)
    found: list[str] = []
    for start in range(0, len(ids), MOST_VALUES):
        some = ids[start : start + MOST_VALUES]
        query = f"SELECT url FROM urls WHERE id IN ({marks(some)}) ORDER BY id"
        found += [row[0] for row in db.execute(query, some)]
    return tuple(found)


def _vectors(db: Database, page_id: int, embedder: str) -> Vectors | None:
    query = "SELECT dimensions, data FROM vectors WHERE page_id = ? AND embedder = ?"
    row = db.execute(query, (page_id, embedder)).fetchone()
    if row is None:
        return None
    scales, numbers = unpack_vectors(row[1], row[0])
    scaled: Vectors = scales[:, None] * numbers
    return scaled
