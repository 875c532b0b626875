"""Pages made by scripts, in real Chromium, over real sockets."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.loopback import serving
from tests.pages.conftest import Api
from tests.patience import PATIENCE
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import Fetcher
from websearch_gateway.errors import SearchError, SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline, Page
from websearch_gateway.pages import browser
from websearch_gateway.pages.browser import Browser
from websearch_gateway.pages.reader_table import ReaderTable
from websearch_gateway.ports import Workers

pytestmark = [
    pytest.mark.skipif(
        not shutil.which("chromium"), reason="Chromium is missing; `make test` installs it"
    ),
    pytest.mark.asyncio(loop_scope="module"),  # one browser for all these tests, as in a gateway
]

TIDES = "The moon pulls at the sea, and the sea comes in twice a day. "
SHOW = f"root.innerHTML = '<p>{TIDES * 5}</p>'"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[Api]:
    site = Api()
    async with serving(site.serve) as site.port:
        yield site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def table(site: Api, running_workers: Workers) -> AsyncIterator[ReaderTable]:
    async with Fetcher(AddressPolicy([site.pair])) as fetcher:
        chromium = Browser(fetcher)
        # A busy machine takes its time between two requests of a page.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(browser, "START_SECONDS", 60.0)
            patch.setattr(browser, "SETTLE_SECONDS", 30.0)
            patch.setattr(browser, "_PATIENCE_SECONDS", 4.0)
            yield ReaderTable.build(fetcher, running_workers, renderer=chromium)
        await chromium.aclose()


@pytest.fixture
def api(site: Api) -> Api:
    """The site, as if nothing had happened there."""
    site.__init__(port=site.port)  # type: ignore[misc]
    return site


def shown(
    api: Api, script: str, body: str = '<div id="root"></div>', head: str = "", **headers: str
) -> str:
    """The address of a page with this inline script."""
    html = f"<!doctype html><head><title>Tides</title>{head}</head><body>{body}<script>{script}</script></body>"
    api.says("/page", html.encode(), content_type="text/html", **headers)
    return f"{api.url}/page"


async def read(table: ReaderTable, url: str, seconds: float = 300) -> Page:
    return await table.read(url, Deadline.after(seconds))


async def test_a_page_is_read_with_the_content_that_its_scripts_fetch(
    api: Api, table: ReaderTable
) -> None:
    script = """
      import { text } from "./lib.js";
      const headers = {"x-edition": "2", "accept": "application/json"};
      const data = await (await fetch("/data.json", {headers})).json();
      const missing = (await fetch("/missing.json")).status;
      root.innerHTML = `<h1>${data.title}</h1><p>${text} See <a href="more">more</a>.</p><p>Status ${missing}</p>`;
      history.pushState({}, "", "/guide/tides");
    """
    api.says("/app.js", script.encode(), content_type="text/javascript")
    api.says(
        "/lib.js", f"export const text = {TIDES * 5!r}".encode(), content_type="text/javascript"
    )
    api.says("/data.json", b'{"title": "Spring tides"}', content_type="application/json")
    body = '<div id="root"></div><script type="module" src="/app.js"></script>'
    page = await read(table, shown(api, "", body=body, etag='"shell"'))
    assert "# Spring tides" in page.markdown
    assert TIDES.strip() in page.markdown
    assert "Status 404" in page.markdown
    assert f"({api.url}/guide/more)" in page.markdown
    assert (page.title, page.final_url, page.etag) == ("Tides", f"{api.url}/guide/tides", None)
    assert api.seen.count("/page") == 1, "the page itself is not fetched again"
    asked = next(head for head in api.heads if "/data.json" in head)
    assert "accept: application/json\r\n" in asked
    assert "x-edition: 2\r\n" in asked
    assert "user-agent: websearch-gateway/" in asked
    assert "cookie" not in asked


async def test_a_page_with_text_in_its_markup_starts_no_browser(
    api: Api, table: ReaderTable
) -> None:
    page = await read(
        table, shown(api, "document.body.textContent = 'changed'", body=f"<p>{TIDES * 20}</p>")
    )
    assert TIDES.strip() in page.markdown


async def test_invisible_text_of_the_rendered_page_is_not_read(
    api: Api, table: ReaderTable
) -> None:
    """Ours: hidden by a file of styles, by a rule that a script wrote, and by scripts that lie about styles."""
    script = f"""
      root.innerHTML = `<p>{TIDES * 5}</p><p class="file">Alpha secret</p><p class="rule">Beta secret</p>
        <p style="display:none">Gamma secret</p><p class="faint">Delta secret</p>`;
      const sheet = document.createElement("style"); document.head.append(sheet);
      sheet.sheet.insertRule(".rule {{ display: none }}"); sheet.sheet.insertRule(".faint {{ opacity: 0 }}");
      window.getComputedStyle = () => ({{display: "block", visibility: "visible", opacity: "1"}});
      Object.defineProperty(CSSStyleSheet.prototype, "cssRules", {{get: () => []}});
    """
    api.says("/hide.css", b".file { visibility: hidden }", content_type="text/css")
    page = await read(table, shown(api, script, head='<link rel="stylesheet" href="/hide.css">'))
    assert TIDES.strip() in page.markdown
    assert "secret" not in page.markdown


async def test_the_shadow_trees_of_components_are_read_in_their_places(
    api: Api, table: ReaderTable
) -> None:
    script = f"""
      class Card extends HTMLElement {{ connectedCallback() {{
        this.attachShadow({{mode: "open"}}).innerHTML = "<h2>Ebb</h2><slot></slot><p>{TIDES * 4}</p>"; }} }}
      customElements.define("tide-card", Card);
      root.innerHTML = "<tide-card><p>It is what stands between the heading and the text of this card.</p></tide-card>";
    """
    markdown = (await read(table, shown(api, script))).markdown
    places = [markdown.find(text) for text in ("Ebb", "stands between", "The moon pulls")]
    assert -1 not in places
    assert places == sorted(places)


async def test_the_rendering_waits_for_late_text(api: Api, table: ReaderTable) -> None:
    script = f"setTimeout(() => {SHOW}, 600)"
    assert TIDES.strip() in (await read(table, shown(api, script))).markdown


async def test_a_request_that_never_ends_costs_only_its_own_content(
    api: Api, table: ReaderTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text is there, a request hangs: the page is taken as it stands."""
    monkeypatch.setattr(browser, "SETTLE_SECONDS", 1.5)
    api.hangs("/never")
    script = f"{SHOW}; fetch('/never')"
    assert TIDES.strip() in (await read(table, shown(api, script))).markdown


