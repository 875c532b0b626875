"""The ASGI app: the routes, the layers that a request passes before them, and MCP over streamable HTTP.

Every POST to `/mcp` is independent. The reply is JSON, or a stream if the client wants progress. In protocol version
2026-07-28 a client cancels a call by closing the connection. In earlier versions it posts a notification that names the
call, and keeps waiting.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, REQUEST_CANCELLED
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway.entrypoints.http.authentication import Authentication, metadata_routes
from websearch_gateway.entrypoints.http.compatible import (
    compatible_endpoint,
    compatible_routes,
    error_shape,
    serving,
)
from websearch_gateway.entrypoints.http.middleware import Frame, HostOriginCheck, RequestBody, Tracing
from websearch_gateway.entrypoints.http.playground import play_routes
from websearch_gateway.entrypoints.http.replies import json_reply, refusal
from websearch_gateway.entrypoints.http.rest import description_route, tool_routes
from websearch_gateway.entrypoints.http.status import LoopLag, healthz, metrics_endpoint, readyz, status_endpoint
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.entrypoints.mcp import ESCAPED_HALF, create_server, refusal_of_request, repaired
from websearch_gateway.entrypoints.tools import callable_tools
from websearch_gateway.settings import Settings

if TYPE_CHECKING:
    from websearch_gateway.entrypoints.http.tokens import Verifier


def create_app(settings: Settings, gateway: LazyGateway | None = None) -> Starlette:
    """The HTTP server as an ASGI app. The server must run the lifespan, which closes the gateway at the end.

    Args:
        gateway: built from the settings if absent, with the limits of `Settings.over_http`.

    Raises:
        SearchNotConfiguredError: authentication or the toolsets are set up in an unsafe or impossible way.
    """
    verifier: Verifier | None = None
    if settings.auth_mode != "none":
        # `cryptography` takes 150 ms to import.
        from websearch_gateway.entrypoints.http.tokens import token_verifier

        verifier = token_verifier(settings)
    lazy = gateway or LazyGateway(settings.over_http())
    mcp = McpEndpoint(lazy)
    lag = LoopLag()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            async with mcp.running(), lag.watched():
                lazy.warm_up()
                yield
        finally:
            await lazy.close()
            if verifier is not None:
                await verifier.aclose()

    app = Starlette(
        routes=_routes(settings, lazy, mcp, verifier, lag),
        lifespan=lifespan,
        exception_handlers={HTTPException: _http_error},
        middleware=[
            Middleware(Frame, error_shape),
            Middleware(HostOriginCheck, settings),
            Middleware(Authentication, verifier, settings.public_url, compatible_endpoint),
            Middleware(Tracing),
            Middleware(RequestBody),
        ],
    )
    app.router.redirect_slashes = False
    return app


def _routes(
    settings: Settings, gateway: LazyGateway, mcp: McpEndpoint, verifier: Verifier | None, lag: LoopLag
) -> list[BaseRoute]:
    routes: list[BaseRoute] = [
        # GET would open a stream without events, DELETE would end a session that does not exist: 405 for both.
        Route("/mcp", mcp, methods=["POST"]),
        Route("/", serving(gateway, status_endpoint(gateway))),
        Route("/healthz", healthz),
        Route("/readyz", readyz(gateway, lag)),
        Route("/metrics", metrics_endpoint(gateway, lag)),
        *metadata_routes(verifier, settings),
    ]
    routes += tool_routes(callable_tools(settings), gateway)
    routes += compatible_routes(gateway)
    routes += play_routes(settings, gateway)
    routes.append(description_route(settings))
    return routes


async def _http_error(_: Request, error: Exception) -> Response:
    """Starlette's errors for an unknown path or a wrong method, in our shape."""
    if not isinstance(error, HTTPException):
        raise error
    return refusal(error.status_code, "VALIDATION", f"{error.detail}.", error.headers)


