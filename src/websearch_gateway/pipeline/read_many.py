"""Reads many pages concurrently, so that one slow page does not cost the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from websearch_gateway.errors import SearchError, SearchTimeoutError
from websearch_gateway.models import Deadline, Page
from websearch_gateway.ports import Reader

GRACE_SECONDS = 0.75
"""How long the remaining pages may take once enough have been read (seconds)."""

Outcome = Page | SearchError


async def read_pages(
    reader: Reader,
    urls: Sequence[str],
    deadline: Deadline,
    *,
    gate: asyncio.Semaphore,
    per_page_seconds: float,
    enough: int | None = None,
) -> dict[str, Outcome]:
    """Read `urls`, each as soon as `gate` has room; the keys are the distinct URLs, in the order given.

    The value of an unreadable page is its `SearchError`. The value is a `SearchTimeoutError` if the page took longer
    than `per_page_seconds`, or if it had not arrived by `deadline` or GRACE_SECONDS after `enough` others. No task
    outlives the call, even if the call raises or is cancelled.

    Raises:
        Exception: any error other than `SearchError` is a defect of a reader and is raised.
    """
    tasks = {
        url: asyncio.create_task(_read(reader, url, deadline, per_page_seconds, gate)) for url in dict.fromkeys(urls)
    }
    try:
        await _gather(set(tasks.values()), deadline, enough or len(tasks))
        return {url: task.result() if task.done() else _timeout_error() for url, task in tasks.items()}
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


async def _gather(pending: set[asyncio.Task[Outcome]], deadline: Deadline, enough: int) -> None:
    """Wait for the tasks until `deadline`, or until shortly after `enough` of them have read a page."""
    while pending and (seconds := deadline.remaining()):
        done, pending = await asyncio.wait(pending, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        enough -= sum(isinstance(task.result(), Page) for task in done)
        if enough <= 0:
            deadline = deadline.within(GRACE_SECONDS)


async def _read(
    reader: Reader, url: str, deadline: Deadline, per_page_seconds: float, gate: asyncio.Semaphore
) -> Outcome:
    async with gate:
        own = deadline.within(per_page_seconds)
        timer = asyncio.timeout(own.remaining())
        try:
            async with timer:
                return await reader.read(url, own)
        except SearchError as error:
            return error
        except TimeoutError:
            if not timer.expired():
                raise
            return _timeout_error()


def _timeout_error() -> SearchTimeoutError:
    return SearchTimeoutError("The page did not arrive in time.")