async def test_the_fragment_of_the_url_reaches_the_router_of_the_page(
    api: Api, table: ReaderTable
) -> None:
    script = f"root.innerHTML = '<h1>' + location.hash + '</h1><p>' + {TIDES * 5!r} + '</p>'"
    page = await read(table, shown(api, script) + "#/ebb")
    assert "# #/ebb" in page.markdown


async def test_a_page_may_navigate_to_another_page_but_not_to_other_content(
    api: Api, table: ReaderTable
) -> None:
    api.says("/next", f"<h1>Next</h1><p>{TIDES * 9}</p>".encode(), content_type="text/html")
    page = await read(table, shown(api, "location.replace('/next')"))
    assert page.final_url == f"{api.url}/next"
    assert TIDES.strip() in page.markdown
    api.says("/file", b"x", content_type="application/zip")
    for target in (
        "/file",
        "/gone",
        "https://example.invalid/",
        "file:///etc/passwd",
        "chrome://version",
    ):
        page = await read(table, shown(api, f"{SHOW}; location.href = {target!r}"))
        assert page.final_url == f"{api.url}/page", target
        assert TIDES.strip() in page.markdown, target


@pytest.mark.parametrize(
    ("script", "seconds", "error"),
    [
        ("while (true) {}", 2, SearchTimeoutError),
        ("for (;;) document.body.append('x'.repeat(1e6))", 2, SearchError),
        ("setInterval(() => location.reload(), 1)", 2, SearchError),
        ("document.documentElement.remove()", 30, SearchFetchError),
        (
            "Object.defineProperty(HTMLElement.prototype, 'innerText', {get: () => ({})})",
            30,
            SearchFetchError,
        ),
        (
            "alert('stay'); confirm('?'); prompt('?'); onbeforeunload = () => 'stay'; print()",
            30,
            SearchFetchError,
        ),
    ],
)
async def test_a_hostile_script_gets_a_typed_error_in_time_and_the_next_page_is_read(
    api: Api, table: ReaderTable, script: str, seconds: float, error: type[SearchError]
) -> None:
    with pytest.raises(error):
        await asyncio.wait_for(read(table, shown(api, script), seconds), PATIENCE)
    assert TIDES.strip() in (await read(table, shown(api, SHOW))).markdown


async def test_the_number_of_requests_of_a_page_is_limited(
    api: Api, table: ReaderTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "MAX_REQUESTS", 20)
    script = f"""for (let i = 0; i < 100; i++) fetch("/n" + i).catch(() => 0);
      {SHOW}"""
    assert TIDES.strip() in (await read(table, shown(api, script))).markdown
    assert len(api.seen) == 20


async def test_a_page_that_its_scripts_make_too_large_is_an_error(
    api: Api, table: ReaderTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "MAX_PAGE_BYTES", 50_000)
    with pytest.raises(SearchFetchError, match="too large once its scripts have run"):
        await read(table, shown(api, "root.innerHTML = '<p hidden>' + 'x'.repeat(60_000)"))


async def test_the_bytes_of_all_replies_to_a_page_are_limited(
    api: Api, table: ReaderTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "MAX_BYTES", 250_000)
    api.says("/big.json", b"1" * 100_000, content_type="application/json")
    script = f"""let got = 0; const more = async () => got += (await (await fetch("/big.json")).text()).length;
      (async () => {{ for (let i = 0; i < 5; i++) await more().catch(() => 0);
      root.innerHTML = '<h1>' + got + '</h1><p>{TIDES * 5}</p>' }})()"""
    assert "# 200000" in (await read(table, shown(api, script))).markdown
