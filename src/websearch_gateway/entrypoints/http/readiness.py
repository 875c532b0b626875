"""What a load balancer asks: `/healthz` and `/readyz`."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from websearch_gateway.entrypoints.http.loop_lag import LoopLag
from websearch_gateway.entrypoints.http.replies import json_reply
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.errors import SearchError

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway


STATE_SECONDS = 5.0
"""How long probes share what one of them saw of the state."""

READY_SECONDS = 2.0
"""The longest wait for the gateway, and for its state (seconds): a probe gives up soon after."""

MOST_LAG_SECONDS = 2.0
"""The largest acceptable delay of the event loop within ten seconds (seconds)."""


async def healthz(_: Request) -> Response:
    """Always 200."""
    return json_reply({"status": "ok"})


def readyz(gateway: LazyGateway, lag: LoopLag) -> Callable[[Request], Awaitable[Response]]:
    """200 while this process can answer, else 503; the body names each dependency and what is wrong with it.

    An outage that every replica sees (the state, an upstream), or a crawl that fails, makes it `degraded`, with 200: a
    load balancer that took all replicas out would turn a slower service into none. Only troubles of this process itself
    make it `not ready`. Probes may come every second from several places, and looking at the state is a write: they
    share one look for `STATE_SECONDS`.
    """
    state = _StateCheck()

    async def ready(_: Request) -> Response:
        try:
            async with asyncio.timeout(READY_SECONDS):
                built = await gateway.get()
        except SearchError as error:
            return json_reply({"status": "not ready", "reason": error.message}, 503)
        except TimeoutError:
            return json_reply(
                {"status": "not ready", "reason": "The gateway is still loading."}, 503
            )
        own = {"workers": built.workers.trouble or "ok", "event loop": "ok"}
        if lag.seconds > MOST_LAG_SECONDS:
            own["event loop"] = "The event loop is blocked: calls wait for seconds."
        shared = {"state": await state.of(built), **_resting(built)}
        if gateway.crawl_trouble:
            shared["documentation"] = gateway.crawl_trouble
        return _verdict(own, shared)

    return ready


def _verdict(own: Mapping[str, str], shared: Mapping[str, str]) -> Response:
    dependencies = {**own, **shared}
    troubles = [finding for finding in dependencies.values() if finding != "ok"]
    reason = {"reason": troubles[0]} if troubles else {}
    if any(finding != "ok" for finding in own.values()):
        return json_reply({"status": "not ready", **reason, "dependencies": dependencies}, 503)
    status = "degraded" if troubles else "ready"
    return json_reply({"status": status, **reason, "dependencies": dependencies})


class _StateCheck:
    """What the last look at the state showed. Probes that come while one looks wait for it."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._looked_at = -math.inf
        self._finding = ""

    async def of(self, gateway: Gateway) -> str:
        """`ok`, or what is wrong with the state."""
        async with self._turn:
            if time.monotonic() - self._looked_at >= STATE_SECONDS:
                self._finding = await _state_of(gateway)
                self._looked_at = time.monotonic()
            return self._finding


async def _state_of(gateway: Gateway) -> str:
    try:
        async with asyncio.timeout(READY_SECONDS):
            check = await gateway.doctor.check_state()
    except TimeoutError:
        return "The state does not answer in time."
    return "ok" if check.status == "ok" else check.finding


def _resting(gateway: Gateway) -> dict[str, str]:
    """The upstreams that are not asked for now. Their errors stay on the status page: strangers may read this."""
    return {
        upstream.name: "Its circuit is open."
        for upstream in gateway.health.snapshot()
        if upstream.breaker != "closed"
    }
