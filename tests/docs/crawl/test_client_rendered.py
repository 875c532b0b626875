"""Sites whose pages are one shell that scripts fill in, crawled by the whole gateway with and without Chromium."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.docs.crawl.small_site import Site
from tests.opening import Open

pytestmark = pytest.mark.asyncio(loop_scope="module")
needs_chromium = pytest.mark.skipif(
    not shutil.which("chromium"), reason="Chromium is missing; `make test` installs it"
)

ROUTES = {
    "/docs/": (
        "Start",
        "The cache of a library keeps its pages for an hour, and a task empties it.",
    ),
    "/docs/guide": (
        "Guide",
        "Install the library, then open its cache by the name that you gave it.",
    ),
    "/docs/api": (
        "Reference",
        "The handle of a cache must be closed at the end, or its file stays locked.",
    ),
}
LINKS = "".join(f"<a href='..{path}'>{title}</a> " for path, (title, _) in ROUTES.items())
SCRIPT = f"""<script>
const [title, text] = {json.dumps(ROUTES)}[location.pathname.slice(location.pathname.indexOf("/docs/"))];
document.getElementById('app').innerHTML = `<main><h1>${{title}}</h1><p>${{text}}</p></main><p>{LINKS}</p>`;
</script>"""
MENU = "".join(
    f"<a href='https://example.org/{number}'>An entry of the menu, number {number}</a> "
    for number in range(30)
)
SHELLS = {
    "empty": "<div id=app></div>",
    "loading": "<div id=app>Loading…</div><script>window.$docsify = {name: 'Frob'}</script>",
    "framed": f"<header>{MENU}</header><div id=app><p>Please wait</p></div><footer>All rights reserved.</footer>",
}
HOPELESS = "needs a browser: install the extra `browser`, and add the site with --browser auto"


@pytest.fixture
def addresses(site: Site) -> dict[str, str]:
    """A site for each kind of shell, by the address where it is."""
    for name, shell in SHELLS.items():
        page = f"<!doctype html><html><head><title>Frob</title></head><body>{shell}{SCRIPT}</body></html>"
        site.pages |= {f"/{name}{path}": page for path in ROUTES}
    return {name: f"http://127.0.0.1:{site.port}/{name}" for name in SHELLS}


@needs_chromium
async def test_each_route_of_a_client_rendered_site_is_a_page(
    gateway: Open, site: Site, addresses: dict[str, str]
) -> None:
    async with gateway(fetch_allow_private_hosts=(f"127.0.0.1:{site.port}",)) as opened:
        for name, address in addresses.items():
            added = await opened.docs.add(f"{address}/docs/", name, delay=0.0)
            done = await opened.docs.runner.crawl(added.id)
            assert done is not None
            assert (name, done.status, done.page_count) == (name, "completed", 3)
            for path, (title, text) in ROUTES.items():
                page_id = await opened.docs.store.find_page(f"{address}{path}", [added.id])
                assert page_id is not None
                chunks = await opened.docs.store.page_chunks(page_id)
                assert any(
                    title in chunk.heading_path and text in chunk.content for chunk in chunks
                ), (name, path)


async def test_without_a_browser_such_a_site_fails_and_names_the_remedy(
    gateway: Open, site: Site, addresses: dict[str, str]
) -> None:
    async with gateway(
        fetch_allow_private_hosts=(f"127.0.0.1:{site.port}",), browser_path="/nowhere"
    ) as opened:
        for name, address in addresses.items():
            for browser in ("auto", "never"):
                added = await opened.docs.add(
                    f"{address}/docs/", f"{name}-{browser}", delay=0.0, browser=browser
                )
                done = await opened.docs.runner.crawl(added.id)
                assert done is not None
                assert (name, done.status, done.page_count, done.reason) == (
                    name,
                    "failed",
                    0,
                    HOPELESS,
                )


async def test_a_site_that_wants_to_be_paid_says_so(gateway: Open, site: Site) -> None:
    site.pages["/docs/"] = (402, {})
    async with gateway(fetch_allow_private_hosts=(f"127.0.0.1:{site.port}",)) as opened:
        added = await opened.docs.add(site.url, "paid", delay=0.0)
        done = await opened.docs.runner.crawl(added.id)
        assert done is not None
        assert (done.status, done.reason) == (
            "failed",
            "HTTP 402: the site wants to be paid for its pages",
        )
