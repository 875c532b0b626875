"""How much a crawler does at once, how long it waits, and when it gives up."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.clock import Clock
from tests.docs.crawl.small_site import EMBEDDER, FAST, library
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.docs.crawl import runner
from websearch_gateway.docs.crawl.page_work import Result
from websearch_gateway.docs.crawl.runner import Crawler, CrawlRunner, Stop, _Tally, ignore
from websearch_gateway.docs.library import DocsLibrary
from websearch_gateway.docs.models import CrawlOptions, Owner, SiteVersion, Skipped, UrlTask
from websearch_gateway.docs.store.docs import this_process
from websearch_gateway.docs.store.sqlite import SqliteDocs
from websearch_gateway.errors import SearchFetchError, SearchValidationError, StateUnavailable
from websearch_gateway.models import Deadline

URL = "https://docs.example.org/3/"
VERSION = SiteVersion(1, "heron", "1", URL, CrawlOptions(max_pages=100))


@pytest.fixture
async def docs(tmp_path: Path, workers: Workers, clock: Clock) -> AsyncIterator[DocsLibrary]:
    """A library whose store and crawls have the time of `clock`."""
    store = SqliteDocs(tmp_path / "docs.db", EMBEDDER.name, clock=clock)
    async with library(store, 1, workers) as opened:
        opened.runner.clock = clock
        yield opened


def tally(clock: Clock, **results: int) -> _Tally:
    counted = _Tally(clock())
    counted.results.update(results)
    return counted


class Frontier:
    """A store with endless addresses, which notes how many are leased at once."""

    def __init__(self, version: SiteVersion = VERSION) -> None:
        self.leased: list[int] = []
        self.now: SiteVersion | None = version
        self.noted: list[list[Skipped]] = []
        self.due: float | None = None

    async def lease_urls(self, version_id: int, count: int, now: float) -> list[UrlTask]:
        self.leased.append(count)
        return [UrlTask(number, version_id, f"{URL}{number}") for number in range(count)]

    async def next_due(self, version_id: int) -> float | None:
        return self.due

    async def version(self, version_id: int) -> SiteVersion | None:
        return self.now

    async def note_left_out(self, version_id: int, rows: list[Skipped]) -> None:
        self.noted.append(rows)


class Work:
    """The work on every page ends with the same result."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.done = self.at_once = self.most = 0
        self.takes_links = True
        self.start = URL
        self.embedding = SimpleNamespace(refusal=None)
        self.endless = SimpleNamespace(plain=lambda url: url)
        self.rows: list[Skipped] = []
        self.source = SimpleNamespace(
            waiting="", allowed=self.allowed, left_out=SimpleNamespace(rows=lambda: self.rows)
        )

    async def allowed(self, urls: list[str]) -> list[bool]:
        return [True] * len(urls)

    def is_other_version(self, url: str) -> bool:
        return False

    is_file = is_other_version

    async def do(self, task: UrlTask) -> Result:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        for _ in range(3):
            await asyncio.sleep(0)
        self.at_once -= 1
        self.done += 1
        return self.result


def crawler(store: Frontier, work: Work, **options: Any) -> Crawler:
    return Crawler(store, work, this_process(), ignore, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("results", "running", "version", "count"),
    [
        ({}, 0, VERSION, 5),
        ({"failed": 2}, 1, VERSION, 2),
        ({"skipped": 4}, 1, VERSION, None),
        ({"skipped": 5}, 3, VERSION, 16),
        ({"indexed": 1}, 0, VERSION, 16),
        ({"unchanged": 1}, 6, VERSION, 16),
        ({"indexed": 90}, 4, VERSION, 6),
        ({"indexed": 90}, 10, VERSION, None),
        ({"indexed": 50}, 0, replace(VERSION, page_count=45), 5),
        ({"indexed": 50}, 0, replace(VERSION, page_count=45, generation=1), 16),
    ],
)
async def test_a_crawl_leases_five_addresses_until_a_page_is_done_and_then_sixteen_at_once(
    clock: Clock, results: dict[str, int], running: int, version: SiteVersion, count: int | None
) -> None:
    store = Frontier()
    one = crawler(store, Work(Result("indexed")))
    leased = await one._next_tasks(version, tally(clock, **results), running)
    assert store.leased == [count] * (count is not None)
    assert len(leased) == (count or 0)


