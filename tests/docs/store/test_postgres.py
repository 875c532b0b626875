"""The store in PostgreSQL, where transactions may wait for each other."""

import asyncio
from contextlib import AsyncExitStack
from threading import Barrier, Event

import numpy as np
import psycopg
import pytest

from tests.docs.conftest import empty_database
from websearch_gateway.docs.store.database import MOST_SEARCHES
from websearch_gateway.docs.store.postgres import PostgresDocs

CRAWLERS = 4
MOST_SECONDS = 600


async def test_crawlers_that_write_the_first_vectors_at_once_do_not_block_each_other(
    postgresql_server,
):
    """The first vectors of each number of dimensions create an index."""
    empty_database(postgresql_server)
    log = postgresql_server.folder / "log"
    before = log.read_text().count("deadlock detected")
    together = Barrier(CRAWLERS)
    async with AsyncExitStack() as stack:
        stores = [PostgresDocs(postgresql_server.url, "tests/1") for _ in range(CRAWLERS)]
        for store in stores:
            stack.push_async_callback(store.close)
            await store.versions()

        def write(number, vectors):
            def act(db):
                together.wait(MOST_SECONDS)
                db.index_vectors(number, 1, [number], vectors)

            return act

        for dimensions in range(8, 18):
            vectors = np.ones((1, dimensions), np.float32)
            numbered = enumerate(stores, 10 * dimensions)
            await asyncio.gather(
                *(store.file.write(write(number, vectors)) for number, store in numbered)
            )
    assert log.read_text().count("deadlock detected") == before


async def test_a_search_cancelled_before_its_statement_began_is_stopped_too(
    postgresql_server, monkeypatch
):
    """A cancel that meets no statement is lost: https://www.postgresql.org/docs/current/libpq-cancel.html."""
    empty_database(postgresql_server)
    store = PostgresDocs(postgresql_server.url, "tests/1")
    running, cancelled, ended, cancel = Event(), Event(), Event(), psycopg.Connection.cancel_safe

    def early(connection, **options):
        cancel(connection, **options)
        cancelled.set()

    def act(db):
        running.set()
        cancelled.wait(MOST_SECONDS)
        try:
            db.execute("SELECT pg_sleep(1000)").fetchall()
        finally:
            ended.set()

    monkeypatch.setattr(psycopg.Connection, "cancel_safe", early)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        await store.versions()
        search = asyncio.create_task(store.file.search(act))
        await asyncio.to_thread(running.wait, MOST_SECONDS)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
        assert ended.is_set()
        assert await store.versions() == []


async def test_a_cancelled_search_that_waits_for_a_thread_ends_at_once_and_never_begins(
    postgresql_server,
):
    empty_database(postgresql_server)
    store = PostgresDocs(postgresql_server.url, "tests/1")
    all_busy, go_on, begun = Barrier(MOST_SEARCHES + 1), Event(), Event()

    def busy(_):
        all_busy.wait(MOST_SECONDS)
        go_on.wait(MOST_SECONDS)

    async with AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        stack.callback(go_on.set)
        await store.versions()
        searches = [asyncio.create_task(store.file.search(busy)) for _ in range(MOST_SEARCHES)]
        await asyncio.to_thread(all_busy.wait, MOST_SECONDS)
        waiting = asyncio.create_task(store.file.search(lambda _: begun.set()))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not any(search.done() for search in searches)
        go_on.set()
        await asyncio.gather(*searches)
        await store.searching(lambda db: db.execute("SELECT 1").fetchall())
    assert not begun.is_set()
