"""A real Chromium for tests of our pages. A module that uses the fixture `browse` is marked with `IN_BROWSER`."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Literal

import pytest

from tests.patience import PATIENCE

if TYPE_CHECKING:
    from playwright.async_api import Page

CHROMIUM = shutil.which("chromium")
IN_BROWSER = [
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is missing; `make test` installs it"),
    pytest.mark.asyncio(loop_scope="module"),  # one browser for all tests of a module
]

WIDE, TABLET, PHONE = (1280, 860), (820, 1180), (360, 740)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

# The least contrast between a text and what is behind it, by the formula of WCAG 2.2 (relative luminance).
LEAST_CONTRAST = """() => {
  const rgb = color => color.match(/[\\d.]+/g).map(Number);
  const light = color => {
    const [r, g, b] = rgb(color).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = node => {
    for (; node; node = node.parentElement) {
      const color = getComputedStyle(node).backgroundColor;
      if (rgb(color)[3] !== 0) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || node.closest("svg")) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
    found.push((a + .05) / (b + .05));
  }
  return Math.min(...found);
}"""

Open = Callable[..., AbstractAsyncContextManager["Page"]]


async def browser_tabs() -> AsyncIterator[Open]:
    """A function that opens a tab of a given size."""
    from playwright.async_api import async_playwright

    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=CHROMIUM)

        @asynccontextmanager
        async def tab(size: tuple[int, int] = WIDE) -> AsyncIterator[Page]:
            page = await browser.new_page(viewport={"width": size[0], "height": size[1]})
            page.set_default_timeout(PATIENCE * 1000)
            yield page
            await page.close()

        yield tab
        await browser.close()


async def resize(page: Page, size: tuple[int, int]) -> None:
    await page.set_viewport_size({"width": size[0], "height": size[1]})
