"""The layers that a request passes first: frame, trace, check of Host and Origin, bounds of bodies.

The frame adds headers to every reply, turns every error into a reply and logs one line per request. The span is in the
caller's trace if the request names one (W3C Trace Context). Host and Origin are compared with the operator's settings:
a page that rebinds its name to our address still sends that name as Host; a page that posts here still sends its
Origin. Bodies are bounded in size and time, and the work ends when the client leaves.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import json
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from opentelemetry.trace import SpanKind
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway.entrypoints.http.replies import ERROR_SHAPE, ErrorShape, failure, refusal
from websearch_gateway.entrypoints.mcp.messages import ESCAPED_HALF
from websearch_gateway.errors import SearchRateLimitError, SearchValidationError, shown
from websearch_gateway.foreign_json import BadJson, parse_strict_json
from websearch_gateway.models import Caller
from websearch_gateway.settings.loading import Settings
from websearch_gateway.upstream.tracing import call_span

_log = logging.getLogger(__name__)

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


class Frame:
    """ASGI middleware around everything.

    Args:
        base: the path of PUBLIC_URL, without which every path is served too: some proxies pass it on, some do not.
    """

    def __init__(
        self,
        app: ASGIApp,
        error_shape: Callable[[Scope], ErrorShape | None] = lambda _: None,
        base: str = "",
    ) -> None:
        self._app = app
        self._error_shape = error_shape
        self._base = base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = CLIENT_GONE
        request_id = _request_id(scope)
        scope.pop("route", None)  # the route of a surrounding server would look like ours
        # Clients append a path to a base that ends in a slash, and a slash to a path.
        scope["path"] = self._own_path(_SLASHES.sub("/", scope["path"]).rstrip("/") or "/")
        scope["headers"] = [(name, _in_lower_case(name, value)) for name, value in scope["headers"]]
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

    def _own_path(self, path: str) -> str:
        if self._base and (path == self._base or path.startswith(f"{self._base}/")):
            return path[len(self._base) :] or "/"
        return path


_MEDIA_TYPES = (b"accept", b"content-type")
"""Headers whose value has no case (RFC 9110, section 8.3.1), but for parameters that nobody here reads."""


def _in_lower_case(name: bytes, value: bytes) -> bytes:
    """The value of a header as the SDK compares it, which is with regard to case."""
    return value.lower() if name in _MEDIA_TYPES else value


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


_CARRIED = (b"traceparent", b"tracestate")


class Tracing:
    """ASGI middleware: each POST has a span. It runs after authentication: strangers cannot start traces.

    The attributes are those of https://opentelemetry.io/docs/specs/semconv/http/http-spans/ that cannot hold a query.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return await self._app(scope, receive, send)
        carrier = {
            name.decode(): value.decode("latin-1")
            for name, value in scope["headers"]
            if name in _CARRIED
        }
        with call_span("POST", SpanKind.SERVER, carrier) as span:
            if not span.is_recording():
                return await self._app(scope, receive, send)

            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            span.set_attribute("http.request.method", "POST")
            try:
                await self._app(scope, receive, noting)
            finally:
                if route := getattr(scope.get("route"), "path", ""):
                    span.update_name(f"POST {route}")
                    span.set_attribute("http.route", route)


LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
CORS_HEADERS = (
    "Authorization",
    "X-API-Key",
    "Content-Type",
    "Mcp-Protocol-Version",
    "Mcp-Session-Id",
    "Mcp-Method",
    "Mcp-Name",
)
CORS_EXPOSED = ("Mcp-Session-Id", "Retry-After", "WWW-Authenticate", "X-Request-Id")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Names:
    """A set of `name`, `name:port` and `name:*`; the last stands for any port, or none.

    Args:
        any_port: a name without a port stands for any port, too: of a Host, the name is what protects.
    """

    def __init__(self, names: Iterable[str], *, any_port: bool = False) -> None:
        given = {name.strip().lower().rstrip("/") for name in names}
        self._any_port = {
            name.removesuffix(":*") for name in given if any_port or name.endswith(":*")
        }
        self._exact = given

    def __contains__(self, name: str) -> bool:
        if name in self._exact or name in self._any_port:
            return True
        base, _, port = name.rpartition(":")
        return base in self._any_port and port.isascii() and port.isdigit()


