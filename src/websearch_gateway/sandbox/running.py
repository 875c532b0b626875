"""The sandbox as a running server, in a thread of its own (`Sandbox`) or in the caller's event loop (`serving`).

The listener is uvicorn's HTTP protocol on an asyncio server, without uvicorn's process manager, which takes a tenth of
a second to stop and waits for requests that `hang` never ends.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any

from websearch_gateway.sandbox.board import Board, Call, Fault
from websearch_gateway.sandbox.keys import environment

if TYPE_CHECKING:
    from starlette.applications import Starlette

_IDLE_SECONDS = 60


@asynccontextmanager
async def _listening(app: Starlette, host: str, port: int) -> AsyncIterator[str]:
    """Serve `app` while the context is open; yields its URL. Leaving it closes every connection."""
    from uvicorn.config import Config
    from uvicorn.protocols.http.h11_impl import H11Protocol
    from uvicorn.server import ServerState

    class OpenProtocol(H11Protocol):
        """Lets faults reach the transport below HTTP, as `scope["state"]["transport"]`."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.app_state = {**self.app_state, "transport": transport}

    config = Config(
        app, http=OpenProtocol, ws="none", lifespan="off", log_config=None, access_log=False, proxy_headers=False
    )
    config.timeout_keep_alive = _IDLE_SECONDS
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: OpenProtocol(config, state, {}, loop), host, port, backlog=config.backlog)
    try:
        bound = server.sockets[0].getsockname()[1]
        yield f"http://{host}:{bound}"
    finally:
        server.close()
        for connection in list(state.connections):
            connection.transport.abort()
        for task in list(state.tasks):
            task.cancel()
        await asyncio.gather(*state.tasks, return_exceptions=True)
        await server.wait_closed()


@asynccontextmanager
async def serving(host: str, port: int) -> AsyncIterator[str]:
    """Run the sandbox in this event loop while the context is open; gives its URL.

    Raises:
        OSError: the port is taken.
    """
    from websearch_gateway.sandbox.app import create_app

    async with _listening(create_app(), host, port) as url:
        yield url


class Sandbox:
    """A running sandbox, as a context manager of either kind::

        async with Sandbox() as sandbox:
            settings = Settings(**sandbox.flags())
            sandbox.fault("openai", "status", status=503)

    It lives in a thread with its own event loop, so synchronous code and blocked loops can talk to it too. All methods
    may be called from any thread.

    Args:
        port: 0 for any free one.
        clock: gives the current time in UTC, for freshness filters and the dates of pages.
    """

    def __init__(self, port: int = 0, clock: Callable[[], datetime] | None = None) -> None:
        self._port = port
        self._clock = clock
        self._board = Board()
        self._url = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Its address, `http://127.0.0.1:PORT`."""
        return self._url

    def environment(self) -> dict[str, str]:
        """The settings, by their environment names, that point a gateway at this sandbox."""
        return environment(self._url)

    def flags(self) -> dict[str, str]:
        """The same settings as keyword arguments of `Settings` and `load_settings`."""
        return {name.lower(): value for name, value in self.environment().items()}

    def fault(self, target: str, kind: str, **options: Any) -> None:
        """Add a fault of `kind` for `target` (see `Fault` for targets, kinds and options).

        Raises:
            ValueError, TypeError: the target has no such kind, or the kind no such option.
        """
        self._board.add(Fault(target, kind, **options))

    def clear_faults(self) -> None:
        """Remove all faults."""
        self._board.clear_faults()

    def reset(self) -> None:
        """Remove all faults and recorded calls."""
        self._board.clear_faults()
        self._board.clear_calls()

    def seen(self, target: str) -> tuple[Call, ...]:
        """The requests that arrived at or below a target, oldest first."""
        return self._board.calls(target)

    def calls(self, target: str) -> int:
        """The number of requests that arrived at or below a target."""
        return len(self.seen(target))

    def cancelled(self, target: str) -> int:
        """The number of them whose client disconnected before the end of the reply. Known a moment after it did."""
        return sum(call.cancelled for call in self.seen(target))

    async def wait_for(self, target: str, *, calls: int = 0, cancelled: int = 0, within: float = 100.0) -> None:
        """Wait until `calls(target)` and `cancelled(target)` reach these numbers.

        Raises:
            TimeoutError: they are not, after `within` seconds.
        """
        if not await asyncio.to_thread(self._board.wait, target, calls=calls, cancelled=cancelled, within=within):
            seen = f"{self.calls(target)} calls, {self.cancelled(target)} cancelled"
            raise TimeoutError(f"{target} saw {seen} after {within:g} s")

    def start(self) -> None:
        """Start and wait until it answers.

        Raises:
            OSError: the port is taken.
        """
        ready: Future[str] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run(ready)), name="sandbox", daemon=True)
        self._thread.start()
        self._url = ready.result()

    def stop(self) -> None:
        """Close every connection and wait until the thread has ended."""
        if self._thread is None or self._loop is None or self._stop is None:
            return
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._thread = None

    async def _run(self, ready: Future[str]) -> None:
        from websearch_gateway.sandbox.app import create_app

        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = create_app(self._board, self._clock) if self._clock else create_app(self._board)
        try:
            async with _listening(app, "127.0.0.1", self._port) as url:
                ready.set_result(url)
                await self._stop.wait()
        except OSError as error:
            ready.set_exception(error)

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    async def __aenter__(self) -> Sandbox:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.stop)
