"""A burst: `web_search` with twenty results whose pages have different delays, against the slowest page."""

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
import time
from pathlib import Path

from bench.table import Row, milliseconds
from websearch_gateway.app.gateway import Gateway, open_gateway
from websearch_gateway.models import WebSearchRequest
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.sandbox.small_web import library
from websearch_gateway.settings.loading import load_settings

PAGES = 20
ROUNDS = 5
FASTEST, SLOWEST = 0.05, 0.3
SEARCH = WebSearchRequest("the water and the time", max_results=PAGES, use_cache=False)


def measure() -> list[Row]:
    """The delays are drawn once, uniformly between the fastest and the slowest. The times include extraction."""
    return asyncio.run(_measure())


async def _measure() -> list[Row]:
    async with Sandbox() as sandbox:
        with tempfile.TemporaryDirectory() as folder:
            settings = load_settings(
                **sandbox.flags(),
                data_dir=Path(folder),
                log_level="ERROR",
                search_rate_limit="none",
            )
            async with open_gateway(settings) as gateway:
                await _timed(gateway)  # starts the worker processes
                _delay_pages(sandbox)
                times = [await _timed(gateway) for _ in range(ROUNDS)]
    ratio = f"{statistics.median(times) / SLOWEST:.2f}"
    slowest = f"slowest page {SLOWEST * 1000:.0f} ms"
    return [Row(f"burst of {PAGES} pages", milliseconds(times), slowest, ratio, "<= 1.5")]


def _delay_pages(sandbox: Sandbox) -> None:
    """Any page may be among the results, so each has a latency."""
    chance = random.Random(20)
    for page in library().values():
        sandbox.fault(
            page.path.removeprefix("/"), "delay", seconds=chance.uniform(FASTEST, SLOWEST)
        )


async def _timed(gateway: Gateway) -> float:
    started = time.perf_counter()
    response = await gateway.web_search(SEARCH)
    elapsed = time.perf_counter() - started
    read = [result for result in response.results if "could not be read" not in result.page_content]
    if len(read) != PAGES:
        raise RuntimeError(f"{len(read)} of {PAGES} pages were read")
    return elapsed
