"""The HTTP server on a real socket, in the test's own event loop, with the sandbox as the outside world."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
import pytest
import uvicorn

from tests.patience import PATIENT
from websearch_gateway.entrypoints.http.app import create_app
from websearch_gateway.entrypoints.http.server import listening
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings import Settings

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


@pytest.fixture
def door(sandbox: Sandbox) -> Door:
    """A function that serves with the given settings and gives a client whose base URL is the server's."""

    @asynccontextmanager
    async def start(**settings: Any) -> AsyncIterator[httpx2.AsyncClient]:
        outside = {name.lower(): value for name, value in {**PATIENT, **sandbox.environment()}.items()}
        app = create_app(Settings(**{"state_url": "memory://", "rate_limit": "none", **outside, **settings}))
        config = uvicorn.Config(
            app, http="h11", ws="none", lifespan="on", log_config=None, access_log=False, server_header=False
        )
        server = QuietServer(config)
        with listening("127.0.0.1", 0) as listener:
            serving = asyncio.create_task(server.serve([listener]))
            port = listener.getsockname()[1]
            try:
                async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False) as http:
                    yield http
            finally:
                server.should_exit = True
                await serving

    return start
