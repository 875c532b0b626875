"""A page has a time limit, and a site that fails gets a second attempt."""

from __future__ import annotations

import asyncio

import pytest

from websearch_gateway.base.net.requests import Retry, RetryBudget
from websearch_gateway.errors import SearchError, SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline, Page
from websearch_gateway.upstream.bounded_reader import BoundedReader

URL = "https://example.com/"
PAGE = Page(URL, URL, "T", "text")
FAILS = SearchFetchError(
    "example.com answered with HTTP status 503.", retryable=True, details={"status": 503}
)
GONE = SearchFetchError("example.com answered with HTTP status 404.", details={"status": 404})


class Site:
    """A site that raises its errors in turn, then answers; or hangs until its deadline."""

    name = "site"

    def __init__(self, *errors: SearchError, hangs: bool = False) -> None:
        self.errors = list(errors)
        self.hangs = hangs
        self.reads = 0

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        self.reads += 1
        if self.hangs:
            try:
                async with asyncio.timeout(deadline.remaining()):
                    await asyncio.Event().wait()
            except TimeoutError:
                raise SearchTimeoutError("example.com did not deliver the page in time.") from None
        if self.errors:
            raise self.errors.pop(0)
        return PAGE


def at_once() -> Retry:
    async def no_wait(_: float) -> None:
        """Wait for nothing."""

    return Retry(budget=RetryBudget(), sleep=no_wait)


async def test_a_site_that_fails_once_is_read_at_the_second_attempt() -> None:
    site = Site(FAILS)
    assert await BoundedReader(site, 20, at_once()).read(URL, Deadline.after(60)) == PAGE
    assert site.reads == 2


@pytest.mark.parametrize(("errors", "reads"), [((FAILS, FAILS), 2), ((GONE, FAILS), 1)])
async def test_there_is_one_more_attempt_and_only_for_failures_of_the_site(
    errors: tuple[SearchError, ...], reads: int
) -> None:
    site = Site(*errors)
    with pytest.raises(SearchFetchError):
        await BoundedReader(site, 20, at_once()).read(URL, Deadline.after(60))
    assert site.reads == reads


async def test_the_error_of_a_page_that_used_up_its_time_names_the_setting() -> None:
    with pytest.raises(SearchTimeoutError, match=r"more than 0\.02 s\. REQUEST_TIMEOUT_MS"):
        await BoundedReader(Site(hangs=True), 0.02).read(URL, Deadline.after(60))


async def test_a_call_that_ends_first_is_not_blamed_on_the_setting() -> None:
    with pytest.raises(SearchTimeoutError, match="did not deliver"):
        await BoundedReader(Site(hangs=True), 60).read(URL, Deadline.after(0.02))
