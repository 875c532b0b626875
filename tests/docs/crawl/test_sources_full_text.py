"""A site that publishes its whole text in one file."""

from __future__ import annotations

import pytest

from tests.docs.crawl.small_site import EMBEDDER, FAST, PROSE, library
from websearch_gateway.docs.store.sqlite import SqliteDocs

pytestmark = pytest.mark.asyncio(loop_scope="module")


def full_text(site, zebras=PROSE):
    place = site.url.removesuffix("/")
    return f"# Zebras\nSource: {place}/zebras\n\n{zebras}\n\n# Lions\n\n{PROSE} [Zebras](/docs/zebras)\n".encode()


async def pages(docs, version):
    return {page.draft.url for _, page in await docs.store.pages_after(version.id, 0, 100)}


async def test_the_sections_of_a_full_text_are_pages_with_their_own_addresses(
    site, workers, tmp_path
):
    site.raw["/docs/llms-full.txt"] = full_text(site)
    async with library(SqliteDocs(tmp_path / "docs.db", EMBEDDER.name), site.port, workers) as docs:
        added = await docs.add(f"{site.url}llms-full.txt", "x", "1", FAST)
        done = await docs.runner.crawl(added.id)
        assert (done.status, done.page_count, done.failed) == ("completed", 2, 0)
        assert await pages(docs, done) == {f"{site.url}zebras", f"{site.url}llms-full.txt!/lions"}
        assert site.fetched("/docs/zebras") == 0
        site.raw["/docs/llms-full.txt"] = full_text(site, "Now they sleep.").partition(b"# Lions")[
            0
        ]
        done = await docs.runner.crawl(added.id)
        done = await docs.runner.crawl(added.id)
        assert await pages(docs, done) == {f"{site.url}zebras"}


async def test_a_site_without_other_lists_gives_its_pages_in_its_full_text(site, workers, tmp_path):
    site.raw["/docs/llms-full.txt"] = full_text(site)
    site.pages["/docs/"] = (
        "<html><title>Loading</title><body><div id='app'></div><script src='/a.js'></script></body>"
    )
    async with library(SqliteDocs(tmp_path / "docs.db", EMBEDDER.name), site.port, workers) as docs:
        added = await docs.add(site.url, "x", "1", FAST)
        done = await docs.runner.crawl(added.id)
        assert (done.status, await pages(docs, done)) == ("completed", {f"{site.url}zebras"})
