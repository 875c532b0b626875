"""An address that nobody gave is refused at every entrypoint before anything is sent, and a link of a page is read."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client

from tests.docs.crawl.small_site import PROSE, Site, html
from tests.entrypoints.command import run
from tests.entrypoints.http.calls import bearer, call, post
from tests.entrypoints.http.conftest import SECRET, served
from tests.entrypoints.stdio import serving, structured
from tests.loopback import serving as listening
from tests.patience import PATIENT
from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.entrypoints.http.app import create_app
from websearch_gateway.entrypoints.python import Gateway
from websearch_gateway.errors import ForbiddenUrlError, SearchFetchError
from websearch_gateway.settings.loading import Settings

KNOWN_TO_THE_AGENT = "The user is called Ada and lives in Bremen."
DATA = "?d=" + base64.urlsafe_b64encode(KNOWN_TO_THE_AGENT.encode()).decode().rstrip("=")


def linking(title: str, *links: str) -> str:
    """A page that links addresses in its text."""
    return html(title, PROSE + "".join(f' <a href="{link}">Read on</a>.' for link in links))


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A page that links an address with data, a page that redirects to one that nobody linked, and their targets."""
    made = Site()
    made.pages = {
        "/docs/": linking("Start", "/docs/linked" + DATA),
        "/docs/linked" + DATA: html("Linked"),
        "/docs/unknown" + DATA: html("Unknown"),
        "/docs/jump": (302, {"location": "/docs/unknown" + DATA}),
        "/docs/jump.zip": (302, {"location": "/docs/unknown" + DATA}),
    }
    async with listening(made.serve) as made.port:
        yield made


@pytest.fixture
def settings(site: Site, tmp_path: Path) -> dict[str, Any]:
    """The settings of a gateway that may read the site."""
    patient = {name.lower(): value for name, value in PATIENT.items()}
    return {
        **patient,
        "fetch_allow_private_hosts": f"127.0.0.1:{site.port}",
        "url_provenance": "enforce",
        "data_dir": tmp_path,
        "toolsets": "read,docs,docs-admin",
        "docs_url": f"sqlite:///{tmp_path}/docs.db",
    }


def loaded(given: dict[str, Any], **further: Any) -> Settings:
    return Settings(**{**given, **further})


Read = Callable[[str], Awaitable[str]]
"""Reads an address; gives the code and reason of its error, or its warnings or text."""


def told(result: dict[str, Any]) -> str:
    error = result.get("error") or next(
        (page["error"] for page in result.get("pages", ()) if page["error"]), None
    )
    return (
        f"{error['code']} {(error.get('details') or {}).get('reason')}"
        if error
        else json.dumps(result)
    )


async def test_over_stdio_every_tool_refuses_it(settings: dict[str, Any], site: Site) -> None:
    url = f"{site.url}unknown{DATA}"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("get_content", {"url": url}),
        ("get_content", {"urls": [url]}),
        ("read_from_page", {"url": url, "query": "what is this"}),
        ("get_content", {"url": f"{site.url}jump"}),
        ("add_docs", {"url": url}),
        ("add_docs", {"url": f"{site.url}jump.zip"}),
    ]
    async with Client(serving(loaded(settings))) as client:
        for tool, arguments in calls:
            assert (
                told(structured(await client.call_tool(tool, arguments)))
                == "FORBIDDEN_URL provenance"
            ), tool
        assert site.fetched(f"/docs/unknown{DATA}") == 0
        await client.call_tool("get_content", {"url": site.url})
        read = told(
            structured(await client.call_tool("get_content", {"url": f"{site.url}linked{DATA}"}))
        )
        assert "Linked says more" in read
        assert "Unknown address" not in read


