"""A load client in a process of its own: N connections, each with one call at a time, with little overhead.

Reads one JSON order per line from stdin (`Order`) and writes one JSON report per line to stdout (`Report`).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

LONGEST_CALL_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Order:
    """Calls to make: `questions` in turn, at `port`, over `connections` at once."""

    port: int
    connections: int
    tool: str
    argument: str
    version: str
    questions: list[str]


@dataclass(slots=True)
class Report:
    """The result of an order: numbers of calls by HTTP status, and by outcome (ok, error code, or no answer)."""

    seconds: float = 0.0
    worst_seconds: float = 0.0
    statuses: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)

    def note(self, status: str, outcome: str, seconds: float) -> None:
        """Count one call."""
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        self.worst_seconds = max(self.worst_seconds, seconds)


def request(order: Order, question: str) -> bytes:
    """The bytes of one `tools/call`."""
    params: dict[str, Any] = {"name": order.tool, "arguments": {order.argument: question}}
    headers = {"MCP-Protocol-Version": order.version}
    if order.version >= "2026-07-28":
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": order.version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": order.tool}
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    ).encode()
    headers |= {
        "Host": f"127.0.0.1:{order.port}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body


class Connection(asyncio.Protocol):
    """Makes calls until no requests are left."""

    def __init__(self, requests: Iterator[bytes], report: Report) -> None:
        self._requests = requests
        self._report = report
        self._received = b""
        self._sent_at = 0.0
        self._transport: asyncio.Transport | None = None
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self._next()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator:
            return
        length = next(
            int(line[15:])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        if len(body) >= length:
            self._note(head, body)
            self._received = b""
            self._next()

    def connection_lost(self, _: Exception | None) -> None:
        if not self.done.done():
            self._report.note("none", "lost", time.perf_counter() - self._sent_at)
            self.done.set_result(None)

    def _next(self) -> None:
        assert self._transport is not None
        if (following := next(self._requests, None)) is None:
            self.done.set_result(None)
            self._transport.close()
        else:
            self._sent_at = time.perf_counter()
            self._transport.write(following)

    def _note(self, head: bytes, body: bytes) -> None:
        outcome = "ok"
        if b'"isError":true' in body or b'"result"' not in body:
            answer = json.loads(body)
            error = (
                answer.get("result", {})
                .get("structuredContent", {})
                .get("error", answer.get("error", {}))
            )
            outcome = str(error.get("code"))
        self._report.note(head[9:12].decode(), outcome, time.perf_counter() - self._sent_at)


async def drive(order: Order) -> Report:
    """Carry out one order."""
    report = Report()
    requests = iter([request(order, question) for question in order.questions])
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    async with asyncio.timeout(LONGEST_CALL_SECONDS * len(order.questions) / order.connections):
        made = await asyncio.gather(
            *(
                loop.create_connection(
                    lambda: Connection(requests, report), "127.0.0.1", order.port
                )
                for _ in range(order.connections)
            )
        )
        await asyncio.gather(*(connection.done for _, connection in made))
    report.seconds = time.perf_counter() - started
    return report


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(asdict(asyncio.run(drive(Order(**json.loads(line)))))), flush=True)
