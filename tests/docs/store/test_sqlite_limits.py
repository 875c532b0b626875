"""What SQLite's index counts, ranks, keeps and checks, and how long it waits."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.docs.conftest import BASE, commit, page, vectors, version
from websearch_gateway.base.sql import migrate
from websearch_gateway.docs.models import TextQuery
from websearch_gateway.docs.store import sqlite
from websearch_gateway.docs.store.database import IndexRow, in_order, pack_vectors
from websearch_gateway.docs.store.sqlite import (
    MemoryVectors,
    SqliteDatabase,
    SqliteDocs,
    SqliteThreads,
    VectorTable,
)
from websearch_gateway.errors import StateUnavailable


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        migrate(opened, sqlite.MIGRATIONS, StateUnavailable("newer"))
        yield opened


class Noting(SqliteDatabase):
    """Notes the statements that it runs."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.ran: list[tuple[str, object]] = []

    def execute(self, statement: str, values: object = ()) -> object:  # type: ignore[override]
        self.ran.append((statement, values))
        return super().execute(statement, values)  # type: ignore[arg-type]

    def count(self, part: str) -> int:
        return sum(part in statement for statement, _ in self.ran)


def indexed(connection: sqlite3.Connection, *texts: str) -> Noting:
    """A database whose only version has a page with these chunks."""
    db = Noting(connection)
    connection.execute(
        "INSERT INTO versions (name, label, url, options, status, added_at) VALUES ('x', '1', '', '{}', '', 0)"
    )
    connection.execute("INSERT INTO pages VALUES (1, 1, 1, '', '', '', x'', 0)")
    rows: list[IndexRow] = [(id_, ("", "", "", "", text)) for id_, text in enumerate(texts, 1)]
    connection.executemany(
        "INSERT INTO chunks (id, version_id, page_id, ordinal, section, start, stop, headings, anchor, before, after) "
        "VALUES (?, 1, 1, 0, x'', 0, 0, '', '', '', '')",
        [(id_,) for id_, _ in rows],
    )
    db.index_text(rows)
    return db


def test_a_word_is_counted_up_to_two_thousand_chunks(connection: sqlite3.Connection) -> None:
    db = indexed(connection, *["window"] * 2_001)
    assert db.count_words(["window", "door"]) == {"window": 2_000}
    assert db.count_words(["window"], 7) == {"window": 7}


@pytest.mark.parametrize(("words", "looks"), [(50, 50), (51, 1)])
def test_more_than_fifty_words_of_which_none_is_known_take_one_look(
    connection: sqlite3.Connection, words: int, looks: int
) -> None:
    db = indexed(connection, "window")
    unknown = [f"{first}{second}x" for first in "abcdefgh" for second in "abcdefgh"][:words]
    assert db.count_words(unknown) == {}
    assert db.count("MATCH") == looks


@pytest.mark.parametrize(("alike", "is_together"), [(6, False), (7, True)])
def test_eight_of_many_words_that_begin_with_the_same_three_letters_are_looked_up_together(
    connection: sqlite3.Connection, alike: int, is_together: bool
) -> None:
    db = indexed(connection, *["windaz"] * 3, "windbz", *["winzbz"] * 2)
    words = [f"wind{letter}z" for letter in "abcdefgh"[:alike]]
    others = [f"{first}{second}xq" for first in "abcdefgh" for second in "abcdefg"]
    assert db.count_words([*words, *others, "winzbz"], 2) == {
        "windaz": 2,
        "windbz": 1,
        "winzbz": 2,
    }
    # "winzbz" begins alike too.
    assert bool(db.count("temp.terms WHERE")) is is_together


def test_words_that_begin_with_the_same_two_letters_are_looked_up_one_by_one(
    connection: sqlite3.Connection,
) -> None:
    db = indexed(connection, "wiadow")
    words = [f"wi{letter}dow" for letter in "abcdefgh"]
    others = [f"{first}{second}xq" for first in "abcdefgh" for second in "abcdefg"]
    assert db.count_words([*words, *others]) == {"wiadow": 1}
    assert db.count("temp.terms WHERE") == 0
    words = [f"win{letter}ow" for letter in "abcdefgh"]
    db.count_words([*words, *others])
    assert db.count("temp.terms WHERE") == 1


