"""The figures of all calls of this process."""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from websearch_gateway.results import CacheState
from websearch_gateway.upstream.health import Distribution, Histogram
from websearch_gateway.upstream.telemetry import CallRecord

WINDOW = 1_000
"""The number of latest calls of a tool whose latencies are kept."""
RATE_SECONDS = 60.0

CACHED_TOOLS = frozenset({"search_web", "web_search", "search_news", "web_search_raw"})
"""The tools whose hits and misses of the cache are counted."""

QUANTILES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """One tool: calls by outcome, and latencies in milliseconds at QUANTILES over the latest WINDOW calls."""

    outcomes: Mapping[str, int]
    latencies_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call: its time (seconds since the epoch), its tool and its error code."""

    at: float
    tool: str
    code: str


@dataclass(frozen=True, slots=True)
class Figures:
    """A snapshot. `calls_per_minute` counts the last minute; `started_at` is seconds since the epoch.

    `routes` counts calls by tool, route and outcome; `durations` has their durations by tool and outcome; `fallbacks`
    counts fallbacks by failed upstream and error code. `joined` is the number of cache misses that an identical call in
    flight answered.
    """

    started_at: float
    uptime_seconds: float
    calls_per_minute: int
    tools: Mapping[str, ToolFigures]
    cache: Mapping[CacheState, int]
    last_failures: Sequence[Failure]
    routes: Mapping[tuple[str, str, str], int]
    durations: Mapping[tuple[str, str], Distribution]
    fallbacks: Mapping[tuple[str, str], int]
    joined: int = 0


class Statistics:
    """Counts calls. `observe` is an observer for `Telemetry`.

    Args:
        clock: seconds since the epoch.
    """

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._started_at = clock()
        self._outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._latencies: defaultdict[str, deque[float]] = defaultdict(
            partial(deque[float], maxlen=WINDOW)
        )
        self._cache: Counter[CacheState] = Counter()
        self._moments: deque[float] = deque(maxlen=100_000)
        self._failures: deque[Failure] = deque(maxlen=20)
        self._routes: Counter[tuple[str, str, str]] = Counter()
        self._durations: defaultdict[tuple[str, str], Histogram] = defaultdict(Histogram)
        self._fallbacks: Counter[tuple[str, str]] = Counter()
        self._joined = 0

    def observe(self, record: CallRecord) -> None:
        """Count a call."""
        now, outcome = self._clock(), record.outcome.outcome
        self._outcomes[record.tool][outcome] += 1
        self._latencies[record.tool].append(record.latency_ms)
        self._moments.append(now)
        self._routes[record.tool, record.outcome.route, outcome] += 1
        self._durations[record.tool, outcome].observe(record.latency_ms / 1000)
        if record.outcome.fallback_from is not None:
            self._fallbacks[record.outcome.fallback_from, record.outcome.fallback_reason or ""] += 1
        if outcome == "ok" and record.tool in CACHED_TOOLS:
            self._cache[record.outcome.cache] += 1
            self._joined += record.outcome.joined
        elif outcome not in ("ok", "CANCELLED"):
            self._failures.append(Failure(now, record.tool, outcome))

    def figures(self) -> Figures:
        """The numbers so far, with the latest failure first."""
        now = self._clock()
        while self._moments and self._moments[0] < now - RATE_SECONDS:
            self._moments.popleft()
        tools = {
            tool: ToolFigures(dict(outcomes), quantiles(self._latencies[tool]))
            for tool, outcomes in self._outcomes.items()
        }
        return Figures(
            self._started_at,
            now - self._started_at,
            len(self._moments),
            tools,
            dict(self._cache),
            tuple(reversed(self._failures)),
            dict(self._routes),
            {labels: histogram.distribution() for labels, histogram in self._durations.items()},
            dict(self._fallbacks),
            self._joined,
        )


def quantiles(values: Sequence[float]) -> tuple[float, ...]:
    """The values at QUANTILES of the sorted `values`; empty without values."""
    ordered = sorted(values)
    return (
        tuple(ordered[min(int(share * len(ordered)), len(ordered) - 1)] for share in QUANTILES)
        if ordered
        else ()
    )
