"""The default store: its tables in one file, text search by FTS5, vectors compared in memory."""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from websearch_gateway.base import (
    Step,
    created,
    in_cache_thread,
    is_damaged,
    is_locked,
    migrate,
    opened,
)
from websearch_gateway.docs.models import ScoredChunk, TextQuery
from websearch_gateway.docs.store import pages
from websearch_gateway.docs.store.database import (
    COLUMNS,
    DEATHS,
    LEFT_OUT,
    MOST_COUNTED,
    MOST_MATCHED,
    RANKED,
    TABLES,
    TOO_NEW,
    WEIGHTS,
    Database,
    IndexRow,
    NearIndex,
    Rows,
    Transactions,
    Turn,
    fts5_stems,
    in_order,
    marks,
    match_phrases,
    pack_vectors,
    rarest,
    unpack_vectors,
)
from websearch_gateway.docs.store.docs import SqlDocs
from websearch_gateway.errors import StateUnavailable

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    from websearch_gateway.ports import Vectors


_FIRST = f"""
{TABLES}
-- The text of a row is not kept: it follows from its chunk (`index_row`), and a delete must repeat it.
CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    title, path, parts, code, text, content = 'chunks', content_rowid = 'id',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
"""

_COUNTED = "CREATE INDEX vectors_version ON vectors (version_id, embedder)"
"""Without it, counting the vectors of a version reads all of them: 15 ms of each search at 28,000 chunks."""


def _index_texts_again(connection: sqlite3.Connection) -> None:
    """The text index rows of Chinese, Japanese and Korean have changed; ten seconds for 30,000 chunks."""
    db = SqliteDatabase(connection)
    connection.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')")
    pages.index_texts(db)


MIGRATIONS: tuple[Step, ...] = (_FIRST, _COUNTED, _index_texts_again, RANKED, DEATHS, LEFT_OUT)
"""Step n (from 1) takes a file from version n - 1 to n. Only ever append."""


T = TypeVar("T")


