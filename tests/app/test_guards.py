"""What a guard does by the settings. The layers themselves are tested in `tests/upstream`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from websearch_gateway.app.guards import Guards
from websearch_gateway.errors import NotAsked, SearchBudgetError, SearchTimeoutError, Unavailable
from websearch_gateway.models import Call, Caller
from websearch_gateway.settings.loading import Settings
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.upstream.guarded import UpstreamGuard
from websearch_gateway.upstream.health import HealthRegistry
from websearch_gateway.upstream.ledger import Ledger


@pytest.fixture
def guards() -> Guards:
    settings = Settings(breaker_failures=3, daily_budget_usd=1.0)
    return Guards(settings, HealthRegistry(), Ledger(MemoryState(), daily_usd=1.0))


def call() -> Call:
    return replace(Call.after(60), caller=Caller("ann"))


async def failures_until_it_rests(guard: UpstreamGuard, error: Exception) -> int:
    for failures in range(10):
        try:
            async with guard(call()):
                raise error
        except NotAsked:
            return failures
        except type(error):
            continue
    raise AssertionError("it never rests")


async def test_an_upstream_rests_after_as_many_failures_as_the_setting_says(guards: Guards) -> None:
    guard = guards.around("brave", None)
    assert await failures_until_it_rests(guard, Unavailable("broken")) == 3


async def test_one_timeout_is_enough_where_the_caller_says_so(guards: Guards) -> None:
    guard = guards.around("reranker", None, timeouts=1)
    assert await failures_until_it_rests(guard, SearchTimeoutError("reranker is slow")) == 1


async def test_what_may_cost_more_than_the_day_has_left_is_not_asked(guards: Guards) -> None:
    dear, free = guards.around("dear", lambda _: 2.0), guards.around("free", None)
    with pytest.raises(SearchBudgetError):
        async with dear(call()):
            raise AssertionError("it was asked")
    async with free(call()):
        pass


async def test_health_counts_each_call_under_the_name(guards: Guards) -> None:
    guard = guards.around("brave", None)
    async with guard(call()):
        pass
    with pytest.raises(Unavailable):
        async with guard(call()):
            raise Unavailable("broken")
    status = next(row for row in guards.health.snapshot() if row.name == "brave")
    assert (status.calls, status.failures) == (2, 1)
