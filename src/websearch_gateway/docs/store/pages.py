"""Pages with their chunks, symbols and vectors: written, searched and read."""

from __future__ import annotations

import json
import logging
import re
import zlib
from codecs import getincrementaldecoder
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from websearch_gateway.docs.models import (
    Chunk,
    PageDraft,
    PageFacts,
    ScoredChunk,
    Symbol,
    SymbolMatch,
    UrlTask,
    content_of,
    section_ids,
)
from websearch_gateway.docs.store.database import (
    Database,
    IndexRow,
    Transacted,
    in_parts,
    index_row,
    marks,
    pack_vectors,
    read,
    search,
    unpack_vectors,
    write,
)
from websearch_gateway.errors import StateUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from websearch_gateway.ports import Vectors


_log = logging.getLogger(__name__)

HEADING_SEPARATOR = "\x1f"
MOST_ALIASES = 4
"""The longest chain of aliases that is followed to a page."""

MOST_ALIKE = 50_000
"""The most names of a version that end alike, as `x.timeout` and `y.timeout` do: several on each page of a large site.
More are made by a program, and would slow the searches of all sites."""


def commit(
    db: Database, task: UrlTask, page: PreparedPage, embedder: str, now: float
) -> list[IndexRow]:
    """Put a page in place of the one that its address has; chunks that are in both keep their ids.

    Returns the rows that the caller must put into the text index, in the same transaction.
    """
    old = stored_rows(db, task.id)
    page_id = _put_page(db, task, page, now)
    ids, new = _put_chunks(db, task.version_id, page_id, page, old)
    _put_symbols(db, task.version_id, page_id, page.draft.symbols)
    if page.vectors is None:
        db.execute("DELETE FROM vectors WHERE page_id = ?", (page_id,))
        db.unindex_vectors(page_id)
    else:
        _put_vectors(db, page_id, task.version_id, ids, page.vectors, embedder)
    return new


def _put_vectors(
    db: Database, page_id: int, version_id: int, ids: Sequence[int], vectors: Vectors, embedder: str
) -> None:
    """Store the vectors of a page, one row per chunk."""
    import numpy as np

    # The id of the new row shows readers the change.
    db.execute("DELETE FROM vectors WHERE page_id = ?", (page_id,))
    db.execute(
        """
        INSERT INTO vectors (page_id, version_id, embedder, dimensions, chunk_ids, data) VALUES (?, ?, ?, ?, ?, ?)
        """,
        (
            page_id,
            version_id,
            embedder,
            vectors.shape[1],
            np.array(ids, "<i8").tobytes(),
            pack_vectors(vectors),
        ),
    )
    db.index_vectors(page_id, version_id, ids, vectors)


class StoredVectors(NamedTuple):
    """The packed vectors of a page."""

    id: int
    page_id: int
    version_id: int
    chunk_ids: NDArray[np.int64]
    data: bytes


_VECTORS = "SELECT id, page_id, version_id, chunk_ids, data FROM vectors"


def vectors_after(
    db: Database, embedder: str, dimensions: int, after: int
) -> Iterator[StoredVectors]:
    """The rows written after the row `after`, in order."""
    query = f"{_VECTORS} WHERE id > ? AND embedder = ? AND dimensions = ? ORDER BY id"
    return map(_stored_vectors, db.execute(query, (after, embedder, dimensions)))


def vectors_of(db: Database, rows: Sequence[int]) -> Iterator[StoredVectors]:
    """The given rows that still exist."""
    return map(_stored_vectors, in_parts(db, f"{_VECTORS} WHERE id IN ({{}})", rows))


def _stored_vectors(row: tuple[Any, ...]) -> StoredVectors:
    import numpy as np

    id_, page_id, version_id, chunk_ids, data = row
    return StoredVectors(id_, page_id, version_id, np.frombuffer(chunk_ids, "<i8"), data)


