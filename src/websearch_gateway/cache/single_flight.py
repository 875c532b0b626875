"""Merges identical concurrent calls into one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from websearch_gateway.errors import SearchRateLimitError
from websearch_gateway.ports import Progress, no_progress

T = TypeVar("T")
Start = Callable[[Progress], Coroutine[Any, Any, T]]


@dataclass(slots=True, eq=False)
class _Flight:
    """A task, the user who began it, and one queue per waiting caller: messages, then None at the end."""

    task: asyncio.Task[Any]
    user: str
    waiting: set[asyncio.Queue[str | None]] = field(default_factory=set)

    def tell(self, message: str | None) -> None:
        for queue in self.waiting:
            queue.put_nowait(message)


class SingleFlight:
    """Joins calls by key. Belongs to one event loop.

    The shared task runs as long as a caller waits; when the last one leaves, it is cancelled. Each caller forwards
    progress in its own task, so a slow or lost caller does not delay the others.
    """

    def __init__(self) -> None:
        self._flights: dict[str, _Flight] = {}
        self._tasks: set[asyncio.Task[Any]] = set()  # the loop itself holds tasks only weakly

    async def join(
        self, key: str, start: Start[T], progress: Progress = no_progress, *, user: str = ""
    ) -> tuple[T, bool]:
        """The result of the call in flight for `key`, and True; if there is none, the result of `start`, and False.

        `start` gets a Progress that reaches all callers waiting at that moment. Its error is raised in each; but a
        SearchRateLimitError concerns only the user who began the call, so that others begin one of their own.
        """
        joined = key in self._flights
        flight = self._flights[key] if joined else self._begin(key, start, user)
        try:
            return await self._result(key, flight, progress), joined
        except SearchRateLimitError:
            if flight.user == user:
                raise
        return await self.join(f"{key} {user}", start, progress, user=user)

    async def _result(self, key: str, flight: _Flight, progress: Progress) -> Any:
        messages: asyncio.Queue[str | None] = asyncio.Queue()
        flight.waiting.add(messages)
        try:
            while (message := await messages.get()) is not None:
                await progress(message)
        finally:
            flight.waiting.remove(messages)
            if not flight.waiting:
                self._leave(key, flight)
        return flight.task.result()

    def _begin(self, key: str, start: Start[T], user: str) -> _Flight:
        async def tell(message: str) -> None:
            flight.tell(message)

        flight = _Flight(asyncio.create_task(start(tell)), user)
        self._flights[key] = flight
        self._tasks.add(flight.task)
        flight.task.add_done_callback(lambda task: self._finish(key, flight))
        return flight

    def _finish(self, key: str, flight: _Flight) -> None:
        self._tasks.discard(flight.task)
        self._forget(key, flight)
        flight.tell(None)
        if not flight.task.cancelled():
            flight.task.exception()  # retrieve it, or asyncio logs it as never retrieved

    def _leave(self, key: str, flight: _Flight) -> None:
        """Cancel a call that has no callers left. New callers must not join it."""
        self._forget(key, flight)
        flight.task.cancel()

    def _forget(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
