"""MCP over streamable HTTP: every POST is independent. The reply is JSON, or a stream if the client wants progress."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway.entrypoints.http.cancellation import Cancellation
from websearch_gateway.entrypoints.http.replies import json_reply
from websearch_gateway.entrypoints.lazy import LazyGateway
from websearch_gateway.entrypoints.mcp.server import create_server
from websearch_gateway.entrypoints.mcp.surrogate_fix import ESCAPED_HALF, repaired
from websearch_gateway.entrypoints.mcp.unreadable import refusal_of_request


class McpEndpoint:
    """MCP as an ASGI app. It relies on `RequestBody`, which passes the body on in one piece."""

    def __init__(self, gateway: LazyGateway) -> None:
        self._gateway = gateway
        self._app: ASGIApp | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The context that must be open while requests are served."""
        # The SDK's check of Host and Origin stays off: ours has checked every request already.
        # Requests are independent, so nobody waits for news: clients list the tools again.
        server = create_server(self._gateway, tells_changes=False)
        whole = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        streamed = StreamableHTTPSessionManager(server, stateless=True)

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            first = await receive()

            async def replay() -> Message:
                nonlocal first
                message, first = first, {}
                return message or await receive()

            manager = streamed if _wants_progress(scope, first.get("body", b"")) else whole
            await manager.handle_request(scope, replay, send)

        async with whole.run(), streamed.run():
            self._app = Cancellation(serve)
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if self._app is None:
            raise RuntimeError("The app serves only while its lifespan is running.")
        first = await receive()
        with suppress(ValueError, RecursionError):  # the SDK reports the error
            if ESCAPED_HALF.search(first["body"]):
                first["body"] = repaired(first["body"]).encode()
            if (refusal := refusal_of_request(json.loads(first["body"]))) is not None:
                reply = json_reply(refusal.message.model_dump(mode="json", by_alias=True, exclude_unset=True), 400)
                await reply(scope, receive, send)
                return

        async def replay() -> Message:
            nonlocal first
            message, first = first, {}
            return message or await receive()

        await self._app(scope, replay, send)


def _wants_progress(scope: Scope, body: bytes) -> bool:
    """Whether a call has a progress token, and its client accepts streams."""
    accepted = dict(scope["headers"]).get(b"accept", b"").lower()
    if b"text/event-stream" not in accepted or b'"progressToken"' not in body:
        return False
    try:
        node: Any = json.loads(body)
    except (ValueError, RecursionError):
        return False  # the SDK reports the error
    for name in ("params", "_meta", "progressToken"):
        node = node.get(name) if isinstance(node, dict) else None
    return node is not None
