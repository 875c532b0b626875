"""When the circuit of an upstream opens, and when it closes again."""

from __future__ import annotations

import asyncio
import itertools
import types
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

from tests.clock import Clock
from tests.layers import inside
from websearch_gateway.errors import (
    BLOCKED,
    QUOTA,
    NotAsked,
    SearchAuthError,
    SearchBudgetError,
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    SearchValidationError,
    Unavailable,
)
from websearch_gateway.models import Deadline
from websearch_gateway.upstream.circuit_breaker import LONGEST_OPEN_SECONDS, CircuitBreaker
from websearch_gateway.upstream.health import PROBE_SECONDS, HealthRegistry, UpstreamHealth

FAILURES, REST, FAIR = 3, 30.0, 1.5


@pytest.fixture
def clock() -> Clock:
    return Clock(1000.0)


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(HealthRegistry(clock).of("serper"), FAILURES, REST, FAIR)


def is_down(retry_after: float | None = None) -> Unavailable:
    return SearchProviderError("serper answered with HTTP 500.", retry_after=retry_after)


async def ask(breaker: CircuitBreaker, outcome: object = "answer", seconds: float = 15.0) -> object:
    """One call that takes no time and raises or returns `outcome`."""

    async def call() -> object:
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return await inside(breaker, call, Deadline.after(seconds, breaker.health.clock))


async def fail(breaker: CircuitBreaker, times: int = 1, error: SearchError | None = None) -> None:
    for _ in range(times):
        with pytest.raises(SearchError):
            await ask(breaker, error or is_down())


async def time_out(breaker: CircuitBreaker, clock: Clock, given: float, after: float) -> None:
    async def call() -> None:
        clock.now += after
        raise SearchTimeoutError("serper did not answer in time.")

    with pytest.raises(SearchTimeoutError):
        await inside(breaker, call, Deadline.after(given, clock))


async def test_consecutive_failures_open_the_circuit_and_then_nothing_is_sent(
    breaker: CircuitBreaker,
) -> None:
    await fail(breaker, FAILURES)
    assert breaker.health.breaker == "open"
    with pytest.raises(NotAsked) as raised:
        await ask(breaker)
    assert raised.value.retry_after == REST
    assert raised.value.message == (
        "The circuit of serper is open for 30 s after PROVIDER: serper answered with HTTP 500."
    )
    assert (breaker.health.calls, breaker.health.failures) == (FAILURES, FAILURES)


async def test_a_success_between_failures_resets_the_count(breaker: CircuitBreaker) -> None:
    for _ in range(5):
        await fail(breaker, FAILURES - 1)
        assert await ask(breaker) == "answer"
    assert breaker.health.breaker == "closed"


@pytest.mark.parametrize("nothing", [(), "", None, 0])
async def test_an_empty_result_is_a_success(breaker: CircuitBreaker, nothing: object) -> None:
    await fail(breaker, FAILURES - 1)
    await ask(breaker, nothing)
    await fail(breaker, FAILURES - 1)
    assert breaker.health.breaker == "closed"


@pytest.mark.parametrize(
    "error", [is_down(), is_down(retry_after=1), SearchProviderParseError("noise")]
)
async def test_every_failure_of_the_upstream_itself_counts(
    breaker: CircuitBreaker, error: SearchError
) -> None:
    await fail(breaker, FAILURES, error)
    assert breaker.health.breaker == "open"


@pytest.mark.parametrize(
    "error",
    [
        SearchAuthError("key"),
        SearchValidationError("request"),
        NotAsked("no turn", retry_after=3),
        SearchBudgetError("no room"),
    ],
)
async def test_refusals_and_calls_that_were_not_made_never_open_the_circuit(
    breaker: CircuitBreaker, error: SearchError
) -> None:
    await fail(breaker, 10 * FAILURES, error)
    assert (breaker.health.breaker, breaker.health.failures) == ("closed", 0)
    assert breaker.health.calls == (0 if isinstance(error, NotAsked) else 10 * FAILURES)


