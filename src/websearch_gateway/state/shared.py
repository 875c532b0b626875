"""What backends share: ranges of keys and libraries that are extras; for those behind a network, a time limit for each
verb, and merged increments.

A verb is cut off even if its library hangs. Increments of one counter that wait at the same time become one request,
since otherwise a busy counter gets a request for every call of every process, and Firestore recommends at most about
one write per second to a document. Each caller still gets its own value, as if it had added alone.
"""

from __future__ import annotations

import asyncio
import importlib.util
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, ParamSpec, TypeVar

from websearch_gateway.errors import SearchNotConfiguredError, StateUnavailable
from websearch_gateway.models import StateEntry
from websearch_gateway.ports import State


def bounds(prefix: str, after: str = "") -> tuple[str, str]:
    """The range of all keys that start with `prefix` and follow `after`, as (first, end); the end is exclusive."""
    # Keys are ASCII, so the next character after the last one of the prefix ends the range.
    end = prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix else "\x7f"
    return (max(prefix, after + "\0") if after else prefix), end


P = ParamSpec("P")
T = TypeVar("T")

K = TypeVar("K", str, bytes)

ROWS_PER_PAGE = 32
FREED_SHARE = 0.1
"""The fraction of a size limit that one eviction frees, so that evictions are rare."""


def entry_of(key: str | bytes, value: bytes | int, seconds: float) -> StateEntry:
    """An entry with so many seconds left, which may be infinite. A number is a counter."""
    text = key if isinstance(key, str) else key.decode(errors="replace")
    raw = b"%d" % value if isinstance(value, int) else value
    return StateEntry(
        text, raw, None if seconds == math.inf else seconds, counts=isinstance(value, int)
    )


async def paged(
    read: Callable[[K, K], Awaitable[Sequence[tuple[K, StateEntry | None]]]],
    start: K,
    end: K,
    following: K,
) -> AsyncIterator[StateEntry]:
    """All entries from `start` to before `end`, read page by page, so that an abandoned iterator keeps nothing open.

    Args:
        read: the first ROWS_PER_PAGE rows of such a range: keys as the backend has them, each with its entry, or None
            if that is expired or cannot be read.
        following: what makes the key after a key.
    """
    while True:
        rows = await read(start, end)
        for _, entry in rows:
            if entry is not None:
                yield entry
        if len(rows) < ROWS_PER_PAGE:
            return
        start = rows[-1][0] + following


@dataclass(frozen=True, slots=True)
class _Increment:
    amount: int
    ttl: float | None
    result: asyncio.Future[int]


class RemoteState(State):
    """A State behind a network: each verb has a time limit, and increments of one counter are merged.

    Args:
        clock: seconds since the epoch, the same in all processes.
        timeout_seconds: the time limit of a verb.
        opening_seconds: how long the first verbs may take together, since they wait for the connection.
        cooldown_seconds: how long all verbs fail at once after one has timed out; otherwise each search would wait.

    Attributes:
        backend: its name, for messages.
    """

    backend: ClassVar[str]

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        timeout_seconds: float = 2.0,
        opening_seconds: float = 6.0,
        cooldown_seconds: float = 5.0,
    ) -> None:
        self._clock = clock
        self.opened = False
        self._seconds, self._cooldown_seconds = timeout_seconds, cooldown_seconds
        self._opening_seconds = opening_seconds
        self._opened_until: float | None = None
        self._cooldown_until = 0.0
        self._closed = False
        self._foreign: tuple[type[Exception], ...] | None = None
        self._running: set[asyncio.Task[Any]] = set()
        self._waiting: dict[str, list[_Increment]] = {}
        self._senders: set[asyncio.Task[Any]] = set()

    def _load(self) -> tuple[type[Exception], ...]:
        """Import the library, and return its exceptions. Runs in a thread before the first verb and outside the time
        limit, since a slow import is not the backend's fault.
        """
        raise NotImplementedError

    async def _send_increment(self, key: str, amount: int, ttl: float | None) -> int:
        """Add an amount to the counter of a key and return the new value. A new counter gets the TTL."""
        raise NotImplementedError

    async def _disconnect(self) -> None:
        """Close all connections."""
        raise NotImplementedError

    async def run(
        self, verb: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `verb` and return its result.

        Raises:
            StateUnavailable: the verb failed or timed out, the cooldown is running, or the state is closed.
        """
        if self._foreign is None:
            self._foreign = await asyncio.to_thread(self._load)
        if self._closed:
            raise StateUnavailable("The state is closed.")
        if time.monotonic() < self._cooldown_until:
            raise StateUnavailable(
                f"{self.backend} did not answer in time a moment ago, so it is not called now."
            )
        seconds = self._limit()
        task = asyncio.create_task(verb(*args, **kwargs))
        self._running.add(task)
        task.add_done_callback(self._forget)
        try:
            # Not `asyncio.timeout` around the verb: a library may also hang in its clean-up after a cancellation.
            await asyncio.wait({task}, timeout=seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done():
            task.cancel()
            self._cooldown_until = time.monotonic() + self._cooldown_seconds
            raise StateUnavailable(f"{self.backend} did not answer within {seconds:.3g} s.")
        try:
            result = task.result()
            self.opened = True
            return result
        except self._foreign as error:
            # Only the type: the text may quote a key or the URL.
            raise StateUnavailable(
                f"{self.backend} cannot be used ({type(error).__name__})."
            ) from error

    def _limit(self) -> float:
        """The time limit of a verb that begins now (seconds)."""
        if self.opened:
            return self._seconds
        now = time.monotonic()
        if self._opened_until is None:
            self._opened_until = now + self._opening_seconds
        return max(self._seconds, self._opened_until - now)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # retrieve it, or asyncio logs it as never retrieved

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        """See ports.State. At most one request per key at a time; increments that arrive meanwhile form the next one.

        The increment of a cancelled caller still counts. After an error it may or may not have happened.
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

    async def _send_batches(self, key: str) -> None:
        while batch := self._waiting[key]:
            self._waiting[key] = []
            total = sum(increment.amount for increment in batch)
            outcomes: list[int | Exception]
            try:
                count = await self._send_increment(key, total, batch[0].ttl) - total
            except Exception as error:  # noqa: BLE001 - task boundary; the callers get the error
                # Copies, since one exception raised in many tasks would collect all their tracebacks.
                outcomes = [
                    StateUnavailable(error.message)
                    if isinstance(error, StateUnavailable)
                    else error
                    for _ in batch
                ]
            else:
                outcomes = [count := count + increment.amount for increment in batch]
            for increment, outcome in zip(batch, outcomes, strict=True):
                if increment.result.done():  # its caller was cancelled
                    continue
                if isinstance(outcome, Exception):
                    increment.result.set_exception(outcome)
                else:
                    increment.result.set_result(outcome)
        del self._waiting[key]

    async def close(self) -> None:
        """Send every increment, refuse new verbs, and wait for running verbs that have waiting callers."""
        while self._senders:
            await asyncio.wait(self._senders)
        closed, self._closed = self._closed, True
        if awaited := [task for task in self._running if not task.cancelling()]:
            await asyncio.wait(awaited, timeout=self._seconds)
        if not closed:
            await self._disconnect()


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
            f"{setting} names a backend whose library is not installed: pip install '.[{extra}]' in the folder of this "
            "project."
        )
