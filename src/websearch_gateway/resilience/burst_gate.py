"""The burst gate: a few calls go ahead; the others wait for their outcome.

A breaker counts failures, and calls that start at the same moment have none to count: five hundred of them would reach
an upstream that is down. Here the first calls find that out for the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from websearch_gateway.errors import NotAsked, Refused
from websearch_gateway.models import Deadline
from websearch_gateway.resilience.health import PROBE_SECONDS

MOST_AHEAD = 50
"""Most bursts are smaller; even eight dead upstreams get only four hundred calls together."""

T = TypeVar("T")


class BurstGate:
    """The layer that lets `most` calls go ahead until the upstream answers one. One for each upstream of the process.

    An answer releases all waiters. So a healthy upstream delays a larger burst once, until the fastest of its first
    answers. It belongs around the breaker, which judges the calls that waited.

    Args:
        name: the upstream's.
        most: calls that may be in flight without an answer to any of them.
    """

    def __init__(self, name: str, most: int = MOST_AHEAD) -> None:
        self._name = name
        self._most = most
        self._generation = _Generation(most)

    async def __call__(self, call: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """The result of `call()`.

        Raises:
            NotAsked: no other call had an answer within half of this call's time.
            SearchError: what `call` raises.
        """
        generation = self._generation
        await self._enter(generation, deadline)
        try:
            result = await call()
        except Refused:
            self._answered()
            raise
        else:
            self._answered()
            return result
        finally:
            generation.places.release()

    async def _enter(self, generation: _Generation, deadline: Deadline) -> None:
        generation.waiting += 1
        try:
            async with asyncio.timeout(deadline.remaining() / 2):
                await generation.places.acquire()
        except TimeoutError:
            raise NotAsked(
                f"{self._name} has not answered any of the {self._most} calls under way.", retry_after=PROBE_SECONDS
            ) from None
        finally:
            generation.waiting -= 1

    def _answered(self) -> None:
        over, self._generation = self._generation, _Generation(self._most)
        for _ in range(over.waiting):
            over.places.release()


class _Generation:
    """The period between two answers: its free places, and the number of waiting calls."""

    __slots__ = ("places", "waiting")

    def __init__(self, most: int) -> None:
        self.places = asyncio.Semaphore(most)
        self.waiting = 0