def remove_pages(db: Database, page_ids: Sequence[int]) -> None:
    """Remove pages with everything that no other page uses."""
    for page_id in page_ids:
        (url_id,) = db.execute("SELECT url_id FROM pages WHERE id = ?", (page_id,)).fetchone()
        db.unindex_text(list(stored_rows(db, url_id).values()))
        db.unindex_vectors(page_id)
        for table in ("chunks", "symbols", "vectors"):
            db.execute(f"DELETE FROM {table} WHERE page_id = ?", (page_id,))
        (body,) = db.execute("DELETE FROM pages WHERE id = ? RETURNING body", (page_id,)).fetchone()
        _drop_body(db, body)
        db.execute(
            "UPDATE urls SET body_hash = NULL, etag = NULL, last_modified = NULL WHERE id = ?",
            (url_id,),
        )


LONG_BODY = 50_000
"""A body of more compressed bytes stays unpacked for a while: a search reads several sections of a long page, and would
unpack the text before each of them again."""


def load_body(db: Database, body: bytes, until: int | None = None) -> str:
    """The Markdown of a page, or at least its first `until` characters."""
    (data,) = db.execute("SELECT data FROM bodies WHERE hash = ?", (body,)).fetchone()
    if until is None:
        return zlib.decompress(data).decode("utf-8", "surrogatepass")
    if len(data) > LONG_BODY:
        return _unpacked(bytes(data))
    unpacker, decoder, text = (
        zlib.decompressobj(),
        getincrementaldecoder("utf-8")("surrogatepass"),
        "",
    )
    part = data
    while part and len(text) < until:
        part = unpacker.decompress(data, until - len(text))
        text += decoder.decode(part)
        data = unpacker.unconsumed_tail
    return text


@lru_cache(maxsize=4)
def _unpacked(data: bytes) -> str:
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


def last_part(name: str) -> str:
    """The last part of a name with dots or colons, in lower case: the key for finding symbols."""
    parts = [part for part in name.replace("::", ".").split(".") if part]
    return (parts[-1] if parts else name).casefold()


def split_headings(stored: str) -> tuple[str, ...]:
    """The headings of a stored chunk."""
    return tuple(stored.split(HEADING_SEPARATOR)) if stored else ()


def split_anchors(stored: str) -> tuple[str, tuple[tuple[int, str], ...]]:
    """The anchor and the inner anchors of a stored chunk: its own, then `OFFSET:NAME` for each inner one."""
    anchor, *inner = stored.split(" ")
    parts = (written.partition(":") for written in inner)
    return anchor, tuple((int(offset), name) for offset, _, name in parts)


Stored = dict[bytes, IndexRow]
"""The chunks of a page by section: the id and the text index row of each."""


def stored_rows(db: Database, url_id: int) -> Stored:
    """The chunks of a page, with the text index rows that follow from them."""
    page = db.execute("SELECT id, title, body FROM pages WHERE url_id = ?", (url_id,)).fetchone()
    if page is None:
        return {}
    markdown = load_body(db, page[2])
    stored: Stored = {}
    query = "SELECT id, section, start, stop, headings, before, after FROM chunks WHERE page_id = ?"
    for id_, section, start, stop, headings, before, after in db.execute(query, (page[0],)):
        content = f"{before}{markdown[start:stop]}{after}"
        stored[section] = id_, index_row(page[1], split_headings(headings), content)
    return stored


def index_texts(db: Database) -> None:
    """Put all texts into an empty index."""
    for (url_id,) in db.execute("SELECT url_id FROM pages").fetchall():
        db.index_text(list(stored_rows(db, url_id).values()))


def _put_page(db: Database, task: UrlTask, page: PreparedPage, now: float) -> int:
    draft, body = page.draft, page.body_hash
    if db.execute(f"SELECT 1 FROM bodies WHERE hash = ? {db.lock}", (body,)).fetchone() is None:
        db.execute(
            "INSERT INTO bodies (hash, data) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (body, page.body),
        )
    row = db.execute(
        "SELECT url, options FROM versions WHERE id = ?", (task.version_id,)
    ).fetchone()
    if row is None:
        raise StateUnavailable("The site was deleted.")
    home = json.loads(row[1]).get("base_url") or row[0]
    before = db.execute("SELECT body FROM pages WHERE url_id = ?", (task.id,)).fetchone()
    (page_id,) = db.execute(
        """
        INSERT INTO pages (version_id, url_id, url, path, title, body, fetched_at) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (url_id) DO UPDATE SET url = excluded.url, path = excluded.path, title = excluded.title,
            body = excluded.body, fetched_at = excluded.fetched_at
        RETURNING id
        """,
        (
            task.version_id,
            task.id,
            draft.url,
            relative_path(draft.url, home),
            draft.title,
            body,
            now,
        ),
    ).fetchone()
    if before is not None and before[0] != body:
        _drop_body(db, before[0])
    return int(page_id)


