"""The sources of documents: a web server, asked politely, or a folder, into which an archive is unpacked too.

`HostPace` limits the requests to one host: the delay between them, and the pauses that it demands. `RobotsTxt` holds
its robots.txt (RFC 9309).
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, TypeVarTuple
from urllib.parse import unquote, urljoin, urlsplit

from websearch_gateway.base import PRODUCT, Fetched, Fetcher, crawl_delay, may_read_each, refused_by
from websearch_gateway.docs.crawl import listing
from websearch_gateway.docs.crawl.listing import (
    MAX_PAGE_BYTES,
    Defined,
    folder_pages,
    media_type,
    most_bytes,
)
from websearch_gateway.docs.crawl.scope import LeftOut, Scope, canonical, without_copies
from websearch_gateway.docs.models import Booking, Run, UrlTask
from websearch_gateway.docs.store.docs import SqlDocs
from websearch_gateway.errors import SearchError, SearchFetchError
from websearch_gateway.models import UNLIMITED, Deadline

Ts = TypeVarTuple("Ts")

AT_ONCE = 2
ROBOTS_SECONDS = 86_400.0
"""How long a robots.txt is valid, the maximum of the RFC (seconds)."""
CLOSED_SECONDS = 300.0
"""A robots.txt that could not be fetched is fetched again after this long (seconds)."""
MAX_ROBOTS_BYTES = 512_000
MAX_CRAWL_DELAY = 30.0
MAX_PAUSE_SECONDS = 86_400.0
MAX_SLOWDOWN = 64.0
SLOWED_DELAY = 0.05
"""What a delay of 0 counts as when an overloaded host makes the crawl slow down (seconds)."""
HOLD_SECONDS = 1.5
"""How long after its booking a request may still be sent; later it needs a new booking (seconds)."""
MAX_LATENESS = 0.25
"""How long after the sending of a request its server may notice it, at most (seconds)."""
_SHORTEST_WAIT = 0.02
_FETCH_SECONDS = 30.0


@dataclass(slots=True)
class HostPace:
    """The request queue of one host. Its bookings are in the store, so processes share them and a restart keeps them.

    A busy machine may send a request late, and a busy server may notice it late. So a request holds the host until it
    is sent, and the next one keeps its distance from the reply, which proves that the server has seen it.

    `host` is `scheme://host:port`, `delay` the seconds between two requests unless the host asks for more. `clock`
    gives seconds since the epoch, the same as the store's. `waiting` says for people what it waits for.
    """

    store: SqlDocs
    host: str
    delay: float
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    waiting: str = ""
    _asked_delay: float = 0.0
    _slowdown: float = 1.0
    _latency: float = 0.0
    _slots: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, AT_ONCE))

    @property
    def interval(self) -> float:
        """The current seconds between two requests, more for slow hosts. 0 if only the number at once is limited."""
        delay = max(self.delay, SLOWED_DELAY) if self._slowdown > 1 else self.delay
        least = max(delay * self._slowdown, self._asked_delay)
        return max(least, self._latency / AT_ONCE) if least else 0.0

    def ask_delay(self, seconds: float) -> None:
        """Note the delay that the host asks for (`Crawl-delay`, seconds)."""
        self._asked_delay = min(seconds, MAX_CRAWL_DELAY)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """Wait for a turn and hold it while the host answers."""
        async with self._slots:
            turn = Turn(self)
            await turn.sending()
            try:
                yield turn
            finally:
                await turn.ended()
            self._latency += (min(self.clock() - turn.started, _FETCH_SECONDS) - self._latency) / 4

    async def book(self) -> Booking:
        """Wait until the host is free, and book it."""
        while True:
            hold = self.interval + HOLD_SECONDS if self.interval else 0.0
            booking = await self.store.reserve(self.host, hold)
            if booking.is_ours:
                self.waiting = ""
                return booking
            await self._wait(booking.until - self.clock(), booking.until)

    async def rebook(self, booking: Booking, until: float) -> Booking:
        """Move the end of a booking, see `SqlDocs.rebook`."""
        return await self.store.rebook(self.host, booking, until) if self.interval else booking

    async def _wait(self, seconds: float, until: float) -> None:
        if seconds > 2 * self.interval + HOLD_SECONDS:
            reason = (await self.store.host(self.host)).reason or "rest"
            self.waiting = f"{reason} until {datetime.fromtimestamp(until).astimezone():%H:%M:%S}"
            await self.sleep(min(seconds, 60.0))
            return
        if self._asked_delay > self.delay:
            self.waiting = f"crawl-delay {self._asked_delay:g} s"
        # Another request may have booked the host; its booking gets shorter as soon as it is sent.
        await self.sleep(max(0.0, min(seconds, max(self.interval / 2, _SHORTEST_WAIT))))

    def succeeded(self) -> None:
        """Note a good reply: return towards the usual delay."""
        self._slowdown = max(1.0, self._slowdown * 0.9)

    async def pushed_back(self, reason: str, retry_after: float | None) -> None:
        """Note that the host is overloaded: halve the request rate, and wait until the time that it named."""
        self._slowdown = min(self._slowdown * 2, MAX_SLOWDOWN)
        if retry_after:
            await self.store.pause_host(
                self.host, self.clock() + min(retry_after, MAX_PAUSE_SECONDS), reason
            )


class Turn:
    """The right to send a request, from its booking to its reply. The fetcher says when it is sent, see `Sending`."""

    def __init__(self, pace: HostPace) -> None:
        self._pace = pace
        self._booking = Booking(-math.inf, is_ours=False)
        self._is_sent = True
        self.started = 0.0

    async def sending(self) -> None:
        """Book the host, unless the booking is still valid: connecting may have taken too long, or this request follows
        a redirect."""
        if self._is_sent or (
            self._pace.interval and self._pace.clock() >= self._booking.until - self._pace.interval
        ):
            self._booking = await self._pace.book()
            self._is_sent = False
            self.started = self._pace.clock()

    async def sent(self) -> None:
        """Shorten the booking: another request may follow before the reply, so a slow host has two under way."""
        self._is_sent = True
        self.started = self._pace.clock()
        until = self.started + self._pace.interval + MAX_LATENESS
        self._booking = await self._pace.rebook(self._booking, until)

    async def ended(self) -> None:
        """Note the reply or the failure; the interval until the next request starts now."""
        now = self._pace.clock()
        if now - self.started < MAX_LATENESS or not self._is_sent:
            await self._pace.rebook(self._booking, now + self._pace.interval)


@dataclass(slots=True)
class RobotsTxt:
    """The robots.txt rules of one host. Fetched once a day for all sites on it."""

    fetcher: Fetcher
    workers: Run
    pace: HostPace
    call: Deadline = UNLIMITED
    _text: str | None = None

    @property
    def text(self) -> str:
        """The robots.txt, after `open`."""
        return self._text or ""

    async def open(self) -> None:
        """Load the rules.

        Raises:
            SearchError: the rules are unavailable, so the host is off limits for now (RFC 9309, section 2.3.1.4).
        """
        host = self.pace.host
        stored = await self.pace.store.host(host)
        self._text = stored.robots
        lifetime = CLOSED_SECONDS if stored.robots is None else ROBOTS_SECONDS
        if self.pace.clock() - stored.robots_at >= lifetime:
            self._text = await self._fetch()
            await self.pace.store.put_robots(host, self._text)
        if self._text is None:
            raise SearchFetchError(
                f"The server answers a request for {host}/robots.txt with an error, so the site is closed for now "
                "(RFC 9309). Try again in five minutes.",
                details={"reason": "robots"},
            )
        if self._text:
            deadline = Deadline.after(_FETCH_SECONDS)
            delay = await self.workers.run(crawl_delay, self._text, PRODUCT, deadline=deadline)
            self.pace.ask_delay(delay)
            rule = await self.workers.run(refused_by, self._text, PRODUCT, deadline=deadline)
            if rule:
                raise SearchFetchError(
                    f"Its robots.txt forbids this use: {rule}.", details={"reason": "robots"}
                )

    async def allowed(self, urls: Sequence[str]) -> list[bool]:
        """Whether the rules allow each address."""
        if not self._text or not urls:
            return [True] * len(urls)
        deadline = Deadline.after(_FETCH_SECONDS)
        verdicts: list[bool] = await self.workers.run(
            may_read_each, self._text, list(urls), PRODUCT, deadline=deadline
        )
        return verdicts

    async def _fetch(self) -> str | None:
        """The text of the robots.txt; "" if there is none, None if the server has an error.

        Raises:
            SearchError: the server cannot be reached, so the next call asks again.
        """
        try:
            async with self.pace.turn() as turn:
                fetched = await self.fetcher.fetch(
                    f"{self.pace.host}/robots.txt",
                    self.call.within(_FETCH_SECONDS),
                    accept="text/plain,*/*;q=0.5",
                    sending=turn,
                )
        except SearchError as error:
            if (status := error.details.get("status")) is None:
                raise
            return "" if 400 <= status < 500 and status != 429 else None
        return fetched.body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace")


PAGE_SECONDS = 30.0
FOLDER_SECONDS = 300.0
"""Until a folder is listed. Its worker has ten seconds for that (`Limits`); the rest is for its start on a busy machine,
since a folder without a list has no page."""
MOST_MOVES = 3
"""How often a start URL may redirect to another origin in one crawl."""
TEMPORARY_STATUSES = frozenset((408, 425, 429, 500, 502, 503, 504, 522, 524))
MAX_SITEMAPS = 50
NOT_MODIFIED = 304
ACCEPT = "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"
_SEARCH_INDEXES = ("searchindex.js", "search/search_index.json")

Note = Callable[[str], Awaitable[None]]
"""Notes the list that is read now, which may end this process; "" at the end. See `SqlDocs.note_reading`."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class WebSource:
    """A web server, with polite requests.

    `waiting` says for people why it waits, "" if it does not; `follows` whether links of its documents lead to further
    ones of it. `left_out` are the addresses that were found and never become pages.

    All addresses in scope are of one origin, so `headers` are sent with every request.
    """

    start: str
    scope: Scope
    robots: RobotsTxt
    headers: Mapping[str, str]
    note: Note
    left_out: LeftOut = field(default_factory=LeftOut)
    _texts: dict[str, bytes] = field(default_factory=dict)

    @property
    def follows(self) -> bool:
        return not urlsplit(self.start).path.endswith(f"/{listing.FULL_TEXT}")

    @property
    def waiting(self) -> str:
        return self.robots.pace.waiting

    async def seeds(self) -> tuple[list[str], Defined]:
        """The start URL and the pages in llms.txt, objects.inv and the sitemaps, or else in a search index or in
        llms-full.txt, whose text is theirs. If llms-full.txt is the start URL, its pages alone.

        The second value are the definitions of an inventory.

        Raises:
            SearchError: the source cannot be used at all.
        """
        await self.note(f"{self.scope.origin}/robots.txt")
        await self.robots.open()
        if not self.follows:
            await self._read_full_text(canonical(self.start))
            await self.note("")
            return list(self._texts) or [canonical(self.start)], {}
        root = f"{self.scope.origin}{self.scope.folder}"
        pages = await self._of_llms_txt(root)
        defined = await self.inventory(root)
        pages += defined
        pages += await self._of_sitemaps(root)
        pages = pages or await self._of_search_index(root) or await self._of_full_text(root)
        await self.note("")
        distinct = dict.fromkeys((canonical(self.start), *pages))
        return await asyncio.to_thread(without_copies, distinct), defined

    async def _of_llms_txt(self, root: str) -> list[str]:
        pages: list[str] = []
        for place in dict.fromkeys((f"{root}llms.txt", f"{self.scope.origin}/llms.txt")):
            listed = await self._published(place)
            if listed:
                pages += self._in_scope(
                    await _parsed(
                        self.robots.workers, listing.llms_in, self.scope, listed.body, place
                    )
                )
        return pages

    async def _of_search_index(self, root: str) -> list[str]:
        """The pages in the first search index that has any."""
        for name in _SEARCH_INDEXES:
            listed = await self._published(root + name)
            if not listed:
                continue
            pages = self._in_scope(
                await _parsed(
                    self.robots.workers, listing.search_index_in, self.scope, listed.body, root
                )
            )
            if pages:
                return pages
        return []

    async def _of_full_text(self, root: str) -> list[str]:
        """The pages of a llms-full.txt that have addresses of their own."""
        await self._read_full_text(f"{root}{listing.FULL_TEXT}")
        within = f"{listing.FULL_TEXT}!/"
        self._texts = {url: text for url, text in self._texts.items() if within not in url}
        return list(self._texts)

    async def inventory(self, folder: str) -> Defined:
        """The definitions in the inventory of a folder of the site; empty if there is none."""
        listed = await self._published(f"{folder}objects.inv")
        defined: Defined = {}
        if listed:
            defined = await _definitions(self.robots.workers, self.scope, listed.body, folder)
        await self.note("")
        return defined

    async def allowed(self, urls: Sequence[str]) -> list[bool]:
        """Whether each address may be fetched."""
        return await self.robots.allowed(urls)

    async def fetch(self, task: UrlTask) -> Fetched:
        """The document; with status 304 and no body if it has not changed since the task's last fetch.

        Raises:
            SearchFetchError, SearchTimeoutError: no document; `details` holds the `status` or the `location`.
        """
        if (text := self._texts.get(task.url)) is not None:
            return Fetched(task.url, task.url, 200, {}, text, "text/markdown", "utf-8")
        if f"{listing.FULL_TEXT}!/" in task.url:
            raise SearchFetchError("The file has no such page any more.", details={"status": 404})
        conditions = {"if-none-match": task.etag, "if-modified-since": task.last_modified}
        headers = {name: value for name, value in conditions.items() if value}
        return await self._get(task.url, headers)

    async def answers(self, url: str) -> tuple[bool, str]:
        """Whether there is a page at an address of this host, and the last address to which it redirects.

        Raises:
            SearchFetchError, SearchTimeoutError: the host cannot be reached now, or is busy.
        """
        origin = Scope.of(url).origin
        for _ in range(MOST_MOVES):
            if not all(await self.robots.allowed([url])):
                break
            try:
                await self.fetch(UrlTask(0, 0, url))
            except SearchFetchError as error:
                if error.details.get("status") in TEMPORARY_STATUSES or not error.details:
                    raise
                target = canonical(urljoin(url, str(error.details.get("location", ""))))
                if target == url or not target or Scope.of(target).origin != origin:
                    break
                url = target
            else:
                return True, url
        return False, url

    async def _get(
        self, url: str, headers: Mapping[str, str], max_bytes: int = MAX_PAGE_BYTES
    ) -> Fetched:
        try:
            async with self.robots.pace.turn() as turn:
                fetched = await self.robots.fetcher.fetch(
                    url,
                    self.robots.call.within(PAGE_SECONDS),
                    accept=ACCEPT,
                    headers={**self.headers, **headers},
                    max_bytes=max_bytes,
                    follows=partial(_is_same_page, url),
                    sending=turn,
                )
        except SearchFetchError as error:
            status = error.details.get("status")
            if status in (429, 503):
                await self.robots.pace.pushed_back(f"{status}", error.retry_after)
            raise
        self.robots.pace.succeeded()
        return fetched

    async def _read_full_text(self, url: str) -> None:
        """Note the pages in a llms-full.txt by their addresses."""
        listed = await self._published(url)
        if listed is None:
            return
        places = await _parsed(
            self.robots.workers, listing.full_text_in, self.scope, listed.body, url
        )
        text = listed.body.decode("utf-8-sig", "replace")
        self._texts = {address: text[start:stop].encode() for address, start, stop in places or ()}

    async def _of_sitemaps(self, root: str) -> list[str]:
        origin = self.scope.origin
        of_robots = await _parsed(
            self.robots.workers, listing.robots_sitemaps, self.robots.text, origin
        )
        usual = (f"{origin}/sitemap.xml", f"{root}sitemap.xml")
        places = dict.fromkeys((*(of_robots or ()), *usual))
        waiting, fetched = list(places), 0
        pages: list[str] = []
        while waiting and fetched < MAX_SITEMAPS and len(pages) < listing.MOST_URLS:
            place = waiting.pop(0)
            fetched += 1
            listed = await self._published(place) if listing.origin(place) == origin else None
            if listed:
                sitemap = await _parsed(
                    self.robots.workers, listing.sitemap_in, self.scope, listed.body
                )
                listed_pages, further = sitemap or (None, ())
                pages += self._in_scope(listed_pages)
                waiting += further
        return pages

    def _in_scope(self, pages: listing.Pages | None) -> list[str]:
        """The pages in scope of a list; the others are noted as left out."""
        in_scope, left_out = pages or ([], {})
        self.left_out.note(left_out)
        return in_scope

    async def _published(self, url: str) -> Fetched | None:
        """A file that a site may publish; None if there is none, or it cannot be fetched."""
        await self.note(url)
        try:
            if not all(await self.robots.allowed([url])):
                return None
            fetched = await self._get(url, {}, max_bytes=listing.MAX_INFLATED // 2)
        except SearchError:
            return None
        # A "not found" page with status 200.
        return None if fetched.content_type == "text/html" else fetched


@dataclass(slots=True)
class FolderSource:
    """The documents below a folder, as `WebSource`. The address of a file is `base` and its path."""

    root: Path
    base: str
    scope: Scope
    workers: Run
    note: Note
    left_out: LeftOut = field(default_factory=LeftOut)
    waiting: ClassVar = ""
    follows: ClassVar = True

    def __post_init__(self) -> None:
        self.base = canonical(self.base)

    async def seeds(self) -> tuple[list[str], Defined]:
        """Every document but Markdown and text copies of others; each crawl lists the files again."""
        await self.note(self.base)
        place = (str(self.root), self.base, self.scope)
        urls, left_out = await self.workers.run(
            folder_pages, *place, deadline=Deadline.after(FOLDER_SECONDS)
        )
        self.left_out.note(left_out)
        defined = await self.inventory(self.base)
        return await asyncio.to_thread(without_copies, urls), defined

    async def inventory(self, folder: str) -> Defined:
        url = f"{folder}objects.inv"
        await self.note(url)
        defined: Defined = {}
        with suppress(SearchFetchError):
            listed = await self.fetch(UrlTask(0, 0, url))
            defined = await _definitions(self.workers, self.scope, listed.body, folder)
        await self.note("")
        return defined

    async def allowed(self, urls: Sequence[str]) -> list[bool]:
        return [True] * len(urls)

    async def fetch(self, task: UrlTask) -> Fetched:
        return await asyncio.to_thread(self._read, task)

    def _read(self, task: UrlTask) -> Fetched:
        try:
            path = self._path(task.url)
            stat = path.stat()
            etag = f"{stat.st_mtime_ns}-{stat.st_size}"
            if stat.st_size > (most := most_bytes(path.name)):
                message = f"The file is larger than {most:,} bytes."
                raise SearchFetchError(message, details={"reason": "too_large"})
            body = b"" if task.etag == etag else path.read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a path with a null character
            raise SearchFetchError("The file does not exist.", details={"status": 404}) from error
        kind = media_type(path.name) or "application/octet-stream"
        status = NOT_MODIFIED if task.etag == etag else 200
        return Fetched(task.url, task.url, status, {"etag": etag}, body, kind, "utf-8")

    def _path(self, url: str) -> Path:
        """The file with this address.

        Raises:
            OSError, ValueError: there is none, or it lies outside the folder.
        """
        root = self.root.resolve()
        path = root / unquote(url.removeprefix(self.base), errors="surrogateescape")
        if url.endswith("/"):
            indexes = (path / "index.html", path / "index.htm")
            path = next((index for index in indexes if index.is_file()), path)
        path = path.resolve(strict=True)
        if not path.is_relative_to(root) or not path.is_file():
            raise FileNotFoundError
        return path


Source = WebSource | FolderSource
"""A source of documents for a crawl."""


def body_hash(body: bytes) -> str:
    """A hash of the body, to recognise an unchanged or duplicate page."""
    return sha256(body).hexdigest()[:32]


def _is_same_page(url: str, target: str) -> bool:
    """Whether a redirect leads to the page itself, with a cookie or a session that its server wants to see."""
    return canonical(target) == canonical(url)


async def _definitions(workers: Run, scope: Scope, inventory: bytes, folder: str) -> Defined:
    listed = await _parsed(workers, listing.definitions_in, scope, inventory, folder) or {}
    # A worker sends lists in place of tuples.
    return {page: list(map(tuple, names)) for page, names in listed.items()}


async def _parsed(workers: Run, function: Callable[[*Ts], object], *arguments: *Ts) -> Any:
    """What a function finds in a list that the site publishes, in a worker process; None if it cannot be parsed."""
    try:
        return await workers.run(function, *arguments, deadline=Deadline.after(PAGE_SECONDS))
    except SearchError as error:
        _log.info("A list of pages cannot be read: %s", error.message)
        return None
