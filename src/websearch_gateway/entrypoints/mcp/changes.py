"""Tells clients that stay connected when the list of tools has changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged
from opentelemetry.metrics import get_meter

from websearch_gateway import __version__
from websearch_gateway.entrypoints.mcp.clients import Context
from websearch_gateway.entrypoints.tools.table import is_fixed, toolsets_of
from websearch_gateway.settings.loading import Settings

_METER = get_meter("websearch_gateway", __version__)
_SESSION_SECONDS = _METER.create_histogram(
    "mcp.server.session.duration", "s", "How long a client stayed connected."
)

LOOK_SECONDS = 5.0
"""How often to look whether the list of tools has changed (seconds)."""


class ToolListChanges:
    """Tells the connected client that the list of tools has changed: the first site of documentation is indexed, or the
    last one deleted, perhaps by another process. In protocol version 2026-07-28 clients listen for that, in earlier
    versions they are told anyway.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.bus = InMemorySubscriptionBus()
        self.client: Context | None = None
        """The connected client of an earlier protocol version."""

    @asynccontextmanager
    async def watching(self, _: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        """The lifespan of the server."""
        task = (
            None
            if is_fixed(self._settings)
            else asyncio.create_task(self._watch(toolsets_of(self._settings)))
        )
        started = time.monotonic()
        try:
            yield {}
        finally:
            _SESSION_SECONDS.record(time.monotonic() - started, {"network.transport": "pipe"})
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _watch(self, known: tuple[str, ...]) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if (now := await asyncio.to_thread(toolsets_of, self._settings)) != known:
                known = now
                await self.bus.publish(ToolsListChanged())
                if self.client is not None:
                    await self.client.session.send_tool_list_changed()