def relative_path(url: str, base: str) -> str:
    """`url` relative to the folder of `base`; unchanged if it lies outside."""
    folder = urldefrag(base).url.rpartition("/")[0] + "/"
    return url.removeprefix(folder)


def _put_symbols(db: Database, version_id: int, page_id: int, symbols: Sequence[Symbol]) -> None:
    """Put the definitions of a page in place of its old ones, up to the cap of their version."""
    db.execute("DELETE FROM symbols WHERE page_id = ?", (page_id,))
    alike: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        alike.setdefault(last_part(symbol.name), []).append(symbol)
    query = "SELECT last, count(*) FROM symbols WHERE last IN ({}) AND version_id = ? GROUP BY last"
    counts = dict(in_parts(db, query, list(alike), after=(version_id,)))
    rows = []
    for last, symbols_alike in alike.items():
        room = max(0, MOST_ALIKE - counts.get(last, 0))
        rows += [
            (version_id, page_id, symbol.ordinal, symbol.name, last, symbol.kind, symbol.anchor)
            for symbol in symbols_alike[:room]
        ]
        if 0 < room < len(symbols_alike):
            site = db.execute(
                "SELECT name, label FROM versions WHERE id = ?", (version_id,)
            ).fetchone()
            _log.warning(
                "%r defines %d names that end in %r; further ones are left out",
                " ".join(site),
                MOST_ALIKE,
                last,
            )
    db.executemany(_INSERT_SYMBOL, rows)


_INSERT_SYMBOL = "INSERT INTO symbols (version_id, page_id, ordinal, name, last, kind, anchor) VALUES (?, ?, ?, ?, ?, ?, ?)"


_INSERT_CHUNK = """
    INSERT INTO chunks (version_id, page_id, section, ordinal, start, stop, anchor, headings, before, after)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
"""


def _put_chunks(
    db: Database, version_id: int, page_id: int, page: PreparedPage, old: Stored
) -> tuple[list[int], list[IndexRow]]:
    """The ids of the chunks, and the rows that are new in the text index."""
    gone = [old[section] for section in old.keys() - set(page.sections)]
    if gone:
        db.unindex_text(gone)
        db.executemany("DELETE FROM chunks WHERE id = ?", [(chunk_id,) for chunk_id, _ in gone])
    ids: list[int] = []
    new: list[IndexRow] = []
    rows = zip(page.sections, page.draft.chunks, page.rows, strict=True)
    for ordinal, (section, chunk, row) in enumerate(rows):
        # No id has a blank.
        anchors = " ".join((chunk.anchor, *(f"{offset}:{name}" for offset, name in chunk.inner)))
        place = (ordinal, chunk.start, chunk.stop, anchors)
        old_row = old.get(section)
        if old_row is None:
            headings = HEADING_SEPARATOR.join(chunk.heading_path)
            values = (version_id, page_id, section, *place, headings, chunk.before, chunk.after)
            ids.append(db.execute(_INSERT_CHUNK, values).fetchone()[0])
            new.append((ids[-1], row))
            continue
        ids.append(old_row[0])
        db.execute(
            "UPDATE chunks SET ordinal = ?, start = ?, stop = ?, anchor = ? WHERE id = ?",
            (*place, old_row[0]),
        )
        if old_row[1] != row:
            db.unindex_text([old_row])
            new.append((old_row[0], row))
    return ids, new


def _drop_body(db: Database, body: bytes) -> None:
    if db.lock:  # wait for transactions that are about to refer to the body
        db.execute(f"SELECT 1 FROM bodies WHERE hash = ? {db.lock}", (body,))
    db.execute(
        "DELETE FROM bodies WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM pages WHERE body = ?)",
        (body, body),
    )


