"""The machine's Chromium, driven by Playwright (the extra `browser`): one per process, started on first use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from websearch_gateway.errors import SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline
from websearch_gateway.net.fetch import Fetched, Fetching
from websearch_gateway.readers.browser import chromium
from websearch_gateway.readers.browser.rendering import Rendering

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

PAGES_AT_ONCE = 4
IDLE_SECONDS = 60.0
CLOSE_SECONDS = 3.0
NO_EXTRA = (
    "The page is made by scripts, and this gateway has no browser to run them: "
    'pip install "websearch-gateway[browser]" and install Chromium.'
)
NO_CHROMIUM = (
    "The page is made by scripts, and this gateway finds no browser to run them: "
    "install Chromium, or name one in BROWSER_PATH."
)
NO_START = "The page is made by scripts, and the browser that would run them does not start."


class Browser:
    """Renders pages. One instance serves the whole process, from one event loop; close it with `aclose`.

    Args:
        fetcher: fetches everything that a page requests.
        path: the browser's executable; searched on the PATH if absent.
        retries: how often to retry a failed start.
        backoff_seconds: the wait before the first retry; it doubles each time.
        idle_seconds: how long an idle browser keeps running.
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
        self._running: asyncio.Task[chromium.Running] | None = None
        self._users = 0
        self._idle_timer: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    async def render(self, document: Fetched, deadline: Deadline) -> Fetched:
        """Render `document` by running its scripts.

        Raises:
            SearchFetchError: there is no browser, it does not start (`details["reason"]` is "javascript"), or the page
                crashed it.
            SearchTimeoutError: the deadline passed.
        """
        try:
            from playwright.async_api import Error
        except ImportError:
            raise _without_browser(NO_EXTRA) from None
        if (program := chromium.program(self._path)) is None:
            raise _without_browser(NO_CHROMIUM)
        try:
            async with asyncio.timeout(deadline.remaining()), self._slots, self._context(program) as context:
                return await Rendering(self._fetcher, document, deadline).run(context)
        except TimeoutError:
            raise SearchTimeoutError("The scripts of the page did not finish in time.") from None
        except Error as error:
            raise SearchFetchError("The browser that ran the scripts of the page broke down.") from error

    def missing(self) -> str | None:
        """A message that names the part that is missing and how to install it; None if nothing is missing."""
        if find_spec("playwright") is None:
            return NO_EXTRA
        return None if chromium.program(self._path) else NO_CHROMIUM

    async def aclose(self) -> None:
        """End the browser at once. Idempotent."""
        self._closed = True
        self._retire()
        await asyncio.gather(*self._closing)

    @asynccontextmanager
    async def _context(self, program: str) -> AsyncIterator[BrowserContext]:
        """A context for one page. Starts the browser if necessary; it keeps running for a while after its last page."""
        self._users += 1
        if self._idle_timer:
            self._idle_timer.cancel()
        try:
            context = await self._open_context(program)
            try:
                yield context
            finally:
                await _close(context)
        finally:
            self._users -= 1
            if not self._users:
                self._idle_timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._retire)

    async def _open_context(self, program: str) -> BrowserContext:
        from playwright.async_api import Error

        running = self._browser(program)
        try:
            return await _new_context(running)
        except Error:  # the browser has died since its last page
            if running is self._running:
                self._retire()
            return await _new_context(self._browser(program))

    def _browser(self, program: str) -> asyncio.Task[chromium.Running]:
        """The task that starts the browser: the current one, or a new one if there is none or it failed."""
        if self._running and self._running.done() and self._running.exception():
            self._retire()
        if self._running is None:
            self._running = asyncio.create_task(self._start(program))
        return self._running

    async def _start(self, program: str) -> chromium.Running:
        from tenacity import AsyncRetrying, stop_after_attempt, wait_exponential

        last_attempt = stop_after_attempt(1 + self._retries)
        attempts = AsyncRetrying(
            stop=lambda state: self._closed or last_attempt(state),
            wait=wait_exponential(multiplier=self._backoff_seconds),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return await attempts(chromium.launch, program)
        except Exception as error:  # the boundary to another process: a dying driver raises exactly this class
            raise _without_browser(NO_START) from error

    def _retire(self) -> None:
        """Close the browser; the next page starts another one."""
        if self._idle_timer:
            self._idle_timer.cancel()
        if running := self._running:
            self._running = None
            closing = asyncio.create_task(_end(running))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)


def _without_browser(message: str) -> SearchFetchError:
    return SearchFetchError(message, details={"reason": "javascript"})


async def _new_context(running: asyncio.Task[chromium.Running]) -> BrowserContext:
    # Shielded: a caller that stops waiting must not cancel the start for the others.
    browser = (await asyncio.shield(running)).browser
    return await browser.new_context(
        service_workers="block", accept_downloads=False, viewport={"width": 1280, "height": 800}
    )


async def _close(context: BrowserContext) -> None:
    """Close `context`; if its page blocks that for too long, close the whole browser."""
    from playwright.async_api import Error

    with suppress(Error):
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await context.close()
        except TimeoutError:
            if context.browser:
                await context.browser.close()


async def _end(running: asyncio.Task[chromium.Running]) -> None:
    with suppress(SearchFetchError):  # it never started
        await (await running).stop()