class McpEndpoint:
    """MCP as an ASGI app. It relies on `RequestBody`, which passes the body on in one piece."""

    def __init__(self, gateway: LazyGateway) -> None:
        self._gateway = gateway
        self._whole: ASGIApp | None = None
        self._streamed: ASGIApp | None = None
        self._cancellation = Cancellation()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The context that must be open while requests are served."""
        # The SDK's check of Host and Origin stays off: ours has checked every request already.
        # Requests are independent, so nobody waits for news: clients list the tools again.
        server = create_server(self._gateway, tells_changes=False)
        whole = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        streamed = StreamableHTTPSessionManager(server, stateless=True)
        async with whole.run(), streamed.run():
            self._whole, self._streamed = whole.handle_request, streamed.handle_request
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        first = await receive()
        posted: Any = None
        with suppress(ValueError, RecursionError):  # the SDK reports the error
            if ESCAPED_HALF.search(first["body"]):
                first["body"] = repaired(first["body"]).encode()
            posted = json.loads(first["body"])
            if (refusal := refusal_of_request(posted)) is not None:
                reply = json_reply(refusal.message.model_dump(mode="json", by_alias=True, exclude_unset=True), 400)
                await reply(scope, receive, send)
                return
        app = self._streamed if _wants_progress(scope, posted) else self._whole
        if app is None:
            raise RuntimeError("The app serves only while its lifespan is running.")

        async def replay() -> Message:
            nonlocal first
            message, first = first, {}
            return message or await receive()

        await self._cancellation.serve(app, posted, scope, replay, send)


def _wants_progress(scope: Scope, posted: Any) -> bool:
    """Whether a call has a progress token, and its client accepts streams."""
    for name in ("params", "_meta", "progressToken"):
        posted = posted.get(name) if isinstance(posted, dict) else None
    return posted is not None and b"text/event-stream" in dict(scope["headers"]).get(b"accept", b"").lower()


_SESSION = MCP_SESSION_ID_HEADER.encode()
_VERSION = MCP_PROTOCOL_VERSION_HEADER.encode()

Call = tuple[str, bytes, str]
"""A call in flight: whose it is, the client's session, its id as JSON."""


class Cancellation:
    """Cancels the calls of one process: a notification to another one does nothing."""

    def __init__(self) -> None:
        self._calls: dict[Call, asyncio.Timeout] = {}

    async def serve(self, app: ASGIApp, posted: Any, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request with the SDK's `app`; `posted` is its message, None if it cannot be read."""
        headers = dict(scope["headers"])
        if headers.get(_VERSION, b"").decode("latin-1") not in ("", *HANDSHAKE_PROTOCOL_VERSIONS) or posted is None:
            return await app(scope, receive, send)
        if posted.get("method") == "initialize":
            return await app(scope, receive, _naming(send))
        if (session := headers.get(_SESSION)) is None:
            return await app(scope, receive, send)
        user = scope["caller"].user
        if posted.get("method") == "notifications/cancelled":
            cancelled = user, session, _id_of(posted.get("params"), "requestId")
            if (work := self._calls.pop(cancelled, None)) is not None:
                work.reschedule(asyncio.get_running_loop().time())
        elif "id" in posted:
            call = user, session, _id_of(posted, "id")
            return await self._serve(app, call, posted["id"], scope, receive, send)
        return await app(scope, receive, send)

    async def _serve(
        self, app: ASGIApp, call: Call, request_id: Any, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve a call that can be cancelled; a cancelled one gets the reply that the SDK gives in sessions."""
        work = asyncio.timeout(None)  # cancelled from outside, or never
        streams = False

        async def sending(message: Message) -> None:
            nonlocal streams
            if message["type"] == "http.response.start":
                streams = b"text/event-stream" in dict(message["headers"]).get(b"content-type", b"")
            if not streams or (message["type"] == "http.response.body" and not message.get("more_body", False)):
                self._forget(call, work)  # already answered: too late to cancel
            await send(message)

        try:
            async with work:
                self._calls[call] = work
                await app(scope, receive, sending)
        except TimeoutError:
            if not work.expired():
                raise
            error = {"code": REQUEST_CANCELLED, "message": "The request was cancelled."}
            reply = {"jsonrpc": "2.0", "id": request_id, "error": error}
            if streams:
                await send({"type": "http.response.body", "body": b"data: " + json.dumps(reply).encode() + b"\n\n"})
            else:
                await json_reply(reply)(scope, receive, send)
        finally:
            self._forget(call, work)

    def _forget(self, call: Call, work: asyncio.Timeout) -> None:
        if self._calls.get(call) is work:
            del self._calls[call]


def _naming(send: Send) -> Send:
    """Adds a session id to the reply."""

    async def named(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            message = {**message, "headers": [*message["headers"], (_SESSION, token_hex(16).encode())]}
        await send(message)

    return named


def _id_of(holder: Any, name: str) -> str:
    """An id as JSON: 1 and "1" are different calls."""
    return json.dumps(holder.get(name) if isinstance(holder, dict) else None)
