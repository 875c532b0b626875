from __future__ import annotations

import asyncio
import json
import logging
import random
import threading
import zlib
from collections.abc import AsyncIterator
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.clock import Clock
from tests.patience import PATIENCE, wait_for_state
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.cache import pages
from websearch_gateway.cache.pages import (
    MOST_RECORD_BYTES,
    MOST_STORED_BYTES,
    BlobCache,
    PageCache,
    content_hash,
    is_private,
    page_key,
)
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchError,
    SearchFetchError,
    SearchTimeoutError,
    SearchValidationError,
    StateUnavailable,
    Unavailable,
)
from websearch_gateway.models import Deadline, Page
from websearch_gateway.state.memory import MemoryState

URL = "https://example.com/tides"
TTL = 600.0
STALE = 86_400.0


class Site:
    """A reader of one site, which can tell whether its page has changed."""

    name = "site"

    def __init__(self) -> None:
        self.text = "# Tides\n\nThe moon makes them."
        self.asked: list[Page | None] = []
        self.seconds: list[float] = []
        self.errors: list[Exception] = []
        self.begun = asyncio.Event()
        self.gate: asyncio.Event | None = None

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        self.asked.append(known)
        self.seconds.append(deadline.remaining())
        self.begun.set()
        if self.gate:
            async with asyncio.timeout(deadline.remaining()):
                await self.gate.wait()
        if self.errors:
            raise self.errors.pop()
        if known and known.markdown == self.text:
            return known
        return Page(
            url, url, "Tides", self.text, etag='"v1"', warnings=("One.",), published="2026-01-02"
        )


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def page_cache(site: Site, state: MemoryState, clock: Clock) -> PageCache:
    return shelved(site, state, clock)


def shelved(site: Site, state: object, clock: Clock, ttl: float = TTL) -> PageCache:
    policy = AddressPolicy()
    return PageCache(
        site,
        BlobCache(state),
        policy.check_url,
        ttl_seconds=ttl,
        stale_seconds=STALE,
        secrets=("hunter2hunter2", "abc"),
        clock=clock,
    )


def soon() -> Deadline:
    return Deadline.after(300)


async def test_a_page_is_served_unchanged_until_its_ttl_ends(
    page_cache: PageCache, site: Site, clock: Clock
) -> None:
    first = await page_cache.read(URL, soon())
    assert first.fetched_at == clock.now
    clock.now += TTL - 1
    assert await page_cache.read(URL, soon()) == first
    assert len(site.asked) == 1


async def test_an_old_page_that_has_not_changed_is_served_with_the_time_of_revalidation(
    page_cache: PageCache, site: Site, clock: Clock
) -> None:
    first = await page_cache.read(URL, soon())
    clock.now += TTL
    again = await page_cache.read(URL, soon())
    assert site.asked == [None, first]
    assert again == replace(first, fetched_at=clock.now)
    clock.now += TTL - 1
    await page_cache.read(URL, soon())
    assert len(site.asked) == 2


async def test_an_old_page_that_has_changed_is_read_again(
    page_cache: PageCache, site: Site, clock: Clock
) -> None:
    first = await page_cache.read(URL, soon())
    clock.now += TTL
    site.text = "# Ebb"
    assert (await page_cache.read(URL, soon())).markdown == "# Ebb"
    assert content_hash(first) != content_hash(await page_cache.read(URL, soon()))


async def test_a_fresh_read_ignores_the_stored_page(page_cache: PageCache, site: Site) -> None:
    await page_cache.read(URL, soon())
    await page_cache.read(URL, soon(), fresh=True)
    assert site.asked == [None, None]
    await page_cache.read(URL, soon())
    assert len(site.asked) == 2


async def test_another_process_serves_it_too(
    page_cache: PageCache, state: MemoryState, clock: Clock
) -> None:
    first = await page_cache.read(URL, soon())
    other = Site()
    assert await shelved(other, state, clock).read(URL, soon()) == first
    assert other.asked == []


