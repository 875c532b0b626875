"""What surrounds an upstream: its health record (calls, failures, latencies, the last error, the state of its
circuit), and the layers: burst gate, circuit breaker, rate limiter, stopwatch, time limit. `guarded.py` puts them in
order. And `BestEffort`, for calls to the shared state that may fail without failing the caller: an unreadable cache is
a miss.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate
from typing import Literal, TypeVar

from opentelemetry.trace import SpanKind

from websearch_gateway.base import Retry, child_span, cut_message, note_host
from websearch_gateway.errors import (
    BLOCKED,
    QUOTA,
    QUOTA_PAUSE_SECONDS,
    RATE_LIMITED,
    ErrorCode,
    NotAsked,
    Refused,
    SearchError,
    SearchTimeoutError,
    SearchValidationError,
    StateUnavailable,
    Unavailable,
)
from websearch_gateway.models import Deadline, Page
from websearch_gateway.ports import Reader

T = TypeVar("T")

BreakerState = Literal["closed", "open", "half_open"]

MAX_MESSAGE_CHARS = 300
WINDOW = 100
"""The number of latencies to keep per upstream."""

PROBE_SECONDS = 1.0
"""`retry_after` while a probe is in flight (seconds)."""


@dataclass(frozen=True, slots=True)
class LastError:
    """The latest error of an upstream. `at` is in UTC; `cause` is `details["reason"]` of the error."""

    code: ErrorCode
    message: str
    at: datetime
    cause: str = ""


BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0)
"""Upper bounds in seconds: from an answer held in memory to longer than any call may take."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """A snapshot. `counts[i]` durations did not exceed `BOUNDS[i]`; the last counts all. `seconds` is their sum."""

    counts: Sequence[int]
    seconds: float


NOTHING = Distribution((0,) * (len(BOUNDS) + 1), 0.0)


@dataclass(frozen=True, slots=True)
class UpstreamStatus:
    """A snapshot of an upstream.

    `calls` counts the calls made, without retries and further pages; `failures` counts those that failed through the
    upstream's fault. `breaker` is `open` while no calls are made, `half_open` while one probe decides; `retry_after` is
    the number of seconds until the probe. Latencies are in seconds, None before the first. `errors` counts errors by
    code, including refused keys; `durations` are those of single requests, including failed ones.
    """

    name: str
    breaker: BreakerState
    retry_after: float | None
    calls: int
    failures: int
    p50: float | None
    p95: float | None
    last_error: LastError | None
    errors: Mapping[ErrorCode, int] = field(default_factory=dict)
    durations: Distribution = NOTHING
    last_success: datetime | None = None


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Histogram:
    """Counts durations."""

    __slots__ = ("_counts", "_seconds")

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS) + 1)
        self._seconds = 0.0

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        self._counts[bisect_left(BOUNDS, seconds)] += 1
        self._seconds += seconds

    def distribution(self) -> Distribution:
        """The counts so far."""
        return Distribution(tuple(accumulate(self._counts)), self._seconds)


@dataclass(slots=True)
class UpstreamHealth:
    """The record of one upstream, written by its circuit breaker and its stopwatch.

    `open_until` is a moment on `clock` (monotonic, seconds); None while the circuit is closed.
    """

    name: str
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    now: Callable[[], datetime] = field(default=_utc_now, repr=False)
    calls: int = 0
    failures: int = 0
    last_error: LastError | None = None
    last_success: datetime | None = None
    open_until: float | None = None
    _latencies: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW), repr=False)
    _errors: Counter[ErrorCode] = field(default_factory=Counter, repr=False)
    _durations: Histogram = field(default_factory=Histogram, repr=False)

    @property
    def samples(self) -> int:
        return len(self._latencies)

    @property
    def open_for(self) -> float:
        """The seconds until the circuit is half-open; 0 if it is not open."""
        return 0.0 if self.open_until is None else max(0.0, self.open_until - self.clock())

    @property
    def breaker(self) -> BreakerState:
        if self.open_until is None:
            return "closed"
        return "open" if self.open_for else "half_open"

    def quantile(self, part: float) -> float | None:
        """The latency that `part` (in 0..1) of the recent calls did not exceed; None before the first."""
        if not self._latencies:
            return None
        return sorted(self._latencies)[max(0, math.ceil(part * len(self._latencies)) - 1)]

    def record_latency(self, seconds: float, *, finished: bool) -> None:
        """Record how long a call took (seconds).

        For a call that failed or was cut off (not `finished`), this is only a lower bound. It counts if it is already
        slow; otherwise the quantiles would cover the fast calls only.
        """
        self._durations.observe(seconds)
        if finished:
            self.last_success = self.now()
        if finished or seconds > (self.quantile(0.95) or math.inf):
            self._latencies.append(seconds)

    def record_error(self, error: SearchError) -> None:
        """Record an error as the last one."""
        self._errors[error.code] += 1
        cause = error.details.get("reason")
        message = cut_message(error.message, MAX_MESSAGE_CHARS)
        self.last_error = LastError(
            error.code, message, self.now(), cause if isinstance(cause, str) else ""
        )

    def circuit_open(self) -> NotAsked:
        """The error of a call that is not made because the circuit is open or a probe is in flight.

        It repeats the last error, so that callers learn why the circuit is open.
        """
        last = self.last_error
        why = f" after {last.code}: {last.message}" if last else "."
        how_long = f" for {self.open_for:.0f} s" if self.open_for else ""
        error = NotAsked(
            f"The circuit of {self.name} is open{how_long}{why}",
            retry_after=self.open_for or PROBE_SECONDS,
            details={"reason": last.cause} if last and last.cause else None,
        )
        if last and last.code in ("TIMEOUT", "PARSE"):
            error.code = last.code
        return error

    def status(self) -> UpstreamStatus:
        """A snapshot of the record."""
        return UpstreamStatus(
            name=self.name,
            breaker=self.breaker,
            retry_after=self.open_for or None,
            calls=self.calls,
            failures=self.failures,
            p50=self.quantile(0.5),
            p95=self.quantile(0.95),
            last_error=self.last_error,
            errors=dict(self._errors),
            durations=self._durations.distribution(),
            last_success=self.last_success,
        )


class HealthRegistry:
    """The records of all upstreams of a process, in the order of their first use."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, now: Callable[[], datetime] = _utc_now
    ) -> None:
        self._clock = clock
        self._now = now
        self._upstreams: dict[str, UpstreamHealth] = {}

    def of(self, name: str) -> UpstreamHealth:
        """The record of an upstream; created if absent."""
        return self._upstreams.setdefault(name, UpstreamHealth(name, self._clock, self._now))

    def known(self, name: str) -> UpstreamHealth | None:
        """The record of an upstream; None if absent."""
        return self._upstreams.get(name)

    def snapshot(self) -> tuple[UpstreamStatus, ...]:
        """A snapshot of every upstream."""
        return tuple(upstream.status() for upstream in self._upstreams.values())


