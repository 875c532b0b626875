"""What PostgreSQL is asked for: how much, for how long, and how often. A connection that notes it needs no server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import psycopg_pool
import pytest
from psycopg import errors

from tests.patience import PATIENCE
from websearch_gateway.docs.models import TextQuery
from websearch_gateway.docs.store import postgres
from websearch_gateway.docs.store.database import in_order
from websearch_gateway.docs.store.postgres import (
    PostgresDatabase,
    PostgresThreads,
    _Use,
    idf,
    indexed,
    score,
)
from websearch_gateway.errors import StateUnavailable


class Rows(list[Any]):
    description = True

    def fetchone(self) -> Any:
        return self[0] if self else None

    fetchall = list.copy


class Connection:
    """Notes statements with their values, and answers by a part of the statement."""

    def __init__(self, **answers: Sequence[Any]) -> None:
        self.answers = answers
        self.ran: list[tuple[str, Any]] = []

    def execute(self, statement: str, values: Any = ()) -> Rows:
        self.ran.append((statement, values))
        found = (rows for part, rows in self.answers.items() if part in statement)
        return Rows(next(found, ()))

    def executemany(self, statement: str, values: Any) -> None:
        self.ran.append((statement, values))

    def cursor(self) -> Connection:
        return self

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield

    def values_of(self, part: str) -> list[Any]:
        return [values for statement, values in self.ran if part in statement]


def database(connection: Connection, embedder: str | None = "tests/1") -> PostgresDatabase:
    return PostgresDatabase(connection, embedder)  # type: ignore[arg-type]


def threads(monkeypatch: pytest.MonkeyPatch) -> PostgresThreads:
    """The threads of a database, whose connections all note what they run."""

    class Pool:
        def connection(self) -> Any:
            return nullcontext(Connection())

        def close(self) -> None:
            pass

    monkeypatch.setattr(PostgresThreads, "_opened", lambda _: Pool())
    return PostgresThreads("", "tests/1", in_order())


async def test_a_pool_has_eight_connections_and_waits_ten_seconds_for_one_and_two_minutes_for_a_statement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noted: list[dict[str, Any]] = []

    class Pool:
        check_connection = None

        def __init__(self, url: str, **options: Any) -> None:
            noted.append(options)

        def connection(self) -> Any:
            return nullcontext(Connection())

        def close(self) -> None:
            noted.append({})

    monkeypatch.setattr(psycopg_pool, "ConnectionPool", Pool)
    monkeypatch.setattr(postgres, "migrate", lambda connection: None)
    opened = PostgresThreads("", "tests/1", in_order())
    for _ in range(2):
        await opened.write(lambda db: None)
    (options,) = noted
    assert (options["max_size"], options["timeout"]) == (8, 10.0)
    assert "statement_timeout=120s" in options["kwargs"]["options"]
    for _ in range(2):
        await opened.close()
    assert len(noted) == 2
    await PostgresThreads("", "tests/1", in_order()).close()
    assert len(noted) == 2


async def test_four_transactions_of_crawls_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = threads(monkeypatch)
    lock, four, more = threading.Lock(), threading.Event(), threading.Event()
    running = 0

    def act(_: object) -> None:
        nonlocal running
        with lock:
            running += 1
            if running == 4:
                four.set()
            if running > 4:
                more.set()
        assert four.wait(PATIENCE)
        assert not more.wait(0.05)
        with lock:
            running -= 1

    await asyncio.gather(*(opened.write(act) for _ in range(5)))
    await opened.close()


async def test_a_transaction_that_conflicts_with_another_is_tried_five_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened, tries = threads(monkeypatch), []

    def act(_: object) -> None:
        tries.append(1)
        raise errors.DeadlockDetected

    with pytest.raises(StateUnavailable, match="busy"):
        await opened.write(act)
    await opened.close()
    assert len(tries) == 5


def test_a_statement_is_stopped_within_five_seconds() -> None:
    asked: list[float] = []

    class Stoppable(Connection):
        def cancel_safe(self, *, timeout: float) -> None:
            asked.append(timeout)

    use = _Use()
    use.stop()
    with use.of(Stoppable()):  # type: ignore[arg-type]
        use.stop()
    use.stop()
    assert asked == [5.0]


async def test_a_cancelled_search_is_stopped_again_every_twentieth_of_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened, running, stops, waits = threads(monkeypatch), threading.Event(), [], []
    go_on = threading.Event()
    wait = asyncio.wait

    def stop(self: _Use) -> None:
        stops.append(1)
        if len(stops) == 3:
            go_on.set()

    async def noted(tasks: Any, timeout: float) -> Any:
        waits.append(timeout)
        return await wait(tasks, timeout=0.001 if len(stops) < 3 else None)

    def act(_: object) -> None:
        running.set()
        go_on.wait(PATIENCE)

    monkeypatch.setattr(_Use, "stop", stop)
    search = asyncio.create_task(opened.search(act))
    await asyncio.to_thread(running.wait, PATIENCE)
    monkeypatch.setattr(postgres.asyncio, "wait", noted)
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    monkeypatch.undo()
    assert waits == [0.05] * 3
    await opened.close()


def test_tables_are_made_under_one_lock_by_every_version_of_the_gateway() -> None:
    connection = Connection(coalesce=[(len(postgres.MIGRATIONS),)])
    postgres.migrate(connection)  # type: ignore[arg-type]
    assert connection.values_of("pg_advisory_xact_lock")[0] == (0x646F6373,)


@pytest.mark.parametrize(
    ("dimensions", "answers", "is_made"),
    [
        (4_000, {"RETURNING 1": [(1,)]}, True),
        (4_001, {"RETURNING 1": [(1,)]}, False),
        (8, {"SELECT 1 FROM near_indexes": [(1,)], "RETURNING 1": [(1,)]}, False),
        (8, {}, False),  # another transaction has made it
    ],
)
def test_vectors_of_up_to_four_thousand_dimensions_get_an_index_once(
    dimensions: int, answers: dict[str, Any], is_made: bool
) -> None:
    connection = Connection(**answers)
    database(connection)._index_near(dimensions)
    assert bool(connection.values_of("CREATE INDEX")) is is_made


@pytest.mark.parametrize(("embedder", "is_indexed"), [("tests/1", True), (None, False)])
def test_vectors_are_indexed_here_unless_another_index_has_them(
    embedder: str | None, is_indexed: bool
) -> None:
    connection = Connection()
    vectors = np.ones((2, 3), np.float32)
    database(connection, embedder).index_vectors(1, 1, [5, 6], vectors)
    assert bool(connection.values_of("near_indexes")) is is_indexed
    assert bool(connection.values_of("INSERT INTO near VALUES")) is is_indexed
    assert connection.values_of("DELETE FROM near") == [(1,)]


def test_a_search_looks_at_four_hundred_vectors_near_the_query() -> None:
    connection = Connection()
    database(connection).search_vectors(np.ones((1, 3), np.float32), [1], 5)
    assert connection.ran[0][0] == "SET LOCAL hnsw.ef_search = 400"


def searched(query: TextQuery, limit: int = 5, **counts: int) -> tuple[Connection, list[Any]]:
    """What a search asks for, and what it finds in a chunk of each word."""

    class Counting(Connection):
        def execute(self, statement: str, values: Any = ()) -> Rows:
            super().execute(statement, values)
            if "avg(length)" in statement:
                return Rows([(100, 10.0)])
            if "LIMIT %s) AS few" in statement:
                return Rows([(counts[values[0]],)])
            return Rows((id_, 1, 1, 10, {word: ([1], ["D"])}) for id_, word in enumerate(counts, 1))

    connection = Counting()
    return connection, database(connection).search_text(query, [1], limit)


def test_a_search_counts_up_to_twenty_thousand_chunks_and_ranks_four_times_the_wanted_ones() -> (
    None
):
    connection, _ = searched(TextQuery(("tide",)), 7, tide=1)
    assert connection.values_of("LIMIT %s) AS few") == [("tide", 20_000)]
    assert connection.values_of("ORDER BY")[0][-1] == 28


def test_a_required_phrase_counts_twice_where_not_all_are_required() -> None:
    _, both = searched(TextQuery(("tide", "gull"), any=True), tide=1, gull=2)
    assert [hit.score for hit in both] == pytest.approx([idf(100, 1), idf(100, 2)])
    _, one = searched(TextQuery(("tide", "gull"), any=True), tide=1, gull=9_000)
    assert one[0].score == pytest.approx(2 * idf(100, 1))
    _, known = searched(TextQuery(("tide", "gull"), any=True), tide=1, gull=0)
    assert known[0].score == pytest.approx(2 * idf(100, 1))


def test_words_are_counted_by_their_stems() -> None:
    connection = Connection(**{"AS word": [("window", 3), ("door", 0)]})
    counts = database(connection).count_words(["windows", "window", "door", "gate"])
    assert counts == {"windows": 3, "window": 3}
    assert connection.ran[0][1] == (2_000, ["window", "door", "gate"])


@pytest.mark.parametrize(
    ("total", "count", "weight"),
    [(10, 1, 1.845827), (10, 5, 1e-6), (10, 10, 1e-6), (10, 20, 1e-6), (100, 1, 4.194693)],
)
def test_a_phrase_weighs_the_more_the_rarer_it_is(total: int, count: int, weight: float) -> None:
    assert idf(total, count) == pytest.approx(weight, rel=1e-5)


@pytest.mark.parametrize(
    ("places", "length", "rank"),
    [
        ([(0, 1.0)], 20, 2.0),
        ([(0, 1.0)], 10, 4.4 / 1.75),
        ([(0, 1.0), (5, 2.0)], 20, 13.2 / 4.2),
        ([], 20, 0.0),
    ],
)
def test_a_chunk_ranks_the_higher_the_more_often_and_the_shorter(
    places: list[tuple[int, float]], length: int, rank: float
) -> None:
    """BM25 with the constants of SQLite (https://sqlite.org/fts5.html, section 5.1.1)."""
    assert score({"a": 2.0}, {"a": places}, length, 20.0) == pytest.approx(rank)


@pytest.mark.parametrize(("second", "count"), [([2], 1), ([3], 0), ([2, 5], 2), ([], 0)])
def test_the_words_of_a_phrase_stand_in_a_row(second: list[int], count: int) -> None:
    places = {"high": [(1, 1.0), (4, 1.0)], "tide": [(place, 1.0) for place in second]}
    assert postgres._count(["high", "tide"], places) == count


def test_the_first_two_hundred_thousand_characters_of_a_text_are_indexed() -> None:
    assert indexed(" " * 199_996 + "tide past") == "tide"


def act_of(error: Exception) -> Callable[[object], None]:
    def act(_: object) -> None:
        raise error

    return act


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (psycopg_pool.PoolTimeout(), "cannot be reached"),
        (errors.DiskFull(), r"cannot serve the documentation index \(DiskFull\)"),
    ],
)
async def test_an_error_of_the_server_is_told_without_its_values(
    monkeypatch: pytest.MonkeyPatch, error: Exception, message: str
) -> None:
    opened = threads(monkeypatch)
    with pytest.raises(StateUnavailable, match=message):
        await opened.write(act_of(error))
    await opened.close()
    with pytest.raises(StateUnavailable, match="closed"):
        await opened.write(act_of(error))
