"""The budget holds for every outcome of a paid call."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clock import Clock
from websearch_gateway.errors import (
    SearchAuthError,
    SearchBudgetError,
    SearchProviderError,
    StateUnavailable,
)
from websearch_gateway.models import Call, Caller, CallerLimits
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.upstream import ledger as ledger_module
from websearch_gateway.upstream.ledger import NOTED_SECONDS, Ledger, UserDay
from websearch_gateway.upstream.telemetry import CallRecord, Outcome

NOON = 1_800_014_400.0  # 2027-01-15T12:00:00Z


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def ledger(clock: Clock) -> Ledger:
    return Ledger(MemoryState(clock=clock), daily_usd=1.0, user_daily_usd=0.5, clock=clock)


def paying(user: str = "ann") -> Call:
    return replace(Call.after(60), caller=Caller(user))


async def pay(
    ledger: Ledger, usd: float, most: float | None = None, user: str = "ann", name: str = "brave"
) -> None:
    call = paying(user)
    async with ledger.payment(call, name, usd if most is None else most):
        call.bill.book(usd)


async def test_a_day_shows_the_cost_of_each_upstream(ledger: Ledger) -> None:
    await pay(ledger, 0.005)
    await pay(ledger, 0.005, user="bob")
    await pay(ledger, 0.012, most=0.2, name="openai")
    day = await ledger.day()
    assert (day.day, day.usd) == ("2027-01-15", pytest.approx(0.022))
    assert day.usd_by_upstream == {"brave": pytest.approx(0.01), "openai": pytest.approx(0.012)}
    assert day.calls_by_upstream == {"brave": 2, "openai": 1}


async def test_a_call_that_the_budget_has_no_room_for_is_not_made(ledger: Ledger) -> None:
    await pay(ledger, 0.4)
    with pytest.raises(SearchBudgetError, match="USER_DAILY_BUDGET_USD") as refused:
        await pay(ledger, 0.11)
    assert refused.value.retry_after == 12 * 3600
    await pay(ledger, 0.1)


async def test_the_common_budget_also_binds_users_with_room_in_their_own(ledger: Ledger) -> None:
    await pay(ledger, 0.5)
    await pay(ledger, 0.45, user="bob")
    with pytest.raises(SearchBudgetError, match=r"^DAILY_BUDGET_USD"):
        await pay(ledger, 0.06, user="eve")


class Added(MemoryState):
    """Keeps the keys of all additions."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock=clock)
        self.keys: list[str] = []

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        self.keys.append(key)
        return await super().add(key, amount, ttl)


async def test_only_what_a_limit_watches_is_written_at_each_payment(clock: Clock) -> None:
    state = Added(clock)
    ledger = Ledger(state, daily_usd=1.0, clock=clock)
    for _ in range(3):
        await pay(ledger, 0.005, most=0.01)
    day = await ledger.day()
    assert (day.usd, day.usd_by_upstream) == (pytest.approx(0.015), {"brave": day.usd})
    reserved_and_settled = state.keys.count(f"ledger/{day.day}/total")
    assert reserved_and_settled == 6
    assert state.keys.count(f"ledger/{day.day}/usd/brave") == 1
    assert state.keys.count(f"ledger/{day.day}/calls/brave") == 1


async def test_unused_reservations_are_released(ledger: Ledger) -> None:
    for _ in range(10):
        await pay(ledger, 0.01, most=0.4)
    assert (await ledger.day()).usd == pytest.approx(0.1)


async def test_a_refused_call_takes_nothing_from_the_budget(ledger: Ledger) -> None:
    for _ in range(3):
        with pytest.raises(SearchBudgetError):
            await pay(ledger, 0.6)
    assert (await ledger.day()).usd == 0.0


async def test_a_new_day_begins_at_midnight_utc(ledger: Ledger, clock: Clock) -> None:
    await pay(ledger, 0.5)
    clock.now += 12 * 3600
    await pay(ledger, 0.5)
    assert [(await ledger.day(ago)).usd for ago in (0, 1, 2)] == [0.5, 0.5, 0.0]


async def test_a_failed_call_costs_the_amount_on_its_bill(ledger: Ledger) -> None:
    for error, usd in ((SearchProviderError("gone"), 0.03), (SearchAuthError("no"), 0.0)):
        call = paying()
        call.bill.book(usd)
        with pytest.raises(type(error)):
            async with ledger.payment(call, "openai", 0.2):
                raise error
    assert (await ledger.day()).usd == pytest.approx(0.03)


async def test_a_cancelled_call_costs_what_is_on_its_bill(ledger: Ledger) -> None:
    began = asyncio.Event()

    async def hang() -> None:
        call = paying()
        async with ledger.payment(call, "serper", 0.2):
            call.bill.book(0.2)
            began.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hang())
    await began.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert (await ledger.day()).usd_by_upstream == {"serper": pytest.approx(0.2)}


class Completing(MemoryState):
    """A state that adds first and answers later, whether or not the caller is still there, as databases do."""

    def __init__(self) -> None:
        super().__init__(clock=Clock(NOON))
        self.added, self.answers = asyncio.Event(), asyncio.Event()

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        count = await super().add(key, amount, ttl)
        self.added.set()
        await self.answers.wait()
        return count