class HostOriginCheck:
    """ASGI middleware: another Host gets 421, another Origin 403, before any other check.

    Pages of an allowed Origin get the headers that let them read the reply (CORS).
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        # Any Origin that reaches this is allowed.
        self._for_pages = CORSMiddleware(
            app,
            allow_origin_regex=".*",
            allow_methods=("GET", "POST"),
            allow_headers=CORS_HEADERS,
            expose_headers=CORS_EXPOSED,
        )
        hosts, origins = _public(settings.public_url)
        self._hosts = Names([*settings.allowed_hosts, *hosts], any_port=True)
        self._origins = Names([*settings.allowed_origins, *origins])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        app = self._next(scope) if scope["type"] == "http" else self._app
        await app(scope, receive, send)

    def _next(self, scope: Scope) -> ASGIApp:
        """The app that answers: a refusal if the Host or the Origin is not allowed."""
        headers = scope["headers"]
        if {name for name, _ in headers} >= {b"content-length", b"transfer-encoding"}:
            # A proxy may see another end of this request (RFC 9112, section 6.1).
            message = "Send Content-Length or Transfer-Encoding, not both."
            return refusal(400, "VALIDATION", message, {"Connection": "close"})
        hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
        origins = [value.decode("latin-1").lower() for name, value in headers if name == b"origin"]
        port = scope["server"][1] if scope.get("server") else None
        if len(hosts) != 1 or not (hosts[0] in self._hosts or _is_loopback(hosts[0], port)):
            return refusal(
                421, "VALIDATION", "This server does not accept that Host; see ALLOWED_HOSTS."
            )
        if len(origins) > 1 or not all(
            o in self._origins or _is_own_page(o, port) for o in origins
        ):
            return refusal(
                403, "VALIDATION", "This server does not accept that Origin; see ALLOWED_ORIGINS."
            )
        return self._for_pages if origins else self._app


def _is_loopback(host: str, port: int | None) -> bool:
    """Whether it names this machine, with the port on which the request came in."""
    name, _, given = host.rpartition(":")
    if name in LOOPBACK:
        return given == str(port)
    return host in LOOPBACK and port in (None, 80)


def _is_own_page(origin: str, port: int | None) -> bool:
    scheme, separator, host = origin.partition("://")
    return scheme == "http" and bool(separator) and _is_loopback(host, port)


def _public(public_url: str | None) -> tuple[list[str], list[str]]:
    """The values of Host and Origin that PUBLIC_URL allows."""
    if public_url is None:
        return [], []
    parts = urlsplit(public_url.lower())
    name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    port = parts.port or _DEFAULT_PORTS[parts.scheme]
    hosts = [f"{name}:{port}", *([name] if port == _DEFAULT_PORTS[parts.scheme] else [])]
    return hosts, [f"{parts.scheme}://{host}" for host in hosts]


MAX_BODY_BYTES = 1_048_576
"""Of a request: far more than the longest lists of claims and addresses."""
MAX_STRANGER_BYTES = 16_384
"""The largest body of a request whose caller is not known: its token is in the body, or its path needs no token."""
BUDGET_BYTES = 64 * MAX_BODY_BYTES
"""For the bodies of all requests under way; those of one caller have at most half of it."""
BUSY_SECONDS = 1.0
"""When to send a body again that had no room (seconds)."""
BODY_SECONDS = 10.0
"""For a body to arrive (seconds): a megabyte over a phone."""
DISCARD_BYTES = 8 * MAX_BODY_BYTES
"""Of a body that is refused, read so that the client sees the reply; then the connection is closed."""
DISCARD_SECONDS = 1.0
WATCH_AFTER_SECONDS = 0.05
"""After this long, a call is watched for a disconnect (seconds); most end sooner and need no watcher."""
_CLOSE = {"Connection": "close"}  # the rest of the body is not read


class RequestBody:
    """ASGI middleware: reads the body before the app sees the request, and cancels the app on a disconnect."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._held: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        share = _Share(self._held, scope)
        try:
            refused = await self._read_and_serve(scope, receive, send, share)
        except ClientDisconnect:
            return None
        finally:
            share.give_back()
        return await refused(scope, receive, send) if refused else None

    async def _read_and_serve(
        self, scope: Scope, receive: Receive, send: Send, share: _Share
    ) -> Response | None:
        """Returns the reply to a body that is too long or too slow, or has no room."""
        body: bytes | None = None
        # First the time limit for the body; then a scope around the work, cancelled when the client disconnects.
        limit = asyncio.timeout(BODY_SECONDS)
        try:
            async with limit:
                try:
                    body = await _read(scope, receive, share)
                except SearchRateLimitError as error:
                    return failure(error, _CLOSE)
                if body is not None:
                    limit.reschedule(None)
                    await self._serve(scope, body, _Watch(limit, receive), send)
                    return None
                await _discard(receive)
                return refusal(413, "VALIDATION", share.too_long, _CLOSE)
        except TimeoutError:
            if not limit.expired():
                raise
            if body is not None:
                return None  # no client is left to reply to
            return refusal(408, "VALIDATION", "The request's body did not arrive in time.", _CLOSE)

    async def _serve(self, scope: Scope, body: bytes, watch: _Watch, send: Send) -> None:
        unread = [body]

        async def replay() -> Message:
            if not unread:
                # A disconnect cancels the app instead of sending it a message.
                await asyncio.Event().wait()
            return {"type": "http.request", "body": unread.pop(), "more_body": False}

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                watch.stop()  # the reply is complete: a disconnect interrupts nothing
            await send(message)

        try:
            await self._app(scope, replay, sending)
        finally:
            watch.stop()