async def test_six_pages_are_in_work_at_once(clock: Clock) -> None:
    work = Work(Result("indexed"))
    await crawler(Frontier(), work)._crawl_pages(VERSION, tally(clock))
    assert (work.most, work.done) == (6, 100)


@pytest.mark.parametrize(
    ("result", "done", "failures", "reason"),
    [
        (Result("failed", "HTTP 500"), {}, 5, "HTTP 500"),
        (Result("failed", "HTTP 500", of_host=True), {"indexed": 1}, 10, "10 failures in a row"),
        (Result("retry", "refused", of_host=True), {}, 10, "10 failures in a row: refused"),
    ],
)
async def test_a_crawl_gives_up_after_five_first_pages_or_ten_failures_of_the_host_in_a_row(
    clock: Clock, result: Result, done: dict[str, int], failures: int, reason: str
) -> None:
    counted = tally(clock, **done)
    with pytest.raises(Stop, match=reason):
        await crawler(Frontier(), Work(result))._crawl_pages(VERSION, counted)
    assert failures <= counted.results[result.outcome] < failures + 6  # those in work with the last


async def test_a_page_between_two_failures_begins_their_row_again(clock: Clock) -> None:
    counted = tally(clock)
    for outcome in ("retry", "retry", "indexed", "retry"):
        counted.note(Result(outcome, of_host=outcome == "retry"))  # type: ignore[arg-type]
    assert (counted.in_a_row, counted.done) == (1, 1)


@pytest.mark.parametrize(("known", "takes_links"), [(499, True), (500, False)])
async def test_a_crawl_takes_links_until_it_knows_five_addresses_for_each_page_that_it_may_have(
    clock: Clock, known: int, takes_links: bool
) -> None:
    work = Work(Result("indexed"))
    store = Frontier(replace(VERSION, known=known))
    await crawler(store, work)._report(VERSION, tally(clock))
    assert work.takes_links is takes_links


async def test_of_a_deleted_version_nothing_is_reported(clock: Clock) -> None:
    store, told = Frontier(), []
    store.now = None

    async def tell(progress: object) -> None:
        told.append(progress)

    one = Crawler(store, Work(Result("indexed")), this_process(), tell)  # type: ignore[arg-type]
    await one._report(VERSION, tally(clock))
    assert told == []
    store.now = VERSION
    await one._report(VERSION, tally(clock))
    assert len(told) == 1


async def test_what_is_left_out_is_noted_once_for_each_change() -> None:
    store, work = Frontier(), Work(Result("indexed"))
    one = crawler(store, work)
    work.rows = [Skipped("noindex", 1, ("a",))]
    for _ in range(2):
        await one._store_left_out(VERSION)
    work.rows = [Skipped("noindex", 2, ("a", "b"))]
    await one._store_left_out(VERSION)
    assert [rows[0].count for rows in store.noted] == [1, 2]


@pytest.mark.parametrize(
    ("due", "slept", "says_when"),
    [
        (None, [], False),
        (-3.0, [0.0], False),
        (1.0, [1.0], False),
        (2.0, [2.0], True),
        (9, [5], True),
    ],
)
async def test_a_crawl_waits_until_an_address_is_due_five_seconds_at_a_time(
    clock: Clock, due: float | None, slept: list[float], says_when: bool
) -> None:
    store, sleeps, told = Frontier(), [], []
    store.due = None if due is None else clock.now + due

    async def sleep(seconds: float) -> None:
        sleeps.append(seconds)
        told.append(one._waiting)

    one = crawler(store, Work(Result("indexed")), clock=clock, sleep=sleep)
    assert await one._wait_for_due(VERSION) is (due is not None)
    assert sleeps == slept
    assert [text.startswith("next try at ") for text in told] == [says_when] * len(slept)
    assert one._waiting == ""


