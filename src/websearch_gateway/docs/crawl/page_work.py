"""Processes one address of the frontier: fetch, read, cut, embed, commit. A failure is stored with the address.

If the embedding server is down, the crawl continues, and pages get their vectors later. If it will never work, the
crawl ends.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from websearch_gateway.base import PRODUCT, Fetched, quoted_line, refused_use
from websearch_gateway.docs.crawl.chunking import MOST_LEFT_OUT, MOST_SYMBOLS, drafted
from websearch_gateway.docs.crawl.endless import EndlessAddresses
from websearch_gateway.docs.crawl.listing import Defined
from websearch_gateway.docs.crawl.scope import (
    EXCLUDED,
    NO_PAGE,
    Scope,
    canonical,
    is_only_followed,
    member_ending,
    sorted_out,
)
from websearch_gateway.docs.crawl.sources import (
    NOT_MODIFIED,
    PAGE_SECONDS,
    TEMPORARY_STATUSES,
    Source,
    body_hash,
)
from websearch_gateway.docs.crawl.versions import VersionFolders
from websearch_gateway.docs.models import (
    Document,
    PageDraft,
    ReadDocument,
    UrlTask,
    content_of,
    section_ids,
)
from websearch_gateway.docs.store.database import without_targets
from websearch_gateway.docs.store.docs import SqlDocs
from websearch_gateway.errors import (
    NO_MODEL,
    ForbiddenUrlError,
    Refused,
    SearchAuthError,
    SearchFetchError,
    SearchNotConfiguredError,
    SearchProviderParseError,
    SearchTimeoutError,
    Unavailable,
)
from websearch_gateway.models import UNLIMITED, BrowserUse, Deadline
from websearch_gateway.ports import Embedder

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


BATCH = 64
"""The most texts that the embedder gets at once."""
SERVER_RETRY_SECONDS = 60.0
"""How long a crawl waits after an embedder failed before it asks it again (seconds)."""
PAGES_AT_ONCE = 16
"""Pages that one call of `catch_up` embeds."""
MOST_DOWN_SECONDS = 86_400.0
"""A day: no crawl waits longer for an embedder."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Embedding:
    """The embedder of a crawl. `trouble` is the message of its last failure, "" while it works. `clock` is monotonic.

    `refusal` is the error of an embedder that will not work however long the crawl waits, such as a rejected key.
    """

    embedder: Embedder
    store: SqlDocs
    clock: Callable[[], float] = time.monotonic
    trouble: str = ""
    refusal: Refused | None = None
    _paused_until: float = 0.0
    _down_since: float | None = None
    _has_worked: bool = False

    async def vectors(self, task: UrlTask, page: PageDraft) -> Vectors | None:
        """One row per chunk; an unchanged chunk keeps its row. None while the embedder does not work."""
        if self.clock() < self._paused_until:
            return None
        known = await self.store.known_vectors(task) if task.body_hash else {}
        ids, texts = await asyncio.to_thread(_new_texts, page, known)
        made = await self._embed(list(texts.values()))
        if made is None:
            return None
        rows = {**known, **dict(zip(texts, made, strict=True))}
        return _stacked([rows[id_] for id_ in ids])

    async def catch_up(self, version_id: int) -> bool:
        """Embed up to `PAGES_AT_ONCE` pages that have no vectors. False if none is left, or the embedder fails."""
        if self.clock() < self._paused_until:
            return False
        pages = await self.store.unembedded(version_id, PAGES_AT_ONCE)
        for page_id, chunks in pages:
            texts = [
                _embedded_text(chunk.page_title, chunk.heading_path, chunk.content)
                for chunk in chunks
            ]
            rows = await self._embed(texts)
            if rows is None:
                return False
            await self.store.put_vectors(page_id, _stacked(list(rows)))
        return bool(pages)

    async def _embed(self, texts: Sequence[str]) -> list[Vectors] | None:
        rows: list[Vectors] = []
        try:
            for start in range(0, len(texts), BATCH):
                rows += list(await self.embedder.embed(texts[start : start + BATCH], "document"))
        except (Refused, Unavailable) as error:
            self._failed(error)
            return None
        self.trouble, self._down_since, self._has_worked = "", None, True
        return rows

    def _failed(self, error: Refused | Unavailable) -> None:
        now = self.clock()
        refusal = error if isinstance(error, Refused) else self._refusal(error)
        if not self.trouble and refusal is None:
            _log.warning("Chunks have no vectors for now: %s", error.message)
        self._down_since = now if self._down_since is None else self._down_since
        if refusal is None and now - self._down_since >= MOST_DOWN_SECONDS:
            refusal = SearchNotConfiguredError(
                f"The embedder has not worked for a day. {error.message}"
            )
        self.trouble, self.refusal = error.message, refusal
        self._paused_until = now + SERVER_RETRY_SECONDS

    def _refusal(self, error: Unavailable) -> Refused | None:
        """The error for the caller of a crawl if time does not cure this one; None if it may."""
        status = error.details.get("status", 0)
        if status in (401, 403):
            return SearchAuthError(error.message)
        is_wrong_server = isinstance(error, SearchProviderParseError) and not self._has_worked
        is_refused = 400 <= status < 500 and status not in (408, 409, 425, 429)
        is_hopeless = is_refused or is_wrong_server or error.details.get("reason") == NO_MODEL
        return SearchNotConfiguredError(error.message) if is_hopeless else None