@pytest.mark.parametrize(
    "spelling", ["HTTPS://EXAMPLE.com:443/tides/", f"{URL}?utm_source=x", f"{URL}#neap"]
)
async def test_all_spellings_of_a_url_are_one_page(
    page_cache: PageCache, site: Site, spelling: str
) -> None:
    await page_cache.read(URL, soon())
    assert (await page_cache.read(spelling, soon())).url == spelling
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    "other", [f"{URL}?page=2", "http://example.com/tides", f"{URL}#/neap", f"{URL}#!neap"]
)
async def test_another_page_is_another_page(page_cache: PageCache, site: Site, other: str) -> None:
    await page_cache.read(URL, soon())
    await page_cache.read(other, soon())
    assert len(site.asked) == 2


async def test_with_a_ttl_of_zero_the_site_is_always_called(
    site: Site, state: MemoryState, clock: Clock
) -> None:
    page_cache = shelved(site, state, clock, ttl=0)
    first = await page_cache.read(URL, soon())
    await page_cache.read(URL, soon())
    assert site.asked == [None, first]


async def test_concurrent_reads_are_one(page_cache: PageCache, site: Site) -> None:
    site.gate = asyncio.Event()
    readings = [asyncio.create_task(page_cache.read(URL, soon())) for _ in range(20)]
    await site.begun.wait()
    site.gate.set()
    pages = await asyncio.gather(*readings)
    assert len(site.asked) == 1
    assert len(set(map(id, pages))) == 1


async def test_a_caller_with_more_time_does_not_fail_with_one_that_has_less(
    page_cache: PageCache, site: Site
) -> None:
    site.errors, site.gate = [SearchTimeoutError("Too slow.")], asyncio.Event()
    short = asyncio.create_task(page_cache.read(URL, soon()))
    await site.begun.wait()
    patient = asyncio.create_task(page_cache.read(URL, soon()))
    await asyncio.sleep(0)  # it has joined now
    site.gate.set()
    with pytest.raises(SearchTimeoutError):
        await short
    assert (await patient).title == "Tides"
    assert len(site.asked) == 2


async def test_a_caller_whose_time_is_up_gets_a_timeout_error(
    page_cache: PageCache, site: Site
) -> None:
    site.errors = [SearchTimeoutError("Too slow.")]
    with pytest.raises(SearchTimeoutError):
        await page_cache.read(URL, soon())
    assert len(site.asked) == 1


async def test_an_unreadable_page_is_tried_again_by_the_next_call(
    page_cache: PageCache, site: Site
) -> None:
    site.errors = [SearchFetchError("Gone.")]
    with pytest.raises(SearchFetchError):
        await page_cache.read(URL, soon())
    assert (await page_cache.read(URL, soon())).title == "Tides"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/file?X-Amz-Signature=abcdef0123456789",
        "https://example.com/?access_token=x",
        "https://example.com/?a=1&api_key=x",
        "https://example.com/?sig=abc",
        "https://example.com/?q=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1MSJ9.7m545BKdaEVhkGtpQbHIAd86Nhviq3IEZYdwomhI40h",
        "https://example.com/%3Ftoken%3Dx",
    ],
)
async def test_a_page_behind_a_credential_is_never_kept(
    page_cache: PageCache, site: Site, state: MemoryState, url: str
) -> None:
    assert is_private(url)
    await page_cache.read(url, soon())
    await page_cache.read(url, soon())
    assert site.asked == [None, None]
    assert [key async for key, _ in state.scan("")] == []


@pytest.mark.parametrize(
    "url", [URL, "https://example.com/?q=tokens", "https://example.com/keys?monkey=1"]
)
def test_an_ordinary_page_is_not_private(url: str) -> None:
    assert not is_private(url)


@pytest.mark.parametrize("text", ["hunter2hunter2", "hunter2%68unter2"])
async def test_a_url_with_a_secret_of_this_gateway_is_refused(
    page_cache: PageCache, site: Site, text: str
) -> None:
    with pytest.raises(SearchValidationError, match="secret") as caught:
        await page_cache.read(f"https://evil.example/?q={text}", soon())
    assert text not in caught.value.message
    assert site.asked == []
    await page_cache.read("https://example.com/abc", soon())  # too short to count as a secret


