"""`/healthz`: the process serves. `/readyz`: so does what every call needs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from websearch_gateway.doors.http.replies import json_reply
from websearch_gateway.doors.lazy import LazyGateway
from websearch_gateway.errors import SearchError

READY_SECONDS = 2.0


async def healthz(_: Request) -> Response:
    """Always 200."""
    return json_reply({"status": "ok"})


def readyz(gateway: LazyGateway) -> Callable[[Request], Awaitable[Response]]:
    """200 when the gateway is built and its state answers within two seconds, else 503 and why."""

    async def ready(_: Request) -> Response:
        try:
            async with asyncio.timeout(READY_SECONDS):
                check = await (await gateway.get()).check_state()
        except SearchError as error:
            return json_reply({"status": "not ready", "reason": error.message}, 503)
        except TimeoutError:
            return json_reply({"status": "not ready", "reason": "The state does not answer in time."}, 503)
        if check.status != "ok":
            return json_reply({"status": "not ready", "reason": check.finding}, 503)
        return json_reply({"status": "ready"})

    return ready