BODY_LEVEL = 4
"""zlib's level for the text of a page: half the time of level 6, and 3% larger."""


class PreparedPage(NamedTuple):
    """A page to commit. `body` is its text, compressed, under the hash of the text; `sections` and `rows` have one
    entry per chunk: its section id, and its columns in the text index. `vectors` is None if it has none yet."""

    draft: PageDraft
    vectors: Vectors | None
    body_hash: bytes
    body: bytes
    sections: list[bytes]
    rows: list[tuple[str, str, str, str, str]]


def prepared(draft: PageDraft, vectors: Vectors | None) -> PreparedPage:
    """The rows of a page."""
    text = draft.markdown.encode("utf-8", "surrogatepass")
    return PreparedPage(
        draft,
        vectors,
        body_hash=sha256(text).digest(),
        body=zlib.compress(text, BODY_LEVEL),
        sections=[bytes.fromhex(section) for section in section_ids(draft)],
        rows=[
            index_row(draft.title, chunk.heading_path, content_of(chunk, draft.markdown))
            for chunk in draft.chunks
        ],
    )


LEAST_PAGES = 2
"""The fewest pages that must lead from a name to a page."""
MOST_PAIRS = 300_000
"""The most pairs of a name and an address that are counted."""

_LINKED_NAME = re.compile(
    r"\[(`?)([A-Za-z_$](?:[\w$]|\.|::|-){1,98}[\w$])(\(\))?\1\]\(([^()\s]{1,500}+)\)"
)
_COMPOUND = re.compile(r"[A-Za-z0-9](?:_|\.|::)[A-Za-z0-9]|[a-z][A-Z]")


def linked_names(db: Database, version_id: int) -> list[tuple[int, int, int, str, str, str, str]]:
    """Rows of `symbols` for the names from which most of at least `LEAST_PAGES` pages lead to one page, which does not
    define them yet.
    """
    rows = db.execute(
        "SELECT id, url, body FROM pages WHERE version_id = ?", (version_id,)
    ).fetchall()
    pages = {url.removesuffix("index.html"): page_id for page_id, url, _ in rows}
    counts: defaultdict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
    pairs = 0
    for _, url, body in rows:
        text = load_body(db, body)
        names = (m for m in _LINKED_NAME.finditer(text) if m[1] or m[3] or _COMPOUND.search(m[2]))
        for name, target in {(m[2], urljoin(url, m[4])) for m in names}:
            if pairs < MOST_PAIRS and not target.startswith(f"{url}#"):
                address, fragment = urldefrag(target)
                place = pages.get(address.removesuffix("index.html"), 0), unquote(fragment)
                pairs += not counts[name][place]
                counts[name][place] += 1
    places = _places(db, version_id)
    symbols = []
    for name, targets in counts.items():
        by_page: Counter[int] = Counter()
        for (id_, _), count in targets.items():
            by_page[id_] += count
        page_id, most = by_page.most_common(1)[0]
        if (
            not page_id
            or most < LEAST_PAGES
            or 2 * most <= by_page.total()
            or (page_id, name) in places
        ):
            continue
        anchor = next(anchor for (id_, anchor), _ in targets.most_common() if id_ == page_id)
        headed = places.get((page_id, f"# {name}"), None if anchor else 0)
        ordinal = places.get((page_id, f"#{anchor}"), headed)
        # The page has no such place: its text leads to the section more surely.
        if ordinal is not None:
            symbols.append((version_id, page_id, ordinal, name, last_part(name), "link", anchor))
    return symbols


def _places(db: Database, version_id: int) -> dict[tuple[int, str], int]:
    """The chunk of each name that a page defines by itself, of each `#anchor`, and of each `# heading`."""
    query = "SELECT page_id, name, kind, anchor, ordinal FROM symbols WHERE version_id = ? AND kind <> 'link'"
    places: dict[tuple[int, str], int] = {}
    for page_id, name, kind, anchor, ordinal in db.execute(query, (version_id,)):
        if kind != "heading":
            places[page_id, name] = ordinal
        else:
            places.setdefault((page_id, f"# {name}"), ordinal)
        if anchor:
            places[page_id, f"#{anchor}"] = ordinal
    for page_id, anchor, ordinal in db.execute(
        "SELECT page_id, anchor, ordinal FROM chunks WHERE version_id = ? AND anchor <> ''",
        (version_id,),
    ):
        own, inner = split_anchors(anchor)
        for fragment in (own, *(name for _, name in inner)):
            places.setdefault((page_id, f"#{fragment}"), ordinal)
    return places


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
    where, values = "WHERE page_id = ? AND ordinal >= ?", [page_id, start]
    if stop is not None:
        where, values = f"{where} AND ordinal < ?", [*values, stop]
    return _chunks(db, db.execute(f"{_CHUNK} {where} ORDER BY ordinal", values).fetchall())


