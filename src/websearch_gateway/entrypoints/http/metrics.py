"""`/metrics`: the counters of this process, for Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.entrypoints.http.authentication import require_scope
from websearch_gateway.entrypoints.http.loop_lag import LoopLag
from websearch_gateway.entrypoints.http.replies import failure
from websearch_gateway.entrypoints.lazy import LazyGateway
from websearch_gateway.errors import SearchError


def metrics_endpoint(gateway: LazyGateway, lag: LoopLag) -> Callable[[Request], Awaitable[Response]]:
    """The metrics in the format that the request prefers; needs the scope `ops`."""

    async def metrics(request: Request) -> Response:
        require_scope(request, "ops")
        try:
            snapshot = await (await gateway.get()).operations.snapshot()
        except SearchError as error:
            return failure(error)
        accept = request.headers.get("accept", "")
        body, media_type = await asyncio.to_thread(_exposed, snapshot, lag.seconds, accept)
        return Response(body, headers={"Content-Type": media_type})

    return metrics


def _exposed(snapshot: Snapshot, lag: float, accept: str) -> tuple[bytes, str]:
    # In a thread: the library is slow to import, and process metrics are read from files.
    from websearch_gateway.entrypoints.http.exposition import exposition

    return exposition(snapshot, lag, accept)
