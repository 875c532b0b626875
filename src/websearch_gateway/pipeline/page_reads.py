"""Pages read at once for one call: each with its own limit of time, and none outlives the call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from websearch_gateway.base import reason
from websearch_gateway.errors import SearchError, SearchTimeoutError
from websearch_gateway.models import Deadline, Page

PAGE_SECONDS = 5.0
"""The most time for one page (seconds): an answer from four pages now is worth more than one from five later."""

GRACE_SECONDS = 0.75
"""How long the remaining pages may take once enough have been read (seconds)."""

Outcome = Page | SearchError
"""A page, or why it could not be read."""


async def read_pages(
    read: Callable[[str, Deadline], Awaitable[Page]],
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
    late = SearchTimeoutError("The page did not arrive in time.")

    async def outcome(url: str) -> Outcome:
        async with gate:
            own = deadline.within(per_page_seconds)
            timer = asyncio.timeout(own.remaining())
            try:
                async with timer:
                    return await read(url, own)
            except SearchError as error:
                return error
            except TimeoutError:
                if not timer.expired():
                    raise
                return late

    tasks = {url: asyncio.create_task(outcome(url)) for url in dict.fromkeys(urls)}
    missing = len(tasks) if enough is None else enough
    try:
        pending = set(tasks.values())
        while pending and (seconds := deadline.remaining()):
            done, pending = await asyncio.wait(
                pending, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            missing -= sum(isinstance(task.result(), Page) for task in done)
            if missing <= 0:
                deadline = deadline.within(GRACE_SECONDS)
        return {url: task.result() if task.done() else late for url, task in tasks.items()}
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


def page_warnings(outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
    """The readers' warnings, each with its page."""
    warnings: list[str] = []
    for url, outcome in outcomes.items():
        if isinstance(outcome, Page):
            warnings += [f"{url}: {warning}" for warning in outcome.warnings]
    return tuple(warnings)


_TEMPORARY = frozenset({"busy", "broken", "timeout"})
"""Reasons of an error that may be gone a moment later."""


def may_be_read_soon(outcomes: Mapping[str, Outcome]) -> bool:
    """Whether a page is missing for a temporary reason."""
    errors = [outcome for outcome in outcomes.values() if isinstance(outcome, SearchError)]
    return any(reason(error.code, error.details) in _TEMPORARY for error in errors)
