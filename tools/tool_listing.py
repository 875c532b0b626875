"""Writes the tools as clients list them: `python tools/tool_listing.py > tests/entrypoints/tools.json`."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.entrypoints.mcp.server import create_server
from websearch_gateway.settings.groups import APART, TOOLSETS
from websearch_gateway.settings.loading import Settings

NOBODY = SimpleNamespace(request=None, session=SimpleNamespace(client_params=None))
"""The context of a request whose client says nothing of itself."""


async def listing() -> list[dict[str, Any]]:
    """Every tool of all toolsets, as `tools/list` gives it."""
    entry = create_server(LazyGateway(Settings(toolsets=(*TOOLSETS, *APART)))).get_request_handler(
        "tools/list"
    )
    assert entry is not None
    result = await entry.handler(NOBODY, None)  # type: ignore[arg-type]
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in result.tools]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(listing()), ensure_ascii=False, indent=2))
