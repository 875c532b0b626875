"""Worker processes that the gateways of many tests share, since starting two takes longer than most tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from tests.patience import PATIENCE
from websearch_gateway.app.reading import WARM_UP
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.base.workers.worker import Limits


class SharedWorkers:
    """A real pool on an event loop of its own, since each test has another. It outlives the gateways that use it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        self._pool = Workers(warm_up=WARM_UP, limits=Limits(seconds=PATIENCE))

    @property
    def trouble(self) -> str | None:
        return self._pool.trouble

    async def warm(self) -> None:
        await self._there(self._pool.warm())

    async def run(self, *call: Any, **options: Any) -> Any:
        return await self._there(self._pool.run(*call, **options))

    async def aclose(self) -> None:
        """Do nothing: the next test uses the same pool."""

    async def live(self) -> None:
        """Serve until `end`. Calls that are still running then are cancelled."""
        async with self._pool:
            await self._ending.wait()
            await _cancel_other_tasks()

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._ending.set)

    async def _there(self, work: Coroutine[Any, Any, Any]) -> Any:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))


@contextmanager
def shared_workers() -> Iterator[SharedWorkers]:
    """Processes that start with the first long text and end with the block."""
    opened: Future[SharedWorkers] = Future()

    async def live() -> None:
        workers = SharedWorkers()
        opened.set_result(workers)
        await workers.live()

    thread = threading.Thread(target=lambda: asyncio.run(live()), name="workers", daemon=True)
    thread.start()
    workers = opened.result()
    try:
        yield workers
    finally:
        workers.end()
        thread.join()


async def _cancel_other_tasks() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
