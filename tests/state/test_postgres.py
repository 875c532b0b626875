"""The risks of the PostgreSQL backend alone: a server that goes away, waits or refuses; tables of other versions."""

import asyncio
import contextlib
import logging

import psycopg
import pytest

from tools.servers import PASSWORD, postgresql
from websearch_gateway.errors import StateUnavailable
from websearch_gateway.state.postgres import MIGRATIONS, PostgresState


@pytest.fixture
def database(postgresql_server):
    """A connection to the database, in which there is no table yet."""
    with psycopg.connect(postgresql_server.url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS websearch_state, websearch_state_version")
        yield connection
        connection.execute("DROP TABLE IF EXISTS websearch_state, websearch_state_version")


@pytest.fixture
async def state(database, postgresql_server):
    state = PostgresState(postgresql_server.url, timeout_seconds=20)
    yield state
    await state.close()


class TestVersions:
    async def test_concurrent_processes_without_a_table_create_one(
        self, database, postgresql_server
    ):
        states = [PostgresState(postgresql_server.url, timeout_seconds=20) for _ in range(6)]
        counts = await asyncio.gather(*(state.add("n") for state in states))
        assert sorted(counts) == [1, 2, 3, 4, 5, 6]
        versions = database.execute(
            "SELECT version FROM websearch_state_version ORDER BY version"
        ).fetchall()
        assert versions == [(number,) for number in range(1, len(MIGRATIONS) + 1)]
        await asyncio.gather(*(state.close() for state in states))

    @pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
    async def test_a_table_of_any_older_version_is_brought_up_to_date(
        self, database, state, version
    ):
        database.execute("CREATE TABLE websearch_state_version (version integer NOT NULL)")
        for number, statement in enumerate(MIGRATIONS[:version], 1):
            database.execute(statement)
            database.execute("INSERT INTO websearch_state_version VALUES (%s)", [number])
        assert await state.add("n") == 1
        assert database.execute("SELECT max(version) FROM websearch_state_version").fetchone() == (
            len(MIGRATIONS),
        )

    async def test_a_table_of_a_newer_version_is_not_changed(self, database, state):
        database.execute("CREATE TABLE websearch_state_version (version integer NOT NULL)")
        database.execute("INSERT INTO websearch_state_version VALUES (999)")
        with pytest.raises(StateUnavailable, match="newer version"):
            await state.add("n")
        assert database.execute("SELECT to_regclass('websearch_state')").fetchone() == (None,)


class TestTrouble:
    async def test_lost_connections_are_replaced(self):
        with postgresql() as server:
            state = PostgresState(server.url, timeout_seconds=20, cooldown_seconds=0)
            await asyncio.gather(*(state.put(f"k/{number}", b"v") for number in range(20)))
            server.stop()
            with pytest.raises(StateUnavailable):
                await state.get("k/1")
            server.start()
            while True:
                with contextlib.suppress(StateUnavailable):
                    assert await state.get("k/1") == b"v"
                    break
            outcomes = await asyncio.gather(*(state.get(f"k/{number}") for number in range(20)))
            assert outcomes == [b"v"] * 20
            await state.close()

    async def test_connections_that_the_server_ended_fail_one_verb(self, database, state):
        await asyncio.gather(*(state.put(f"k/{number}", b"v") for number in range(20)))
        database.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'websearch-gateway'"
        )
        with pytest.raises(StateUnavailable, match=r"AdminShutdown|OperationalError"):
            await state.get("k/1")
        assert await state.get("k/1") == b"v"

    async def test_a_lock_does_not_outlast_the_time_limit(self, database, postgresql_server):
        state = PostgresState(postgresql_server.url, timeout_seconds=5, cooldown_seconds=600)
        await state.put("k", b"old")
        with database.transaction():
            database.execute("LOCK TABLE websearch_state")
            with pytest.raises(StateUnavailable):
                await state.put("k", b"new")
        await state.close()

    async def test_the_server_itself_ends_slow_statements(self, state):
        assert await state._fetch("SHOW statement_timeout", {}) == [("20s",)]

    async def test_no_message_and_no_log_shows_the_url(self, caplog, postgresql_server):
        caplog.set_level(logging.DEBUG)
        wrong = [
            postgresql_server.url.replace("tester:", "tester:hunter3"),
            f"postgresql://tester:{PASSWORD}@127.0.0.1:1/secret",  # not escaped, so libpq misreads it
            "postgresql://[hunter3/secret",
        ]
        for url in wrong:
            state = PostgresState(url, timeout_seconds=0.5)
            with pytest.raises(StateUnavailable) as caught:
                await state.get("secret")
            await state.close()
            for secret in ("hunter", "letters", "secret"):
                assert secret not in str(caught.value) + caplog.text

    async def test_a_value_that_the_database_refuses_is_unavailable(self, state):
        with pytest.raises(StateUnavailable, match="NumericValueOutOfRange"):
            await state.add("n", 2**62 + await state.add("n", 2**62))