MOST_AHEAD = 50
"""Most bursts are smaller; even eight dead upstreams get only four hundred calls together."""


class BurstGate:
    """The layer that admits `most` calls until the upstream answers one of them. One per upstream and process.

    An answer releases all waiting calls, so a burst waits at most once for a healthy upstream: until its first answer.
    The gate belongs around the circuit breaker, which then judges the calls that waited.

    Args:
        name: the name of the upstream.
        most: how many calls may be in flight before the upstream answers one of them.
    """

    def __init__(self, name: str, most: int = MOST_AHEAD) -> None:
        self._name = name
        self._most = most
        self._generation = _Generation(most)

    @asynccontextmanager
    async def __call__(self, deadline: Deadline) -> AsyncIterator[None]:
        """The block of a call, which begins when there is a place for it.

        Raises:
            NotAsked: the upstream answered no other call within half of this call's time.
        """
        generation = self._generation
        await self._take_place(generation, deadline)
        try:
            yield
            self._release_all_waiting()
        except Refused:
            self._release_all_waiting()
            raise
        finally:
            generation.places.release()

    async def _take_place(self, generation: _Generation, deadline: Deadline) -> None:
        generation.waiting += 1
        try:
            async with asyncio.timeout(deadline.remaining() / 2):
                await generation.places.acquire()
        except TimeoutError:
            raise NotAsked(
                f"{self._name} has not answered any of the {self._most} calls under way.",
                retry_after=PROBE_SECONDS,
            ) from None
        finally:
            generation.waiting -= 1

    def _release_all_waiting(self) -> None:
        ended, self._generation = self._generation, _Generation(self._most)
        for _ in range(ended.waiting):
            ended.places.release()


class _Generation:
    """The period between two answers: its free places, and the number of waiting calls."""

    __slots__ = ("places", "waiting")

    def __init__(self, most: int) -> None:
        self.places = asyncio.Semaphore(most)
        self.waiting = 0


LONGEST_OPEN_SECONDS = 3600.0
"""The longest time without a probe, even if the upstream asks for more: one probe an hour is cheap."""

_MOST_DOUBLINGS = 10
_EDGE_SECONDS = 0.1
"""Timers are not exact: a call that ends this shortly before the deadline was ended by it (seconds)."""