@pytest.mark.skipif(
    not shutil.which("chromium"), reason="Chromium is missing; `make test` installs it"
)
async def test_the_scripts_of_a_page_lead_nowhere_else(
    settings: dict[str, Any], site: Site
) -> None:
    """The browser asks for the page that its scripts name only if a reader of the link could."""
    ways = {"app": "unknown" + DATA, "other": "jump"}
    for name, way in ways.items():
        script = f"root.textContent = {PROSE * 3!r}; location.href = '/docs/{way}'"
        site.pages[f"/docs/{name}"] = f'<body><div id="root"></div><script>{script}</script></body>'
        site.pages[f"/docs/{name}{DATA}"] = site.pages[f"/docs/{name}"]
    site.pages["/docs/"] = linking("Start", *(f"/docs/{name}{DATA}" for name in ways))
    async with Gateway(**settings) as gateway:
        for name in ways:
            page = await gateway.read(f"{site.url}{name}")
            assert PROSE in page.page_content, "the page stays"
            assert site.fetched(f"/docs/unknown{DATA}") == 0, name
        await gateway.read(site.url)
        for name in ways:
            shown = await gateway.read(f"{site.url}{name}{DATA}")
            assert "Unknown says more" in shown.page_content, (
                "an address that was shown may lead anywhere"
            )


JUMP = (302, {"location": f"/docs/unknown{DATA}"})


@pytest.mark.parametrize("place", ["/robots.txt", "/docs/", "/docs/next"])
async def test_a_crawl_follows_no_redirect_to_it(
    settings: dict[str, Any], site: Site, place: str
) -> None:
    site.pages |= {
        "/docs/": linking("Start", "/docs/next"),
        "/docs/next": html("Next"),
        place: JUMP,
    }
    async with Client(serving(loaded(settings))) as client:
        added = structured(await client.call_tool("add_docs", {"url": site.url, "delay": 0.0}))
    assert "Unknown address" in json.dumps(added), "the reply says why"
    assert site.fetched(place) > 0
    assert site.fetched(f"/docs/unknown{DATA}") == 0


@pytest.mark.parametrize("adds", ["agent", "operator"])
async def test_a_crawl_that_resumes_without_its_caller_follows_none_for_an_agent(
    settings: dict[str, Any], site: Site, adds: str
) -> None:
    site.pages |= {"/docs/": linking("Start", "/docs/next"), "/docs/next": html("Next")}
    if adds == "agent":
        async with Client(serving(loaded(settings))) as client:
            await client.call_tool("add_docs", {"url": site.url, "delay": 0.0})
    async with open_gateway(loaded(settings)) as gateway:
        version = await gateway.docs.add(site.url, delay=0.0)
        site.pages["/docs/next"] = JUMP
        await gateway.docs.requeue(version)
        await gateway.docs.runner.keep_crawling(0, drains=True)
        assert site.fetched("/docs/next") == (2 if adds == "agent" else 1)
    assert site.fetched(f"/docs/unknown{DATA}") == (0 if adds == "agent" else 1)


async def test_a_later_crawl_follows_none_either(settings: dict[str, Any], site: Site) -> None:
    site.pages["/docs/"] = linking("Start", "/docs/next")
    site.pages["/docs/next"] = html("Next")
    async with Client(serving(loaded(settings))) as client:
        added = structured(await client.call_tool("add_docs", {"url": site.url, "delay": 0.0}))
        site.pages["/docs/next"] = JUMP
        updated = structured(
            await client.call_tool("update_docs", {"site": added["sites"][0]["name"]})
        )
    assert "Unknown address" in json.dumps(updated)
    assert site.fetched("/docs/next") == 2
    assert site.fetched(f"/docs/unknown{DATA}") == 0


