"""Reading many pages at once, where one slow page must not cost the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from websearch_gateway.errors import SearchError, SearchTimeoutError
from websearch_gateway.models import Deadline, Page
from websearch_gateway.ports import Reader

GRACE_SECONDS = 0.75
"""How long the other pages may still arrive once enough have been read."""

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
    """Read `urls`, each as soon as `gate` has room for it; each distinct URL is a key, in the order given.

    A page that cannot be read is its `SearchError`; one that took longer than `per_page_seconds`, or was still on its
    way at `deadline` or shortly after `enough` others had been read, is a `SearchTimeoutError`. No task outlives the
    call, whether it returns, raises or is cancelled.

    Raises:
        Exception: an error other than `SearchError` is a defect of a reader, and raised.
    """
    tasks = {
        url: asyncio.create_task(_read(reader, url, deadline, per_page_seconds, gate)) for url in dict.fromkeys(urls)
    }
    try:
        await _gather(set(tasks.values()), deadline, enough or len(tasks))
        return {url: task.result() if task.done() else _late() for url, task in tasks.items()}
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


async def _gather(pending: set[asyncio.Task[Outcome]], deadline: Deadline, enough: int) -> None:
    """Wait for the tasks until `deadline`, or a little longer than it takes `enough` of them to bring a page."""
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
            return _late()


def _late() -> SearchTimeoutError:
    return SearchTimeoutError("The page did not arrive in time.")
