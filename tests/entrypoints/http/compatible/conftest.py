"""One server for a module, on a socket and in a thread of its own; clients are other programs."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.entrypoints.http.conftest import QuietServer
from tests.patience import PATIENCE
from websearch_gateway.entrypoints.http.app import create_app
from websearch_gateway.entrypoints.http.authentication import mint_static
from websearch_gateway.entrypoints.http.server import Connections, listening, uvicorn_config
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import Settings

ROOT = Path(__file__).parents[4]
PYTHON = ROOT / ".venv" / "clients" / "bin" / "python"
KEY, ENTRY = mint_static("alice", ["search", "read"])

Run = Callable[[str], dict[str, Any]]
RunAt = Callable[[str, str], dict[str, Any]]


def serve(settings: Settings) -> Iterator[str]:
    server = QuietServer(uvicorn_config(create_app(settings), Connections(), 30))
    with listening("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def settings_of_server(sandbox: Sandbox, **settings: Any) -> Settings:
    return Settings(
        **{**sandbox.flags(), "state_url": "memory://", "rate_limit": "none", **settings}
    )


@pytest.fixture(scope="module")
def base(_running_sandbox: Sandbox) -> Iterator[str]:
    """Where a server answers that asks nobody for a key. It has read a page: its workers have started."""
    for address in serve(settings_of_server(_running_sandbox)):
        page = {"urls": [f"{_running_sandbox.url}/pages/knots"]}
        for _ in range(3):
            if httpx2.post(
                f"{address}/extract", json=page, timeout=PATIENCE, trust_env=False
            ).json()["results"]:
                break
        yield address


@pytest.fixture(scope="module")
def closed_base(_running_sandbox: Sandbox) -> Iterator[str]:
    """Where a server answers that wants `KEY`."""
    yield from serve(settings_of_server(_running_sandbox, auth_mode="token", auth_tokens=ENTRY))


@pytest.fixture(scope="module")
def full_base(_running_sandbox: Sandbox) -> Iterator[str]:
    """Where a server answers that lists every tool."""
    yield from serve(settings_of_server(_running_sandbox, toolsets="all"))


@pytest.fixture
def page(sandbox: Sandbox) -> str:
    """A page of the small web."""
    return f"{sandbox.url}/pages/descale-espresso-machine"


def _printed(*command: str) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


@pytest.fixture
def run_python(base: str, page: str) -> Run:
    """Runs a script of tests/clients and returns what it saw."""
    if not PYTHON.exists():
        pytest.skip("the clients are not installed: make .venv/.clients")
    return lambda script: _printed(
        os.fspath(PYTHON), "-W", "ignore", str(ROOT / "tests" / "clients" / script), base, page
    )


@pytest.fixture
def run_node(base: str, run_node_at: RunAt) -> Run:
    """Runs a script of tests/node and returns what it saw."""
    return lambda script: run_node_at(base, script)


@pytest.fixture
def run_node_at(page: str) -> RunAt:
    """The same against a server of the test's own."""
    if not (ROOT / "tests" / "node" / "node_modules" / "@tavily" / "core").exists():
        pytest.skip("the clients of npm are not installed: make .venv/.npm-node")
    return lambda address, script: _printed(
        "node", str(ROOT / "tests" / "node" / script), address, page
    )
