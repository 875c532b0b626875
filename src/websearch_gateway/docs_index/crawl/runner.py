"""Crawls versions in this process: opens their sources, shares one request queue per host, and respects claims."""

from __future__ import annotations

import asyncio
import logging
import math
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

from websearch_gateway.docs_index.crawl.crawler import LEASE_SECONDS, Crawler, OnProgress
from websearch_gateway.docs_index.crawl.listing import (
    ARCHIVE_REASONS,
    MAX_ARCHIVE_BYTES,
    archive_ending,
    base_url,
    is_archive,
    unpack,
)
from websearch_gateway.docs_index.crawl.page_work import PASSING_STATUSES, Embedding, Moved, PageWork
from websearch_gateway.docs_index.crawl.scope import Scope, VersionFolders, canonical, version_siblings
from websearch_gateway.docs_index.crawl.sources import FolderSource, HostPace, RobotsTxt, Source, WebSource
from websearch_gateway.docs_index.models import (
    BrowserUse,
    CrawlOptions,
    CrawlProgress,
    Fetch,
    Owner,
    ReadDocument,
    Run,
    SiteVersion,
    UrlTask,
)
from websearch_gateway.docs_index.store.docs import SqlDocs
from websearch_gateway.docs_index.store.versions import is_dead, this_process
from websearch_gateway.errors import (
    SearchError,
    SearchFetchError,
    SearchTimeoutError,
    SearchValidationError,
    StateUnavailable,
)
from websearch_gateway.models import Deadline
from websearch_gateway.ports import Embedder

ARCHIVE_SECONDS = 600.0
MOST_MOVES = 3
"""How often a start URL may redirect to another origin in one crawl."""
LEAST_FREE_BYTES = 200_000_000
SITES_AT_ONCE = 6
LOOK_SECONDS = 30.0
"""How often `keep_crawling` looks for pending versions (seconds)."""
PAUSE_SECONDS = 600.0
"""A paused site is tried again after this long (seconds)."""


_log = logging.getLogger(__name__)


async def ignore_progress(_: CrawlProgress) -> None:
    """The OnProgress of callers who need no progress."""


