"""Renders pages that need their scripts, in a Chromium that cannot reach the network by itself."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urldefrag, urlsplit

from websearch_gateway.base import Fetched, Fetching, decode, in_own_thread
from websearch_gateway.errors import SearchError, SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline
from websearch_gateway.pages.formats.kinds import HTML_TYPES, MAX_PAGE_BYTES

if TYPE_CHECKING:
    from playwright.async_api import Browser as AsyncApiBrowser
    from playwright.async_api import BrowserContext, CDPSession, Playwright, Request, Route


PAGES_AT_ONCE = 4
IDLE_SECONDS = 60.0
CLOSE_SECONDS = 3.0
NO_EXTRA = (
    "The page is made by scripts, and this gateway has no browser to run them: "
    "pip install '.[browser]' in the folder of this project, and install Chromium."
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
        self._running: asyncio.Task[Running] | None = None
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
        if (program := chromium_program(self._path)) is None:
            raise _without_browser(NO_CHROMIUM)
        try:
            async with (
                asyncio.timeout(deadline.remaining()),
                self._slots,
                self._context(program) as context,
            ):
                document = await in_own_thread(_as_text, document)
                return await Rendering(self._fetcher, document, deadline).run(context)
        except TimeoutError:
            raise SearchTimeoutError("The scripts of the page did not finish in time.") from None
        except Error as error:
            raise SearchFetchError(
                "The browser that ran the scripts of the page broke down."
            ) from error

    def missing(self) -> str | None:
        """A message that names the part that is missing and how to install it; None if nothing is missing."""
        if find_spec("playwright") is None:
            return NO_EXTRA
        return None if chromium_program(self._path) else NO_CHROMIUM

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
                self._idle_timer = asyncio.get_running_loop().call_later(
                    self._idle_seconds, self._retire
                )

    async def _open_context(self, program: str, *, again: bool = True) -> BrowserContext:
        from playwright.async_api import Error

        if self._running and self._running.done() and self._running.exception():
            self._retire()
        running = self._running = self._running or asyncio.create_task(self._start(program))
        try:
            # Shielded: a caller that stops waiting must not cancel the start for the others.
            browser = (await asyncio.shield(running)).browser
            return await browser.new_context(
                service_workers="block",
                accept_downloads=False,
                viewport={"width": 1280, "height": 800},
            )
        except Error:  # the browser has died since its last page
            if not again:
                raise
            if running is self._running:
                self._retire()
            return await self._open_context(program, again=False)

    async def _start(self, program: str) -> Running:
        for attempt in range(1 + self._retries):
            try:
                return await launch(program)
            # The boundary to another process: a dying driver raises exactly this class.
            except Exception as error:
                if self._closed or attempt == self._retries:
                    raise _without_browser(NO_START) from error
            await self._sleep(self._backoff_seconds * 2**attempt)
        raise _without_browser(NO_START)

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


async def _end(running: asyncio.Task[Running]) -> None:
    with suppress(SearchFetchError):  # it never started
        await (await running).driver.stop()


MAX_REQUESTS = 200
MAX_BYTES = 30_000_000
"""The most requests of a page, and the most bytes of all their replies."""
SETTLE_SECONDS = 8.0
_SNAPSHOT_SECONDS = 0.5
_AT_ONCE = 8
_POLL_SECONDS = 0.1
# A page with text is done when nothing has changed for a moment; a page without text may just be slow.
_ENOUGH_TEXT = 200
_STILL_SECONDS = 0.3
_PATIENCE_SECONDS = 1.0
_SERVED_TYPES = frozenset({"document", "stylesheet", "script", "xhr", "fetch"})
_SENT_HEADERS = re.compile(r"accept|accept-language|authorization|x-[\w-]{1,60}")
_REPLY_HEADERS = re.compile(r"content-type|access-control-[\w-]+")


def _as_text(document: Fetched) -> Fetched:
    """The page in UTF-8. Takes a moment if its encoding must be found."""
    return _as_html(document, document.final_url, decode(document.body, document.charset))


class Rendering:
    """Renders one page, once.

    Args:
        fetcher: sends all requests.
        document: the page as fetched; it is not fetched again.
    """

    def __init__(self, fetcher: Fetching, document: Fetched, deadline: Deadline) -> None:
        self._fetcher = fetcher
        self._document = _as_text(document)
        self._deadline = deadline
        self._gate = asyncio.Semaphore(_AT_ONCE)
        self._answers: set[asyncio.Task[None]] = set()
        self._requests = 0
        self._bytes = 0

    async def run(self, context: BrowserContext) -> Fetched:
        """Run the scripts in `context`, which serves only this page, and return the resulting document.

        Raises:
            SearchFetchError: the resulting document is too large.
            playwright.async_api.Error: the page or the browser crashed.
        """
        own, fragment = self._document.final_url, urlsplit(self._document.url).fragment
        try:
            await context.route("**/*", self._intercept)
            # A routed socket reaches no server by itself.
            await context.route_web_socket("**/*", lambda _: None)
            page = await context.new_page()
            session = await context.new_cdp_session(page)
            # Some pages route by the fragment after `#`.
            await page.goto(
                f"{own}#{fragment}" if fragment else own, wait_until="commit", timeout=0
            )
            await self._settle(session)
            html: str | None = await _evaluate(session, _SNAPSHOT % MAX_PAGE_BYTES)
        finally:
            for answer in self._answers:
                answer.cancel()
        if html is None:
            raise SearchFetchError(
                "The page is too large once its scripts have run.", details={"reason": "too_large"}
            )
        url = urldefrag(page.url).url
        return _as_html(
            self._document, url if url.startswith(("http://", "https://")) else own, html
        )

    async def _settle(self, session: CDPSession) -> None:
        """Wait, within a limit, until the text stays the same and no request is running."""
        limit = self._deadline.within(
            min(SETTLE_SECONDS, self._deadline.remaining() - _SNAPSHOT_SECONDS)
        )
        size, still_since = -1, limit.remaining()
        while limit.remaining():
            await asyncio.sleep(_POLL_SECONDS)
            found = int(await _evaluate(session, _TEXT_SIZE))
            if found != size or self._answers:
                size, still_since = found, limit.remaining()
            elif still_since - limit.remaining() >= (
                _STILL_SECONDS if size > _ENOUGH_TEXT else _PATIENCE_SECONDS
            ):
                return

    def _intercept(self, route: Route) -> None:
        answer = asyncio.create_task(self._answer(route))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, route: Route) -> None:
        from playwright.async_api import Error

        with suppress(Error):  # the page is closed
            reply = await self._reply(route.request)
            if reply is None:
                # After this error of a navigation the page stays as it is.
                await route.abort("aborted")
            else:
                status, headers, body = reply
                await route.fulfill(status=status, headers=headers, body=body)

    async def _reply(self, request: Request) -> tuple[int, dict[str, str], bytes] | None:
        """Status, headers and body for a request; None to abort it."""
        self._requests += 1
        if (
            request.method != "GET"
            or request.resource_type not in _SERVED_TYPES
            or self._requests > MAX_REQUESTS
        ):
            return None
        navigates = request.is_navigation_request()
        # The content of a frame is not text of this page. A navigation without a known frame opens a window.
        if navigates and request.frame.parent_frame is not None:
            return None
        try:
            async with self._gate:
                reply = await self._fetch(request, navigates=navigates)
        except SearchError as error:
            status = error.details.get("status")
            return (status, {}, b"") if status and not navigates else None
        if navigates and reply.content_type not in HTML_TYPES:
            return None
        headers = {
            name: value for name, value in reply.headers.items() if _REPLY_HEADERS.fullmatch(name)
        }
        return reply.status, headers, reply.body

    async def _fetch(self, request: Request, *, navigates: bool) -> Fetched:
        if navigates and urldefrag(request.url).url == self._document.final_url:
            return self._document
        deadline = self._deadline
        if not navigates:
            deadline = replace(deadline, check_redirect=None)
        elif deadline.check_redirect is not None:
            await deadline.check_redirect(request.url)
        sent = {
            name: value for name, value in request.headers.items() if _SENT_HEADERS.fullmatch(name)
        }
        accept = sent.pop("accept", "*/*")
        left = min(MAX_PAGE_BYTES, MAX_BYTES - self._bytes)
        reply = await self._fetcher.fetch(
            request.url, deadline, accept=accept, headers=sent, max_bytes=left
        )
        self._bytes += len(reply.body)
        return reply


def _as_html(document: Fetched, url: str, html: str) -> Fetched:
    """`document` with another text and URL, and without the headers that describe the old text."""
    body, headers = html.encode("utf-8", "replace"), {"content-type": "text/html; charset=utf-8"}
    return replace(
        document,
        final_url=url,
        headers=headers,
        body=body,
        content_type="text/html",
        charset="utf-8",
    )


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


class Running(NamedTuple):
    """A browser and its Playwright driver, whose end ends both."""

    driver: Playwright
    browser: AsyncApiBrowser


def chromium_program(path: str | None) -> str | None:
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
            chromium_sandbox=sys.platform == "win32"
            or os.geteuid() != 0,  # Chromium refuses it to root
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


async def _limit_memory(browser: AsyncApiBrowser) -> None:
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


_WORLD = "reader"
# The approximate number of visible characters. Not `innerText`, which forces a layout on each call.
_TEXT_SIZE = """document.body ? [...document.body.querySelectorAll("script, style, noscript, template")].reduce(
  (size, unseen) => size - unseen.textContent.length, document.body.textContent.length) : 0"""
# The visible page as HTML; null if it is too large. The page is unusable afterwards.
_SNAPSHOT = """(most => {
  // Record which elements are hidden: computed styles are the most reliable, style sheets give the reason.
  const concealing = [["display", "none"], ["visibility", "hidden"], ["opacity", "0"]];
  for (const element of document.querySelectorAll("body *")) {
    const style = getComputedStyle(element);
    for (const [name, value] of concealing)
      if (style[name] === value && element.style) element.style.setProperty(name, value, "important");
  }
  const rules = sheet => {
    try { return [...sheet.cssRules].map(rule => rule.cssText).join("\\n"); } catch { return ""; }
  };
  const css = [...document.styleSheets, ...document.adoptedStyleSheets].map(rules).join("\\n");
  // Readers see the shadow tree of a component like the rest of the page: move it into the document.
  const open = root => {
    for (const host of root.querySelectorAll("*")) {
      const shadow = host.shadowRoot;
      if (!shadow) continue;
      open(shadow);
      for (const slot of shadow.querySelectorAll("slot")) {
        const assigned = slot.assignedNodes();
        slot.replaceWith(...(assigned.length ? assigned : slot.childNodes));
      }
      host.replaceChildren(...shadow.childNodes);
    }
  };
  open(document);
  // Scripts are enabled, so the content of `noscript` is not visible.
  for (const element of document.querySelectorAll("script, noscript, style, link[rel~=stylesheet]")) element.remove();
  const style = document.createElement("style");
  style.textContent = css.length > most / 5 ? "" : css;
  (document.head || document.documentElement).append(style);
  const html = document.documentElement.outerHTML;
  return html.length > most ? null : "<!doctype html>" + html;
})(%d)"""


async def _evaluate(page: CDPSession, expression: str) -> Any:
    from playwright.async_api import Error

    for is_last in (False, True):  # the page may have navigated to another document meanwhile
        try:
            frame = (await page.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
            world = await page.send(
                "Page.createIsolatedWorld", {"frameId": frame, "worldName": _WORLD}
            )
            asked = {
                "expression": expression,
                "contextId": world["executionContextId"],
                "returnByValue": True,
            }
            return (await page.send("Runtime.evaluate", asked))["result"].get("value")
        except Error:
            if is_last:
                raise
    return None
