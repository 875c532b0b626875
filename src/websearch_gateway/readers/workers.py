"""A few worker processes for what a stranger's page may do to a parser: hang it, fill the memory, crash it.

One page costs one worker at most; the next page gets a new one. The standard library's pool is broken for everybody
when one of its processes is killed, which is why this exists.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from types import TracebackType
from typing import Any, Self

from websearch_gateway.errors import SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline
from websearch_gateway.readers.worker import LENGTH_BYTES, framed

MAX_REPLY_BYTES = 32_000_000
LARGE_BYTES = 500_000
PATIENCE_SECONDS = 1.0
_CHILD = "from websearch_gateway.readers.worker import main; main()"
# A worker gets none of the keys and tokens of this process.
_INHERITED = ("COVERAGE_", "LANG", "LC_", "PYTHON", "SYSTEMROOT", "TMPDIR")


class Workers:
    """Runs functions in processes that can be killed. Nothing is started before the first use.

    Args:
        count: how many processes there may be. Further calls wait in line. Where there are several, large documents
            never take the last one, so that a small page does not wait behind them.
        seconds: how long one call may take, once its process is ready.
        megabytes: how much memory a process may have.
        warm_up: called first in each new process, to import and prepare what every call needs.
    """

    def __init__(
        self,
        *,
        count: int = 2,
        seconds: float = 10.0,
        megabytes: int = 1024,
        warm_up: Callable[[], object] = int,
    ) -> None:
        self._slots = asyncio.Semaphore(count)
        self._large = asyncio.Semaphore(max(1, count - 1))
        self._seconds = seconds
        self._megabytes = megabytes
        self._warm_up = warm_up
        self._all: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._warmed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def warm(self) -> None:
        """Start the first process if none was ever started. It prepares itself while the caller goes on."""
        if not self._warmed:
            self._warmed = True
            with suppress(OSError):  # what keeps it from starting, `run` will tell
                async with self._slots, self._worker():
                    pass

    async def run(self, function: Callable[..., object], *arguments: object, deadline: Deadline) -> Any:
        """What `function(*arguments)` returns: JSON, or a dataclass, which arrives as a dict of its fields.

        The function must be importable by its name. Cancelling kills the process that runs it.

        Raises:
            SearchTimeoutError: the deadline passed, or the call took too long.
            SearchFetchError: the function refused the page, failed, or took its process down.
        """
        request = self._request(function, *arguments)
        try:
            line = self._large if len(request) > LARGE_BYTES else nullcontext()
            async with asyncio.timeout(deadline.remaining()), line, self._slots, self._worker() as worker:
                await worker.ready()
                async with asyncio.timeout(self._seconds):
                    reply = await worker.ask(request)
        except TimeoutError:
            raise SearchTimeoutError("The page could not be read in time.") from None
        except (OSError, asyncio.IncompleteReadError) as error:
            raise SearchFetchError("The page could not be read: its reader broke down.") from error
        return _result(json.loads(reply))

    async def aclose(self) -> None:
        """End every process. Calls under way fail. Idempotent."""
        self._idle.clear()
        await asyncio.gather(*(worker.leave() for worker in self._all))
        self._all.clear()

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[_Worker]:
        """A process that nobody else uses. It is used again only if the block ends well."""
        worker = self._take() or await self._start()
        try:
            yield worker
        except BaseException:
            self._all.discard(worker)
            await worker.kill()
            raise
        self._idle.append(worker)

    def _take(self) -> _Worker | None:
        while self._idle:
            if (worker := self._idle.pop()).alive:
                return worker
            self._all.discard(worker)
        return None

    async def _start(self) -> _Worker:
        worker = await _Worker.start(self._megabytes, self._request(self._warm_up))
        self._all.add(worker)
        return worker

    def _request(self, function: Callable[..., object], *arguments: object) -> bytes:
        return framed(pickle.dumps((function, arguments, self._seconds)))


class _Worker:
    """One process. `ask` is for one caller at a time."""

    def __init__(self, process: Process, stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader) -> None:
        self._process = process
        self._stdin = stdin
        self._stdout = stdout
        self._ready = False

    @classmethod
    async def start(cls, megabytes: int, first: bytes) -> _Worker:
        """Start a process and leave it alone with its first request."""
        inherited = {name: value for name, value in os.environ.items() if name.startswith(_INHERITED)}
        path = os.pathsep.join(entry for entry in sys.path if entry)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", _CHILD, str(megabytes)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={**inherited, "PYTHONPATH": path},
        )
        if process.stdin is None or process.stdout is None:
            raise OSError("a worker has no pipes")
        process.stdin.write(first)
        return cls(process, process.stdin, process.stdout)

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ready(self) -> None:
        """Wait until it has done its first request."""
        if not self._ready:
            await self._reply()
            self._ready = True

    async def ask(self, request: bytes) -> bytes:
        """Send a request and wait for its reply."""
        self._stdin.write(request)
        await self._stdin.drain()
        return await self._reply()

    async def _reply(self) -> bytes:
        length = int.from_bytes(await self._stdout.readexactly(LENGTH_BYTES), "big")
        if length > MAX_REPLY_BYTES:
            raise OSError("a worker replies with too much")
        return await self._stdout.readexactly(length)

    async def kill(self) -> None:
        """End it at once, whatever it is doing."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    async def leave(self) -> None:
        """Let it end by itself, which an idle one does when its input ends; one that does not is killed."""
        self._stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._process.wait()
        await self.kill()


def _result(reply: dict[str, Any]) -> Any:
    if "refusal" in reply:
        raise SearchFetchError(reply["refusal"])
    if "fault" in reply:
        raise SearchFetchError(f"The page could not be read ({reply['fault']}).")
    return reply["result"]
