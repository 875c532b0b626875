"""Crawls versions in this process: opens their sources, shares one request queue per host, and respects claims.

A `Crawler` takes one version from its seeds to its final status. A killed crawl resumes where it stopped.
"""

from __future__ import annotations

import asyncio
import logging
import math
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

from websearch_gateway.base import Fetcher
from websearch_gateway.docs.crawl.listing import (
    archive_ending,
    base_url,
    is_archive,
    unpack,
)
from websearch_gateway.docs.crawl.page_work import OTHER_VERSION, Embedding, Moved, PageWork, Result
from websearch_gateway.docs.crawl.scope import (
    NO_PAGE,
    Scope,
    canonical,
    sorted_out,
)
from websearch_gateway.docs.crawl.sources import (
    MOST_MOVES,
    FolderSource,
    HostPace,
    RobotsTxt,
    Source,
    WebSource,
)
from websearch_gateway.docs.crawl.versions import version_siblings
from websearch_gateway.docs.models import (
    IN_WORK,
    CrawlOptions,
    CrawlProgress,
    Owner,
    ReadDocument,
    Run,
    SiteVersion,
    Skipped,
    UrlTask,
)
from websearch_gateway.docs.store.docs import SqlDocs, is_dead, this_process
from websearch_gateway.errors import (
    TOO_COSTLY,
    Refused,
    SearchError,
    SearchFetchError,
    SearchTimeoutError,
    SearchValidationError,
    StateUnavailable,
    frames,
)
from websearch_gateway.models import UNLIMITED, BrowserUse, Deadline
from websearch_gateway.ports import Embedder

MAX_ARCHIVE_BYTES = 500_000_000
ARCHIVE_SECONDS = 600.0
"""The longest that fetching and unpacking an archive may take."""
LEAST_FREE_BYTES = 200_000_000
"""No crawl begins with less room on the disk of the index."""
SITES_AT_ONCE = 6
LOOK_SECONDS = 30.0
"""Between two looks of `keep_crawling` for pending versions."""
PAUSE_SECONDS = 600.0
"""Before a paused site is tried again."""
NOT_CRAWLED = "Documentation is not crawled for now:"

_log = logging.getLogger(__name__)


async def ignore(_: object) -> None:
    """The OnProgress and the Note of callers who need none."""


