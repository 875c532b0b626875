"""What a monitor asks: `/healthz`, `/readyz`, `/metrics`, and the lag of the event loop.

`/healthz`: the process serves. `/readyz`: everything that a call needs works too. `/metrics`: the counters of this
process, for Prometheus.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import Response

from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.entrypoints.http.authentication import require_scope
from websearch_gateway.entrypoints.http.replies import failure, json_reply
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.errors import SearchError

READY_SECONDS = 2.0
MOST_LAG_SECONDS = 2.0
"""The largest acceptable delay of the event loop within ten seconds (seconds)."""


async def healthz(_: Request) -> Response:
    """Always 200."""
    return json_reply({"status": "ok"})


def readyz(gateway: LazyGateway, lag: LoopLag) -> Callable[[Request], Awaitable[Response]]:
    """200 if the gateway is built and its state, workers and event loop respond in time; else 503 and why."""

    async def ready(_: Request) -> Response:
        try:
            async with asyncio.timeout(READY_SECONDS):
                built = await gateway.get()
                check = await built.check_state()
        except SearchError as error:
            return json_reply({"status": "not ready", "reason": error.message}, 503)
        except TimeoutError:
            return json_reply({"status": "not ready", "reason": "The state does not answer in time."}, 503)
        trouble = check.finding if check.status == "fail" else built.workers.trouble
        if lag.seconds > MOST_LAG_SECONDS:
            trouble = "The event loop is blocked: calls wait for seconds."
        if trouble:
            return json_reply({"status": "not ready", "reason": trouble}, 503)
        return json_reply({"status": "ready"})

    return ready


def metrics_endpoint(gateway: LazyGateway, lag: LoopLag) -> Callable[[Request], Awaitable[Response]]:
    """The metrics in the format that the request prefers; needs the scope `ops`."""

    async def metrics(request: Request) -> Response:
        require_scope(request, "ops")
        try:
            snapshot = await (await gateway.get()).operations.snapshot()
        except SearchError as error:
            return failure(error)
        accept = request.headers.get("accept", "")
        body, media_type = await asyncio.to_thread(_exposed, snapshot, lag.seconds, accept)
        return Response(body, headers={"Content-Type": media_type})

    return metrics


def _exposed(snapshot: Snapshot, lag: float, accept: str) -> tuple[bytes, str]:
    # In a thread: the library is slow to import, and process metrics are read from files.
    from websearch_gateway.entrypoints.http.exposition import exposition

    return exposition(snapshot, lag, accept)


BEAT_SECONDS = 0.25
WINDOW_SECONDS = 10.0


class LoopLag:
    """Records the delay of a timer a few times a second.

    Args:
        clock: seconds on a monotonic clock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._beats: deque[tuple[float, float]] = deque()
        self._due = 0.0

    @property
    def seconds(self) -> float:
        """The largest delay of the last ten seconds, including that of an overdue timer."""
        now = self._clock()
        overdue = max(0.0, now - self._due) if self._due else 0.0
        return max([overdue, *(late for moment, late in self._beats if moment > now - WINDOW_SECONDS)])

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Watch for the length of the block."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self._due = 0.0

    async def _watch(self) -> None:
        self._due = self._clock() + BEAT_SECONDS
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self.beat()

    def beat(self) -> None:
        """Record that the timer has fired, and when it is due again."""
        now = self._clock()
        self._beats.append((now, max(0.0, now - self._due)))
        self._due = now + BEAT_SECONDS
        while self._beats[0][0] <= now - WINDOW_SECONDS:
            self._beats.popleft()
