"""The machine's Chromium, driven by Playwright (the extra `browser`): one for the process, started when first needed.

It is locked in twice. Every request of a page is answered by us (`rendering.py`), and the browser itself has a proxy
that does not exist and a resolver that knows no name, so that what is no request of a page leads nowhere either.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from websearch_gateway.errors import SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline
from websearch_gateway.net.fetch import Fetched, Fetching
from websearch_gateway.readers.rendering import Rendering

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import Playwright

PAGES_AT_ONCE = 4
IDLE_SECONDS = 60.0
START_SECONDS = 15.0
NO_EXTRA = (
    "The page is made by scripts, and this gateway has no browser to run them: "
    'pip install "websearch-gateway[browser]" and install Chromium.'
)
NO_CHROMIUM = (
    "The page is made by scripts, and this gateway finds no browser to run them: "
    "install Chromium, or name one in BROWSER_PATH."
)
_NEEDS_SCRIPTS = {"reason": "javascript"}
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_LOCKED_IN = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
)
# None of the keys and tokens of this process.
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent"}


@dataclass(frozen=True, slots=True)
class _Running:
    driver: Playwright
    chromium: Chromium


class Browser:
    """Renders pages. One instance serves the whole process, from one event loop; close it with `aclose`.

    Args:
        fetcher: fetches whatever a page asks for.
        path: the program to drive; found on the PATH when absent.
        retries: how often a start that fails is tried again.
        backoff_seconds: the wait before the first of these tries; it doubles.
        idle_seconds: for how long the browser stays when nobody needs it.
    """

    def __init__(
        self,
        fetcher: Fetching,
        *,
        path: str | None = None,
        retries: int = 2,
        backoff_seconds: float = 0.5,
        idle_seconds: float = IDLE_SECONDS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._fetcher = fetcher
        self._path = path
        self._retries = retries
        self._backoff_seconds = backoff_seconds
        self._idle_seconds = idle_seconds
        self._sleep = sleep
        self._slots = asyncio.Semaphore(PAGES_AT_ONCE)
        self._running: asyncio.Task[_Running] | None = None
        self._users = 0
        self._idle_timer: asyncio.TimerHandle | None = None
        self._leaving: set[asyncio.Task[None]] = set()
        self._closed = False

    async def render(self, document: Fetched, deadline: Deadline) -> Fetched:
        """`document` as its scripts make it.

        Raises:
            SearchFetchError: there is no browser here, it does not start, or the page took it down.
            SearchTimeoutError: out of time.
        """
        try:
            from playwright.async_api import Error
        except ImportError:
            raise SearchFetchError(NO_EXTRA, details=_NEEDS_SCRIPTS) from None
        program = shutil.which(self._path) if self._path else next(filter(None, map(shutil.which, _NAMES)), None)
        if program is None:
            raise SearchFetchError(NO_CHROMIUM, details=_NEEDS_SCRIPTS)
        try:
            async with asyncio.timeout(deadline.remaining()), self._slots, self._chromium(program) as chromium:
                return await Rendering(self._fetcher, document, deadline).run(chromium)
        except TimeoutError:
            raise SearchTimeoutError("The scripts of the page did not finish in time.") from None
        except Error as error:
            raise SearchFetchError("The browser that ran the scripts of the page broke down.") from error

    async def aclose(self) -> None:
        """End the browser, whatever it is doing. Idempotent."""
        self._closed = True
        self._retire()
        await asyncio.gather(*self._leaving)

    @asynccontextmanager
    async def _chromium(self, program: str) -> AsyncIterator[Chromium]:
        """The running browser, started if need be. It stays for a while after its last user."""
        self._users += 1
        if self._idle_timer:
            self._idle_timer.cancel()
        try:
            yield (await self._started(program)).chromium
        finally:
            self._users -= 1
            if not self._users:
                self._idle_timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._retire)

    async def _started(self, program: str) -> _Running:
        if self._running and self._running.done() and not _serves(self._running):
            self._retire()
        if self._running is None:
            self._running = asyncio.create_task(self._start(program))
        # Whoever gives up waiting must not stop it for the others.
        return await asyncio.shield(self._running)

    async def _start(self, program: str) -> _Running:
        from tenacity import AsyncRetrying, stop_after_attempt, wait_exponential

        attempts = AsyncRetrying(
            stop=lambda state: self._closed or stop_after_attempt(1 + self._retries)(state),
            wait=wait_exponential(multiplier=self._backoff_seconds),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return await attempts(_launch, program)
        except Exception as error:  # Playwright raises that very class when its driver dies
            raise SearchFetchError(
                "The browser that would run the scripts of the page does not start.", details=_NEEDS_SCRIPTS
            ) from error

    def _retire(self) -> None:
        """Let the browser go; the next page starts another one."""
        if self._idle_timer:
            self._idle_timer.cancel()
        if running := self._running:
            self._running = None
            leaving = asyncio.create_task(_end(running))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)


async def _launch(program: str) -> _Running:
    from playwright.async_api import async_playwright

    driver = await async_playwright().start()
    try:
        chromium = await driver.chromium.launch(
            executable_path=program,
            args=_LOCKED_IN,
            proxy={"server": "http://nowhere.invalid:9", "bypass": "<-loopback>"},
            env={**_ENVIRONMENT},
            chromium_sandbox=os.geteuid() != 0,  # Chromium refuses to be root in its sandbox
            timeout=START_SECONDS * 1000,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
        return _Running(driver, chromium)
    except BaseException:
        await driver.stop()
        raise


def _serves(running: asyncio.Task[_Running]) -> bool:
    return running.exception() is None and running.result().chromium.is_connected()


async def _end(running: asyncio.Task[_Running]) -> None:
    with suppress(SearchFetchError):  # it never started
        await (await running).driver.stop()
