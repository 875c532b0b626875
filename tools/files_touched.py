"""Counts the files of the package whose code runs in one call: `python tools/files_touched.py [--names]`.

The calls are a cached `search_web` and a `get_content` of a stored page, without an entrypoint, against the sandbox.
The fewer files, the easier the code is to follow.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import Any

from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.models import ContentRequest, SearchRequest
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import load_settings

PAUSE_SECONDS = 0.2
PACKAGE = f"{Path(__file__).parents[1] / 'src' / 'websearch_gateway'}/"


async def touched(call: Callable[[], Awaitable[Any]]) -> list[str]:
    """The files of the package whose functions run during a third `call`, without those of the sandbox.

    The second one still asks the state whether the cache was cleared, and remembers the addresses in the reply.
    """
    for _ in range(2):
        await call()
        await asyncio.sleep(PAUSE_SECONDS)  # events are written a moment after their call
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        await call()
    finally:
        sys.setprofile(None)
    ours = (name.removeprefix(PACKAGE) for name in found if name.startswith(PACKAGE))
    return sorted(name for name in ours if not name.startswith("sandbox/"))


async def main() -> None:
    """Print a line for each call."""
    async with Sandbox() as sandbox:
        settings = load_settings(
            **sandbox.flags(), data_dir=Path(tempfile.mkdtemp()), state_url="memory://"
        )
        async with open_gateway(settings) as gateway:
            question, page = (
                SearchRequest("How tall is the Eiffel Tower?"),
                f"{sandbox.url}/pages/eiffel-tower",
            )
            calls: dict[str, Callable[[], Awaitable[Any]]] = {
                "cached search_web": lambda: gateway.search(question),
                "known get_content": lambda: gateway.reading.content(ContentRequest(page)),
            }
            for name, call in calls.items():
                files = await touched(call)
                print(f"{name}: {len(files)} files")
                if "--names" in sys.argv:
                    print(*files, sep="\n")


if __name__ == "__main__":
    asyncio.run(main())
