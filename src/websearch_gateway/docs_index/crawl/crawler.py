"""The crawl of one version, from its seeds to its final status. A killed crawl resumes where it stopped."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime

from websearch_gateway.docs_index.crawl.page_work import PageWork, Result
from websearch_gateway.docs_index.crawl.scope import Scope
from websearch_gateway.docs_index.models import IN_WORK, CrawlProgress, Owner, SiteVersion, UrlTask, VersionStatus
from websearch_gateway.docs_index.store.docs import SqlDocs
from websearch_gateway.errors import Refused, SearchError, StateUnavailable

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
        await asyncio.to_thread(lambda: [self.work.traps.admit(url) for url in known])
        urls, self.work.defined = await self.work.source.seeds()
        self.work.loaded_inventories.add(f"{self.work.scope.origin}{self.work.scope.folder}")
        if (versions := self.work.versions) is not None:
            await asyncio.to_thread(versions.keep, known)
            await asyncio.to_thread(versions.note, [*known, *urls])
            if versions.is_guess:
                await self.work.ask_start(version.id)
            urls = [url for url in urls if not self.work.is_other_version(url)]
        await self.store.add_urls(version.id, dict.fromkeys(urls, 0))

    async def _crawl_pages(self, version: SiteVersion, tally: _Tally) -> None:
        """Process the frontier until nothing is due: while a page is fetched, others are read and written."""
        running: set[asyncio.Task[None]] = set()
        leased: list[UrlTask] = []
        try:
            while True:
                if self._lost:
                    raise _ClaimLost
                if not leased:
                    leased = await self._next_tasks(version, tally, len(running))
                while leased and len(running) < IN_WORK:
                    running.add(asyncio.create_task(self._process(leased.pop(0), tally)))
                if running:
                    done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        task.result()
                    self._raise_refusal()
                    self._stop_if_hopeless(tally)
                elif self._left(version, tally) <= 0 or not await self._wait_for_due(version):
                    return
        finally:
            await _cancel(running)

    async def _next_tasks(self, version: SiteVersion, tally: _Tally, running: int) -> list[UrlTask]:
        """Lease addresses. Until a page is done, no more than `FIRST_PAGES` in all, since the site may be hopeless."""
        first = FIRST_PAGES - sum(tally.results.values())
        most = BATCH if tally.done or first <= 0 else first - running
        count = min(most, self._left(version, tally) - running)
        if count <= 0:
            return []
        return await self._allowed(await self.store.lease_urls(version.id, count, self.clock()), tally)

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

    async def _process(self, task: UrlTask, tally: _Tally) -> None:
        tally.note(await self.work.do(task))

    async def _allowed(self, tasks: list[UrlTask], tally: _Tally) -> list[UrlTask]:
        """The tasks that robots.txt allows; the others are marked as skipped."""
        verdicts = await self.work.source.allowed([task.url for task in tasks])
        for task, allowed in zip(tasks, verdicts, strict=True):
            if not allowed:
                tally.results["forbidden"] += 1
                await self.store.finish_url(task, "skipped", "robots.txt forbids it")
        admitted = [task for task, allowed in zip(tasks, verdicts, strict=True) if allowed]
        for task in (task for task in admitted if self.work.is_other_version(task.url)):
            await self.store.finish_url(task, "skipped", "another version of the documentation")
        return [task for task in admitted if not self.work.is_other_version(task.url)]

    def _stop_if_hopeless(self, tally: _Tally) -> None:
        """Raise Stop if the host keeps failing, or none of the first pages could be indexed."""
        if tally.in_a_row >= MOST_FAILURES_IN_A_ROW:
            raise Stop(f"{MOST_FAILURES_IN_A_ROW} failures in a row: {_most_common(tally.reasons)}")
        if not tally.done and tally.results["failed"] >= FIRST_PAGES:
            raise Stop(_most_common(tally.reasons))

    async def _embed_missed_pages(self, version: SiteVersion) -> None:
        """Embed the pages whose embedding failed, and retry while the server is down.

        Raises:
            Refused: the embedder will not work, or has not for a day.
        """
        while (now := await self.store.version(version.id)) is not None and now.unembedded:
            if self._lost:
                raise _ClaimLost
            if await self.work.embedding.catch_up(version.id):
                continue
            self._raise_refusal()
            self._waiting = f"{now.unembedded} pages have no vectors yet: {self.work.embedding.trouble}"
            await self.store.set_status(version.id, "crawling", self._waiting)
            await self.sleep(HEARTBEAT_SECONDS)
            self._waiting = ""

    def _raise_refusal(self) -> None:
        """Raise the error of an embedder that will not work; the pages so far are kept."""
        if self.work.embedding.refusal is not None:
            raise self.work.embedding.refusal

    async def _store_stop(self, version: SiteVersion, tally: _Tally, reason: str) -> None:
        now = await self.store.version(version.id)
        has_pages = now is not None and now.page_count > 0
        status: VersionStatus = "paused" if has_pages or tally.in_a_row >= MOST_FAILURES_IN_A_ROW else "failed"
        await self.store.set_status(version.id, status, reason)

    async def _store_end(self, version: SiteVersion, tally: _Tally) -> None:
        now = await self.store.version(version.id)
        if now is None:
            return
        if not now.page_count:
            await self.store.set_status(version.id, "failed", _why_empty(tally, await self._first_reason(version)))
            return
        kept = version.generation and not await self.store.finish_generation(version.id)
        if kept:
            reason = "More than a tenth of the pages seem gone, so the old ones were kept. Check the URL."
            await self.store.set_status(version.id, "suspicious", reason)
            return
        if tally.results["indexed"] or version.indexed_at is None:
            await self.store.name_linked_pages(version.id)
        interval = _next_interval(version, changed=bool(tally.results["indexed"]), now=self.clock())
        most = version.options.max_pages
        cut = self._left(version, tally) <= 0 and await self.store.next_due(version.id) is not None
        before = version.reason if version.reason.startswith(VERSIONS) else ""
        summary = self.work.versions.summary() if self.work.versions is not None else ""
        reason = self._only_start(version, now) or summary or before
        if cut:
            reason = f"Stopped at {most:,} pages, the limit of max_pages. `add` it again with more for the rest."
        await self.store.set_status(version.id, "completed", reason, refresh_at=self.clock() + interval)

    def _only_start(self, version: SiteVersion, now: SiteVersion) -> str:
        """Why the start page is the only page; "" if it is not, or links to no page beside it."""
        beside = Scope.beside(version.home)
        if beside is None or now.page_count > 1 or not self.work.siblings:
            return ""
        own, folder = (f"{scope.origin}{scope.folder}" for scope in (self.work.scope, beside))
        return (
            f"Only pages below {own} are indexed, and the start page leads to no other. It links to "
            f"{self.work.siblings} pages of {folder}: to index those, add {folder} instead."
        )

    async def _first_reason(self, version: SiteVersion) -> str:
        failures = await self.store.failures(version.id, 1)
        return failures[0].reason if failures else ""

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
                    self._lost = not await self.store.claim(version.id, self.owner, LEASE_SECONDS)

        tasks = [asyncio.create_task(report_progress()), asyncio.create_task(renew_claim())]
        try:
            yield
            await self._report(version, tally)
        finally:
            await _cancel(tasks)

    async def _report(self, version: SiteVersion, tally: _Tally) -> None:
        """Report progress, and take no more links once the frontier is full."""
        now = await self.store.version(version.id)
        if now is None:
            return
        self.work.takes_links = now.known < version.options.max_pages * URLS_PER_PAGE
        seconds = max(self.clock() - tally.started, 0.001)
        progress = CrawlProgress(
            tally.done, now.known, now.failed, tally.done / seconds, self.work.source.waiting or self._waiting
        )
        await self.on_progress(progress)


async def _cancel(tasks: Collection[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _next_interval(version: SiteVersion, *, changed: bool, now: float) -> float:
    """Half of the last interval if a page changed, one and a half times as long if none did (seconds)."""
    last = now - version.indexed_at if version.indexed_at else 2 * SHORTEST_REFRESH
    return max(SHORTEST_REFRESH, min(last * (0.5 if changed else 1.5), LONGEST_REFRESH))


def _why_empty(tally: _Tally, first_failure: str) -> str:
    reason = _most_common(tally.reasons) or first_failure
    if reason.startswith("HTTP 4") and ":" not in reason:
        return f"{reason}. Check the URL."
    if not reason and tally.results["forbidden"]:
        return "robots.txt forbids it. Add another folder of the site, or a folder or archive of its documents."
    return reason or "No page is in scope. Check the URL, --include and --exclude."


def _most_common(reasons: Counter[str]) -> str:
    return reasons.most_common(1)[0][0] if reasons else ""
