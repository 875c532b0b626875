"""The layer that sends requests one by one, at the pace that the upstream allows."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from websearch_gateway.errors import RATE_LIMITED, NotAsked
from websearch_gateway.models import Deadline
from websearch_gateway.upstream.health import UpstreamHealth

SLACK = 1.05
"""A factor on the interval, since two requests may arrive closer together than they were sent."""

USUAL_SECONDS = 0.5
"""The assumed latency while none is known (seconds)."""


class RateLimiter:
    """The layer that sends requests one by one, evenly spaced. One per upstream and process.

    Args:
        health: the record of the upstream, whose clock it uses. When the circuit opens, all waiting calls fail.
        per_second: the requests per second that it allows; None for no limit. A rate in its replies replaces it.
    """

    def __init__(
        self,
        health: UpstreamHealth,
        per_second: float | None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.health = health
        self.per_second = per_second
        self._sleep = sleep
        self._next = -math.inf
        self._queue = asyncio.Lock()  # FIFO; a cancelled call leaves no gap.
        self._waiting = 0

    @asynccontextmanager
    async def __call__(self, deadline: Deadline) -> AsyncIterator[None]:
        """The block of a request, which begins at its turn.

        Raises:
            NotAsked: the turn would be too late for an answer before the deadline (raised at once, so that another
                upstream can serve), or the circuit opened during the wait.
        """
        wait = max(0.0, self._next - self.health.clock()) + self._waiting * self._interval
        if wait and wait + (self.health.quantile(0.5) or USUAL_SECONDS) >= deadline.remaining():
            raise NotAsked(
                f"{self.health.name} allows {self.per_second:g} requests a second, and other requests are waiting.",
                retry_after=wait,
                details={"reason": RATE_LIMITED},
            )
        self._waiting += 1
        try:
            async with self._queue:
                if not self.health.open_for and (wait := self._next - self.health.clock()) > 0:
                    await self._sleep(wait)
                if self.health.open_for:
                    raise self.health.circuit_open()
                self._next = self.health.clock() + self._interval
        finally:
            self._waiting -= 1
        yield

    def learn(self, headers: Mapping[str, str]) -> None:
        """Take the allowed rate from the headers of a reply."""
        if allowed := allowed_per_second(headers):
            self.per_second = allowed

    @property
    def _interval(self) -> float:
        return SLACK / self.per_second if self.per_second else 0.0


def allowed_per_second(headers: Mapping[str, str]) -> float | None:
    """The rate in `x-ratelimit-policy`, such as 50 for `50;w=1, 0;w=2678400`; None if absent.

    Windows of more than a second are quotas, which a burst may use up, so they do not limit the rate. Brave's format:
    https://api-dashboard.search.brave.com/documentation/guides/rate-limiting.
    """
    policies = re.findall(r"(\d{1,6})\s*;\s*w=1(?!\d)", headers.get("x-ratelimit-policy", ""))
    return min((float(limit) for limit in policies if int(limit)), default=None)
