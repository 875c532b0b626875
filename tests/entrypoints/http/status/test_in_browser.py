"""The page in a real Chromium: it looks as it should, on every screen, and loads nothing."""

from __future__ import annotations

import pytest

from tests.entrypoints.http.browsing import (
    IN_BROWSER,
    LEAST_CONTRAST,
    PHONE,
    SCHEMES,
    TABLET,
    WIDE,
    Open,
    resize,
)
from tests.entrypoints.http.calls import bearer, post, search
from tests.entrypoints.http.conftest import SECRET, Door, address
from tests.entrypoints.http.status.samples import BROKEN, FRESH, HEALTHY, NOW, SPENT
from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.entrypoints.http.status_page import rendered
from websearch_gateway.sandbox import Sandbox

pytestmark = IN_BROWSER


async def test_the_served_page_shows_the_calls_and_loads_nothing_else(
    browse: Open, door: Door, sandbox: Sandbox
) -> None:
    loaded, complaints = [], []
    async with door(breaker_failures=1, daily_budget_usd=1.0) as http, browse() as page:
        page.on("request", lambda request: loaded.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        await post(http, search())
        await page.goto(f"{address(http)}/")
        assert await page.inner_text("h1") == "Every upstream asked so far is healthy"
        sandbox.fault("openai", "status", status=503)
        await post(http, search("Who wrote the diary of Zebulon Pike?"))
        await page.reload()
        assert await page.inner_text("h1") == "openai is failing"
        assert "circuit open" in await page.inner_text("tr:has(th:text-is('openai'))")
        assert "Zebulon" not in await page.content()
        assert (
            await page.evaluate("getComputedStyle(document.querySelector('.cards')).display")
            == "grid"
        )
        assert await page.evaluate("[...document.scripts].length") == 0
    assert {url for url in loaded if not url.startswith("data:")} == {f"{address(http)}/"}
    assert complaints == []


@pytest.mark.parametrize(
    "snapshot", [FRESH, HEALTHY, BROKEN, SPENT], ids=["fresh", "healthy", "broken", "spent"]
)
async def test_every_text_can_be_read_and_nothing_sticks_out(
    browse: Open, snapshot: Snapshot
) -> None:
    """WCAG 2.2, 1.4.3 (AA): a contrast of 4.5; 1.4.10: no scrolling to the side."""
    async with browse() as page:
        await page.set_content(rendered(snapshot, NOW))
        assert await page.title() != "owned"
        for size in (WIDE, TABLET, PHONE):
            await resize(page, size)
            assert await page.evaluate("document.documentElement.scrollWidth") <= size[0]
            for scheme in SCHEMES:
                await page.emulate_media(color_scheme=scheme)
                assert await page.evaluate(LEAST_CONTRAST) >= 4.5, (size, scheme)


async def test_a_wide_screen_shows_all_of_it_at_once(browse: Open) -> None:
    async with browse(WIDE) as page:
        await page.set_content(rendered(BROKEN, NOW))
        assert await page.evaluate("document.documentElement.scrollHeight") <= WIDE[1]


async def test_a_person_signs_in_and_out_and_asks_by_hand_without_pasting_again(
    browse: Open, door: Door
) -> None:
    secret = bearer(scope="ops search")["Authorization"].removeprefix("Bearer ")
    async with door(auth_mode="secret", auth_secret=SECRET) as http, browse() as page:
        await page.goto(f"{address(http)}/")
        await page.fill("#token", "nonsense")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("[role=alert]")
        await page.fill("#token", secret)
        await page.keyboard.press("Enter")
        await page.wait_for_selector(".cards")
        assert secret not in page.url + await page.content()
        assert await page.evaluate("document.cookie") == ""
        await page.click("text=Ask by hand")
        await page.fill("#search_web-query", "How tall is the Eiffel Tower?")
        await page.keyboard.press("Enter")
        await page.wait_for_selector(".answer:has-text('330 metres')")
        await page.click("text=Status")
        await page.click("text=Sign out")
        await page.wait_for_selector("#token")
        await page.goto(f"{address(http)}/")
        assert await page.locator(".cards").count() == 0
