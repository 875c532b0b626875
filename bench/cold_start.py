"""Cold start: from the start of the process to the reply to `initialize`, against the bare SDK server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from bench.table import Row, median_ratio, milliseconds

RUNS = 7
BARE = [sys.executable, "-m", "bench.bare_server"]
OURS = [sys.executable, "-m", "websearch_gateway", "serve"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def measure() -> list[Row]:
    """Start both servers in turn and time the handshake."""
    for command in (BARE, OURS):
        _handshake(command)  # a first run pays for the byte code cache
    bare, ours = zip(*[(_handshake(BARE), _handshake(OURS)) for _ in range(RUNS)], strict=True)
    ratio = f"{median_ratio(ours, bare):.2f}"
    return [Row("cold start: initialize", milliseconds(ours), f"bare SDK server {milliseconds(bare)}", ratio, "<= 1.3")]


def _handshake(command: list[str]) -> float:
    started = time.perf_counter()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, env=environment) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        server.stdin.flush()
        reply = server.stdout.readline()
        elapsed = time.perf_counter() - started
        if b'"result"' not in reply:
            raise RuntimeError(f"no handshake from {command[-1]}: {reply!r}")
        server.stdin.close()
    return elapsed
