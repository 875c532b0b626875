"""The pace of one host, measured by a clock that only sleeping moves."""

import asyncio
from itertools import pairwise

import pytest

from websearch_gateway.docs_index.crawl.politeness import MAX_CRAWL_DELAY, HostPace, RobotsTxt
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.net.fetch import Fetched
from websearch_gateway.text.robots_txt import crawl_delay, may_read_each

HOST = "https://docs.example.org"


class Inline:
    """Runs functions where they are called."""

    async def run(self, function, *arguments, deadline):
        return function(*arguments)


class Server:
    """Answers every request with `reply`, and notes when it was asked."""

    def __init__(self, clock, reply):
        self.clock = clock
        self.reply = reply
        self.times = []

    async def fetch(self, url, deadline, **_):
        self.times.append(self.clock.now)
        if isinstance(self.reply, int):
            raise SearchFetchError("refused", details={"status": self.reply})
        return Fetched(url, url, 200, {}, self.reply.encode(), "text/plain", "utf-8")


@pytest.fixture
def pace(docs, clock):
    async def sleep(seconds):
        clock.now += seconds
        await asyncio.sleep(0)

    return HostPace(docs, HOST, 0.25, clock=clock, sleep=sleep)


async def asked(pace, clock, count):
    times = []
    for _ in range(count):
        async with pace.turn():
            times.append(clock.now)
    return [later - earlier for earlier, later in pairwise(times)]


async def test_requests_keep_their_distance(pace, clock):
    assert min(await asked(pace, clock, 5)) >= 0.249


async def test_a_crawl_delay_is_kept_up_to_half_a_minute(pace, clock):
    pace.ask_delay(5)
    assert min(await asked(pace, clock, 3)) >= 4.999
    pace.ask_delay(86_400)
    assert pace.interval == MAX_CRAWL_DELAY


async def test_a_host_that_asks_for_a_rest_gets_it_and_is_asked_half_as_often_then(pace, clock):
    await asked(pace, clock, 1)
    start = clock.now
    await pace.pushed_back("429", 600)
    await asked(pace, clock, 1)
    assert clock.now - start >= 600
    assert pace.interval == 0.5
    for _ in range(20):
        pace.succeeded()
    assert pace.interval == 0.25


@pytest.mark.parametrize(("reply", "is_open"), [(404, True), (403, True), ("", True), (503, False), (429, False)])
async def test_a_robots_txt_that_is_missing_opens_and_one_that_fails_closes(docs, clock, pace, reply, is_open):
    """RFC 9309, section 2.3.1."""
    robots = RobotsTxt(docs, Server(clock, reply), Inline(), pace, clock=clock)
    if is_open:
        await robots.open()
        assert await robots.allowed([f"{HOST}/a"]) == [True]
    else:
        with pytest.raises(SearchFetchError, match=r"robots\.txt"):
            await robots.open()


async def test_a_robots_txt_is_asked_for_once_a_day(docs, clock, pace):
    server = Server(clock, "User-agent: *\nDisallow: /private\nCrawl-delay: 2")
    for wait in (0, 3_600, 86_400):
        clock.now += wait
        robots = RobotsTxt(docs, server, Inline(), pace, clock=clock)
        await robots.open()
        assert await robots.allowed([f"{HOST}/a", f"{HOST}/private/a"]) == [True, False]
    assert len(server.times) == 2
    assert pace.interval == 2


def test_the_delay_is_that_of_our_own_group():
    robots = "User-agent: *\nCrawl-delay: 9\n\nUser-agent: websearch-gateway\nCrawl-delay: 3\nDisallow: /x"
    assert crawl_delay(robots, "websearch-gateway") == 3
    assert crawl_delay("User-agent: other\nCrawl-delay: 3", "websearch-gateway") == 0
    assert may_read_each(robots, [f"{HOST}/x", f"{HOST}/y"], "websearch-gateway") == [False, True]


async def test_a_request_that_is_sent_late_keeps_its_distance_from_the_next(docs, clock):
    """The machine may be busy: a sleep takes longer than it should."""
    late = iter([0.04, 0.0, 0.2, 0.0, 0.24, 0.03, 0.0, 0.0, 0.0])

    async def sleep(seconds):
        clock.now += seconds + next(late, 0.0)
        await asyncio.sleep(0)

    pace = HostPace(docs, HOST, 0.25, clock=clock, sleep=sleep)
    assert min(await asked(pace, clock, 5)) >= 0.249
