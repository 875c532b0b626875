"""The layer that holds back a burst of calls until the upstream has answered one of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from websearch_gateway.errors import NotAsked, Refused
from websearch_gateway.models import Deadline
from websearch_gateway.upstream.health import PROBE_SECONDS

MOST_AHEAD = 50
"""Most bursts are smaller; even eight dead upstreams get only four hundred calls together."""


class BurstGate:
    """The layer that admits `most` calls until the upstream answers one of them. One per upstream and process.

    An answer releases all waiting calls, so a burst waits at most once for a healthy upstream: until its first answer.
    The gate belongs around the circuit breaker, which then judges the calls that waited.

    Args:
        name: the name of the upstream.
        most: how many calls may be in flight before the upstream answers one of them.
    """

    def __init__(self, name: str, most: int = MOST_AHEAD) -> None:
        self._name = name
        self._most = most
        self._generation = _Generation(most)

    @asynccontextmanager
    async def __call__(self, deadline: Deadline) -> AsyncIterator[None]:
        """The block of a call, which begins when there is a place for it.

        Raises:
            NotAsked: the upstream answered no other call within half of this call's time.
        """
        generation = self._generation
        await self._take_place(generation, deadline)
        try:
            yield
            self._release_all_waiting()
        except Refused:
            self._release_all_waiting()
            raise
        finally:
            generation.places.release()

    async def _take_place(self, generation: _Generation, deadline: Deadline) -> None:
        generation.waiting += 1
        try:
            async with asyncio.timeout(deadline.remaining() / 2):
                await generation.places.acquire()
        except TimeoutError:
            raise NotAsked(
                f"{self._name} has not answered any of the {self._most} calls under way.",
                retry_after=PROBE_SECONDS,
            ) from None
        finally:
            generation.waiting -= 1

    def _release_all_waiting(self) -> None:
        ended, self._generation = self._generation, _Generation(self._most)
        for _ in range(ended.waiting):
            ended.places.release()


class _Generation:
    """The period between two answers: its free places, and the number of waiting calls."""

    __slots__ = ("places", "waiting")

    def __init__(self, most: int) -> None:
        self.places = asyncio.Semaphore(most)
        self.waiting = 0
