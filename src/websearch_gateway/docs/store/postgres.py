"""The store for several machines: PostgreSQL with the extension `vector`.

Its tables, in a schema of their own, equal SQLite's except for the two indexes of chunks.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from websearch_gateway.base import CONNECTION, migration, quieten, words
from websearch_gateway.docs.models import ScoredChunk, TextQuery
from websearch_gateway.docs.store.database import (
    DEATHS,
    LEFT_OUT,
    MOST_COUNTED,
    MOST_SEARCHES,
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
    rarest,
)
from websearch_gateway.docs.store.docs import SqlDocs
from websearch_gateway.docs.store.pages import index_texts
from websearch_gateway.errors import StateUnavailable

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

    from websearch_gateway.ports import Vectors


SCHEMA = "websearch_docs"
_LOCK = 0x646F6373  # a number that nothing else locks; "docs"

_ID = "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
_IN_SQLITE = {
    "INTEGER PRIMARY KEY AUTOINCREMENT": _ID,
    "INTEGER PRIMARY KEY": _ID,
    "INTEGER": "bigint",
    "REAL": "double precision",
    "BLOB": "bytea",
    " WITHOUT ROWID": "",
    "CREATE TABLE symbols (": f"CREATE TABLE symbols (rowid {_ID},",
}
_OWN = """
ALTER TABLE bodies ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE vectors ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX vectors_version ON vectors (version_id);
ALTER TABLE chunks ADD COLUMN words tsvector;
CREATE INDEX chunks_words ON chunks USING gin (words) WITH (fastupdate = off);
CREATE TABLE near (
    chunk_id bigint PRIMARY KEY, page_id bigint NOT NULL, version_id bigint NOT NULL, embedder text NOT NULL,
    dimensions integer NOT NULL, vector halfvec NOT NULL
);
CREATE INDEX near_page ON near (page_id);
CREATE TABLE near_indexes (dimensions integer PRIMARY KEY);
"""


def _make_tables(connection: Connection) -> None:
    """The first tables, and the extension that they need."""
    from psycopg import errors

    tables = TABLES
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    except (
        errors.FeatureNotSupported,
        errors.UndefinedFile,
        errors.InsufficientPrivilege,
    ) as error:
        raise StateUnavailable(
            "The documentation index needs the extension `vector` in PostgreSQL. Install pgvector 0.7 or newer "
            "(https://github.com/pgvector/pgvector) and let an administrator run CREATE EXTENSION vector."
        ) from error
    for type_, own in _IN_SQLITE.items():
        tables = tables.replace(type_, own)
    connection.execute(tables + _OWN)


def _texts_again(connection: Connection) -> None:
    """The words are stemmed as SQLite stems them, and counted: a minute for 30,000 chunks."""
    db = PostgresDatabase(connection, None)
    connection.execute("ALTER TABLE chunks ADD COLUMN length integer NOT NULL DEFAULT 0")
    index_texts(db)


MIGRATIONS: tuple[str | Callable[[Connection], None], ...] = (
    _make_tables,
    RANKED,
    DEATHS,
    _texts_again,
    LEFT_OUT,
)
"""Step n (from 1), a script or a function, takes the tables from version n - 1 to n. Only ever append."""


def migrate(connection: Connection) -> None:
    """Bring the tables up to date, in a transaction; other processes wait for its end.

    Raises:
        StateUnavailable: a newer version of the gateway wrote them, or the extension is not installed.
    """
    steps = migration("schema_version", _LOCK, MIGRATIONS, StateUnavailable(TOO_NEW))
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


T = TypeVar("T")


class PostgresDocs(SqlDocs):
    """See `SqlDocs`.

    Args:
        url: see `PostgresThreads`.
        near: makes the vector index; pgvector by default.
        turn: see `PostgresThreads`.
    """

    def __init__(
        self,
        url: str,
        embedder: str,
        *,
        near: Callable[[Transactions, str], NearIndex] | None = None,
        turn: Turn | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        pool = PostgresThreads(url, None if near else embedder, turn or in_order())
        super().__init__(pool, near(pool, embedder) if near else pool, embedder, clock=clock)


MOST_CONNECTIONS = 4
"""The most connections for crawls; as many searches as may run at once have others."""
CONNECT_SECONDS = 10.0
STATEMENT_SECONDS = 120
"""The time limit of a statement (seconds): removing a large version takes long."""
STOP_AGAIN_SECONDS = 0.05
STOP_SECONDS = 5.0
TRIES = 5
"""The number of attempts for a transaction that conflicts with another."""


class PostgresThreads(NearIndex):
    """A few connections, each with a thread. The first action connects and creates the tables. As a `NearIndex` it has
    nothing to follow: the transactions of a crawl index vectors too.

    Args:
        url: as libpq understands it (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
        embedder: the embedder whose vectors are indexed; None if another index has them.
        turn: grants searches their turns.
    """

    def __init__(self, url: str, embedder: str | None, turn: Turn) -> None:
        self._url = url
        self._embedder = embedder
        self.turn = turn
        self._threads = ThreadPoolExecutor(MOST_CONNECTIONS, thread_name_prefix="docs-postgres")
        self._searchers = ThreadPoolExecutor(MOST_SEARCHES, thread_name_prefix="docs-search")
        self._pool: ConnectionPool[Connection] | None = None
        self._opening = Lock()
        self._closed = False

    async def write(self, action: Callable[[PostgresDatabase], T]) -> T:
        """See `Transactions`."""
        return await asyncio.wrap_future(self._start(self._threads, action, _Use()))

    read = write

    async def search(self, action: Callable[[PostgresDatabase], T]) -> T:
        """See `Transactions`. A cancelled call ends when its action has ended."""
        async with self.turn():
            use = _Use()
            job = self._start(self._searchers, action, use)
            running = asyncio.wrap_future(job)
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                if not job.cancel():  # it has begun
                    while (
                        not running.done()
                    ):  # a cancel that arrives between two statements stops none
                        await asyncio.to_thread(use.stop)
                        await asyncio.wait([running], timeout=STOP_AGAIN_SECONDS)
                    await asyncio.gather(running, return_exceptions=True)
                raise

    async def nearest(
        self, vector: Vectors, versions: Sequence[int], limit: int
    ) -> list[ScoredChunk]:
        """See `NearIndex`."""
        return await self.search(lambda db: db.search_vectors(vector, versions, limit))

    def _start(
        self, threads: ThreadPoolExecutor, action: Callable[[PostgresDatabase], T], use: _Use
    ) -> Future[T]:
        if self._closed:
            raise StateUnavailable("The documentation index is closed.")
        return threads.submit(self._act, action, use)

    async def close(self) -> None:
        """See `Transactions`."""
        if not self._closed:
            self._closed = True
            await asyncio.gather(
                *(asyncio.to_thread(pool.shutdown) for pool in (self._threads, self._searchers))
            )
            if self._pool is not None:
                await asyncio.to_thread(self._pool.close)

    def _act(self, action: Callable[[PostgresDatabase], T], use: _Use) -> T:
        import psycopg
        from psycopg import errors
        from psycopg_pool import PoolTimeout

        try:
            for _ in range(TRIES):
                try:
                    with (
                        self._opened().connection() as connection,
                        connection.transaction(),
                        use.of(connection),
                    ):
                        return action(PostgresDatabase(connection, self._embedder))
                except (errors.DeadlockDetected, errors.SerializationFailure):
                    continue
            raise StateUnavailable(
                "Others keep the documentation index busy. Try again.", retry_after=5
            )
        except PoolTimeout as error:
            raise StateUnavailable(
                "The PostgreSQL server of the documentation index cannot be reached."
            ) from error
        except psycopg.Error as error:  # its message may contain values, such as page text
            raise StateUnavailable(
                f"PostgreSQL cannot serve the documentation index ({type(error).__name__})."
            ) from error

    def _opened(self) -> ConnectionPool[Connection]:
        from psycopg import Connection
        from psycopg_pool import ConnectionPool

        with self._opening:
            if self._pool is None:
                quieten()
                pool = ConnectionPool(
                    self._url,
                    connection_class=Connection,
                    kwargs={
                        **CONNECTION,
                        "options": f"-c search_path={SCHEMA},public -c statement_timeout={STATEMENT_SECONDS}s",
                    },
                    min_size=1,
                    max_size=MOST_CONNECTIONS + MOST_SEARCHES,
                    timeout=CONNECT_SECONDS,
                    check=ConnectionPool.check_connection,
                    open=True,
                )
                try:
                    with pool.connection() as connection:
                        migrate(connection)
                except BaseException:
                    pool.close()
                    raise
                self._pool = pool
            return self._pool


class _Use:
    """The use of a connection by one action, which another thread may stop."""

    def __init__(self) -> None:
        self._connection: Connection | None = None
        self._lock = Lock()

    @contextlib.contextmanager
    def of(self, connection: Connection) -> Iterator[None]:
        self._connection = connection
        try:
            yield
        finally:
            with self._lock:  # never stop the next user of the connection
                self._connection = None

    def stop(self) -> None:
        """Stop the running statement. If the server does not answer, it runs to its end."""
        import psycopg

        with self._lock, contextlib.suppress(psycopg.Error):
            if self._connection is not None:
                self._connection.cancel_safe(timeout=STOP_SECONDS)


LARGEST_INDEXED = 4_000
"""The most dimensions of a `halfvec` that pgvector indexes; longer vectors are compared one by one."""
MOST_RARE = 20_000
"""A word in this many chunks is common; its exact count does not matter."""
LOOKED_AT = 400
"""The vectors near to a query that the index compares: with 100 it misses one result in eight that SQLite finds."""
RANKED_AGAIN = 4
"""So many times the wanted chunks are ranked by BM25."""

_NAMED = re.compile(r"(?<!:):([a-z_]+)")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
# The columns of a chunk by their weights, see `index_row`: title A, headings B, parts and code C, text D.
_INDEX = """
    UPDATE chunks SET words = setweight(to_tsvector('simple', %s), 'A') || setweight(to_tsvector('simple', %s), 'B')
        || setweight(to_tsvector('simple', %s), 'C') || setweight(to_tsvector('simple', %s), 'D'), length = %s
    WHERE id = %s
"""
_WEIGHTS = "'{0.5, 0.7, 0.9, 1}'"  # of D, C, B, A: about what one occurrence counts in BM25


class PostgresDatabase(Database):
    """See `Database`.

    Args:
        embedder: the embedder whose vectors are indexed; None if another index has them.
    """

    lock, skip_locked = "FOR UPDATE", "FOR UPDATE SKIP LOCKED"

    def __init__(self, connection: Connection, embedder: str | None) -> None:
        self._connection = connection
        self._embedder = embedder

    def execute(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Rows:
        """See `Database`."""
        if isinstance(values, Mapping):
            return self._connection.execute(
                _NAMED.sub(r"%(\1)s", statement),
                {name: _clean(value) for name, value in values.items()},
            )
        return self._connection.execute(
            statement.replace("?", "%s"), [_clean(value) for value in values]
        )

    def executemany(self, statement: str, values: Sequence[Sequence[Any]]) -> Rows:
        """See `Database`."""
        cursor = self._connection.cursor()
        cursor.executemany(
            statement.replace("?", "%s"), [[_clean(value) for value in row] for row in values]
        )
        return cursor

    def index_text(self, rows: Sequence[IndexRow]) -> None:
        """See `Database`. The words are deleted with their chunk."""
        values = []
        for id_, (title, path, parts, code, text) in rows:
            weighted = [indexed(title), indexed(path), indexed(f"{parts} {code}"), indexed(text)]
            values.append((*weighted, len(" ".join(weighted).split()), id_))
        self._connection.cursor().executemany(_INDEX, values)

    def search_text(
        self, query: TextQuery, versions: Sequence[int], limit: int
    ) -> list[ScoredChunk]:
        """See `Database`. The best by PostgreSQL's rank are ranked again by BM25."""
        phrases = list(filter(None, dict.fromkeys(map(indexed, query.phrases))))
        if not phrases or not versions:
            return []
        ((total, mean),) = self._connection.execute(
            "SELECT count(*), coalesce(avg(length), 1)::float FROM (SELECT length FROM chunks LIMIT 200000) AS few"
        )
        counted = """
            SELECT count(*) FROM (SELECT 1 FROM chunks WHERE words @@ phraseto_tsquery('simple', %s) LIMIT %s) AS few
        """
        counts: dict[str, int] = {}
        for phrase in phrases:
            counts[phrase] = self._connection.execute(counted, (phrase, MOST_RARE)).fetchall()[0][0]
        ranks = " + ".join(
            f"ln(1 + {total + 0.5} / {count + 0.5}) * ts_rank({_WEIGHTS}, words, phraseto_tsquery('simple', %s), 1)"
            for count in counts.values()
        )
        lexemes = [word for phrase in phrases for word in phrase.split()]
        required = (rarest(counts) or phrases) if query.any else phrases
        match = (" || " if query.any else " && ").join(
            "phraseto_tsquery('simple', %s)" for _ in required
        )
        rows = self._connection.execute(
            f"""
            SELECT id, page_id, version_id, length, (
                SELECT json_object_agg(lexeme, json_build_array(positions, weights)) FROM unnest(words)
                WHERE lexeme = ANY(%s)
            ) FROM chunks
            WHERE words @@ ({match}) AND version_id = ANY(%s) ORDER BY {ranks} DESC, id LIMIT %s
            """,
            [lexemes, *required, list(versions), *phrases, RANKED_AGAIN * limit],
        )
        # SQLite's expression for the same search names the required phrases twice.
        twice = set(required) if len(required) < len(phrases) else set()
        weights = {
            phrase: idf(total, count) * (2 if phrase in twice else 1)
            for phrase, count in counts.items()
        }
        scored = [
            ScoredChunk(id_, page_id, version_id, score(weights, _places(lexemes_at), length, mean))
            for id_, page_id, version_id, length, lexemes_at in rows
        ]
        return sorted(scored, key=lambda chunk: (-chunk.score, chunk.chunk_id))[:limit]

    def count_words(self, words: Sequence[str], most: int = MOST_COUNTED) -> dict[str, int]:
        """See `Database`."""
        stem = dict(zip(words, map(indexed, words), strict=True))
        rows = self._connection.execute(
            """
            SELECT word, (
                SELECT count(*) FROM (SELECT 1 FROM chunks WHERE words @@ to_tsquery('simple', word) LIMIT %s) AS few
            ) FROM unnest(%s::text[]) AS word
            """,
            (most, list(dict.fromkeys(filter(None, stem.values())))),
        )
        counts = {word: count for word, count in rows if count}
        return {word: counts[stemmed] for word, stemmed in stem.items() if stemmed in counts}

    def index_vectors(
        self, page_id: int, version_id: int, chunk_ids: Sequence[int], vectors: Vectors
    ) -> None:
        """See `Database`."""
        dimensions = vectors.shape[1]
        if self._embedder is not None:
            # Before the first write to the table: it locks, and two transactions could wait for each other.
            self._index_near(dimensions)
        self.unindex_vectors(page_id)
        if self._embedder is None:
            return
        written = [f"[{','.join(f'{number:.5g}' for number in row)}]" for row in vectors.tolist()]
        self._connection.cursor().executemany(
            "INSERT INTO near VALUES (%s, %s, %s, %s, %s, %s::halfvec)",
            [
                (id_, page_id, version_id, self._embedder, dimensions, row)
                for id_, row in zip(chunk_ids, written, strict=True)
            ],
        )

    def unindex_vectors(self, page_id: int) -> None:
        """See `Database`."""
        self._connection.execute("DELETE FROM near WHERE page_id = %s", (page_id,))

    def search_vectors(
        self, vector: Vectors, versions: Sequence[int], limit: int
    ) -> list[ScoredChunk]:
        """See `SqlDocs.search_vectors`."""
        dimensions = vector.size
        self._connection.execute(f"SET LOCAL hnsw.ef_search = {LOOKED_AT}")
        # Until enough match.
        self._connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
        written = f"[{','.join(map(str, vector.reshape(-1).tolist()))}]"
        rows = self._connection.execute(
            f"""
            SELECT chunk_id, page_id, version_id, 1 - distance FROM (
                SELECT *, vector::halfvec({dimensions:d}) <=> %s::halfvec({dimensions:d}) AS distance FROM near
                WHERE dimensions = {dimensions:d} AND embedder = %s AND version_id = ANY(%s) ORDER BY distance LIMIT %s
            ) AS nearest WHERE distance < 1
            """,
            (written, self._embedder, list(versions), limit),
        )
        return [ScoredChunk(*row) for row in rows]

    def _index_near(self, dimensions: int) -> None:
        """Create the index for vectors of these dimensions, once."""
        if dimensions > LARGEST_INDEXED:
            return
        existing = "SELECT 1 FROM near_indexes WHERE dimensions = %s"
        if self._connection.execute(existing, (dimensions,)).fetchone():
            return
        # Waits for another transaction that does the same.
        note = "INSERT INTO near_indexes VALUES (%s) ON CONFLICT DO NOTHING RETURNING 1"
        if self._connection.execute(note, (dimensions,)).fetchone() is None:
            return
        self._connection.execute(
            f"""
            CREATE INDEX near_{dimensions:d} ON near
            USING hnsw ((vector::halfvec({dimensions:d})) halfvec_cosine_ops) WHERE dimensions = {dimensions:d}
            """
        )


def _places(lexemes_at: Mapping[str, tuple[Sequence[int], Sequence[str]]]) -> Places:
    """The places of lexemes, given the positions and the columns of each."""
    places: dict[str, list[tuple[int, float]]] = {}
    for lexeme, (positions, columns) in lexemes_at.items():
        weights = [COLUMN_WEIGHTS[column] for column in columns]
        places[lexeme] = list(zip(positions, weights, strict=True))
    return places


def _clean(value: Any) -> Any:
    """A value without characters that PostgreSQL cannot store in a text."""
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else value


Places = Mapping[str, Sequence[tuple[int, float]]]
"""The positions of each lexeme of a chunk, with the weight of its column."""

COLUMN_WEIGHTS = dict(zip("ABCCD", WEIGHTS, strict=True))  # parts and code share C
K1, B = 1.2, 0.75
LEAST_IDF = 1e-6


def idf(total: int, count: int) -> float:
    """The weight of a phrase that `count` of `total` chunks hold (https://sqlite.org/fts5.html, section 5.1.1)."""
    return max(LEAST_IDF, math.log((max(0, total - count) + 0.5) / (count + 0.5)))


def score(phrases: Mapping[str, float], places: Places, length: int, mean: float) -> float:
    """The rank of a chunk; higher is better.

    Args:
        phrases: each with its `idf`.
        length: the words of the chunk; `mean` those of all chunks.
    """
    norm = K1 * (1 - B + B * length / mean)
    counts = ((weight, _count(phrase.split(), places)) for phrase, weight in phrases.items())
    return sum(weight * count * (K1 + 1) / (count + norm) for weight, count in counts)


def _count(words: Sequence[str], places: Places) -> float:
    """How often the words stand in a row, each time with the weight of its column."""
    first, *following = words
    positions_of = [{position for position, _ in places.get(word, ())} for word in following]
    count = 0.0
    for position, weight in places.get(first, ()):
        if all(position + step in positions for step, positions in enumerate(positions_of, 1)):
            count += weight
    return count


MOST_CHARS = 200_000
"""A tsvector holds a megabyte at most; a chunk rarely has more than 3,000 characters."""


def indexed(text: str) -> str:
    """The separate words of a text, stemmed as SQLite's index stems them, so that both find the same."""
    return " ".join(fts5_stems(words(text[:MOST_CHARS])))
