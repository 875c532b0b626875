"""Renders one page in a browser without network access.

The browser never opens a connection: the guarded fetcher sends the requests of the page and passes the replies on. It
sends only those that text can depend on: for documents of the page itself, style sheets, scripts, and GET requests of
scripts.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urlsplit

from websearch_gateway.errors import SearchError, SearchFetchError
from websearch_gateway.models import Deadline
from websearch_gateway.net.decode import decode
from websearch_gateway.net.fetch import REDIRECTS, Fetched, Fetching
from websearch_gateway.readers.browser.snapshot import snapshot, text_size
from websearch_gateway.readers.formats.kinds import HTML_TYPES, MAX_PAGE_BYTES

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Request, Route, WebSocketRoute

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


class Rendering:
    """Renders one page, once.

    Args:
        fetcher: sends all requests.
        document: the page as fetched; it is not fetched again.
    """

    def __init__(self, fetcher: Fetching, document: Fetched, deadline: Deadline) -> None:
        self._fetcher = fetcher
        self._check = REDIRECTS.get()
        self._document = _as_html(document, document.final_url, decode(document.body, document.charset))
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
        try:
            return await self._render(context)
        finally:
            for answer in self._answers:
                answer.cancel()

    async def _render(self, context: BrowserContext) -> Fetched:
        await context.route("**/*", self._intercept)
        await context.route_web_socket("**/*", _refuse_socket)
        page = await context.new_page()
        session = await context.new_cdp_session(page)
        # Some pages route by the fragment after `#`.
        fragment = urlsplit(self._document.url).fragment
        address = f"{self._document.final_url}#{fragment}" if fragment else self._document.final_url
        await page.goto(address, wait_until="commit", timeout=0)
        await self._settle(session)
        html = await snapshot(session, MAX_PAGE_BYTES)
        if html is None:
            raise SearchFetchError("The page is too large once its scripts have run.", details={"reason": "too_large"})
        url, own = urldefrag(page.url).url, self._document.final_url
        return _as_html(self._document, url if url.startswith(("http://", "https://")) else own, html)

    async def _settle(self, session: CDPSession) -> None:
        """Wait, within a limit, until the text stays the same and no request is running."""
        limit = self._deadline.within(min(SETTLE_SECONDS, self._deadline.remaining() - _SNAPSHOT_SECONDS))
        size, still_since = -1, limit.remaining()
        while limit.remaining():
            await asyncio.sleep(_POLL_SECONDS)
            found = await text_size(session)
            if found != size or self._answers:
                size, still_since = found, limit.remaining()
            elif still_since - limit.remaining() >= (_STILL_SECONDS if size > _ENOUGH_TEXT else _PATIENCE_SECONDS):
                return

    def _intercept(self, route: Route) -> None:
        answer = asyncio.create_task(self._answer(route))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, route: Route) -> None:
        from playwright.async_api import Error

        with suppress(Error):  # the page is closed
            reply = await self._reply(route.request) if self._is_served(route.request) else None
            if reply is None:
                await route.abort("aborted")  # after this error of a navigation the page stays as it is
            else:
                status, headers, body = reply
                await route.fulfill(status=status, headers=headers, body=body)

    async def _reply(self, request: Request) -> tuple[int, dict[str, str], bytes] | None:
        """Status, headers and body for a request; None to abort it."""
        navigates = request.is_navigation_request()
        try:
            async with self._gate:
                reply = await self._fetch(request)
        except SearchError as error:
            status = error.details.get("status")
            return (status, {}, b"") if status and not navigates else None
        if navigates and reply.content_type not in HTML_TYPES:
            return None
        headers = {name: value for name, value in reply.headers.items() if _REPLY_HEADERS.fullmatch(name)}
        return reply.status, headers, reply.body

    def _is_served(self, request: Request) -> bool:
        self._requests += 1
        if request.method != "GET" or request.resource_type not in _SERVED_TYPES or self._requests > MAX_REQUESTS:
            return False
        # The content of a frame is not text of this page. A navigation without a known frame opens a window.
        return not request.is_navigation_request() or request.frame.parent_frame is None

    async def _fetch(self, request: Request) -> Fetched:
        if request.is_navigation_request() and urldefrag(request.url).url == self._document.final_url:
            return self._document
        REDIRECTS.set(None)  # the browser's tasks have the context of whoever started it
        if request.is_navigation_request() and self._check is not None:
            await self._check(request.url)
        sent = {name: value for name, value in request.headers.items() if _SENT_HEADERS.fullmatch(name)}
        accept = sent.pop("accept", "*/*")
        left = min(MAX_PAGE_BYTES, MAX_BYTES - self._bytes)
        reply = await self._fetcher.fetch(request.url, self._deadline, accept=accept, headers=sent, max_bytes=left)
        self._bytes += len(reply.body)
        return reply


def _as_html(document: Fetched, url: str, html: str) -> Fetched:
    """`document` with another text and URL, and without the headers that describe the old text."""
    body, headers = html.encode("utf-8", "replace"), {"content-type": "text/html; charset=utf-8"}
    return replace(document, final_url=url, headers=headers, body=body, content_type="text/html", charset="utf-8")


def _refuse_socket(socket: WebSocketRoute) -> None:
    """A routed web socket reaches no server unless the handler connects it."""
