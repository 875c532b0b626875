"""The status page at `/`: one screen about one gateway, for a person.

It holds no script and loads nothing, and its content security policy allows neither; keep it so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from websearch_gateway.admin.operations import DAYS
from websearch_gateway.entrypoints.http.authentication import require_scope
from websearch_gateway.entrypoints.http.pages.page import page_reply, style
from websearch_gateway.entrypoints.http.replies import failure
from websearch_gateway.entrypoints.http.status.page import rendered
from websearch_gateway.entrypoints.lazy import LazyGateway
from websearch_gateway.errors import SearchError


def status_endpoint(gateway: LazyGateway) -> Callable[[Request], Awaitable[Response]]:
    """The current page; needs the scope `ops`."""

    async def status(request: Request) -> Response:
        require_scope(request, "ops")
        try:
            snapshot = await (await gateway.get()).operations.snapshot(DAYS)
        except SearchError as error:
            return failure(error)
        return page_reply(rendered(snapshot, datetime.now(UTC), style()))

    return status
