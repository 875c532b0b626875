"""The HTTP server under load: a cached call against a tool that does nothing, and calls while an upstream has faults.

The servers and the load client are separate processes. The rounds of both servers alternate, so that other work on the
machine affects both alike.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.http_load import Order, Report
from bench.table import Row, median_ratio
from websearch_gateway.sandbox import Sandbox

QUESTION = "How tall is the Eiffel Tower?"
VERSIONS = ("2026-07-28", "2025-11-25")
CONNECTIONS = (1, 16, 64)
ROUNDS = 3
CALLS = 400
WANTED = 0.7
BAD_DAY_CALLS = 1_000
BAD_DAY_CONNECTIONS = 64
FAULTS = ("status", "reset", "garbage")
QUIET = {"RATE_LIMIT": "none", "CACHED_RATE_LIMIT": "none", "DAILY_BUDGET_USD": "none"}


def measure() -> list[Row]:
    """Calls per second of a cached answer as a share of the baseline's, and the outcomes of calls on a bad day."""
    with Sandbox() as sandbox, tempfile.TemporaryDirectory() as folder, _client() as load:
        environment = {**os.environ, **sandbox.environment(), **QUIET, "DATA_DIR": folder}
        rows = []
        for version in VERSIONS:
            with _gateway(environment) as ours, _baseline() as bare:
                rows += [
                    _against(ours, bare, load, version, connections) for connections in CONNECTIONS
                ]
        with _gateway(environment) as ours:
            rows += _bad_day(ours, load, sandbox)
        return rows


@dataclass(frozen=True, slots=True, eq=False)
class Server:
    """A server process and the tool to call."""

    process: subprocess.Popen[bytes]
    port: int
    tool: str
    argument: str

    def order(self, version: str, connections: int, questions: list[str]) -> Order:
        """An order for the load client."""
        return Order(self.port, connections, self.tool, self.argument, version, questions)

    def cpu_seconds(self) -> float:
        """The CPU time of the process so far; Linux only."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_megabytes(self) -> float:
        """The resident memory of the process; Linux only."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


@dataclass(frozen=True, slots=True)
class Client:
    """The load client's process."""

    process: subprocess.Popen[str]

    def drive(self, order: Order) -> Report:
        """Carry out one order."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asdict(order)) + "\n")
        self.process.stdin.flush()
        return Report(**json.loads(self.process.stdout.readline()))


def _against(ours: Server, bare: Server, load: Client, version: str, connections: int) -> Row:
    speeds: dict[Server, list[float]] = {ours: [], bare: []}
    work: dict[Server, list[float]] = {ours: [], bare: []}
    for server in speeds:  # imports modules and fills the cache
        load.drive(server.order(version, connections, [QUESTION] * 100))
    for _ in range(ROUNDS):
        for server in speeds:
            worked = server.cpu_seconds()
            report = load.drive(server.order(version, connections, [QUESTION] * CALLS))
            if report.outcomes != {"ok": CALLS}:
                raise RuntimeError(f"{server.tool} failed: {report}")
            speeds[server].append(CALLS / report.seconds)
            work[server].append((server.cpu_seconds() - worked) / CALLS * 1000)
    ratio = median_ratio(speeds[ours], speeds[bare])
    measured, reference = (
        f"{statistics.median(speeds[server]):.0f} {server.tool}/s, {statistics.median(work[server]):.2f} ms of CPU, "
        f"{server.resident_megabytes():.0f} MB"
        for server in speeds
    )
    return Row(
        f"HTTP {version}, {connections} at once",
        measured,
        reference,
        f"{ratio:.2f}",
        f">= {WANTED}",
    )


def _bad_day(ours: Server, load: Client, sandbox: Sandbox) -> list[Row]:
    """Twice 1,000 different questions, every tenth of which the engine fails in one of three ways."""
    for number, kind in enumerate(FAULTS):
        sandbox.fault("openai", kind, when=f"bad day {number}")
    memory = []
    for half in ("first", "second"):
        questions = [_question(half, number) for number in range(BAD_DAY_CALLS)]
        report = load.drive(ours.order(VERSIONS[0], BAD_DAY_CONNECTIONS, questions))
        memory.append(ours.resident_megabytes())
    failed = sum(count for status, count in report.statuses.items() if status >= "500")
    unanswered = BAD_DAY_CALLS - report.outcomes.get("ok", 0)
    return [
        Row(
            f"{BAD_DAY_CALLS} calls, 64 at once, 10% faults",
            f"{failed} x 5xx, {unanswered} without an answer",
            f"{report.seconds:.0f} s, worst call {report.worst_seconds:.1f} s",
            f"{report.outcomes}",
            "0, 0",
        ),
        Row(
            "... memory",
            f"{memory[1]:.0f} MB",
            f"{memory[0]:.0f} MB before",
            f"{memory[1] / memory[0]:.2f}",
            "<= 1.1",
        ),
    ]


def _question(half: str, number: int) -> str:
    fault = f" on bad day {number // 10 % len(FAULTS)}" if number % 10 == 0 else ""
    return f"How tall is the Eiffel Tower, asked for the {half} time number {number}{fault}?"


@contextmanager
def _gateway(environment: dict[str, str]) -> Iterator[Server]:
    port = _free_port()
    command = [sys.executable, "-m", "websearch_gateway", "serve", "--http", "--port", str(port)]
    with _running(command, environment, port) as process:
        yield Server(process, port, "search_web", "query")


@contextmanager
def _baseline() -> Iterator[Server]:
    port = _free_port()
    with _running(
        [sys.executable, "-m", "bench.bare_server", str(port)], dict(os.environ), port
    ) as process:
        yield Server(process, port, "noop", "text")


@contextmanager
def _running(
    command: list[str], environment: dict[str, str], port: int
) -> Iterator[subprocess.Popen[bytes]]:
    """A server that listens until the block ends. Its log goes into a file, as in production."""
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(command, env=environment, stderr=log) as process,
    ):
        try:
            _wait_for(port)
            yield process
        finally:
            process.terminate()


@contextmanager
def _client() -> Iterator[Client]:
    command = [sys.executable, "-m", "bench.http_load"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Client(process)
        process.terminate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def _wait_for(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(f"nothing listens on port {port}")
