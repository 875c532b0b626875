"""The pace of one host, by a clock that only `sleep` moves."""

import asyncio
import random
from itertools import pairwise
from operator import itemgetter

import pytest

from websearch_gateway.base.net.fetch import Fetched
from websearch_gateway.base.urls import crawl_delay, may_read_each
from websearch_gateway.docs.crawl.sources import HostPace, RobotsTxt
from websearch_gateway.errors import SearchFetchError

HOST = "https://docs.example.org"


class Inline:
    """Runs functions in the calling thread."""

    async def run(self, function, *arguments, deadline):
        return function(*arguments)


class Server:
    """Answers every request with `reply`, and notes the time of each."""

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


async def test_requests_keep_the_delay(pace, clock):
    assert min(await asked(pace, clock, 5)) >= 0.249


async def test_a_crawl_delay_is_kept_up_to_half_a_minute(pace, clock):
    pace.ask_delay(5)
    assert min(await asked(pace, clock, 3)) >= 4.999
    pace.ask_delay(86_400)
    assert pace.interval == 30


async def test_a_host_that_asks_for_a_pause_gets_it_and_then_half_the_request_rate(pace, clock):
    await asked(pace, clock, 1)
    start = clock.now
    await pace.pushed_back("429", 600)
    await asked(pace, clock, 1)
    assert clock.now - start >= 600
    assert pace.interval == 0.5
    for _ in range(20):
        pace.succeeded()
    assert pace.interval == 0.25


async def test_a_host_that_pushes_back_again_and_again_is_asked_64_times_less_often(pace):
    for _ in range(10):
        await pace.pushed_back("429", None)
    assert pace.interval == 64 * 0.25


async def test_a_pause_is_a_day_at_most(pace, clock):
    start = clock.now
    await pace.pushed_back("429", 1_000_000)
    await asked(pace, clock, 1)
    assert 86_400 <= clock.now - start < 86_500


async def test_a_robots_txt_that_failed_is_asked_for_again_after_five_minutes(docs, clock, pace):
    server = Server(clock, 503)
    for wait in (0, 200, 120):
        clock.now += wait
        with pytest.raises(SearchFetchError, match=r"robots\.txt"):
            await RobotsTxt(server, Inline(), pace).open()
    assert len(server.times) == 2


async def test_the_first_512000_bytes_of_a_robots_txt_count(docs, clock, pace):
    rule = "Disallow: /private\n"
    head = "User-agent: *\n"
    for size, is_allowed in ((511_900, False), (512_100, True)):
        padding = "#" * (size - len(head) - 1) + "\n"
        robots = RobotsTxt(Server(clock, head + padding + rule), Inline(), pace)
        clock.now += 200_000
        await robots.open()
        assert await robots.allowed([f"{HOST}/private/a"]) == [is_allowed]


@pytest.mark.parametrize(
    ("reply", "is_open"), [(404, True), (403, True), ("", True), (503, False), (429, False)]
)
async def test_a_missing_robots_txt_allows_everything_and_a_failing_one_nothing(
    docs, clock, pace, reply, is_open
):
    """RFC 9309, section 2.3.1."""
    robots = RobotsTxt(Server(clock, reply), Inline(), pace)
    if is_open:
        await robots.open()
        assert await robots.allowed([f"{HOST}/a"]) == [True]
    else:
        with pytest.raises(SearchFetchError, match=r"robots\.txt"):
            await robots.open()


async def test_a_host_that_cannot_be_reached_is_asked_again_by_the_next_crawl(docs, clock, pace):
    class Unreachable(Server):
        async def fetch(self, *_, **__):
            raise SearchFetchError("docs.example.org cannot be reached.")

    with pytest.raises(SearchFetchError, match=r"cannot be reached"):
        await RobotsTxt(Unreachable(clock, ""), Inline(), pace).open()
    await RobotsTxt(Server(clock, ""), Inline(), pace).open()


async def test_a_robots_txt_is_fetched_once_a_day(docs, clock, pace):
    server = Server(clock, "User-agent: *\nDisallow: /private\nCrawl-delay: 2")
    for wait in (0, 86_399, 1):
        clock.now += wait
        robots = RobotsTxt(server, Inline(), pace)
        await robots.open()
        assert await robots.allowed([f"{HOST}/a", f"{HOST}/private/a"]) == [True, False]
    assert len(server.times) == 2
    assert pace.interval == 2


def test_the_delay_is_that_of_our_own_group():
    robots = "User-agent: *\nCrawl-delay: 9\n\nUser-agent: websearch-gateway\nCrawl-delay: 3\nDisallow: /x"
    assert crawl_delay(robots, "websearch-gateway") == 3
    assert crawl_delay("User-agent: other\nCrawl-delay: 3", "websearch-gateway") == 0
    assert may_read_each(robots, [f"{HOST}/x", f"{HOST}/y"], "websearch-gateway") == [False, True]


