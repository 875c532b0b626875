"""synthetic.new: search by query alone, no options (https://dev.synthetic.new/docs). Its error bodies are a guess."""

from __future__ import annotations

from datetime import timedelta

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox import key_of
from websearch_gateway.sandbox.small_web import search
from websearch_gateway.sandbox.vendor import Vendor, VendorRefusal, bearer, clock, json_object, origin

_RESULTS = 5
_MESSAGES = {400: "Invalid request", 401: "Invalid API key", 429: "Rate limit exceeded", 500: "Internal server error"}


def refusal(status: int, message: str | None = None) -> VendorRefusal:
    """An error body: `{"error"}`."""
    return VendorRefusal(status, {"error": message or _MESSAGES.get(status, "Error")})


def _authorise(request: Request) -> None:
    if bearer(request) != key_of("synthetic"):
        raise refusal(401)


async def _search(request: Request) -> JSONResponse:
    _authorise(request)
    query = (await json_object(request, refusal(400))).get("query")
    if not isinstance(query, str) or not query.strip():
        raise refusal(400, "query is required")
    results = [
        {
            "url": origin(request) + match.page.path,
            "title": match.page.title,
            "text": match.page.text,
            **({"published": match.published.isoformat(timespec="seconds")} if match.published else {}),
        }
        for match in search(query, clock(request))[:_RESULTS]
    ]
    return JSONResponse({"results": results})


async def _quotas(request: Request) -> JSONResponse:
    _authorise(request)
    renews_at = (clock(request) + timedelta(hours=1)).isoformat(timespec="seconds")
    return JSONResponse({"search": {"hourly": {"limit": 250, "requests": 0, "renewsAt": renews_at}}})


SYNTHETIC = Vendor("synthetic", [Route("/v2/search", _search, methods=["POST"]), Route("/v2/quotas", _quotas)], refusal)
