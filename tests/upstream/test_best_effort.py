"""A failing state loses only its own result, and gets one line in the log per outage."""

from __future__ import annotations

import asyncio

import pytest

from tests.patience import PATIENCE
from websearch_gateway.errors import StateUnavailable
from websearch_gateway.upstream.best_effort import BestEffort


async def works() -> str:
    return "value"


async def fails() -> str:
    raise StateUnavailable("The state is gone.")


async def hangs() -> str:
    await asyncio.Event().wait()
    return "never"


async def test_the_result_of_the_state_is_passed_on() -> None:
    assert await BestEffort("Lost")(works, "otherwise") == "value"


async def test_a_failure_gives_the_default_and_each_outage_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    attempt = BestEffort("Answers are lost")
    for use in (fails, fails, works, fails):
        assert await attempt(use, "otherwise") == ("value" if use is works else "otherwise")
    assert [record.getMessage() for record in caplog.records] == [
        "Answers are lost: The state is gone."
    ] * 2


async def test_a_slow_call_is_cancelled_in_time() -> None:
    async with asyncio.timeout(PATIENCE):
        assert await BestEffort("Lost")(hangs, "otherwise", seconds=0.01) == "otherwise"


async def test_without_seconds_only_the_time_limit_of_the_backend_applies() -> None:
    gate = asyncio.Event()

    async def slow() -> str:
        await gate.wait()
        return "value"

    use = asyncio.create_task(BestEffort("Lost")(slow, "otherwise", seconds=None))
    await asyncio.sleep(0.02)
    gate.set()
    assert await use == "value"


async def test_a_defect_is_not_hidden() -> None:
    async def broken() -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await BestEffort("Lost")(broken, "otherwise")
