"""The tables of the SQLite file."""

import sqlite3
from contextlib import closing

import pytest

from tests.docs.conftest import BASE, commit, page, search_text, version, with_symbols
from websearch_gateway.base.sql import migrate
from websearch_gateway.docs.models import Symbol, TextQuery
from websearch_gateway.docs.store import sqlite as sqlite_schema
from websearch_gateway.docs.store.pages import find_symbols
from websearch_gateway.docs.store.sqlite import SqliteDatabase, SqliteDocs
from websearch_gateway.errors import StateUnavailable


def test_a_file_of_an_earlier_version_is_brought_up_to_date(tmp_path, monkeypatch):
    with closing(sqlite3.connect(tmp_path / "docs.db", isolation_level=None)) as connection:
        for number in range(1, len(sqlite_schema.MIGRATIONS) + 1):
            monkeypatch.setattr(sqlite_schema, "MIGRATIONS", sqlite_schema.MIGRATIONS[:number])
            migrate(connection, sqlite_schema.MIGRATIONS, StateUnavailable("newer"))
            assert connection.execute("PRAGMA user_version").fetchone() == (number,)
            monkeypatch.undo()


async def test_a_file_whose_texts_were_indexed_in_another_way_is_indexed_again(tmp_path):
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    one = await version(store)
    await commit(store, one, page(f"{BASE}a.html", "在表上创建索引可以加快查询。"))
    await store.close()
    with closing(sqlite3.connect(tmp_path / "docs.db", isolation_level=None)) as connection:
        connection.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')")
        connection.execute("DROP INDEX urls_deaths")
        connection.execute("ALTER TABLE urls DROP COLUMN deaths")
        for later in ("reading", "died_reading", "left_out"):
            connection.execute(f"ALTER TABLE versions DROP COLUMN {later}")
        connection.execute("PRAGMA user_version = 2")
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    assert len(await search_text(store, TextQuery(("创建索引",)), [one], 10)) == 1
    await store.close()


@pytest.mark.parametrize("name", ["timeout", "m7.timeout", "Timeout"])
async def test_the_definitions_of_a_name_cost_as_much_among_many_that_end_alike_as_among_few(
    tmp_path, name
):
    steps = []
    for count in (500, 8_000):
        store = SqliteDocs(tmp_path / f"{count}.db", "tests/1")
        one = await version(store)
        for start in range(0, count, 500):
            names = [Symbol(f"m{number}.timeout", "api") for number in range(start, start + 500)]
            await commit(store, one, with_symbols(page(f"{BASE}{start}.html", "A."), *names))
        await store.close()
        with closing(sqlite3.connect(tmp_path / f"{count}.db")) as connection:
            looks = []
            connection.set_progress_handler(lambda looks=looks: looks.append(1), 100)
            assert len(find_symbols(SqliteDatabase(connection), [name], [one], 100)) == 100
            steps.append(len(looks))
    assert steps[1] < 2 * steps[0]


def test_counting_the_vectors_of_a_version_reads_none_of_them():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, sqlite_schema.MIGRATIONS, StateUnavailable("newer"))
        query = "SELECT count(*) FROM vectors WHERE version_id = 1 AND embedder = 'x'"
        ((*_, plan),) = connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
    assert "USING COVERING INDEX vectors_version" in plan
