"""A cached `search_web` over stdio against a tool that does nothing on its own server, called by the SDK's client."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench.table import Row, milliseconds
from websearch_gateway.sandbox import Sandbox

CALLS = 400
QUESTION = "How tall is the Eiffel Tower?"


def measure() -> list[Row]:
    """p50 of both, the calls interleaved."""
    return asyncio.run(_measure())


async def _measure() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w") as quiet:
        async with Sandbox() as sandbox:
            environment = {
                **os.environ,
                **sandbox.environment(),
                "DATA_DIR": folder,
                "RATE_LIMIT": "1000000/minute",
            }
            ours = StdioServerParameters(
                command=sys.executable, args=["-m", "websearch_gateway", "serve"], env=environment
            )
            bare = StdioServerParameters(
                command=sys.executable, args=["-m", "bench.bare_server"], env=dict(os.environ)
            )
            async with (
                Client(stdio_client(ours, quiet)) as gateway,
                Client(stdio_client(bare, quiet)) as baseline,
            ):
                return await _interleave(gateway, baseline)


async def _interleave(gateway: Client, baseline: Client) -> list[Row]:
    cached, noop = [], []
    for call in range(CALLS + 20):
        ours_seconds = await _timed(gateway, "search_web", {"query": QUESTION})
        theirs = await _timed(baseline, "noop", {"text": QUESTION})
        if call >= 20:  # the first ones import modules and fill the cache
            cached.append(ours_seconds)
            noop.append(theirs)
    ratio = statistics.median(cached) / statistics.median(noop)
    return [
        Row(
            "cached search_web, p50",
            milliseconds(cached),
            f"no-op tool {milliseconds(noop)}",
            f"{ratio:.2f}",
            "<= 1.5",
        )
    ]


async def _timed(client: Client, tool: str, arguments: dict[str, Any]) -> float:
    started = time.perf_counter()
    result = await client.call_tool(tool, arguments)
    elapsed = time.perf_counter() - started
    if result.is_error:
        raise RuntimeError(f"{tool} failed: {result.structured_content}")
    return elapsed
