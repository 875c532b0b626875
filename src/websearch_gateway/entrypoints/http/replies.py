"""Replies other than tool results: errors as JSON, in one shape, except on paths that imitate another API."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from websearch_gateway.entrypoints.error_info import describe
from websearch_gateway.errors import ErrorCode, SearchError
from websearch_gateway.results import ErrorInfo

STATUS: Mapping[ErrorCode, int] = {
    "VALIDATION": 400,
    "FORBIDDEN_URL": 403,
    "RATE_LIMIT": 429,
    "BUDGET": 429,
    "AUTH": 502,  # an upstream refused the gateway's own key; the caller's token is checked earlier
    "PROVIDER": 502,
    "PARSE": 502,
    "FETCH": 502,
    "NOT_CONFIGURED": 503,
    "TIMEOUT": 504,
}
"""The HTTP status of each error code of a failed tool call."""

FINAL = frozenset({"AUTH", "NOT_CONFIGURED", "BUDGET"})
"""Codes of errors that a retry meets again until an operator acts."""

ErrorShape = Callable[[ErrorInfo, int], Any]
"""An error and its HTTP status as the JSON body that the clients of a path expect."""

ERROR_SHAPE = "error_shape"
"""The key of `scope` that holds the `ErrorShape` of the path; absent if errors have our own shape."""


def own_shape(error: ErrorInfo, _: int) -> Any:
    """`{"error": {code, message, ...}}`."""
    return {"error": error.model_dump(mode="json", by_alias=True, exclude_none=True)}


class ErrorReply(Response):
    """An error, rendered on sending: only then is the error shape of the path known."""

    def __init__(self, error: ErrorInfo, status: int, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(_encoded(own_shape(error, status)), status, headers, media_type="application/json")
        self.error = error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        if (shape := scope.get(ERROR_SHAPE)) is not None:
            self.body = _encoded(shape(self.error, self.status_code))
            self.headers["Content-Length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


def json_reply(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """`content` as JSON."""
    return Response(_encoded(content), status, headers, media_type="application/json")


def refusal(status: int, code: ErrorCode, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error that the HTTP layer itself reports."""
    return ErrorReply(ErrorInfo(code=code, message=message), status, headers)


def failure(error: Exception, headers: Mapping[str, str] | None = None) -> Response:
    """An error from the gateway."""
    info = describe(error)
    status = STATUS[error.code] if isinstance(error, SearchError) else 500
    wait = info.retry_after_seconds
    if wait is not None and status >= 500:
        status = 503
    headers = {**(headers or {}), **({} if wait is None else {"Retry-After": str(math.ceil(wait))})}
    if info.code in FINAL:
        headers["X-Should-Retry"] = "false"  # the SDKs of OpenAI would ask three times
    return ErrorReply(info, status, headers)


def _encoded(content: Any) -> bytes:
    # A lone surrogate, which only a hostile caller sends, is returned as its original escape.
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
