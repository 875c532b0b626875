"""The whole sandbox as one ASGI app."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount

from websearch_gateway.sandbox.board import Board
from websearch_gateway.sandbox.control import control_routes
from websearch_gateway.sandbox.faults import Gate
from websearch_gateway.sandbox.vendor import VendorRefusal
from websearch_gateway.sandbox.vendors import VENDORS
from websearch_gateway.sandbox.web import ROUTES


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _refused(_: Request, refusal: Exception) -> Response:
    if not isinstance(refusal, VendorRefusal):
        raise refusal
    return refusal.response()


def create_app(board: Board | None = None, clock: Callable[[], datetime] = _utc_now) -> Starlette:
    """Every vendor under its name, the pages, and `/_sandbox`.

    The faults `reset`, `drip` and `wrong_length` need the connection itself, so they work only when `Sandbox` or
    `serve` runs the app.

    Args:
        board: holds the requested faults and the recorded calls; by default a new one, controlled only over HTTP.
        clock: gives the current time in UTC.
    """
    board = board or Board()
    vendors = [Mount(f"/{vendor.name}", routes=list(vendor.routes)) for vendor in VENDORS]
    app = Starlette(
        routes=[*control_routes(board, [vendor.name for vendor in VENDORS]), *vendors, *ROUTES],
        middleware=[Middleware(Gate, board=board, vendors=VENDORS)],
        exception_handlers={VendorRefusal: _refused},
    )
    app.state.clock = clock
    app.state.asked = set()  # the pages that have asked clients to wait
    return app