def load_with_starts(
    db: Database, chunks_with_ids: Sequence[tuple[Chunk, Sequence[int]]]
) -> list[list[Chunk]]:
    """For each of these chunks, which are of different pages: the chunks with these ids, in this order, then the one in
    which its section begins, and the first of the page."""
    if not chunks_with_ids:
        return []
    of_section = "SELECT min(ordinal) FROM chunks WHERE page_id = ? AND headings = ?"
    by_page: defaultdict[int, list[Chunk]] = defaultdict(list)
    statements, values = [], []
    for chunk, ids in chunks_with_ids:
        statements.append(
            f"{_CHUNK} WHERE page_id = ? AND (chunks.id IN ({marks(ids)}) OR ordinal IN (0, ({of_section})))"
        )
        headings = HEADING_SEPARATOR.join(chunk.heading_path)
        values += [chunk.page_id, *ids, chunk.page_id, headings]
    for loaded in _chunks(db, db.execute(" UNION ALL ".join(statements), values).fetchall()):
        by_page[loaded.page_id].append(loaded)
    in_order = []
    for chunk, ids in chunks_with_ids:
        rank_of = {id_: rank for rank, id_ in enumerate(ids)}
        last = len(ids)
        in_order.append(
            sorted(
                by_page[chunk.page_id],
                key=lambda loaded: (rank_of.get(loaded.id, last), -loaded.ordinal),
            )
        )
    return in_order


def _chunks(
    db: Database, rows: Sequence[tuple[Any, ...]], *, with_text: bool = True
) -> list[Chunk]:
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


def find_symbols(
    db: Database, names: Sequence[str], versions: Sequence[int], limit: int
) -> list[SymbolMatch]:
    """Definitions of these names: exact ones first, then those whose last part (`timeout`) or whole name match
    without regard to case."""
    if not versions:
        return []
    matches: dict[SymbolMatch, None] = {}
    within = f"version_id IN ({marks(versions)})"
    rest = (*versions, limit)
    for name in dict.fromkeys(names):
        values = (name, name, *rest, name, *rest, last_part(name), *rest)
        rows = db.execute(_DEFINITIONS.format(within=within), values)
        for symbol, kind, chunk, page, version, anchor in rows:
            match = SymbolMatch(symbol, kind, chunk, page, version, symbol in names, anchor)
            matches.setdefault(match)
    folded = {name.casefold() for name in names}
    order = {"link": 0, "api": 0, "option": 1, "heading": 2}
    ranked = sorted(
        matches,
        key=lambda m: (
            not m.exact,
            m.name.casefold() not in folded,
            order[m.kind],
            len(m.name),
            m.chunk_id,
        ),
    )
    return ranked[:limit]


def most_chunks(db: Database) -> int:
    """The number of chunks of all versions, with those that were deleted: to count them takes long."""
    return int(db.execute("SELECT max(id) FROM chunks").fetchone()[0] or 0)


def load_chunks(db: Database, ids: Sequence[int], *, with_text: bool = True) -> list[Chunk]:
    """The chunks with these ids, in the order of `ids`. Missing ones are left out."""
    if not ids:
        return []
    rows = db.execute(f"{_CHUNK} WHERE chunks.id IN ({marks(ids)})", tuple(ids)).fetchall()
    by_id = {chunk.id: chunk for chunk in _chunks(db, rows, with_text=with_text)}
    return [by_id[id_] for id_ in ids if id_ in by_id]


