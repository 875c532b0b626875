"""Merges increments of one counter that wait at the same time into one request.

Otherwise a hot counter in a remote database gets every call of every process: Firestore recommends at most about one
write per second to one document. Each caller still gets its own value, as if the calls had come one by one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from websearch_gateway.errors import StateUnavailable

Send = Callable[[str, int, float | None], Awaitable[int]]
"""Adds an amount to the counter of a key and returns the new value. A new counter gets the ttl."""


@dataclass(frozen=True, slots=True)
class _Increment:
    amount: int
    ttl: float | None
    result: asyncio.Future[int]


class CoalescedIncrements:
    """Runs at most one addition per key; additions that arrive meanwhile form the next one."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: dict[str, list[_Increment]] = {}
        self._carriers: set[asyncio.Task[Any]] = set()

    async def add(self, key: str, amount: int, ttl: float | None) -> int:
        """Add, and return the new value. A cancelled caller's addition still counts.

        Raises:
            StateUnavailable: the addition may or may not have happened.
        """
        addition = _Increment(amount, ttl, asyncio.get_running_loop().create_future())
        if key in self._waiting:
            self._waiting[key].append(addition)
        else:
            self._waiting[key] = [addition]
            carrier = asyncio.create_task(self._carry(key))
            self._carriers.add(carrier)
            carrier.add_done_callback(self._carriers.discard)
        return await addition.result

    async def close(self) -> None:
        """Wait for running additions."""
        while self._carriers:
            await asyncio.wait(self._carriers)

    async def _carry(self, key: str) -> None:
        while batch := self._waiting[key]:
            self._waiting[key] = []
            await self._deliver(key, batch)
        del self._waiting[key]

    async def _deliver(self, key: str, batch: Sequence[_Increment]) -> None:
        total = sum(addition.amount for addition in batch)
        try:
            count = await self._send(key, total, batch[0].ttl) - total
        except Exception as error:  # noqa: BLE001 - worker boundary; the callers hear of it
            _settle(batch, [_own(error) for _ in batch])
        else:
            _settle(batch, [count := count + addition.amount for addition in batch])


def _settle(batch: Sequence[_Increment], outcomes: Sequence[int | Exception]) -> None:
    for addition, outcome in zip(batch, outcomes, strict=True):
        if addition.result.done():  # Its caller was cancelled.
            continue
        if isinstance(outcome, Exception):
            addition.result.set_exception(outcome)
        else:
            addition.result.set_result(outcome)


def _own(error: Exception) -> Exception:
    """A copy: one exception raised in many tasks would collect all their tracebacks."""
    return StateUnavailable(error.message) if isinstance(error, StateUnavailable) else error
