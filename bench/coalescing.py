"""How many of twenty identical calls at once reach the upstream."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from bench.table import Row
from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.models import SearchRequest
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import load_settings

CALLS = 20


def measure() -> list[Row]:
    """Count the calls that the sandbox's OpenAI received."""
    return asyncio.run(_measure())


async def _measure() -> list[Row]:
    async with Sandbox() as sandbox:
        with tempfile.TemporaryDirectory() as folder:
            settings = load_settings(
                **sandbox.flags(), data_dir=Path(folder), log_level="ERROR", rate_limit="none"
            )
            async with open_gateway(settings) as gateway:
                await asyncio.gather(
                    *(
                        gateway.search(SearchRequest("How tall is the Eiffel Tower?"))
                        for _ in range(CALLS)
                    )
                )
            upstream = sandbox.calls("openai")
    return [
        Row(
            f"{CALLS} identical calls at once",
            f"{upstream} upstream call(s)",
            f"{CALLS} calls",
            f"{upstream / CALLS:.2f}",
            "1 call",
        )
    ]
