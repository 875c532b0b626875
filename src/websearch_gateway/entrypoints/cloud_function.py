"""The HTTP server as a Cloud Function. The platform runs no lifespan and lets everybody call it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from websearch_gateway.entrypoints.http.app import create_app
from websearch_gateway.entrypoints.http.replies import failure, refusal
from websearch_gateway.entrypoints.lifecycle import start_exporting
from websearch_gateway.errors import SearchError, SearchNotConfiguredError
from websearch_gateway.settings import load_settings
from websearch_gateway.upstream.telemetry import configure_logging

STATE_PREFIX = "websearch"
"""The collection of the TTL policies in `firestore.indexes.json`."""

_log = logging.getLogger(__name__)


class Resident:
    """An app that starts with the first request and whose lifespan ends with the event loop.

    If it cannot start, the waiting requests get an error, and the next request tries again.

    Args:
        make: creates the app, in a thread.
    """

    def __init__(self, make: Callable[[], Starlette]) -> None:
        self._make = make
        self._begun: asyncio.Future[Starlette] | None = None
        self._life: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        app: ASGIApp
        try:
            app = await self._running()
        except SearchError as error:
            # The caller is not authenticated yet, so only the log gets the reason.
            _log.error("The gateway cannot start: %s", error.message)
            app = refusal(503, "NOT_CONFIGURED", "The gateway cannot start. Its log says why.")
        except Exception as error:
            app = failure(error)
        await app(scope, receive, send)

    async def _running(self) -> Starlette:
        if self._begun is None:
            self._begun = asyncio.get_running_loop().create_future()
            # In its own task: the task that opens a lifespan must close it.
            self._life = asyncio.create_task(self._live(self._begun))
        return await asyncio.shield(self._begun)

    async def _live(self, begun: asyncio.Future[Starlette]) -> None:
        try:
            app = await asyncio.to_thread(self._make)
            async with app.router.lifespan_context(app):
                begun.set_result(app)
                await asyncio.Event().wait()
        except Exception as error:
            if begun.done():
                raise
            self._begun = None
            begun.set_exception(error)


def app_for(project: str) -> Starlette:
    """The HTTP server for the settings in the environment. The defaults are the project's own users and Firestore.

    Args:
        project: id of the project that the function is deployed to; may be empty outside of one.

    Raises:
        SearchNotConfiguredError: a setting is unusable or unsafe. Without authentication nothing is served at all.
    """
    settings = load_settings()
    defaults: dict[str, Any] = {
        "auth_mode": "firebase",
        "firebase_project_id": project,
        "state_url": f"firestore://{project}/{STATE_PREFIX}",
    }
    if project:
        unset = defaults.keys() - settings.model_fields_set
        settings = settings.model_copy(update={name: defaults[name] for name in unset})
    configure_logging(settings.log_level, settings.secrets())
    if settings.auth_mode == "none":
        raise SearchNotConfiguredError("A function is open to everybody: set AUTH_MODE.")
    app = create_app(settings)
    start_exporting(settings)  # never stops: a function gets no notice of its end
    return app
