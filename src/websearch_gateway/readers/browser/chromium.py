"""Finds and starts Chromium, without network access and with a memory limit."""

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
"""The memory limit of each browser process. Without a limit one page took ten gigabytes in a minute."""
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# We answer every request of a page. For all other traffic, also to loopback, the browser gets a proxy that does not
# exist and a resolver that resolves no name; protocols that bypass proxies (UDP) are off.
_NOWHERE = "http://nowhere.invalid:9"
_LOCKS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
)
# The browser does not get the environment of this process, which contains keys and tokens.
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent"}


@dataclass(frozen=True, slots=True)
class Running:
    """A browser and its Playwright driver."""

    driver: Playwright
    browser: Browser

    async def stop(self) -> None:
        """End both. Idempotent."""
        await self.driver.stop()


def program(path: str | None) -> str | None:
    """The Chromium at `path`, else the machine's; None if there is none."""
    return next(filter(None, map(shutil.which, [path] if path else _NAMES)), None)


async def launch(program: str) -> Running:
    """Start the browser.

    Raises:
        Exception: Playwright's errors; if its driver dies, they are of exactly this class.
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
    """Whether this process is root: Chromium refuses to run its sandbox as root."""
    return sys.platform != "win32" and os.geteuid() == 0


async def _limit_memory(browser: Browser) -> None:
    """Limit all current processes; page processes fork from one of them and inherit the limit. Linux only."""
    if sys.platform != "linux":
        return
    import resource

    session = await browser.new_browser_cdp_session()
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    await session.detach()
    most = MOST_MEGABYTES * 1024 * 1024
    for main in (process["id"] for process in processes if process["type"] == "browser"):
        for process in _tree(main):
            with suppress(OSError):  # the process has just ended
                resource.prlimit(process, resource.RLIMIT_DATA, (most, most))


def _tree(process: int) -> Iterator[int]:
    yield process
    with suppress(OSError):
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            for child in children.read_text().split():
                yield from _tree(int(child))
