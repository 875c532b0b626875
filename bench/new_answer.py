"""The CPU time of a new answer, from the question to what is written for it, against OpenAI's own library.

Both ask the sandbox, which runs in a process of its own, the same kind of question; the rounds alternate.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI
from pydantic import SecretStr

from bench.table import Row, median_ratio, milliseconds
from websearch_gateway.answers.openai import OpenAI
from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.models import SearchQuery, SearchRequest
from websearch_gateway.settings.loading import load_settings

ROUNDS = 15
CALLS = 20
SETTLED_SECONDS = 0.1
"""For what is written after a reply."""

_SANDBOX = """
import json, sys
from websearch_gateway.sandbox import Sandbox
with Sandbox() as sandbox:
    print(json.dumps(sandbox.flags()), flush=True)
    sys.stdin.read()
"""


def measure() -> list[Row]:
    """One row for state in a file and one for state in memory."""
    with _sandbox() as flags:
        return [asyncio.run(_measure(flags, state_url)) for state_url in ("", "memory://")]


async def _measure(flags: dict[str, Any], state_url: str) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(
            **flags,
            data_dir=Path(folder),
            log_level="ERROR",
            rate_limit="none",
            state_url=state_url,
        )
        library = AsyncOpenAI(api_key=flags["openai_api_key"], base_url=flags["openai_base_url"])
        async with open_gateway(settings) as gateway, library:
            questions = _questions()
            bare = _asking(library)
            ours: list[float] = []
            reference: list[float] = []
            for round_number in range(ROUNDS + 1):
                bare_seconds = await _cpu_seconds(bare, questions)
                our_seconds = await _cpu_seconds(
                    lambda text: gateway.search(SearchRequest(text)), questions
                )
                if round_number:  # the first round imports modules
                    reference.append(bare_seconds)
                    ours.append(our_seconds)
    name = f"CPU of a new answer, state in {'memory' if state_url else 'a file'}"
    ratio = f"{median_ratio(ours, reference):.2f}"
    return Row(name, milliseconds(ours), f"openai {milliseconds(reference)}", ratio, "<= 2")


def _asking(library: AsyncOpenAI) -> Callable[[str], Awaitable[object]]:
    """What asks a question with the library as its user would, in the words of the gateway."""
    api = OpenAI(SecretStr(library.api_key), str(library.base_url))

    async def ask(text: str) -> object:
        request = api.request(SearchQuery(text), "gpt-5-nano", datetime.now(UTC))
        return await library.responses.create(**request.json or {})

    return ask


async def _cpu_seconds(ask: Callable[[str], Awaitable[object]], questions: Iterator[str]) -> float:
    """Of one call, with all threads of this process."""
    began = time.process_time()
    for _ in range(CALLS):
        await ask(next(questions))
    await asyncio.sleep(SETTLED_SECONDS)
    return (time.process_time() - began) / CALLS


def _questions() -> Iterator[str]:
    """Different questions, to which the sandbox has one answer with citations."""
    chance = random.Random(11)
    while True:
        place, lake = (
            "".join(chance.choice("bdfglmnprst") + chance.choice("aeiou") for _ in range(4))
            for _ in range(2)
        )
        yield f"How tall is the Eiffel Tower of {place} near {lake}?"


@contextmanager
def _sandbox() -> Iterator[dict[str, Any]]:
    """The settings that use a sandbox in another process."""
    with subprocess.Popen(
        [sys.executable, "-c", _SANDBOX], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.kill()
