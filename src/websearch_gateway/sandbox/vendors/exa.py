"""Exa: search with the text of pages (https://exa.ai/docs/reference/search)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox import key_of
from websearch_gateway.sandbox.small_web import Match, search
from websearch_gateway.sandbox.vendor import Vendor, VendorRefusal, bearer, clock, json_object, origin, within_domains

_TYPES = frozenset({"lite", "auto", "deep", "fast", "instant", "deep-reasoning"})
_MOST_DOMAINS = 1_200
_ID = "00000000000000000000000000000000"
_ERRORS = {
    400: ("INVALID_REQUEST_BODY", "Invalid request body"),
    401: ("INVALID_API_KEY", "Invalid API key"),
    402: ("NO_MORE_CREDITS", "You have exceeded your credits limit."),
    429: ("RATE_LIMIT", "Too many requests."),
    503: ("SERVICE_OVERLOADED", "The service is overloaded."),
}


def refusal(status: int, tag: str | None = None) -> VendorRefusal:
    """Exa's error body: `{"requestId", "error", "tag"}`."""
    usual, message = _ERRORS.get(status, ("ERROR", "Error"))
    return VendorRefusal(status, {"requestId": _ID, "error": message, "tag": tag or usual})


def _check(body: dict[str, Any]) -> None:
    include, exclude = body.get("includeDomains", []), body.get("excludeDomains", [])
    number = body.get("numResults", 10)
    if (
        not isinstance(body.get("query"), str)
        or not body["query"].strip()
        or not (isinstance(number, int) and 1 <= number <= 100)
        or (include and exclude)
        or max(len(include), len(exclude)) > _MOST_DOMAINS
        or body.get("type", "auto") not in _TYPES
    ):
        raise refusal(400)


def _result(request: Request, match: Match, wanted: object) -> dict[str, Any]:
    url = origin(request) + match.page.path
    most = wanted.get("maxCharacters") if isinstance(wanted, dict) else None
    return {
        "id": url,
        "url": url,
        "title": match.page.title,
        "author": None,
        **({"publishedDate": match.published.isoformat()} if match.published else {}),
        **({"text": match.page.text[:most]} if wanted else {}),
    }


async def _search(request: Request) -> JSONResponse:
    if key_of("exa") not in (request.headers.get("x-api-key"), bearer(request)):
        raise refusal(401)
    body = await json_object(request, refusal(400))
    _check(body)
    within = within_domains(request, body.get("includeDomains"), body.get("excludeDomains"))
    try:
        since = datetime.fromisoformat(body["startPublishedDate"]) if "startPublishedDate" in body else None
    except (TypeError, ValueError):
        raise refusal(400) from None
    matches = search(
        body["query"],
        clock(request),
        since=since,
        region=body.get("userLocation"),
        news=body.get("category") == "news",
        allow=lambda _: within,
    )
    wanted = (body.get("contents") or {}).get("text")
    results = [_result(request, match, wanted) for match in matches[: body.get("numResults", 10)]]
    return JSONResponse({"requestId": _ID, "results": results, "costDollars": {"total": 0.007}})


EXA = Vendor("exa", [Route("/search", _search, methods=["POST"])], refusal)