async def test_a_wrong_key_is_recorded_for_the_operator_and_a_mistake_of_a_user_is_not(
    breaker: CircuitBreaker,
) -> None:
    await fail(breaker, 1, SearchAuthError("serper rejected the key."))
    await fail(breaker, 1, SearchValidationError("The request of one user is at fault."))
    assert breaker.health.last_error is not None
    assert breaker.health.last_error.message == "serper rejected the key."


async def test_a_bug_of_ours_is_not_a_failure_of_the_upstream(breaker: CircuitBreaker) -> None:
    for _ in range(2 * FAILURES):
        with pytest.raises(KeyError):
            await ask(breaker, KeyError("bug"))
    assert breaker.health.breaker == "closed"


async def test_the_callers_cancellation_is_not_a_failure(breaker: CircuitBreaker) -> None:
    for _ in range(2 * FAILURES):
        call = asyncio.create_task(inside(breaker, asyncio.Event().wait, Deadline.after(60)))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    assert (breaker.health.breaker, breaker.health.failures) == ("closed", 0)


@pytest.mark.parametrize(
    ("given", "after", "state"),
    [
        (0.5, 0.5, "closed"),  # the caller had no more time, which says nothing about the upstream
        (1.4, 1.4, "closed"),
        (0.5, 0.45, "closed"),  # timers are not exact
        (1.2, 0.3, "open"),  # the request timed out before the caller's deadline
        (2.1, 2.1, "open"),  # the upstream had enough time
        (15.0, 15.0, "open"),
    ],
)
async def test_a_timeout_counts_if_the_upstream_had_enough_time(
    breaker: CircuitBreaker, clock: Clock, given: float, after: float, state: str
) -> None:
    for _ in range(FAILURES):
        await time_out(breaker, clock, given, after)
    assert breaker.health.breaker == state


@pytest.mark.parametrize(
    ("retry_after", "rest"),
    [
        (None, REST),
        (0.0, REST),
        (0.598, REST),
        (90.0, 90.0),
        (3600.0, 3600.0),
        (86_400.0, LONGEST_OPEN_SECONDS),
    ],
)
async def test_the_circuit_stays_open_as_long_as_the_upstream_asks_up_to_an_hour(
    breaker: CircuitBreaker, clock: Clock, retry_after: float | None, rest: float
) -> None:
    await fail(breaker, FAILURES, is_down(retry_after))
    clock.now += rest - 0.001
    with pytest.raises(NotAsked):
        await ask(breaker)
    clock.now += 0.002
    assert breaker.health.breaker == "half_open"
    assert await ask(breaker) == "answer"


async def half_open(breaker: CircuitBreaker, clock: Clock) -> None:
    await fail(breaker, FAILURES)
    clock.now += REST + 1