def _new_texts(page: PageDraft, known: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """The section ids of a page, and by id the texts to embed of those that are not known."""
    ids = section_ids(page)
    texts = {}
    for id_, chunk in zip(ids, page.chunks, strict=True):
        if id_ not in known:
            content = content_of(chunk, page.markdown)
            texts[id_] = _embedded_text(page.title, chunk.heading_path, content)
    return ids, texts


def _embedded_text(title: str, headings: Sequence[str], content: str) -> str:
    """The text to embed: with the title and headings, but without link addresses, which only dilute it."""
    return f"{title} {' > '.join(headings)}\n{without_targets(content)}"


def _stacked(rows: Sequence[Vectors]) -> Vectors:
    import numpy as np

    return np.vstack(rows) if rows else np.empty((0, 1), np.float32)


RETRIES = 3
MAX_DEPTH = 30
"""How many links away from a seed a page lies at most."""
MOST_INVENTORIES = 20
ENOUGH_FILES = 3
"""After so many files with an ending, such as `.log`, no address that ends so is asked for."""
_HTML = ("text/html", "application/xhtml+xml")
FIRST_PAGES, ENOUGH_RENDERED = 5, 3
"""If so many of the first pages need a browser, every page of the site gets one."""
_GENERAL_INDEX = "/genindex.html"  # of Sphinx, with its inventory in the same folder
RETRY_SECONDS = 30.0
LONGEST_TITLE = 500
"""The most characters of a page's title, which the text index repeats for each chunk."""
_GONE = (404, 410)
_MEANINGS = {
    401: "HTTP 401: a login wall (--header sends a login), or closed to programs",
    402: "HTTP 402: the site wants to be paid for its pages",
    403: "HTTP 403: a login wall (--header sends a login), or closed to programs",
}
LONGEST_SHOWN = 200
"""The most characters of somebody else's address in a status."""
LARGEST_NOTICE = 1_500
"""A page with more characters has text of its own, even if its title says otherwise."""
_MISSING = re.compile(r"\b(?:404|page (?:could )?not (?:be )?found|not found)\b", re.IGNORECASE)
_LOADING = re.compile(
    r"(?:#[^\n]{0,200}\s+)?\W*(?:loading|please wait)\b[\w\s,]{0,50}\W*", re.IGNORECASE
)
_LOGIN_PAGE = re.compile(r"/(?:log|sign)[-_]?in(?:/|\.\w+)?$", re.IGNORECASE)
_LOGIN_WORD = re.compile(r"\b(?:login|sign-?in|sso|oauth|auth/)", re.IGNORECASE)
OTHER_VERSION = "another version of the documentation"
NEEDS_BROWSER = "needs a browser: install the extra `browser`, and add the site with --browser auto"

Outcome = Literal["indexed", "unchanged", "skipped", "retry", "failed"]


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome for an address. `reason` says why it is not indexed; `of_host` that the host is at fault."""

    outcome: Outcome
    reason: str = ""
    of_host: bool = False


class Moved(Exception):
    """The start URL redirects to another origin of the same site, or out of its folder; the text is the target."""


@dataclass(slots=True)
class PageWork:
    """Processes the addresses of one version, whose start URL is `start`.

    `defined` holds the inventories' definitions by page, `loaded_inventories` the folders whose inventories are loaded.
    `takes_links` is false once the frontier is full. `wanted` is the version to choose of several side by side.
    """

    store: SqlDocs
    source: Source
    scope: Scope
    read: ReadDocument
    embedding: Embedding
    browser: BrowserUse = "auto"
    clock: Callable[[], float] = time.time
    call: Deadline = UNLIMITED
    takes_links: bool = True
    start: str = ""
    defined: Defined = field(default_factory=dict)
    loaded_inventories: set[str] = field(default_factory=set)
    endless: EndlessAddresses = field(default_factory=EndlessAddresses)
    wanted: str = ""
    versions: VersionFolders = field(init=False)
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)
    # The bodies that need no scripts; others are the same for each page.
    _whole: set[str] = field(default_factory=set)
    _looked: int = 0
    _needed: int = 0
    _files: Counter[str] = field(default_factory=Counter)  # how many by their ending
    _aliases: defaultdict[str, list[UrlTask]] = field(default_factory=lambda: defaultdict(list))
    _has_markdown: bool = False
    _missing: set[str] = field(default_factory=set)
    _body_locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def __post_init__(self) -> None:
        self.versions = VersionFolders(self.scope, self.wanted)

    async def do(self, task: UrlTask) -> Result:
        """Index the page at an address, or note why not.

        Raises:
            Moved: the site has another address.
        """
        try:
            fetched = await self._fetch(task)
            digest = await asyncio.to_thread(body_hash, fetched.body)
            is_unmodified = fetched.status == NOT_MODIFIED
            is_html = is_unmodified or fetched.content_type in _HTML
            if member_ending(task.url) and not is_html:
                return await self._settled_as_file(task)
            if is_unmodified or digest == task.body_hash:
                await self.store.finish_url(task, "done")
                return Result("unchanged")
            # A duplicate may be in work too.
            async with self._body_locks.setdefault(digest, asyncio.Lock()):
                return await self._index(task, fetched, digest)
        except SearchTimeoutError as error:
            return await self._retried(task, error.message, None)
        except ForbiddenUrlError as error:
            return await self._settled(task, "failed", error.message)
        except SearchFetchError as error:
            return await self._fetch_failed(task, error)

    async def _fetch(self, task: UrlTask) -> Fetched:
        """The reply; for a missing folder that of its index page, and where links leave out `.md` that of the file."""
        try:
            return await self.source.fetch(task)
        except SearchFetchError as error:
            place = self._place_instead(task.url)
            is_gone = error.details.get("status") in _GONE
            if not is_gone or not place or self.scope.refusal(place) == EXCLUDED:
                raise
            if not all(await self.source.allowed([place])):
                raise
            return await self.source.fetch(UrlTask(task.id, task.version_id, place))

    def _place_instead(self, url: str) -> str:
        """Where a page may be that is missing at its address; "" if there is no other place."""
        last = url.rpartition("/")[2]
        if not last:
            return f"{url}index.html"
        if "." not in last and self._has_markdown:
            return f"{url}.md"
        return ""

    async def _index(self, task: UrlTask, fetched: Fetched, digest: str) -> Result:
        duplicate = await self.store.find_body(task, digest)
        if duplicate is not None:
            # An address that differs in its query alone is a search or a view of the other.
            is_view = duplicate.partition("?")[0] == task.url.partition("?")[0]
            if is_view or digest in self._whole:
                await self.store.finish_url(task, "alias", alias_of=duplicate)
                return Result("skipped")
        # The start page leads to the others even where --include or --exclude leaves it out.
        only_links = is_only_followed(task.url) or not self.scope.contains(task.url)
        try:
            document = await self._read(task, fetched, only_links=only_links)
        except SearchTimeoutError as error:  # this machine may be busy
            return await self._retried(task, error.message, None, of_host=False)
        except SearchFetchError as error:
            reason = error.message
            if error.details.get("reason") == "type":
                kind = error.details.get("content_type") or "unknown"
                reason = f"content type {kind}, not HTML, Markdown or text"
            return await self._settled(task, "failed", reason)
        if not (document.needs_scripts or document.rendered or self.browser == "always"):
            self._whole.add(digest)
            if duplicate is not None:
                await self.store.finish_url(task, "alias", alias_of=duplicate)
                return Result("skipped")
        links = self._links(task, document)
        if document.refresh and canonical(document.refresh) != task.url:
            return await self._redirected(task, document.refresh)
        chosen = self._chosen(task, document)
        if chosen:
            self._aliases[chosen].append(task)
            await self.store.finish_url(task, "alias", links=[chosen, *links], alias_of=chosen)
            return Result("skipped")
        closed = _closed_by(fetched.headers) or ("noindex" if document.noindex else "")
        if closed or only_links or is_only_followed(task.url, document.title):
            return await self._settled(task, "skipped", closed or "an index", links)
        flaw = self._flaw(document)
        if flaw:
            return await self._settled(task, "failed", flaw, links)
        if _is_notice_of_missing(document):
            reason = "says that there is no such page, with status 200"
            return await self._settled(task, "skipped", reason)
        words = f"{document.title} {without_targets(document.markdown)}"
        original = await asyncio.to_thread(self.endless.original, task.url, words)
        if original:
            await self.store.finish_url(task, "alias", alias_of=original)
            return Result("skipped")
        page = _page(fetched, task, document, digest)
        self._has_markdown |= page.url.endswith(".md")
        await self.store.commit_page(task, page, await self.embedding.vectors(task, page), links)
        return Result("indexed")

    def _flaw(self, document: Document) -> str:
        """Why there is nothing to index in a document; "" if there is."""
        if document.needs_scripts and not document.rendered and self.browser != "always":
            return NEEDS_BROWSER
        if _LOADING.fullmatch(document.markdown):
            return "says only that it is loading"
        return "" if document.markdown else "no readable text"

    def _chosen(self, task: UrlTask, document: Document) -> str:
        """The address that the page names instead of its own; "" if it names none, or a wrong one.

        Wrong are the start page for every page, an address without a page, and two pages that name each other.
        """
        chosen = self.scope.link(task.url, document.canonical) if document.canonical else ""
        if not chosen or chosen == task.url or is_only_followed(chosen) or chosen in self._missing:
            return ""
        start_path = urlsplit(self.start).path
        if urlsplit(chosen).path == start_path != urlsplit(task.url).path:
            return ""
        if any(alias.url == chosen for alias in self._aliases.get(task.url, ())):
            return ""
        return chosen

    async def _read(self, task: UrlTask, fetched: Fetched, *, only_links: bool) -> Document:
        """The document, with the definitions of the inventories that its own links lead to."""
        while True:
            defined = self.defined.get(task.url, [])
            draft = partial(drafted, self.scope, defined[:MOST_SYMBOLS])
            deadline = self.call.within(PAGE_SECONDS)
            document = await self.read(
                fetched, self.browser, deadline, draft, only_links=only_links
            )
            await self._load_inventories(document)
            if defined or only_links or task.url not in self.defined:
                break
        if self.browser == "auto" and self._looked < FIRST_PAGES:
            self._looked += 1
            self._needed += document.rendered
            if self._needed >= ENOUGH_RENDERED:  # no page is tried without one first any more
                self.browser = "always"
        return document

    async def _load_inventories(self, document: Document) -> None:
        """Fetch the inventory beside each general index, once: several manuals may lie below the start URL."""
        if document.nofollow:
            return
        indexes = {link for link in document.links if link.endswith(_GENERAL_INDEX)}
        for index in indexes:
            folder = index.removesuffix(_GENERAL_INDEX) + "/"
            async with self._loading:
                has_room = len(self.loaded_inventories) < MOST_INVENTORIES
                if has_room and folder not in self.loaded_inventories:
                    self.loaded_inventories.add(folder)
                    self.defined = {**self.defined, **await self.source.inventory(folder)}

    def _links(self, task: UrlTask, document: Document) -> list[str]:
        """The links of a page that the crawl follows; notes those that it leaves out."""
        follows = self.source.follows and self.takes_links and task.depth < MAX_DEPTH
        if document.nofollow or not follows:
            return []
        self.versions.note((task.url, *document.links))
        plain = dict.fromkeys(map(self.endless.plain, document.links))
        links, left = sorted_out(((url, self._refusal(url)) for url in plain), MOST_LEFT_OUT)
        self.source.left_out.note({**document.left_out, **left})
        return links

    def _refusal(self, url: str) -> str:
        """Why a link in scope is left out; "" if it is not."""
        if self.is_file(url):
            return NO_PAGE
        refusal = self.endless.refusal(url)
        if not refusal and self.is_other_version(url):
            return OTHER_VERSION
        return refusal

    def is_file(self, url: str) -> bool:
        """Whether an address ends like others that turned out to be files, and like none that was a page."""
        return self._files[member_ending(url)] >= ENOUGH_FILES

    async def ask_start(self, version_id: int) -> None:
        """Let the start URL choose the version to which it redirects."""
        try:
            if all(await self.source.allowed([self.start])):
                await self._fetch(UrlTask(0, version_id, self.start))
        except (SearchTimeoutError, ForbiddenUrlError, SearchFetchError) as error:
            self.versions.prefer(
                self.scope.link(self.start, str(error.details.get("location", "")))
            )

    def is_other_version(self, url: str) -> bool:
        """Whether a page belongs to a version that is left out."""
        return url != self.start and bool(self.versions.other_version(url))

    async def _fetch_failed(self, task: UrlTask, error: SearchFetchError) -> Result:
        status = error.details.get("status")
        location = error.details.get("location")
        if location is not None:
            return await self._redirected(task, location)
        if status in _GONE:
            self._missing.add(task.url)
            aliases = self._aliases.pop(task.url, ())
            for alias in aliases:  # they are pages of their own
                await self.store.finish_url(alias, "due", due=self.clock())
            await self.store.finish_url(task, "gone", f"HTTP {status}")
            return Result("failed", "" if aliases else f"HTTP {status}")
        if status in TEMPORARY_STATUSES or (status is None and not error.details):
            return await self._retried(task, error.message, error.retry_after)
        if status is None and member_ending(task.url):  # too large for a page
            return await self._settled_as_file(task)
        reason = _MEANINGS.get(status, f"HTTP {status}") if status else error.message
        return await self._settled(task, "failed", reason)

    async def _settled_as_file(self, task: UrlTask) -> Result:
        self._files[member_ending(task.url)] += 1
        return await self._settled(task, "skipped", NO_PAGE)

    async def _redirected(self, task: UrlTask, location: str) -> Result:
        target, outside = self.scope.link(task.url, location), canonical(location)
        there = quoted_line(outside, LONGEST_SHOWN)
        is_login = _LOGIN_PAGE.search(urlsplit(task.url).path)
        if _LOGIN_PAGE.search(urlsplit(outside).path) and not is_login:
            return await self._settled(task, "failed", f"a login wall: redirects to {there}")
        if target == task.url:  # to its own index.html, or in a loop
            return await self._settled(task, "failed", "redirects to itself")
        if target:
            if task.url == self.start:
                self.versions.prefer(target)
            await self.store.finish_url(task, "alias", links=[target], alias_of=target)
            return Result("skipped")
        if task.url == self.start and self.scope.may_move_to(outside):
            await self.store.finish_url(task, "alias", alias_of=outside)
            raise Moved(outside)
        wall = " (a login wall)" if _LOGIN_WORD.search(outside) else ""
        return await self._settled(task, "skipped", f"redirects out of scope{wall}: {there}")

    async def _retried(
        self, task: UrlTask, reason: str, retry_after: float | None, *, of_host: bool = True
    ) -> Result:
        if task.attempts >= RETRIES:
            await self.store.finish_url(task, "failed", reason)
            return Result("failed", reason, of_host)
        due = self.clock() + (RETRY_SECONDS if retry_after is None else retry_after)
        await self.store.finish_url(task, "due", reason, due=due)
        return Result("retry", reason, of_host)

    async def _settled(
        self,
        task: UrlTask,
        state: Literal["failed", "skipped"],
        reason: str,
        links: list[str] | None = None,
    ) -> Result:
        await self.store.finish_url(task, state, reason, links=links or ())
        return Result(state, reason)


def _is_notice_of_missing(document: Document) -> bool:
    """Whether a short page says that there is none at its address, which the status of its reply does not."""
    beginning = document.title or document.markdown[:100]
    return len(document.markdown) < LARGEST_NOTICE and bool(_MISSING.search(beginning))


def _page(fetched: Fetched, task: UrlTask, document: Document, digest: str) -> PageDraft:
    is_found_instead = fetched.final_url.endswith(("index.html", ".md"))
    return PageDraft(
        url=fetched.final_url if is_found_instead else task.url,
        title=document.title[:LONGEST_TITLE] or task.url.rstrip("/").rpartition("/")[2],
        markdown=document.markdown,
        chunks=document.chunks,
        symbols=document.symbols,
        etag=sendable(fetched.headers.get("etag")),
        last_modified=sendable(fetched.headers.get("last-modified")),
        body_hash=digest,
    )


def _closed_by(headers: Mapping[str, str]) -> str:
    """The rule in a reply's headers by which it must not be indexed; "" if there is none.

    `X-Robots-Tag: noindex`, `Content-Signal: ai-input=no` and `Content-Usage: search=n`.
    """
    for rule in headers.get("x-robots-tag", "").lower().split(","):
        agent, colon, named = rule.rpartition(":")
        if named.strip() in ("noindex", "none") and (not colon or agent.strip() == PRODUCT):
            return "noindex"
    names = ("content-signal", "content-usage")
    return refused_use(f"{name}: {headers.get(name, '')}" for name in names)


_LONGEST_VALIDATOR = 300
"""Characters of an ETag or a date: those of real sites have a few dozen."""


def sendable(validator: str | None) -> str | None:
    """A validator of a reply; None if it is missing, or not safe to send back."""
    if not validator or len(validator) > _LONGEST_VALIDATOR:
        return None
    return validator if validator.isascii() and validator.isprintable() else None
