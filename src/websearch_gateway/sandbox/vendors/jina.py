"""Jina's search (https://github.com/jina-ai/reader)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox.server import key_of
from websearch_gateway.sandbox.vendors.vendor import (
    Vendor,
    VendorRefusal,
    bearer,
    parameters,
    row_of,
    search_pages,
    whole,
)

_NAMES = {
    400: "ParamValidationError",
    401: "AuthenticationRequiredError",
    402: "InsufficientBalanceError",
    422: "AssertionFailureError",
    429: "RateLimitTriggeredError",
}


def _refusal(status: int, reason: str | None = None) -> VendorRefusal:
    name, message = _NAMES.get(status, "ServiceError"), reason or "Sandbox refusal."
    body = {"data": None, "code": status, "name": name, "status": status * 100, "message": message}
    return VendorRefusal(status, {**body, "readableMessage": f"{name}: {message}"})


async def _search(request: Request) -> JSONResponse:
    if bearer(request) != key_of("jina"):
        raise _refusal(401)
    fields = await parameters(request)
    query = fields.get("q", "")
    number, page = whole(fields.get("num"), 10), whole(fields.get("page"), 1)
    kind = fields.get("type", "web")
    if (
        not query.strip()
        or number not in range(21)
        or page < 1
        or kind not in ("web", "images", "news")
    ):
        raise _refusal(400)
    matches = search_pages(request, query, region=fields.get("gl"), news=kind == "news")
    if not matches:
        raise _refusal(422, "No search results available.")
    texts = {} if request.headers.get("x-respond-with") == "no-content" else {"text": "content"}
    shown = matches[(page - 1) * number : page * number]
    data = [row_of(match, snippet="description", long="date", **texts) for match in shown]
    return JSONResponse(
        {"code": 200, "status": 20000, "data": data, "meta": {"usage": {"tokens": 10_000}}}
    )


JINA = Vendor("jina", [Route("/", _search, methods=["GET", "POST"])], _refusal)
