"""A few worker processes for what a stranger's text may do to a program: hang it, fill the memory, crash it.

A page costs one worker at most; the next page gets a new one. The standard library's pool breaks for everybody when
one of its processes is killed, which is why this exists.
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
from websearch_gateway.errors import SearchFetchError, SearchTimeoutError, Unavailable
from websearch_gateway.models import Deadline
from websearch_gateway.workers.child import Limits, called, request_of
from websearch_gateway.workers.fair_line import FairLine
from websearch_gateway.workers.process import Worker

SMALL_CHARS = 4_000
"""Work on so little text takes a few milliseconds at most: it stays in the calling thread."""

HEAVY_BYTES = 2_000_000
"""As what a heavy job counts: as a large page."""

IDLE_SECONDS = 60.0
STUCK_SECONDS = 20.0
"""A job that waits for longer means that workers do not get on: each job has half of it at most."""

MAX_MESSAGE_CHARS = 300
LIMITS = Limits()

WORKING_FOR: ContextVar[str] = ContextVar("working_for", default="local")
"""The user for whom the running task works: jobs are served fairly per user."""


class Workers:
    """Runs functions in processes that can be killed; a `ports.Workers`. No process starts before the first use.

    Args:
        count: how many processes may work for one user. Further calls wait in line. Where there are several, large
            documents never take the last one, so that a small page does not wait behind them.
        spare: how many more may work for users who have none at work.
        limits: what a process and a job may use. The time counts from when the process is ready.
        warm_up: called first in each new process, to import and prepare what every call needs.
        idle_seconds: how long a process without work stays.
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
        self._line = FairLine(count, spare)
        self._limits = limits
        self._warm_up = warm_up
        self._idle_seconds = idle_seconds
        self._all: set[Worker] = set()
        self._idle: list[Worker] = []
        self._leaving: set[asyncio.Task[None]] = set()
        self._cannot_start = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @property
    def trouble(self) -> str | None:
        """Why work does not get on, for who asks whether this process is fit to serve; None while it does."""
        if self._cannot_start:
            return "Worker processes cannot be started."
        if self._line.longest_wait > STUCK_SECONDS:
            return "The worker processes do not get on with their work."
        return None

    async def warm(self) -> None:
        """Start a process if there is none. It prepares itself while the caller goes on."""
        if not self._all:
            with suppress(OSError):  # `run` tells what keeps it from starting
                async with self._line.turn(WORKING_FOR.get()), self._worker():
                    pass

    async def run(
        self,
        function: Callable[..., object],
        *arguments: object,
        deadline: Deadline,
        size: int | None = None,
        heavy: bool = False,
    ) -> Any:
        """See `ports.Workers.run`."""
        if size is not None and size <= SMALL_CHARS:
            return _result(json.loads(json.dumps(called(function, arguments))))
        request = request_of(function, arguments)
        try:
            async with (
                asyncio.timeout(deadline.remaining()),
                self._line.turn(WORKING_FOR.get(), size=max(sum(map(len, request)), HEAVY_BYTES if heavy else 0)),
                self._worker() as worker,
            ):
                reply = await self._asked(worker, request)
        except TimeoutError:
            raise SearchTimeoutError("The page could not be read in time.") from None
        except (OSError, asyncio.IncompleteReadError) as error:
            raise SearchFetchError("The page could not be read: its reader broke down.") from error
        return _result(reply)

    async def aclose(self) -> None:
        """End every process. Calls under way fail. Idempotent."""
        for worker in self._idle:
            if worker.ending:
                worker.ending.cancel()
        self._idle.clear()
        await asyncio.gather(*(worker.leave() for worker in self._all), *self._leaving)
        self._all.clear()

    async def _asked(self, worker: Worker, request: Sequence[bytes]) -> dict[str, Any]:
        await worker.ready()
        async with asyncio.timeout(self._limits.seconds):
            try:
                reply: dict[str, Any] = json.loads(await worker.ask(request))
            except asyncio.IncompleteReadError:
                await worker.leave()  # to kill it might take the reason of its end away
                if not worker.took_too_long:
                    raise
                told = f"The page takes too long to read: more than {self._limits.cpu_seconds:g} s of processor time."
                raise SearchFetchError(told, details={"reason": "too_costly"}) from None
        if reply.get("retire") or worker.worn_out:
            self._let_go(worker)
        return reply

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[Worker]:
        """A process that nobody else uses. It is used again if the block ends well, or before the process is ready.

        Otherwise a busy machine, on which a start takes longer than a caller waits, would start processes for ever.
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
        worker.ending = asyncio.get_running_loop().call_later(self._idle_seconds, self._let_go, worker)
        self._idle.append(worker)

    def _take(self) -> Worker | None:
        while self._idle:
            worker = self._idle.pop()
            if worker.ending:
                worker.ending.cancel()
            if worker.alive:
                return worker
            self._let_go(worker)
        return None

    def _let_go(self, worker: Worker) -> None:
        """Have a process end that is not used again."""
        self._all.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        self._end(worker.leave())

    def _end(self, ending: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """A task that ends a process, which no cancelled call interrupts and `aclose` waits for."""
        task = asyncio.get_running_loop().create_task(ending)
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)
        return task

    async def _start(self) -> Worker:
        try:
            worker = await Worker.start(self._limits, request_of(self._warm_up, ()))
        except OSError:
            self._cannot_start = True
            raise
        self._cannot_start = False
        self._all.add(worker)
        return worker


def _result(reply: dict[str, Any]) -> Any:
    """The result in a reply.

    Raises:
        Unavailable: the function raised it, or anything else.
    """
    if isinstance(told := reply.get("error"), dict):
        message = str(told.get("message"))[:MAX_MESSAGE_CHARS]
        raise _kind(told.get("kind"))(message, retry_after=told.get("retry_after"), details=told.get("details"))
    if "fault" in reply:
        raise SearchFetchError(f"The page could not be read ({str(reply['fault'])[:MAX_MESSAGE_CHARS]}).")
    return reply["result"]


def _kind(name: object) -> type[Unavailable]:
    """The class of an error. Others than these are not for a worker to raise."""
    kind = getattr(errors, str(name), None)
    return kind if isinstance(kind, type) and issubclass(kind, Unavailable) else SearchFetchError