async def test_a_crawl_reports_twice_a_second_and_renews_its_claim_every_five_seconds(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept, waited = [], asyncio.Event()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            waited.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(runner.asyncio, "sleep", sleep)
    async with crawler(Frontier(), Work(Result("indexed")))._heartbeat(VERSION, tally(clock)):
        await waited.wait()
    assert sorted(slept) == [0.5, 5.0]


async def test_a_crawl_waits_five_seconds_for_an_embedder_that_is_down(clock: Clock) -> None:
    slept: list[float] = []
    store, work = Frontier(replace(VERSION, unembedded=2)), Work(Result("indexed"))

    async def catch_up(version_id: int) -> bool:
        return False

    async def set_status(*_: object) -> None:
        pass

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        store.now = VERSION

    work.embedding = SimpleNamespace(refusal=None, catch_up=catch_up, trouble="down")
    store.set_status = set_status  # type: ignore[attr-defined]
    await crawler(store, work, sleep=sleep)._embed_missed_pages(VERSION)
    assert slept == [5.0]


@pytest.mark.parametrize(("free", "is_refused"), [(199_999_999, True), (200_000_000, False)])
async def test_a_disk_with_less_than_200_megabytes_takes_no_crawl(
    docs: DocsLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, is_refused: bool
) -> None:
    imported = await docs.store.add_version("gull", "1", "imported:///gull/1/", FAST)
    docs.runner.index_file = tmp_path / "missing" / "docs.db"
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    error = StateUnavailable if is_refused else SearchValidationError
    with pytest.raises(error, match="less than 200 MB" if is_refused else "another machine"):
        await docs.runner.crawl(imported.id)


async def test_six_sites_are_crawled_at_once(
    docs: DocsLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(13):
        await docs.store.add_version(f"heron-{number}", "1", f"{URL}{number}/", FAST)
    at_once, most, crawled = 0, 0, []

    async def crawl(self: CrawlRunner, version_id: int) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        for _ in range(9):
            await asyncio.sleep(0)
        at_once -= 1
        crawled.append(version_id)

    monkeypatch.setattr(CrawlRunner, "crawl", crawl)
    await docs.runner.keep_crawling(0, drains=True)
    assert (most, len(set(crawled)), len(crawled)) == (6, 13, 13)


@pytest.mark.parametrize(
    ("status", "seconds", "is_pending"),
    [
        ("queued", 0, True),
        ("crawling", 0, True),
        ("paused", 600, False),
        ("paused", 601, True),
        ("completed", 601, False),
        ("failed", 601, False),
    ],
)
async def test_a_paused_site_is_pending_again_after_ten_minutes(
    docs: DocsLibrary, clock: Clock, status: Any, seconds: float, is_pending: bool
) -> None:
    added = await docs.store.add_version("heron", "1", URL, FAST)
    assert await docs.store.claim(added.id, docs.runner.owner, 60)
    await docs.store.release(added.id, docs.runner.owner)
    await docs.store.set_status(added.id, status)
    clock.now += seconds
    assert bool(await docs.runner.pending()) is is_pending


@pytest.mark.parametrize(
    ("owner", "seconds", "is_pending"),
    [
        (Owner("elsewhere", 1, 1.0), 59, False),
        (Owner("elsewhere", 1, 1.0), 60, True),
        (this_process(), 1, True),
        (Owner(this_process().machine, 2**22 + 1, 1.0), 1, True),  # no process has this number
    ],
)
async def test_a_site_is_left_to_a_living_process_that_renewed_its_claim_within_a_minute(
    docs: DocsLibrary, clock: Clock, owner: Owner, seconds: float, is_pending: bool
) -> None:
    added = await docs.store.add_version("heron", "1", URL, FAST)
    assert await docs.store.claim(added.id, owner, 60)
    clock.now += seconds
    assert bool(await docs.runner.pending()) is is_pending


@pytest.mark.parametrize(("seconds", "is_pending"), [(-1, False), (0, True)])
async def test_a_refresh_is_pending_from_its_time_on_and_only_if_refreshes_are_asked_for(
    docs: DocsLibrary, clock: Clock, seconds: float, is_pending: bool
) -> None:
    added = await docs.store.add_version("heron", "1", URL, FAST)
    await docs.store.set_status(added.id, "completed", refresh_at=clock.now - seconds)
    assert bool(await docs.runner.pending(refresh=True)) is is_pending
    assert await docs.runner.pending() == []


async def test_a_claim_lasts_a_minute(docs: DocsLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    async def claim(version_id: int, owner: Owner, seconds: float) -> bool:
        asked.append(seconds)
        return False

    monkeypatch.setattr(docs.store, "claim", claim)
    added = await docs.store.add_version("heron", "1", URL, FAST)
    assert (
        await docs.runner.crawl(added.id) == added
    )  # claimed by nobody: it failed since crawls died
    assert asked == [60.0]


async def test_an_archive_is_fetched_up_to_500_megabytes_and_unpacked_within_ten_minutes(
    docs: DocsLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    class Archives:
        async def download(
            self, url: str, target: Path, deadline: Deadline, *, max_bytes: int
        ) -> None:
            asked.append((deadline.remaining(), max_bytes))
            raise SearchFetchError("gone")

    monkeypatch.setattr(docs.runner, "fetcher", Archives())
    added = await docs.store.add_version("heron", "1", "https://docs.example.org/a.zip", FAST)
    with pytest.raises(SearchFetchError, match="gone"):
        await docs.runner.crawl(added.id)
    ((seconds, most),) = asked
    assert 500 < seconds <= 600
    assert most == 500_000_000


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("crashed", "too much time or memory"),
        ("too_costly", "too much time or memory"),
        ("", "odd"),
    ],
)
async def test_an_archive_that_takes_too_much_to_unpack_says_what_to_do(
    docs: DocsLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str, message: str
) -> None:
    class Unpackers:
        async def run(self, *_: object, deadline: Deadline) -> None:
            raise SearchFetchError("odd", details={"reason": reason})

    (tmp_path / "a.zip").touch()
    monkeypatch.setattr(docs.runner, "unpackers", Unpackers())
    added = await docs.store.add_version("heron", "1", (tmp_path / "a.zip").as_uri(), FAST)
    with pytest.raises(SearchFetchError, match=message):
        await docs.runner.crawl(added.id)


async def test_one_pace_is_kept_for_a_host_and_a_delay(docs: DocsLibrary) -> None:
    first = docs.runner._pace("https://a", 1.0)
    assert docs.runner._pace("https://a", 1.0) is first
    assert docs.runner._pace("https://a", 2.0) is not first
    assert docs.runner._pace("https://b", 1.0) is not first


class Ended(Frontier):
    """A store whose crawl has ended, which notes its last status."""

    def __init__(self, version: SiteVersion) -> None:
        super().__init__(version)
        self.status: tuple[str, str, float | None] | None = None
        self.named = 0
        self.is_whole = True

    async def set_status(
        self, version_id: int, status: str, reason: str, *, refresh_at: float | None = None
    ) -> None:
        self.status = (status, reason, refresh_at)

    async def failures(self, version_id: int, most: int) -> list[Any]:
        return []

    async def finish_generation(self, version_id: int) -> bool:
        return self.is_whole

    async def name_linked_pages(self, version_id: int) -> None:
        self.named += 1


def ended_work(*, of_files: bool = False, beside: int = 0) -> Work:
    work = Work(Result("indexed"))
    work.versions = SimpleNamespace(summary=lambda: "")  # type: ignore[attr-defined]
    work.scope = SimpleNamespace(origin="https://a", folder="/b/", of_files=of_files)  # type: ignore[attr-defined]
    work.source.left_out = SimpleNamespace(below=lambda above: beside)
    return work


@pytest.mark.parametrize(
    ("version", "indexed", "named"),
    [
        (replace(VERSION, page_count=2), 0, 1),
        (replace(VERSION, page_count=2, indexed_at=1.0), 0, 0),
        (replace(VERSION, page_count=2, indexed_at=1.0), 1, 1),
    ],
)
async def test_linked_pages_are_named_after_the_first_crawl_and_after_a_change(
    clock: Clock, version: SiteVersion, indexed: int, named: int
) -> None:
    store = Ended(version)
    one = crawler(store, ended_work(), clock=clock)
    await one._store_end(version, tally(clock, indexed=indexed))
    assert store.named == named


@pytest.mark.parametrize(
    ("pages", "indexed", "due", "of_files", "beside", "reason"),
    [
        (2, 2, None, False, 0, ""),
        (1, 1, None, False, 0, "Only one page was found below https://a/b/. If others"),
        (1, 1, None, False, 7, "Only one page was found below https://a/b/. It links to 7"),
        (1, 1, None, True, 0, ""),
        (100, 100, 5.0, False, 0, "Stopped at 100 pages"),
        (100, 100, None, False, 0, ""),
        (99, 99, 5.0, False, 0, ""),
    ],
)
async def test_a_completed_crawl_says_why_it_has_few_pages(
    clock: Clock,
    pages: int,
    indexed: int,
    due: float | None,
    of_files: bool,
    beside: int,
    reason: str,
) -> None:
    store = Ended(replace(VERSION, page_count=pages))
    store.due = due
    one = crawler(store, ended_work(of_files=of_files, beside=beside), clock=clock)
    await one._store_end(VERSION, tally(clock, indexed=indexed))
    assert store.status is not None
    assert store.status[0] == "completed"
    assert store.status[1].startswith(reason)
    assert bool(store.status[1]) is bool(reason)


async def test_a_crawl_that_ends_without_its_version_or_with_too_few_pages_is_not_completed(
    clock: Clock,
) -> None:
    store = Ended(replace(VERSION, page_count=2))
    store.is_whole = False
    one = crawler(store, ended_work(), clock=clock)
    await one._store_end(replace(VERSION, generation=1), tally(clock))
    assert store.status is not None
    assert store.status[0] == "suspicious"
    store.now, store.status = None, None
    await one._store_end(VERSION, tally(clock))
    assert store.status is None


@pytest.mark.parametrize(
    ("pages", "in_a_row", "status"), [(0, 9, "failed"), (0, 10, "paused"), (1, 0, "paused")]
)
async def test_a_stopped_crawl_goes_on_later_if_it_has_pages_or_its_host_failed(
    clock: Clock, pages: int, in_a_row: int, status: str
) -> None:
    store = Ended(replace(VERSION, page_count=pages))
    counted = tally(clock)
    counted.in_a_row = in_a_row
    await crawler(store, ended_work())._store_stop(VERSION, counted, "why")
    assert store.status == (status, "why", None)


@pytest.mark.parametrize(
    ("reasons", "forbidden", "before", "told"),
    [
        (["HTTP 404"], 0, "", "HTTP 404. Check the URL."),
        (["HTTP 403: a login wall"], 0, "", "HTTP 403: a login wall"),
        (["HTTP 500"], 0, "", "HTTP 500"),
        ([], 1, "", "robots.txt forbids it."),
        ([], 0, "odd", "odd"),
        ([], 0, "", "No page is in scope."),
    ],
)
def test_an_empty_crawl_says_why(
    clock: Clock, reasons: list[str], forbidden: int, before: str, told: str
) -> None:
    counted = tally(clock, forbidden=forbidden)
    counted.reasons.update(reasons)
    assert runner._why_empty(counted, before).startswith(told)
    if "HTTP" in told:
        assert runner._why_empty(counted, before) == told


async def test_addresses_that_need_no_fetch_are_settled_at_once(clock: Clock) -> None:
    settled: list[tuple[str, str]] = []

    class Settling(Frontier):
        async def finish_url(self, task: UrlTask, state: str, *_: object, **__: object) -> None:
            settled.append((task.url.removeprefix(URL), state))

    work = Work(Result("indexed"))
    work.start = f"{URL}?start"
    work.endless = SimpleNamespace(plain=lambda url: url.partition("?")[0])
    work.is_other_version = lambda url: url.endswith("old")  # type: ignore[method-assign]
    work.is_file = lambda url: url.endswith("log")  # type: ignore[method-assign]

    async def allowed(urls: list[str]) -> list[bool]:
        return [not url.endswith("closed") for url in urls]

    work.source.allowed = allowed
    names = ("a", "closed", "old", "log", "a?view", "?start")
    tasks = [UrlTask(number, 1, URL + name) for number, name in enumerate(names)]
    counted = tally(clock)
    admitted = await crawler(Settling(), work)._allowed(tasks, counted)
    assert [task.url.removeprefix(URL) for task in admitted] == ["a", "?start"]
    assert settled == [
        ("closed", "skipped"),
        ("old", "skipped"),
        ("log", "skipped"),
        ("a?view", "alias"),
    ]
    assert counted.results["forbidden"] == 1


@pytest.mark.parametrize(
    ("label", "base_url", "wanted", "browser"),
    [("latest", "", "", "auto"), ("3.1", "", "3.1", "auto"), ("3.1", "https://a/", "3.1", "never")],
)
async def test_a_crawl_wants_the_version_of_its_label_and_a_base_url_no_browser(
    docs: DocsLibrary,
    monkeypatch: pytest.MonkeyPatch,
    label: str,
    base_url: str,
    wanted: str,
    browser: str,
) -> None:
    made: list[tuple[object, object]] = []

    def noted(*values: object, **named: object) -> None:
        made.append((named["wanted"], values[5]))
        raise SearchFetchError("enough")

    monkeypatch.setattr(runner, "PageWork", noted)
    url = "file:///nowhere/" if base_url else URL
    added = await docs.store.add_version("x", label, url, CrawlOptions(base_url=base_url))
    with pytest.raises(SearchFetchError, match="enough"):
        await docs.runner.crawl(added.id)
    assert made == [(wanted, browser)]
