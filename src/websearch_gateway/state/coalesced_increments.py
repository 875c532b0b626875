"""Merges increments of one counter that wait at the same time into one request.

Otherwise a busy counter in a remote database gets a request for every call of every process, and Firestore recommends
at most about one write per second to a document. Each caller still gets its own value, as if it had added alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from websearch_gateway.errors import StateUnavailable

Send = Callable[[str, int, float | None], Awaitable[int]]
"""Adds an amount to the counter of a key and returns the new value. A new counter gets the TTL (seconds, or None)."""


@dataclass(frozen=True, slots=True)
class _Increment:
    amount: int
    ttl: float | None
    result: asyncio.Future[int]


class CoalescedIncrements:
    """Sends at most one request per key at a time; increments that arrive meanwhile form the next request."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: dict[str, list[_Increment]] = {}
        self._senders: set[asyncio.Task[Any]] = set()

    async def add(self, key: str, amount: int, ttl: float | None) -> int:
        """Add, and return the new value. The increment of a cancelled caller still counts.

        Raises:
            StateUnavailable: the increment may or may not have happened.
        """
        increment = _Increment(amount, ttl, asyncio.get_running_loop().create_future())
        if key in self._waiting:
            self._waiting[key].append(increment)
        else:
            self._waiting[key] = [increment]
            sender = asyncio.create_task(self._send_batches(key))
            self._senders.add(sender)
            sender.add_done_callback(self._senders.discard)
        return await increment.result

    async def close(self) -> None:
        """Wait until every increment is sent."""
        while self._senders:
            await asyncio.wait(self._senders)

    async def _send_batches(self, key: str) -> None:
        while batch := self._waiting[key]:
            self._waiting[key] = []
            await self._send_batch(key, batch)
        del self._waiting[key]

    async def _send_batch(self, key: str, batch: Sequence[_Increment]) -> None:
        total = sum(increment.amount for increment in batch)
        try:
            count = await self._send(key, total, batch[0].ttl) - total
        except Exception as error:  # noqa: BLE001 - task boundary; the callers get the error
            _settle(batch, [_copied(error) for _ in batch])
        else:
            _settle(batch, [count := count + increment.amount for increment in batch])


def _settle(batch: Sequence[_Increment], outcomes: Sequence[int | Exception]) -> None:
    for increment, outcome in zip(batch, outcomes, strict=True):
        if increment.result.done():  # its caller was cancelled
            continue
        if isinstance(outcome, Exception):
            increment.result.set_exception(outcome)
        else:
            increment.result.set_result(outcome)


def _copied(error: Exception) -> Exception:
    """A copy, since one exception raised in many tasks would collect all their tracebacks."""
    return StateUnavailable(error.message) if isinstance(error, StateUnavailable) else error
