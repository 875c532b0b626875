"""The tables of the SQLite file."""

import sqlite3
from contextlib import closing

from websearch_gateway.docs_index.store.sqlite import schema


def test_a_file_of_an_earlier_version_is_brought_up_to_date(tmp_path, monkeypatch):
    with closing(sqlite3.connect(tmp_path / "docs.db", isolation_level=None)) as connection:
        for number in range(1, len(schema.MIGRATIONS) + 1):
            monkeypatch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:number])
            schema.migrate(connection)
            assert connection.execute("PRAGMA user_version").fetchone() == (number,)
            monkeypatch.undo()


def test_counting_the_vectors_of_a_version_reads_none_of_them():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        schema.migrate(connection)
        query = "SELECT count(*) FROM vectors WHERE version_id = 1 AND embedder = 'x'"
        ((*_, plan),) = connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
    assert "USING COVERING INDEX vectors_version" in plan
