"""The sandbox's page for people, in a real Chromium."""

from __future__ import annotations

import json
import shutil

import httpx2
import pytest

from websearch_gateway.sandbox import Fault, Sandbox, engines, environment

CHROMIUM = shutil.which("chromium")


async def test_it_says_how_to_point_an_agent_here_and_names_every_page(
    http: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    page = (await http.get("/_sandbox", follow_redirects=True)).text
    for name, value in environment(sandbox.url).items():
        assert f"export {name}={value}" in page
        assert f"{json.dumps(name)}: {json.dumps(value)}".replace('"', "&quot;") in page
    for name, value in (pair for settings in engines(sandbox.url).values() for pair in settings.items()):
        assert f"# export {name}={value}" in page
    assert 'href="/pages/sourdough-bread"' in page


async def test_every_button_is_a_fault_that_its_target_has(http: httpx2.AsyncClient) -> None:
    from lxml import html

    buttons = html.fromstring((await http.get("/_sandbox/")).text).xpath("//button[@data-fault]")
    assert len(buttons) > 50
    for button in buttons:
        Fault(target=button.get("data-target"), kind=button.get("data-fault"))
        assert button.get("title"), button.get("data-fault")


@pytest.mark.skipif(not CHROMIUM, reason="Chromium is missing; `make test` installs it")
async def test_buttons_set_and_clear_faults_and_count(http: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    from playwright.async_api import async_playwright, expect

    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=CHROMIUM)
        page = await browser.new_page(viewport={"width": 400, "height": 800})
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(f"{sandbox.url}/_sandbox/")
        assert asked == [f"{sandbox.url}/_sandbox/"]
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await page.click('button[data-target="pages"][data-fault="bot"]')
        await expect(page.locator("output")).to_have_text(
            "From now on pages answers with a page that asks whether you are human."
        )
        await page.click("#clear")
        await page.select_option('select[data-target="pages"]', "404")
        await expect(page.locator("output")).to_have_text("From now on pages answers with HTTP 404.")
        assert (await http.get("/pages/sourdough-bread")).status_code == 404
        await page.click("#clear")
        await expect(page.locator("output")).to_have_text("Everything works again.")
        assert (await http.get("/pages/sourdough-bread")).status_code == 200
        await page.click("#count")
        await expect(page.locator("#calls")).to_contain_text("pages/sourdough-bread")
        await browser.close()
