"""The HTTP door where nobody runs an app's lifespan: in a Cloud Function."""

from __future__ import annotations

import asyncio
import functools

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from websearch_gateway.doors.http import create_app
from websearch_gateway.pipeline.logs import configure_logging
from websearch_gateway.settings import load_settings


class Resident:
    """An app whose lifespan begins with its first request and ends with the event loop."""

    def __init__(self, app: Starlette) -> None:
        self._app = app
        self._lifespan: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if self._lifespan is None:
            # In a task of its own: what a lifespan opens must be closed where it was opened.
            self._lifespan = asyncio.create_task(self._live())
        await self._ready.wait()
        await self._app(scope, receive, send)

    async def _live(self) -> None:
        async with self._app.router.lifespan_context(self._app):
            self._ready.set()
            await asyncio.Event().wait()


@functools.cache
def resident() -> Resident:
    """The gateway of this process, made of its environment.

    Raises:
        SearchNotConfiguredError: a setting is unusable or unsafe.
    """
    settings = load_settings()
    configure_logging(settings.log_level, settings.secrets())
    return Resident(create_app(settings))
