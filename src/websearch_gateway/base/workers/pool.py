"""A pool of a few worker processes, since untrusted text may hang a program, fill its memory or crash it.

A page can break at most one worker; the next page gets a new one. The pool of the standard library does not serve here:
it breaks for all callers when one of its processes is killed. The queue is fair: no caller can occupy all workers.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVarTuple

from websearch_gateway import errors
from websearch_gateway.base.sanitise import cut_message
from websearch_gateway.base.workers.worker import LENGTH_BYTES, Limits, call, request_frames
from websearch_gateway.errors import TOO_COSTLY, SearchFetchError, SearchTimeoutError, Unavailable
from websearch_gateway.models import Deadline

Ts = TypeVarTuple("Ts")

SMALL_CHARS = 4_000
"""Work on at most this many characters takes a few milliseconds, so it runs in the calling process."""

HEAVY_BYTES = 2_000_000
"""The least size that a heavy job counts as: that of a large page."""

IDLE_SECONDS = 60.0
"""Without a job until a worker ends (seconds): it holds tens of megabytes that nobody uses."""
STUCK_SECONDS = 20.0
"""If a job waits for longer, the workers are stuck: a job runs for at most half of this time."""

MAX_MESSAGE_CHARS = 300
"""Of a worker's error that are shown: it may quote a page."""
LIMITS = Limits()
_log = logging.getLogger(__name__)

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

    async def __aexit__(self, *_: object) -> None:
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
        function: Callable[[*Ts], object],
        *arguments: *Ts,
        deadline: Deadline,
        size: int | None = None,
        heavy: bool = False,
        seconds: float | None = None,
    ) -> Any:
        """See `ports.Workers.run`."""
        if size is not None and size <= SMALL_CHARS:
            return _result(function, json.loads(json.dumps(call(function, arguments))))
        request = request_frames(function, arguments)
        try:
            async with (
                asyncio.timeout(deadline.remaining()),
                self._queue.turn(
                    WORKING_FOR.get(), size=max(sum(map(len, request)), HEAVY_BYTES if heavy else 0)
                ),
                self._worker() as worker,
            ):
                reply = await self._ask(worker, request, seconds)
        except TimeoutError:
            raise SearchTimeoutError("The page could not be read in time.") from None
        except (OSError, asyncio.IncompleteReadError) as error:
            message = "The page could not be read: its worker process broke down."
            raise SearchFetchError(message, details={"reason": "crashed"}) from error
        return _result(function, reply)

    async def aclose(self) -> None:
        """End every process. Running and later calls fail. Idempotent."""
        self._closed = True
        for worker in self._idle:
            if worker.idle_timer:
                worker.idle_timer.cancel()
        self._idle.clear()
        await asyncio.gather(*(worker.stop() for worker in self._all), *self._ending)
        self._all.clear()

    async def _ask(
        self, worker: Worker, request: Sequence[bytes], seconds: float | None
    ) -> dict[str, Any]:
        await worker.ready()
        most = self._limits.seconds if seconds is None else min(seconds, self._limits.seconds)
        message = "The page takes too long to read: more than {:g} s{}."
        try:
            async with asyncio.timeout(most):
                reply: dict[str, Any] = json.loads(await worker.ask(request))
        except TimeoutError:
            raise SearchTimeoutError(
                message.format(most, ""), details={"reason": TOO_COSTLY}
            ) from None
        except asyncio.IncompleteReadError:
            await worker.stop()  # killing it could hide why it ended
            if not worker.took_too_long:
                raise
            message = message.format(self._limits.cpu_seconds, " of processor time")
            raise SearchFetchError(message, details={"reason": TOO_COSTLY}) from None
        if reply.get("retire") or worker.jobs >= MAX_JOBS:
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
        worker.idle_timer = asyncio.get_running_loop().call_later(
            self._idle_seconds, self._retire, worker
        )
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


