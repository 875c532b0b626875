"""`/_sandbox`: ask for faults and read the counters over HTTP, for tests in any language."""

from __future__ import annotations

from collections import Counter

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from websearch_gateway.sandbox.board import Board, Fault
from websearch_gateway.sandbox.vendor import VendorRefusal, json_object


def control_routes(board: Board) -> list[BaseRoute]:
    """The routes that steer `board`.

    `POST /_sandbox/faults` takes `{"target", "fault", ...options}` and answers 204, or 400 with `{"error"}`.
    `DELETE /_sandbox/faults` clears them; `DELETE /_sandbox/calls` zeroes the counters.
    `GET /_sandbox/calls` answers `{PATH: {"calls": n, "cancelled": n}}`.
    """

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
        Route("/_sandbox/faults", add, methods=["POST"]),
        Route("/_sandbox/faults", clear_faults, methods=["DELETE"]),
        Route("/_sandbox/calls", count, methods=["GET"]),
        Route("/_sandbox/calls", clear_calls, methods=["DELETE"]),
    ]
