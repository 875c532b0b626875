"""What this door says when it is not a tool that speaks: errors as JSON, of the same shape as everywhere."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from websearch_gateway.doors.errors import describe
from websearch_gateway.errors import ErrorCode, SearchError
from websearch_gateway.wire.base import ErrorInfo

STATUS: Mapping[ErrorCode, int] = {
    "VALIDATION": 400,
    "FORBIDDEN_URL": 403,
    "RATE_LIMIT": 429,
    "BUDGET": 429,
    "AUTH": 502,  # a key of the gateway's own was refused upstream; the caller's token is judged before
    "PROVIDER": 502,
    "PARSE": 502,
    "FETCH": 502,
    "NOT_CONFIGURED": 503,
    "TIMEOUT": 504,
}
"""The HTTP status of each code of an error, where a call of a tool fails."""


def json_reply(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """`content` as JSON."""
    # Half a surrogate pair, which only a hostile caller sends, leaves as the escape that it came as.
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    return Response(body, status, headers, media_type="application/json")


def refusal(status: int, code: ErrorCode, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error that this door itself has to tell."""
    return error_reply(ErrorInfo(code=code, message=message), status, headers)


def failure(error: Exception) -> Response:
    """An error that came from within."""
    told = describe(error)
    status = STATUS[error.code] if isinstance(error, SearchError) else 500
    wait = told.retry_after_seconds
    if wait is not None and status >= 500:
        status = 503
    return error_reply(told, status, None if wait is None else {"Retry-After": str(math.ceil(wait))})


def error_reply(error: ErrorInfo, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """`{"error": {code, message, ...}}`."""
    return json_reply({"error": error.model_dump(mode="json", by_alias=True, exclude_none=True)}, status, headers)
