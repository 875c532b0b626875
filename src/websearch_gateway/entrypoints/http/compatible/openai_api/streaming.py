"""Server-sent events for answers that take seconds: an early failure is an HTTP error, a late one an event."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any

from starlette.responses import Response, StreamingResponse

from websearch_gateway.entrypoints.errors import describe
from websearch_gateway.results.answer import SearchResponse
from websearch_gateway.results.base import ErrorInfo

EARLY_SECONDS = 0.25
"""A refusal by the guard or a rate limit comes earlier (seconds), and gets its own HTTP status."""

Events = Iterable[Any]


async def event_stream(
    answering: Awaitable[SearchResponse],
    opening: Events,
    closing: Callable[[SearchResponse], Events],
    failing: Callable[[ErrorInfo], Events],
) -> Response:
    """A reply that streams `opening` at once, then `closing(answer)` or `failing(error)` when the search ends.

    An event is JSON content; a text is sent unchanged.

    Raises:
        SearchError: any error within `EARLY_SECONDS`.
    """
    task = asyncio.ensure_future(answering)
    try:
        await asyncio.wait({task}, timeout=EARLY_SECONDS)
        if task.done():
            task.result()
    except BaseException:
        task.cancel()
        raise

    async def body() -> AsyncIterator[bytes]:
        try:
            for event in opening:
                yield _encoded(event)
            try:
                events = closing(await task)
            except Exception as error:  # the entrypoint: the reply has begun, so the error becomes its last event
                events = failing(describe(error))
            for event in events:
                yield _encoded(event)
        finally:
            task.cancel()

    return StreamingResponse(body(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def _encoded(event: Any) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event, separators=(',', ':'))}\n\n".encode()
