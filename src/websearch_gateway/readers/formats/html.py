"""Reads any web page: fetches it, detects its content type, and extracts it in a worker."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Protocol

from websearch_gateway.errors import SearchError, SearchFetchError, Unavailable
from websearch_gateway.models import Deadline, Page
from websearch_gateway.net.fetch import Fetched, Fetching
from websearch_gateway.ports import Workers
from websearch_gateway.readers.cleaning import cleaned
from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.formats.kinds import (
    ACCEPT,
    CONTENT_TYPES,
    CONVERTERS,
    HEAVY,
    MAX_PAGE_BYTES,
    Kind,
    kind_of,
    most_bytes,
)
from websearch_gateway.readers.formats.llms_txt import MarkdownSiblings, is_same_text
from websearch_gateway.readers.needs_scripts import has_little_text, needs_scripts

NOT_MODIFIED = 304
SIBLING_SECONDS = 2.0
_RESERVE_SECONDS = 0.7  # reserved to return the page without scripts if the browser takes too long
_SENDABLE = re.compile(r"[ -~]{1,300}")


class Renderer(Protocol):
    """Runs the scripts of a page."""

    async def render(self, document: Fetched, deadline: Deadline) -> Fetched:
        """See `browser.Browser.render`."""
        ...


class HtmlReader:
    """Reads HTML and every other kind of document that `kinds` knows.

    Args:
        renderer: renders a page that is empty until its scripts run; without it such a page cannot be read.
    """

    name = "html"

    def __init__(self, fetcher: Fetching, workers: Workers, renderer: Renderer | None = None) -> None:
        self._fetcher = fetcher
        self._workers = workers
        self._renderer = renderer
        self._siblings = MarkdownSiblings()

    def accepts(self, url: str) -> bool:
        """True: this reader tries every URL."""
        return True

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        """Fetch and read a page; returns `known` itself if the site says that it has not changed.

        Raises:
            ForbiddenUrlError: the address policy forbids the URL.
            SearchFetchError: the page is missing, too large, of an unreadable type, or without text.
            SearchTimeoutError: the deadline passed.
        """
        await self._workers.warm()
        fetched = await self._fetch(url, deadline, known)
        if known and fetched.status == NOT_MODIFIED:
            return known
        kind = kind_of(fetched)
        warnings: tuple[str, ...] = ()
        self._siblings.learn(fetched)
        page = await self._converted(kind, fetched, deadline)
        if kind == "html":
            page = await self._in_markdown(page, fetched, deadline)
            if self._renderer and await self._needs_scripts(page, fetched, deadline):
                fetched, page, warnings = await self._with_scripts(self._renderer, page, fetched, deadline)
        if kind == "html" and is_bot_challenge(page.title, page.markdown):
            raise SearchFetchError("The site sent a robot check instead of the page.", details={"reason": "robot_page"})
        if not page.markdown:
            raise SearchFetchError("The page has no readable text.", details={"reason": "empty"})
        return Page(
            url=url,
            final_url=fetched.final_url,
            title=page.title,
            markdown=page.markdown,
            content_type=CONTENT_TYPES.get(kind, fetched.content_type or "text/html"),
            published=page.published,
            warnings=(*warnings, *page.warnings),
            etag=fetched.headers.get("etag"),
            last_modified=fetched.headers.get("last-modified"),
        )

    async def _converted(self, kind: Kind, fetched: Fetched, deadline: Deadline) -> Extracted:
        url = fetched.final_url
        arguments = (CONVERTERS[kind], url, fetched.body, url, fetched.charset)
        return Extracted(**await self._workers.run(cleaned, *arguments, deadline=deadline, heavy=kind in HEAVY))

    async def _in_markdown(self, page: Extracted, fetched: Fetched, deadline: Deadline) -> Extracted:
        """`page` with the Markdown that its site provides, if the address of that Markdown is known."""
        if (address := self._siblings.of(fetched)) is None:
            return page
        soon = deadline.within(SIBLING_SECONDS)
        try:
            sibling = await self._fetcher.fetch(address, soon, accept=ACCEPT, max_bytes=MAX_PAGE_BYTES)
            if kind_of(sibling) not in ("markdown", "text"):
                return page
            text = (await self._converted("markdown", sibling, soon)).markdown
        except SearchError:
            return page
        return replace(page, markdown=text) if text and is_same_text(page.markdown, text) else page

    async def _needs_scripts(self, page: Extracted, fetched: Fetched, deadline: Deadline) -> bool:
        if not has_little_text(page.markdown):
            return False
        arguments = (fetched.body, fetched.final_url, fetched.charset)
        return bool(await self._workers.run(needs_scripts, *arguments, deadline=deadline))

    async def _with_scripts(
        self, renderer: Renderer, page: Extracted, fetched: Fetched, deadline: Deadline
    ) -> tuple[Fetched, Extracted, tuple[str, ...]]:
        """The page after its scripts have run; if they cannot run, the page without them and with a warning."""
        try:
            rendered = await renderer.render(fetched, deadline.within(deadline.remaining() - _RESERVE_SECONDS))
            return rendered, await self._converted("html", rendered, deadline), ()
        except Unavailable as error:
            if not page.markdown:
                raise
            return fetched, page, (f"This is only the text of the page without its scripts: {error.message}",)

    async def _fetch(self, url: str, deadline: Deadline, known: Page | None) -> Fetched:
        fetch = partial(self._fetcher.fetch, url, deadline, accept=ACCEPT, max_bytes=most_bytes(url))
        if known is None or not (conditions := _conditions(known)):
            return await fetch()
        fetched = await fetch(headers=conditions)
        # Two pages may have the same ETag: the redirects must still end at the same URL.
        return await fetch() if fetched.status == NOT_MODIFIED and fetched.final_url != known.final_url else fetched


def _conditions(known: Page) -> dict[str, str]:
    """The headers that request the page only if it differs from `known` (RFC 9110, section 13.1)."""
    for header, value in (("if-none-match", known.etag), ("if-modified-since", known.last_modified)):
        if value and _SENDABLE.fullmatch(value):
            return {header: value}
    return {}


LONGEST_CHALLENGE = 1_000
"""The most characters of a challenge page: a longer text that mentions robots is an article about them."""

_TITLES = re.compile(
    r"just a moment\b|attention required! \||access denied\b|pardon our interruption|are you a robot|robot check"
    r"|security check(?:point)?$|human verification|ddos-guard|captcha$|bot verification|client challenge",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"(?:verify|confirm|prove|check) (?:that )?you(?:'re|’re| are) (?:a |not a |an? actual )?(?:human|robot|bot)"
    r"|(?:i'm|i’m|i am|you are|you're|you’re) not a (?:robot|bot)\b|are you (?:a robot|human)\?"
    r"|checking (?:your browser|if the site connection is secure)"
    r"|unusual (?:traffic|activity) from your (?:computer )?(?:network|ip|device|browser)"
    r"|enable javascript and cookies to continue|(?:complete|solve) (?:the|this) (?:captcha|security check|puzzle)"
    r"|enter the characters you see (?:below|in the image)|press (?:&|and) hold to confirm"
    r"|access to this page has been denied because|automated (?:access|requests?|queries) (?:to|from) (?:this|your)"
    r"|making sure you(?:'re|’re| are) not a bot",
    re.IGNORECASE,
)


def is_bot_challenge(title: str, text: str) -> bool:
    """Whether a page is a bot challenge: it is short, and its text or title has the wording of such pages."""
    if len(text) > LONGEST_CHALLENGE:
        return False
    return bool(_WORDS.search(text) or (_TITLES.match(title.strip()) and len(text) < LONGEST_CHALLENGE // 2))
