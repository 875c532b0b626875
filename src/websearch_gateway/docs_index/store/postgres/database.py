"""A PostgreSQL connection as a `Database`: text search by tsvector, vectors by pgvector's HNSW."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from websearch_gateway.docs_index.models import ScoredChunk, TextQuery
from websearch_gateway.docs_index.store.postgres import bm25
from websearch_gateway.docs_index.store.postgres.words import indexed, phrases
from websearch_gateway.docs_index.store.sql.database import MOST_COUNTED, IndexRow, Rows

if TYPE_CHECKING:
    from psycopg import Connection

    from websearch_gateway.ports import Vectors

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


class PostgresDatabase:
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
            return self._connection.execute(_named(statement), {name: _clean(one) for name, one in values.items()})
        return self._connection.execute(_numbered(statement), [_clean(one) for one in values])

    def executemany(self, statement: str, values: Sequence[Sequence[Any]]) -> Rows:
        """See `Database`."""
        cursor = self._connection.cursor()
        cursor.executemany(_numbered(statement), [[_clean(one) for one in row] for row in values])
        return cursor

    def index_text(self, rows: Sequence[IndexRow]) -> None:
        """See `Database`."""
        if rows:
            values = [(*weighted, sum(map(_words, weighted)), id_) for id_, weighted in _weighted_rows(rows)]
            self._connection.cursor().executemany(_INDEX, values)

    def unindex_text(self, rows: Sequence[IndexRow]) -> None:
        """See `Database`. The words are deleted with their chunk."""

    def search_text(self, query: TextQuery, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """See `Database`. The best by PostgreSQL's rank are ranked again by BM25."""
        if not (wanted := phrases(query)) or not versions:
            return []
        ((total, mean),) = self._connection.execute(
            "SELECT count(*), coalesce(avg(length), 1)::float FROM (SELECT length FROM chunks LIMIT 200000) AS few"
        )
        counted = """
            SELECT count(*) FROM (SELECT 1 FROM chunks WHERE words @@ phraseto_tsquery('simple', %s) LIMIT %s) AS few
        """
        found = [self._connection.execute(counted, (one, MOST_RARE)).fetchall()[0][0] for one in wanted]
        ranks = " + ".join(
            f"ln(1 + {total + 0.5} / {count + 0.5}) * ts_rank({_WEIGHTS}, words, phraseto_tsquery('simple', %s), 1)"
            for count in found
        )
        match = (" || " if query.any else " && ").join("phraseto_tsquery('simple', %s)" for _ in wanted)
        rows = self._connection.execute(
            f"""
            SELECT id, page_id, version_id, length, (
                SELECT json_object_agg(lexeme, json_build_array(positions, weights)) FROM unnest(words)
                WHERE lexeme = ANY(%s)
            ) FROM chunks
            WHERE words @@ ({match}) AND version_id = ANY(%s) ORDER BY {ranks} DESC, id LIMIT %s
            """,
            [[word for one in wanted for word in one.split()], *wanted, list(versions), *wanted, RANKED_AGAIN * limit],
        )
        weights = {one: bm25.idf(total, count) for one, count in zip(wanted, found, strict=True)}
        scored = [
            ScoredChunk(id_, page_id, version_id, bm25.score(weights, _places(held), length, mean))
            for id_, page_id, version_id, length, held in rows
        ]
        return sorted(scored, key=lambda one: (-one.score, one.chunk_id))[:limit]

    def count_words(self, words: Sequence[str]) -> dict[str, int]:
        """See `Database`."""
        stem = dict(zip(words, map(indexed, words), strict=True))
        rows = self._connection.execute(
            """
            SELECT word, (
                SELECT count(*) FROM (SELECT 1 FROM chunks WHERE words @@ to_tsquery('simple', word) LIMIT %s) AS few
            ) FROM unnest(%s::text[]) AS word
            """,
            (MOST_COUNTED, list(dict.fromkeys(filter(None, stem.values())))),
        )
        counts = {word: count for word, count in rows if count}
        return {word: counts[found] for word, found in stem.items() if found in counts}

    def index_vectors(self, page_id: int, version_id: int, chunk_ids: Sequence[int], vectors: Vectors) -> None:
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

    def search_vectors(self, vector: Vectors, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """See `ChunkIndex.search_vectors`."""
        dimensions = vector.size
        self._connection.execute(f"SET LOCAL hnsw.ef_search = {LOOKED_AT}")
        self._connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")  # until enough match
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
        known = "SELECT 1 FROM near_indexes WHERE dimensions = %s"
        if dimensions > LARGEST_INDEXED or self._connection.execute(known, (dimensions,)).fetchone():
            return
        self._connection.execute("LOCK TABLE near_indexes IN EXCLUSIVE MODE")
        if self._connection.execute(known, (dimensions,)).fetchone():
            return
        self._connection.execute("INSERT INTO near_indexes VALUES (%s)", (dimensions,))
        self._connection.execute(
            f"""
            CREATE INDEX near_{dimensions:d} ON near
            USING hnsw ((vector::halfvec({dimensions:d})) halfvec_cosine_ops) WHERE dimensions = {dimensions:d}
            """
        )


def _places(held: Mapping[str, tuple[Sequence[int], Sequence[str]]]) -> bm25.Places:
    return {
        lexeme: [(place, bm25.COLUMN_WEIGHTS[weight]) for place, weight in zip(places, weights, strict=True)]
        for lexeme, (places, weights) in held.items()
    }


def _weighted_rows(rows: Sequence[IndexRow]) -> Iterator[tuple[int, tuple[str, str, str, str]]]:
    for id_, (title, path, parts, code, text) in rows:
        yield id_, (indexed(title), indexed(path), indexed(f"{parts} {code}"), indexed(text))


def _words(text: str) -> int:
    return text.count(" ") + bool(text)


@lru_cache(maxsize=512)
def _named(statement: str) -> str:
    return _NAMED.sub(r"%(\1)s", statement)


@lru_cache(maxsize=512)
def _numbered(statement: str) -> str:
    return statement.replace("?", "%s")


def _clean(value: Any) -> Any:
    """A value without characters that PostgreSQL cannot store in a text."""
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else value