@pytest.mark.parametrize(("rare", "is_left_out"), [(25, False), (26, True)])
def test_a_phrase_in_more_than_a_quarter_of_the_chunks_does_not_count(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, rare: int, is_left_out: bool
) -> None:
    monkeypatch.setattr("websearch_gateway.docs.store.database.MOST_MATCHED", 10)
    texts = ["rare"] * 5 + ["often"] * rare
    db = indexed(connection, *texts, *["other"] * (100 - len(texts)))
    assert len(db.search_text(TextQuery(("rare", "often"), any=True), [1], 50)) == 5
    expression = db.ran[-1][1][0]  # type: ignore[index]
    assert ("often" not in expression) is is_left_out


@pytest.mark.parametrize(("chunks", "is_chosen"), [(300, False), (301, True)])
def test_more_than_six_hundred_matches_are_narrowed_to_those_with_most_phrases(
    connection: sqlite3.Connection, chunks: int, is_chosen: bool
) -> None:
    both = ["north south"] * 2
    db = indexed(connection, *both, *["north"] * (chunks - 2), *["south"] * (chunks - 2))
    hits = db.search_text(TextQuery(("north", "south"), any=True), [1], 1)
    assert [hit.chunk_id for hit in hits] == [1]
    assert bool(db.count("json_each")) is is_chosen


def test_six_hundred_chunks_with_most_phrases_are_ranked(connection: sqlite3.Connection) -> None:
    db = indexed(connection, *["north south"] * 700, *["north"] * 100, *["south"] * 90)
    counts = {'"north"': 800, '"south"': 790}
    assert db._best(counts, "", [], 10) == []  # too many have both
    db = indexed_again(connection, *["north south"] * 590, *["north"] * 100, *["south"] * 90)
    assert len(db._best({'"north"': 690, '"south"': 680}, "", [], 10)) == 590


def indexed_again(connection: sqlite3.Connection, *texts: str) -> Noting:
    connection.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')")
    for table in ("versions", "pages", "chunks"):
        connection.execute(f"DELETE FROM {table}")
    return indexed(connection, *texts)


@pytest.mark.parametrize(
    ("counts", "enough", "is_looked_at"),
    [
        ({'"north"': 300, '"south"': 300}, 10, False),
        ({'"north"': 300, '"south"': 301}, 10, True),
        ({'"north"': 900, '"south"': 9}, 10, False),
        ({'"north"': 900, '"south"': 10}, 10, True),
    ],
)
def test_chunks_with_several_phrases_are_looked_for_where_there_may_be_enough(
    connection: sqlite3.Connection, counts: dict[str, int], enough: int, is_looked_at: bool
) -> None:
    db = indexed(connection, "north", "south")
    db._best(counts, "", [], enough)
    assert bool(db.count("group_concat")) is is_looked_at


@pytest.mark.parametrize(("kept", "is_kept"), [(10_000, True), (10_001, False)])
async def test_the_counts_of_ten_thousand_phrases_are_kept(
    tmp_path: Path, kept: int, is_kept: bool
) -> None:
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    counts: list[dict[str, int]] = []

    def act(db: SqliteDatabase) -> None:
        counts.append(db._counts)
        db._counts.update({str(number): 1 for number in range(kept)})

    for _ in range(2):
        await store.searching(act)  # type: ignore[arg-type]
    assert (counts[0] is counts[1]) is is_kept
    await store.close()


async def test_what_was_counted_before_a_change_is_forgotten(tmp_path: Path) -> None:
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    for expected in ({}, {"a": 1}):
        assert await store.searching(lambda db: dict(db._counts)) == expected  # type: ignore[attr-defined]
        await store.searching(lambda db: db._counts.update(a=1))  # type: ignore[attr-defined]
    await version(store)
    assert await store.searching(lambda db: dict(db._counts)) == {}  # type: ignore[attr-defined]
    await store.file.write(lambda db: db._counts.update(a=1))  # type: ignore[attr-defined]
    assert await store.file.write(lambda db: dict(db._counts)) == {}  # type: ignore[attr-defined]
    await store.close()


@pytest.mark.parametrize(("size", "is_checked"), [(300_000_000, True), (300_000_001, False)])
def test_a_file_of_at_most_three_hundred_million_bytes_is_checked_when_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, is_checked: bool
) -> None:
    threads = SqliteThreads(tmp_path / "docs.db", in_order())
    ran: list[str] = []
    opened = sqlite.opened

    def noting(path: Path, seconds: float) -> sqlite3.Connection:
        assert seconds == 10.0
        connection = opened(path, seconds)
        connection.set_trace_callback(ran.append)
        monkeypatch.setattr(Path, "stat", lambda self, **_: SimpleNamespace(st_size=size))
        return connection

    monkeypatch.setattr(sqlite, "opened", noting)
    connection = threads.open(writes=True)
    monkeypatch.undo()
    connection.close()
    assert any("quick_check" in statement for statement in ran) is is_checked


