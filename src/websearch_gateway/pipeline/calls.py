"""The deadline of a call, under which everything runs that it starts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from websearch_gateway.errors import SearchTimeoutError
from websearch_gateway.models import LOCAL, Bill, Call, Caller, Progress, no_progress


@asynccontextmanager
async def one_deadline(
    seconds: float,
    caller: Caller = LOCAL,
    progress: Progress = no_progress,
    bill: Bill | None = None,
) -> AsyncIterator[Call]:
    """Begins a call: sets the deadline of a block, and cancels the block when the deadline passes.

    Raises:
        SearchTimeoutError: the deadline has passed.
    """
    try:
        async with asyncio.timeout(seconds):
            yield Call(
                time.monotonic() + seconds, progress=progress, caller=caller, bill=bill or Bill()
            )
    except TimeoutError:
        raise timeout_error(seconds) from None


def timeout_error(seconds: float) -> SearchTimeoutError:
    """The error of a call that has used up its time."""
    return SearchTimeoutError(
        f"No answer came within {seconds:g} s. Ask again, or raise SEARCH_DEADLINE_SECONDS."
    )
