"""How late the event loop is."""

from __future__ import annotations

import asyncio

from tests.clock import Clock
from websearch_gateway.entrypoints.http.loop_lag import BEAT_SECONDS, WINDOW_SECONDS, LoopLag


async def test_a_block_counts_while_it_lasts_and_for_ten_seconds_after() -> None:
    clock = Clock(100.0)
    lag = LoopLag(clock)

    def pass_on_time(seconds: float) -> None:
        for _ in range(round(seconds / BEAT_SECONDS)):
            clock.now += BEAT_SECONDS
            lag.beat()

    async with lag.watched():
        await asyncio.sleep(0)
        assert lag.seconds == 0
        clock.now += BEAT_SECONDS + 3
        assert lag.seconds == 3
        lag.beat()
        pass_on_time(WINDOW_SECONDS - 1)
        assert lag.seconds == 3
        pass_on_time(2)
        assert lag.seconds == 0


async def test_nothing_is_late_that_is_not_watched() -> None:
    assert LoopLag().seconds == 0
