"""The function as Google and Firebase would run it, beside the sandbox and a Firestore emulator."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.functions.instances import Running, running
from tests.patience import PATIENCE, PATIENT_PROCESS
from tools.servers import NotHere, firestore_emulator
from websearch_gateway.entrypoints.http.tokens import mint
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import Settings

ROOT = Path(__file__).parents[2]
FUNCTION = ROOT / "functions"
PROJECT = "demo-gateway"
SECRET = "shared-by-two-and-known-to-nobody-else"
QUESTION = "How tall is the Eiffel Tower?"

Start = Callable[..., AbstractContextManager[tuple[str, Running]]]


@pytest.fixture(scope="session")
def environment() -> Path:
    """The Python environment made of `functions/requirements.txt` alone."""
    if not (FUNCTION / "venv/bin/functions-framework").exists():
        pytest.skip("the function is not installed (make .venv/.functions)")
    return FUNCTION / "venv"


@pytest.fixture(scope="session")
def _firestore() -> Iterator[str]:
    try:
        with firestore_emulator() as emulator:
            yield emulator.host
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.fixture
def settings(_firestore: str, sandbox: Sandbox) -> Mapping[str, str]:
    """What instances of one deployment share: a Firestore that knows nothing yet, upstreams, and who may ask."""
    return {
        **PATIENT_PROCESS,
        **sandbox.environment(),
        "FIRESTORE_EMULATOR_HOST": _firestore,
        "STATE_URL": f"firestore://{PROJECT}/t-{uuid.uuid4().hex}",
        "AUTH_MODE": "secret",
        "AUTH_SECRET": SECRET,
        "ALLOWED_HOSTS": "127.0.0.1:*",
    }


@pytest.fixture
def instance(environment: Path, settings: Mapping[str, str], tmp_path: Path) -> Start:
    """Start an instance with functions-framework, as Cloud Run does; gives its URL."""
    numbers = itertools.count()

    @contextmanager
    def start(**changed: str) -> Iterator[tuple[str, Running]]:
        framework = [
            environment / "bin/functions-framework",
            "--target=gateway",
            "--host=127.0.0.1",
            "--port=0",
        ]
        folder = tmp_path / f"instance-{next(numbers)}"
        with running(framework, FUNCTION, folder, {**settings, **changed}) as server:
            url = server.wait_for("Listening at: ").split()[-2]
            yield url, server

    return start


def token(user: str = "main-agent") -> dict[str, str]:
    """The header of a user who may search."""
    return {
        "Authorization": f"Bearer {mint(Settings(auth_mode='secret', auth_secret=SECRET), user, ['search'], 600)}"
    }


@asynccontextmanager
async def mcp_client(url: str, user: str = "main-agent") -> AsyncIterator[Client]:
    """The SDK's own client, with a token."""
    async with (
        httpx2.AsyncClient(headers=token(user), timeout=PATIENCE, trust_env=False) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield client
