"""A real server process, driven by the SDK's client over a real pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.patience import PATIENT_PROCESS
from websearch_gateway.sandbox import Sandbox

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """What the server writes to stderr."""
    return tmp_path / "stderr.log"


@pytest.fixture
def connect(sandbox: Sandbox, tmp_path: Path, log: Path) -> Connect:
    """A function that starts `websearch-gateway serve` against the sandbox and connects to it.

    Keyword arguments are settings for the server; `mode` is the protocol era.
    """

    @asynccontextmanager
    async def start(mode: str = "auto", **settings: str) -> AsyncIterator[Client]:
        environment = {
            **os.environ,
            **PATIENT_PROCESS,
            **sandbox.environment(),
            "DATA_DIR": str(tmp_path / "data"),
            **settings,
        }
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "websearch_gateway", "serve"], env=environment
        )
        with log.open("w") as stderr:
            async with Client(stdio_client(server, stderr), mode=mode) as client:
                yield client

    return start