async def test_over_http_every_endpoint_refuses_it_for_each_caller(
    settings: dict[str, Any], site: Site
) -> None:
    url, linked = f"{site.url}unknown{DATA}", f"{site.url}linked{DATA}"
    ada, bob = bearer("ada"), bearer("bob")
    app = create_app(
        loaded(settings, auth_mode="secret", auth_secret=SECRET, state_url="memory://")
    )

    async with served(app) as http:

        async def read(address: str, caller: dict[str, str]) -> dict[str, Any]:
            result: dict[str, Any] = (
                await http.post("/v1/read", json={"url": address}, headers=caller)
            ).json()
            return result

        assert told(await read(url, ada)) == "FORBIDDEN_URL provenance"
        passages = await http.post("/v1/passages", json={"url": url, "query": "what"}, headers=ada)
        assert told(passages.json()) == "FORBIDDEN_URL provenance"
        made = call("tools/call", {"name": "get_content", "arguments": {"url": url}})
        assert (
            told((await post(http, made, **ada)).json()["result"]["structuredContent"])
            == "FORBIDDEN_URL provenance"
        )
        extracted = (await http.post("/tavily/extract", json={"urls": [url]}, headers=ada)).json()
        assert [one["url"] for one in extracted["failed_results"]] == [url]
        assert extracted["results"] == []
        assert (await http.post("/openwebui/load", json={"urls": [url]}, headers=ada)).json() == []
        assert site.fetched(f"/docs/unknown{DATA}") == 0

        await http.post("/tavily/extract", json={"urls": [site.url]}, headers=ada)
        assert told(await read(linked, bob)) == "FORBIDDEN_URL provenance", (
            "another caller was not shown it"
        )
        assert "Linked says more" in told(await read(linked, ada))


async def test_processes_that_share_their_state_share_what_a_caller_was_shown(
    settings: dict[str, Any], site: Site
) -> None:
    environment = {name.upper(): str(value) for name, value in settings.items()}
    linked = f"{site.url}linked{DATA}"
    refused = await asyncio.to_thread(run, environment, "read", linked)
    assert refused.returncode != 0
    assert "Unknown address" in refused.stderr
    assert (await asyncio.to_thread(run, environment, "read", site.url)).returncode == 0
    assert "Linked says more" in (await asyncio.to_thread(run, environment, "read", linked)).stdout


async def test_in_a_program_it_warns_by_default(settings: dict[str, Any], site: Site) -> None:
    async with Gateway(**{**settings, "url_provenance": "warn"}) as gateway:
        for path in (f"unknown{DATA}", "jump"):
            page = await gateway.read(f"{site.url}{path}", refresh=True)
            assert page.warnings[0].startswith("Unknown address: "), path
        with pytest.raises(SearchFetchError, match=r"^Unknown address: .* status 404"):
            await gateway.read(f"{site.url}absent{DATA}")
        assert not (await gateway.read(site.url)).warnings
        assert not (await gateway.read(f"{site.url}linked{DATA}")).warnings
    async with Gateway(**{**settings, "provenance_domains": "127.0.0.1"}) as gateway:
        assert "Unknown says more" in (await gateway.read(f"{site.url}unknown{DATA}")).page_content
    async with Gateway(**settings) as gateway:
        with pytest.raises(ForbiddenUrlError):
            await gateway.read(f"{site.url}unknown{DATA}")


async def test_a_read_with_checked_redirects_is_not_shared(
    settings: dict[str, Any], site: Site
) -> None:
    """One caller was shown the address that redirects, another was not."""
    app = create_app(
        loaded(settings, auth_mode="secret", auth_secret=SECRET, state_url="memory://")
    )
    site.pages["/docs/more"] = linking("More", "/docs/jump" + DATA)
    site.pages["/docs/jump" + DATA] = (302, {"location": "/docs/unknown" + DATA})
    async with served(app) as http:

        async def read(path: str, user: str) -> httpx2.Response:
            return await http.post(
                "/v1/read", json={"url": f"{site.url}{path}"}, headers=bearer(user)
            )

        await read("more", "ada")
        shown, other = await asyncio.gather(read(f"jump{DATA}", "ada"), read(f"jump{DATA}", "bob"))
    assert "Unknown says more" in told(shown.json())
    assert told(other.json()) == "FORBIDDEN_URL provenance"
