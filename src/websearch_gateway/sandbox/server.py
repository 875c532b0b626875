"""The outside world on one loopback port: search vendors, an answer engine and a small web, with faults on request.

    async with Sandbox() as sandbox:
        sandbox.environment()                                # settings that point a gateway at it
        sandbox.fault("openai", "status", status=429, reason="insufficient_quota")
        sandbox.calls("serper")                              # how many requests arrived

It is deterministic, needs no network and no key, and refuses the same requests as the real vendors, in their words.
`create_app()` is the same as an ASGI app. Nothing here loads a web framework before it is used.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from websearch_gateway.sandbox.app import create_app


__all__ = [
    "GOOGLE_ENGINE",
    "OPENAI_KEY",
    "Call",
    "Fault",
    "Sandbox",
    "create_app",
    "environment",
    "key_of",
    "serving",
]


def __getattr__(name: str) -> Any:
    if name == "create_app":
        from websearch_gateway.sandbox.app import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


TRANSPORT_KINDS = frozenset(
    {"status", "delay", "hang", "reset", "garbage", "bot", "drip", "unrelated"}
)
"""What any vendor or page can do; `unrelated`: it answers another question than it was asked."""

OWN_KINDS = {
    "pages": "huge gzip_bomb redirect_private redirect_loop wrong_length odd_charset",
    "openai": "failed incomplete refusal no_search empty_annotations raw_markers shifted_spans utf16_spans uncounted",
    "anthropic": "no_search search_failed refusal pause_turn",
    "gemini": "no_search refusal",
    "perplexity": "no_search failed",
    "llm": "own_words other_language thinks_aloud breaks_off old_marks made_up_sources made_up_quotes wrong_numbers "
    "wrong_names no_marks no_answer endless prompt_echo obey judges_some says_yes uncounted",
}
"""What pages and answer engines can do beside that: HTTP 200 with something wrong inside."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A requested fault.

    Attributes:
        target: which paths (see the module).
        kind: one of the kinds above.
        times: how many requests it affects; None: until cleared.
        when: only requests whose path, query or body contains this text.
        status: `status`: the HTTP status.
        reason: `status`, `failed`: the vendor's own code or message (`insufficient_quota`); by default the usual one.
        retry_after: `status`: seconds for the Retry-After header.
        seconds: `delay`: before the answer; `drip`: between two bytes.
        location: `redirect_private`: where to.
    """

    target: str
    kind: str
    times: int | None = None
    when: str | None = None
    status: int = 503
    reason: str | None = None
    retry_after: float | None = None
    seconds: float = 0.1
    location: str = "http://169.254.169.254/latest/meta-data/"

    def __post_init__(self) -> None:
        allowed = TRANSPORT_KINDS.union(OWN_KINDS.get(self.target.partition("/")[0], "").split())
        if self.kind not in allowed:
            raise ValueError(
                f"{self.target} has no fault {self.kind!r}; choose from {', '.join(sorted(allowed))}"
            )


@dataclass(slots=True)
class Call:
    """One request that arrived. `cancelled`: the client disconnected before the end of the reply.

    Names of headers are in lower case.
    """

    method: str
    path: str
    query: str
    body: bytes = field(repr=False)
    header_names: frozenset[str] = field(default=frozenset(), repr=False)
    cancelled: bool = False


def covers(target: str, path: str) -> bool:
    """Whether `path` (without its first slash) lies at or below `target`."""
    return path == target or path.startswith(f"{target}/")


class Board:
    """The pending faults and the recorded calls. All methods may be called from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._faults: list[tuple[Fault, Iterator[int] | None]] = []
        self._calls: list[Call] = []

    def fault(self, target: str, kind: str, **options: Any) -> None:
        """Add a fault of `kind` for `target` (see `Fault` for targets, kinds and options). If several match a request,
        the oldest applies.

        Raises:
            ValueError, TypeError: the target has no such kind, or the kind no such option.
        """
        fault = Fault(target, kind, **options)
        with self._changed:
            self._faults.append(
                (fault, iter(range(fault.times)) if fault.times is not None else None)
            )

    def clear_faults(self) -> None:
        """Remove all faults."""
        with self._changed:
            self._faults.clear()

    def clear_calls(self) -> None:
        """Forget the calls so far."""
        with self._changed:
            self._calls.clear()

    def reset(self) -> None:
        """Remove all faults and recorded calls."""
        self.clear_faults()
        self.clear_calls()

    def record(self, call: Call) -> Fault | None:
        """Record a call. Returns its fault, if any."""
        with self._changed:
            self._calls.append(call)
            self._changed.notify_all()
            for fault, remaining in self._faults:
                fits = covers(fault.target, call.path) and (
                    fault.when is None
                    or fault.when.encode() in f"{call.path}?{call.query} ".encode() + call.body
                )
                if fits and (remaining is None or next(remaining, None) is not None):
                    return fault
        return None

    def mark_cancelled(self, call: Call) -> None:
        """Record that the client of a call has disconnected."""
        with self._changed:
            call.cancelled = True
            self._changed.notify_all()

    def seen(self, target: str = "") -> tuple[Call, ...]:
        """The requests that arrived at or below a target, oldest first; all of them for the empty target."""
        with self._changed:
            return tuple(call for call in self._calls if not target or covers(target, call.path))

    def calls(self, target: str) -> int:
        """The number of requests that arrived at or below a target."""
        return len(self.seen(target))

    def cancelled(self, target: str) -> int:
        """The number of them whose client disconnected before the end of the reply. Known a moment after it did."""
        return sum(call.cancelled for call in self.seen(target))

    async def wait_for(
        self, target: str, *, calls: int = 0, cancelled: int = 0, within: float = 100.0
    ) -> None:
        """Wait until `calls(target)` and `cancelled(target)` reach these numbers.

        Raises:
            TimeoutError: they are not, after `within` seconds.
        """

        def reached() -> bool:
            return self.calls(target) >= calls and self.cancelled(target) >= cancelled

        def wait() -> bool:
            with self._changed:
                return self._changed.wait_for(reached, within)

        if not await asyncio.to_thread(wait):
            seen = f"{self.calls(target)} calls, {self.cancelled(target)} cancelled"
            raise TimeoutError(f"{target} saw {seen} after {within:g} s")


