"""Replies other than tool results: errors as JSON, in one shape, except on paths that imitate another API; and HTML
pages for people. Those hold no script, load nothing, and carry the policy that forbids both, except for the playground.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from websearch_gateway.entrypoints.lifecycle import describe
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

NOT_JSON = "Send JSON, with Content-Type: application/json."

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

    def __init__(
        self, error: ErrorInfo, status: int, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(
            _encoded(own_shape(error, status)), status, headers, media_type="application/json"
        )
        self.error = error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        if (shape := scope.get(ERROR_SHAPE)) is not None:
            self.body = _encoded(shape(self.error, self.status_code))
            self.headers["Content-Length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


def json_reply(
    content: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """`content` as JSON."""
    return Response(_encoded(content), status, headers, media_type="application/json")


def refusal(
    status: int, code: ErrorCode, message: str, headers: Mapping[str, str] | None = None
) -> Response:
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
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )


@cache
def style() -> str:
    """The style sheet that all pages share."""
    return (
        files("websearch_gateway.entrypoints.http")
        .joinpath("style.css")
        .read_text(encoding="utf-8")
    )


def digest_of(source: str) -> str:
    """The source expression that allows one inline style sheet or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


@cache
def policy(*more: str, script: bool = False, form: bool = False) -> str:
    """The Content-Security-Policy that allows the style sheet and inline icons, and nothing else.

    Args:
        more: further style sheets that it allows.
        form: also forms that go to this server.
        script: also scripts and frames of this server; the scripts may ask it, but never write HTML (Trusted Types).
    """
    sheets = " ".join(digest_of(sheet) for sheet in (style(), *more))
    scripts = (
        "script-src 'self'",
        "connect-src 'self'",
        "frame-src 'self'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
    allowed = (
        "default-src 'none'",
        f"style-src {sheets}",
        *(scripts if script else ()),
        "img-src data:",
        "base-uri 'none'",
        f"form-action '{'self' if form else 'none'}'",
        "frame-ancestors 'none'",
    )
    return "; ".join(allowed)


def document(title: str, *body: Html, head: Html | None = None) -> str:
    """A whole page. `head` is what its head holds besides the title and the style."""
    parts = [
        Html(
            '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        )
    ]
    parts += [Html('<meta name="color-scheme" content="light dark">')]
    parts += [] if head is None else [head]
    parts += [tag("title", title), tag("style", Html(style()))]
    return f'<!doctype html>\n<html lang="en">{tag("head", *parts)}{tag("body", *body)}</html>\n'


def page_reply(page: str, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """The page as a reply that no browser may extend."""
    kept = {"Content-Security-Policy": policy(), **(headers or {})}
    return Response(page, status, kept, media_type="text/html")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | float) -> Html:
    """`<name attributes>children</name>`. Of `class_` the underscore is dropped, in `data_title` it is a hyphen."""
    held = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
    )
    return Html(f"<{name}{held}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """Children side by side."""
    return Html("".join(child if isinstance(child, Html) else escape(child) for child in children))
