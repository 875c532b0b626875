"""robots.txt over real sockets: fetched once, cached for a while, and applied to every page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.clock import Clock
from tests.patience import PATIENCE
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import Fetcher
from websearch_gateway.base.workers.pool import SMALL_CHARS
from websearch_gateway.errors import ForbiddenUrlError, SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline
from websearch_gateway.pages.reader_table import ReaderTable
from websearch_gateway.pages.robots_fetcher import (
    RobotsFetcher,
)
from websearch_gateway.ports import Workers

CLOSED = b"User-agent: *\nDisallow: /private\n"


def soon() -> Deadline:
    return Deadline.after(300)


class NotedWorkers:
    """Workers that record the calls that they run, with the size of the work."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self.asked: list[tuple[str, bool]] = []

    async def run(self, function: Any, *arguments: Any, **options: Any) -> Any:
        self.asked.append((function.__name__, options.get("size", SMALL_CHARS + 1) > SMALL_CHARS))
        return await self._workers.run(function, *arguments, **options)


@dataclass
class Polite:
    """A site with a robots.txt, and the fetcher that reads it."""

    api: Any
    clock: Clock
    fetcher: RobotsFetcher
    table: ReaderTable
    workers: NotedWorkers

    async def read(self, path: str) -> str:
        return (await self.table.read(self.api.url + path, soon())).markdown

    async def refusal(self, path: str) -> str:
        with pytest.raises(SearchFetchError) as caught:
            await self.fetcher.fetch(self.api.url + path, soon())
        assert caught.value.details == {"reason": "robots"}
        return caught.value.message


@pytest.fixture
async def polite(api: Any, workers: Workers) -> AsyncIterator[Polite]:
    clock = Clock(1_000.0)
    for path in ("/open", "/private/x", "/private"):
        api.says(path, b"# Text", content_type="text/markdown")
    async with Fetcher(AddressPolicy([api.pair])) as fetcher:
        noted = NotedWorkers(workers)
        robots = RobotsFetcher(fetcher, noted, clock=clock)
        yield Polite(api, clock, robots, ReaderTable.build(fetcher, workers, pages=robots), noted)


async def test_a_forbidden_page_is_not_fetched_and_the_message_is_always_the_same(
    polite: Polite,
) -> None:
    polite.api.says("/robots.txt", CLOSED, content_type="text/plain")
    message = await polite.refusal("/private/x")
    assert message == "The robots.txt of 127.0.0.1 does not allow programs to read this page."
    assert await polite.refusal("/private/x") == message
    assert await polite.read("/open") == "# Text"
    assert polite.api.seen == ["/robots.txt", "/open"]


async def test_without_a_robots_txt_every_page_is_allowed(polite: Polite) -> None:
    """RFC 9309, 2.3.1.3: any status 4xx."""
    for status in (404, 401, 403, 410):
        polite.clock.now += 3_600
        polite.api.says("/robots.txt", CLOSED, status=status)
        assert await polite.read("/private/x") == "# Text"


async def test_while_a_robots_txt_cannot_be_fetched_no_page_is_allowed(polite: Polite) -> None:
    """RFC 9309, 2.3.1.4: any status 5xx, or no answer."""
    polite.api.says("/robots.txt", b"", status=503)
    message = await polite.refusal("/open")
    assert (
        message
        == "The robots.txt of 127.0.0.1 cannot be fetched: 127.0.0.1 answered with HTTP status 503."
    )
    polite.clock.now += 60 - 1
    polite.api.says("/robots.txt", CLOSED)
    assert await polite.refusal("/open") == message
    polite.clock.now += 1
    assert await polite.read("/open") == "# Text"
    assert polite.api.seen == ["/robots.txt", "/robots.txt", "/open"]


async def test_the_pages_of_an_unreachable_server_are_not_allowed(polite: Polite) -> None:
    async with Fetcher(AddressPolicy(["127.0.0.1:9"])) as fetcher:
        with pytest.raises(
            SearchFetchError, match=r"robots\.txt of 127\.0\.0\.1 cannot be fetched"
        ):
            await RobotsFetcher(fetcher, polite.workers).fetch("http://127.0.0.1:9/", soon())