@pytest.mark.parametrize("gives_up", ["caller", "timeout"])
async def test_a_reservation_whose_answer_nobody_waited_for_is_released(
    gives_up: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = Completing()
    ledger = Ledger(state, daily_usd=1.0, user_daily_usd=0.5, clock=Clock(NOON))
    if gives_up == "timeout":
        monkeypatch.setattr(ledger_module, "_STATE_SECONDS", 0.0)
        with pytest.raises(SearchBudgetError, match="cannot be reached"):
            await pay(ledger, 0.4)
    else:
        call = asyncio.create_task(pay(ledger, 0.4))
        await state.added.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    state.answers.set()
    assert (await ledger.day()).usd == 0
    monkeypatch.undo()
    await pay(ledger, 0.5)


async def test_calls_at_once_never_spend_more_than_the_budget(ledger: Ledger) -> None:
    outcomes = await asyncio.gather(
        *(pay(ledger, 0.03, most=0.05, user=f"user {number}") for number in range(100)),
        return_exceptions=True,
    )
    assert 0 < outcomes.count(None) < 100
    assert (await ledger.day()).usd <= 1.0


@given(
    st.lists(
        st.tuples(st.floats(0, 0.3), st.floats(0, 0.3), st.sampled_from(["ann", "bob", "eve"])),
        max_size=30,
    ),
)
async def test_no_sequence_of_calls_spends_more_than_the_budget(
    calls: list[tuple[float, float, str]],
) -> None:
    ledger = Ledger(MemoryState(), daily_usd=1.0, user_daily_usd=0.5)
    for one, other, user in calls:
        try:
            await pay(ledger, min(one, other), most=max(one, other), user=user)
        except SearchBudgetError:
            continue
    assert (await ledger.day()).usd <= 1.0 + 1e-9


async def test_without_a_budget_everything_is_booked_and_nothing_refused(clock: Clock) -> None:
    ledger = Ledger(MemoryState(clock=clock), clock=clock)
    await pay(ledger, 1000.0)
    assert (await ledger.day()).usd == 1000.0


async def test_a_day_shows_the_savings_of_the_cache_and_the_durations_of_calls(
    ledger: Ledger,
) -> None:
    for latency_ms, saved_usd in (
        (1.0, 0.004),
        (2.0, 0.007),
        (3.0, 0.0),
        (700.0, 0.0),
        (60_000.0, 0.0),
    ):
        ledger.observe(CallRecord("search_web", "", latency_ms, Outcome(saved_usd=saved_usd)))
    day = await ledger.day()
    assert (day.usd, day.saved_usd) == (0.0, pytest.approx(0.011))
    assert [day.quantile_ms(share) for share in (0.5, 0.8, 1.0)] == [5.0, 1000.0, 30_000.0]
    assert (await ledger.day(1)).quantile_ms(0.5) is None


async def test_the_state_does_not_reveal_users(clock: Clock) -> None:
    state = MemoryState(clock=clock)
    ledger = Ledger(state, user_daily_usd=1.0, clock=clock)
    await pay(ledger, 0.1, user="ann@example.org")
    await ledger.flush()
    assert [key async for key, _ in state.scan("") if "ann" in key] == []


class TestWithoutItsState:
    @pytest.fixture
    async def dead(self, clock: Clock) -> MemoryState:
        state = MemoryState(clock=clock)
        await state.close()
        return state

    async def test_nothing_is_bought_on_a_budget(self, dead: MemoryState, clock: Clock) -> None:
        ledger = Ledger(dead, daily_usd=1.0, clock=clock)
        with pytest.raises(SearchBudgetError, match="cannot be reached"):
            await pay(ledger, 0.01)

    async def test_calls_without_a_budget_continue_and_the_outage_is_logged_once(
        self, dead: MemoryState, clock: Clock, caplog: pytest.LogCaptureFixture
    ) -> None:
        ledger = Ledger(dead, clock=clock)
        await pay(ledger, 0.01)
        await pay(ledger, 0.01)
        await ledger.flush()
        assert len(caplog.records) == 1
        with pytest.raises(StateUnavailable):
            await ledger.day()


@pytest.mark.parametrize("bill", [float("inf"), float("nan"), -1.0, 1e30, 10.0**12])
async def test_an_impossible_bill_is_booked_at_the_reserved_amount_and_logged(
    clock: Clock, caplog: pytest.LogCaptureFixture, bill: float
) -> None:
    ledger = Ledger(MemoryState(clock=clock), daily_usd=5.0, clock=clock)
    await pay(ledger, bill, most=0.07, name="openai")
    assert (await ledger.day()).usd == pytest.approx(0.07)
    assert "bill of openai is impossible" in caplog.text


async def test_an_error_with_an_impossible_price_is_raised_unchanged(ledger: Ledger) -> None:
    error = SearchProviderError("stopped")
    call = paying()
    call.bill.book(float("nan"))
    with pytest.raises(SearchProviderError, match="stopped"):
        async with ledger.payment(call, "openai", 0.07):
            raise error
    assert (await ledger.day()).usd == pytest.approx(0.07)


async def test_a_ledger_that_cannot_write_loses_no_exception(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(MemoryState):
        async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
            raise OverflowError("too large")

    ledger = Ledger(Broken(clock=clock), clock=clock)
    error = SearchAuthError("wrong key")
    call = paying()
    call.bill.book(0.01)
    with pytest.raises(SearchAuthError, match="wrong key"):
        async with ledger.payment(call, "brave", 0.07):
            raise error
    await ledger.flush()
    assert "could not write a cost (OverflowError)" in caplog.text


async def test_a_counter_of_thousands_of_digits_is_none_of_ours(clock: Clock) -> None:
    state = MemoryState(clock=clock)
    await state.put("ledger/2027-01-15/usd/brave", b"9" * 5_000)
    ledger = Ledger(state, clock=clock)
    await pay(ledger, 0.005, name="serper")
    assert (await ledger.day()).usd_by_upstream == {"brave": 0, "serper": pytest.approx(0.005)}


async def test_each_level_of_the_budget_is_logged_once(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger(MemoryState(clock=clock), daily_usd=1.0, clock=clock)
    for _ in range(9):
        await pay(ledger, 0.1)
        await ledger.flush()
    assert caplog.text.count("budget_80_percent") == 1
    with pytest.raises(SearchBudgetError):
        await pay(ledger, 0.2)
    await pay(ledger, 0.1)
    await ledger.flush()
    assert caplog.text.count("budget_100_percent") == 1
    clock.now += 86_400
    for _ in range(9):
        await pay(ledger, 0.1)
        await ledger.flush()
    assert caplog.text.count("budget_80_percent") == 2


async def test_only_amounts_with_a_limit_are_reserved(clock: Clock) -> None:
    """Each reservation is a write to the shared state, which a cloud bills."""
    state = MemoryState(clock=clock)
    ledger = Ledger(state, daily_usd=1.0, clock=clock)
    async with ledger.payment(paying(), "brave", 0.1):
        assert [key async for key, _ in state.scan("ledger/")] == ["ledger/2027-01-15/total"]


@pytest.mark.parametrize(("own", "fits"), [(None, 0.4), (0.1, 0.1), (0.9, 0.9), (0.0, 0.0)])
async def test_a_budget_of_the_caller_replaces_that_of_the_settings(
    ledger: Ledger, own: float | None, fits: float
) -> None:
    call = replace(paying(), caller=Caller("ann", limits=CallerLimits(daily_usd=own)))
    async with ledger.payment(call, "brave", fits):
        call.bill.book(fits)
    with pytest.raises(
        SearchBudgetError, match="USER_DAILY" if own is None else "Your token's daily budget"
    ):
        async with ledger.payment(call, "brave", 0.2 if own is None else 0.01):
            pytest.fail("the budget has no room")


async def test_a_user_day_has_what_all_processes_saw(clock: Clock) -> None:
    state = MemoryState(clock=clock)
    ours, other = Ledger(state, clock=clock), Ledger(state, clock=clock)
    await pay(ours, 0.25)
    await pay(other, 0.5, user="bob")
    for _ in range(3):
        ours.called("ann")
    other.called("ann")
    await ours.flush()
    await other.flush()
    ann = UserDay(0.25, 4, NOON)
    assert await ours.user_day("ann") == ann
    assert await ours.user_days(["ann", "bob", "eve"]) == [ann, UserDay(0.5), UserDay()]
    clock.now += 86_400
    assert await ours.user_day("ann") == UserDay(0.0, 0, NOON)


async def test_the_last_call_is_written_once_a_minute(clock: Clock) -> None:
    ledger = Ledger(MemoryState(clock=clock), clock=clock)
    for later in (0.0, NOTED_SECONDS - 1, 1.0):
        clock.now += later
        ledger.called("ann")
        seen = (await ledger.user_day("ann")).last_call
    assert (NOTED_SECONDS, seen) == (60.0, NOON + 60)


async def test_reports_of_a_day_do_not_read_the_rows_of_its_users(clock: Clock) -> None:
    state = MemoryState(clock=clock)
    ledger = Ledger(state, clock=clock)
    await pay(ledger, 0.25)
    await ledger.flush()
    assert [key async for key, _ in state.scan("ledger/users/")] != []
    assert [key async for key, _ in state.scan("ledger/2027-01-15/") if "user" in key] == []


async def test_a_paid_call_waits_longer_for_a_state_that_has_not_answered_yet(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SlowState(MemoryState):
        async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
            await asyncio.sleep(0.05)
            return await super().add(key, amount, ttl)

    monkeypatch.setattr(ledger_module, "_STATE_SECONDS", 0.001)
    state = SlowState(clock=clock)
    ledger = Ledger(state, daily_usd=1.0, clock=clock)
    state.opened = False
    await pay(ledger, 0.1)
    state.opened = True
    with pytest.raises(SearchBudgetError, match="cannot be reached"):
        await pay(ledger, 0.1)
