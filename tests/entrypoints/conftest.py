"""The MCP server over stdio, driven by the SDK's client over a real pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.session import MessageHandlerFnT
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import Implementation

from tests.entrypoints.stdio import serving
from tests.patience import PATIENT_PROCESS, be_patient
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import load_settings

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """What a server of `launch` writes to stderr."""
    return tmp_path / "stderr.log"


@pytest.fixture
def served_environment(sandbox: Sandbox, tmp_path: Path) -> dict[str, str]:
    """The settings of the servers: the sandbox is the outside world, one folder has their data."""
    return {**PATIENT_PROCESS, **sandbox.environment(), "DATA_DIR": str(tmp_path / "data")}


@pytest.fixture
def connect(served_environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Connect:
    """A function that starts a server in this process and connects to it, for tests of what is said over the pipe.

    Keyword arguments are settings for the server, as in the environment; `mode` is the protocol era, `told` takes what
    the server says of itself, `client_info` is who the client says it is.
    """
    be_patient(monkeypatch)

    @asynccontextmanager
    async def start(
        mode: str = "auto",
        told: MessageHandlerFnT | None = None,
        client_info: Implementation | None = None,
        **settings: str,
    ) -> AsyncIterator[Client]:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**served_environment, **settings}.items():
                patch.setenv(name, value)
            loaded = load_settings()
        async with Client(
            serving(loaded), mode=mode, message_handler=told, client_info=client_info
        ) as client:
            yield client

    return start


@pytest.fixture
def launch(served_environment: Mapping[str, str], log: Path) -> Connect:
    """The same with `websearch-gateway serve`, for tests of the process as well: its log, its files, its end."""

    @asynccontextmanager
    async def start(mode: str = "auto", **settings: str) -> AsyncIterator[Client]:
        environment = {**os.environ, **served_environment, **settings}
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "websearch_gateway", "serve"], env=environment
        )
        with log.open("w") as stderr:
            async with Client(stdio_client(server, stderr), mode=mode) as client:
                yield client

    return start
