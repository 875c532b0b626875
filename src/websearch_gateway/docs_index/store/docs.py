"""The documentation index in SQL: `SqlDocs` joins the transactions of the other modules with those of searches."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from websearch_gateway.docs_index.models import (
    Chunk,
    ChunkDraft,
    PageDraft,
    PageFacts,
    ScoredChunk,
    StoredPage,
    Symbol,
    SymbolMatch,
    UrlTask,
)
from websearch_gateway.docs_index.store.crawls import MOST_ALIASES, Frontier, Versions, finish_page, note_urls
from websearch_gateway.docs_index.store.database import (
    Database,
    IndexRow,
    Transacted,
    in_parts,
    marks,
    read,
    search,
    unpack_ids,
    unpack_vectors,
)
from websearch_gateway.docs_index.store.pages import (
    HEADING_SEPARATOR,
    Pages,
    PreparedPage,
    commit,
    last_part,
    load_body,
    prepared,
    split_anchors,
    split_headings,
)

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


MOST_CHUNKS = 2**31 - 1
LONGEST_TITLE = 300
"""The most characters of a title or heading that are shown: a longer one would leave no room for other results."""
_CHUNK = """
    SELECT chunks.id, section, chunks.version_id, page_id, ordinal, url, path, anchor, title, headings,
        start, stop, before, after, fetched_at, body
    FROM chunks JOIN pages ON pages.id = page_id
"""
_ORDER = "CASE kind WHEN 'api' THEN 0 WHEN 'option' THEN 1 ELSE 2 END"
_DEFINITIONS = f"""
    SELECT name, kind, chunks.id, chunks.page_id, chunks.version_id, symbols.anchor
    FROM (
        SELECT * FROM (
            SELECT rowid AS symbol FROM symbols
            WHERE lower(name) = lower(CAST(? AS TEXT)) AND name || '' = ? AND {{within}} ORDER BY {_ORDER} LIMIT ?
        ) AS exact UNION SELECT * FROM (
            SELECT rowid FROM symbols
            WHERE lower(name) = lower(CAST(? AS TEXT)) AND {{within}} ORDER BY {_ORDER} LIMIT ?
        ) AS folded UNION SELECT * FROM (
            SELECT rowid FROM symbols WHERE last = ? AND {{within}} ORDER BY {_ORDER}, length(name) LIMIT ?
        ) AS alike
    ) AS best JOIN symbols ON symbols.rowid = symbol
    JOIN chunks ON chunks.page_id = symbols.page_id AND chunks.ordinal = symbols.ordinal