@dataclass(slots=True)
class CrawlRunner:
    """Crawls versions of a store.

    `unpackers` run what takes longer than the reading of a page. `index_file` is the file of the index, whose disk
    must have room; None for a database server. `guarded` gives a call that checks the redirects of a guarded site while
    nobody waits for its crawl. `clock` gives seconds since the epoch, the same as the store's. `trouble` says why
    `keep_crawling` crawls nothing now; "" while it does.
    """

    store: SqlDocs
    fetcher: Fetcher
    workers: Run
    unpackers: Run
    read: ReadDocument
    embedder: Embedder
    index_file: Path | None
    guarded: Callable[[], Deadline] = lambda: UNLIMITED
    clock: Callable[[], float] = time.time
    owner: Owner = field(default_factory=this_process)
    trouble: str = field(default="", init=False)
    _resting: dict[int, float] = field(default_factory=dict)
    _paces: dict[str, HostPace] = field(default_factory=dict)
    _running: dict[int, asyncio.Event] = field(default_factory=dict)
    _unwatched: set[asyncio.Task[SiteVersion | None]] = field(default_factory=set)

    async def crawl(
        self, version_id: int, on_progress: OnProgress = ignore, call: Deadline | None = None
    ) -> SiteVersion | None:
        """Crawl a version, resume its crawl, or refresh it if it is complete. `call` checks redirects.

        A call that finds the version being crawled in this process waits for that crawl, without progress. Returns the
        version afterwards; None if it was deleted.

        Raises:
            StateUnavailable: another process crawls the version, or the disk is nearly full.
            Refused: a setting or the embedder is at fault, or the version cannot be crawled.
        """
        while (ended := self._running.get(version_id)) is not None:
            await ended.wait()
            version = await self.store.version(version_id)
            if version is None or version.status not in ("queued", "crawling"):
                return version
        self._running[version_id] = ended = asyncio.Event()
        try:
            return await self._crawl_claimed(version_id, on_progress, call)
        finally:
            del self._running[version_id]
            ended.set()

    async def crawl_for(
        self,
        version_id: int,
        seconds: float,
        on_progress: OnProgress = ignore,
        call: Deadline | None = None,
    ) -> SiteVersion | None:
        """As `crawl`, but returns the version after `seconds` at the latest; the crawl then goes on, until `close`.

        If this call is cancelled before, its crawl ends. Raises what `crawl` raises.
        """
        is_watched = True

        async def report(progress: CrawlProgress) -> None:
            if is_watched:
                await on_progress(progress)

        def ended(crawl: asyncio.Task[SiteVersion | None]) -> None:
            self._unwatched.discard(crawl)
            error = None if crawl.cancelled() else crawl.exception()
            if isinstance(error, SearchError):
                _log.info("A crawl in the background failed: %s", error.message)

        crawl = asyncio.create_task(self.crawl(version_id, report, call))
        try:
            await asyncio.wait((crawl,), timeout=seconds)
        except asyncio.CancelledError:
            crawl.cancel()
            await asyncio.gather(crawl, return_exceptions=True)
            raise
        is_watched = False
        if crawl.done():
            return crawl.result()
        self._unwatched.add(crawl)
        crawl.add_done_callback(ended)
        return await self.store.version(version_id)

    async def close(self) -> None:
        """End the crawls that go on by themselves. Idempotent."""
        for crawl in self._unwatched:
            crawl.cancel()
        await asyncio.gather(*self._unwatched, return_exceptions=True)

    async def at_version(self, url: str, version: str) -> str:
        """The address of the documentation of a version beside `url`, which is or leads to that of another version.

        "" if there is none, or robots.txt closes its page. A site without versions in its addresses is asked once.

        Raises:
            SearchFetchError, SearchTimeoutError: the site cannot be reached now, is busy, or refuses all crawls.
            ForbiddenUrlError: the operator does not allow its domain.
        """
        scope = Scope.of(url)
        pace = self._pace(scope.origin, CrawlOptions().delay)
        robots = RobotsTxt(self.fetcher, self.workers, pace)
        source = WebSource(url, scope, robots, {}, ignore)
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await robots.open()
                _, start = await source.answers(canonical(url))
                for place in version_siblings(start, version):
                    found, final = await source.answers(place)
                    if found and Scope.of(place).contains(canonical(final)):
                        return place
        except TimeoutError as error:
            raise SearchTimeoutError(
                f"{scope.origin} takes too long to answer. Try again later."
            ) from error
        return ""

    async def _crawl_claimed(
        self, version_id: int, on_progress: OnProgress, call: Deadline | None
    ) -> SiteVersion | None:
        if self.index_file is not None:
            await _check_room(self.index_file)
        if not await self.store.claim(version_id, self.owner, LEASE_SECONDS):
            version = await self.store.version(version_id)
            # deleted, or failed since crawls died of it.
            if version is None or version.owner is None:
                return version
            raise StateUnavailable(
                f"Process {version.owner.pid} on {version.owner.machine} crawls this site already. "
                "`websearch-gateway docs status` shows its progress."
            )
        try:
            for _ in range(MOST_MOVES):
                version = await self.store.version(version_id)
                if version is None:
                    return None
                check_source(version)
                if call is None:
                    call = self.guarded() if version.options.is_guarded else UNLIMITED
                if version.status in ("completed", "suspicious"):
                    await self.store.start_generation(version_id)
                    version = await self.store.version(version_id) or version
                try:
                    await self._crawl(version, on_progress, call)
                    break
                except Moved as moved:
                    await self.store.add_version(
                        version.name, version.label, str(moved), version.options
                    )
        finally:
            await asyncio.shield(self.store.release(version_id, self.owner))
        return await self.store.version(version_id)

    async def pending(self, *, refresh: bool = False) -> list[SiteVersion]:
        """Versions that wait for a crawl and that no living process crawls; with `refresh` also those that are
        due for a refresh."""
        now = self.clock()
        versions = await self.store.versions()
        return [version for version in versions if self._is_pending(version, now, refresh=refresh)]

    def _is_pending(self, version: SiteVersion, now: float, *, refresh: bool) -> bool:
        seconds_since_heartbeat = now - (version.heartbeat or 0.0)
        owner = version.owner
        if version.id in self._running:
            return False
        if owner is not None and owner != self.owner:
            holds_claim = seconds_since_heartbeat < LEASE_SECONDS
            if holds_claim and not is_dead(owner):
                return False
        if version.status == "completed":
            return refresh and now >= (version.refresh_at or math.inf)
        if version.status == "paused":
            return seconds_since_heartbeat > PAUSE_SECONDS
        return version.status in ("queued", "crawling")

    async def keep_crawling(self, refresh_seconds: float, *, drains: bool = False) -> None:
        """Crawl pending versions, several sites at once, until cancelled. Processes that share a store share the work.

        What one crawl raises ends neither the others nor the loop.

        Args:
            refresh_seconds: how often to look for sites whose refresh is due; 0 for never.
            drains: crawl each version once, and end when none is left.

        Raises:
            StateUnavailable: the index cannot be read, if `drains`; otherwise the next look tries again.
        """
        looked_at = -math.inf
        running: dict[int, asyncio.Task[None]] = {}
        started: set[int] = set()
        try:
            while True:
                running = {id_: task for id_, task in running.items() if not task.done()}
                now = time.monotonic()
                due = 0 < refresh_seconds <= now - looked_at
                pending: list[SiteVersion] = []
                try:
                    if self.index_file is None or await asyncio.to_thread(self.index_file.is_file):
                        pending = await self.pending(refresh=due)
                        looked_at = now if due else looked_at
                    self.trouble = ""
                except StateUnavailable as error:
                    if drains:
                        raise
                    self.trouble = f"{NOT_CRAWLED} {error.message}"
                    _log.warning("%s", self.trouble)
                for version in pending:
                    if drains:
                        waits = version.id in started
                    else:
                        is_resting = now < self._resting.get(version.id, -math.inf)
                        waits = is_resting or version.id in running
                    if len(running) < SITES_AT_ONCE and not waits:
                        running[version.id] = asyncio.create_task(self._crawl_or_log(version.id))
                        started.add(version.id)
                if running:
                    await asyncio.wait(
                        running.values(), timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED
                    )
                elif drains:
                    return
                else:
                    await asyncio.sleep(LOOK_SECONDS)
        finally:
            await _cancel(running.values())

    async def _crawl_or_log(self, version_id: int) -> None:
        """Crawl a version. Logs an error, such as the claim of another process, and does not raise it.

        A defect pauses the version, and says so in its status.
        """
        try:
            await self.crawl(version_id)
        except SearchError as error:
            _log.info("The site %d is not crawled here: %s", version_id, error.message)
            self._resting[version_id] = time.monotonic() + LOOK_SECONDS
        except Exception as error:  # noqa: BLE001 - the boundary of a job in the background: others go on
            kind = type(error).__name__
            _log.error("The crawl of the site %d failed: %s\n%s", version_id, kind, frames(error))
            self._resting[version_id] = time.monotonic() + PAUSE_SECONDS
            with suppress(StateUnavailable):
                reason = f"The crawl failed in an unexpected way ({kind}). The log of the process tells more."
                await self.store.set_status(version_id, "paused", reason)

    async def _crawl(self, version: SiteVersion, on_progress: OnProgress, call: Deadline) -> None:
        # A browser would ask the base address.
        browser: BrowserUse = "never" if version.options.base_url else version.options.browser
        wanted, start = "" if version.label == "latest" else version.label, canonical(version.home)
        embedding = Embedding(self.embedder, self.store)
        async with self._source(version, call) as source:
            work = PageWork(
                self.store,
                source,
                source.scope,
                self.read,
                embedding,
                browser,
                self.clock,
                call,
                start=start,
                wanted=wanted,
            )
            await Crawler(self.store, work, self.owner, on_progress, clock=self.clock).run(version)

    @asynccontextmanager
    async def _source(self, version: SiteVersion, call: Deadline) -> AsyncIterator[Source]:
        options, url = version.options, version.url
        note = partial(self.store.note_reading, version.id)
        base = options.base_url or base_url(url)
        is_packed = is_archive(urlsplit(url).path)
        scope = Scope.of(
            base, options.include, options.exclude, of_files=is_packed or url.startswith("file:")
        )
        if is_packed:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="docs-"))
            try:
                await note(url)
                await self._unpack(version, folder, call)
                yield FolderSource(folder, base, scope, self.workers, note)
            finally:
                await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))
        elif url.startswith("file:"):
            yield FolderSource(_path(url), base, scope, self.workers, note)
        else:
            robots = RobotsTxt(
                self.fetcher, self.workers, self._pace(scope.origin, options.delay), call
            )
            yield WebSource(url, scope, robots, dict(options.headers), note)

    async def _unpack(self, version: SiteVersion, folder: Path, call: Deadline) -> None:
        """Unpack the archive of a version, in a worker process that ends when this call is cancelled.

        Raises:
            SearchError: the archive cannot be fetched or unpacked; the version is `failed`.
        """
        url, deadline = version.url, call.within(ARCHIVE_SECONDS)
        archive = folder / f"archive{archive_ending(urlsplit(url).path)}"
        try:
            if url.startswith("file:"):
                archive = _path(url)
                if not await asyncio.to_thread(archive.is_file):
                    raise SearchFetchError(
                        f"The archive {archive} does not exist.", details={"reason": "missing"}
                    )
            else:
                await self.fetcher.download(url, archive, deadline, max_bytes=MAX_ARCHIVE_BYTES)
            await self.unpackers.run(unpack, archive, folder, deadline=deadline)
        except SearchError as error:
            told = error
            if error.details.get("reason") in ("crashed", TOO_COSTLY):
                message = "The archive takes too much time or memory to unpack. Unpack it, and add the folder."
                told = SearchFetchError(message, details={"reason": "too_large"})
            await self.store.set_status(version.id, "failed", told.message)
            raise told from None

    def _pace(self, origin: str, delay: float) -> HostPace:
        key = f"{origin} {delay}"
        if key not in self._paces:
            self._paces[key] = HostPace(self.store, origin, delay, clock=self.clock)
        return self._paces[key]