@dataclass(slots=True)
class CrawlRunner:
    """Crawls versions of a store.

    `unpackers` run what takes longer than the reading of a page. `index_file` is the file of the index, whose disk
    must have room; None for a database server. `clock` gives seconds since the epoch, the same as the store's.
    """

    store: SqlDocs
    fetcher: Fetch
    workers: Run
    unpackers: Run
    read: ReadDocument
    embedder: Embedder
    index_file: Path | None
    clock: Callable[[], float] = time.time
    owner: Owner = field(default_factory=this_process)
    _paces: dict[str, HostPace] = field(default_factory=dict)
    _running: dict[int, asyncio.Event] = field(default_factory=dict)
    _unwatched: set[asyncio.Task[SiteVersion | None]] = field(default_factory=set)

    async def crawl(self, version_id: int, on_progress: OnProgress = ignore_progress) -> SiteVersion | None:
        """Crawl a version, resume its crawl, or refresh it if it is complete.

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
            return await self._crawl_claimed(version_id, on_progress)
        finally:
            del self._running[version_id]
            ended.set()

    async def crawl_for(
        self, version_id: int, seconds: float, on_progress: OnProgress = ignore_progress
    ) -> SiteVersion | None:
        """As `crawl`, but returns the version after `seconds` at the latest; the crawl then goes on, until `close`.

        If this call is cancelled before, its crawl ends. Raises what `crawl` raises.
        """
        is_watched = True

        async def report(progress: CrawlProgress) -> None:
            if is_watched:
                await on_progress(progress)

        crawl = asyncio.create_task(self.crawl(version_id, report))
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
        crawl.add_done_callback(self._end_unwatched)
        return await self.store.version(version_id)

    def _end_unwatched(self, crawl: asyncio.Task[SiteVersion | None]) -> None:
        self._unwatched.discard(crawl)
        if not crawl.cancelled() and isinstance(error := crawl.exception(), SearchError):
            _log.info("A crawl in the background failed: %s", error.message)

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
        robots = RobotsTxt(self.store, self.fetcher, self.workers, pace, clock=self.clock)
        source = WebSource(url, scope, self.fetcher, self.workers, pace, robots, {}, _ignore_note)
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await robots.open()
                _, start = await _answers(source, canonical(url), robots)
                for place in version_siblings(start, version):
                    found, final = await _answers(source, place, robots)
                    if found and Scope.of(place).contains(canonical(final)):
                        return place
        except TimeoutError as error:
            raise SearchTimeoutError(f"{scope.origin} takes too long to answer. Try again later.") from error
        return ""

    async def _crawl_claimed(self, version_id: int, on_progress: OnProgress) -> SiteVersion | None:
        owner = self.owner
        if self.index_file is not None:
            await asyncio.to_thread(_check_disk, self.index_file)
        if not await self.store.claim(version_id, owner, LEASE_SECONDS):
            version = await self.store.version(version_id)
            if version is None or version.owner is None:  # deleted, or failed since crawls died of it
                return version
            raise _busy(version.owner)
        try:
            for _ in range(MOST_MOVES):
                version = await self.store.version(version_id)
                if version is None:
                    return None
                check_source(version)
                if version.status in ("completed", "suspicious"):
                    await self.store.start_generation(version_id)
                    version = await self.store.version(version_id) or version
                try:
                    await self._crawl(version, on_progress)
                except Moved as moved:
                    await self.store.add_version(version.name, version.label, str(moved), version.options)
                    continue
                break
        finally:
            await asyncio.shield(self.store.release(version_id, owner))
        return await self.store.version(version_id)

    async def pending(self, *, refresh: bool = False) -> list[SiteVersion]:
        """Versions that wait for a crawl and that no living process crawls; with `refresh` also those that are
        due for a refresh."""
        now = self.clock()
        versions = [v for v in await self.store.versions() if not self._is_crawled(v, now)]
        return [version for version in versions if _is_pending(version, now, refresh=refresh)]

    def _is_crawled(self, version: SiteVersion, now: float) -> bool:
        owner, heartbeat = version.owner, version.heartbeat
        if version.id in self._running:
            return True
        if owner is None or heartbeat is None or owner == self.owner:
            return False
        return now - heartbeat < LEASE_SECONDS and not is_dead(owner)

    async def drain(self) -> None:
        """Crawl all pending versions, several sites at once and each once, until none is left."""
        seen: set[int] = set()
        async with _Crawls(self._crawl_or_log) as crawls:
            while crawls.begin([v for v in await self.pending() if v.id not in seen]):
                seen |= crawls.ids
                await crawls.next_end()

    async def keep_crawling(self, refresh_seconds: float) -> None:
        """Crawl pending versions until cancelled. Processes that share a store share the work.

        Args:
            refresh_seconds: how often to look for sites whose refresh is due; 0 for never.
        """
        looked_at = -math.inf
        async with _Crawls(self._crawl_or_log) as crawls:
            while True:
                if self.index_file is None or await asyncio.to_thread(self.index_file.is_file):
                    now = time.monotonic()
                    due = 0 < refresh_seconds <= now - looked_at
                    looked_at = now if due else looked_at
                    crawls.begin(await self.pending(refresh=due))
                await crawls.next_end(LOOK_SECONDS)

    async def _crawl_or_log(self, version_id: int) -> None:
        """Crawl a version. Logs an error, such as the claim of another process, and does not raise it."""
        try:
            await self.crawl(version_id)
        except SearchError as error:
            _log.info("The site %d is not crawled here: %s", version_id, error.message)

    async def _crawl(self, version: SiteVersion, on_progress: OnProgress) -> None:
        # A browser would ask the base address.
        browser: BrowserUse = "never" if version.options.base_url else version.options.browser
        async with self._source(version) as (source, scope):
            work = PageWork(
                self.store,
                source,
                scope,
                self.read,
                Embedding(self.embedder, self.store),
                browser=browser,
                clock=self.clock,
                start=canonical(version.home),
                versions=VersionFolders(scope, "" if version.label == "latest" else version.label),
            )
            await Crawler(self.store, work, self.owner, on_progress, clock=self.clock).run(version)

    @asynccontextmanager
    async def _source(self, version: SiteVersion) -> AsyncIterator[tuple[Source, Scope]]:
        options, url = version.options, version.url
        note = partial(self.store.note_reading, version.id)
        if is_archive(urlsplit(url).path):
            base = options.base_url or base_url(url)
            scope = Scope.of(base, options.include, options.exclude, of_files=True)
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="docs-"))
            try:
                await note(url)
                try:
                    await self._unpack(url, folder)
                except SearchError as error:
                    await self.store.set_status(version.id, "failed", error.message)
                    raise
                yield FolderSource(folder, base, scope, self.workers, note), scope
            finally:
                await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))
        elif url.startswith("file:"):
            base = options.base_url or url
            scope = Scope.of(base, options.include, options.exclude, of_files=True)
            yield FolderSource(_path(url), base, scope, self.workers, note), scope
        else:
            scope = Scope.of(url, options.include, options.exclude)
            pace = self._pace(scope.origin, options.delay)
            robots = RobotsTxt(self.store, self.fetcher, self.workers, pace, clock=self.clock)
            headers = dict(options.headers)
            yield WebSource(url, scope, self.fetcher, self.workers, pace, robots, headers, note), scope

    async def _unpack(self, url: str, folder: Path) -> None:
        """Unpack an archive, in a worker process that ends when this call is cancelled.

        Raises:
            SearchError: the archive cannot be fetched or unpacked.
        """
        deadline = Deadline.after(ARCHIVE_SECONDS)
        if url.startswith("file:"):
            archive = _path(url)
            if not await asyncio.to_thread(archive.is_file):
                raise SearchFetchError(f"The archive {archive} does not exist.", details={"reason": "missing"})
        else:
            archive = folder / f"archive{archive_ending(urlsplit(url).path)}"
            await self.fetcher.download(url, archive, deadline, max_bytes=MAX_ARCHIVE_BYTES)
        try:
            await self.unpackers.run(unpack, archive, folder, deadline=deadline)
        except SearchFetchError as error:
            if error.details.get("reason") in ARCHIVE_REASONS:
                raise
            message = "The archive takes too much time or memory to unpack. Unpack it, and add the folder."
            raise SearchFetchError(message, details={"reason": "too_large"}) from error

    def _pace(self, origin: str, delay: float) -> HostPace:
        key = f"{origin} {delay}"
        if key not in self._paces:
            self._paces[key] = HostPace(self.store, origin, delay, clock=self.clock)
        return self._paces[key]


async def _ignore_note(_: str) -> None:
    """The Note of requests before a crawl."""


async def _answers(source: WebSource, url: str, robots: RobotsTxt) -> tuple[bool, str]:
    """Whether there is a page at an address of this site, and the last address to which it redirects."""
    scope = Scope.of(url)
    for _ in range(MOST_MOVES):
        if not all(await robots.allowed([url])):
            return False, url
        try:
            await source.fetch(UrlTask(0, 0, url))
        except SearchFetchError as error:
            if error.details.get("status") in PASSING_STATUSES or not error.details:
                raise
            target = canonical(urljoin(url, str(error.details.get("location", ""))))
            if target == url or not target or Scope.of(target).origin != scope.origin:
                return False, url
            url = target
        else:
            return True, url
    return False, url


class _Crawls:
    """Concurrent crawls of at most `SITES_AT_ONCE` versions. The end of the block cancels those that still run."""

    def __init__(self, crawl: Callable[[int], Coroutine[Any, Any, None]]) -> None:
        self._crawl = crawl
        self._tasks: dict[int, asyncio.Task[None]] = {}

    @property
    def ids(self) -> Set[int]:
        """The versions that are being crawled."""
        return self._tasks.keys()

    def begin(self, versions: Sequence[SiteVersion]) -> bool:
        """Start as many crawls as there is room for. False if none is running afterwards."""
        for version in versions:
            if len(self._tasks) < SITES_AT_ONCE and version.id not in self._tasks:
                self._tasks[version.id] = asyncio.create_task(self._crawl(version.id))
        return bool(self._tasks)

    async def next_end(self, seconds: float | None = None) -> None:
        """Wait until a crawl ends, for at most `seconds`, and raise its exception if it failed."""
        if not self._tasks:
            await asyncio.sleep(seconds or 0)
            return
        await asyncio.wait(self._tasks.values(), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        ended = [id_ for id_, task in self._tasks.items() if task.done()]
        for task in [self._tasks.pop(id_) for id_ in ended]:
            task.result()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


def check_source(version: SiteVersion) -> None:
    """Raises SearchValidationError if the source of a version is not on this machine or the web."""
    if not version.url.startswith(("https://", "http://", "file:")):
        raise SearchValidationError(
            f"{version.name} {version.label} was a folder or an archive on another machine and is not refreshed here. "
            "Import a newer export, or delete it and add its documents."
        )


def _check_disk(file: Path) -> None:
    folder = next(path for path in file.parents if path.exists())
    if shutil.disk_usage(folder).free < LEAST_FREE_BYTES:
        raise StateUnavailable(f"The disk of {file} has less than 200 MB left. Free some space first.")


def _busy(owner: Owner) -> StateUnavailable:
    return StateUnavailable(
        f"Process {owner.pid} on {owner.machine} crawls this site already. "
        "`websearch-gateway docs status` shows its progress."
    )


def _is_pending(version: SiteVersion, now: float, *, refresh: bool) -> bool:
    if version.status == "paused":
        return version.heartbeat is None or now - version.heartbeat > PAUSE_SECONDS
    if version.status in ("queued", "crawling"):
        return True
    return refresh and version.status == "completed" and version.refresh_at is not None and version.refresh_at <= now


def _path(url: str) -> Path:
    return Path(url2pathname(urlsplit(url).path))
