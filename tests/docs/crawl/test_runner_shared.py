"""Several crawlers on one PostgreSQL database: they share the list of sites and the pace of each host."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack

import pytest

from tests.docs.conftest import empty_database
from tests.docs.crawl.small_site import EMBEDDER, html, library
from websearch_gateway.docs.models import CrawlOptions, Owner
from websearch_gateway.docs.store.postgres import PostgresDocs

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_two_crawlers_share_the_sites_and_no_page_is_fetched_twice(
    site, workers, postgresql_server
):
    empty_database(postgresql_server)
    for name in "abcd":
        pages = [f"p{number}.html" for number in range(5)]
        site.pages[f"/{name}/"] = html(f"Start {name}", links=tuple(pages))
        site.pages |= {
            f"/{name}/{page}": html(f"{name} {page}", f"Words of {name} {page}.") for page in pages
        }
    async with AsyncExitStack() as stack:
        url = postgresql_server.url
        first, second = [
            await stack.enter_async_context(
                library(
                    PostgresDocs(url, EMBEDDER.name),
                    site.port,
                    workers,
                    Owner(f"machine {number}", number, 1.0),
                )
            )
            for number in (1, 2)
        ]
        for name in "abcd":
            await first.add(
                f"http://127.0.0.1:{site.port}/{name}/",
                name,
                "1",
                CrawlOptions(delay=0, browser="never"),
            )
        await asyncio.gather(
            first.runner.keep_crawling(0, drains=True), second.runner.keep_crawling(0, drains=True)
        )
        versions = await second.store.versions()
    assert [(v.status, v.page_count, v.owner) for v in versions] == [("completed", 6, None)] * 4
    asked = Counter(
        path for path, _ in site.asked if path.endswith(".html") or path.count("/") == 2
    )
    assert {asked[path] for path in site.pages} == {1}


async def test_two_crawlers_keep_one_pace_on_a_host(site, workers, postgresql_server):
    empty_database(postgresql_server)
    async with AsyncExitStack() as stack:
        stores = [PostgresDocs(postgresql_server.url, EMBEDDER.name) for _ in range(2)]
        for store in stores:
            stack.push_async_callback(store.close)
        booked = await asyncio.gather(
            *(store.reserve("https://a", 5) for _ in range(5) for store in stores)
        )
    assert sum(booking.is_ours for booking in booked) == 1
    assert len({booking.until for booking in booked}) == 1


async def test_a_site_that_another_living_process_crawls_is_not_pending(
    site, workers, postgresql_server
):
    empty_database(postgresql_server)
    mine, other = Owner("machine 1", 1, 1.0), Owner("machine 2", 2, 1.0)
    store = PostgresDocs(postgresql_server.url, EMBEDDER.name)
    async with library(store, site.port, workers, mine) as docs:
        added = await docs.add("https://docs.example.org/", "x", "1")
        assert [version.id for version in await docs.runner.pending()] == [added.id]
        assert await docs.store.claim(added.id, other, 60)
        assert await docs.runner.pending() == []
        await docs.store.release(added.id, other)
        assert [version.id for version in await docs.runner.pending()] == [added.id]
