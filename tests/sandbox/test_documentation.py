"""The documentation site of the sandbox has what real ones have, the good and the bad."""

from __future__ import annotations

import re

import httpx2
import pytest

from websearch_gateway.docs.crawl.listing import inventory, llms_urls, robots_sitemaps, sitemap_urls
from websearch_gateway.sandbox import Sandbox


@pytest.mark.parametrize("version", ["2.0", "3.0b1", "1.0"])
async def test_every_link_of_the_start_page_leads_somewhere(
    http: httpx2.AsyncClient, version: str
) -> None:
    start = await http.get(f"/docs/{version}/")
    for target in re.findall(r'href="([^"]+)"', start.text):
        assert (await http.get(target)).status_code in (200, 301, 302, 429)


async def test_the_stable_version_is_where_the_front_door_leads(http: httpx2.AsyncClient) -> None:
    assert (await http.get("/docs/")).headers["location"] == "/docs/2.0/"
    assert (await http.get("/docs/9.9/")).status_code == 404


async def test_an_unchanged_page_is_not_sent_again(http: httpx2.AsyncClient) -> None:
    first = await http.get("/docs/2.0/api.html")
    again = await http.get("/docs/2.0/api.html", headers={"if-none-match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


async def test_an_inventory_names_what_the_pages_define(
    http: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    names = inventory((await http.get("/docs/2.0/objects.inv")).content, f"{sandbox.url}/docs/2.0/")
    assert ("heron.open", f"{sandbox.url}/docs/2.0/api.html", "heron.open") in names
    assert 'id="heron.open"' in (await http.get("/docs/2.0/api.html")).text


async def test_robots_lead_to_a_sitemap_of_pages_that_exist(http: httpx2.AsyncClient) -> None:
    robots = (await http.get("/robots.txt")).text
    assert "Disallow: /docs/1.0/private/" in robots
    places = sitemap_urls(
        (await http.get(robots_sitemaps(robots, str(http.base_url).rstrip("/"))[1])).content
    )
    assert len(places) == 12
    for url, _ in places:
        assert (await http.get(url)).status_code == 200


async def test_the_next_version_has_markdown_twins(
    http: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    index = (await http.get("/docs/3.0b1/llms.txt")).text
    for url in llms_urls(index, f"{sandbox.url}/docs/3.0b1/"):
        page = await http.get(url)
        assert page.headers["content-type"].startswith("text/markdown")
        assert page.text.startswith("# ")
        assert "<" not in page.text.replace("<code>", "")
    assert (await http.get("/docs/2.0/llms.txt")).status_code == 404


async def test_the_old_version_has_everything_that_makes_crawling_hard(
    http: httpx2.AsyncClient,
) -> None:
    assert 'href="/docs/1.0/trap/1000000"' in (await http.get("/docs/1.0/trap/999999")).text
    assert (await http.get("/docs/1.0/timeouts.html")).headers[
        "location"
    ] == "/docs/1.0/guide/timeouts.html"
    assert (await http.get("/docs/1.0/away.html")).headers["location"] == "/pages/espresso-at-home"
    assert "<p>" not in (await http.get("/docs/1.0/live.html")).text.partition("<script>")[0]


async def test_a_busy_page_asks_its_first_visitor_to_come_again() -> None:
    async with Sandbox() as fresh, httpx2.AsyncClient(base_url=fresh.url) as client:
        busy = await client.get("/docs/1.0/busy.html")
        assert (busy.status_code, busy.headers["retry-after"]) == (429, "1")
        assert (await client.get("/docs/1.0/busy.html")).status_code == 200
