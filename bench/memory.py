"""Resident memory of the server process after `initialize`, the first `search_web` and a thousand calls.

Two servers are the scale: the bare SDK server, and the same with openai and numpy imported, which any answer with
vectors needs. Workers are counted apart: they start with the first page and end when idle. Linux only.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import IO

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench.table import Row
from websearch_gateway.sandbox import Sandbox

CALLS = 1_000
KINDS = 20
"""The number of different questions, asked in turn."""
BARE = ["-m", "bench.bare_server"]
EQUIPPED = ["-c", "import openai, numpy, bench.bare_server as server; server.over_stdio()"]
OURS = ["-m", "websearch_gateway", "serve"]
BYTE_CODE = {"PYTHONDONTWRITEBYTECODE": ""}
"""Use compiled modules, as in an installation: compiling a large module takes several megabytes for good."""


def measure() -> list[Row]:
    """Each server once, in the same run, after a first run has written the byte code of what they import."""
    if sys.platform != "linux":
        return []
    asyncio.run(_measure(1))
    return asyncio.run(_measure(CALLS))


async def _measure(calls: int) -> list[Row]:
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        quiet = stack.enter_context(tempfile.TemporaryFile("w"))  # noqa: SIM115
        sandbox = await stack.enter_async_context(Sandbox())
        settings = {**sandbox.environment(), "DATA_DIR": folder, "RATE_LIMIT": "none"}
        _, bare_id = await _start(stack, quiet, BARE, {})
        _, equipped_id = await _start(stack, quiet, EQUIPPED, {})
        gateway, ours_id = await _start(stack, quiet, OURS, settings)
        bare, equipped, first = _megabytes(bare_id), _megabytes(equipped_id), _megabytes(ours_id)
        await _ask(gateway, "How tall is the Eiffel Tower?")
        await asyncio.sleep(2)  # let loading in the background finish
        asked = _megabytes(ours_id)
        for call in range(calls):
            await _ask(gateway, f"How tall is the Eiffel Tower in {1900 + call % KINDS}?")
        rows = [
            Row(
                "memory after initialize",
                f"{first:.0f} MB",
                f"SDK server {bare:.0f} MB",
                _ratio(first, bare),
                "",
            ),
            _row("memory after the first search_web", asked, equipped, "<= 1.25"),
            _row(f"memory after {calls} calls", _megabytes(ours_id), equipped, "<= 1.35"),
        ]
        workers = sum(map(_megabytes, _children(ours_id)))
        return [
            *rows,
            Row("memory of its workers then", f"{workers:.0f} MB", "", "", "0 when idle"),
        ]


async def _start(
    stack: AsyncExitStack, quiet: IO[str], arguments: list[str], settings: dict[str, str]
) -> tuple[Client, int]:
    """A server and its process id."""
    before = set(_children(os.getpid()))
    server = StdioServerParameters(
        command=sys.executable, args=arguments, env={**os.environ, **BYTE_CODE, **settings}
    )
    client = await stack.enter_async_context(Client(stdio_client(server, quiet)))
    (process_id,) = set(_children(os.getpid())) - before
    return client, process_id


async def _ask(client: Client, question: str) -> None:
    result = await client.call_tool("search_web", {"query": question})
    if result.is_error:
        raise RuntimeError(f"search_web failed: {result.structured_content}")


def _row(name: str, ours: float, equipped: float, wanted: str) -> Row:
    reference = f"SDK server with openai and numpy {equipped:.0f} MB"
    return Row(name, f"{ours:.0f} MB", reference, _ratio(ours, equipped), wanted)


def _ratio(ours: float, reference: float) -> str:
    return f"{ours / reference:.2f}"


def _children(process_id: int) -> list[int]:
    return [
        int(child)
        for thread in Path(f"/proc/{process_id}/task").iterdir()
        for child in (thread / "children").read_text().split()
    ]


def _megabytes(process_id: int) -> float:
    status = Path(f"/proc/{process_id}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024