async def test_one_probe_is_sent_while_fifty_calls_are_refused_at_once(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    await half_open(breaker, clock)
    answered, began = asyncio.Event(), 0

    async def call() -> str:
        nonlocal began
        began += 1
        await answered.wait()
        return "answer"

    calls = [asyncio.create_task(inside(breaker, call, Deadline.after(60))) for _ in range(51)]
    await asyncio.sleep(0)  # lets each of them run until it waits or ends
    refusals = [task.exception() for task in calls if task.done()]
    assert began == 1
    assert len(refusals) == 50
    assert all(
        isinstance(error, NotAsked) and error.retry_after == PROBE_SECONDS for error in refusals
    )
    answered.set()
    assert await asyncio.gather(*(task for task in calls if not task.done())) == ["answer"]
    assert breaker.health.breaker == "closed"
    assert await asyncio.gather(*(ask(breaker) for _ in range(50))) == ["answer"] * 50


async def test_a_probe_that_fails_opens_the_circuit_again(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    await half_open(breaker, clock)
    await fail(breaker, 1)
    assert breaker.health.breaker == "open"
    with pytest.raises(NotAsked) as raised:
        await ask(breaker)
    assert raised.value.retry_after == REST


async def test_a_cancelled_probe_frees_its_place(breaker: CircuitBreaker, clock: Clock) -> None:
    await half_open(breaker, clock)
    probe = asyncio.create_task(inside(breaker, asyncio.Event().wait, Deadline.after(60)))
    await asyncio.sleep(0)
    with pytest.raises(NotAsked):
        await ask(breaker)
    probe.cancel()
    await asyncio.gather(probe, return_exceptions=True)
    assert breaker.health.breaker == "half_open"
    assert await ask(breaker) == "answer"
    assert breaker.health.breaker == "closed"


@pytest.mark.parametrize("error", [SearchAuthError("key"), SearchValidationError("request")])
async def test_a_probe_that_is_refused_closes_the_circuit(
    breaker: CircuitBreaker, clock: Clock, error: SearchError
) -> None:
    """Otherwise the breaker would hide a wrong key."""
    await half_open(breaker, clock)
    await fail(breaker, 1, error)
    assert breaker.health.breaker == "closed"


async def test_calls_that_began_before_the_circuit_opened_neither_close_nor_prolong_it(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    late: list[asyncio.Future[str]] = [asyncio.get_running_loop().create_future() for _ in range(2)]

    async def wait_for(future: asyncio.Future[str]) -> str:
        return await future

    calls = [
        asyncio.create_task(inside(breaker, lambda f=future: wait_for(f), Deadline.after(60)))
        for future in late
    ]
    await asyncio.sleep(0)
    await fail(breaker, FAILURES)
    clock.now += 20
    late[0].set_result("late answer")
    late[1].set_exception(is_down(retry_after=500))
    await asyncio.gather(*calls, return_exceptions=True)
    assert breaker.health.status().retry_after == REST - 20


async def test_a_late_answer_does_not_count_as_the_answer_to_the_probe(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    late: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def wait_for_it() -> str:
        return await late

    old = asyncio.create_task(inside(breaker, wait_for_it, Deadline.after(60)))
    await asyncio.sleep(0)
    await half_open(breaker, clock)
    probe = asyncio.create_task(inside(breaker, asyncio.Event().wait, Deadline.after(60)))
    await asyncio.sleep(0)
    late.set_result("late answer")
    assert await old == "late answer"
    assert breaker.health.breaker == "half_open"
    with pytest.raises(NotAsked):
        await ask(breaker)
    probe.cancel()
    await asyncio.gather(probe, return_exceptions=True)


async def test_upstreams_that_were_overtaken_count_as_failures(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    for _ in range(FAILURES):
        breaker.overtaken()
    assert breaker.health.breaker == "open"
    clock.now += 20
    breaker.overtaken()
    assert breaker.health.open_for == REST - 20, "an open one is not held open"


@types.coroutine
def pause() -> Generator[None, object, object]:
    """Suspends a call until the machine below decides its outcome."""
    return (yield)


class BreakerMachine(RuleBasedStateMachine):
    """Any number of calls in flight, ended in any order, with a clock that moves freely, against a simple model."""

    under_way = Bundle("under_way")

    @initialize(failures=st.integers(1, 4))
    def start(self, failures: int) -> None:
        self.clock = Clock(1000.0)
        self.failures = failures
        self.breaker = CircuitBreaker(HealthRegistry(self.clock).of("serper"), failures, REST, FAIR)
        self.ids = itertools.count()
        self.open: dict[int, tuple[Any, str]] = {}
        self.state = "closed"
        self.rest_until = 0.0
        self.row = 0
        self.era = 0

    def _state(self) -> str:
        return (
            "half_open"
            if self.state == "open" and self.clock.now >= self.rest_until
            else self.state
        )

    def _probes(self) -> list[int]:
        return [number for number, (_, kind) in self.open.items() if kind == "probe"]

    @rule(target=under_way)
    def begin(self) -> int:
        call = inside(self.breaker, lambda: pause(), Deadline.after(15, self.clock))
        number = next(self.ids)
        state, probing = self._state(), bool(self._probes())
        if state == "open" or (state == "half_open" and probing):
            with pytest.raises(NotAsked) as raised:
                call.send(None)
            assert 0 < (raised.value.retry_after or 0) <= LONGEST_OPEN_SECONDS
        else:
            call.send(None)
            self.open[number] = (call, "probe" if state == "half_open" else f"closed {self.era}")
        return number

    def _end(self, number: int) -> tuple[Any, str] | None:
        return self.open.pop(number, None)

    @rule(number=consumes(under_way))
    def succeed(self, number: int) -> None:
        if ended := self._end(number):
            call, kind = ended
            with pytest.raises(StopIteration):
                call.send("answer")
            if kind == "probe":
                self.state, self.era, self.row = "closed", self.era + 1, 0
            elif self.state == "closed" and kind == f"closed {self.era}":
                self.row = 0

    @rule(number=consumes(under_way), retry_after=st.none() | st.floats(0, 1e6))
    def fail(self, number: int, retry_after: float | None) -> None:
        if ended := self._end(number):
            call, kind = ended
            with pytest.raises(SearchProviderError):
                call.throw(is_down(retry_after))
            if kind == "probe":
                self._opens(retry_after)
            elif self.state == "closed" and kind == f"closed {self.era}":
                self.row += 1
                if self.row == self.failures:
                    self._opens(retry_after)

    def _opens(self, retry_after: float | None) -> None:
        self.state, self.row, self.era = "open", 0, self.era + 1
        self.rest_until = self.clock.now + max(REST, min(retry_after or 0, LONGEST_OPEN_SECONDS))

    @rule(number=consumes(under_way), error=st.sampled_from([asyncio.CancelledError, KeyError]))
    def end_without_a_word(self, number: int, error: type[BaseException]) -> None:
        if ended := self._end(number):
            with pytest.raises(error):
                ended[0].throw(error())

    @rule(seconds=st.sampled_from([0.5, 29.0, 31.0, 4000.0]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @precondition(lambda self: hasattr(self, "breaker"))
    @invariant()
    def the_state_is_the_models(self) -> None:
        assert self.breaker.health.breaker == self._state()
        assert self.breaker.health.open_for == (
            max(0.0, self.rest_until - self.clock.now) if self.state == "open" else 0
        )
        assert len(self._probes()) <= 1

    def teardown(self) -> None:
        for call, _ in self.open.values():
            call.close()


TestBreakerMachine = BreakerMachine.TestCase


@pytest.mark.parametrize(
    ("retry_after", "open_seconds"), [(None, 900), (60, 900), (1_800, 1_800), (9_000, 3_600)]
)
async def test_a_spent_quota_opens_the_circuit_at_once_for_a_quarter_of_an_hour_at_least(
    breaker: CircuitBreaker, retry_after: float | None, open_seconds: float
) -> None:
    spent = SearchProviderError(
        "The quota is spent.", retry_after=retry_after, details={"reason": QUOTA}
    )
    await fail(breaker, error=spent)
    assert breaker.health.open_for == open_seconds


async def test_a_bot_page_opens_the_circuit_at_once_and_for_twice_as_long_each_time() -> None:
    """For DuckDuckGo: a minute at first, at most an hour, and a minute again after it has served."""
    clock = Clock(1000.0)
    breaker = CircuitBreaker(UpstreamHealth("duckduckgo", clock), failures=5, open_seconds=30)
    blocked = SearchProviderError("A bot page.", retry_after=60, details={"reason": BLOCKED})
    opened: list[float] = []

    async def fails() -> None:
        raise blocked

    async def serves() -> None:
        """Serve."""

    for call in (*[fails] * 8, serves, fails):
        try:
            await inside(breaker, call, Deadline.after(60))
        except SearchProviderError:
            opened.append(breaker.health.open_for)
            clock.now += breaker.health.open_for
    assert opened == [60, 120, 240, 480, 960, 1920, 3600, 3600, 60]
