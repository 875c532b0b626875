"""The searches of `ChunkIndex` in SQLite. Functions of a connection inside a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from websearch_gateway.docs_index.models import Chunk, ScoredChunk, SymbolMatch, TextQuery
from websearch_gateway.docs_index.store.index_row import WEIGHTS, match_expression
from websearch_gateway.docs_index.store.sqlite_pages import last_part, load_body, split_headings

if TYPE_CHECKING:
    import sqlite3

_RANK = f"bm25(chunks_fts, {', '.join(map(str, WEIGHTS))})"
MOST_ALIASES = 4
"""So many addresses may lead to one another before the page."""
_CHUNK = """
    SELECT chunks.id, hex(section), chunks.version_id, page_id, ordinal, url, path, anchor, title, headings,
        start, stop, before, after, fetched_at, body
    FROM chunks JOIN pages ON pages.id = page_id
"""


def search_text(
    connection: sqlite3.Connection, query: TextQuery, versions: Sequence[int], limit: int
) -> list[ScoredChunk]:
    """See `ChunkIndex.search_text`."""
    if not (expression := match_expression(query)) or not versions:
        return []
    # To look up the version of each match costs more than the search: all versions are searched without that.
    everywhere = {row[0] for row in connection.execute("SELECT id FROM versions")} <= set(versions)
    where = (
        "" if everywhere else f"AND (SELECT version_id FROM chunks WHERE id = chunks_fts.rowid) IN ({_marks(versions)})"
    )
    rows = connection.execute(
        f"""
        SELECT chunks.id, page_id, version_id, -score FROM (
            SELECT rowid AS id, {_RANK} AS score FROM chunks_fts WHERE chunks_fts MATCH ? {where}
            ORDER BY score LIMIT ?
        ) AS found JOIN chunks ON chunks.id = found.id ORDER BY score, chunks.id
        """,
        (expression, *([] if everywhere else versions), limit),
    )
    return [ScoredChunk(*row) for row in rows]


def find_symbols(
    connection: sqlite3.Connection, names: Sequence[str], versions: Sequence[int], limit: int
) -> list[SymbolMatch]:
    """See `ChunkIndex.find_symbols`."""
    wanted = dict.fromkeys(last_part(name) for name in names)
    rows = connection.execute(
        f"""
        SELECT name, kind, chunks.id, chunks.page_id, chunks.version_id, symbols.anchor
        FROM symbols JOIN chunks ON chunks.page_id = symbols.page_id AND chunks.ordinal = symbols.ordinal
        WHERE last IN ({_marks(list(wanted))}) AND symbols.version_id IN ({_marks(versions)})
        """,
        (*wanted, *versions),
    ).fetchall()
    folded = {name.casefold() for name in names}
    order = {"api": 0, "option": 1, "heading": 2}
    found = [
        SymbolMatch(name, kind, chunk, page, version, name in names, anchor)
        for name, kind, chunk, page, version, anchor in rows
    ]
    found.sort(key=lambda m: (not m.exact, m.name.casefold() not in folded, order[m.kind], len(m.name), m.chunk_id))
    return found[:limit]


def chunks(connection: sqlite3.Connection, ids: Sequence[int]) -> list[Chunk]:
    """See `ChunkIndex.chunks`."""
    rows = connection.execute(f"{_CHUNK} WHERE chunks.id IN ({_marks(ids)})", tuple(ids)).fetchall()
    by_id = {chunk.id: chunk for chunk in _chunks(connection, rows)}
    return [by_id[id_] for id_ in ids if id_ in by_id]


def page_chunks(connection: sqlite3.Connection, page_id: int, start: int, stop: int | None) -> list[Chunk]:
    """See `ChunkIndex.page_chunks`."""
    where = "WHERE page_id = ?1 AND ordinal >= ?2 AND (?3 IS NULL OR ordinal < ?3) ORDER BY ordinal"
    return _chunks(connection, connection.execute(f"{_CHUNK} {where}", (page_id, start, stop)).fetchall())


def find_section(connection: sqlite3.Connection, section_id: str) -> Chunk | None:
    """See `ChunkIndex.find_section`."""
    try:
        section = bytes.fromhex(section_id)
    except ValueError:
        return None
    rows = connection.execute(f"{_CHUNK} WHERE section = ? ORDER BY fetched_at DESC LIMIT 1", (section,)).fetchall()
    return next(iter(_chunks(connection, rows)), None)


def find_page(connection: sqlite3.Connection, url: str, versions: Sequence[int]) -> int | None:
    """See `ChunkIndex.find_page`."""
    within = f"version_id IN ({_marks(versions)})"
    for _ in range(MOST_ALIASES):
        row = connection.execute(f"SELECT id FROM pages WHERE url = ? AND {within}", (url, *versions)).fetchone()
        if row is not None:
            return int(row[0])
        alias = f"SELECT final_url FROM urls WHERE url = ? AND state = 'alias' AND {within}"
        row = connection.execute(alias, (url, *versions)).fetchone()
        if row is None:
            return None
        url = row[0]
    return None


def _chunks(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> list[Chunk]:
    bodies = {body: load_body(connection, body) for body in {row[-1] for row in rows}}
    return [_chunk(row, bodies[row[-1]]) for row in rows]


def _chunk(row: tuple[Any, ...], markdown: str) -> Chunk:
    id_, section, version_id, page_id, ordinal, url, path, anchor, title, headings, *rest = row
    start, stop, before, after, fetched_at, _ = rest
    return Chunk(
        id=id_,
        section_id=section.lower(),
        version_id=version_id,
        page_id=page_id,
        ordinal=ordinal,
        url=f"{url}#{anchor}" if anchor else url,
        path=path,
        anchor=anchor,
        page_title=title,
        heading_path=split_headings(headings),
        content=f"{before}{markdown[start:stop]}{after}",
        fetched_at=fetched_at,
    )


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