class CircuitBreaker:
    """The layer that stops calls to an upstream that keeps failing. One per upstream and process.

    Every `Unavailable` is a failure, but a timeout only if the upstream had `fair_seconds`, or exceeded its own limit
    before the caller's deadline. A `Refused` shows that the upstream works. Cancelled calls and calls that were not
    made (`NotAsked`) do not count. A single reply that says that the quota is spent (`errors.QUOTA`), or that blocks
    this address as a bot (`errors.BLOCKED`), opens the circuit. With each further bot page the open time doubles until
    the upstream serves again.

    Args:
        health: the record that this breaker writes, and whose clock it uses.
        failures: the number of consecutive failures that opens the circuit.
        open_seconds: how long it stays open; longer if the upstream asks for it, up to LONGEST_OPEN_SECONDS.
        fair_seconds: a timeout does not count if the caller's deadline left the upstream less time.
        timeouts: the number of failures that opens it, if the last one is a timeout; by default `failures`.
    """

    def __init__(
        self,
        health: UpstreamHealth,
        failures: int = 5,
        open_seconds: float = 30.0,
        fair_seconds: float = 1.5,
        timeouts: int | None = None,
    ) -> None:
        self.health = health
        self.failures = failures
        self.open_seconds = open_seconds
        self.fair_seconds = fair_seconds
        self.timeouts = timeouts or failures
        self._consecutive_failures = 0
        self._blocks = 0
        # Calls that began before the circuit opened or closed must not change its new state, so each call knows its
        # generation.
        self._generation = 0
        self._probing = False

    @asynccontextmanager
    async def __call__(self, deadline: Deadline) -> AsyncIterator[None]:
        """The block of a call.

        Raises:
            NotAsked: at once, if the circuit is open or another call's probe is in flight.
        """
        generation = self._enter()
        given_seconds = deadline.remaining()
        self.health.calls += 1
        try:
            yield
        except NotAsked:
            self.health.calls -= 1
            raise
        except Refused as error:
            # That error is about one request, not about the upstream.
            if not isinstance(error, SearchValidationError):
                self.health.record_error(error)
            self._record_answer(generation)
            raise
        except Unavailable as error:
            deadline_passed = deadline.remaining() < _EDGE_SECONDS
            is_fair = given_seconds >= self.fair_seconds or not deadline_passed
            if is_fair or not isinstance(error, SearchTimeoutError):
                self._record_failure(error, generation)
            raise
        else:
            self._record_answer(generation)
        finally:
            if generation == self._generation:
                self._probing = False

    def overtaken(self) -> None:
        """Count a call that was cancelled because it was overdue and another upstream answered."""
        if not self.health.open_for:
            error = SearchTimeoutError(
                f"{self.health.name} had not answered when another upstream had."
            )
            self._record_failure(error, self._generation)

    def _enter(self) -> int:
        if self.health.open_until is None:
            return self._generation
        if self.health.open_for or self._probing:
            raise self.health.circuit_open()
        self._probing = True
        self._generation += 1
        return self._generation

    def _record_answer(self, generation: int) -> None:
        if generation != self._generation:
            return
        self._consecutive_failures = self._blocks = 0
        if self._probing:
            self.health.open_until = None
            self._begin_generation()

    def _record_failure(self, error: Unavailable, generation: int) -> None:
        self.health.failures += 1
        self.health.record_error(error)
        if generation != self._generation:
            return
        self._consecutive_failures += 1
        is_blocked = error.details.get("reason") == BLOCKED
        is_spent = error.details.get("reason") == QUOTA
        most = self.timeouts if isinstance(error, SearchTimeoutError) else self.failures
        if (
            is_blocked
            or is_spent
            or self._consecutive_failures >= most
            or self.health.open_until is not None
        ):
            asked_for = (error.retry_after or 0.0) * (2**self._blocks if is_blocked else 1)
            if is_spent:
                asked_for = max(asked_for, QUOTA_PAUSE_SECONDS)
            seconds = max(self.open_seconds, min(asked_for, LONGEST_OPEN_SECONDS))
            self.health.open_until = self.health.clock() + seconds
            self._consecutive_failures = 0
            self._blocks = min(self._blocks + is_blocked, _MOST_DOUBLINGS)
            self._begin_generation()

    def _begin_generation(self) -> None:
        self._generation += 1
        self._probing = False


SLACK = 1.05
"""A factor on the interval, since two requests may arrive closer together than they were sent."""

USUAL_SECONDS = 0.5
"""The assumed latency while none is known (seconds)."""