def check_source(version: SiteVersion) -> None:
    """Raises SearchValidationError if the source of a version is not on this machine or the web."""
    if not version.url.startswith(("https://", "http://", "file:")):
        raise SearchValidationError(
            f"{version.name} {version.label} was a folder or an archive on another machine and is not refreshed here. "
            "Import a newer export, or delete it and add its documents."
        )


def _path(url: str) -> Path:
    return Path(url2pathname(urlsplit(url).path))


LEASE_SECONDS = 60.0
HEARTBEAT_SECONDS = 5.0
PROGRESS_SECONDS = 0.5
BATCH = 16
FIRST_PAGES = 5
"""After this many pages without text, a crawl gives up and says why."""
MOST_FAILURES_IN_A_ROW = 10
URLS_PER_PAGE = 5
"""The most addresses in the frontier, times `max_pages`: some sites generate addresses without end."""
VERSIONS = "Of the versions below "
"""Begins a reason that names the versions that are left out; a refresh in which no page has changed keeps it."""
DAY = 86_400.0
SHORTEST_REFRESH, LONGEST_REFRESH = 1 * DAY, 45 * DAY

OnProgress = Callable[[CrawlProgress], Awaitable[None]]


class Stop(Exception):
    """Ends the crawl; the text says why."""


class _ClaimLost(Exception):
    """Another process crawls this version now, or it was deleted."""


