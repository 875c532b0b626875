"""`/healthz`: the process serves. `/readyz`: everything that a call needs works too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from websearch_gateway.entrypoints.http.loop_lag import LoopLag
from websearch_gateway.entrypoints.http.replies import json_reply
from websearch_gateway.entrypoints.lazy import LazyGateway
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
