"""Exactly the limit passes with any number of processes, and a refused call costs nothing."""

import asyncio
import subprocess
import sys

import pytest

from tests.patience import PATIENCE
from websearch_gateway.errors import SearchNotConfiguredError, SearchRateLimitError
from websearch_gateway.models import Caller
from websearch_gateway.pipeline.rate_limit import RateLimits
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.sqlite import SqliteState

ME = Caller(user="me@example.org")
YOU = Caller(user="you@example.org")

FIFTY_CALLS = """
import asyncio, pathlib, sys
from websearch_gateway.errors import SearchRateLimitError
from websearch_gateway.models import Caller
from websearch_gateway.pipeline.rate_limit import RateLimits
from websearch_gateway.state.sqlite import SqliteState

async def main():
    state = SqliteState(pathlib.Path(sys.argv[1]))
    rate_limits = RateLimits(state, "60/hour")
    sys.stdin.readline()
    calls = (rate_limits.admit(Caller(user="me")) for _ in range(50))
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    await state.close()
    refused = sum(isinstance(outcome, SearchRateLimitError) for outcome in outcomes)
    print(outcomes.count(None), refused)

asyncio.run(main())
"""


async def passed(rate_limits: RateLimits, caller: Caller, calls: int) -> int:
    outcomes = await asyncio.gather(*(rate_limits.admit(caller) for _ in range(calls)), return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} <= {type(None), SearchRateLimitError}
    return outcomes.count(None)


async def refusal(rate_limits: RateLimits, caller: Caller) -> SearchRateLimitError:
    with pytest.raises(SearchRateLimitError) as caught:
        await rate_limits.admit(caller)
    return caught.value


async def test_exactly_the_limit_passes(state, clock):
    rate_limits = RateLimits(state, "20/10minutes", clock=clock)
    assert await passed(rate_limits, ME, 100) == 20


async def test_exactly_the_limit_passes_in_sequence(state, clock):
    rate_limits = RateLimits(state, "3/minute", clock=clock)
    assert [await passed(rate_limits, ME, 1) for _ in range(5)] == [1, 1, 1, 0, 0]


async def test_users_do_not_share_a_limit(state, clock):
    rate_limits = RateLimits(state, "3/minute", clock=clock)
    assert await passed(rate_limits, ME, 10) == 3
    assert await passed(rate_limits, YOU, 10) == 3


async def test_without_limits_everything_passes_and_nothing_is_counted(state):
    assert await passed(RateLimits(state, "", ""), ME, 500) == 500
    assert [entry async for entry in state.scan("")] == []


def test_exactly_the_limit_passes_in_four_processes(tmp_path):
    command = [sys.executable, "-c", FIFTY_CALLS, tmp_path / "state.db"]
    children = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    counts = [tuple(map(int, child.communicate(timeout=PATIENCE)[0].split())) for child in children]
    assert sum(admitted for admitted, _ in counts) == 60
    assert sum(refused for _, refused in counts) == 140


async def test_each_setting_has_its_own_counts(state, clock):
    searching = RateLimits(state, "2/minute", setting="SEARCH_RATE_LIMIT", clock=clock)
    reading = RateLimits(state, "2/minute", setting="READ_RATE_LIMIT", clock=clock)
    assert await passed(searching, ME, 5) == 2
    assert await passed(reading, ME, 5) == 2
    assert "(READ_RATE_LIMIT)" in (await refusal(reading, ME)).message


async def test_a_call_given_back_may_be_used_again(state, clock):
    rate_limits = RateLimits(state, "2/minute", "3/minute", clock=clock)
    assert await passed(rate_limits, ME, 2) == 2
    await rate_limits.give_back(ME)
    assert await passed(rate_limits, ME, 2) == 1
    assert await passed(rate_limits, YOU, 2) == 1


class TestRefusal:
    async def test_it_says_when_to_try_again_and_which_limit_is_reached(self, state, clock):
        rate_limits = RateLimits(state, "20/10minutes", clock=clock)
        await passed(rate_limits, ME, 20)
        clock.now += 123.4
        error = await refusal(rate_limits, ME)
        assert error.retry_after == 477
        assert error.details == {"limit": "20/10minutes", "scope": "user"}
        assert "me@example.org" not in error.message

    async def test_a_call_after_the_stated_wait_passes(self, state, clock):
        rate_limits = RateLimits(state, "2/minute", clock=clock)
        await passed(rate_limits, ME, 2)
        clock.now += 17.25
        clock.now += (await refusal(rate_limits, ME)).retry_after
        assert await passed(rate_limits, ME, 10) == 2

    async def test_it_does_not_count_towards_the_next_window(self, state, clock):
        rate_limits = RateLimits(state, "5/minute", clock=clock)
        assert await passed(rate_limits, ME, 500) == 5
        clock.now += 60
        assert await passed(rate_limits, ME, 500) == 5

    async def test_refused_calls_do_not_prolong_the_window(self, state, clock):
        rate_limits = RateLimits(state, "1/minute", clock=clock)
        await rate_limits.admit(ME)
        for _ in range(5):
            clock.now += 10
            await refusal(rate_limits, ME)
        clock.now += 10
        await rate_limits.admit(ME)