@dataclass(slots=True)
class _Tally:
    """The counts of a run. `in_a_row` counts the latest failures of the host."""

    started: float
    results: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    in_a_row: int = 0

    @property
    def done(self) -> int:
        return self.results["indexed"] + self.results["unchanged"]

    def note(self, result: Result) -> None:
        self.results[result.outcome] += 1
        self.in_a_row = self.in_a_row + 1 if result.of_host else 0
        if result.reason:
            self.reasons[result.reason] += 1


@dataclass(slots=True)
class Crawler:
    """Crawls a version that `owner` has claimed.

    Args:
        work: processes single pages.
        clock: seconds since the epoch, the same as the store's.
    """

    store: SqlDocs
    work: PageWork
    owner: Owner
    on_progress: OnProgress
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _lost: bool = False
    _waiting: str = ""
    _left_out: list[Skipped] = field(default_factory=list)

    async def run(self, version: SiteVersion) -> None:
        """Crawl to the end, and store the final status.

        Raises:
            Moved: the site has another address; nothing was crawled.
            Refused: a setting or the embedder is at fault; the version is `failed`.
        """
        await self.store.set_status(version.id, "crawling")
        tally = _Tally(self.clock())
        try:
            async with self._heartbeat(version, tally):
                await self._add_seeds(version)
                await self._crawl_pages(version, tally)
                await self._embed_missed_pages(version)
        except _ClaimLost:
            pass  # the status is the other crawler's to set
        except Stop as stop:
            await self._store_stop(version, tally, str(stop))
        except Refused as error:
            await self.store.set_status(version.id, "failed", error.message)
            raise
        except SearchError as error:
            await self._store_stop(version, tally, error.message)
        else:
            await self._store_end(version, tally)

    async def _add_seeds(self, version: SiteVersion) -> None:
        known = await self.store.known_urls(version.id)
        await asyncio.to_thread(lambda: [self.work.endless.refusal(url) for url in known])
        urls, self.work.defined = await self.work.source.seeds()
        self.work.loaded_inventories.add(f"{self.work.scope.origin}{self.work.scope.folder}")
        versions = self.work.versions
        await asyncio.to_thread(versions.keep, known)
        if not known and await asyncio.to_thread(versions.has_any, urls):
            await self.work.ask_start(version.id)
        await asyncio.to_thread(versions.note, [*known, *urls])
        urls, left = sorted_out(
            (url, OTHER_VERSION if self.work.is_other_version(url) else "") for url in urls
        )
        self.work.source.left_out.note(left)
        await self.store.add_urls(version.id, dict.fromkeys(urls, 0))

    async def _crawl_pages(self, version: SiteVersion, tally: _Tally) -> None:
        """Process the frontier until nothing is due: while a page is fetched, others are read and written."""
        running: set[asyncio.Task[Result]] = set()
        leased: list[UrlTask] = []
        try:
            while True:
                if self._lost:
                    raise _ClaimLost
                if not leased:
                    leased = await self._next_tasks(version, tally, len(running))
                while leased and len(running) < IN_WORK:
                    running.add(asyncio.create_task(self.work.do(leased.pop(0))))
                if running:
                    done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        tally.note(task.result())
                    self._stop_if_hopeless(tally)
                elif self._left(version, tally) <= 0 or not await self._wait_for_due(version):
                    return
        finally:
            await _cancel(running)

    def _stop_if_hopeless(self, tally: _Tally) -> None:
        """Raises Stop, or the refusal of the embedder, if further pages would fail as the last ones did."""
        if self.work.embedding.refusal is not None:
            raise self.work.embedding.refusal
        reason = _most_common(tally.reasons)
        if tally.in_a_row >= MOST_FAILURES_IN_A_ROW:
            raise Stop(f"{MOST_FAILURES_IN_A_ROW} failures in a row: {reason}")
        if not tally.done and tally.results["failed"] >= FIRST_PAGES:
            raise Stop(reason)

    async def _next_tasks(self, version: SiteVersion, tally: _Tally, running: int) -> list[UrlTask]:
        """Lease addresses. Until a page is done, no more than `FIRST_PAGES` in all, since the site may be hopeless."""
        first = FIRST_PAGES - sum(tally.results.values())
        most = BATCH if tally.done or first <= 0 else first - running
        count = min(most, self._left(version, tally) - running)
        if count <= 0:
            return []
        leased = await self.store.lease_urls(version.id, count, self.clock())
        return await self._allowed(leased, tally)

    async def _wait_for_due(self, version: SiteVersion) -> bool:
        """Wait until an address is due, or for a while. False if the frontier is empty."""
        due = await self.store.next_due(version.id)
        if due is not None:
            if due - self.clock() > 1.0:
                self._waiting = f"next try at {datetime.fromtimestamp(due).astimezone():%H:%M:%S}"
            await self.sleep(max(0.0, min(due - self.clock(), 5.0)))
            self._waiting = ""
        return due is not None

    def _left(self, version: SiteVersion, tally: _Tally) -> int:
        """How many more pages may be indexed. A refresh checks the known pages again, a resumed crawl does not."""
        before = 0 if version.generation else version.page_count
        return version.options.max_pages - before - tally.done

    async def _allowed(self, tasks: list[UrlTask], tally: _Tally) -> list[UrlTask]:
        """The tasks that robots.txt allows; the others are marked as skipped."""
        verdicts = await self.work.source.allowed([task.url for task in tasks])
        admitted = []
        for task, allowed in zip(tasks, verdicts, strict=True):
            if not allowed:
                tally.results["forbidden"] += 1
                await self.store.finish_url(task, "skipped", "robots.txt forbids it")
            elif self.work.is_other_version(task.url):
                await self.store.finish_url(task, "skipped", OTHER_VERSION)
            elif self.work.is_file(task.url):
                await self.store.finish_url(task, "skipped", NO_PAGE)
            else:
                plain = self.work.endless.plain(task.url)
                if task.url in (plain, self.work.start):
                    admitted.append(task)
                else:
                    await self.store.finish_url(task, "alias", links=[plain], alias_of=plain)
        return admitted

    async def _embed_missed_pages(self, version: SiteVersion) -> None:
        """Embed the pages whose embedding failed, and retry while the server is down.

        Raises:
            Refused: the embedder will not work, or has not for a day.
        """
        embedding = self.work.embedding
        while True:
            now = await self.store.version(version.id)
            if now is None or not now.unembedded:
                return
            if self._lost:
                raise _ClaimLost
            if await embedding.catch_up(version.id):
                continue
            if embedding.refusal is not None:
                raise embedding.refusal
            self._waiting = f"{now.unembedded} pages have no vectors yet: {embedding.trouble}"
            await self.store.set_status(version.id, "crawling", self._waiting)
            await self.sleep(HEARTBEAT_SECONDS)
            self._waiting = ""

    async def _store_stop(self, version: SiteVersion, tally: _Tally, reason: str) -> None:
        now = await self.store.version(version.id)
        goes_on = (now and now.page_count) or tally.in_a_row >= MOST_FAILURES_IN_A_ROW
        await self.store.set_status(version.id, "paused" if goes_on else "failed", reason)

    async def _store_end(self, version: SiteVersion, tally: _Tally) -> None:
        now = await self.store.version(version.id)
        if now is None:
            return
        if not now.page_count:
            before = "".join(failure.reason for failure in await self.store.failures(version.id, 1))
            await self.store.set_status(version.id, "failed", _why_empty(tally, before))
            return
        if version.generation and not await self.store.finish_generation(version.id):
            reason = "More than a tenth of the pages seem gone, so the old ones were kept. Check the URL."
            await self.store.set_status(version.id, "suspicious", reason)
            return
        if tally.results["indexed"] or version.indexed_at is None:
            await self.store.name_linked_pages(version.id)
        is_full = self._left(version, tally) <= 0
        if is_full and await self.store.next_due(version.id) is not None:
            most = version.options.max_pages
            reason = f"Stopped at {most:,} pages, the limit of max_pages. `add` it again with more for the rest."
        elif now.page_count == 1 and not self.work.scope.of_files:
            reason = self._why_one_page()
        else:
            before = version.reason if version.reason.startswith(VERSIONS) else ""
            reason = self.work.versions.summary() or before
        refresh_at = self.clock() + self._seconds_to_refresh(version, tally)
        await self.store.set_status(version.id, "completed", reason, refresh_at=refresh_at)

    def _seconds_to_refresh(self, version: SiteVersion, tally: _Tally) -> float:
        """Half the time since the last crawl if a page has changed since, else half as much again as that time."""
        since_last = 2 * SHORTEST_REFRESH
        if version.indexed_at:
            since_last = self.clock() - version.indexed_at
        has_changed = tally.results["indexed"] > 0
        seconds = since_last * (0.5 if has_changed else 1.5)
        return max(SHORTEST_REFRESH, min(seconds, LONGEST_REFRESH))

    def _why_one_page(self) -> str:
        """That a site has one page alone, and what its owner may have meant instead."""
        own = f"{self.work.scope.origin}{self.work.scope.folder}"
        above = urljoin(own, "..")
        beside = self.work.source.left_out.below(above)
        advice = "If others lie beside it, add the folder above."
        if beside:
            advice = f"It links to {beside} pages of {above}: to index those, add {above} instead."
        return f"Only one page was found below {own}. {advice}"

    @asynccontextmanager
    async def _heartbeat(self, version: SiteVersion, tally: _Tally) -> AsyncIterator[None]:
        """Renew the claim and report progress, in the background."""

        async def report_progress() -> None:
            while True:
                with suppress(StateUnavailable):
                    await self._report(version, tally)
                await asyncio.sleep(PROGRESS_SECONDS)

        async def renew_claim() -> None:
            while not self._lost:
                await asyncio.sleep(HEARTBEAT_SECONDS)
                with suppress(StateUnavailable):  # the lease outlasts several heartbeats
                    await self._store_left_out(version)
                    self._lost = not await self.store.claim(version.id, self.owner, LEASE_SECONDS)

        tasks = [asyncio.create_task(report_progress()), asyncio.create_task(renew_claim())]
        try:
            yield
            await self._report(version, tally)
        finally:
            await _cancel(tasks)
            with suppress(StateUnavailable):
                await asyncio.shield(self._store_left_out(version))

    async def _store_left_out(self, version: SiteVersion) -> None:
        rows = self.work.source.left_out.rows()
        if rows != self._left_out:
            await self.store.note_left_out(version.id, rows)
            self._left_out = rows

    async def _report(self, version: SiteVersion, tally: _Tally) -> None:
        """Report progress, and take no more links once the frontier is full."""
        now = await self.store.version(version.id)
        if now is None:
            return
        self.work.takes_links = now.known < version.options.max_pages * URLS_PER_PAGE
        seconds = max(self.clock() - tally.started, 0.001)
        progress = CrawlProgress(
            tally.done,
            now.known,
            now.failed,
            tally.done / seconds,
            self.work.source.waiting or self._waiting,
        )
        await self.on_progress(progress)


async def _check_room(index_file: Path) -> None:
    """Raises StateUnavailable if the disk of the index is nearly full. The file and its folder may not exist yet."""
    folder = next(path for path in index_file.parents if path.exists())
    usage = await asyncio.to_thread(shutil.disk_usage, folder)
    if usage.free < LEAST_FREE_BYTES:
        raise StateUnavailable(
            f"The disk of {index_file} has less than 200 MB left. Free some space first."
        )


async def _cancel(tasks: Collection[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _why_empty(tally: _Tally, before: str) -> str:
    reason = _most_common(tally.reasons) or before
    if reason.startswith("HTTP 4") and ":" not in reason:
        return f"{reason}. Check the URL."
    if not reason and tally.results["forbidden"]:
        return "robots.txt forbids it. Add another folder of the site, or a folder or archive of its documents."
    return reason or "No page is in scope. Check the URL, --include and --exclude."


def _most_common(reasons: Counter[str]) -> str:
    return reasons.most_common(1)[0][0] if reasons else ""
