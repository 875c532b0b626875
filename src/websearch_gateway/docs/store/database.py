"""A connection inside a transaction, methods that run as one, and the encodings of what the store keeps.

Bytes are little-endian on every machine. A row of the text index is deterministic, since a delete must repeat the
inserted row.
"""

from __future__ import annotations

import asyncio
import re
import time
import zlib
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

import Stemmer

from websearch_gateway.base import split_cjk
from websearch_gateway.docs.models import TextQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from websearch_gateway.docs.models import ScoredChunk
    from websearch_gateway.ports import Vectors


P = ParamSpec("P")
T = TypeVar("T")

IndexRow = tuple[int, tuple[str, str, str, str, str]]
"""A chunk's id, and its text index row, see `index_row`."""

MOST_VALUES = 500
"""Values in one list of a statement; SQLite allows 32,766 and PostgreSQL 65,535."""


MOST_COUNTED = 2_000
"""A word in so many chunks is not counted further."""


Rows = Any
"""A cursor, as PEP 249 has it: `rowcount`, `fetchone()`, `fetchall()`, and it iterates over its rows."""


class Database(Protocol):
    """A connection inside a transaction. Values replace `?`, or `:name` if they are a mapping.

    Append `lock` to a query to lock its rows until the transaction ends, or `skip_locked` to skip rows that others have
    locked; both are "" if only one transaction writes at a time.
    """

    lock: str = ""
    skip_locked: str = ""

    def execute(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ...) -> Rows:
        """Run a statement."""
        ...

    def executemany(self, statement: str, values: Sequence[Sequence[Any]]) -> Rows:
        """Run a statement once for each of several lists of values."""
        ...

    def index_text(self, rows: Sequence[IndexRow]) -> None:
        """Put chunks into the text index."""
        ...

    def unindex_text(self, rows: Sequence[IndexRow]) -> None:
        """Remove chunks from the text index; the rows must equal the inserted ones."""
        return

    def search_text(
        self, query: TextQuery, versions: Sequence[int], limit: int
    ) -> list[ScoredChunk]:
        """The chunks that contain the phrases, best first. Words match by their stems, without regard to case.

        The fields are the page's title, the heading path, the parts of compound names, code, and the text; they
        weigh 8, 6, 2, 2 and 1.
        """
        ...

    def count_words(self, words: Sequence[str], most: int = MOST_COUNTED) -> dict[str, int]:
        """How many chunks hold each word in some form, up to `most`. Words that none holds are left out."""
        ...

    def index_vectors(
        self, page_id: int, version_id: int, chunk_ids: Sequence[int], vectors: Vectors
    ) -> None:
        """Store the vectors of a page, in place of its old ones."""
        return

    def unindex_vectors(self, page_id: int) -> None:
        """Remove the vectors of a page."""
        return


def marks(values: Sequence[object]) -> str:
    """A placeholder for each of the values."""
    return ", ".join("?" * len(values))


def in_parts(
    db: Database,
    query: str,
    values: Sequence[object],
    before: Sequence[object] = (),
    after: Sequence[object] = (),
) -> Iterator[Any]:
    """The rows of a query for any number of values, whose places are `{}` in it; others come before and after."""
    for start in range(0, len(values), MOST_VALUES):
        some = values[start : start + MOST_VALUES]
        yield from db.execute(query.format(marks(some)), (*before, *some, *after))


Turn = Callable[[], AbstractAsyncContextManager[None]]
"""Waits for the turn of the current caller, which lasts for the block. At most `MOST_SEARCHES` have one at once."""

MOST_SEARCHES = 4
"""The most searches at once."""


def in_order() -> Turn:
    """Turns in the order of the calls."""
    turns = asyncio.Semaphore(MOST_SEARCHES)
    return lambda: turns


