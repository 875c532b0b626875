"""Jina: search with the text of pages (https://github.com/jina-ai/reader)."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox import key_of
from websearch_gateway.sandbox.small_web import search
from websearch_gateway.sandbox.vendor import Vendor, VendorRefusal, bearer, clock, origin, parameters, whole

_MOST_RESULTS = 20
_NAMES = {
    400: "ParamValidationError",
    401: "AuthenticationRequiredError",
    402: "InsufficientBalanceError",
    422: "AssertionFailureError",
    429: "RateLimitTriggeredError",
}


def refusal(status: int, message: str | None = None) -> VendorRefusal:
    """Jina's error body: `{"data": null, "code", "name", "status", "message", "readableMessage"}`."""
    name, message = _NAMES.get(status, "ServiceError"), message or "Sandbox refusal."
    body = {"data": None, "code": status, "name": name, "status": status * 100, "message": message}
    return VendorRefusal(status, {**body, "readableMessage": f"{name}: {message}"})


async def _search(request: Request) -> JSONResponse:
    if bearer(request) != key_of("jina"):
        raise refusal(401)
    asked = await parameters(request)
    query, number, page = asked.get("q", ""), whole(asked.get("num"), 10), whole(asked.get("page"), 1)
    if not query.strip() or number is None or not 0 <= number <= _MOST_RESULTS or page is None or page < 1:
        raise refusal(400)
    region = asked.get("gl")
    matches = search(query, clock(request), region=region, news=asked.get("type") == "news")
    if not matches:
        raise refusal(422, "No search results available.")
    read = request.headers.get("x-respond-with") != "no-content"
    data: list[dict[str, Any]] = [
        {
            "title": match.page.title,
            "url": origin(request) + match.page.path,
            "description": match.snippet,
            **(
                {"date": f"{match.published:%b} {match.published.day}, {match.published.year}"}
                if match.published
                else {}
            ),
            **({"content": match.page.text} if read else {}),
        }
        for match in matches[(page - 1) * number : page * number]
    ]
    return JSONResponse({"code": 200, "status": 20000, "data": data, "meta": {"usage": {"tokens": 10_000}}})


JINA = Vendor("jina", [Route("/", _search, methods=["GET", "POST"])], refusal)