class _Watch:
    """Cancels `work`, the scope around a call, when the client disconnects."""

    def __init__(self, work: asyncio.Timeout, receive: Receive) -> None:
        self._work = work
        self._receive = receive
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self._timer = self._loop.call_later(WATCH_AFTER_SECONDS, self._start)

    def stop(self) -> None:
        """Stop watching."""
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _start(self) -> None:
        self._task = self._loop.create_task(self._watch())

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._work.reschedule(self._loop.time())


async def _discard(receive: Receive) -> None:
    """Read a little more than the limit: a client that is still sending when we close never sees the reply."""
    discarded = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            while discarded < DISCARD_BYTES and (message := await receive()).get(
                "more_body", False
            ):
                discarded += len(message.get("body", b""))


async def _read(scope: Scope, receive: Receive, share: _Share) -> bytes | None:
    """The whole body; None if its declared or actual size is too large.

    Raises:
        SearchRateLimitError: the bodies of other requests leave no room for it.
    """
    for name, value in scope["headers"]:
        if name == b"content-length" and (
            not value.isdigit() or len(value) > 12 or int(value) > share.most
        ):
            return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect  # the rest never comes
        body += message.get("body", b"")
        if len(body) > share.most:
            return None
        share.hold(len(body))
        if not message.get("more_body", False):
            return bytes(body)


class _Share:
    """What the body of one request may hold and holds; `held` counts those of all requests by user."""

    def __init__(self, held: Counter[str], scope: Scope) -> None:
        caller: Caller | None = scope.get("caller")
        self._of_all = held
        self._user = caller.user if caller else ""
        self._held = 0
        self.most = MAX_BODY_BYTES if caller else MAX_STRANGER_BYTES
        without = "" if caller else " without a token in its header"
        self.too_long = f"A request{without} has at most {self.most:,} bytes."

    def hold(self, size: int) -> None:
        """Hold this many bytes in all; raises `SearchRateLimitError` if there is no room for them."""
        more = size - self._held
        if (
            self._of_all.total() + more > BUDGET_BYTES
            or self._of_all[self._user] + more > BUDGET_BYTES // 2
        ):
            raise SearchRateLimitError(
                "Too many long requests are under way.", retry_after=BUSY_SECONDS
            )
        self._of_all[self._user] += more
        self._held = size

    def give_back(self) -> None:
        """Release all of it."""
        self._of_all[self._user] -= self._held
        if not self._of_all[self._user]:
            del self._of_all[self._user]


def is_json(scope: Scope) -> bool:
    """Whether the body is declared as JSON."""
    kind = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    return bool(kind.partition(b";")[0].strip() == b"application/json")


def json_object(body: bytes) -> dict[str, Any]:
    """The JSON object that is the whole of a body.

    Raises:
        SearchValidationError: it is not one, or holds half of a surrogate pair, which no reply can repeat.
    """
    try:
        found = parse_strict_json(body)
        if ESCAPED_HALF.search(body):  # most are pairs
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = shown(error.object[error.start])
        raise SearchValidationError(
            f"The body holds half of a character ({half}): cut texts between characters."
        ) from None
    except BadJson:
        raise SearchValidationError("The body is not JSON.") from None
    if not isinstance(found, dict):
        raise SearchValidationError("The body must be a JSON object.")
    return found
