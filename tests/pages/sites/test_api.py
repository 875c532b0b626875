"""The reader does not call an API during a pause that it asks for."""

from __future__ import annotations

import time
from typing import Any

import pytest

from websearch_gateway.models import Deadline
from websearch_gateway.pages.reader_table import ReaderTable
from websearch_gateway.pages.sites.api import Source
from websearch_gateway.pages.sites.github import GitHubDiscussions, GitHubFiles, GitHubIssues
from websearch_gateway.pages.sites.threads import StackExchange
from websearch_gateway.pages.sites.wikipedia import ANONYMOUS, WITH_CONTACT, Wikipedia
from websearch_gateway.pages.sites.youtube import YouTube

BUSY: dict[type[Source], tuple[int, ...]] = {
    GitHubDiscussions: (403, 429),
    GitHubFiles: (403, 429),
    GitHubIssues: (403, 429),
    StackExchange: (400, 403, 429, 502, 503),
    YouTube: (429,),
}
"""The statuses of those APIs that differ from most."""


def soon() -> Deadline:
    return Deadline.after(300)


async def test_a_busy_api_is_not_called_for_its_retry_after(bench: Any, case: Any) -> None:
    reader, first = bench.reader(case), next(iter(case.replies))
    bench.api.says(first, b"", status=429, retry_after="90")
    assert (await reader.read(case.url, soon())).markdown == "The plain page."
    bench.play(case)
    bench.clock.now += 89
    resting = await reader.read(case.url, soon())
    assert "pause of 1 seconds" in resting.warnings[-1]
    assert bench.api.seen == [first]
    bench.clock.now += 1
    assert (await reader.read(case.url, soon())).title == case.title


async def test_every_busy_status_without_a_retry_after_means_a_pause_of_a_minute(
    bench: Any, case: Any
) -> None:
    first = next(iter(case.replies))
    for status in BUSY.get(type(bench.source(case)), (403, 429, 503)):
        reader = bench.reader(case)
        bench.api.says(first, b"", status=status)
        await reader.read(case.url, soon())
        seen = len(bench.api.seen)
        bench.clock.now += 59
        await reader.read(case.url, soon())
        assert len(bench.api.seen) == seen, status
        bench.clock.now += 1
        await reader.read(case.url, soon())
        assert len(bench.api.seen) == seen + 1, status


async def test_a_missing_page_causes_no_pause(bench: Any, case: Any) -> None:
    reader = bench.reader(case)
    await reader.read(case.url, soon())
    bench.play(case)
    bench.clock.now += (bench.source(case).pace or (0, 0))[1]
    assert (await reader.read(case.url, soon())).title == case.title


async def test_an_exhausted_quota_pauses_the_api_before_it_refuses(bench: Any, cases: Any) -> None:
    """GitHub's promise: `x-ratelimit-reset` is the second at which requests are allowed again."""
    case = cases["github_readme"]
    reader, (path, name) = bench.reader(case), next(iter(case.replies.items()))
    body = bench.recorded(name)
    bench.api.says(
        path, body, x_ratelimit_remaining="0", x_ratelimit_reset=str(int(bench.clock.now) + 30)
    )
    assert (await reader.read(case.url, soon())).title == case.title
    assert (await reader.read(case.url, soon())).title == "Plain"
    bench.clock.now += 30
    assert (await reader.read(case.url, soon())).title == case.title


@pytest.mark.parametrize("name", ["github_issues", "github_readme", "github_discussions"])
async def test_a_quota_that_others_exhausted_pauses_the_api_until_it_resets(
    bench: Any, cases: Any, name: str
) -> None:
    """GitHub's promise: its 403 for the primary limit has no `Retry-After`, only `x-ratelimit-reset`."""
    case = cases[name]
    reader, first = bench.reader(case), next(iter(case.replies))
    limits = {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(int(time.time()) + 1_800)}
    bench.api.says(first, b"{}", status=403, **limits)
    assert (await reader.read(case.url, soon())).title == "Plain"
    bench.play(case)
    bench.clock.now += 1_700
    assert "a pause of" in (await reader.read(case.url, soon())).warnings[-1]
    bench.clock.now += 100
    assert (await reader.read(case.url, soon())).title == case.title


@pytest.mark.parametrize(
    ("told", "seconds"),
    [('"backoff": 10', 10.0), ('"quota_remaining": 0', 86_400.0)],
    ids=["backoff", "quota"],
)
async def test_stack_exchange_is_paused_by_the_backoff_in_its_reply(
    bench: Any, cases: Any, told: str, seconds: float
) -> None:
    case = cases["stackexchange"]
    answers = list(case.replies)[1]
    bench.play(case)
    body = bench.recorded(case.replies[answers]).replace(b'"backoff": 10', told.encode())
    bench.api.says(answers, body)
    reader = bench.reader(case)
    assert (await reader.read(case.url, soon())).title == case.title
    bench.clock.now += seconds - 1
    assert (await reader.read(case.url, soon())).title == "Plain"
    bench.clock.now += 1
    assert (await reader.read(case.url, soon())).title == case.title


async def test_arxiv_is_called_at_most_once_in_three_seconds(bench: Any, cases: Any) -> None:
    """arXiv's terms of use for its API."""
    case = cases["arxiv"]
    bench.play(case)
    reader = bench.reader(case)
    for moment, title in [(0, case.title), (2, "Plain"), (1, case.title)]:
        bench.clock.now += moment
        assert (await reader.read(case.url, soon())).title == title


@pytest.mark.parametrize(("pace", "documents"), [(ANONYMOUS, 10), (WITH_CONTACT, 200)])
async def test_wikipedia_is_called_at_the_rate_for_user_agents_with_or_without_a_contact(
    bench: Any, cases: Any, pace: tuple[int, float], documents: int
) -> None:
    """Wikimedia's limits of 2026 for a user agent without and with a contact."""
    case = cases["wikipedia"]
    bench.play(case)
    reader = bench.reader_of(Wikipedia(api=bench.api.url, pace=pace))
    for _ in range(documents):
        assert (await reader.read(case.url, soon())).title == case.title
    bench.clock.now += 59
    assert (await reader.read(case.url, soon())).warnings[-1].endswith("pause of 1 seconds.")
    bench.clock.now += 1
    assert (await reader.read(case.url, soon())).title == case.title
    assert len(bench.api.seen) == documents + 1


@pytest.mark.parametrize("tells_contact", [True, False])
async def test_the_table_sets_the_rate_of_wikipedia_by_the_contact(
    bench: Any, cases: Any, tells_contact: bool
) -> None:
    table = ReaderTable.build(bench.fetcher, bench.workers, tells_contact=tells_contact)
    reader: Any = table.reader_for(cases["wikipedia"].url)
    assert reader.source.pace == (WITH_CONTACT if tells_contact else ANONYMOUS)


async def test_no_pause_is_longer_than_a_day(bench: Any, cases: Any) -> None:
    case = cases["wikipedia"]
    reader, first = bench.reader(case), next(iter(case.replies))
    bench.api.says(first, b"", status=429, retry_after="200000")
    await reader.read(case.url, soon())
    bench.play(case)
    bench.clock.now += 86_399
    assert "pause of 1 seconds" in (await reader.read(case.url, soon())).warnings[-1]
    bench.clock.now += 1
    assert (await reader.read(case.url, soon())).title == case.title
