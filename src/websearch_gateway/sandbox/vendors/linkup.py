"""Linkup: search with excerpts of pages (https://docs.linkup.so/pages/documentation/api-reference/endpoint)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox import key_of
from websearch_gateway.sandbox.small_web import search
from websearch_gateway.sandbox.vendor import Vendor, VendorRefusal, bearer, clock, json_object, origin, within_domains

_DEPTHS = frozenset({"flash", "fast", "standard", "deep"})
_OUTPUTS = frozenset({"searchResults", "sourcedAnswer", "structured"})
_CODES = {400: "VALIDATION_ERROR", 401: "UNAUTHORIZED", 403: "FORBIDDEN", 429: "TOO_MANY_REQUESTS"}


def refusal(status: int, code: str | None = None) -> VendorRefusal:
    """Linkup's error body: `{"statusCode", "error": {"code", "message", "details"}}`."""
    error = {"code": code or _CODES.get(status, "INTERNAL_SERVER_ERROR"), "message": "Sandbox refusal.", "details": []}
    return VendorRefusal(status, {"statusCode": status, "error": error})


def _day(body: dict[str, Any], name: str) -> datetime | None:
    try:
        return datetime.strptime(body[name], "%Y-%m-%d").replace(tzinfo=UTC) if name in body else None
    except (TypeError, ValueError):
        raise refusal(400) from None


async def _search(request: Request) -> JSONResponse:
    if bearer(request) != key_of("linkup"):
        raise refusal(401)
    body = await json_object(request, refusal(400))
    asked = body.get("q")
    valid = isinstance(asked, str) and body.get("depth") in _DEPTHS and body.get("outputType") in _OUTPUTS
    if not valid or not str(asked).strip():
        raise refusal(400)
    within = within_domains(request, body.get("includeDomains"), body.get("excludeDomains"))
    since, until = _day(body, "fromDate"), _day(body, "toDate")
    matches = search(str(asked), clock(request), since=since, until=until, allow=lambda _: within)
    if not matches:
        raise refusal(400, "SEARCH_QUERY_NO_RESULT")
    results = [
        {
            "type": "text",
            "name": match.page.title,
            "url": origin(request) + match.page.path,
            "content": match.page.text,
        }
        for match in matches[: body.get("maxResults", 10)]
    ]
    return JSONResponse({"results": results})


LINKUP = Vendor("linkup", [Route("/v1/search", _search, methods=["POST"])], refusal)
