"""Identical calls at the same time are one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from websearch_gateway.errors import Exhausted, SearchRateLimitError, Unavailable
from websearch_gateway.models import UNLIMITED, Deadline, Progress, no_progress

T = TypeVar("T")


Start = Callable[[Progress], Coroutine[Any, Any, T]]


@dataclass(slots=True, eq=False)
class _Flight:
    """A task, who began it and until when, and one queue per waiting caller: messages, then None at the end."""

    task: asyncio.Task[Any]
    user: str
    until: float
    waiting: set[asyncio.Queue[str | None]] = field(default_factory=set)

    def tell(self, message: str | None) -> None:
        for queue in self.waiting:
            queue.put_nowait(message)


class SingleFlight:
    """Joins calls by key. Belongs to one event loop.

    The shared task runs as long as a caller waits; when the last one leaves, it is cancelled. Each caller forwards
    progress in its own task, so a slow or lost caller does not delay the others.

    Args:
        later_seconds: when a call runs out of time, a caller who joined it and whose deadline is later by more than
            this begins another one.
    """

    def __init__(self, later_seconds: float = 0.0) -> None:
        self._later_seconds = later_seconds
        self._flights: dict[str, _Flight] = {}
        self._tasks: set[asyncio.Task[Any]] = set()  # the loop itself holds tasks only weakly

    async def join(
        self,
        key: str,
        start: Start[T],
        progress: Progress = no_progress,
        *,
        user: str = "",
        deadline: Deadline = UNLIMITED,
    ) -> tuple[T, bool]:
        """The result of the call in flight for `key`, and True; if there is none, the result of `start`, and False.

        `start` gets a Progress that reaches all callers waiting at that moment. Its error is raised in each; but a
        SearchRateLimitError concerns only the user who began the call, and a timeout only callers with as little time:
        others begin a call of their own.
        """
        while True:
            joined = key in self._flights
            flight = self._flights[key] if joined else self._begin(key, start, user, deadline.at)
            try:
                return await self._result(key, flight, progress), joined
            except SearchRateLimitError:
                if flight.user == user:
                    raise
                key = f"{key} {user}"
            except (Unavailable, Exhausted) as error:
                if error.code != "TIMEOUT" or deadline.at <= flight.until + self._later_seconds:
                    raise

    async def close(self) -> None:
        """Cancel all calls, and wait until each has put its costs on the ledger. Idempotent."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _result(self, key: str, flight: _Flight, progress: Progress) -> Any:
        messages: asyncio.Queue[str | None] = asyncio.Queue()
        flight.waiting.add(messages)
        try:
            while (message := await messages.get()) is not None:
                await progress(message)
        finally:
            flight.waiting.remove(messages)
            if not flight.waiting:  # new callers must not join it
                self._forget(key, flight)
                flight.task.cancel()
        return flight.task.result()

    def _begin(self, key: str, start: Start[T], user: str, until: float) -> _Flight:
        async def tell(message: str) -> None:
            flight.tell(message)

        def finish(task: asyncio.Task[T]) -> None:
            self._tasks.discard(task)
            self._forget(key, flight)
            flight.tell(None)
            if not task.cancelled():
                task.exception()  # retrieve it, or asyncio logs it as never retrieved

        self._flights[key] = flight = _Flight(asyncio.create_task(start(tell)), user, until)
        self._tasks.add(flight.task)
        flight.task.add_done_callback(finish)
        return flight

    def _forget(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