def _result(function: Callable[..., object], reply: dict[str, Any]) -> Any:
    """The result in the reply to a call of a function.

    Raises:
        Unavailable: the function raised it.
        SearchFetchError: the function raised anything else.
    """
    if isinstance(error := reply.get("error"), dict):
        message = cut_message(str(error.get("message")), MAX_MESSAGE_CHARS)
        kind = getattr(errors, str(error.get("kind")), None)
        if not (isinstance(kind, type) and issubclass(kind, Unavailable)):
            kind = SearchFetchError
        raise kind(message, retry_after=error.get("retry_after"), details=error.get("details"))
    if "fault" in reply:
        if reply.get("is_defect"):
            name = getattr(function, "__name__", type(function).__name__)
            _log.error(
                "A defect of this program: %s raised %s.",
                name,
                str(reply["fault"])[:MAX_MESSAGE_CHARS],
            )
        raise SearchFetchError(
            f"The page could not be read ({cut_message(str(reply['fault']), MAX_MESSAGE_CHARS)})."
        )
    return reply["result"]


MAX_REPLY_BYTES = 16_000_000
"""Of a job's result: a few times the longest page as Markdown."""
MAX_JOBS = 2_000
"""After this many jobs a process is replaced, since libraries leak. A start takes the CPU time of 14 crawl jobs."""
CLOSE_SECONDS = 1.0
_PIECE_BYTES = 65_536
"""Written at once: what a pipe of Linux holds."""
_BUFFER_BYTES = 65_536
"""Read at once: what a pipe of Linux holds."""
_CHILD = "from websearch_gateway.base.workers.worker import main; main()"
# A worker must not get the keys and tokens of this process.
_INHERITED = ("COVERAGE_", "LANG", "LC_", "PYTHON", "SYSTEMROOT", "TMPDIR")


