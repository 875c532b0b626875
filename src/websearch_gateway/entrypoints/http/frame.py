"""The outermost layer: adds headers to every reply, turns every error into a reply, logs one line per request."""

from __future__ import annotations

import functools
import hashlib
import logging
import re
import time
from collections.abc import Callable
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway.entrypoints.http.replies import ERROR_SHAPE, ErrorShape, failure
from websearch_gateway.models import Caller

HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"cache-control": b"no-store",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"referrer-policy": b"no-referrer",
}
"""The default for replies that set none."""
PROBES = ("/healthz", "/readyz")
CLIENT_GONE = 499
"""The status in the log for a reply that no client waited for, as in nginx."""

REQUEST_ID = b"x-request-id"
_FIT_FOR_LOGS = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_SLASHES = re.compile("/{2,}")

_log = logging.getLogger(__name__)


class Frame:
    """ASGI middleware around everything."""

    def __init__(self, app: ASGIApp, error_shape: Callable[[Scope], ErrorShape | None] = lambda _: None) -> None:
        self._app = app
        self._error_shape = error_shape

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = CLIENT_GONE
        request_id = _request_id(scope)
        scope.pop("route", None)  # the route of a surrounding server would look like ours
        # Clients append a path to a base that ends in a slash.
        scope["path"] = _SLASHES.sub("/", scope["path"])
        scope[ERROR_SHAPE] = self._error_shape(scope)

        async def framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                present = {name.lower() for name, _ in message["headers"]}
                missing = [(name, value) for name, value in HEADERS.items() if name not in present]
                missing.append((REQUEST_ID, request_id.encode()))
                message = {**message, "headers": [*message["headers"], *missing]}
            await send(message)

        try:
            await self._app(scope, receive, framed)
        except Exception as error:  # the entrypoint: on any failure a caller gets a typed error
            if status != CLIENT_GONE:
                raise  # a reply that has begun can only be aborted
            await failure(error)(scope, receive, framed)
        finally:
            _note(scope, status, time.perf_counter() - started, request_id)


def _request_id(scope: Scope) -> str:
    """The caller's request id if it is safe for a log and a header; else a new one."""
    given = [value.decode("latin-1") for name, value in scope["headers"] if name == REQUEST_ID]
    return given[0] if len(given) == 1 and _FIT_FOR_LOGS.fullmatch(given[0]) else uuid4().hex


def _note(scope: Scope, status: int, seconds: float, request_id: str) -> None:
    """Log the caller, the request and its outcome: no query, no token, no body, and only known paths."""
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
        "request_id": request_id,
    }
    if "refused" in scope:
        event["refused"] = scope["refused"]
    _log.log(level, event)


@functools.lru_cache(maxsize=1024)
def user_hash(user: str) -> str:
    """A pseudonym for a user, the same in all processes."""
    return hashlib.blake2b(user.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