async def test_a_search_looks_every_ten_thousand_steps_whether_it_should_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[int] = []

    class Connection(sqlite3.Connection):
        def set_progress_handler(self, handler: object, step: int) -> None:  # type: ignore[override]
            steps.append(step)

    monkeypatch.setattr(
        sqlite,
        "opened",
        lambda path, _: sqlite3.connect(
            path, factory=Connection, check_same_thread=False, isolation_level=None
        ),
    )
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    await store.searching(lambda db: None)
    await store.close()
    assert steps == [10_000]


def test_a_table_of_vectors_has_room_for_1024_rows_and_then_grows_by_half() -> None:
    table = VectorTable(2)
    rooms = []
    for page_id, rows in enumerate((1, 1_023, 1, 2_000), 1):
        data = pack_vectors(np.ones((rows, 2), np.float32))
        table.put(page_id, 1, np.arange(rows), data)
        rooms.append(len(table._scales))
    assert rooms == [1_024, 1_024, 1_536, 3_025]


def test_the_vectors_of_a_page_take_the_place_of_its_old_ones() -> None:
    table = VectorTable(2)
    east, north = (np.array([row], np.float32) for row in ((1, 0), (0, 1)))
    table.put(1, 1, np.array([10]), pack_vectors(east))
    table.put(2, 1, np.array([20]), pack_vectors(east))
    table.put(1, 1, np.array([11]), pack_vectors(north))
    rows = table.snapshot()
    assert [hit.chunk_id for hit in rows.nearest(east, [1], 5)] == [20]
    assert [hit.chunk_id for hit in rows.nearest(north, [1], 5)] == [11]
    assert rows.nearest(east, [2], 5) == []
    assert VectorTable(2).snapshot().nearest(east, [1], 5) == []


async def test_the_vectors_in_memory_are_read_again_after_many_pages_were_removed(
    tmp_path: Path,
) -> None:
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    id_ = await version(store)
    near = store._near
    assert isinstance(near, MemoryVectors)
    for name in ("a", "b"):
        await commit(store, id_, page(f"{BASE}{name}.html", f"Text {name}."), vectors((1, 0)))
    tables = []
    for more in (0, 100, 200):
        await store.search_vectors(vectors((1, 0)), [id_], 5)
        assert near._table is not None
        tables.append(near._table)
        near._table.pages |= set(range(1_000, 1_000 + more))
        await commit(store, id_, page(f"{BASE}{more}.html", f"Text {more}."), vectors((0, 1)))
    await store.search_vectors(vectors((1, 0)), [id_], 5)
    tables.append(near._table)
    assert [later is table for table, later in pairwise(tables)] == [
        True,
        True,
        False,
    ]
    await store.search_vectors(np.ones((1, 3), np.float32), [id_], 5)
    assert near._table.dimensions == 3
    await store.close()


async def test_the_vectors_of_an_unchanged_file_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    id_ = await version(store)
    reads = []
    real = sqlite.pages.vectors_after
    monkeypatch.setattr(
        sqlite.pages, "vectors_after", lambda *values: reads.append(values[-1]) or real(*values)
    )
    for count in (1, 2):
        await commit(store, id_, page(f"{BASE}{count}.html", f"Text {count}."), vectors((1, 0)))
        for _ in range(2):
            assert len(await store.search_vectors(vectors((1, 0)), [id_], 5)) == count
    assert len(reads) == 2
    await store.close()


@pytest.mark.parametrize("versions", [[], [1]])
def test_without_a_version_or_a_phrase_nothing_is_found(
    connection: sqlite3.Connection, versions: list[int]
) -> None:
    db = indexed(connection, "window")
    assert db.search_text(TextQuery(("?",)), versions, 5) == []
    assert len(db.search_text(TextQuery(("window",)), versions, 5)) == len(versions)


def test_a_search_of_all_versions_does_not_look_up_the_version_of_each_match(
    connection: sqlite3.Connection,
) -> None:
    db = indexed(connection, "window")
    for versions, is_looked_up in (([1], False), ([1, 2], False), ([2], True)):
        db.ran.clear()
        assert len(db.search_text(TextQuery(("window",)), versions, 5)) == (1 in versions)
        assert bool(db.count("AND (SELECT version_id")) is is_looked_up


async def test_a_closed_index_says_so(tmp_path: Path) -> None:
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    await store.versions()
    for _ in range(2):
        await store.close()
    with pytest.raises(StateUnavailable, match="closed"):
        await store.versions()
