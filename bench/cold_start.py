"""Cold start: from the start of the process to the reply to `initialize`, against the bare SDK server; and from there
to the first answer, against the time in which Python loads OpenAI's SDK, which that answer needs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bench.table import Row, median_ratio, milliseconds
from websearch_gateway.sandbox import Sandbox

RUNS = 7
BARE = [sys.executable, "-m", "bench.bare_server"]
OURS = [sys.executable, "-m", "websearch_gateway", "serve"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


SEARCH = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "search_web", "arguments": {"query": "How tall is the Eiffel Tower?"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
NONE: Mapping[str, str] = MappingProxyType({})
LOAD = "import openai; openai.AsyncOpenAI(api_key='-').responses"
TIMED = f"import time; began = time.perf_counter(); {LOAD}; print(time.perf_counter() - began)"


def measure() -> list[Row]:
    """Start both servers in turn and time the handshake; then the first answer and the SDK in turn."""
    for command in (BARE, OURS):
        _handshake(command)  # a first run pays for the byte code cache
    bare, ours = zip(*[(_handshake(BARE), _handshake(OURS)) for _ in range(RUNS)], strict=True)
    with Sandbox() as sandbox:
        first, sdk = zip(*[(_first_answer(sandbox), _load()) for _ in range(RUNS)], strict=True)
    against = f"bare SDK server {milliseconds(bare)}"
    return [
        Row(
            "cold start: initialize",
            milliseconds(ours),
            against,
            f"{median_ratio(ours, bare):.2f}",
            "<= 1.3",
        ),
        Row(
            "cold start: first answer after initialize",
            milliseconds(first),
            f"load of the SDK {milliseconds(sdk)}",
            f"{median_ratio(first, sdk):.2f}",
            "<= 1.1",
        ),
    ]


def _load() -> float:
    done = subprocess.run([sys.executable, "-c", TIMED], capture_output=True, text=True, check=True)
    return float(done.stdout)


def _first_answer(sandbox: Sandbox) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return _handshake(OURS, {**sandbox.environment(), "DATA_DIR": folder}, INITIALIZED, SEARCH)


def _handshake(
    command: list[str], settings: Mapping[str, str] = NONE, *then: Mapping[str, Any]
) -> float:
    """Seconds until the reply to `initialize`; with messages to send `then`, from there to the last one's reply."""
    started = time.perf_counter()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **settings}
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=nowhere, env=environment
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        server.stdin.flush()
        reply = server.stdout.readline()
        elapsed = time.perf_counter() - started
        if b'"result"' not in reply:
            raise RuntimeError(f"no handshake from {command[-1]}: {reply!r}")
        if then:
            started = time.perf_counter()
            for message in then:
                server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            while json.loads(server.stdout.readline()).get("id") != then[-1]["id"]:
                continue
            elapsed = time.perf_counter() - started
        server.stdin.close()
    return elapsed
