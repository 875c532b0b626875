"""The store in PostgreSQL, where transactions may wait for each other."""

import asyncio
from contextlib import AsyncExitStack
from threading import Barrier

import numpy as np

from tests.docs_index.conftest import empty_database
from websearch_gateway.docs_index.store.postgres import PostgresDocs

CRAWLERS = 4
MOST_SECONDS = 600


async def test_crawlers_that_write_the_first_vectors_at_once_do_not_block_each_other(postgresql_server):
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
            await asyncio.gather(*(store.file.write(write(number, vectors)) for number, store in numbered))
    assert log.read_text().count("deadlock detected") == before
