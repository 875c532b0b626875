import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.patience import PATIENCE
from websearch_gateway.errors import StateUnavailable
from websearch_gateway.state.shared import RemoteState


class Foreign(Exception):
    """An exception of a backend's library."""


class Postbox(RemoteState):
    """A counter behind a slow connection."""

    backend = "Postbox"

    def __init__(
        self,
        timeout_seconds: float = 20,
        cooldown_seconds: float = 600,
        opening_seconds: float = 0.0,
    ) -> None:
        super().__init__(
            timeout_seconds=timeout_seconds,
            cooldown_seconds=cooldown_seconds,
            opening_seconds=opening_seconds,
        )
        self.value = 0
        self.sent: list[tuple[int, float | None]] = []
        self.line = asyncio.Event()
        self.broken = False
        self.disconnected = 0

    def _load(self) -> tuple[type[Exception], ...]:
        return (Foreign,)

    async def _send_increment(self, key: str, amount: int, ttl: float | None) -> int:
        self.sent.append((amount, ttl))
        await self.line.wait()
        if self.broken:
            raise StateUnavailable("The line is cut.")
        self.value += amount
        return self.value

    async def _disconnect(self) -> None:
        self.disconnected += 1


async def never() -> None:
    await asyncio.Event().wait()


async def answer() -> int:
    return 42


async def refuse() -> None:
    raise Foreign("the key is secret")


async def test_the_result_of_a_verb_is_returned():
    assert await Postbox().run(answer) == 42


async def test_after_a_slow_verb_all_fail_at_once():
    tried = Postbox(timeout_seconds=0.01)
    with pytest.raises(StateUnavailable, match=r"Postbox did not answer within 0.01 s"):
        await tried.run(never)
    with pytest.raises(StateUnavailable, match="a moment ago"):
        await tried.run(answer)


async def test_after_the_cooldown_the_backend_is_called_again():
    tried = Postbox(timeout_seconds=0.01, cooldown_seconds=0)
    with pytest.raises(StateUnavailable):
        await tried.run(never)
    assert await tried.run(answer) == 42


async def test_a_verb_that_ignores_its_cancellation_delays_no_caller():
    """psycopg, for example, waits until its server confirms that a statement was cancelled."""
    released = asyncio.Event()

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await released.wait()
            raise

    tried = Postbox(timeout_seconds=0.01)
    with pytest.raises(StateUnavailable):
        await tried.run(stubborn)
    await tried.close()
    assert tried.disconnected == 1
    released.set()


async def test_exceptions_of_the_library_are_mapped_and_their_text_is_not_quoted():
    with pytest.raises(StateUnavailable, match=r"^Postbox cannot be used \(Foreign\)\.$") as caught:
        await Postbox().run(refuse)
    assert isinstance(caught.value.__cause__, Foreign)


async def test_a_refusal_starts_no_cooldown():
    tried = Postbox()
    with pytest.raises(StateUnavailable):
        await tried.run(refuse)
    assert await tried.run(answer) == 42


async def test_a_cancelled_caller_cancels_the_verb():
    begun, ended = asyncio.Event(), asyncio.Event()

    async def verb() -> None:
        begun.set()
        try:
            await never()
        finally:
            ended.set()

    caller = asyncio.create_task(Postbox().run(verb))
    await begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await asyncio.wait_for(ended.wait(), PATIENCE)


async def test_no_verb_begins_after_closing():
    tried = Postbox()
    await tried.close()
    await tried.close()
    assert tried.disconnected == 1
    with pytest.raises(StateUnavailable, match="closed"):
        await tried.run(answer)


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=30))
async def test_each_caller_gets_the_value_of_a_sequential_increment(amounts):
    additions = Postbox()
    waiting = [asyncio.create_task(additions.add("n", amount, None)) for amount in amounts]
    await asyncio.sleep(0)
    additions.line.set()
    assert await asyncio.gather(*waiting) == [
        sum(amounts[: end + 1]) for end in range(len(amounts))
    ]
    assert len(additions.sent) <= 2


async def test_the_first_waiting_increment_sets_the_ttl():
    additions = Postbox()
    first = asyncio.create_task(additions.add("n", 1, 10))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    others = [asyncio.create_task(additions.add("n", 1, ttl)) for ttl in (20, 30)]
    await asyncio.sleep(0)
    additions.line.set()
    await asyncio.gather(first, *others)
    assert additions.sent == [(1, 10), (2, 20)]


async def test_a_failure_is_raised_in_all_waiting_callers_and_later_increments_work():
    additions = Postbox()
    waiting = [asyncio.create_task(additions.add("n", 1, None)) for _ in range(3)]
    await asyncio.sleep(0)
    additions.broken = True
    additions.line.set()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StateUnavailable] * 3
    assert len(set(map(id, outcomes))) == 3
    additions.broken = False
    assert await additions.add("n", 1, None) == 1


async def test_the_increment_of_a_caller_who_leaves_still_counts():
    additions = Postbox()
    waiting = [asyncio.create_task(additions.add("n", 1, None)) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    additions.line.set()
    assert await waiting[2] == 3
    with pytest.raises(asyncio.CancelledError):
        await waiting[1]


async def test_closing_waits_for_running_increments():
    additions = Postbox()
    waiting = asyncio.create_task(additions.add("n", 1, None))
    await asyncio.sleep(0)
    closing = asyncio.create_task(additions.close())
    additions.line.set()
    await closing
    assert waiting.done() or await waiting == 1


async def test_the_first_verbs_may_wait_for_the_connection_and_later_ones_may_not():
    opening = Postbox(timeout_seconds=0.01, opening_seconds=PATIENCE)

    async def connect() -> int:
        await opening.line.wait()
        return 42

    first, second = (asyncio.create_task(opening.run(connect)) for _ in range(2))
    await asyncio.wait({first, second}, timeout=0.1)
    assert (first.done(), second.done(), opening.opened) == (False, False, False)
    opening.line.set()
    assert (await first, await second, opening.opened) == (42, 42, True)
    with pytest.raises(StateUnavailable, match=r"0\.01 s"):
        await opening.run(never)


async def test_a_backend_that_never_opens_gets_the_longer_time_once():
    opening = Postbox(timeout_seconds=0.01, opening_seconds=0.05, cooldown_seconds=0)
    with pytest.raises(StateUnavailable, match=r"within 0\.05 s"):
        await opening.run(never)
    with pytest.raises(StateUnavailable, match=r"within 0\.01 s"):
        await opening.run(never)
    assert not opening.opened
