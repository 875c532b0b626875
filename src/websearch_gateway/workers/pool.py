"""A pool of a few worker processes, since untrusted text may hang a program, fill its memory or crash it.

A page can break at most one worker; the next page gets a new one. The pool of the standard library does not serve here:
it breaks for all callers when one of its processes is killed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

from websearch_gateway import errors
from websearch_gateway.errors import TOO_COSTLY, SearchFetchError, SearchTimeoutError, Unavailable
from websearch_gateway.models import Deadline
from websearch_gateway.workers.child import Limits, call, request_frames
from websearch_gateway.workers.fair_queue import FairQueue
from websearch_gateway.workers.process import Worker

SMALL_CHARS = 4_000
"""Work on at most this many characters takes a few milliseconds, so it runs in the calling process."""

HEAVY_BYTES = 2_000_000
"""The least size that a heavy job counts as: that of a large page."""

IDLE_SECONDS = 60.0
STUCK_SECONDS = 20.0
"""If a job waits for longer, the workers are stuck: a job runs for at most half of this time."""

MAX_MESSAGE_CHARS = 300
LIMITS = Limits()

WORKING_FOR: ContextVar[str] = ContextVar("working_for", default="local")
"""The user of the current task. Turns are shared fairly between users."""


class Workers:
    """Runs functions in processes that can be killed; a `ports.Workers`. No process starts before the first use.

    Args:
        count: how many processes may work for one user; further calls wait. If it is more than one, large documents
            never take the last process, so that a small page does not wait behind them.
        spare: how many more may work for users without a running job.
        limits: limits of a process and a job. The time of a job starts when the process is ready.
        warm_up: called first in each new process, to import and prepare everything that jobs need.
        idle_seconds: how long a process without work stays alive.
    """

    def __init__(
        self,
        *,
        count: int = 2,
        spare: int = 2,
        limits: Limits = LIMITS,
        warm_up: Callable[[], object] = int,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._queue = FairQueue(count, spare)
        self._limits = limits
        self._warm_up = warm_up
        self._idle_seconds = idle_seconds
        self._all: set[Worker] = set()
        self._idle: list[Worker] = []
        self._ending: set[asyncio.Task[None]] = set()
        self._cannot_start = False
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @property
    def trouble(self) -> str | None:
        """Why the workers cannot work, for health checks; None if they can."""
        if self._cannot_start:
            return "Worker processes cannot be started."
        if self._queue.longest_wait > STUCK_SECONDS:
            return "The worker processes are stuck."
        return None

    async def warm(self) -> None:
        """Start a process if there is none. It warms up while the caller continues."""
        if not self._all:
            with suppress(OSError):  # `run` reports why it cannot start
                async with self._queue.turn(WORKING_FOR.get()), self._worker():
                    pass

    async def run(
        self,
        function: Callable[..., object],
        *arguments: object,
        deadline: Deadline,
        size: int | None = None,
        heavy: bool = False,
        seconds: float | None = None,
    ) -> Any:
        """See `ports.Workers.run`."""
        if size is not None and size <= SMALL_CHARS:
            return _result(json.loads(json.dumps(call(function, arguments))))
        request = request_frames(function, arguments)
        try:
            async with (
                asyncio.timeout(deadline.remaining()),
                self._queue.turn(WORKING_FOR.get(), size=max(sum(map(len, request)), HEAVY_BYTES if heavy else 0)),
                self._worker() as worker,
            ):
                reply = await self._ask(worker, request, seconds)
        except TimeoutError:
            raise SearchTimeoutError("The page could not be read in time.") from None
        except (OSError, asyncio.IncompleteReadError) as error:
            raise SearchFetchError("The page could not be read: its worker process broke down.") from error
        return _result(reply)

    async def aclose(self) -> None:
        """End every process. Running and later calls fail. Idempotent."""
        self._closed = True
        for worker in self._idle:
            if worker.idle_timer:
                worker.idle_timer.cancel()
        self._idle.clear()
        await asyncio.gather(*(worker.stop() for worker in self._all), *self._ending)
        self._all.clear()

    async def _ask(self, worker: Worker, request: Sequence[bytes], seconds: float | None) -> dict[str, Any]:
        await worker.ready()
        most = self._limits.seconds if seconds is None else min(seconds, self._limits.seconds)
        async with _job_time(most):
            try:
                reply: dict[str, Any] = json.loads(await worker.ask(request))
            except asyncio.IncompleteReadError:
                await worker.stop()  # killing it could hide why it ended
                if not worker.took_too_long:
                    raise
                message = (
                    f"The page takes too long to read: more than {self._limits.cpu_seconds:g} s of processor time."
                )
                raise SearchFetchError(message, details={"reason": TOO_COSTLY}) from None
        if reply.get("retire") or worker.worn_out:
            self._retire(worker)
        return reply

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[Worker]:
        """A process for exclusive use. It is kept if the block ends without error, or before the process is ready.

        On a busy machine a start may take longer than its caller waits. If such processes were not kept, none would
        ever become ready.
        """
        worker = self._take() or await self._start()
        try:
            yield worker
        except BaseException:
            if worker.preparing:
                self._put_back(worker)
            else:
                self._all.discard(worker)
                await asyncio.shield(self._end(worker.kill()))
            raise
        if worker in self._all:
            self._put_back(worker)

    def _put_back(self, worker: Worker) -> None:
        worker.idle_timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._retire, worker)
        self._idle.append(worker)

    def _take(self) -> Worker | None:
        while self._idle:
            worker = self._idle.pop()
            if worker.idle_timer:
                worker.idle_timer.cancel()
            if worker.alive:
                return worker
            self._retire(worker)
        return None

    def _retire(self, worker: Worker) -> None:
        """End a process that will not be reused."""
        self._all.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        self._end(worker.stop())

    def _end(self, end: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """A task that ends a process. Cancelling the call does not interrupt it, and `aclose` waits for it."""
        task = asyncio.get_running_loop().create_task(end)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    async def _start(self) -> Worker:
        try:
            worker = await Worker.start(self._limits, request_frames(self._warm_up, ()))
        except OSError:
            self._cannot_start = True
            raise
        self._cannot_start = False
        self._all.add(worker)
        if self._closed:  # `aclose` did not see this process
            self._retire(worker)
            raise OSError("the workers are closed")
        return worker


@asynccontextmanager
async def _job_time(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise SearchTimeoutError(
            f"The page takes too long to read: more than {seconds:g} s.", details={"reason": TOO_COSTLY}
        ) from None


def _result(reply: dict[str, Any]) -> Any:
    """The result in a reply.

    Raises:
        Unavailable: the function raised it.
        SearchFetchError: the function raised anything else.
    """
    if isinstance(error := reply.get("error"), dict):
        message = str(error.get("message"))[:MAX_MESSAGE_CHARS]
        raise _kind(error.get("kind"))(message, retry_after=error.get("retry_after"), details=error.get("details"))
    if "fault" in reply:
        raise SearchFetchError(f"The page could not be read ({str(reply['fault'])[:MAX_MESSAGE_CHARS]}).")
    return reply["result"]


def _kind(name: object) -> type[Unavailable]:
    """The class of an error that a worker may raise."""
    kind = getattr(errors, str(name), None)
    return kind if isinstance(kind, type) and issubclass(kind, Unavailable) else SearchFetchError
