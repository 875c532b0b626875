"""How often a caller, and all callers together, may ask."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from tests.patience import PATIENCE
from websearch_gateway.errors import SearchRateLimitError
from websearch_gateway.models import (
    Caller,
    CallerLimits,
)
from websearch_gateway.pipeline.rate_limits import RateLimits
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.sqlite import SqliteState

ME = Caller("me")


async def test_a_count_of_thousands_of_digits_is_none_of_ours() -> None:
    state = MemoryState()
    await state.put("limit/GLOBAL_RATE_LIMIT/1/minute/all", b"9" * 5_000)
    await RateLimits(state, MemoryState(), "", "1/minute").admit(ME)


async def test_who_is_refused_waits_for_the_whole_window_if_its_end_is_unknown() -> None:
    """The caller whose call began it may have left before the end was written."""
    state = MemoryState()
    await state.add("limit/GLOBAL_RATE_LIMIT/1/minute/all", 1, 60)
    with pytest.raises(SearchRateLimitError) as refused:
        await RateLimits(state, MemoryState(), "", "1/minute").admit(ME)
    assert refused.value.retry_after == 60


LIMITED = Caller(user="me@example.org")
OTHER = Caller(user="you@example.org")

FIFTY_CALLS = """
import asyncio, pathlib, sys
from websearch_gateway.errors import SearchRateLimitError
from websearch_gateway.models import Caller
from websearch_gateway.pipeline.rate_limits import RateLimits
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.sqlite import SqliteState

async def main():
    state = SqliteState(pathlib.Path(sys.argv[1]))
    rate_limits = RateLimits(state, MemoryState(), "60/hour")
    sys.stdin.readline()
    calls = (rate_limits.admit(Caller(user="me")) for _ in range(50))
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    await state.close()
    refused = sum(isinstance(outcome, SearchRateLimitError) for outcome in outcomes)
    print(outcomes.count(None), refused)

