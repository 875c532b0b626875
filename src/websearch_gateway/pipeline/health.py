"""What is known about each upstream: calls, failures, latencies, the last error, and whether it is left alone."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TypeVar

from websearch_gateway.errors import ErrorCode, NotAsked, SearchError
from websearch_gateway.models import Deadline
from websearch_gateway.pipeline.histogram import NOTHING, Distribution, Histogram

BreakerState = Literal["closed", "open", "half_open"]

WINDOW = 100
"""So many latencies are remembered per upstream."""

PROBE_SECONDS = 1.0
"""When to come back while a probe is under way."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LastError:
    """The latest trouble of an upstream. `at` is in UTC."""

    code: ErrorCode
    message: str
    at: datetime


@dataclass(frozen=True, slots=True)
class UpstreamStatus:
    """An upstream at one moment.

    `calls` were really made, retries and further pages not counted; `failures` of them were the upstream's fault.
    `breaker` is `open` while it is left alone, `half_open` when its rest is over and one probe decides; `retry_after`
    are the seconds of rest that remain. Latencies are seconds; None before the first. `errors` counts what went wrong,
    refusals of a key too; `durations` are those of single requests, whatever became of them.
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


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class UpstreamHealth:
    """The record of one upstream, written by its breaker and its stopwatch.

    `rests_until` is a moment on `clock` (monotonic, seconds); None when the upstream may be called.
    """

    name: str
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    now: Callable[[], datetime] = field(default=_utc_now, repr=False)
    calls: int = 0
    failures: int = 0
    last_error: LastError | None = None
    rests_until: float | None = None
    _latencies: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW), repr=False)
    _errors: Counter[ErrorCode] = field(default_factory=Counter, repr=False)
    _durations: Histogram = field(default_factory=Histogram, repr=False)

    @property
    def samples(self) -> int:
        """How many latencies the quantiles stand on."""
        return len(self._latencies)

    @property
    def rest(self) -> float:
        """Seconds for which it is still left alone."""
        return 0.0 if self.rests_until is None else max(0.0, self.rests_until - self.clock())

    @property
    def breaker(self) -> BreakerState:
        """Whether calls are let through."""
        if self.rests_until is None:
            return "closed"
        return "open" if self.rest else "half_open"

    def quantile(self, part: float) -> float | None:
        """The latency that `part` (in 0..1) of the recent calls did not exceed; None before the first."""
        if not self._latencies:
            return None
        return sorted(self._latencies)[max(0, math.ceil(part * len(self._latencies)) - 1)]

    def took(self, seconds: float, *, finished: bool) -> None:
        """Remember how long a call took.

        Of one that failed or was cut off only this much is known: a whole one would have taken longer. It counts where
        that is slow already; if it never did, the quantiles would be those of the lucky calls alone.
        """
        self._durations.observe(seconds)
        if finished or seconds > (self.quantile(0.95) or math.inf):
            self._latencies.append(seconds)

    def noted(self, error: SearchError) -> None:
        """Remember an error as the last one."""
        self._errors[error.code] += 1
        self.last_error = LastError(error.code, error.message, self.now())

    def left_alone(self) -> NotAsked:
        """The error of a call that is not made while the upstream rests or is being probed."""
        why = f", at last with {self.last_error.code}: {self.last_error.message}" if self.last_error else "."
        how_long = f" for {self.rest:.0f} s" if self.rest else ""
        return NotAsked(
            f"{self.name} is left alone{how_long} after it kept failing{why}", retry_after=self.rest or PROBE_SECONDS
        )

    def status(self) -> UpstreamStatus:
        """The record as it is now."""
        return UpstreamStatus(
            name=self.name,
            breaker=self.breaker,
            retry_after=self.rest or None,
            calls=self.calls,
            failures=self.failures,
            p50=self.quantile(0.5),
            p95=self.quantile(0.95),
            last_error=self.last_error,
            errors=dict(self._errors),
            durations=self._durations.distribution(),
        )


class HealthRegistry:
    """The records of all upstreams of a process, in the order in which they were first asked for."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, now: Callable[[], datetime] = _utc_now) -> None:
        self._clock = clock
        self._now = now
        self._upstreams: dict[str, UpstreamHealth] = {}

    def of(self, name: str) -> UpstreamHealth:
        """The record of an upstream; a new one where there is none yet."""
        return self._upstreams.setdefault(name, UpstreamHealth(name, self._clock, self._now))

    def known(self, name: str) -> UpstreamHealth | None:
        """The record of an upstream, if there is one."""
        return self._upstreams.get(name)

    def snapshot(self) -> tuple[UpstreamStatus, ...]:
        """Every upstream as it is now."""
        return tuple(upstream.status() for upstream in self._upstreams.values())


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """The layer that measures latencies. It belongs next to the upstream: waiting for a turn is no latency."""

    health: UpstreamHealth

    async def __call__(self, call: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """The result of `call()`, timed."""
        started, finished = self.health.clock(), False
        try:
            result = await call()
            finished = True
            return result
        finally:
            self.health.took(self.health.clock() - started, finished=finished)
