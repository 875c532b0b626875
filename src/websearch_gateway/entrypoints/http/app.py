"""The ASGI app: the routes, and the layers that a request passes before them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from websearch_gateway.entrypoints.http.authentication import Authentication, metadata_routes
from websearch_gateway.entrypoints.http.compatible.routes import (
    compatible_endpoint,
    compatible_routes,
    error_shape,
    serving,
)
from websearch_gateway.entrypoints.http.health import LoopLag, healthz, metrics_endpoint, readyz
from websearch_gateway.entrypoints.http.mcp_endpoint import McpEndpoint
from websearch_gateway.entrypoints.http.middleware import Frame, HostOriginCheck, RequestBody, Tracing
from websearch_gateway.entrypoints.http.openapi import description_routes, openapi
from websearch_gateway.entrypoints.http.playground import play_routes
from websearch_gateway.entrypoints.http.replies import refusal
from websearch_gateway.entrypoints.http.rest import tool_routes
from websearch_gateway.entrypoints.http.status import status_endpoint
from websearch_gateway.entrypoints.lazy import LazyGateway
from websearch_gateway.entrypoints.tools import callable_tools, listed, toolsets_of
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
    verifier = _verifier(settings)
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


def _verifier(settings: Settings) -> Verifier | None:
    if settings.auth_mode == "none":
        return None
    # `cryptography` takes 150 ms to import.
    from websearch_gateway.entrypoints.http.tokens import token_verifier

    return token_verifier(settings)


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
    routes += description_routes(
        lambda toolsets: openapi(listed(toolsets), with_token=verifier is not None), lambda: toolsets_of(settings)
    )
    return routes


async def _http_error(_: Request, error: Exception) -> Response:
    """Starlette's errors for an unknown path or a wrong method, in our shape."""
    if not isinstance(error, HTTPException):
        raise error
    return refusal(error.status_code, "VALIDATION", f"{error.detail}.", error.headers)
