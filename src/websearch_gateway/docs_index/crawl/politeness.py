"""Limits the requests to one host: the delay between them, the pauses that it demands, its robots.txt (RFC 9309)."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

from websearch_gateway.docs_index.models import Booking
from websearch_gateway.docs_index.ports import Fetch, Run
from websearch_gateway.docs_index.store.sql.docs import SqlDocs
from websearch_gateway.errors import SearchError, SearchFetchError
from websearch_gateway.models import Deadline
from websearch_gateway.net.fetch import PRODUCT
from websearch_gateway.text.robots_txt import crawl_delay, may_read_each, refused_by

AT_ONCE = 2
ROBOTS_SECONDS = 86_400.0
"""How long a robots.txt is valid, the maximum of the RFC (seconds)."""
CLOSED_SECONDS = 300.0
"""A robots.txt that could not be fetched is fetched again after this long (seconds)."""
MAX_ROBOTS_BYTES = 512_000
MAX_CRAWL_DELAY = 30.0
MAX_PAUSE_SECONDS = 86_400.0
MAX_SLOWDOWN = 64.0
SLOWED_DELAY = 0.05
"""What a delay of 0 counts as when an overloaded host makes the crawl slow down (seconds)."""
HOLD_SECONDS = 1.5
"""How long after its booking a request may still be sent; later it needs a new booking (seconds)."""
MAX_LATENESS = 0.25
"""How long after the sending of a request its server may notice it, at most (seconds)."""
_SHORTEST_WAIT = 0.02
_FETCH_SECONDS = 30.0


class HostPace:
    """The request queue of one host. Its bookings are in the store, so processes share them and a restart keeps them.

    A busy machine may send a request late, and a busy server may notice it late. So a request holds the host until it
    is sent, and the next one keeps its distance from the reply, which proves that the server has seen it.

    Args:
        host: `scheme://host:port`.
        delay: seconds between two requests, unless the host asks for more.
        clock: seconds since the epoch, the same as the store's.
    """

    def __init__(
        self,
        store: SqlDocs,
        host: str,
        delay: float,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.host = host
        self.waiting = ""
        self.clock = clock
        self._store = store
        self._delay = delay
        self._asked_delay = 0.0
        self._slowdown = 1.0
        self._latency = 0.0
        self._sleep = sleep
        self._slots = asyncio.Semaphore(AT_ONCE)

    @property
    def interval(self) -> float:
        """The current seconds between two requests, more for slow hosts. 0 if only the number at once is limited."""
        delay = max(self._delay, SLOWED_DELAY) if self._slowdown > 1 else self._delay
        least = max(delay * self._slowdown, self._asked_delay)
        return max(least, self._latency / AT_ONCE) if least else 0.0

    def ask_delay(self, seconds: float) -> None:
        """Note the delay that the host asks for (`Crawl-delay`, seconds)."""
        self._asked_delay = min(seconds, MAX_CRAWL_DELAY)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """Wait for a turn and hold it while the host answers."""
        async with self._slots:
            turn = Turn(self)
            await turn.sending()
            try:
                yield turn
            finally:
                await turn.ended()
            self._latency += (min(self.clock() - turn.started, _FETCH_SECONDS) - self._latency) / 4

    async def book(self) -> Booking:
        """Wait until the host is free, and book it."""
        while True:
            hold = self.interval + HOLD_SECONDS if self.interval else 0.0
            booking = await self._store.reserve(self.host, hold)
            if booking.is_ours:
                self.waiting = ""
                return booking
            await self._wait(booking.until - self.clock(), booking.until)

    async def rebook(self, booking: Booking, until: float) -> Booking:
        """Move the end of a booking, see `SqlDocs.rebook`."""
        return await self._store.rebook(self.host, booking, until) if self.interval else booking

    async def _wait(self, seconds: float, until: float) -> None:
        if seconds > 2 * self.interval + HOLD_SECONDS:
            reason = (await self._store.host(self.host)).reason or "rest"
            self.waiting = f"{reason} until {datetime.fromtimestamp(until).astimezone():%H:%M:%S}"
            await self._sleep(min(seconds, 60.0))
            return
        if self._asked_delay > self._delay:
            self.waiting = f"crawl-delay {self._asked_delay:g} s"
        # Another request may have booked the host; its booking gets shorter as soon as it is sent.
        await self._sleep(max(0.0, min(seconds, max(self.interval / 2, _SHORTEST_WAIT))))

    def succeeded(self) -> None:
        """Note a good reply: return towards the usual delay."""
        self._slowdown = max(1.0, self._slowdown * 0.9)

    async def pushed_back(self, reason: str, retry_after: float | None) -> None:
        """Note that the host is overloaded: halve the request rate, and wait until the time that it named."""
        self._slowdown = min(self._slowdown * 2, MAX_SLOWDOWN)
        if retry_after:
            await self._store.pause_host(self.host, self.clock() + min(retry_after, MAX_PAUSE_SECONDS), reason)


class Turn:
    """The right to send a request, from its booking to its reply. The fetcher says when it is sent, see `Sending`."""

    def __init__(self, pace: HostPace) -> None:
        self._pace = pace
        self._booking = Booking(-math.inf, is_ours=False)
        self._is_sent = True
        self.started = 0.0

    async def sending(self) -> None:
        """Book the host, unless the booking is still valid: connecting may have taken too long, or this request follows
        a redirect."""
        if self._is_sent or (self._pace.interval and self._pace.clock() >= self._booking.until - self._pace.interval):
            self._booking = await self._pace.book()
            self._is_sent = False
            self.started = self._pace.clock()

    async def sent(self) -> None:
        """Shorten the booking: another request may follow before the reply, so a slow host has two under way."""
        self._is_sent = True
        self.started = self._pace.clock()
        until = self.started + self._pace.interval + MAX_LATENESS
        self._booking = await self._pace.rebook(self._booking, until)

    async def ended(self) -> None:
        """Note the reply or the failure; the interval until the next request starts now."""
        now = self._pace.clock()
        if now - self.started < MAX_LATENESS or not self._is_sent:
            await self._pace.rebook(self._booking, now + self._pace.interval)


class RobotsTxt:
    """The robots.txt rules of one host. Fetched once a day for all sites on it."""

    def __init__(
        self, store: SqlDocs, fetcher: Fetch, workers: Run, pace: HostPace, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._fetcher = fetcher
        self._workers = workers
        self._pace = pace
        self._clock = clock
        self._text: str | None = None

    @property
    def text(self) -> str:
        """The robots.txt, after `open`."""
        return self._text or ""

    async def open(self) -> None:
        """Load the rules.

        Raises:
            SearchError: the rules are unavailable, so the host is off limits for now (RFC 9309, section 2.3.1.4).
        """
        known = await self._store.host(self._pace.host)
        age = self._clock() - known.robots_at
        if known.robots is None and age < CLOSED_SECONDS:
            raise _closed(self._pace.host)
        if known.robots is None or age >= ROBOTS_SECONDS:
            self._text = await self._fetch()
            await self._store.put_robots(self._pace.host, self._text)
            if self._text is None:
                raise _closed(self._pace.host)
        else:
            self._text = known.robots
        if self._text:
            deadline = Deadline.after(_FETCH_SECONDS)
            self._pace.ask_delay(await self._workers.run(crawl_delay, self._text, PRODUCT, deadline=deadline))
            if rule := await self._workers.run(refused_by, self._text, PRODUCT, deadline=deadline):
                raise SearchFetchError(f"Its robots.txt forbids this use: {rule}.", details={"reason": "robots"})

    async def allowed(self, urls: Sequence[str]) -> list[bool]:
        """Whether the rules allow each address."""
        if not self._text or not urls:
            return [True] * len(urls)
        deadline = Deadline.after(_FETCH_SECONDS)
        verdicts: list[bool] = await self._workers.run(
            may_read_each, self._text, list(urls), PRODUCT, deadline=deadline
        )
        return verdicts

    async def _fetch(self) -> str | None:
        """The text of the robots.txt; "" if there is none, None if the server has an error.

        Raises:
            SearchError: the server cannot be reached, so the next call asks again.
        """
        try:
            async with self._pace.turn() as turn:
                fetched = await self._fetcher.fetch(
                    f"{self._pace.host}/robots.txt",
                    Deadline.after(_FETCH_SECONDS),
                    accept="text/plain,*/*;q=0.5",
                    sending=turn,
                )
        except SearchError as error:
            if (status := error.details.get("status")) is None:
                raise
            return "" if 400 <= status < 500 and status != 429 else None
        return fetched.body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace")


def _closed(host: str) -> SearchFetchError:
    return SearchFetchError(
        f"The server answers a request for {host}/robots.txt with an error, so the site is closed for now (RFC 9309). "
        "Try again in five minutes.",
        details={"reason": "robots"},
    )