class RateLimiter:
    """The layer that sends requests one by one, evenly spaced. One per upstream and process.

    Args:
        health: the record of the upstream, whose clock it uses. When the circuit opens, all waiting calls fail.
        per_second: the requests per second that it allows; None for no limit. A rate in its replies replaces it.
    """

    def __init__(
        self,
        health: UpstreamHealth,
        per_second: float | None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.health = health
        self.per_second = per_second
        self._sleep = sleep
        self._next = -math.inf
        self._queue = asyncio.Lock()  # FIFO; a cancelled call leaves no gap.
        self._waiting = 0

    @asynccontextmanager
    async def __call__(self, deadline: Deadline) -> AsyncIterator[None]:
        """The block of a request, which begins at its turn.

        Raises:
            NotAsked: the turn would be too late for an answer before the deadline (raised at once, so that another
                upstream can serve), or the circuit opened during the wait.
        """
        wait = max(0.0, self._next - self.health.clock()) + self._waiting * self._interval
        if wait and wait + (self.health.quantile(0.5) or USUAL_SECONDS) >= deadline.remaining():
            raise NotAsked(
                f"{self.health.name} allows {self.per_second:g} requests a second, and other requests are waiting.",
                retry_after=wait,
                details={"reason": RATE_LIMITED},
            )
        self._waiting += 1
        try:
            async with self._queue:
                if not self.health.open_for and (wait := self._next - self.health.clock()) > 0:
                    await self._sleep(wait)
                if self.health.open_for:
                    raise self.health.circuit_open()
                self._next = self.health.clock() + self._interval
        finally:
            self._waiting -= 1
        yield

    def learn(self, headers: Mapping[str, str]) -> None:
        """Take the allowed rate from the headers of a reply."""
        if allowed := allowed_per_second(headers):
            self.per_second = allowed

    @property
    def _interval(self) -> float:
        return SLACK / self.per_second if self.per_second else 0.0


def allowed_per_second(headers: Mapping[str, str]) -> float | None:
    """The rate in `x-ratelimit-policy`, such as 50 for `50;w=1, 0;w=2678400`; None if absent.

    Windows of more than a second are quotas, which a burst may use up, so they do not limit the rate. Brave's format:
    https://api-dashboard.search.brave.com/documentation/guides/rate-limiting.
    """
    policies = re.findall(r"(\d{1,6})\s*;\s*w=1(?!\d)", headers.get("x-ratelimit-policy", ""))
    return min((float(limit) for limit in policies if int(limit)), default=None)


_PAGE_EDGE_SECONDS = 0.05  # timers are not exact


@dataclass(frozen=True, slots=True)
class BoundedReader:
    """`reader`, with a span and at most `seconds` for a page, including a second attempt.

    `retry` decides on the second attempt. It has its own budget, so failing sites do not use up that of the upstreams.
    """

    reader: Reader
    seconds: float
    retry: Retry = field(default_factory=Retry, repr=False)

    @property
    def name(self) -> str:
        return self.reader.name

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        own = deadline.within(self.seconds)
        try:
            with child_span("read page", SpanKind.CLIENT):
                note_host(url)
                return await self.retry(lambda: self.reader.read(url, own, known), own)
        except SearchTimeoutError as error:
            if own.remaining() > _PAGE_EDGE_SECONDS or deadline.remaining() <= _PAGE_EDGE_SECONDS:
                raise
            message = f"The page took more than {self.seconds:g} s. REQUEST_TIMEOUT_MS allows more."
            raise SearchTimeoutError(message) from error


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """The layer that measures latencies. It is the innermost layer: a wait for the rate limiter is not latency."""

    health: UpstreamHealth

    @asynccontextmanager
    async def __call__(self, _: Deadline) -> AsyncIterator[None]:
        """The block of a call or of a request."""
        started, finished = self.health.clock(), False
        try:
            yield
            finished = True
        finally:
            self.health.record_latency(self.health.clock() - started, finished=finished)


_log = logging.getLogger(__name__)

WAIT_SECONDS = 0.5
"""The longest wait for the state if the caller already has its result (seconds)."""


class BestEffort:
    """Runs calls to the state. Logs a warning for the first failure of an outage only.

    Args:
        loss: the effect of an outage, which begins the log line: `Answers are cached in this process only`.
    """

    def __init__(self, loss: str) -> None:
        self._loss = loss
        self._is_down = False

    async def __call__(
        self, use: Callable[[], Awaitable[T]], otherwise: T, *, seconds: float | None = WAIT_SECONDS
    ) -> T:
        """The result of `use()`; `otherwise` if the state fails or takes too long.

        `seconds` is the longest wait; with None only the backend's own time limit applies.
        """
        try:
            async with asyncio.timeout(seconds):
                result = await use()
        except StateUnavailable as error:
            return self._failed(error.message, otherwise)
        except TimeoutError:
            return self._failed(f"no answer within {seconds:g} s.", otherwise)
        self._is_down = False
        return result

    def _failed(self, reason: str, otherwise: T) -> T:
        if not self._is_down:
            self._is_down = True
            _log.warning("%s: %s", self._loss, reason)
        return otherwise