class SqliteDocs(SqlDocs):
    """See `SqlDocs`.

    Args:
        path: the file; `~` is the home folder.
        near: makes the vector index; in memory by default.
        turn: see `SqliteThreads`.
    """

    def __init__(
        self,
        path: Path,
        embedder: str,
        *,
        near: Callable[[Transactions, str], NearIndex] | None = None,
        turn: Turn | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        file = SqliteThreads(path.expanduser().absolute(), turn or in_order())
        super().__init__(file, (near or MemoryVectors)(file, embedder), embedder, clock=clock)


PATIENCE_SECONDS = 10.0
"""How long a transaction waits for the lock of another process. A crawl's transactions take milliseconds."""
STEPS_BETWEEN_LOOKS = 10_000
"""How often a statement looks whether it should stop, in steps of SQLite's machine: less than a millisecond."""
LARGEST_CHECKED_BYTES = 300_000_000
"""A file with more bytes is not checked on opening, because that would take seconds."""


class SqliteThreads:
    """One file with a connection that writes, one that reads, and several that search, each in a thread of its own.

    Opened by the first call.

    Args:
        path: absolute; a missing file is created for the owner only (0600), a missing folder too (0700).
        turn: grants searches their turns.
    """

    def __init__(self, path: Path, turn: Turn) -> None:
        self.path = path
        self.turn = turn
        self._writer = _Connection(self, "docs-write", "BEGIN IMMEDIATE")
        self._reader = _Connection(self, "docs-read", "BEGIN")
        self._searchers: list[_Connection] = []
        self._idle: list[_Connection] = []
        self._ready = asyncio.Lock()
        self._is_ready = False

    async def write(self, action: Callable[[Database], T]) -> T:
        """See `Transactions`. The transaction holds the write lock."""
        result = await self._writer.run(action)
        self._is_ready = True
        return result

    async def read(self, action: Callable[[Database], T]) -> T:
        """See `Transactions`."""
        await self._created()
        return await self._reader.run(action)

    async def search(self, action: Callable[[Database], T]) -> T:
        """See `Transactions`. A cancelled call ends when its action has ended."""
        async with self.turn():
            await self._created()
            searcher = self._idle.pop() if self._idle else self._new_searcher()
            running = searcher.run(action)
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                searcher.stop()
                await asyncio.gather(running, return_exceptions=True)
                raise
            finally:
                self._idle.append(searcher)

    def _new_searcher(self) -> _Connection:
        searcher = _Connection(self, "docs-search", "BEGIN", stoppable=True)
        self._searchers.append(searcher)
        return searcher

    async def close(self) -> None:
        """See `Transactions`."""
        await asyncio.gather(
            *(connection.close() for connection in (self._reader, self._writer, *self._searchers))
        )

    async def _created(self) -> None:
        if not self._is_ready:
            async with self._ready:
                if not self._is_ready:  # the writer creates the tables
                    await self._writer.run(lambda _: None)
                    self._is_ready = True

    def unavailable(self, error: sqlite3.Error | OSError) -> StateUnavailable:
        """What an error of the file means."""
        import sqlite3

        if isinstance(error, sqlite3.Error) and is_damaged(error):
            return self._damaged()
        if isinstance(error, sqlite3.Error) and is_locked(error):
            return StateUnavailable(
                "Another process keeps the documentation index locked. Try again.", retry_after=5
            )
        name = (
            getattr(error, "sqlite_errorname", None)
            or getattr(error, "strerror", None)
            or type(error).__name__
        )
        return StateUnavailable(
            f"The documentation index {self.path} cannot be used ({name}). Its disk may be full or read-only; DATA_DIR "
            "or DOCS_URL may name another folder."
        )

    def _damaged(self) -> StateUnavailable:
        return StateUnavailable(
            f"The documentation index {self.path} is damaged. Move the file away and add the sites again, or import an "
            f"export; `sqlite3 {self.path.name} .recover` may rescue its contents."
        )

    def open(self, *, writes: bool) -> sqlite3.Connection:
        """A connection. The one that writes creates the file, checks it unless it is very large, and migrates it."""
        if not writes:
            return opened(self.path, PATIENCE_SECONDS)
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        connection = opened(created(self.path), PATIENCE_SECONDS)
        try:
            is_small = self.path.stat().st_size <= LARGEST_CHECKED_BYTES
            if is_small and connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise self._damaged()
            migrate(connection, MIGRATIONS, StateUnavailable(TOO_NEW))
        except BaseException:
            connection.close()
            raise
        return connection


class _Connection:
    """A connection and the one thread that uses it.

    Args:
        begin: the statement that begins a transaction.
        stoppable: whether `stop` ends an action.
    """

    def __init__(
        self, file: SqliteThreads, name: str, begin: str, *, stoppable: bool = False
    ) -> None:
        self._file = file
        self._begin = begin
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._connection: sqlite3.Connection | None = None
        self._counts: dict[str, int] = {}
        self._data_version = -1
        self._stoppable = stoppable
        self._stopped = False
        self._closed = False

    def run(self, action: Callable[[Database], T]) -> asyncio.Future[T]:
        """The result of `action`, which runs in one transaction, to its end if nothing stops it."""
        if self._closed:
            raise StateUnavailable("The documentation index is closed.")
        self._stopped = False
        return asyncio.get_running_loop().run_in_executor(self._thread, self._act, action)

    def stop(self) -> None:
        """End the running action."""
        self._stopped = True

    def _act(self, action: Callable[[Database], T]) -> T:
        import sqlite3

        try:
            if self._connection is None:
                self._connection = self._file.open(writes=self._begin == "BEGIN IMMEDIATE")
                if self._stoppable:  # the handler stops the running statement when it returns true
                    self._connection.set_progress_handler(
                        lambda: self._stopped, STEPS_BETWEEN_LOOKS
                    )
            with self._connection:  # commits, or rolls back
                self._connection.execute(self._begin)
                return action(SqliteDatabase(self._connection, self._kept_counts(self._connection)))
        except (sqlite3.Error, OSError) as error:
            raise self._file.unavailable(error) from error

    def _kept_counts(self, connection: sqlite3.Connection) -> dict[str, int]:
        """See `SqliteDatabase`: none after a change of the file by another connection, or on one that changes it."""
        ((data_version,),) = connection.execute("PRAGMA data_version")
        if (
            not self._stoppable
            or data_version != self._data_version
            or len(self._counts) > MOST_KEPT
        ):
            self._data_version, self._counts = data_version, {}
        return self._counts

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._thread.shutdown()
        if self._connection is not None:
            self._connection.close()


MOST_RANKED = 600
"""A search for any of several phrases ranks at most so many chunks, those with the most of the phrases, unless too many
have equally many: to rank one takes as long as to find ten."""
COMMON = 0.25
"""A phrase in more than this share of the chunks weighs next to nothing."""
MOST_KEPT = 10_000
"""The most phrases whose counts a connection keeps."""
FEW_WORDS, LEAST_ALIKE, ALIKE_LETTERS = 50, 8, 3
"""More words than a query has are spellings of one. So many that begin with the same letters are looked up together,
ten times faster than one by one."""
_COLUMNS = ", ".join(COLUMNS)
_UNINDEX = (
    f"INSERT INTO chunks_fts (chunks_fts, rowid, {_COLUMNS}) VALUES ('delete', ?, ?, ?, ?, ?, ?)"
)
_INDEX = f"INSERT INTO chunks_fts (rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
_RANK = f"bm25(chunks_fts, {', '.join(map(str, WEIGHTS))})"


class SqliteDatabase(Database):
    """See `Database`. One transaction writes at a time; `VectorTable` follows the table of vectors.

    Args:
        counts: in how many chunks each phrase is, as far as earlier transactions have counted; it is added to.
    """

    def __init__(
        self, connection: sqlite3.Connection, counts: dict[str, int] | None = None
    ) -> None:
        self.connection = connection
        self._counts = {} if counts is None else counts

    def execute(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Rows:
        """See `Database`."""
        return self.connection.execute(statement, values)

    def executemany(self, statement: str, values: Sequence[Sequence[Any]]) -> Rows:
        """See `Database`."""
        return self.connection.executemany(statement, values)

    def index_text(self, rows: Sequence[IndexRow]) -> None:
        """See `Database`."""
        self.connection.executemany(_INDEX, [(chunk_id, *columns) for chunk_id, columns in rows])

    def unindex_text(self, rows: Sequence[IndexRow]) -> None:
        """See `Database`."""
        self.connection.executemany(_UNINDEX, [(chunk_id, *columns) for chunk_id, columns in rows])

    def count_words(self, words: Sequence[str], most: int = MOST_COUNTED) -> dict[str, int]:
        """See `Database`."""
        stems = dict(zip(words, fts5_stems(words), strict=True)) if len(words) > FEW_WORDS else {}
        groups: defaultdict[str, list[str]] = defaultdict(list)
        for word in stems:
            if word.isascii() and word.isalnum():
                groups[stems[word][:ALIKE_LETTERS]].append(word)
        counts: dict[str, int] = {}
        rest = dict.fromkeys(words)
        for group in groups.values():
            if len(group) >= LEAST_ALIKE:
                docs = self._docs([stems[word] for word in group])
                counts |= {
                    word: min(docs[stems[word]], most) for word in group if stems[word] in docs
                }
                for word in group:
                    del rest[word]
        if len(rest) > FEW_WORDS:
            any_word = " OR ".join(map('"{}"'.format, rest))
            query = "SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? LIMIT 1"
            if not self.execute(query, (any_word,)).fetchone():
                return counts
        single = ((word, min(self._count(f'"{word}"'), most)) for word in rest)
        return counts | {word: count for word, count in single if count}

    def _count(self, phrase: str) -> int:
        """How many chunks hold a phrase in FTS5's syntax, not counted further than `search_text` has to know."""
        phrase = phrase.lower()
        if phrase not in self._counts:
            most = max(MOST_MATCHED, int(COMMON * pages.most_chunks(self))) + 1
            query = (
                "SELECT count(*) FROM (SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? LIMIT ?)"
            )
            self._counts[phrase] = self.execute(query, (phrase, most)).fetchone()[0]
        return self._counts[phrase]

    def _docs(self, stems: Sequence[str]) -> dict[str, int]:
        """How many chunks hold each of some stems that begin alike, by one look through that part of the index."""
        self.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, chunks_fts, row)"
        )
        rows = self.execute(
            "SELECT term, doc FROM temp.terms WHERE term BETWEEN ? AND ?", (min(stems), max(stems))
        )
        return dict(rows)

    def search_text(
        self, query: TextQuery, versions: Sequence[int], limit: int
    ) -> list[ScoredChunk]:
        """See `Database`."""
        phrases = match_phrases(query)
        if not phrases or not versions:
            return []
        # Looking up the version of each match costs more than the search, so a search of all versions skips it.
        with_pages = "SELECT id FROM versions WHERE EXISTS (SELECT 1 FROM pages WHERE version_id = versions.id)"
        everywhere = {row[0] for row in self.execute(with_pages)} <= set(versions)
        of_versions = f"AND (SELECT version_id FROM chunks WHERE id = chunks_fts.rowid) IN ({marks(versions)})"
        values: list[Any]
        where, values = ("", []) if everywhere else (of_versions, list(versions))
        expression = " AND ".join(phrases)
        if query.any:
            counts = {phrase: count for phrase in phrases if (count := self._count(phrase))}
            if not counts:
                return []
            rare = {phrase: counts[phrase] for phrase in rarest(counts)}
            common = pages.most_chunks(self) * COMMON
            also = [
                phrase for phrase, count in counts.items() if phrase not in rare and count <= common
            ]
            expression = any_rare = " OR ".join(rare)
            if also:
                expression = f"({any_rare}) AND ({any_rare} OR {' OR '.join(also)})"
            if best := self._best(rare, where, values, 2 * limit):
                where, values = "AND +rowid IN (SELECT value FROM json_each(?))", [json.dumps(best)]
        rows = self.execute(
            f"""
            SELECT chunks.id, page_id, version_id, -score FROM (
                SELECT rowid AS id, {_RANK} AS score FROM chunks_fts
                WHERE chunks_fts MATCH ? {where} ORDER BY score LIMIT ?
            ) AS found JOIN chunks ON chunks.id = found.id ORDER BY score, chunks.id
            """,
            (expression, *values, limit),
        )
        return [ScoredChunk(*row) for row in rows]

    def _best(
        self, counts: Mapping[str, int], where: str, values: Sequence[Any], enough: int
    ) -> list[int]:
        """The chunks with most of some phrases, of which the rarer count more; none if they are not `enough`, since
        many have equally many."""
        import numpy as np

        total = sum(counts.values())
        if total <= MOST_RANKED or total - max(counts.values()) < enough:
            return []
        # One string of all ids takes a third of the time of a row for each.
        query = f"SELECT group_concat(rowid) FROM chunks_fts WHERE chunks_fts MATCH ? {where}"
        chunks = pages.most_chunks(self)
        scores = np.zeros(chunks + 1)  # by the ids of chunks
        for phrase, count in counts.items():
            matching = self.execute(query, (phrase, *values)).fetchone()[0]
            scores[np.fromstring(matching or "", np.int64, sep=",")] += log(1 + chunks / count)
        ids = np.flatnonzero(scores)
        scores = scores[ids]
        if len(ids) > MOST_RANKED:
            place = len(ids) - MOST_RANKED - 1
            least = np.partition(scores, place)[place]
            ids = ids[scores > least + 1e-9]  # equal sums may differ a little
        return ids.tolist() if len(ids) >= enough else []