class BusyMachine:
    """Sends requests late, by random delays from `chance`, to a server that notices them late."""

    def __init__(self, clock, chance):
        self.clock = clock
        self.chance = chance
        self.noticed = []
        self._due = []
        self._crawls = 0

    async def sleep(self, seconds):
        """Sleep a bit too long. When all crawls sleep, the clock moves to the first that is due."""
        due = self.clock.now + seconds + self.chance.uniform(0, 0.02)
        awake = asyncio.get_running_loop().create_future()
        self._due.append((due, awake))
        self._move_on()
        await awake
        self.clock.now = max(self.clock.now, due)

    def _move_on(self):
        if self._due and len(self._due) == self._crawls:
            first = min(self._due, key=itemgetter(0))
            self._due.remove(first)
            first[1].set_result(None)

    async def crawl(self, pace, count):
        self._crawls += 1
        for _ in range(count):
            async with pace.turn() as turn:
                await self.sleep(self.chance.choice((0, 0, 0.3, 2.5)))  # connecting
                await turn.sending()
                await turn.sent()
                await self.sleep(self.chance.choice((0, 0.2)))  # until the server sees it
                self.noticed.append(self.clock.now)
                await self.sleep(self.chance.choice((0, 0.2)))  # the reply
        self._crawls -= 1
        self._move_on()


@pytest.mark.parametrize("seed", range(4))
async def test_a_server_sees_the_delay_even_if_requests_of_two_processes_are_late(
    docs, clock, seed
):
    machine = BusyMachine(clock, random.Random(seed))
    paces = [HostPace(docs, HOST, 0.25, clock=clock, sleep=machine.sleep) for _ in range(2)]
    await asyncio.gather(*(machine.crawl(pace, 6) for pace in paces for _ in range(2)))
    assert len(machine.noticed) == 24
    assert min(later - earlier for earlier, later in pairwise(sorted(machine.noticed))) >= 0.2499


async def test_a_request_after_a_redirect_waits_for_a_turn_of_its_own(pace, clock):
    times = []
    async with pace.turn() as turn:
        for _ in range(3):
            await turn.sending()
            times.append(clock.now)
            await turn.sent()
    assert min(later - earlier for earlier, later in pairwise(times)) >= 0.249


async def test_a_killed_process_holds_the_host_for_two_seconds_at_most(docs, pace, clock):
    await pace.book()
    start = clock.now
    await asked(pace, clock, 1)
    assert clock.now - start <= 2


async def test_two_requests_to_a_slow_host_are_under_way_at_once(pace, clock):
    async with pace.turn() as first:
        await first.sent()
        async with pace.turn() as second:
            await second.sent()
            assert second.started - first.started <= 0.51


async def test_without_a_delay_the_next_request_follows_the_reply_at_once_until_the_host_is_overloaded(
    docs, clock
):
    async def sleep(seconds):
        clock.now += seconds
        await asyncio.sleep(0)

    pace = HostPace(docs, HOST, 0, clock=clock, sleep=sleep)
    start = clock.now
    for _ in range(10):
        async with pace.turn() as turn:
            await turn.sent()
            clock.now += 0.1  # the host answers
    assert clock.now - start == pytest.approx(1.0)
    await pace.pushed_back("503", None)
    assert pace.interval == 0.1
    assert min(await asked(pace, clock, 3)) >= 0.099


@pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
async def test_a_booking_holds_a_host_for_a_second_and_a_half_until_the_request_is_sent(
    pace, clock
):
    start = clock.now
    async with pace.turn() as turn:
        assert turn._booking.until == pytest.approx(start + 0.25 + 1.5)
        clock.now += 1.49
        await turn.sending()  # the booking is still valid
        assert turn.started == start
        clock.now += 0.01
        await turn.sending()
        assert turn.started >= start + 1.5
        sent = clock.now
        await turn.sent()
        assert turn._booking.until == pytest.approx(sent + 0.25 + 0.25)


@pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("seconds", "rest"), [(0.2, 0.25), (0.25, 0.25), (0.3, 0.2)])
async def test_the_next_request_keeps_its_distance_from_a_reply_within_a_quarter_of_a_second(
    docs, pace, clock, seconds, rest
):
    """A later reply proves nothing: its server noticed the request by then at the latest."""
    async with pace.turn() as turn:
        await turn.sent()
        clock.now += seconds
    booked = (await docs.host(HOST)).next_at
    assert booked - clock.now == pytest.approx(rest)


@pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
async def test_a_slow_host_is_asked_less_often(pace, clock):
    async with pace.turn() as turn:
        await turn.sent()
        clock.now += 100.0  # more than half a minute counts as that
    assert pace.interval == pytest.approx(30 / 4 / 2)


@pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("seconds", "asked_delay", "slept", "waiting"),
    [
        (2.0, 0.0, 0.125, ""),
        (0.1, 0.0, 0.1, ""),
        (-1.0, 0.0, 0.0, ""),
        (2.01, 0.0, 2.01, "rest until"),
        (500.0, 0.0, 60.0, "rest until"),
        (2.0, 1.0, 0.5, "crawl-delay 1 s"),
        (2.0, 0.25, 0.125, ""),
    ],
)
async def test_a_crawl_that_waits_for_a_host_looks_again_and_says_why(
    pace, clock, seconds, asked_delay, slept, waiting
):
    start = clock.now
    pace.ask_delay(asked_delay)
    await pace._wait(seconds, start + seconds)
    assert clock.now - start == pytest.approx(slept)
    assert pace.waiting.startswith(waiting)
    assert bool(pace.waiting) is bool(waiting)


@pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
async def test_a_wait_without_a_delay_lasts_a_fiftieth_of_a_second(docs, clock):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    pace = HostPace(docs, HOST, 0, clock=clock, sleep=sleep)
    await pace._wait(1.0, clock.now + 1.0)
    assert slept == [0.02]