class Transactions(Protocol):
    """Runs actions on a database, each in one transaction. `turn` grants searches their turns."""

    turn: Turn

    async def write(self, action: Callable[[Database], T]) -> T:
        """The result of `action`. A failed action may run again.

        Raises:
            StateUnavailable: the database cannot be used.
        """
        ...

    async def read(self, action: Callable[[Database], T]) -> T:
        """The result of `action`, which only reads. Raises what `write` raises."""
        ...

    async def search(self, action: Callable[[Database], T]) -> T:
        """As `read`, in turn and beside up to `MOST_SEARCHES` others. Cancelling the call stops its statement."""
        ...

    async def close(self) -> None:
        """Wait for running actions, then close the database. Idempotent."""
        ...


class NearIndex(Protocol):
    """Finds vectors near to another. The table `vectors` is the source of truth; an index follows it."""

    async def nearest(
        self, vector: Vectors, versions: Sequence[int], limit: int
    ) -> list[ScoredChunk]:
        """See `SqlDocs.search_vectors`. Searches take turns."""
        ...

    async def follow(self) -> None:
        """Index the new vectors now, instead of at a later search."""
        return

    async def close(self) -> None:
        """Release its resources. Idempotent."""
        return


class Transacted:
    """What the parts of `SqlDocs` share.

    Args:
        near: where vectors are searched.
        embedder: the name of the embedder whose vectors are written and searched.
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(
        self,
        file: Transactions,
        near: NearIndex,
        embedder: str,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.file = file
        self.searching = file.search
        self._near = near
        self._embedder = embedder
        self._clock = clock
        self._putting = asyncio.Lock()  # two transactions of many pages may lock the same rows

    async def close(self) -> None:
        """Release files, sockets and threads. Idempotent."""
        await self._near.close()
        await self.file.close()


S = TypeVar("S", bound=Transacted)


Action = Callable[Concatenate[S, Database, P], T]
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


def write(action: Action[S, P, T]) -> Method[S, P, T]:
    """A method of a `Transacted` as a transaction: it is awaited, and called without its database."""
    return _method(action, lambda self: self.file.write)


def read(action: Action[S, P, T]) -> Method[S, P, T]:
    """As `write`, for a method that only reads."""
    return _method(action, lambda self: self.file.read)


def search(action: Action[S, P, T]) -> Method[S, P, T]:
    """As `read`, beside others and in turn."""
    return _method(action, lambda self: self.file.search)


def _method(
    action: Action[S, P, T],
    runner: Callable[[S], Callable[[Callable[[Database], T]], Coroutine[Any, Any, T]]],
) -> Method[S, P, T]:
    @wraps(action)
    def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return runner(self)(lambda db: action(self, db, *args, **kwargs))

    return run


LEVELS = 127


def pack_ids(ids: Sequence[int]) -> bytes:
    """Sorted distinct ids, compressed."""
    import numpy as np

    return zlib.compress(np.unique(np.array(ids, dtype="<i8")).tobytes())


def unpack_ids(data: bytes | None) -> list[int]:
    """The ids that `pack_ids` packed, sorted; none for None."""
    import numpy as np

    return [] if data is None else list(map(int, np.frombuffer(zlib.decompress(data), dtype="<i8")))


def pack_vectors(vectors: Vectors) -> bytes:
    """Per row a float32 scale and int8 numbers: `number * scale` errs by less than 1/254 of the row's largest."""
    import numpy as np

    scales = np.abs(vectors).max(axis=1, initial=0.0) / LEVELS
    rounded = np.rint(vectors / np.where(scales, scales, 1.0)[:, None]).astype(np.int8)
    packed: bytes = scales.astype("<f4").tobytes() + rounded.tobytes()
    return packed


