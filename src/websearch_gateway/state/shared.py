"""What backends share: ranges of keys and libraries that are extras; for those behind a network, a time limit for each
verb, and merged increments.

A verb is cut off even if its library hangs. Increments of one counter that wait at the same time become one request,
since otherwise a busy counter gets a request for every call of every process, and Firestore recommends at most about
one write per second to a document. Each caller still gets its own value, as if it had added alone.
"""

from __future__ import annotations

import asyncio
import importlib.util
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from websearch_gateway.errors import SearchNotConfiguredError, StateUnavailable
from websearch_gateway.ports import State


def bounds(prefix: str, after: str = "") -> tuple[str, str]:
    """The range of all keys that start with `prefix` and follow `after`, as (first, end); the end is exclusive."""
    # Keys are ASCII, so the next character after the last one of the prefix ends the range.
    end = prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix else "\x7f"
    return (max(prefix, after + "\0") if after else prefix), end


P = ParamSpec("P")
T = TypeVar("T")


class Timeouts:
    """Runs the verbs of one backend and maps its errors.

    Args:
        backend: the name of the backend, for messages.
        load: imports the library and returns its exceptions. Runs in a thread before the first verb and outside the
            time limit, since a slow import is not the backend's fault.
        seconds: the time limit of a verb.
        cooldown_seconds: how long all verbs fail at once after a timeout; otherwise each search would wait.
    """

    def __init__(
        self,
        backend: str,
        load: Callable[[], tuple[type[Exception], ...]],
        *,
        seconds: float,
        cooldown_seconds: float,
    ) -> None:
        self._backend = backend
        self._load = load
        self._foreign: tuple[type[Exception], ...] | None = None
        self._seconds = seconds
        self._cooldown_seconds = cooldown_seconds
        self._cooldown_until = 0.0
        self._closed = False
        self._running: set[asyncio.Task[Any]] = set()

    async def run(self, verb: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `verb` and return its result.

        Raises:
            StateUnavailable: the verb failed or timed out, the cooldown is running, or the state is closed.
        """
        if self._foreign is None:
            self._foreign = await asyncio.to_thread(self._load)
        if self._closed:
            raise StateUnavailable("The state is closed.")
        if time.monotonic() < self._cooldown_until:
            raise StateUnavailable(f"{self._backend} did not answer in time a moment ago, so it is not called now.")
        task = asyncio.create_task(verb(*args, **kwargs))
        self._running.add(task)
        task.add_done_callback(self._forget)
        try:
            # Not `asyncio.timeout` around the verb: a library may also hang in its clean-up after a cancellation.
            await asyncio.wait({task}, timeout=self._seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done():
            task.cancel()
            self._cooldown_until = time.monotonic() + self._cooldown_seconds
            raise StateUnavailable(f"{self._backend} did not answer within {self._seconds:g} s.")
        try:
            return task.result()
        except self._foreign as error:
            # Only the type: the text may quote a key or the URL.
            raise StateUnavailable(f"{self._backend} cannot be used ({type(error).__name__}).") from error

    async def close(self) -> bool:
        """Refuse new verbs, and wait for running verbs that have waiting callers. False if already closed."""
        closed, self._closed = self._closed, True
        if awaited := [task for task in self._running if not task.cancelling()]:
            await asyncio.wait(awaited, timeout=self._seconds)
        return not closed

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # retrieve it, or asyncio logs it as never retrieved


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


class TimedState(State):
    """A State behind a network: each verb has a time limit, and increments of one counter are merged.

    Args:
        clock: seconds since the epoch, the same in all processes.
        timeouts: run each verb.
    """

    def __init__(self, timeouts: Timeouts, clock: Callable[[], float]) -> None:
        self._timeouts = timeouts
        self._clock = clock
        self._increments = CoalescedIncrements(self._send_increment)

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        return await self._increments.add(key, amount, ttl)

    async def close(self) -> None:
        await self._increments.close()
        if await self._timeouts.close():
            await self._disconnect()

    async def _send_increment(self, key: str, amount: int, ttl: float | None) -> int:
        raise NotImplementedError

    async def _disconnect(self) -> None:
        raise NotImplementedError


def require(module: str, *, extra: str, setting: str = "STATE_URL") -> None:
    """Check that a library is installed, without importing it.

    Raises:
        SearchNotConfiguredError: it is not installed; the message has the command that installs it.
    """
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # one of its parent packages is missing
        found = False
    if not found:
        raise SearchNotConfiguredError(
            f"{setting} names a backend whose library is not installed: pip install 'websearch-gateway[{extra}]'."
        )
