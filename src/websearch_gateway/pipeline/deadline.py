"""The one deadline of a call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from websearch_gateway.errors import SearchTimeoutError
from websearch_gateway.models import Deadline


@asynccontextmanager
async def one_deadline(seconds: float) -> AsyncIterator[Deadline]:
    """Sets the deadline of a block, and cancels the block when the deadline passes.

    Raises:
        SearchTimeoutError: the deadline has passed.
    """
    try:
        async with asyncio.timeout(seconds):
            yield Deadline.after(seconds)
    except TimeoutError:
        raise timeout_error(seconds) from None


def timeout_error(seconds: float) -> SearchTimeoutError:
    """The error of a call that has used up its time."""
    return SearchTimeoutError(f"No answer came within {seconds:g} s. Ask again, or raise SEARCH_DEADLINE_SECONDS.")
