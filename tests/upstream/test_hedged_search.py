"""A chain whose first searcher is slow: the next starts beside it. All in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from bench.virtual_time import in_virtual_time, now
from websearch_gateway.errors import (
    Exhausted,
    NotAsked,
    SearchAuthError,
    SearchError,
    SearchProviderError,
    SearchTimeoutError,
)
from websearch_gateway.models import Call, Deadline, Hit, SearchQuery, SearchResults
from websearch_gateway.ports import Searcher
from websearch_gateway.upstream.burst_gate import BurstGate
from websearch_gateway.upstream.circuit_breaker import CircuitBreaker
from websearch_gateway.upstream.guarded import Guarded, UpstreamGuard
from websearch_gateway.upstream.health import HealthRegistry, Stopwatch
from websearch_gateway.upstream.hedging import Hedging
from websearch_gateway.upstream.search_fallback import FallbackSearcher

QUERY = SearchQuery("descale an espresso machine")
USUAL, PRICE = 0.6, 0.001


@dataclass
class Vendor:
    """A vendor that takes some seconds and a price, then answers or fails. It gives up at its deadline."""

    name: str
    seconds: float = USUAL
    error: SearchError | None = None
    hits: tuple[Hit, ...] = (Hit("https://a.example/", "t", "s", "x"),)
    began: list[float] = field(default_factory=list)
    cancelled: int = 0

    async def ask(self, call: Call) -> SearchResults:
        self.began.append(now())
        call.bill.part().book(PRICE)
        try:
            async with asyncio.timeout(call.remaining()):
                await asyncio.sleep(self.seconds)
        except TimeoutError:
            raise SearchTimeoutError(f"{self.name} did not answer in time.") from None
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error:
            raise self.error
        return SearchResults(self.hits, self.name)


@dataclass
class Pool:
    """A hedging chain of vendors whose usual latency is known."""

    vendors: tuple[Vendor, ...]
    guard: Callable[[Vendor, HealthRegistry], Searcher]
    health: HealthRegistry = field(default_factory=lambda: HealthRegistry(now))

    def __post_init__(self) -> None:
        for vendor in self.vendors:
            for _ in range(20):
                self.health.of(vendor.name).record_latency(USUAL, finished=True)
        self.hedging = Hedging(self.health)
        for _ in range(20):
            self.hedging.earn()
        searchers = [self.guard(vendor, self.health) for vendor in self.vendors]
        self.chain = FallbackSearcher(searchers, hedging=self.hedging)

    async def search(self, seconds: float = 15.0) -> SearchResults:
        call = Call.of(QUERY, Deadline.after(seconds, now))
        self.bill = call.bill
        return await self.chain.ask(call)


def pool(*vendors: Vendor) -> Pool:
    return Pool(vendors, lambda vendor, _: vendor)


def guarded_pool(*vendors: Vendor, failures: int = 5) -> Pool:
    def guard(vendor: Vendor, health: HealthRegistry) -> Searcher:
        record = health.of(vendor.name)
        guard = UpstreamGuard(
            vendor.name,
            BurstGate(vendor.name, most=1_000),
            CircuitBreaker(record, failures),
            stopwatch=Stopwatch(record),
        )
        return Guarded(vendor, guard)

    return Pool(vendors, guard)


@in_virtual_time
async def test_an_upstream_at_its_usual_speed_is_called_alone() -> None:
    first, second = Vendor("first", USUAL - 0.01), Vendor("second")
    assert (await pool(first, second).search()).provider == "first"
    assert second.began == []


@in_virtual_time
async def test_a_slow_upstream_is_joined_after_its_p95_and_cancelled_when_the_next_answers_first() -> (
    None
):
    first, second = Vendor("first", 4.0), Vendor("second")
    both = pool(first, second)
    results = await both.search()
    assert (results.provider, second.began, first.cancelled) == ("second", [USUAL], 1)
    assert now() == pytest.approx(2 * USUAL)
    assert both.bill.usd == pytest.approx(2 * PRICE), "what was sent is paid for"
    assert results.warnings == ("first was slow; second answered before it.",)


@in_virtual_time
async def test_a_slow_upstream_that_answers_first_wins_and_the_next_is_cancelled_and_paid_for() -> (
    None
):
    first, second = Vendor("first", 0.9), Vendor("second")
    both = pool(first, second)
    results = await both.search()
    assert (results.provider, second.cancelled) == ("first", 1)
    assert both.bill.usd == pytest.approx(2 * PRICE)
    assert results.warnings == ("second was slow; first answered before it.",)


@in_virtual_time
async def test_a_loser_that_had_sent_nothing_costs_nothing() -> None:
    """It was waiting for the rate limiter."""

    class Queueing(Vendor):
        async def ask(self, call: Call) -> SearchResults:
            await asyncio.sleep(4)
            return await super().ask(call)

    both = pool(Queueing("first"), Vendor("second"))
    results = await both.search()
    assert (results.provider, both.bill.usd) == ("second", pytest.approx(PRICE))


@in_virtual_time
async def test_the_next_upstream_follows_a_failure_at_once_and_takes_no_hedge() -> None:
    first, second = Vendor("first", 0.0, SearchProviderError("down")), Vendor("second")
    hedged = pool(first, second)
    for _ in range(50):
        assert (await hedged.search()).provider == "second"
    assert now() == pytest.approx(50 * USUAL)
    assert hedged.hedging.take()
    assert hedged.hedging.take()


@in_virtual_time
async def test_when_the_hedge_fails_the_third_joins_at_once_and_the_first_may_still_win() -> None:
    first, third = Vendor("first", 0.9), Vendor("third")
    results = await pool(first, Vendor("second", 0.1, SearchProviderError("down")), third).search()
    assert results.provider == "first"
    assert third.began == pytest.approx([0.7])
    assert results.warnings[0] == "second failed: PROVIDER: down"


@in_virtual_time
async def test_without_a_hedge_a_slow_upstream_is_awaited_and_its_failure_still_falls_back() -> (
    None
):
    first, second = Vendor("first", 3.0, SearchProviderError("down")), Vendor("second")
    hedged = pool(first, second)
    while hedged.hedging.take():
        pass
    results = await hedged.search()
    assert (results.provider, second.began) == ("second", [3.0])


@in_virtual_time
async def test_a_hedge_that_was_not_sent_is_not_counted() -> None:
    first, second = Vendor("first", 4.0), Vendor("second", 0.0, NotAsked("rests", retry_after=9))
    hedged = pool(first, second, Vendor("third"))
    assert (await hedged.search()).provider == "third"
    assert now() == pytest.approx(2 * USUAL), "the third takes the place of the second at once"
    assert hedged.hedging.take(), "only one of two was taken"


@in_virtual_time
async def test_an_empty_result_is_an_answer_but_does_not_beat_an_earlier_call() -> None:
    nothing = Vendor("second", 0.1, hits=())
    assert (await pool(Vendor("first", 2.0), nothing).search()).provider == "first"
    failing, third = Vendor("first", 2.0, SearchProviderError("down")), Vendor("third")
    results = await pool(failing, nothing, third).search()
    assert (results.provider, results.hits, third.began) == ("second", (), [])
    assert (
        await pool(Vendor("first", 2.0, hits=()), Vendor("second")).search()
    ).provider == "second"


@in_virtual_time
async def test_a_wrong_key_of_a_hedge_does_not_end_a_search_that_the_first_can_still_answer() -> (
    None
):
    wrong = Vendor("second", 0.1, SearchAuthError("second rejected the key."))
    assert (await pool(Vendor("first", 2.0), wrong).search()).provider == "first"
    results = await pool(
        Vendor("first", 2.0, SearchProviderError("down")), wrong, Vendor("third")
    ).search()
    assert results.provider == "third"
    assert results.warnings[0].startswith("SECOND IS SKIPPED")


@in_virtual_time
async def test_a_wrong_key_of_the_first_ends_the_race_and_cancels_the_hedge() -> None:
    second = Vendor("second", 4.0)
    with pytest.raises(SearchAuthError):
        await pool(
            Vendor("first", 1.0, SearchAuthError("first rejected the key.")), second
        ).search()
    assert second.cancelled == 1


@in_virtual_time
async def test_a_caller_who_leaves_cancels_every_call() -> None:
    first, second = Vendor("first", 9.0), Vendor("second", 9.0)
    asking = asyncio.create_task(pool(first, second).search())
    await asyncio.sleep(1.0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert (first.cancelled, second.cancelled) == (1, 1)


@pytest.mark.parametrize("slower", [5.0, 50.0])
@in_virtual_time
async def test_hedges_stay_within_a_tenth_of_the_calls_however_slow_the_first_becomes(
    slower: float,
) -> None:
    first, second = Vendor("first"), Vendor("second")
    hedged = guarded_pool(first, second)
    for _ in range(20):  # use up the hedges that the pool has saved
        hedged.hedging.take()
    for _ in range(200):
        await hedged.search()
    first.seconds = min(slower * USUAL, 7.0)
    await asyncio.gather(*(hedged.search() for _ in range(500)))
    for _ in range(300):
        await hedged.search()
    assert len(first.began) == 1000
    assert 0 < len(second.began) <= 100


@in_virtual_time
async def test_an_upstream_with_an_open_circuit_costs_no_time() -> None:
    first, second = Vendor("first", 0.0, SearchProviderError("down")), Vendor("second")
    hedged = guarded_pool(first, second)
    for _ in range(5):
        await hedged.search()
    first.seconds = 60.0
    before = now()
    results = await hedged.search()
    assert now() - before == pytest.approx(USUAL)
    assert len(first.began) == 5
    assert results.warnings[0].startswith(
        "first failed: PROVIDER: The circuit of first is open for 2"
    )


@in_virtual_time
async def test_when_all_circuits_are_open_the_error_comes_at_once_with_the_wait() -> None:
    vendors = [
        Vendor(name, 0.0, SearchProviderError("down")) for name in ("first", "second", "third")
    ]
    hedged = guarded_pool(*vendors)
    for _ in range(5):
        with pytest.raises(Exhausted):
            await hedged.search()
    await asyncio.sleep(12)
    before = now()
    with pytest.raises(Exhausted) as raised:
        await hedged.search()
    assert now() == before
    assert raised.value.retry_after == pytest.approx(18)
    assert all("is open for 18 s" in attempt.reason for attempt in raised.value.attempts)
    assert [len(vendor.began) for vendor in vendors] == [5, 5, 5]


@in_virtual_time
async def test_a_hanging_upstream_gets_an_open_circuit_after_its_shares_of_time() -> None:
    first, second = Vendor("first", 3600.0), Vendor("second")
    hedged = guarded_pool(first, second)
    while hedged.hedging.take():
        pass
    waits = []
    for _ in range(20):
        before = now()
        assert (await hedged.search()).provider == "second"
        waits.append(now() - before)
    assert max(waits) <= 7.5 + USUAL + 0.01
    assert len(first.began) <= 8
    assert waits[-1] == pytest.approx(USUAL)


@in_virtual_time
async def test_a_flapping_upstream_does_not_make_calls_oscillate() -> None:
    """Ten seconds up, ten seconds down, for twenty minutes: every search is answered, few are spent on the one that
    is down, and the breaker turns seldom."""
    first, second = Vendor("first", 0.1), Vendor("second")
    hedged = guarded_pool(first, second)
    turns, state, failed = 0, "closed", 0
    for _ in range(2400):
        first.error = SearchProviderError("down") if int(now() / 10) % 2 else None
        results = await hedged.search()
        failed += any(
            warning.startswith("first failed: PROVIDER: down") for warning in results.warnings
        )
        turned = hedged.health.of("first").breaker
        turns, state = turns + (turned != state), turned
        await asyncio.sleep(0.5 - min(0.5, now() % 0.5))
    assert failed <= 0.15 * 2400
    assert turns <= 3 * now() / 30


@in_virtual_time
async def test_a_thousand_calls_at_once_on_broken_upstreams_all_end_in_time() -> None:
    vendors = (
        Vendor("hangs", 3600.0),
        Vendor("down", 0.1, SearchProviderError("down")),
        Vendor("slow", 6.0),
        Vendor("late", 20.0),
    )
    hedged = guarded_pool(*vendors)
    outcomes = await asyncio.gather(*(hedged.search() for _ in range(1000)), return_exceptions=True)
    assert now() <= 15.0
    assert all(isinstance(outcome, SearchResults | Exhausted) for outcome in outcomes)
