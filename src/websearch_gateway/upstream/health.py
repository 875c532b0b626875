"""The record of each upstream: calls, failures, latencies, the last error, and the state of its circuit.

Its circuit breaker and its stopwatch write it; the status page, the metrics and the other layers read it.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate
from typing import Literal

from websearch_gateway.base import cut_message
from websearch_gateway.errors import ErrorCode, NotAsked, SearchError
from websearch_gateway.models import Deadline

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
        reason = error.details.get("reason")
        cause = reason if isinstance(reason, str) else ""
        message = cut_message(error.message, MAX_MESSAGE_CHARS)
        self.last_error = LastError(error.code, message, self.now(), cause)

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
