"""The ASGI app: which routes there are, and which layers a request passes on its way to them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from websearch_gateway.doors.http.authentication import Authentication, metadata_routes
from websearch_gateway.doors.http.cancellation import Cancellation
from websearch_gateway.doors.http.exchange import Exchange
from websearch_gateway.doors.http.frame import Frame
from websearch_gateway.doors.http.health import healthz, readyz
from websearch_gateway.doors.http.metrics import metrics_endpoint
from websearch_gateway.doors.http.replies import refusal
from websearch_gateway.doors.http.rest import PATH, openapi_endpoint, rest_endpoint
from websearch_gateway.doors.http.status import status_endpoint
from websearch_gateway.doors.http.tracing import Tracing
from websearch_gateway.doors.http.transport import TransportGuard
from websearch_gateway.doors.lazy import LazyGateway
from websearch_gateway.doors.mcp import create_server
from websearch_gateway.doors.tools import listed
from websearch_gateway.settings import Settings

if TYPE_CHECKING:
    from websearch_gateway.doors.auth.tokens import TokenVerifier


class McpEndpoint:
    """MCP over streamable HTTP as an ASGI app: every POST stands alone, and its reply is JSON."""

    def __init__(self, gateway: LazyGateway) -> None:
        self._gateway = gateway
        self._app: ASGIApp | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """What must surround the serving of requests."""
        # The SDK's own check of Host and Origin stays off: ours has seen every request already.
        sessions = StreamableHTTPSessionManager(create_server(self._gateway), json_response=True, stateless=True)
        async with sessions.run():
            self._app = Cancellation(sessions.handle_request)
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if self._app is None:
            raise RuntimeError("The app serves only while its lifespan is running.")
        await self._app(scope, receive, send)


def create_app(settings: Settings, gateway: LazyGateway | None = None) -> Starlette:
    """The HTTP door as an ASGI app. Its server must run the lifespan, which closes the gateway at the end.

    Args:
        gateway: made of the settings when absent.

    Raises:
        SearchNotConfiguredError: authentication or the toolsets are set up in an unsafe or impossible way.
    """
    verifier = _verifier(settings)
    lazy = gateway or LazyGateway(settings)
    mcp = McpEndpoint(lazy)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            async with mcp.running():
                lazy.warm_up()
                yield
        finally:
            await lazy.close()
            if verifier is not None:
                await verifier.keys.aclose()

    app = Starlette(
        routes=_routes(settings, lazy, mcp, verifier),
        lifespan=lifespan,
        exception_handlers={HTTPException: _told},
        middleware=[
            Middleware(Frame),
            Middleware(TransportGuard, settings),
            Middleware(Authentication, verifier, settings.public_url),
            Middleware(Tracing),
            Middleware(Exchange),
        ],
    )
    app.router.redirect_slashes = False
    return app


def _verifier(settings: Settings) -> TokenVerifier | None:
    if settings.auth_mode == "none":
        return None
    # Cryptography takes 150 ms to import.
    from websearch_gateway.doors.auth.modes import token_verifier

    return token_verifier(settings)


def _routes(
    settings: Settings, gateway: LazyGateway, mcp: McpEndpoint, verifier: TokenVerifier | None
) -> list[BaseRoute]:
    routes: list[BaseRoute] = [
        # GET would open a stream that never says anything, DELETE end a session that does not exist: 405 for both.
        Route("/mcp", mcp, methods=["POST"]),
        Route("/", status_endpoint(gateway)),
        Route("/healthz", healthz),
        Route("/readyz", readyz(gateway)),
        Route("/metrics", metrics_endpoint(gateway)),
        *metadata_routes(verifier, settings),
    ]
    search_web = next((tool for tool in listed(settings.toolsets) if tool.name == "search_web"), None)
    if search_web is not None:
        routes += [
            Route(PATH, rest_endpoint(search_web, gateway), methods=["POST"]),
            Route("/openapi.json", openapi_endpoint(search_web, with_token=verifier is not None)),
        ]
    return routes


async def _told(_: Request, error: Exception) -> Response:
    """Starlette's own refusals, for an unknown path or a wrong method, in our shape."""
    if not isinstance(error, HTTPException):
        raise error
    return refusal(error.status_code, "VALIDATION", f"{error.detail}.", error.headers)
