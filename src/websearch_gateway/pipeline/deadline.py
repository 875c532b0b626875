"""The one deadline of a call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from websearch_gateway.errors import SearchTimeoutError
from websearch_gateway.models import Deadline


@asynccontextmanager
async def one_deadline(seconds: float) -> AsyncIterator[Deadline]:
    """The deadline of everything in the block, which is cancelled when it passes.

    Raises:
        SearchTimeoutError: it has passed.
    """
    try:
        async with asyncio.timeout(seconds):
            yield Deadline.after(seconds)
    except TimeoutError:
        raise SearchTimeoutError(
            f"No answer came within {seconds:g} s. Ask again, or raise SEARCH_DEADLINE_SECONDS."
        ) from None
