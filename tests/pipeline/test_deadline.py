"""One deadline for everything in a call."""

from __future__ import annotations

import asyncio

import pytest

from websearch_gateway.errors import SearchTimeoutError
from websearch_gateway.pipeline.deadline import one_deadline


async def test_running_work_is_cancelled_when_the_deadline_passes() -> None:
    ends: list[type[BaseException]] = []

    async def call() -> None:
        async with one_deadline(0.01):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError as error:
                ends.append(type(error))
                raise

    with pytest.raises(SearchTimeoutError, match=r"within 0\.01 s.*SEARCH_DEADLINE_SECONDS"):
        await call()
    assert ends == [asyncio.CancelledError]


async def test_the_block_gets_the_deadline_as_a_value() -> None:
    async with one_deadline(60) as deadline:
        assert 0 < deadline.remaining() <= 60


async def test_a_cancelled_caller_gets_no_timeout_error() -> None:
    async def call() -> None:
        async with one_deadline(60):
            await asyncio.Event().wait()

    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
