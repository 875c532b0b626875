"""How Chromium is found and started: locked in, and with a limit to the memory that pages may take."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

START_SECONDS = 15.0
MOST_MEGABYTES = 1024
"""Of memory for each process of the browser. Without a limit one page took ten gigabytes in a minute."""
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Every request of a page is answered by us. Whatever else the browser may want to send has a proxy that does not exist,
# for loopback addresses too, and a resolver that knows no name; what goes past proxies (UDP) is off.
_NOWHERE = "http://nowhere.invalid:9"
_LOCKS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
)
# None of the keys and tokens of this process.
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent"}


@dataclass(frozen=True, slots=True)
class Running:
    """A browser and the program that drives it."""

    driver: Playwright
    browser: Browser

    async def stop(self) -> None:
        """End both. Idempotent."""
        await self.driver.stop()


def program(path: str | None) -> str | None:
    """The Chromium at `path`, or else the machine's; None where there is none."""
    return next(filter(None, map(shutil.which, [path] if path else _NAMES)), None)


async def launch(program: str) -> Running:
    """Start the browser.

    Raises:
        Exception: Playwright's own errors, which are of that very class when its driver dies.
    """
    from playwright.async_api import async_playwright

    driver = await async_playwright().start()
    try:
        browser = await driver.chromium.launch(
            executable_path=program,
            args=_LOCKS,
            proxy={"server": _NOWHERE, "bypass": "<-loopback>"},
            env={**_ENVIRONMENT},
            chromium_sandbox=not _is_root(),
            timeout=START_SECONDS * 1000,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
        await _limit_memory(browser)
    except BaseException:
        await driver.stop()
        raise
    return Running(driver, browser)


def _is_root() -> bool:
    """Chromium refuses to be root in its sandbox."""
    return sys.platform != "win32" and os.geteuid() == 0


async def _limit_memory(browser: Browser) -> None:
    """Limit every process there is; those of pages are forked from one of them and inherit it. On Linux only."""
    if sys.platform != "linux":
        return
    import resource

    session = await browser.new_browser_cdp_session()
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    await session.detach()
    most = MOST_MEGABYTES * 1024 * 1024
    for main in (process["id"] for process in processes if process["type"] == "browser"):
        for process in _tree(main):
            with suppress(OSError):  # it has just ended
                resource.prlimit(process, resource.RLIMIT_DATA, (most, most))


def _tree(process: int) -> Iterator[int]:
    yield process
    with suppress(OSError):
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            for child in children.read_text().split():
                yield from _tree(int(child))
