"""Draws `docs/images/play.png` and `status.png`: the pages of a gateway in the sandbox, in a real Chromium.

Run as `websearch-gateway sandbox -- python tools/page_pictures.py`, which gives the gateway its stand-ins.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDTH, HEIGHT = 1_000, 800
QUESTION = "How tall is the Eiffel Tower?"
START_SECONDS = 60.0


@contextmanager
def gateway() -> Iterator[str]:
    """The address of a gateway over HTTP, which serves until the end."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    command = [str(Path(sys.executable).with_name("websearch-gateway")), "serve", "--http"]
    with subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.DEVNULL) as server:
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(address)
            yield address
        finally:
            server.terminate()


def wait_for(address: str) -> None:
    """Return as soon as the server answers."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            if httpx2.get(f"{address}/readyz").status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.2)
    raise SystemExit("The gateway does not start.")


def ask(page: Page, address: str) -> None:
    """Ask the question on `/play` and wait for the answer."""
    page.goto(f"{address}/play")
    page.fill("#search_web-query", QUESTION)
    page.click("#panel-search_web [type=submit]")
    page.wait_for_selector("#panel-search_web:not([aria-busy]) .outcome:not(:empty)")


def main() -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        print(
            "Chromium is missing, so the pictures of the pages stay as they are.", file=sys.stderr
        )
        return
    with gateway() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        ask(page, address)
        page.screenshot(path=IMAGES / "play.png", full_page=True)
        page.goto(f"{address}/")
        page.screenshot(path=IMAGES / "status.png", full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
