"""A time limit for each verb of a networked backend, even if its library hangs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from websearch_gateway.errors import StateUnavailable

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
        probe: asks the backend for something small. It runs every `probe_seconds` of a cooldown, which ends when the
            backend answers; without it a cooldown lasts its whole time.
    """

    def __init__(
        self,
        backend: str,
        load: Callable[[], tuple[type[Exception], ...]],
        *,
        seconds: float,
        cooldown_seconds: float,
        probe: Callable[[], Coroutine[Any, Any, object]] | None = None,
        probe_seconds: float = 1.0,
    ) -> None:
        self._backend = backend
        self._load = load
        self._foreign: tuple[type[Exception], ...] | None = None
        self._seconds = seconds
        self._cooldown_seconds = cooldown_seconds
        self._cooldown_until = 0.0
        self._probe = probe
        self._probe_seconds = probe_seconds
        self._probing: asyncio.Task[None] | None = None
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
        task = self._started(verb(*args, **kwargs))
        try:
            # Not `asyncio.timeout` around the verb: a library may also hang in its clean-up after a cancellation.
            await asyncio.wait({task}, timeout=self._seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done():
            task.cancel()
            self._cooldown_until = time.monotonic() + self._cooldown_seconds
            if self._probe is not None and (self._probing is None or self._probing.done()):
                self._probing = asyncio.create_task(self._look(self._probe))
            raise StateUnavailable(f"{self._backend} did not answer within {self._seconds:g} s.")
        try:
            return task.result()
        except self._foreign as error:
            # Only the type: the text may quote a key or the URL.
            raise StateUnavailable(f"{self._backend} cannot be used ({type(error).__name__}).") from error

    async def close(self) -> bool:
        """Refuse new verbs, and wait for running verbs that have waiting callers. False if already closed."""
        closed, self._closed = self._closed, True
        if self._probing is not None:
            self._probing.cancel()
        if awaited := [task for task in self._running if not task.cancelling()]:
            await asyncio.wait(awaited, timeout=self._seconds)
        return not closed

    async def _look(self, probe: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """End the cooldown when the backend answers."""
        while time.monotonic() < self._cooldown_until:
            await asyncio.sleep(self._probe_seconds)
            task = self._started(probe())
            await asyncio.wait({task}, timeout=self._probe_seconds)
            if task.done() and not task.cancelled() and task.exception() is None:
                self._cooldown_until = 0.0
            task.cancel()

    def _started(self, verb: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(verb)
        self._running.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # retrieve it, or asyncio logs it as never retrieved
