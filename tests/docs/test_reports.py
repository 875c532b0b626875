"""What people and models are told of a site."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from websearch_gateway.docs.models import Owner, SiteVersion, Skipped, UrlFailure
from websearch_gateway.docs.reports import iso_date, listed, statuses
from websearch_gateway.docs.store.docs import this_process
from websearch_gateway.results import DocsSite, DocsSiteStatus

SITE = SiteVersion(1, "gull", "1", "https://gull.example/")


class Noted:
    """A store that has noted what each site leaves out."""

    async def skipped(self, ids: list[int]) -> dict[int, tuple[Skipped, ...]]:
        return {at: tuple(Skipped(f"reason {n}", 9 - n, ()) for n in range(5)) for at in ids}


async def told(site: SiteVersion) -> DocsSite:
    return (await listed(Noted(), [site])).sites[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "age"),
    [
        (59, "59 seconds"),
        (60, "1 minute"),
        (3_599, "59 minutes"),
        (3_600, "1 hour"),
        (86_399, "23 hours"),
        (86_400, "1 day"),
        (200_000, "2 days"),
    ],
)
async def test_an_age_is_told_in_its_largest_unit(
    monkeypatch: pytest.MonkeyPatch, seconds: int, age: str
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000.0 + seconds)
    assert (await told(replace(SITE, indexed_at=1_700_000_000.0))).age == age


async def test_a_list_names_three_reasons_of_what_is_left_out() -> None:
    assert (await told(SITE)).left_out == "9 reason 0; 8 reason 1; 7 reason 2"


class Failing(Noted):
    """A store in which some addresses failed."""

    async def failures(self, version_id: int) -> list[UrlFailure]:
        return [UrlFailure("https://gull.example/x", "HTTP 500", 3)]


async def status(site: SiteVersion) -> DocsSiteStatus:
    return (await statuses(Failing(), [site])).sites[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pages", "known", "progress"), [(0, 0, 0.0), (1, 4, 0.25), (4, 4, 1.0), (6, 4, 1.0)]
)
async def test_the_progress_of_a_crawl_is_the_share_of_its_pages(
    pages: int, known: int, progress: float
) -> None:
    told = await status(replace(SITE, page_count=pages, known=known))
    assert (told.progress, told.known) == (progress, max(pages, known))


@pytest.mark.parametrize(("failed", "count"), [(0, 0), (1, 1)])
async def test_the_addresses_that_failed_are_told(failed: int, count: int) -> None:
    assert len((await status(replace(SITE, failed=failed))).failures) == count


@pytest.mark.parametrize(
    ("owner", "heartbeat", "named", "silence", "reason"),
    [
        (None, None, None, None, "why"),
        (Owner("far", 7, 1.0), 90.0, "far:7", 10.0, "why"),
        (Owner("far", 7, 1.0), None, "far:7", None, "why"),
        (Owner(this_process().machine, 2**22 + 1, 1.0), 90.0, None, None, "The process that"),
    ],
)
async def test_a_status_names_the_living_process_that_crawls(
    monkeypatch: pytest.MonkeyPatch,
    owner: Owner | None,
    heartbeat: float | None,
    named: str | None,
    silence: float | None,
    reason: str,
) -> None:
    monkeypatch.setattr(time, "time", lambda: 100.0)
    told = await status(replace(SITE, owner=owner, heartbeat=heartbeat, reason="why"))
    assert (told.owner, told.heartbeat_seconds) == (named, silence)
    assert told.reason.startswith(reason)


@pytest.mark.parametrize(
    ("seconds", "date"),
    [(None, None), (0.0, "1970-01-01T00:00:00+00:00"), (1e18, None), (float("nan"), None)],
)
def test_a_time_is_told_as_a_date_of_the_calendar(seconds: float | None, date: str | None) -> None:
    assert iso_date(seconds) == date


async def test_a_site_that_was_never_indexed_has_no_age(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 100.0)
    assert (await told(SITE)).age == ""
    assert (await told(replace(SITE, indexed_at=100.0))).age == "0 seconds"