OPENAI_KEY = "sandbox-openai-key"
GOOGLE_ENGINE = "sandbox-engine"
LLM_MODEL = "sandbox-model"

AZURE_DEPLOYMENT = "sandbox-deployment"
"""The name of the only deployment of the stand-in for Azure."""


def key_of(vendor: str) -> str:
    """The key that the stand-in for a vendor accepts."""
    return f"sandbox-{vendor}-key"


def environment(url: str) -> dict[str, str]:
    """The settings, by their environment names, that point a gateway at the sandbox at `url`.

    OpenAI is the only answer engine that is on, so that raw search answers where it fails; `engines` has the others.
    """
    from websearch_gateway.settings.loading import ENGINES, PROVIDERS

    found = {
        "OPENAI_API_KEY": OPENAI_KEY,
        "OPENAI_BASE_URL": f"{url}/openai/v1",
        "GOOGLE_SEARCH_ENGINE_ID": GOOGLE_ENGINE,
        "PYPI_BASE_URL": f"{url}/pypi",
        "NPM_BASE_URL": f"{url}/npm",
        "FETCH_ALLOW_PRIVATE_HOSTS": urlsplit(url).netloc,
    }
    found = {f"{row.name.upper()}_BASE_URL": f"{url}/{row.name}" for row in ENGINES} | found
    for row in (row for row in PROVIDERS if not row.engine):
        language = "/{lang}" if "{lang}" in (row.base_url or "") else ""
        found[row.fields["base_url"].upper()] = f"{url}/{row.name}{language}"
        if row.has_key:
            found[row.fields["key"].upper()] = key_of(row.name)
    return found


def engines(url: str) -> dict[str, dict[str, str]]:
    """Answer engine besides OpenAI -> the settings that turn it on, in addition to those of `environment`."""
    from websearch_gateway.settings.loading import ENGINES

    keyed = {
        row.name: {f"{row.name.upper()}_API_KEY": key_of(row.name)}
        for row in ENGINES
        if row.name != "openai"
    }
    return {**keyed, "llm": {"LLM_BASE_URL": f"{url}/llm/v1", "LLM_MODEL": LLM_MODEL}}


_IDLE_SECONDS = 60
"""That an open connection may wait (seconds): longer than any pause in a test."""


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
        app,
        http=OpenProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
    )
    config.timeout_keep_alive = _IDLE_SECONDS
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: OpenProtocol(config, state, {}, loop), host, port, backlog=config.backlog
    )
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


class Sandbox(Board):
    """A running sandbox, as a context manager of either kind::

        async with Sandbox() as sandbox:
            settings = Settings(**sandbox.flags())
            sandbox.fault("openai", "status", status=503)

    It lives in a thread with its own event loop, so synchronous code and blocked loops can talk to it too.

    Args:
        port: 0 for any free one.
        clock: gives the current time in UTC, for freshness filters and the dates of pages.

    Attributes:
        url: its address, `http://127.0.0.1:PORT`.
    """

    def __init__(self, port: int = 0, clock: Callable[[], datetime] | None = None) -> None:
        super().__init__()
        self._port = port
        self._clock = clock
        self.url = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def environment(self) -> dict[str, str]:
        """The settings, by their environment names, that point a gateway at this sandbox."""
        return environment(self.url)

    def flags(self) -> dict[str, str]:
        """The same settings as keyword arguments of `Settings` and `load_settings`."""
        return {name.lower(): value for name, value in self.environment().items()}

    def start(self) -> None:
        """Start and wait until it answers.

        Raises:
            OSError: the port is taken.
        """
        ready: Future[str] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._run(ready)), name="sandbox", daemon=True
        )
        self._thread.start()
        self.url = ready.result()

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
        app = create_app(self, self._clock) if self._clock else create_app(self)
        try:
            async with _listening(app, "127.0.0.1", self._port) as url:
                ready.set_result(url)
                await self._stop.wait()
        except OSError as error:
            ready.set_exception(error)

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Sandbox:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)
