"""A gateway that is built when somebody needs it."""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import sys
from typing import TYPE_CHECKING

from websearch_gateway.errors import SearchError
from websearch_gateway.observability.logs import flush_logs
from websearch_gateway.settings import Settings

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway

WARM_UP = "warm_up"
"""The name of the task that loads in the background."""

_log = logging.getLogger(__name__)


class LazyGateway:
    """Builds the gateway when it is first needed, so that the handshake does not wait for its imports.

    A failure to build is told to the caller who meets it and tried again by the next.

    Args:
        owns_process: the process is there for this gateway alone, so once loaded its memory is set up to serve.
    """

    def __init__(self, settings: Settings, *, owns_process: bool = False) -> None:
        self.settings = settings
        self._owns_process = owns_process
        self._gateway: Gateway | None = None
        self._lock = asyncio.Lock()
        self._warming: asyncio.Task[None] | None = None
        self._crawling: asyncio.Task[None] | None = None

    async def get(self) -> Gateway:
        """The gateway.

        Raises:
            SearchNotConfiguredError: a setting names something that does not exist or lacks its key.
        """
        async with self._lock:
            if self._gateway is None:
                self._gateway = await asyncio.to_thread(self._build)
            return self._gateway

    def _build(self) -> Gateway:
        """Imports and certificates: half a second, in which the event loop answers others."""
        gateway: Gateway = importlib.import_module("websearch_gateway.app").build(self.settings)
        return gateway

    def warm_up(self) -> None:
        """Build and load in the background what the first call would wait for. Its troubles are left to that call."""
        if self._warming is None:
            self._warming = asyncio.create_task(self._warm_up(), name=WARM_UP)

    async def close(self) -> None:
        """Close what was opened."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        if self._crawling is not None:
            self._crawling.cancel()
            await asyncio.gather(self._crawling, return_exceptions=True)
        if self._gateway is not None:
            await self._gateway.close()
        flush_logs()  # the process may be about to end by a signal

    async def _warm_up(self) -> None:
        try:
            await (await self.get()).warm_up()
        except SearchError as error:
            _log.warning("The first call will meet this: %s: %s", error.code, error.message)
            return
        if self._owns_process:
            _collect_rarely()
            runner = (await self.get()).docs.runner
            self._crawling = asyncio.create_task(runner.keep_crawling(3600 * self.settings.docs_refresh_hours))


def _collect_rarely() -> None:
    """Leave what is loaded now out of garbage collection, and the rest for longer.

    A call makes hundreds of objects, and to look through all modules every few calls takes a seventh of their time.
    Nothing is collected before: imports leave some twenty objects, for which the event loop would stand still.
    """
    _give_back()
    gc.freeze()
    gc.set_threshold(5_000, 20, 100)


def _give_back() -> None:
    """Return to the system what imports took and freed: with glibc, some 9 MB."""
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