def unpack_vectors(data: bytes, dimensions: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """The scales (rows,) and numbers (rows, dimensions) that `pack_vectors` packed."""
    import numpy as np

    rows = len(data) // (dimensions + 4)
    scales = np.frombuffer(data, dtype="<f4", count=rows).astype(np.float32)
    return scales, np.frombuffer(data, dtype=np.int8, offset=4 * rows).reshape(rows, dimensions)


COLUMNS = ("title", "path", "parts", "code", "text")
WEIGHTS = (8.0, 6.0, 2.0, 2.0, 1.0)

_CODE = re.compile(
    r"^[ \t]*+(`{3,}+|~{3,}+)[^\n]*+\n(.*?)(?:^[ \t]*+\1|\Z)|`([^`\n]{1,500}+)`",
    re.MULTILINE | re.DOTALL,
)
_TARGET = re.compile(r"\]\([^()\s]{0,2000}+(?:\([^()\s]{0,500}+\)[^()\s]{0,500}+)?\)")
_WORD = re.compile(r"[^\W_]++")
_RUN = re.compile(r"\w++")
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_COMPOUND_CHARS = range(3, 81)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def index_row(
    title: str, headings: tuple[str, ...], content: str
) -> tuple[str, str, str, str, str]:
    """The columns of a chunk: page title, headings, parts of camelCase names, code, and text without link targets.

    Words of Chinese, Japanese and Korean are found by their pairs of characters.
    """
    code: list[str] = []

    def take(match: re.Match[str]) -> str:
        code.append(match[2] or match[3] or "")
        return " "

    text = without_targets(
        _CODE.sub(take, content) if "`" in content or "~~~" in content else content
    )
    words = dict.fromkeys(_RUN.findall(f"{' '.join(headings)} {content}"))
    names = (word for word in words if len(word) in _COMPOUND_CHARS and _HUMP.search(word))
    parts = " ".join(part for name in names for part in _PART.findall(name))
    return (
        split_cjk(title),
        split_cjk(" ".join(headings)),
        parts,
        split_cjk(" ".join(code)),
        split_cjk(text),
    )


def without_targets(markdown: str) -> str:
    """Markdown without link addresses."""
    return _TARGET.sub("]", markdown) if "](" in markdown else markdown


def fts5_stems(words: Sequence[str]) -> list[str]:
    """The folded words as the tokenizer `porter` stems them (https://sqlite.org/fts5.html, section 4.3.3)."""
    found: list[str] = Stemmer.Stemmer("porter").stemWords(list(words))
    return found


def match_phrases(query: TextQuery) -> list[str]:
    """The phrases of a query in FTS5's syntax, without those that hold no letter or digit
    (https://sqlite.org/fts5.html, section 3)."""
    phrases = [
        words for phrase in query.phrases if (words := " ".join(_WORD.findall(split_cjk(phrase))))
    ]
    return [f'"{words}"' for words in dict.fromkeys(phrases)]


MOST_MATCHED = 4_000
"""A search for any of several phrases looks for the rarest ones, until that many chunks hold one. Each further thousand
costs a millisecond."""


def rarest(counts: Mapping[str, int]) -> list[str]:
    """The phrases to look for, of all with how many chunks hold them: the rarest in any case."""
    found: list[str] = []
    total = 0
    for phrase in sorted(filter(counts.get, counts), key=counts.__getitem__):
        total += counts[phrase]
        if found and total > MOST_MATCHED:
            break
        found.append(phrase)
    return found


TOO_NEW = "The documentation index was written by a newer version of the gateway. Update this one."
TABLES = """
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
"""
"""In SQLite's words; `postgres` translates the types."""

RANKED = """
DROP INDEX symbols_last;
CREATE INDEX symbols_last ON symbols
    (last, (CASE kind WHEN 'api' THEN 0 WHEN 'option' THEN 1 ELSE 2 END), length(name), version_id);
CREATE INDEX IF NOT EXISTS symbols_name ON symbols
    (lower(name), (CASE kind WHEN 'api' THEN 0 WHEN 'option' THEN 1 ELSE 2 END), name, version_id)
"""
"""The definitions of a name are read in their order, up to a limit; sorting 200,000 of them took two seconds."""

DEATHS = """
ALTER TABLE urls ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
CREATE INDEX urls_deaths ON urls (version_id) WHERE deaths > 0;
ALTER TABLE versions ADD COLUMN reading TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN died_reading TEXT NOT NULL DEFAULT ''
"""
"""`deaths` counts the owners in a row that died with the address in work. `reading` is the list that the owner reads,
`died_reading` the one that the owner before it was reading when it died."""

LEFT_OUT = "ALTER TABLE versions ADD COLUMN left_out TEXT NOT NULL DEFAULT ''"
"""What never comes into the frontier, as JSON: by reason, how many addresses and some of them."""