def page_facts(db: Database, page_ids: Sequence[int]) -> Mapping[int, PageFacts]:
    """What is known of each page. Missing ones are left out."""
    query = """
        SELECT pages.id, title, path, (SELECT count(*) FROM chunks WHERE page_id = pages.id), name
        FROM pages JOIN versions ON versions.id = version_id WHERE pages.id IN ({})
    """
    return {page_id: PageFacts(*rest) for page_id, *rest in in_parts(db, query, page_ids)}


class Pages(Transacted):
    """The part of `SqlDocs` that writes pages, and searches the committed chunks of given versions; with none it finds
    nothing."""

    @read
    def known_vectors(self, db: Database, task: UrlTask) -> Mapping[str, Vectors]:
        """The vectors, by section id, of the page at this address, to reuse for unchanged sections."""
        import numpy as np

        row = db.execute(
            """
            SELECT vectors.dimensions, chunk_ids, data FROM vectors JOIN pages ON pages.id = vectors.page_id
            WHERE pages.url_id = ? AND embedder = ?
            """,
            (task.id, self._embedder),
        ).fetchone()
        if row is None:
            return {}
        scales, numbers = unpack_vectors(row[2], row[0])
        by_chunk = dict(
            zip(map(int, np.frombuffer(row[1], "<i8")), scales[:, None] * numbers, strict=True)
        )
        sections = db.execute(
            "SELECT chunks.id, section FROM chunks JOIN pages ON pages.id = page_id WHERE url_id = ?",
            (task.id,),
        )
        return {section.hex(): by_chunk[id_] for id_, section in sections if id_ in by_chunk}

    @write
    def put_vectors(self, db: Database, page_id: int, vectors: Vectors) -> None:
        """Add the vectors of a page, one row per chunk. Does nothing if the page is gone."""
        rows = db.execute(
            "SELECT id, version_id FROM chunks WHERE page_id = ? ORDER BY ordinal", (page_id,)
        ).fetchall()
        if rows and len(rows) == len(vectors):
            _put_vectors(db, page_id, rows[0][1], [row[0] for row in rows], vectors, self._embedder)

    async def name_linked_pages(self, version_id: int) -> None:
        """Define names on the pages that most links with these texts lead to. The pages are read before the
        transaction that writes, which would block others."""
        symbols = await self.file.read(lambda db: linked_names(db, version_id))

        def put(db: Database) -> None:
            db.execute("DELETE FROM symbols WHERE version_id = ? AND kind = 'link'", (version_id,))
            db.executemany(_INSERT_SYMBOL, symbols)

        await self.file.write(put)

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
        rows = db.execute(
            f"{_CHUNK} WHERE section = ? ORDER BY fetched_at DESC LIMIT 1", (section,)
        ).fetchall()
        return next(iter(_chunks(db, rows)), None)

    @search
    def find_page(self, db: Database, url: str, versions: Sequence[int]) -> int | None:
        """The id of the page that has this address or alias; the deepest site's, if one begins below another."""
        if not versions:
            return None
        within = f"version_id IN ({marks(versions)})"
        for _ in range(MOST_ALIASES):
            of_deepest = (
                f"SELECT id FROM pages WHERE url = ? AND {within} ORDER BY length(path), id"
            )
            row = db.execute(of_deepest, (url, *versions)).fetchone()
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

    async def search_vectors(
        self, vector: Vectors, versions: Sequence[int], limit: int
    ) -> list[ScoredChunk]:
        """The chunks nearest to a unit vector of shape (1, dimensions), by cosine, best first.

        Empty if there are no vectors of those dimensions.
        """
        if not versions:
            return []
        return await self._near.nearest(vector, versions, limit)

    @read
    def unembedded(
        self, db: Database, version_id: int, limit: int
    ) -> list[tuple[int, list[Chunk]]]:
        """Pages without vectors of the current embedder: ids, each with its chunks."""
        query = """
            SELECT id FROM pages WHERE version_id = ? AND NOT EXISTS (
                SELECT 1 FROM vectors WHERE page_id = pages.id AND embedder = ?
            ) LIMIT ?
        """
        ids = [row[0] for row in db.execute(query, (version_id, self._embedder, limit))]
        return [(page_id, page_chunks(db, page_id)) for page_id in ids]