class Worker:
    """One process. `ask` is for one caller at a time.

    Attributes:
        jobs: how many it has begun.
        idle_timer: ends the process when it has been idle for too long.
    """

    def __init__(
        self,
        process: Process,
        transport: asyncio.SubprocessTransport,
        stdin: asyncio.StreamWriter,
        stdout: asyncio.StreamReader,
    ) -> None:
        self._process = process
        self._transport = transport
        self._pipes = [
            pipe for descriptor in (0, 1) if (pipe := transport.get_pipe_transport(descriptor))
        ]
        self._stdin = stdin
        self._stdout = stdout
        self._first: asyncio.Task[bytes] | None = None
        self.jobs = 0
        self.idle_timer: asyncio.TimerHandle | None = None

    @classmethod
    async def start(cls, limits: Limits, first: Sequence[bytes]) -> Worker:
        """Start a process and send its first request; `ready` waits for the reply."""
        inherited = {
            name: value for name, value in os.environ.items() if name.startswith(_INHERITED)
        }
        path = os.pathsep.join(entry for entry in sys.path if entry)
        loop = asyncio.get_running_loop()
        # Like `asyncio.create_subprocess_exec`, which does not expose the transport that must be closed.
        transport, protocol = await loop.subprocess_exec(
            partial(SubprocessStreamProtocol, _BUFFER_BYTES, loop),
            *(sys.executable, "-P", "-c", _CHILD, *map(str, limits)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            # Each thread of a matrix library would reserve address space, which is limited.
            env={**inherited, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        )
        process = Process(transport, protocol, loop)
        if process.stdin is None or process.stdout is None:
            raise OSError("a worker has no pipes")
        process.stdin.writelines(first)
        return cls(process, transport, process.stdin, process.stdout)

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.returncode is None

    @property
    def took_too_long(self) -> bool:
        """Whether the kernel killed the process for its CPU time, or by its alarm."""
        return sys.platform != "win32" and self._process.returncode in (
            -signal.SIGXCPU,
            -signal.SIGALRM,
        )

    @property
    def preparing(self) -> bool:
        """Whether the process is still busy with its first request."""
        return self.alive and self.jobs == 0 and (self._first is None or not self._first.done())

    async def ready(self) -> None:
        """Wait until the process has answered its first request. Cancelling the wait does not interrupt it."""
        if self._first is None:
            self._first = asyncio.create_task(self._reply())
        await asyncio.shield(self._first)

    async def ask(self, request: Sequence[bytes]) -> bytes:
        """Send a request and wait for its reply. Writes a large request in pieces, so that it is never copied whole."""
        self.jobs += 1
        for part in request:
            view = memoryview(part)
            for start in range(0, len(part), _PIECE_BYTES):
                self._stdin.write(view[start : start + _PIECE_BYTES])
                await self._stdin.drain()
        return await self._reply()

    async def _reply(self) -> bytes:
        length = int.from_bytes(await self._stdout.readexactly(LENGTH_BYTES), "big")
        if length > MAX_REPLY_BYTES:
            raise OSError("the reply of a worker is too large")
        return await self._stdout.readexactly(length)

    async def kill(self) -> None:
        """Kill the process at once."""
        self._send_kill()
        # `wait` also waits until the pipes end, and an unread pipe never ends.
        for pipe in self._pipes:
            pipe.close()
        await self._process.wait()
        self._transport.close()
        if self._first is not None:
            self._first.cancel()
            await asyncio.gather(self._first, return_exceptions=True)

    def _send_kill(self) -> None:
        """Kill without `Process.kill`, which looks whether the process has ended, and so takes its exit code away from
        the thread of asyncio that waits for it."""
        if not self.alive:
            return
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.kill(self._process.pid, signal.SIGKILL)

    async def stop(self) -> None:
        """Close its input, which makes an idle process exit; kill it if it does not."""
        self._stdin.close()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._process.wait()
        finally:
            await self.kill()


LARGE_BYTES = 500_000
BYTES_PER_SECOND = 100_000
"""A job ranks as if it arrived later by its size at this rate: a page of 10 kB overtakes one of 1 MB that arrived up to
ten seconds earlier. So smaller jobs overtake larger ones, but no job waits for ever."""


@dataclass(slots=True, eq=False)
class _Job:
    """A job in the queue; `turn` is done when it may begin."""

    caller: str
    since: float
    rank: float
    large: bool
    turn: asyncio.Future[None]


class FairQueue:
    """Grants turns: first to callers with the fewest running jobs, then by arrival and size.

    Args:
        count: how many jobs may run at once. If it is more than one, large jobs never take the last place.
        extra: how many more jobs may run, only for callers without a running job: they need not wait for callers who
            occupy all places.
        clock: seconds on a monotonic clock.
    """

    def __init__(self, count: int, extra: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._extra = extra
        self._clock = clock
        self._running: Counter[str] = Counter()
        self._large = 0
        self._waiting: list[_Job] = []

    @property
    def longest_wait(self) -> float:
        """The seconds for which the oldest job in the queue has waited; 0 if none waits."""
        return self._clock() - self._waiting[0].since if self._waiting else 0.0

    @asynccontextmanager
    async def turn(self, caller: str, *, size: int = 0) -> AsyncIterator[None]:
        """Wait for a turn, and keep it during the block. `size` is the size of the job in bytes."""
        since, turn = self._clock(), asyncio.get_running_loop().create_future()
        job = _Job(caller, since, since + size / BYTES_PER_SECOND, size > LARGE_BYTES, turn)
        self._waiting.append(job)
        self._grant_turns()
        try:
            await turn
        except asyncio.CancelledError:
            if job in self._waiting:
                self._waiting.remove(job)
            else:
                self._release(job)
            raise
        try:
            yield
        finally:
            self._release(job)

    def _release(self, job: _Job) -> None:
        self._running -= Counter((job.caller,))  # drops a caller without jobs
        self._large -= job.large
        self._grant_turns()

    def _grant_turns(self) -> None:
        for job in sorted(self._waiting, key=lambda job: (self._running[job.caller], job.rank)):
            if job.large and self._large >= max(1, self._count - 1):
                continue
            places = self._count if self._running[job.caller] else self._count + self._extra
            if self._running.total() < places and not job.turn.done():
                self._waiting.remove(job)
                self._running[job.caller] += 1
                self._large += job.large
                job.turn.set_result(None)
                self._grant_turns()
                return