class MemoryVectors(NearIndex):
    """A `NearIndex`. Each search first reads what other threads and processes have written, so that a process that only
    crawls holds no vectors in memory."""

    def __init__(self, file: Transactions, embedder: str) -> None:
        self._file = file
        self._embedder = embedder
        self._table: VectorTable | None = None
        self._loaded = 0
        self._data_version = -1

    async def nearest(
        self, vector: Vectors, versions: Sequence[int], limit: int
    ) -> list[ScoredChunk]:
        """See `NearIndex`. Another thread scans, so that the thread of the file is free for the search for words."""
        async with self._file.turn():
            rows = await self._file.read(lambda db: self._followed(db, vector.size).snapshot())
            return await in_cache_thread(rows.nearest, vector, versions, limit)

    def _followed(self, db: Database, dimensions: int) -> VectorTable:
        """The up-to-date table in memory; rebuilt after many pages were removed."""
        ((data_version,),) = db.execute("PRAGMA data_version")
        table = (
            self._table
            if self._table is not None and self._table.dimensions == dimensions
            else None
        )
        if table is not None and self._data_version == data_version:
            return table
        counted = "SELECT count(*) FROM vectors WHERE embedder = ? AND dimensions = ?"
        ((count,),) = db.execute(counted, (self._embedder, dimensions))
        if table is None or len(table.pages) > 1.1 * count + 100:
            table, self._loaded = VectorTable(dimensions), 0
            self._table = table
        for row in pages.vectors_after(db, self._embedder, dimensions, self._loaded):
            self._loaded = row.id
            table.put(row.page_id, row.version_id, row.chunk_ids, row.data)
        self._data_version = (
            data_version  # last, so that the next search completes a read that failed
        )
        return table


