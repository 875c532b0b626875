"""Reads any web page: fetches it, detects its content type, and extracts it in a worker.

A page that is empty until its scripts run needs a renderer. The Markdown that a site provides for a page replaces our
own. Nothing is guessed, so an ordinary page costs no further request. A page's Markdown is known if

- the page says so, in a `Link` header (RFC 8288) or its head: `<link rel="alternate" type="text/markdown" href=...>`;
- or the `llms.txt` of its site was read before and lists the address that https://llmstxt.org gives it: the page's
  address with `.md` appended, or with `index.html.md` if it names no file.

Only addresses of the same origin count, since a page cannot speak for another site. Only a text with the words of the
page counts: some sites name their `llms.txt` as the Markdown of every page.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Protocol
from urllib.parse import urldefrag, urljoin, urlsplit

from cachetools import TTLCache

from websearch_gateway.errors import SearchError, SearchFetchError, Unavailable
from websearch_gateway.models import Deadline, Page
from websearch_gateway.net.bodies import decode
from websearch_gateway.net.fetch import Fetched, Fetching
from websearch_gateway.ports import Workers
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
from websearch_gateway.readers.formats.rendering import cleaned

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

    It has scripts, hardly any text outside them, and one of: almost no text at all, an empty mount point of a
    framework, or a request to enable scripts. A page whose text is all in menus, headers and footers has an empty mount
    point too, or says that it is loading.
    """
    from lxml import etree

    from websearch_gateway.readers.extraction import page

    root = page.parse(decode(html, charset))
    if root is None or not any(map(_is_code, root.iter("script"))):
        return False
    asks = any(_SCRIPTS.search("".join(element.itertext())) for element in root.iter("noscript"))
    etree.strip_elements(root, *_UNSEEN, with_tail=False)
    size = _text_chars(root)
    mounts = list(islice(filter(_is_mount, root.iter("*")), _MOST_MOUNTS))
    named = [mount for mount in mounts if "-" not in mount.tag and _is_empty(mount)]
    if size < LITTLE_TEXT:
        # A short page with a widget of its own; the header of an app is no such page.
        has_title = any(_text_chars(heading) for heading in root.xpath("//main//h1 | //article//h1"))
        return size < _ALMOST_NO_TEXT or asks or bool(named) or (not has_title and any(map(_is_empty, mounts)))
    etree.strip_elements(root, *_FRAME, with_tail=False)
    size = _text_chars(root)
    waits = size < _ALMOST_NO_TEXT and any(map(_LOADING.fullmatch, root.itertext()))
    return size < LITTLE_TEXT and (bool(named) or waits)


def _is_code(script: Any) -> bool:
    """Whether a script element contains code and not data."""
    kind = script.get("type", "").lower()
    return bool(script.get("src") or script.text) and not any(data in kind for data in _DATA_TYPES)


def _text_chars(element: Any) -> int:
    return sum(len(" ".join(text.split())) for text in element.itertext())


def _is_mount(element: Any) -> bool:
    return element.tag != "body" and bool("-" in element.tag or _ROOT_IDS.fullmatch(element.get("id", "")))


def _is_empty(element: Any) -> bool:
    return _text_chars(element) < _ALMOST_NO_TEXT


HEAD_BYTES = 65_536
LIST_BYTES = 1_000_000
KEPT_SECONDS = 86_400.0
MOST_LISTED = 2_000
MOST_COMPARED = 20_000
_SITES = 32
_SHARE_OF_WORDS = 0.6
_WORD = re.compile(r"\w{4,}")
_TYPE = "text/markdown"
# Each of these patterns is linear in its input.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LINK_TAG = re.compile(r"<link\s([^<>]{1,2000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_LINK_HEADER = re.compile(r"<([^<>]{1,2000})>([^<>]*)")
_LISTED = re.compile(r"\]\(\s*<?([^\s()<>]{1,1000}\.md)>?\s*[)\s]")


class MarkdownSiblings:
    """Finds the Markdown of pages. Remembers the latest sites whose `llms.txt` it saw.

    Args:
        clock: seconds on a monotonic clock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._listed: TTLCache[str, frozenset[str]] = TTLCache(_SITES, KEPT_SECONDS, clock)

    def learn(self, page: Fetched) -> None:
        """Remember the links of `page`, if it is an `llms.txt`."""
        if not urlsplit(page.final_url).path.endswith("/llms.txt"):
            return
        text = page.body[:LIST_BYTES].decode("utf-8", "replace")
        found = {_absolute(page.final_url, link[1]) for link in _LISTED.finditer(text)}
        origin = _origin(page.final_url)
        listed = {url for url in found if url and _origin(url) == origin} | self._listed.get(origin, frozenset())
        self._listed[origin] = frozenset(sorted(listed)[:MOST_LISTED])

    def of(self, page: Fetched) -> str | None:
        """The address of the Markdown of `page`, an HTML page; None if unknown."""
        own, origin = urldefrag(page.final_url).url, _origin(page.final_url)
        for url in (*_from_headers(page), *_from_head(page), *self._from_list(own, origin)):
            if url and url != own and _origin(url) == origin:
                return url
        return None

    def _from_list(self, own: str, origin: str) -> Iterator[str]:
        listed = self._listed.get(origin, frozenset())
        path = urlsplit(own).path
        names = ("index.html.md", "index.md") if path.endswith("/") else (".md",)
        candidates = [own + name for name in names] + [re.sub(r"\.html?$", ".md", own)]
        yield from (url for url in candidates if url in listed)


def is_same_text(page: str, sibling: str) -> bool:
    """Whether `sibling` has most of the words of `page`. Compares only the beginning of long texts."""
    words = set(_WORD.findall(page[:MOST_COMPARED].lower()))
    return len(words & set(_WORD.findall(sibling[: 2 * MOST_COMPARED].lower()))) >= _SHARE_OF_WORDS * len(words)


def _from_headers(page: Fetched) -> Iterator[str]:
    for target, parameters in _LINK_HEADER.findall(page.headers.get("link", "")):
        if _TYPE in parameters and "alternate" in parameters:
            yield _absolute(page.final_url, target)


def _from_head(page: Fetched) -> Iterator[str]:
    if _TYPE.encode() not in (head := page.body[:HEAD_BYTES]):
        return
    text = _COMMENT.sub("", head.decode("utf-8", "replace"))
    for tag in _LINK_TAG.findall(re.split("<body", text, maxsplit=1, flags=re.IGNORECASE)[0]):
        values = {name.lower(): html.unescape("".join(value)) for name, *value in _ATTRIBUTE.findall(tag)}
        if values.get("type", "").lower() == _TYPE and "alternate" in values.get("rel", "").lower().split():
            yield _absolute(page.final_url, values.get("href", ""))


def _absolute(base: str, link: str) -> str:
    """The absolute URL of a link; empty if invalid."""
    try:
        return urldefrag(urljoin(base, link.strip())).url
    except ValueError:
        return ""


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