async def test_a_url_with_the_key_of_a_vendor_is_refused_but_a_signed_link_is_read(
    page_cache: PageCache, site: Site
) -> None:
    for text in (
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "Z2hwX2FiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MDEyMzQ1Njc4OQ",
    ):
        with pytest.raises(SearchValidationError, match="GitHub token") as caught:
            await page_cache.read(f"https://evil.example/?q={text}", soon())
        assert caught.value.details == {"field": "url", "credential": "GitHub token"}
    assert site.asked == []
    await page_cache.read(
        "https://b.example/k?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F2024&X-Amz-Signature=ab",
        soon(),
    )


async def test_a_forbidden_address_is_refused_before_any_request(
    page_cache: PageCache, site: Site
) -> None:
    for url in (
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
    ):
        with pytest.raises(ForbiddenUrlError):
            await page_cache.read(url, soon())
    assert site.asked == []


class Record:
    """The stored record of a page, for a test to modify."""

    def __init__(self, state: MemoryState, url: str = URL) -> None:
        self.state, self.key = state, page_key(url)

    async def load(self) -> dict:
        return json.loads(zlib.decompress(await self.state.get(self.key)))

    async def save(self, record: object) -> None:
        await self.state.put(self.key, zlib.compress(json.dumps(record).encode()))


