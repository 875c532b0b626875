"""Reads any web page: fetches it, detects its content type, and extracts it in a worker.

A page that is empty until its scripts run needs a renderer. If the operator wants it, pages are fetched only as
robots.txt allows (RFC 9309).
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import Any, Protocol
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from websearch_gateway.base import (
    ACCEPT_PAGE,
    MAX_BYTES,
    PRODUCT,
    CacheMemory,
    Fetched,
    Fetcher,
    Fetching,
    SharedCache,
    decode,
    in_own_thread,
    may_read,
    rules_for,
)
from websearch_gateway.errors import SearchFetchError, SearchTimeoutError, Unavailable
from websearch_gateway.models import LONGEST_URL, Deadline, Extracted, Page
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
from websearch_gateway.ports import Workers

NOT_MODIFIED = 304
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
        kind, warnings = kind_of(fetched), tuple[str, ...]()
        if fetched.is_cut:
            warnings = (
                f"The page is too large: this is the text of its first {len(fetched.body):,} bytes.",
            )
        page = await self._converted(kind, fetched, deadline)
        if kind == "html" and self._renderer and has_little_text(page.markdown):
            arguments = (fetched.body, fetched.final_url, fetched.charset)
            if await self._workers.run(needs_scripts, *arguments, deadline=deadline):
                fetched, page, missing = await self._with_scripts(
                    self._renderer, page, fetched, deadline
                )
                warnings += missing
        if kind == "html" and is_bot_challenge(page.title, page.markdown):
            raise SearchFetchError(
                "The site sent a robot check instead of the page.", details={"reason": "robot_page"}
            )
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

    async def _followed(self, fetched: Fetched, deadline: Deadline) -> Fetched:
        """The page that a page sends its readers to at once, by `<meta http-equiv="refresh">`."""
        for _ in range(_MOST_REFRESHES):
            if (
                not _MAY_REFRESH.search(fetched.body, 0, _REFRESH_BYTES)
                or kind_of(fetched) != "html"
            ):
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

    async def _with_scripts(
        self, renderer: Renderer, page: Extracted, fetched: Fetched, deadline: Deadline
    ) -> tuple[Fetched, Extracted, tuple[str, ...]]:
        """The page after its scripts have run; if they cannot run, the page without them and with a warning."""
        try:
            rendered = await renderer.render(
                fetched, deadline.within(deadline.remaining() - _RESERVE_SECONDS)
            )
            return rendered, await self._converted("html", rendered, deadline), ()
        except Unavailable as error:
            if not page.markdown:
                raise
            return (
                fetched,
                page,
                (f"This is only the text of the page without its scripts: {error.message}",),
            )

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
        marks = (
            (("if-none-match", known.etag), ("if-modified-since", known.last_modified))
            if known
            else ()
        )
        condition = next(
            ((name, mark) for name, mark in marks if mark and _SENDABLE.fullmatch(mark)), None
        )
        if known is None or condition is None:
            return await fetch()
        fetched = await fetch(headers=dict([condition]))
        # Two pages may have the same ETag: the redirects must still end at the same URL.
        return (
            await fetch()
            if fetched.status == NOT_MODIFIED and fetched.final_url != known.final_url
            else fetched
        )


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


LITTLE_TEXT = 500
"""Characters of main text above which a page does not need its scripts."""
_ALMOST_NO_TEXT = 80  # the length of "Loading ..." and a name
# The mount points of frameworks: React, Vue, Next, Nuxt, Gatsby, SvelteKit, Angular, Ember, Quasar, Docusaurus.
_ROOT_IDS = re.compile(
    r"(?:react-?|vue-?|main-?|js-?)?(?:app|root)(?:-?(?:root|container|mount|body))?|__next|__nuxt|___gatsby|svelte"
    r"|q-app|ember\d*|__docusaurus|mount",
    re.IGNORECASE,
)
_MOST_MENUS = 50_000
_LOADING = re.compile(r"\W*(?:loading|please wait)\b[\w\s,]{0,50}\W*", re.IGNORECASE)
_LINK = re.compile(r"\[[^\[\]]{0,300}\]\([^()\s]{0,2000}\)")
_SCRIPTS = re.compile(r"java-?\s?script", re.IGNORECASE)
_UNSEEN = ("script", "style", "noscript", "template", "title")
_FRAME = ("a", "nav", "header", "footer", "aside")
_MOST_MOUNTS = 50
_DATA_TYPES = ("json", "template", "text/html", "x-handlebars")


def has_little_text(markdown: str) -> bool:
    """Whether a page may be empty but for its menus: outside links it has less than `LITTLE_TEXT`."""
    if len(markdown) < LITTLE_TEXT:
        return True
    return len(markdown) < _MOST_MENUS and len(_LINK.sub("", markdown)) < LITTLE_TEXT


def needs_scripts(html: bytes, url: str, charset: str) -> bool:
    """Whether the text of a page comes from its scripts.

    It has scripts, hardly any text outside them, and almost no text at all, an empty mount point of a framework, or a
    request to enable scripts. A page of menus, headers and footers has an empty mount point too, or says that it loads.
    """
    from lxml import etree

    from websearch_gateway.pages.extraction import page

    root = page.parse(decode(html, charset))
    scripts = root.iter("script") if root is not None else ()
    kinds = [one.get("type", "").lower() for one in scripts if one.get("src") or one.text]
    if root is None or all(any(data in kind for data in _DATA_TYPES) for kind in kinds):
        return False
    asks = any(_SCRIPTS.search("".join(element.itertext())) for element in root.iter("noscript"))
    etree.strip_elements(root, *_UNSEEN, with_tail=False)
    size = _text_chars(root)
    found = (
        one for one in root.iter("*") if "-" in one.tag or _ROOT_IDS.fullmatch(one.get("id", ""))
    )
    mounts = [
        one
        for one in islice(found, _MOST_MOUNTS)
        if one.tag != "body" and _text_chars(one) < _ALMOST_NO_TEXT
    ]
    texts = ("".join(one.itertext()) for one in root.xpath("//main//h1 | //article//h1"))
    has_title = any(text.strip() and not _LOADING.fullmatch(text) for text in texts)
    # The shell of an app has no title and text of a page in its main element: a server has filled it.
    is_filled = has_title and any(
        map(_text_chars, root.xpath("//main[.//h1]//p | //article[.//h1]//p"))
    )
    mounts = [
        one
        for one in mounts
        if not (is_filled and one.xpath("boolean(.//main//h1 | .//article//h1)"))
    ]
    is_named = any("-" not in one.tag for one in mounts)
    if size < LITTLE_TEXT:
        # A short page with a widget of its own; the header of an app is no such page.
        is_empty = size < _ALMOST_NO_TEXT and not is_filled
        return is_empty or asks or is_named or (not has_title and bool(mounts))
    etree.strip_elements(root, *_FRAME, with_tail=False)
    size = _text_chars(root)
    waits = size < _ALMOST_NO_TEXT and any(map(_LOADING.fullmatch, root.itertext()))
    return size < LITTLE_TEXT and (is_named or waits)


def _text_chars(element: Any) -> int:
    return sum(len(" ".join(text.split())) for text in element.itertext())


KEPT_SECONDS = 3600.0
"""Seconds for which a robots.txt is cached; the RFC allows a day."""
FAILURE_KEPT_SECONDS = 60.0
MAX_RULES = 512_000
"""The bytes of a robots.txt that are parsed: the minimum in the RFC."""


class RobotsFetcher:
    """Fetches the pages that robots.txt allows us to fetch; a `net.fetch.Fetching`.

    If robots.txt does not exist (any status 4xx), every page is allowed. If it cannot be fetched, no page is allowed
    for FAILURE_KEPT_SECONDS.

    Args:
        workers: extract our rules from the text, which is untrusted, and apply them.
        memory: shared with the other caches of the process.
        clock: seconds on a monotonic clock.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        workers: Workers,
        *,
        memory: CacheMemory | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetcher = fetcher
        self._workers = workers
        self._clock = clock
        self._rules: SharedCache[str, str] = SharedCache(memory, clock)
        self._failures: SharedCache[str, str] = SharedCache(self._rules.memory, clock)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def fetch(
        self,
        url: str,
        deadline: Deadline,
        *,
        accept: str = ACCEPT_PAGE,
        headers: Mapping[str, str] | None = None,
        max_bytes: int = MAX_BYTES,
        in_part: bool = False,
    ) -> Fetched:
        """See `Fetcher.fetch`. The target of a redirect must be allowed too.

        Raises:
            SearchFetchError: robots.txt forbids the page or cannot be fetched; `details["reason"]` is "robots".
        """
        await self._check(url, deadline)
        fetched = await self._fetcher.fetch(
            url, deadline, accept=accept, headers=headers, max_bytes=max_bytes, in_part=in_part
        )
        if fetched.final_url != url:
            await self._check(fetched.final_url, deadline)
        return fetched

    async def _check(self, url: str, deadline: Deadline) -> None:
        if len(url) > LONGEST_URL:
            return  # the fetcher rejects it
        try:
            parts = urlsplit(url.strip())
        except ValueError:
            return  # likewise
        rules = await self._rules_of(
            f"{parts.scheme}://{parts.netloc}/robots.txt", parts.hostname or "", deadline
        )
        if rules and not await self._workers.run(
            may_read, rules, url, PRODUCT, deadline=deadline, size=len(rules)
        ):
            raise _forbidden(
                f"The robots.txt of {parts.hostname} does not allow programs to read this page."
            )

    async def _rules_of(self, url: str, host: str, deadline: Deadline) -> str:
        async with self._locks.setdefault(url, asyncio.Lock()):
            if (rules := self._rules.get(url)) is not None:
                return rules
            if failure := self._failures.get(url):
                raise _forbidden(failure)
            try:
                fetched = await self._fetcher.fetch(url, deadline, accept="text/plain,*/*;q=0.5")
                body = _whole_lines(fetched.body, MAX_RULES)
                text = await in_own_thread(decode, body, fetched.charset)
                rules = str(await self._workers.run(rules_for, text, PRODUCT, deadline=deadline))
            except SearchTimeoutError:
                raise  # not cached: perhaps only our own deadline was short
            except SearchFetchError as error:
                if not 400 <= error.details.get("status", 0) < 500:
                    failure = f"The robots.txt of {host} cannot be fetched: {error.message}"
                    self._failures.put(url, failure, expires=self._clock() + FAILURE_KEPT_SECONDS)
                    raise _forbidden(failure) from error
                rules = ""
            self._rules.put(url, rules, expires=self._clock() + KEPT_SECONDS)
            return rules


def _whole_lines(body: bytes, most: int) -> bytes:
    """The lines that fit into so many bytes: a part of `Allow: /public/` would allow everything."""
    if len(body) <= most:
        return body
    return body[: max(body.rfind(b"\n", 0, most), body.rfind(b"\r", 0, most), 0)]


def _forbidden(message: str) -> SearchFetchError:
    return SearchFetchError(message, details={"reason": "robots"})
