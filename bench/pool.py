"""The provider pool under scripted latency, with and without hedging, in virtual time: an hour of calls in seconds.

Latencies are log-normal with a median of 600 ms and a p99 of 4 s; one call in a hundred stalls for ever. Both
providers are alike and independent; calls arrive at random, two a second. Searches, hedging and breakers are the
gateway's own code; only the vendors and the time are simulated.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from random import Random

from bench.table import Row
from bench.virtual_time import in_virtual_time, now
from websearch_gateway.errors import Exhausted, SearchTimeoutError
from websearch_gateway.models import Call, Deadline, Hit, SearchQuery, SearchResults
from websearch_gateway.ports import Searcher
from websearch_gateway.upstream.burst_gate import BurstGate
from websearch_gateway.upstream.circuit_breaker import CircuitBreaker
from websearch_gateway.upstream.guarded import Guarded, UpstreamGuard
from websearch_gateway.upstream.health import HealthRegistry, Stopwatch
from websearch_gateway.upstream.hedging import Hedging
from websearch_gateway.upstream.search_fallback import FallbackSearcher

CALLS, CALLS_PER_SECOND, DEADLINE = 5000, 2.0, 15.0
MEDIAN, P99, STALLS = 0.6, 4.0, 0.01
_SIGMA = math.log(P99 / MEDIAN) / 2.326
_HIT = Hit("https://a.example/", "title", "snippet", "scripted")


@dataclass
class Vendor:
    """Answers after a random time, multiplied by `slower`."""

    name: str
    seed: int
    stalls: float = STALLS
    slower: float = 1.0
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)

    async def ask(self, call: Call) -> SearchResults:
        seconds = self.slower * self._random.lognormvariate(math.log(MEDIAN), _SIGMA)
        if self._random.random() < self.stalls:
            seconds = math.inf
        if seconds > call.remaining():
            await asyncio.sleep(call.remaining())
            raise SearchTimeoutError(f"{self.name} did not answer in time.")
        await asyncio.sleep(seconds)
        return SearchResults((_HIT,), self.name)


@dataclass(frozen=True, slots=True)
class Run:
    """The times of all calls, the number without an answer, and the number of hedges."""

    seconds: list[float]
    unanswered: int
    hedges: int

    def quantile(self, part: float) -> float:
        """A quantile of the times, in milliseconds."""
        return 1000 * sorted(self.seconds)[math.ceil(part * len(self.seconds)) - 1]


SCENARIOS = (
    ("pool", 0.0, 1.0),
    ("pool with 1% stalls", STALLS, 1.0),
    ("pool, first 5 times slow", STALLS, 5.0),
)


def measure() -> list[Row]:
    """The latency tail with and without hedging, and the extra calls."""
    return [row for title, stalls, slower in SCENARIOS for row in _rows(title, stalls, slower)]


def _rows(title: str, stalls: float, slower: float) -> list[Row]:
    plain, hedged = simulate(False, stalls, slower), simulate(True, stalls, slower)
    tails = [
        Row(
            f"{title}: p{100 * part:g}",
            f"{hedged.quantile(part):.0f} ms",
            f"without hedging {plain.quantile(part):.0f} ms",
            f"{hedged.quantile(part) / plain.quantile(part):.2f}",
            wanted,
        )
        for part, wanted in ((0.5, "<= 1.05"), (0.95, ""), (0.99, "< 1"))
    ]
    extra = Row(
        f"{title}: extra calls",
        f"{hedged.hedges}",
        f"{CALLS} calls",
        f"{hedged.hedges / CALLS:.3f}",
        "<= 0.1",
    )
    lost = Row(
        f"{title}: no answer in {DEADLINE:g} s",
        f"{hedged.unanswered}",
        f"without {plain.unanswered}",
        "",
        "",
    )
    return [*tails, extra, lost]


@in_virtual_time
async def simulate(hedging: bool, stalls: float, slower: float) -> Run:
    """All calls of one scenario; after half of them the first vendor becomes `slower`."""
    health, arrivals, unanswered = HealthRegistry(now), Random(1), 0
    first, second = Vendor("first", 2, stalls), Vendor("second", 3, stalls)
    hedges = Hedging(health)
    searchers = [_layered(vendor, health) for vendor in (first, second)]
    chain = FallbackSearcher(searchers, hedging=hedges if hedging else None)

    async def call() -> float:
        nonlocal unanswered
        began = now()
        try:
            await chain.ask(Call.of(SearchQuery("scripted"), Deadline.after(DEADLINE, now)))
        except Exhausted:
            unanswered += 1
        return now() - began

    calls = []
    for number in range(CALLS):
        await asyncio.sleep(arrivals.expovariate(CALLS_PER_SECOND))
        first.slower = slower if number >= CALLS / 2 else 1.0
        calls.append(asyncio.create_task(call()))
    return Run(await asyncio.gather(*calls), unanswered, hedges.hedges)


def _layered(vendor: Vendor, health: HealthRegistry) -> Searcher:
    record = health.of(vendor.name)
    guard = UpstreamGuard(
        vendor.name, BurstGate(vendor.name), CircuitBreaker(record), stopwatch=Stopwatch(record)
    )
    return Guarded(vendor, guard)
