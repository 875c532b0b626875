"""Reads any web page: fetches it, detects its content type, and extracts it in a worker.

A page that is empty until its scripts run needs a renderer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from websearch_gateway.base import (
    Fetched,
    Fetching,
)
from websearch_gateway.errors import SearchFetchError, Unavailable
from websearch_gateway.models import Deadline, Extracted, Page
from websearch_gateway.pages.formats.kinds import (
    ACCEPT,
    CONTENT_TYPES,
    CONVERTERS,
    HEAVY,
    IN_A_CHARSET,
    Kind,
    kind_of,
    most_bytes,
)
from websearch_gateway.pages.formats.rendering import cleaned, cleaned_text
from websearch_gateway.pages.needs_scripts import has_little_text, needs_scripts
from websearch_gateway.ports import Workers

NOT_MODIFIED = 304
CUT = "The page is too large: this is the text of its first {:,} bytes."
WITHOUT_SCRIPTS = "This is only the text of the page without its scripts: {}"
_RESERVE_SECONDS = 0.7  # reserved to return the page without scripts if the browser takes too long
_MOST_REFRESHES = 3
_REFRESH_BYTES = 20_000
_MAY_REFRESH = re.compile(rb"http-equiv\s{0,9}=\s{0,9}[\"']?refresh", re.IGNORECASE)
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

    def __init__(
        self, fetcher: Fetching, workers: Workers, renderer: Renderer | None = None
    ) -> None:
        self._fetcher = fetcher
        self._workers = workers
        self._renderer = renderer

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
        fetched = await self._followed(fetched, deadline)
        kind = kind_of(fetched)
        read = _Read(fetched, await self._converted(kind, fetched, deadline))
        if kind == "html":
            if self._renderer and await self._needs_scripts(read, deadline):
                read = await self._with_scripts(self._renderer, read, deadline)
            if is_bot_challenge(read.page.title, read.page.markdown):
                raise SearchFetchError(
                    "The site sent a robot check instead of the page.",
                    details={"reason": "robot_page"},
                )
        if not read.page.markdown:
            raise SearchFetchError("The page has no readable text.", details={"reason": "empty"})
        cut = [CUT.format(len(fetched.body))] if fetched.is_cut else []
        return Page(
            url=url,
            final_url=read.fetched.final_url,
            title=read.page.title,
            markdown=read.page.markdown,
            content_type=CONTENT_TYPES.get(kind, read.fetched.content_type or "text/html"),
            published=read.page.published,
            warnings=(*cut, *read.warnings, *read.page.warnings),
            etag=read.fetched.headers.get("etag"),
            last_modified=read.fetched.headers.get("last-modified"),
        )

    async def _followed(self, fetched: Fetched, deadline: Deadline) -> Fetched:
        """The page that a page sends its readers to at once, by `<meta http-equiv="refresh">`."""
        for _ in range(_MOST_REFRESHES):
            may_refresh = _MAY_REFRESH.search(fetched.body, 0, _REFRESH_BYTES)
            if not may_refresh or kind_of(fetched) != "html":
                break
            arguments = (fetched.body, fetched.final_url, fetched.charset)
            target = str(await self._workers.run(_refresh_of, *arguments, deadline=deadline))
            if not target or target == fetched.final_url.partition("#")[0]:
                break
            fetched = await self._fetcher.fetch(
                target, deadline, accept=ACCEPT, max_bytes=most_bytes(target), in_part=True
            )
        return fetched

    async def _converted(self, kind: Kind, fetched: Fetched, deadline: Deadline) -> Extracted:
        url = fetched.final_url
        arguments = (CONVERTERS[kind], url, fetched.body, url, fetched.charset)
        read = cleaned_text if kind in IN_A_CHARSET else cleaned
        return Extracted(
            **await self._workers.run(read, *arguments, deadline=deadline, heavy=kind in HEAVY)
        )

    async def _needs_scripts(self, read: _Read, deadline: Deadline) -> bool:
        if not has_little_text(read.page.markdown):
            return False
        fetched = read.fetched
        arguments = (fetched.body, fetched.final_url, fetched.charset)
        return bool(await self._workers.run(needs_scripts, *arguments, deadline=deadline))

    async def _with_scripts(self, renderer: Renderer, read: _Read, deadline: Deadline) -> _Read:
        """The page after its scripts have run; if they cannot run, the page without them and with a warning."""
        time_to_render = deadline.within(deadline.remaining() - _RESERVE_SECONDS)
        try:
            rendered = await renderer.render(read.fetched, time_to_render)
            return _Read(rendered, await self._converted("html", rendered, deadline))
        except Unavailable as error:
            if not read.page.markdown:
                raise
            return replace(read, warnings=(WITHOUT_SCRIPTS.format(error.message),))

    async def _fetch(self, url: str, deadline: Deadline, known: Page | None) -> Fetched:
        """The page, or status 304 if it is the same as `known` (RFC 9110, section 13.1)."""
        fetch = partial(
            self._fetcher.fetch,
            url,
            deadline,
            accept=ACCEPT,
            max_bytes=most_bytes(url),
            in_part=True,
        )
        condition = _condition(known) if known else {}
        if known is None or not condition:
            return await fetch()
        fetched = await fetch(headers=condition)
        is_same = fetched.status == NOT_MODIFIED
        # Two pages may have the same ETag: the redirects must still end at the same URL.
        if is_same and fetched.final_url != known.final_url:
            return await fetch()
        return fetched


@dataclass(frozen=True, slots=True)
class _Read:
    """A page, and the reply that it was read from: that of the site, or what its scripts made of it."""

    fetched: Fetched
    page: Extracted
    warnings: tuple[str, ...] = ()


def _condition(known: Page) -> dict[str, str]:
    """The header that asks for a page only if it has changed; none if the site did not say how to ask."""
    if known.etag and _SENDABLE.fullmatch(known.etag):
        return {"if-none-match": known.etag}
    if known.last_modified and _SENDABLE.fullmatch(known.last_modified):
        return {"if-modified-since": known.last_modified}
    return {}


def _refresh_of(body: bytes, url: str, charset: str) -> str:
    # Imported here: it is large, and the server itself reads no page.
    from websearch_gateway.pages.extraction.crawled import refresh_of

    return refresh_of(body, url, charset)


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
    return bool(
        _WORDS.search(text) or (_TITLES.match(title.strip()) and len(text) < LONGEST_CHALLENGE // 2)
    )
