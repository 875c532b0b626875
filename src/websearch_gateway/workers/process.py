"""One worker process, seen from its parent."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from websearch_gateway.workers.child import LENGTH_BYTES, Limits

MAX_REPLY_BYTES = 16_000_000
MAX_JOBS = 2_000
"""After this many jobs a process is replaced, since libraries leak. A start takes the CPU time of 14 crawl jobs."""
CLOSE_SECONDS = 1.0
_PIECE_BYTES = 65_536
_BUFFER_BYTES = 65_536
_CHILD = "from websearch_gateway.workers.child import main; main()"
# A worker must not get the keys and tokens of this process.
_INHERITED = ("COVERAGE_", "LANG", "LC_", "PYTHON", "SYSTEMROOT", "TMPDIR")


class Worker:
    """One process. `ask` is for one caller at a time.

    Attributes:
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
        self._pipes = [pipe for descriptor in (0, 1) if (pipe := transport.get_pipe_transport(descriptor))]
        self._stdin = stdin
        self._stdout = stdout
        self._first: asyncio.Task[bytes] | None = None
        self._jobs = 0
        self.idle_timer: asyncio.TimerHandle | None = None

    @classmethod
    async def start(cls, limits: Limits, first: Sequence[bytes]) -> Worker:
        """Start a process and send its first request; `ready` waits for the reply."""
        inherited = {name: value for name, value in os.environ.items() if name.startswith(_INHERITED)}
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
        return self._process.returncode in (-signal.SIGXCPU, -signal.SIGALRM) if sys.platform != "win32" else False

    @property
    def worn_out(self) -> bool:
        """Whether the process should be replaced."""
        return self._jobs >= MAX_JOBS

    @property
    def preparing(self) -> bool:
        """Whether the process is still busy with its first request."""
        return self.alive and self._jobs == 0 and (self._first is None or not self._first.done())

    async def ready(self) -> None:
        """Wait until the process has answered its first request. Cancelling the wait does not interrupt it."""
        if self._first is None:
            self._first = asyncio.create_task(self._reply())
        await asyncio.shield(self._first)

    async def ask(self, request: Sequence[bytes]) -> bytes:
        """Send a request and wait for its reply. Writes a large request in pieces, so that it is never copied whole."""
        self._jobs += 1
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
        with suppress(ProcessLookupError):
            self._process.kill()
        for pipe in self._pipes:  # `wait` also waits until the pipes end, and an unread pipe never ends
            pipe.close()
        await self._process.wait()
        self._transport.close()
        if self._first is not None:
            self._first.cancel()
            await asyncio.gather(self._first, return_exceptions=True)

    async def stop(self) -> None:
        """Close its input, which makes an idle process exit; kill it if it does not."""
        self._stdin.close()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._process.wait()
        finally:
            await self.kill()
