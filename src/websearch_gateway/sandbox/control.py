"""`/_sandbox`: sets faults and reads the counters over HTTP, for tests in any language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from websearch_gateway.sandbox.board import Board, Fault
from websearch_gateway.sandbox.front import front_page
from websearch_gateway.sandbox.vendor import VendorRefusal, json_object, origin


def control_routes(board: Board, vendors: Sequence[str]) -> list[BaseRoute]:
    """The routes that control `board`.

    `GET /_sandbox/` is a page for people, with the faults of the pages and of `vendors` as buttons.
    `POST /_sandbox/faults` takes `{"target", "fault", ...options}` and answers 204, or 400 with `{"error"}`.
    `DELETE /_sandbox/faults` clears them; `DELETE /_sandbox/calls` zeroes the counters.
    `GET /_sandbox/calls` answers `{PATH: {"calls": n, "cancelled": n}}`.
    """

    async def front(request: Request) -> HTMLResponse:
        return HTMLResponse(front_page(origin(request), vendors))

    async def add(request: Request) -> Response:
        options = await json_object(request, VendorRefusal(400, {"error": "Send a JSON object."}))
        try:
            board.add(Fault(kind=options.pop("fault"), **options))
        except (KeyError, TypeError, ValueError) as error:
            return JSONResponse({"error": str(error)}, 400)
        return Response(status_code=204)

    async def clear_faults(_: Request) -> Response:
        board.clear_faults()
        return Response(status_code=204)

    async def count(_: Request) -> JSONResponse:
        calls = board.calls()
        total = Counter(call.path for call in calls)
        cancelled = Counter(call.path for call in calls if call.cancelled)
        return JSONResponse({path: {"calls": total[path], "cancelled": cancelled[path]} for path in sorted(total)})

    async def clear_calls(_: Request) -> Response:
        board.clear_calls()
        return Response(status_code=204)

    return [
        Route("/_sandbox/", front),
        Route("/_sandbox/faults", add, methods=["POST"]),
        Route("/_sandbox/faults", clear_faults, methods=["DELETE"]),
        Route("/_sandbox/calls", count, methods=["GET"]),
        Route("/_sandbox/calls", clear_calls, methods=["DELETE"]),
    ]
