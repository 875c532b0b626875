"""The fallback with OpenAI down: raw search and five pages, against the slowest single upstream."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from bench.table import Row, milliseconds
from websearch_gateway.app.gateway import Gateway, open_gateway
from websearch_gateway.models import SearchRequest
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import load_settings

QUESTIONS = (
    "How tall is the Eiffel Tower?",
    "How do I descale an espresso machine?",
    "What is the speed of light in a vacuum?",
    "How do I bake sourdough bread?",
    "What does the HTTP status 429 mean?",
)
SEARCH_DELAY, PAGE_DELAY = 0.05, 1.0


def measure() -> list[Row]:
    """Search is fast and every page is slow: the fallback should take little longer than one page."""
    return asyncio.run(_measure())


async def _measure() -> list[Row]:
    async with Sandbox() as sandbox:
        with tempfile.TemporaryDirectory() as folder:
            settings = load_settings(
                **sandbox.flags(), data_dir=Path(folder), log_level="ERROR", cache_ttl_seconds=0
            )
            async with open_gateway(settings) as gateway:
                sandbox.fault("openai", "status", status=503)
                sandbox.fault("serper", "delay", seconds=SEARCH_DELAY)
                sandbox.fault("pages", "delay", seconds=PAGE_DELAY)
                await gateway.search(SearchRequest("Warm up the worker processes, please"))
                times = [await _timed(gateway, question) for question in QUESTIONS]
    ratio = f"{statistics.median(times) / PAGE_DELAY:.2f}"
    slowest = f"slowest upstream in it {PAGE_DELAY * 1000:.0f} ms"
    return [Row("fallback with 5 pages", milliseconds(times), slowest, ratio, "<= 1.3")]


async def _timed(gateway: Gateway, question: str) -> float:
    started = time.perf_counter()
    response = await gateway.search(SearchRequest(question))
    elapsed = time.perf_counter() - started
    if response.fallback is None:
        raise RuntimeError("the engine answered although it is down")
    return elapsed
