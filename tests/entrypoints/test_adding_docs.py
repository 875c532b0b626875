"""Documentation that a model adds over MCP."""

from __future__ import annotations

import io
import zipfile

from tests.docs.crawl.small_site import PROSE, Site
from tests.entrypoints.conftest import Connect
from tests.entrypoints.stdio import structured
from tests.loopback import serving


async def test_the_pages_of_an_archive_are_cited_with_the_base_url_that_a_model_gives(
    connect: Connect,
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("guide/zebras.md", f"# Zebras\n\nThe zebra eats grass. {PROSE}")
    site = Site(raw={"/docs/book.zip": packed.getvalue()})
    async with serving(site.serve) as site.port:
        settings = {
            "TOOLSETS": "docs,docs-admin",
            "FETCH_ALLOW_PRIVATE_HOSTS": f"127.0.0.1:{site.port}",
        }
        async with connect(**settings) as client:
            given = {
                "url": f"{site.url}book.zip",
                "baseUrl": "https://docs.example.org/3",
                "name": "book",
            }
            status = structured(await client.call_tool("add_docs", given))
            assert [one["url"] for one in status["sites"]] == ["https://docs.example.org/3/"]
            found = structured(await client.call_tool("search_docs", {"query": "zebra"}))
            assert found["results"][0]["url"] == "https://docs.example.org/3/guide/zebras.md"
            refused = structured(
                await client.call_tool("add_docs", {**given, "baseUrl": "docs", "name": "x"})
            )
            assert refused["error"]["code"] == "VALIDATION"


async def test_a_model_adds_a_package_by_its_name(connect: Connect) -> None:
    async with connect(TOOLSETS="docs,docs-admin") as client:
        status = structured(
            await client.call_tool("add_docs", {"url": "pypi:heron-tools", "delay": 0.0})
        )
        assert [(one["name"], one["version"], one["status"]) for one in status["sites"]] == [
            ("heron-tools", "0.4", "completed")
        ]
        found = structured(
            await client.call_tool("search_docs", {"query": "heron.open", "siteId": "heron-tools"})
        )
        assert found["results"][0]["site_version"] == "0.4"
        again = structured(await client.call_tool("add_docs", {"url": "npm:heron@2.0.0"}))
        assert "indexed already, as heron-tools 0.4" in again["message"]
        for url, code in (
            ("pypi:nobody", "VALIDATION"),
            ("npm:no such", "VALIDATION"),
            ("pypi:gull", "VALIDATION"),
        ):
            refused = structured(await client.call_tool("add_docs", {"url": url}))
            assert refused["error"]["code"] == code
