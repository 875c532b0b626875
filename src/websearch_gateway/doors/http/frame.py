"""The outermost layer: every reply gets its headers, every error a reply, every request one line in the log."""

from __future__ import annotations

import functools
import hashlib
import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway.doors.http.replies import failure
from websearch_gateway.models import Caller

HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"cache-control": b"no-store",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"referrer-policy": b"no-referrer",
}
"""For replies that do not say otherwise."""
PROBES = ("/healthz", "/readyz")
CLIENT_GONE = 499
"""The status in the log, as nginx writes it, of a reply that nobody waited for."""

_log = logging.getLogger(__name__)


class Frame:
    """ASGI middleware around everything."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = CLIENT_GONE
        scope.pop("route", None)  # one of a server around us would be taken for ours

        async def framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                present = {name.lower() for name, _ in message["headers"]}
                missing = [(name, value) for name, value in HEADERS.items() if name not in present]
                message = {**message, "headers": [*message["headers"], *missing]}
            await send(message)

        try:
            await self._app(scope, receive, framed)
        except Exception as error:  # the door: a caller gets a typed error, whatever happened
            if status != CLIENT_GONE:
                raise  # a reply that has begun can only be broken off
            await failure(error)(scope, receive, framed)
        finally:
            _note(scope, status, time.perf_counter() - started)


def _note(scope: Scope, status: int, seconds: float) -> None:
    """Log who did what and how it went: no query, no token, no body, and of paths only those that we gave out."""
    route = scope.get("route")
    path = getattr(route, "path", "(none)")
    level = logging.DEBUG if path in PROBES else logging.INFO
    if not _log.isEnabledFor(level):
        return
    caller: Caller | None = scope.get("caller")
    event = {
        "event": "http",
        "method": scope["method"] if route is not None else "(any)",
        "route": path,
        "status": status,
        "ms": round(seconds * 1000, 1),
        "user": user_hash(caller.user) if caller else None,
    }
    if "refused" in scope:
        event["refused"] = scope["refused"]
    _log.log(level, event)


@functools.lru_cache(maxsize=1024)
def user_hash(user: str) -> str:
    """A name for a user that tells the same user from others, in all processes, and is not who it is."""
    return hashlib.blake2b(user.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
