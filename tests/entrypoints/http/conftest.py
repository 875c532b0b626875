"""The HTTP server on a real socket, in the test's own event loop, with the sandbox as the outside world."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
import pytest
import pytest_asyncio
import uvicorn
from starlette.applications import Starlette

from tests.entrypoints.http.browsing import browser_tabs
from tests.patience import PATIENCE, PATIENT, be_patient
from websearch_gateway.entrypoints.http.app import create_app
from websearch_gateway.entrypoints.http.server import Connections, listening, uvicorn_config
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import Settings

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Nothing here speaks TLS, and each client would read all certificates."""

SECRET = "shared-by-two-and-known-to-nobody-else"

Door = Callable[..., AbstractAsyncContextManager[httpx2.AsyncClient]]


class QuietServer(uvicorn.Server):
    """A server that leaves the signals to the test runner."""

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


def address(http: httpx2.AsyncClient) -> str:
    """Where the server is, without a slash at the end."""
    return str(http.base_url).rstrip("/")


@asynccontextmanager
async def served(
    app: Starlette, connections: Connections | None = None
) -> AsyncIterator[httpx2.AsyncClient]:
    """Serve any app as the gateway is served; gives a client whose base URL is the server's."""
    server = QuietServer(
        uvicorn_config(app, Connections() if connections is None else connections, 30)
    )
    with listening("127.0.0.1", 0) as listener:
        serving = asyncio.create_task(server.serve([listener]))
        port = listener.getsockname()[1]
        try:
            async with httpx2.AsyncClient(
                base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, trust_env=False, verify=PLAIN
            ) as http:
                yield http
        finally:
            server.should_exit = True
            await serving


browse = pytest_asyncio.fixture(scope="module", loop_scope="module", name="browse")(browser_tabs)


@pytest.fixture
def door(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Door:
    """A function that serves the gateway with the given limits and settings."""
    be_patient(monkeypatch)

    def start(
        connections: Connections | None = None, **settings: Any
    ) -> AbstractAsyncContextManager[httpx2.AsyncClient]:
        outside = {
            name.lower(): value for name, value in {**PATIENT, **sandbox.environment()}.items()
        }
        app = create_app(
            Settings(**{"state_url": "memory://", "rate_limit": "none", **outside, **settings})
        )
        return served(app, connections)

    return start