async def test_it_is_fetched_once_for_many_pages_and_again_after_an_hour(polite: Polite) -> None:
    polite.api.says("/robots.txt", CLOSED)
    await asyncio.gather(*(polite.read("/open") for _ in range(10)))
    polite.clock.now += 3_600 - 1
    await polite.read("/open")
    assert polite.api.seen.count("/robots.txt") == 1
    polite.clock.now += 1
    await polite.read("/open")
    assert polite.api.seen.count("/robots.txt") == 2


async def test_only_few_rules_are_applied_in_this_process(polite: Polite) -> None:
    polite.api.says("/robots.txt", CLOSED)
    await polite.refusal("/private")
    assert polite.workers.asked == [("rules_for", True), ("may_read", False)]


async def test_many_rules_are_applied_by_a_worker(polite: Polite) -> None:
    polite.api.says("/robots.txt", CLOSED + b"Disallow: /*x\n" * 10_000)
    await polite.fetcher.fetch(f"{polite.api.url}/open", soon())
    await polite.refusal("/private")
    assert polite.workers.asked == [("rules_for", True), ("may_read", True), ("may_read", True)]


async def test_a_timeout_of_our_own_is_not_cached_as_a_failure(polite: Polite) -> None:
    polite.api.hangs("/robots.txt")
    with pytest.raises(SearchTimeoutError):
        await polite.fetcher.fetch(f"{polite.api.url}/open", Deadline.after(0.2))
    polite.api.silent.clear()
    assert await polite.read("/open") == "# Text"


async def test_the_target_of_a_redirect_must_be_allowed_too(polite: Polite) -> None:
    polite.api.says("/robots.txt", CLOSED)
    polite.api.says("/moved", b"", status=302, location="/private/x")
    await polite.refusal("/moved")


async def test_its_own_redirects_are_followed_except_to_a_private_address(polite: Polite) -> None:
    polite.api.says("/robots.txt", b"", status=301, location="/robots2.txt")
    polite.api.says("/robots2.txt", CLOSED)
    await polite.refusal("/private/x")
    polite.clock.now += 3_600
    polite.api.says("/robots.txt", b"", status=301, location="http://127.0.0.1:1/")
    with pytest.raises(ForbiddenUrlError):
        await polite.fetcher.fetch(f"{polite.api.url}/open", soon())


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/x", "ftp://example.com/", "http://[::1/x", "http://a@127.0.0.1/", ""]
)
async def test_a_forbidden_address_is_refused_before_its_robots_txt_is_fetched(
    polite: Polite, url: str
) -> None:
    with pytest.raises(ForbiddenUrlError):
        await polite.fetcher.fetch(url, soon())
    assert polite.api.seen == []


async def test_only_its_first_bytes_count(polite: Polite) -> None:
    """RFC 9309, 2.5: at least 500 kibibytes. MAX_RULES"""
    last = b"\nDisallow: /last\n"
    filled = CLOSED + b"#" * (512_000 - len(CLOSED) - len(last)) + last
    polite.api.says("/robots.txt", filled + b"Disallow: /open\n")
    assert await polite.read("/open") == "# Text"
    await polite.refusal("/last")
    await polite.refusal("/private/x")


@pytest.mark.parametrize(
    "rules",
    [
        b"\xff\xfe\x00" * 1000,
        b"User-agent: *\nDisallow: /" + b"*a" * 200_000,
        b"User-agent: *\n" + (b"Disallow: /" + b"*a" * 40 + b"$$\n") * 5_000,
        b"".join(b"User-agent: %d\n" % number for number in range(15_000)) + b"Allow: /\n" * 25_000,
    ],
    ids=["bytes", "stars", "rules", "names"],
)
async def test_hostile_rules_are_applied_in_time(polite: Polite, rules: bytes) -> None:
    polite.api.says("/robots.txt", rules)
    polite.api.says("/" + "a" * 5_000, b"# Text", content_type="text/markdown")
    assert await asyncio.wait_for(polite.read("/" + "a" * 5_000), PATIENCE) == "# Text"