asyncio.run(main())
"""


async def passed(rate_limits: RateLimits, caller: Caller, calls: int) -> int:
    outcomes = await asyncio.gather(
        *(rate_limits.admit(caller) for _ in range(calls)), return_exceptions=True
    )
    assert {type(outcome) for outcome in outcomes} <= {type(None), SearchRateLimitError}
    return outcomes.count(None)


async def refusal(rate_limits: RateLimits, caller: Caller) -> SearchRateLimitError:
    with pytest.raises(SearchRateLimitError) as caught:
        await rate_limits.admit(caller)
    return caught.value


async def test_exactly_the_limit_passes(state, clock):
    rate_limits = RateLimits(state, MemoryState(), "20/10minutes", clock=clock)
    assert await passed(rate_limits, LIMITED, 100) == 20


async def test_exactly_the_limit_passes_in_sequence(state, clock):
    rate_limits = RateLimits(state, MemoryState(), "3/minute", clock=clock)
    assert [await passed(rate_limits, LIMITED, 1) for _ in range(5)] == [1, 1, 1, 0, 0]


async def test_users_do_not_share_a_limit(state, clock):
    rate_limits = RateLimits(state, MemoryState(), "3/minute", clock=clock)
    assert await passed(rate_limits, LIMITED, 10) == 3
    assert await passed(rate_limits, OTHER, 10) == 3


async def test_without_limits_everything_passes_and_nothing_is_counted(state):
    assert await passed(RateLimits(state, MemoryState(), "", ""), LIMITED, 500) == 500
    assert [entry async for entry in state.scan("")] == []


def test_exactly_the_limit_passes_in_four_processes(tmp_path):
    command = [sys.executable, "-c", FIFTY_CALLS, tmp_path / "state.db"]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    counts = [tuple(map(int, child.communicate(timeout=PATIENCE)[0].split())) for child in children]
    assert sum(admitted for admitted, _ in counts) == 60
    assert sum(refused for _, refused in counts) == 140


async def test_each_setting_has_its_own_counts(state, clock):
    searching = RateLimits(
        state, MemoryState(), "2/minute", setting="SEARCH_RATE_LIMIT", clock=clock
    )
    reading = RateLimits(state, MemoryState(), "2/minute", setting="READ_RATE_LIMIT", clock=clock)
    assert await passed(searching, LIMITED, 5) == 2
    assert await passed(reading, LIMITED, 5) == 2
    assert "(READ_RATE_LIMIT)" in (await refusal(reading, LIMITED)).message


async def test_a_call_given_back_may_be_used_again(state, clock):
    rate_limits = RateLimits(state, MemoryState(), "2/minute", "3/minute", clock=clock)
    assert await passed(rate_limits, LIMITED, 2) == 2
    await rate_limits.give_back(LIMITED)
    assert await passed(rate_limits, LIMITED, 2) == 1
    assert await passed(rate_limits, OTHER, 2) == 1


class TestRefusal:
    async def test_it_says_when_to_try_again_and_which_limit_is_reached(self, state, clock):
        rate_limits = RateLimits(state, MemoryState(), "20/10minutes", clock=clock)
        await passed(rate_limits, LIMITED, 20)
        clock.now += 123.4
        error = await refusal(rate_limits, LIMITED)
        assert error.retry_after == 477
        assert error.details == {"limit": "20/10minutes", "scope": "user"}
        assert "me@example.org" not in error.message

    async def test_a_call_after_the_stated_wait_passes(self, state, clock):
        rate_limits = RateLimits(state, MemoryState(), "2/minute", clock=clock)
        await passed(rate_limits, LIMITED, 2)
        clock.now += 17.25
        clock.now += (await refusal(rate_limits, LIMITED)).retry_after
        assert await passed(rate_limits, LIMITED, 10) == 2

    async def test_it_does_not_count_towards_the_next_window(self, state, clock):
        rate_limits = RateLimits(state, MemoryState(), "5/minute", clock=clock)
        assert await passed(rate_limits, LIMITED, 500) == 5
        clock.now += 60
        assert await passed(rate_limits, LIMITED, 500) == 5

    async def test_refused_calls_do_not_prolong_the_window(self, state, clock):
        rate_limits = RateLimits(state, MemoryState(), "1/minute", clock=clock)
        await rate_limits.admit(LIMITED)
        for _ in range(5):
            clock.now += 10
            await refusal(rate_limits, LIMITED)
        clock.now += 10
        await rate_limits.admit(LIMITED)


class TestTogether:
    async def test_the_common_limit_holds_for_all_users_at_once(self, state, clock):
        rate_limits = RateLimits(state, MemoryState(), "", "5/hour", clock=clock)
        assert await passed(rate_limits, LIMITED, 3) + await passed(rate_limits, OTHER, 30) == 5
        clock.now += 600
        error = await refusal(rate_limits, LIMITED)
        assert error.details == {"limit": "5/hour", "scope": "global"}
        assert error.retry_after == 3000

    async def test_a_user_whom_the_common_limit_stops_keeps_their_own_calls(self, tmp_path, clock):
        state = SqliteState(tmp_path / "state.db", clock=clock)
        rate_limits = RateLimits(state, MemoryState(), "3/day", "4/minute", clock=clock)
        assert await passed(rate_limits, OTHER, 2) == 2
        assert await passed(rate_limits, LIMITED, 2) == 2
        refusals = await asyncio.gather(*(refusal(rate_limits, LIMITED) for _ in range(50)))
        assert {error.details["scope"] for error in refusals} == {"global"}
        clock.now += 60
        assert await passed(rate_limits, LIMITED, 50) == 1
        await state.close()

    async def test_the_loser_of_the_race_for_the_last_common_call_gets_their_own_back(
        self, tmp_path, clock
    ):
        """On a file every verb waits, so that all three calls look before one of them counts."""
        state = SqliteState(tmp_path / "state.db", clock=clock)
        rate_limits = RateLimits(state, MemoryState(), "3/day", "1/minute", clock=clock)
        assert await passed(rate_limits, LIMITED, 3) == 1
        for _ in range(2):
            clock.now += 60
            assert await passed(rate_limits, LIMITED, 1) == 1
        await state.close()

    async def test_a_refused_user_does_not_use_up_the_common_limit(self, state, clock):
        rate_limits = RateLimits(state, MemoryState(), "1/hour", "3/hour", clock=clock)
        assert await passed(rate_limits, LIMITED, 50) == 1
        assert await passed(rate_limits, OTHER, 1) == 1


class TestState:
    async def test_it_does_not_reveal_the_user(self, state, clock):
        await passed(
            RateLimits(state, MemoryState(), "20/10minutes", "100/day", clock=clock), LIMITED, 1
        )
        held = [entry async for entry in state.scan("")]
        assert held
        assert all(key.startswith("limit/") for key, _ in held)
        assert "example" not in repr(held)

    async def test_foreign_values_under_our_keys_are_not_counts(self, state, clock):
        rate_limits = RateLimits(state, MemoryState(), "2/minute", "5/minute", clock=clock)
        await rate_limits.admit(LIMITED)
        async for key, _ in state.scan("limit/"):
            await state.put(key, b"\xffnonsense")
        assert await passed(rate_limits, LIMITED, 10) == 2
        await refusal(rate_limits, LIMITED)

    async def test_without_it_each_process_counts_alone_and_logs_so_once(self, tmp_path, caplog):
        (tmp_path / "file").touch()
        broken = SqliteState(tmp_path / "file" / "state.db")
        rate_limits = RateLimits(broken, MemoryState(), "20/10minutes")
        assert await passed(rate_limits, LIMITED, 100) == 20
        error = await refusal(rate_limits, LIMITED)
        assert 0 < error.retry_after <= 600
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        await broken.close()

    async def test_without_it_the_common_limit_is_counted_once_for_all_gates(self, tmp_path, clock):
        (tmp_path / "file").touch()
        broken, here = SqliteState(tmp_path / "file" / "state.db"), MemoryState(clock=clock)
        asking = RateLimits(broken, here, "3/hour", "5/hour", clock=clock)
        searching = RateLimits(
            broken, here, "4/hour", "5/hour", setting="SEARCH_RATE_LIMIT", clock=clock
        )
        assert await passed(asking, LIMITED, 10) == 3
        assert await passed(searching, LIMITED, 10) == 2
        error = await refusal(searching, OTHER)
        assert error.details == {"limit": "5/hour", "scope": "global"}
        assert error.retry_after == 3600
        clock.now += 3600
        assert await passed(searching, LIMITED, 10) == 4
        await broken.close()


async def test_a_limit_of_the_caller_counts_all_kinds_together_except_cached_calls(
    state: SqliteState,
) -> None:
    ann = Caller("ann", limits=CallerLimits("3/minute"))
    kinds = [
        RateLimits(state, MemoryState(), "1/minute", setting=name)
        for name in ("RATE_LIMIT", "READ_RATE_LIMIT")
    ]
    cached = RateLimits(state, MemoryState(), "9/minute", setting="CACHED_RATE_LIMIT")
    await kinds[0].admit(ann)
    await kinds[0].admit(ann)
    await kinds[1].admit(ann)
    for kind in kinds:
        with pytest.raises(SearchRateLimitError, match="set for your token"):
            await kind.admit(ann)
    assert await passed(cached, ann, 20) == 9
    assert [(one.setting, one.used, one.left) for one in await kinds[1].usage(ann)] == [
        ("OWN", 3, 0)
    ]
    assert await passed(kinds[0], Caller("bob"), 5) == 1


async def test_a_caller_may_have_no_limit_but_never_escapes_the_common_one(
    state: SqliteState,
) -> None:
    ann = Caller("ann", limits=CallerLimits(""))
    assert await passed(RateLimits(state, MemoryState(), "1/minute"), ann, 50) == 50
    assert await passed(RateLimits(state, MemoryState(), "1/minute", "5/minute"), ann, 50) == 5


async def test_usage_tells_when_the_window_ends(state: SqliteState) -> None:
    limits = RateLimits(state, MemoryState(), "3/minute", "100/day")
    (common, own) = await limits.usage(Caller("ann"))
    assert (common.setting, own.used, own.left, own.resets_in_seconds) == (
        "GLOBAL_RATE_LIMIT",
        0,
        3,
        0,
    )
    await limits.admit(Caller("ann"))
    (_, own) = await limits.usage(Caller("ann"))
    assert (own.limit, own.used, own.left) == ("3/minute", 1, 2)
    assert 50 < own.resets_in_seconds <= 60
