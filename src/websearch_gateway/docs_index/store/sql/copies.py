"""Reads and writes whole pages, for copying a version from one store to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from websearch_gateway.docs_index.models import ChunkDraft, PageDraft, StoredPage, Symbol, UrlTask
from websearch_gateway.docs_index.store.packing import unpack_ids, unpack_vectors
from websearch_gateway.docs_index.store.sql import frontier, pages
from websearch_gateway.docs_index.store.sql.database import MOST_VALUES, Database, IndexRow, marks
from websearch_gateway.docs_index.store.sql.prepared import PreparedPage

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


def put(db: Database, version_id: int, stored: Sequence[tuple[StoredPage, PreparedPage]], embedder: str) -> None:
    """Write pages. If several have the same address, the last one is written."""
    by_address = {page.address: (page, ready) for page, ready in stored}
    depths = {link: 1 for page, _ in by_address.values() for link in page.links} | dict.fromkeys(by_address, 0)
    ids = frontier.url_ids(db, version_id, depths, "skipped")  # an address without a page is due at the next refresh
    new: list[IndexRow] = []
    for address, (page, ready) in by_address.items():
        task = UrlTask(ids[address], version_id, address)
        new += pages.commit(db, task, ready, embedder, page.fetched_at)
        frontier.finish_page(db, task, page.draft, [ids[link] for link in page.links])
    # At the end, because an insert with RETURNING sets a savepoint in SQLite, at which FTS5 writes out its buffer.
    db.index_text(new)


def _chunks(db: Database, page_id: int) -> tuple[ChunkDraft, ...]:
    query = "SELECT start, stop, headings, anchor, before, after FROM chunks WHERE page_id = ? ORDER BY ordinal"
    return tuple(
        ChunkDraft(start, stop, pages.split_headings(headings), own, opening, closing, inner)
        for start, stop, headings, anchors, opening, closing in db.execute(query, (page_id,))
        for own, inner in (pages.split_anchors(anchors),)
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