"""
"""The best definitions of one name. Each of the three searches reads an index in its order and stops at its limit, so
that a site with 200,000 names that end alike costs no more than another. (With a plain `name = ?` SQLite puts the value
into `lower(name)` too, and then finds no index.)"""
_STOP = 11
"""The column `stop` of `_CHUNK`."""


def page_chunks(db: Database, page_id: int, start: int = 0, stop: int | None = None) -> list[Chunk]:
    """The chunks of a page whose ordinals are in `start` <= ordinal < `stop`, in order; to the end without it."""
    where = "WHERE page_id = ? AND ordinal >= ? AND ordinal < ? ORDER BY ordinal"
    most = MOST_CHUNKS if stop is None else stop
    return _chunks(db, db.execute(f"{_CHUNK} {where}", (page_id, start, most)).fetchall())


def load_with_starts(db: Database, ids: Sequence[int], chunk: Chunk) -> list[Chunk]:
    """The chunks with these ids, in this order, and those in which the sections begin that `chunk` of the same page is
    in, the innermost first."""
    path = chunk.heading_path
    stored = [HEADING_SEPARATOR.join(path[:depth]) for depth in range(len(path) + 1)]
    starts = f"SELECT min(ordinal) FROM chunks WHERE page_id = ? AND headings IN ({marks(stored)}) GROUP BY headings"
    where = f"WHERE page_id = ? AND (chunks.id IN ({marks(ids)}) OR ordinal = 0 OR ordinal IN ({starts}))"
    rows = db.execute(f"{_CHUNK} {where}", (chunk.page_id, *ids, chunk.page_id, *stored)).fetchall()
    place = {id_: rank for rank, id_ in enumerate(ids)}
    return sorted(_chunks(db, rows), key=lambda one: (place.get(one.id, len(ids)), -one.ordinal))


def _chunks(db: Database, rows: Sequence[tuple[Any, ...]], *, with_text: bool = True) -> list[Chunk]:
    if not with_text:
        return [_chunk(row, "") for row in rows]
    until: dict[bytes, int] = {}
    for row in rows:
        until[row[-1]] = max(until.get(row[-1], 0), row[_STOP])
    bodies = {body: load_body(db, body, most) for body, most in until.items()}
    return [_chunk(row, bodies[row[-1]]) for row in rows]


def _chunk(row: tuple[Any, ...], markdown: str) -> Chunk:
    id_, section, version_id, page_id, ordinal, url, path, anchor, title, headings, *rest = row
    start, stop, before, after, fetched_at, _ = rest
    anchor, inner = split_anchors(anchor)
    return Chunk(
        id=id_,
        section_id=section.hex(),
        version_id=version_id,
        page_id=page_id,
        ordinal=ordinal,
        url=f"{url}#{anchor}" if anchor else url,
        path=path,
        anchor=anchor,
        inner=inner,
        page_title=_cut(title),
        heading_path=tuple(map(_cut, split_headings(headings))),
        content=f"{before}{markdown[start:stop]}{after}",
        fetched_at=fetched_at,
    )


def _cut(title: str) -> str:
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"


def find_symbols(db: Database, names: Sequence[str], versions: Sequence[int], limit: int) -> list[SymbolMatch]:
    """Definitions of these names: exact ones first, then those whose last part (`timeout`) or whole name match
    without regard to case."""
    if not versions:
        return []
    found: dict[SymbolMatch, None] = {}
    within = f"version_id IN ({marks(versions)})"
    rest = (*versions, limit)
    for name in dict.fromkeys(names):
        values = (name, name, *rest, name, *rest, last_part(name), *rest)
        rows = db.execute(_DEFINITIONS.format(within=within), values)
        found |= dict.fromkeys(
            SymbolMatch(found_name, kind, chunk, page, version, found_name in names, anchor)
            for found_name, kind, chunk, page, version, anchor in rows
        )
    folded = {name.casefold() for name in names}
    order = {"link": 0, "api": 0, "option": 1, "heading": 2}
    ranked = sorted(
        found, key=lambda m: (not m.exact, m.name.casefold() not in folded, order[m.kind], len(m.name), m.chunk_id)
    )
    return ranked[:limit]


def load_chunks(db: Database, ids: Sequence[int], *, with_text: bool = True) -> list[Chunk]:
    """The chunks with these ids, in the order of `ids`. Missing ones are left out."""
    if not ids:
        return []
    rows = db.execute(f"{_CHUNK} WHERE chunks.id IN ({marks(ids)})", tuple(ids)).fetchall()
    by_id = {chunk.id: chunk for chunk in _chunks(db, rows, with_text=with_text)}
    return [by_id[id_] for id_ in ids if id_ in by_id]


def page_facts(db: Database, page_ids: Sequence[int]) -> Mapping[int, PageFacts]:
    """The title, path and size of each page. Missing ones are left out."""
    query = """
        SELECT id, title, path, (SELECT count(*) FROM chunks WHERE page_id = pages.id) FROM pages WHERE id IN ({})
    """
    return {page_id: PageFacts(*rest) for page_id, *rest in in_parts(db, query, page_ids)}


class Searches(Transacted):
    """The part of `SqlDocs` that searches the committed chunks of given versions; with none it finds nothing."""

    @search
    def page_chunks(self, db: Database, page_id: int) -> list[Chunk]:
        """The chunks of a page, in order."""
        return page_chunks(db, page_id)

    @search
    def find_section(self, db: Database, section_id: str) -> Chunk | None:
        """The chunk that has this `section_id`; the newest, if several versions share it."""
        try:
            section = bytes.fromhex(section_id)
        except ValueError:
            return None
        rows = db.execute(f"{_CHUNK} WHERE section = ? ORDER BY fetched_at DESC LIMIT 1", (section,)).fetchall()
        return next(iter(_chunks(db, rows)), None)

    @search
    def find_page(self, db: Database, url: str, versions: Sequence[int]) -> int | None:
        """The id of the page that has this address or alias. A fragment is ignored."""
        if not versions:
            return None
        within = f"version_id IN ({marks(versions)})"
        for _ in range(MOST_ALIASES):
            row = db.execute(f"SELECT id FROM pages WHERE url = ? AND {within}", (url, *versions)).fetchone()
            if row is not None:
                return int(row[0])
            alias = f"SELECT final_url FROM urls WHERE url = ? AND state = 'alias' AND {within}"
            row = db.execute(alias, (url, *versions)).fetchone()
            if row is None:
                return None
            url = row[0]
        return None

    @search
    def find_anchor(self, db: Database, page_id: int, anchor: str) -> int | None:
        """The ordinal of the chunk in which the page defines a symbol with this anchor."""
        query = "SELECT min(ordinal) FROM symbols WHERE page_id = ? AND anchor = ?"
        ordinal: int | None = db.execute(query, (page_id, anchor)).fetchone()[0]
        return ordinal

    async def search_vectors(self, vector: Vectors, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """The chunks nearest to a unit vector of shape (1, dimensions), by cosine, best first.

        Empty if there are no vectors of those dimensions.
        """
        if not versions:
            return []
        async with self._turn():
            return await self._near.nearest(vector, versions, limit)

    @read
    def unembedded(self, db: Database, version_id: int, limit: int) -> list[tuple[int, list[Chunk]]]:
        """Pages without vectors of the current embedder: ids, each with its chunks."""
        query = """
            SELECT id FROM pages WHERE version_id = ? AND NOT EXISTS (
                SELECT 1 FROM vectors WHERE page_id = pages.id AND embedder = ?
            ) LIMIT ?
        """
        ids = [row[0] for row in db.execute(query, (version_id, self._embedder, limit))]
        return [(page_id, page_chunks(db, page_id)) for page_id in ids]


def _put(db: Database, version_id: int, stored: Sequence[tuple[StoredPage, PreparedPage]], embedder: str) -> None:
    """Write pages. If several have the same address, the last one is written."""
    by_address = {page.address: (page, ready) for page, ready in stored}
    depths = {link: 1 for page, _ in by_address.values() for link in page.links} | dict.fromkeys(by_address, 0)
    ids, _ = note_urls(db, version_id, depths, "skipped")  # an address without a page is due at the next refresh
    new: list[IndexRow] = []
    for address, (page, ready) in by_address.items():
        task = UrlTask(ids[address], version_id, address)
        new += commit(db, task, ready, embedder, page.fetched_at)
        finish_page(db, task, page.draft, [ids[link] for link in page.links])
    # At the end, because an insert with RETURNING sets a savepoint in SQLite, at which FTS5 writes out its buffer.
    db.index_text(new)


def _drafts(db: Database, page_id: int) -> tuple[ChunkDraft, ...]:
    query = "SELECT start, stop, headings, anchor, before, after FROM chunks WHERE page_id = ? ORDER BY ordinal"
    return tuple(
        ChunkDraft(start, stop, split_headings(headings), own, opening, closing, inner)
        for start, stop, headings, anchors, opening, closing in db.execute(query, (page_id,))
        for own, inner in (split_anchors(anchors),)
    )


def _links(db: Database, packed: bytes | None) -> tuple[str, ...]:
    query = "SELECT url FROM urls WHERE id IN ({}) ORDER BY id"
    return tuple(row[0] for row in in_parts(db, query, unpack_ids(packed)))


def _vectors(db: Database, page_id: int, embedder: str) -> Vectors | None:
    query = "SELECT dimensions, data FROM vectors WHERE page_id = ? AND embedder = ?"
    row = db.execute(query, (page_id, embedder)).fetchone()
    if row is None:
        return None
    scales, numbers = unpack_vectors(row[1], row[0])
    return scales[:, None] * numbers


class Copies(Transacted):
    """The part of `SqlDocs` that copies versions from one store to another."""

    @read
    def pages_after(self, db: Database, version_id: int, page_id: int, count: int) -> list[tuple[int, StoredPage]]:
        """Up to `count` pages with ids above `page_id`, by id, for copying a version."""
        rows = db.execute(
            """
            SELECT pages.id, pages.url, title, body, fetched_at, urls.url, etag, last_modified, body_hash, links
            FROM pages JOIN urls ON urls.id = url_id
            WHERE pages.version_id = ? AND pages.id > ? ORDER BY pages.id LIMIT ?
            """,
            (version_id, page_id, count),
        ).fetchall()
        found = []
        defined = "SELECT name, kind, anchor, ordinal FROM symbols WHERE page_id = ? ORDER BY rowid"
        for id_, url, title, body, fetched_at, address, etag, last_modified, body_hash, links in rows:
            draft = PageDraft(
                url=url,
                title=title,
                markdown=load_body(db, body),
                chunks=_drafts(db, id_),
                symbols=tuple(Symbol(*row) for row in db.execute(defined, (id_,))),
                etag=etag,
                last_modified=last_modified,
                body_hash=body_hash or "",
            )
            page = StoredPage(address, draft, _links(db, links), fetched_at, _vectors(db, id_, self._embedder))
            found.append((id_, page))
        return found

    async def put_pages(self, version_id: int, pages: Sequence[StoredPage]) -> None:
        """Write pages that `pages_after` returned, from any version or store, in one transaction."""
        ready = await asyncio.to_thread(lambda: [(page, prepared(page.draft, page.vectors)) for page in pages])
        async with self._putting:
            await self.file.write(lambda db: _put(db, version_id, ready, self._embedder))


class SqlDocs(Versions, Frontier, Pages, Searches, Copies):
    """Sites, versions, the frontier of a crawl, pages and searches.

    When a method returns, its changes survive a kill.
    """
