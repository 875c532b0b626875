"""The span of a request, in the caller's trace if the request names one (W3C Trace Context)."""

from __future__ import annotations

from opentelemetry.trace import SpanKind
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway.upstream.tracing import call_span

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
        carrier = {name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in _CARRIED}
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
