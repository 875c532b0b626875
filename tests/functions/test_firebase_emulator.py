"""The function as the Firebase CLI finds it, reads it and serves it."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.functions.conftest import FUNCTION, PROJECT, QUESTION, ROOT, SECRET, mcp_client
from tests.functions.instances import Running, left_behind, running
from tests.patience import PATIENCE
from websearch_gateway.sandbox import OPENAI_KEY, Sandbox
from websearch_gateway.state.opening import open_state

pytestmark = pytest.mark.timeout(400)

CLI = ROOT / "tests/functions/node_modules/.bin/firebase"
SCRIPT = "echo emulators are ready; read line"


@pytest.fixture
def emulated(
    environment: Path, settings: Mapping[str, str], tmp_path: Path
) -> Iterator[tuple[str, Running]]:
    """The Firebase emulator while it runs a script that waits; gives the URL of the function in it.

    The settings stand where they would stand for a deployment: keys among the secrets, the rest in `.env`.
    """
    if not CLI.exists() or shutil.which("node") is None:
        pytest.skip(
            "the Firebase CLI is not installed (Node.js, then: npm install --prefix tests/functions)"
        )
    port = _write_project(tmp_path / "project", environment, settings)
    command = [CLI, "emulators:exec", "--only=functions", f"--project={PROJECT}", SCRIPT]
    machine = {
        "FIRESTORE_EMULATOR_HOST": settings["FIRESTORE_EMULATOR_HOST"],
        "CI": "true",
        "NO_UPDATE_NOTIFIER": "1",
    }
    with _executing(command, tmp_path, machine) as server:
        yield f"http://127.0.0.1:{port}/{PROJECT}/us-central1/gateway", server
    assert left_behind(server.folder) == []


@contextmanager
def _executing(
    command: list[str | Path], folder: Path, machine: Mapping[str, str]
) -> Iterator[Running]:
    with running(command, folder / "project", folder / "cli", machine) as server:
        server.wait_for("emulators are ready")
        yield server
        assert server.process.stdin is not None
        server.process.stdin.close()  # the script ends, and with it the emulators
        server.wait_for("Script exited")


def _write_project(folder: Path, environment: Path, settings: Mapping[str, str]) -> int:
    """What a checkout holds after the predeploy step, with an `.env`; returns the port of its emulator."""
    (folder / "functions").mkdir(parents=True)
    for name in ("main.py", "requirements.txt"):
        shutil.copy(FUNCTION / name, folder / "functions" / name)
    (folder / "functions/venv").symlink_to(environment)
    held = {
        name: value
        for name, value in settings.items()
        if not name.startswith(("FIRE", "STATE", "OPENAI_API"))
    }
    (folder / "functions/.env").write_text(
        "".join(f"{name}={value}\n" for name, value in held.items())
    )
    (folder / "functions/.secret.local").write_text(f"OPENAI_API_KEY={OPENAI_KEY}\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    described = json.loads((ROOT / "firebase.json").read_text())
    described["emulators"]["functions"]["port"] = port
    del described["firestore"]
    (folder / "firebase.json").write_text(json.dumps(described))
    return port


async def test_an_agent_with_a_token_asks_through_the_emulator(
    emulated: tuple[str, Running],
    sandbox: Sandbox,
    settings: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """STATE_URL is not set, so the answer is remembered in the Firestore of the function's own project."""
    url, server = emulated
    async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
        assert (await http.get(f"{url}/healthz")).json() == {"status": "ok"}
        assert (await http.post(f"{url}/mcp", json={})).status_code == 401
    async with mcp_client(url) as client:
        answer = (await client.call_tool("search_web", {"query": QUESTION})).structured_content
    assert answer is not None
    assert "330" in answer["text"]
    assert answer["provider"].endswith("-web-search")
    assert answer["citations"]
    assert SECRET not in "".join(server.lines)
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", settings["FIRESTORE_EMULATOR_HOST"])
    state = open_state(f"firestore://{PROJECT}/websearch?database=websearch")
    assert [key async for key, _ in state.scan("limit/")]
    await state.close()
