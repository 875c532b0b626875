"""A start URL above several versions of a documentation."""

from __future__ import annotations

import pytest

from tests.docs.crawl.small_site import EMBEDDER, FAST, html, library
from websearch_gateway.docs.store.sqlite import SqliteDocs

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_one_of_the_versions_is_indexed_and_the_others_are_named(site, workers, tmp_path):
    menu = ("/docs/1.0/", "/docs/stable/", "/docs/latest/")
    site.pages["/docs/"] = html("Start", links=menu)
    for version in ("1.0", "stable", "latest"):
        site.pages[f"/docs/{version}/"] = html(
            f"Heron {version}", links=(*menu, f"/docs/{version}/tides.html")
        )
        site.pages[f"/docs/{version}/tides.html"] = html(f"Tides {version}", links=menu)
    async with library(SqliteDocs(tmp_path / "docs.db", EMBEDDER.name), site.port, workers) as docs:
        for _ in range(2):  # the second is a refresh in which nothing has changed
            added = await docs.add(site.url, "heron", options=FAST)
            done = await docs.runner.crawl(added.id)
            assert (done.status, done.page_count) == ("completed", 3)
            assert (
                f"Others: 1.0, latest. Add one by its own address, such as {site.url}1.0/."
                in done.reason
            )
        assert not any(site.fetched(f"/docs/{version}/") for version in ("1.0", "latest"))
        one = await docs.add(site.url, "heron", "1.0", FAST)
        await docs.runner.crawl(one.id)
        assert site.fetched("/docs/1.0/tides.html") == 1
        alone = await docs.add(f"{site.url}latest/", "alone", options=FAST)
        done = await docs.runner.crawl(alone.id)
        assert (done.page_count, done.reason) == (2, "")


@pytest.mark.parametrize("has_sitemap", [False, True])
async def test_the_version_to_which_the_start_redirects_is_preferred_to_a_higher_number(
    site, workers, tmp_path, has_sitemap
):
    site.pages["/docs/"] = (302, {"location": "/docs/3/"})
    menu = ("/docs/3/", "/docs/3.14/", "/docs/3.15/")
    for version in ("3", "3.14", "3.15"):
        site.pages[f"/docs/{version}/"] = html(
            f"Heron {version}", links=(*menu, f"/docs/{version}/tides.html")
        )
        site.pages[f"/docs/{version}/tides.html"] = html(f"Tides {version}", links=menu)
    if has_sitemap:
        places = "".join(
            f"<url><loc>{site.url}{version}/</loc></url>" for version in ("3", "3.14", "3.15")
        )
        site.raw["/docs/sitemap.xml"] = f"<urlset>{places}</urlset>".encode()
    async with library(SqliteDocs(tmp_path / "docs.db", EMBEDDER.name), site.port, workers) as docs:
        added = await docs.add(site.url, "heron", options=FAST)
        done = await docs.runner.crawl(added.id)
    assert (done.status, done.page_count) == ("completed", 2)
    assert "only 3 is indexed. Others: 3.15, 3.14" in done.reason


async def test_addresses_of_another_version_that_an_earlier_crawl_found_are_skipped(
    site, workers, tmp_path
):
    site.pages["/docs/"] = html("Start", links=("/docs/stable/",))
    for path in ("stable/", "stable/tides.html", "1.0/old.html"):
        site.pages[f"/docs/{path}"] = html(f"Heron {path}")
    async with library(SqliteDocs(tmp_path / "docs.db", EMBEDDER.name), site.port, workers) as docs:
        added = await docs.add(site.url, "heron", options=FAST)
        found = ("stable/", "stable/tides.html", "1.0/old.html")
        await docs.store.add_urls(added.id, {f"{site.url}{path}": 1 for path in found})
        done = await docs.runner.crawl(added.id)
    assert (done.page_count, site.fetched("/docs/1.0/old.html")) == (3, 0)


async def test_a_start_that_robots_txt_closes_is_not_asked_which_version_it_prefers(
    site, workers, tmp_path
):
    site.raw["/robots.txt"] = b"User-agent: *\nDisallow: /docs/$\n"
    for version in ("3", "3.14"):
        site.pages[f"/docs/{version}/"] = html(f"Heron {version}")
    places = "".join(f"<url><loc>{site.url}{version}/</loc></url>" for version in ("3", "3.14"))
    site.raw["/docs/sitemap.xml"] = f"<urlset>{places}</urlset>".encode()
    async with library(SqliteDocs(tmp_path / "docs.db", EMBEDDER.name), site.port, workers) as docs:
        done = await docs.runner.crawl((await docs.add(site.url, "heron", options=FAST)).id)
    assert (done.page_count, site.fetched("/docs/"), site.fetched("/docs/3.14/")) == (1, 0, 1)
