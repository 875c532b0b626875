"""What every crawl begins with, how long an id is, and how long a pattern of a caller may take."""

from __future__ import annotations

from typing import Any

import pytest

from tests.docs.conftest import leased, version
from websearch_gateway.docs.models import (
    ChunkDraft,
    CrawlOptions,
    Owner,
    PageDraft,
    SiteVersion,
    section_ids,
    select,
)
from websearch_gateway.docs.store.docs import SqlDocs, this_process
from websearch_gateway.errors import SearchFetchError, SearchTimeoutError, SearchValidationError
from websearch_gateway.models import Deadline


def test_a_crawl_reads_twenty_thousand_pages_four_each_second_unless_it_is_told_otherwise() -> None:
    options = CrawlOptions()
    assert (options.max_pages, options.delay) == (20_000, 0.25)


def test_a_section_id_has_sixteen_hexadecimal_digits() -> None:
    page = PageDraft("https://a.example/", "Tides", "Words.", (ChunkDraft(0, 6),))
    assert [len(id_) for id_ in section_ids(page)] == [16]


class NotingWorkers:
    """Notes how long a function may wait and run, and answers with one result or error."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.waiting = self.running = 0.0

    async def run(
        self, function: object, *arguments: object, deadline: Deadline, seconds: float = 0.0
    ) -> Any:
        self.waiting, self.running = deadline.remaining(), seconds
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


SITES = (SiteVersion(1, "heron", "1", "https://a.example/"),)


async def test_a_pattern_runs_for_two_seconds_after_waiting_for_a_worker_for_fifteen() -> None:
    workers = NotingWorkers([0])
    assert await select(SITES, None, "(heron)", None, workers) == list(SITES)
    assert workers.running == 2.0
    assert 10 < workers.waiting <= 15


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (SearchTimeoutError("busy"), SearchTimeoutError),
        (SearchTimeoutError("slow", details={"reason": "too_costly"}), SearchValidationError),
        (SearchFetchError("crashed"), SearchValidationError),
    ],
)
async def test_only_a_worker_that_was_never_free_is_no_fault_of_the_pattern(
    error: Exception, raised: type[Exception]
) -> None:
    with pytest.raises(raised):
        await select(SITES, None, "(heron)", None, NotingWorkers(error))


@pytest.mark.parametrize(
    ("site_id", "sites_filter", "label", "ids"),
    [
        ("heron", None, None, [1, 2]),
        ("2", None, None, [2]),
        (None, None, "2", [2, 3]),
        (None, "^her", None, [1, 2]),
        ("heron", None, "2", [2]),
        (None, None, None, [1, 2, 3]),
    ],
)
async def test_sites_meet_every_condition_that_is_given(
    site_id: str | None, sites_filter: str | None, label: str | None, ids: list[int]
) -> None:
    sites = [
        SiteVersion(1, "heron", "1", "https://a.example/1/"),
        SiteVersion(2, "heron", "2", "https://a.example/2/"),
        SiteVersion(3, "gull", "2", "https://b.example/2/"),
    ]
    chosen = await select(sites, site_id, sites_filter, label, NotingWorkers([]))
    assert [site.id for site in chosen] == ids


@pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
async def test_the_six_addresses_leased_first_are_suspect_after_their_owner_died(
    docs: SqlDocs,
) -> None:
    id_ = await version(docs)
    await docs.add_urls(id_, {f"https://docs.example.org/3/{number}": 0 for number in range(9)})
    here = this_process().machine
    # No process has these numbers.
    assert await docs.claim(id_, Owner(here, 2**22 + 1, 1.0), 60)
    assert len(await docs.lease_urls(id_, 9, 2e9)) == 9
    assert await docs.claim(id_, Owner(here, 2**22 + 2, 1.0), 60)
    for _ in range(6):
        (suspect,) = await docs.lease_urls(id_, 9, 2e9)
        await docs.finish_url(suspect, "done")
    assert len(await docs.lease_urls(id_, 9, 2e9)) == 3


@pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
async def test_an_address_at_which_two_owners_in_a_row_died_fails_its_version(
    docs: SqlDocs,
) -> None:
    id_ = await version(docs)
    here = this_process().machine
    for number, is_granted in ((1, True), (2, True), (3, False)):
        assert await docs.claim(id_, Owner(here, 2**22 + number, 1.0), 60) is is_granted
        if is_granted:
            await leased(docs, id_, "https://docs.example.org/3/")
