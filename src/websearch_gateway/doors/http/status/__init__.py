"""The status page at `/`: one screen about one gateway, for a person. It holds no script and loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from websearch_gateway.doors.http.authentication import require_scope
from websearch_gateway.doors.http.replies import failure
from websearch_gateway.doors.http.status.page import rendered
from websearch_gateway.doors.lazy import LazyGateway
from websearch_gateway.errors import SearchError
from websearch_gateway.pipeline.operations import DAYS


def status_endpoint(gateway: LazyGateway) -> Callable[[Request], Awaitable[Response]]:
    """The page as it is now; needs the scope `ops`."""

    async def status(request: Request) -> Response:
        require_scope(request, "ops")
        try:
            snapshot = await (await gateway.get()).operations.snapshot(DAYS)
        except SearchError as error:
            return failure(error)
        style, policy = _style()
        page = rendered(snapshot, datetime.now(UTC), style)
        return Response(page, media_type="text/html", headers={"Content-Security-Policy": policy})

    return status


@cache
def _style() -> tuple[str, str]:
    """The style sheet, and the policy that allows it, and the icon, and nothing else."""
    style = files(__name__).joinpath("style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    allowed = (
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
    return style, "; ".join(allowed)