LEAST_ROWS = 1_024
"""Room for so many is made at first."""
_DEAD = -1


class Snapshot(NamedTuple):
    """The rows of a table at one moment: int8 numbers, their scales, and chunk, page and version. A later change may
    only mark a row as dead."""

    numbers: NDArray[np.int8]
    scales: NDArray[np.float32]
    owners: NDArray[np.int64]

    def nearest(self, vector: Vectors, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """The chunks of these versions with the highest cosine, best first."""
        import numpy as np
        import simsimd  # compares bytes; numpy would first make them four times as long

        rows = len(self.scales)
        if not rows:
            return []
        ((scale,), numbers) = unpack_vectors(pack_vectors(vector.reshape(1, -1)), vector.size)
        scores = np.asarray(simsimd.cdist(numbers, self.numbers, "inner"))[0] * self.scales * scale
        scores[~np.isin(self.owners[2], np.array(versions, np.int64))] = -np.inf
        best = np.argpartition(-scores, min(limit, rows) - 1)[:limit]
        best = best[np.argsort(-scores[best], kind="stable")]
        return [
            ScoredChunk(int(chunk), int(page), int(version), float(score))
            for chunk, page, version, score in zip(*self.owners[:, best], scores[best], strict=True)
            if score > 0
        ]


class VectorTable:
    """Vectors of `dimensions` numbers by chunk; `pages` are the ids of those that have some. Not thread-safe."""

    def __init__(self, dimensions: int) -> None:
        import numpy as np

        self.dimensions = dimensions
        self.pages: set[int] = set()
        self._rows = 0
        self._numbers: NDArray[np.int8] = np.empty((0, dimensions), np.int8)
        self._scales: NDArray[np.float32] = np.empty(0, np.float32)
        self._owners: NDArray[np.int64] = np.empty((3, 0), np.int64)  # chunks, pages, versions

    def put(self, page_id: int, version_id: int, chunk_ids: NDArray[np.int64], data: bytes) -> None:
        """Add the packed vectors of a page, in place of its old ones."""
        import numpy as np

        scales, numbers = unpack_vectors(data, self.dimensions)
        if page_id in self.pages:
            self._owners[2, : self._rows][self._owners[1, : self._rows] == page_id] = _DEAD
        self.pages.add(page_id)
        rows, capacity = self._rows + len(scales), len(self._scales)
        if rows > capacity:
            more = max(rows, capacity + capacity // 2, LEAST_ROWS) - capacity
            self._numbers = np.concatenate(
                [self._numbers, np.empty((more, self.dimensions), np.int8)]
            )
            self._scales = np.concatenate([self._scales, np.empty(more, np.float32)])
            self._owners = np.concatenate([self._owners, np.empty((3, more), np.int64)], axis=1)
        place = slice(self._rows, self._rows + len(scales))
        self._numbers[place], self._scales[place] = numbers, scales
        self._owners[0, place], self._owners[1, place], self._owners[2, place] = (
            chunk_ids,
            page_id,
            version_id,
        )
        self._rows += len(scales)

    def snapshot(self) -> Snapshot:
        """The rows as they are now, without a copy; another thread may read them while the table changes."""
        return Snapshot(
            self._numbers[: self._rows], self._scales[: self._rows], self._owners[:, : self._rows]
        )