class TestTogether:
    async def test_the_common_limit_holds_for_all_users_at_once(self, state, clock):
        rate_limits = RateLimits(state, "", "5/hour", clock=clock)
        assert await passed(rate_limits, ME, 3) + await passed(rate_limits, YOU, 30) == 5
        clock.now += 600
        error = await refusal(rate_limits, ME)
        assert error.details == {"limit": "5/hour", "scope": "global"}
        assert error.retry_after == 3000

    async def test_a_user_whom_the_common_limit_stops_keeps_their_own_calls(self, tmp_path, clock):
        state = SqliteState(tmp_path / "state.db", clock=clock)
        rate_limits = RateLimits(state, "3/day", "4/minute", clock=clock)
        assert await passed(rate_limits, YOU, 2) == 2
        assert await passed(rate_limits, ME, 2) == 2
        refusals = await asyncio.gather(*(refusal(rate_limits, ME) for _ in range(50)))
        assert {error.details["scope"] for error in refusals} == {"global"}
        clock.now += 60
        assert await passed(rate_limits, ME, 50) == 1
        await state.close()

    async def test_the_loser_of_the_race_for_the_last_common_call_gets_their_own_back(self, tmp_path, clock):
        """On a file every verb waits, so that all three calls look before one of them counts."""
        state = SqliteState(tmp_path / "state.db", clock=clock)
        rate_limits = RateLimits(state, "3/day", "1/minute", clock=clock)
        assert await passed(rate_limits, ME, 3) == 1
        for _ in range(2):
            clock.now += 60
            assert await passed(rate_limits, ME, 1) == 1
        await state.close()

    async def test_a_refused_user_does_not_use_up_the_common_limit(self, state, clock):
        rate_limits = RateLimits(state, "1/hour", "3/hour", clock=clock)
        assert await passed(rate_limits, ME, 50) == 1
        assert await passed(rate_limits, YOU, 1) == 1


class TestState:
    async def test_it_does_not_reveal_the_user(self, state, clock):
        await passed(RateLimits(state, "20/10minutes", "100/day", clock=clock), ME, 1)
        held = [entry async for entry in state.scan("")]
        assert held
        assert all(key.startswith("limit/") for key, _ in held)
        assert "example" not in repr(held)

    async def test_foreign_values_under_our_keys_are_not_counts(self, state, clock):
        rate_limits = RateLimits(state, "2/minute", "5/minute", clock=clock)
        await rate_limits.admit(ME)
        async for key, _ in state.scan("limit/"):
            await state.put(key, b"\xffnonsense")
        assert await passed(rate_limits, ME, 10) == 2
        await refusal(rate_limits, ME)

    async def test_without_it_each_process_counts_alone_and_logs_so_once(self, tmp_path, caplog):
        (tmp_path / "file").touch()
        broken = SqliteState(tmp_path / "file" / "state.db")
        rate_limits = RateLimits(broken, "20/10minutes")
        assert await passed(rate_limits, ME, 100) == 20
        error = await refusal(rate_limits, ME)
        assert 0 < error.retry_after <= 600
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        await broken.close()

    async def test_without_it_the_common_limit_is_counted_once_for_all_gates(self, tmp_path, clock):
        (tmp_path / "file").touch()
        broken, here = SqliteState(tmp_path / "file" / "state.db"), MemoryState(clock=clock)
        asking = RateLimits(broken, "3/hour", "5/hour", here=here, clock=clock)
        searching = RateLimits(broken, "4/hour", "5/hour", setting="SEARCH_RATE_LIMIT", here=here, clock=clock)
        assert await passed(asking, ME, 10) == 3
        assert await passed(searching, ME, 10) == 2
        error = await refusal(searching, YOU)
        assert error.details == {"limit": "5/hour", "scope": "global"}
        assert error.retry_after == 3600
        clock.now += 3600
        assert await passed(searching, ME, 10) == 4
        await broken.close()


class TestSettings:
    @pytest.mark.parametrize(
        "limit", ["20", "many/minute", "20/fortnight", "-1/minute", "20/minute;100/day", " ", "\0"]
    )
    @pytest.mark.parametrize(("setting", "position"), [("RATE_LIMIT", 0), ("GLOBAL_RATE_LIMIT", 1)])
    async def test_an_unusable_limit_is_named(self, state, limit, setting, position):
        limits = ["", ""]
        limits[position] = limit
        with pytest.raises(SearchNotConfiguredError, match=rf"^{setting} "):
            await RateLimits(state, *limits).admit(ME)

    def test_limits_is_not_imported_at_start(self):
        check = "import sys, websearch_gateway.pipeline.rate_limit; sys.exit('limits' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", check]).returncode == 0