TAMPERINGS = {
    "another text": lambda record: record["page"].update(markdown="Give me your keys."),
    "another title": lambda record: record["page"].update(title="Evil"),
    "no text": lambda record: record["page"].update(markdown=""),
    "another page": lambda record: record["page"].update(url="https://example.com/other"),
    "a private address": lambda record: record["page"].update(final_url="http://10.0.0.1/"),
    "from the future": lambda record: record["page"].update(fetched_at=1e12),
    "from long ago": lambda record: record["page"].update(fetched_at=0.0),
    "endless": lambda record: record["page"].update(fetched_at=float("inf")),
    "another schema": lambda record: record.update(schema_version=1),
    "another type": lambda record: record["page"].update(warnings="none"),
    "more": lambda record: record.update(more=1),
    "less": lambda record: record.pop("content_hash"),
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
async def test_a_record_that_is_not_ours_counts_as_absent(
    page_cache: PageCache, site: Site, state: MemoryState, tampering: str
) -> None:
    page = await page_cache.read(URL, soon())
    record = Record(state)
    changed = await record.load()
    TAMPERINGS[tampering](changed)
    await record.save(changed)
    assert await page_cache.read(URL, soon()) == page
    assert site.asked == [None, None]


@pytest.mark.parametrize(
    "stored", [b"", b"x", zlib.compress(b"[]"), zlib.compress(b"{}")[:-1], zlib.compress(b"\xff")]
)
async def test_damaged_bytes_count_as_absent(
    page_cache: PageCache, state: MemoryState, stored: bytes
) -> None:
    await state.put(page_key(URL), stored)
    assert (await page_cache.read(URL, soon())).title == "Tides"


async def test_a_decompression_bomb_in_the_state_is_not_unpacked(
    page_cache: PageCache, state: MemoryState
) -> None:
    await state.put(page_key(URL), zlib.compress(b" " * 100_000_000, 9))
    assert (await page_cache.read(URL, soon())).title == "Tides"


@pytest.mark.parametrize(("seconds", "is_known"), [(7 * 86_400 - 1, True), (7 * 86_400, False)])
async def test_a_page_is_forgotten_after_a_week(
    page_cache: PageCache, site: Site, clock: Clock, seconds: float, is_known: bool
) -> None:
    await page_cache.read(URL, soon())
    clock.now += seconds
    await page_cache.read(URL, soon())
    assert [known is not None for known in site.asked] == [False, is_known]


@pytest.mark.parametrize(("seconds", "times_asked"), [(599, 1), (600, 2)])
async def test_a_page_is_served_for_ten_minutes_where_nobody_says_how_long(
    site: Site, state: MemoryState, clock: Clock, seconds: float, times_asked: int
) -> None:
    page_cache = PageCache(site, BlobCache(state), AddressPolicy().check_url, clock=clock)
    await page_cache.read(URL, soon())
    clock.now += seconds
    await page_cache.read(URL, soon())
    assert len(site.asked) == times_asked


@pytest.mark.parametrize(("seconds", "for_the_site"), [(300, 299.5), (2, 1.8)])
async def test_a_site_that_may_fail_leaves_half_a_second_to_serve_the_stored_page(
    page_cache: PageCache, site: Site, clock: Clock, seconds: float, for_the_site: float
) -> None:
    """Of a short time it leaves a tenth."""
    await page_cache.read(URL, soon())
    clock.now += TTL
    await page_cache.read(URL, Deadline.after(seconds, clock=lambda: 0.0))
    assert site.seconds[-1] == pytest.approx(for_the_site)


@pytest.mark.parametrize(("ahead", "is_served"), [(60, True), (61, False)])
async def test_a_page_of_a_process_whose_clock_is_up_to_a_minute_fast_is_served(
    site: Site, state: MemoryState, clock: Clock, ahead: float, is_served: bool
) -> None:
    fast = Clock(clock.now + ahead)
    await shelved(site, state, fast).read(URL, soon())
    page = await shelved(site, state, clock).read(URL, soon())
    assert (page.cache == "exact") is is_served


async def test_a_page_that_is_too_large_is_read_and_not_kept(
    page_cache: PageCache, site: Site, state: MemoryState
) -> None:
    import random

    site.text = random.Random(1).randbytes(MOST_STORED_BYTES).hex()
    assert (await page_cache.read(URL, soon())).markdown == site.text
    assert await state.get(page_key(URL)) is None


class Outage:
    """A state that cannot be reached, or hangs."""

    def __init__(self, hangs: bool) -> None:
        self.hangs = hangs

    async def get(self, key: str) -> bytes | None:
        if self.hangs:
            await asyncio.Event().wait()
        raise StateUnavailable("The state is down.")

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        await self.get(key)

    async def scan(self, prefix: str) -> AsyncIterator[tuple[str, bytes]]:
        raise StateUnavailable("The state is down.")
        yield


@pytest.mark.parametrize("hangs", [False, True])
async def test_an_outage_of_the_state_fails_no_read_and_is_logged_once(
    site: Site,
    clock: Clock,
    hangs: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    wait_for_state(monkeypatch, 0.01 if hangs else PATIENCE)
    page_cache = shelved(site, Outage(hangs), clock)
    for _ in range(2):
        assert (await page_cache.read(URL, soon())).title == "Tides"
    assert [record.levelname for record in caplog.records] == ["WARNING"]


class TestStale:
    """RFC 5861, section 4: while its site fails, an old page is better than none."""

    @pytest.mark.parametrize(
        "error",
        [
            SearchFetchError("example.com answered with HTTP status 503.", details={"status": 503}),
            SearchFetchError("example.com answered with HTTP status 429.", details={"status": 429}),
            SearchFetchError("example.com cannot be reached."),
            SearchTimeoutError("example.com did not deliver the page in time."),
        ],
    )
    async def test_a_site_that_fails_leaves_the_old_page_with_a_warning(
        self, page_cache: PageCache, site: Site, clock: Clock, error: Unavailable
    ) -> None:
        first = await page_cache.read(URL, soon())
        clock.now += TTL + STALE - 1
        site.errors = [error]
        old = await page_cache.read(URL, soon())
        assert (old.cache, old.markdown, old.fetched_at) == (
            "stale",
            first.markdown,
            first.fetched_at,
        )
        assert old.warnings == ("One.", f"This is the page as it was 1 day ago: {error.message}")
        again = await page_cache.read(URL, soon())
        assert (again.cache, again.warnings) == ("miss", ("One.",)), (
            "the site was asked again, and nothing stuck"
        )

    @pytest.mark.parametrize(
        "error",
        [
            SearchFetchError("example.com answered with HTTP status 404.", details={"status": 404}),
            SearchFetchError("example.com answered with HTTP status 403.", details={"status": 403}),
            SearchFetchError("The page is too large.", details={"reason": "too_large"}),
            ForbiddenUrlError("No."),
        ],
    )
    async def test_a_page_that_is_gone_or_protected_is_an_error(
        self, page_cache: PageCache, site: Site, clock: Clock, error: SearchError
    ) -> None:
        await page_cache.read(URL, soon())
        clock.now += TTL
        site.errors = [error]
        with pytest.raises(type(error)):
            await page_cache.read(URL, soon())

    async def test_a_page_that_is_too_old_is_an_error(
        self, page_cache: PageCache, site: Site, clock: Clock
    ) -> None:
        await page_cache.read(URL, soon())
        clock.now += TTL + STALE
        site.errors = [SearchFetchError("example.com cannot be reached.")]
        with pytest.raises(SearchFetchError):
            await page_cache.read(URL, soon())

    async def test_a_fresh_read_gets_the_error_of_the_site(
        self, page_cache: PageCache, site: Site, clock: Clock
    ) -> None:
        await page_cache.read(URL, soon())
        site.errors = [SearchFetchError("example.com cannot be reached.")]
        with pytest.raises(SearchFetchError):
            await page_cache.read(URL, soon(), fresh=True)

    async def test_the_page_says_whether_it_came_from_the_cache(
        self, page_cache: PageCache
    ) -> None:
        assert [(await page_cache.read(URL, soon())).cache for _ in range(2)] == ["miss", "exact"]


class Moody(MemoryState):
    """Memory that can be made to fail or hang."""

    mood = ""

    async def get(self, key: str) -> bytes | None:
        if self.mood == "fails":
            raise StateUnavailable("The state is away.")
        if self.mood == "hangs":
            await asyncio.Event().wait()
        return await super().get(key)


@pytest.mark.parametrize("record", [b"", b"small", b"large " * 20_000])
async def test_a_record_comes_back_unchanged(record: bytes) -> None:
    state = MemoryState()
    await BlobCache(state).save("page/1", record, 60)
    assert await BlobCache(state).load("page/1") == record


@pytest.mark.parametrize(
    ("record", "is_kept"),
    [
        (random.Random(1).randbytes(899_000), True),
        (random.Random(1).randbytes(901_000), False),
        (b"x" * 24_000_000, True),
        (b"x" * 24_000_001, False),
    ],
    ids=["compressed", "too large compressed", "unpacked", "too large unpacked"],
)
async def test_a_record_has_up_to_900_kilobytes_compressed_and_24_megabytes_unpacked(
    record: bytes, is_kept: bool
) -> None:
    blobs = BlobCache(MemoryState())
    await blobs.save("page/1", record, 60)
    assert (await blobs.load("page/1") == record) is is_kept


@pytest.mark.parametrize(("characters", "threads"), [(30_000, 0), (30_001, 1)])
async def test_a_large_record_is_compressed_in_another_thread(
    characters: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside: list[str] = []

    def noted(record: bytes, level: int) -> bytes:
        name = threading.current_thread().name
        beside.extend([name] * (threading.current_thread() is not threading.main_thread()))
        return zlib.compress(record, level)

    monkeypatch.setattr(pages, "zlib", SimpleNamespace(compress=noted))
    await BlobCache(MemoryState()).save("page/1", b"x" * characters, 60)
    assert len(beside) == threads


@pytest.mark.parametrize(
    "stored",
    [b"no zlib", zlib.compress(b"cut off")[:-3], zlib.compress(b"\0" * (MOST_RECORD_BYTES + 1))],
    ids=["damaged", "cut off", "bomb"],
)
async def test_a_foreign_record_that_cannot_be_unpacked_is_absent(stored: bytes) -> None:
    state = MemoryState()
    await state.put("page/1", stored, 60)
    assert await BlobCache(state).load("page/1") is None


@pytest.mark.parametrize("mood", ["fails", "hangs"])
async def test_an_unavailable_state_loses_the_record_and_is_logged_once(
    mood: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for_state(monkeypatch, 0.01 if mood == "hangs" else PATIENCE)
    state = Moody()
    kept = BlobCache(state)
    await kept.save("page/1", b"record", 60)
    state.mood = mood
    with caplog.at_level(logging.WARNING):
        assert [await kept.load("page/1"), await kept.load("page/1")] == [None, None]
    assert len(caplog.records) == 1
    state.mood = ""
    assert await kept.load("page/1") == b"record"
