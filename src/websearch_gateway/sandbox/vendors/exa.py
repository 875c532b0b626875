"""Exa (https://exa.ai/docs/reference/search)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox.server import key_of
from websearch_gateway.sandbox.vendors.vendor import (
    Vendor,
    VendorRefusal,
    bearer,
    day_of,
    json_object,
    present,
    row_of,
    search_pages,
    within_domains,
)

_ID = "00000000000000000000000000000000"
_ERRORS = {
    400: ("INVALID_REQUEST_BODY", "Invalid request body"),
    401: ("INVALID_API_KEY", "Invalid API key"),
    402: ("NO_MORE_CREDITS", "You have exceeded your credits limit."),
    429: ("RATE_LIMIT", "Too many requests."),
    503: ("SERVICE_OVERLOADED", "The service is overloaded."),
}


def _refusal(status: int, reason: str | None = None) -> VendorRefusal:
    tag, message = _ERRORS.get(status, ("ERROR", "Error"))
    return VendorRefusal(status, {"requestId": _ID, "error": message, "tag": reason or tag})


async def _search(request: Request) -> JSONResponse:
    if key_of("exa") not in (request.headers.get("x-api-key"), bearer(request)):
        raise _refusal(401)
    body = await json_object(request, _refusal(400))
    query, number = body.get("query"), body.get("numResults", 10)
    include, exclude = body.get("includeDomains"), body.get("excludeDomains")
    types = ("lite", "auto", "deep", "fast", "instant", "deep-reasoning")
    if (
        not isinstance(query, str)
        or not query.strip()
        or number not in range(1, 101)
        or (include and exclude)
        or len(include or exclude or ()) > 1_200
        or body.get("type", "auto") not in types
    ):
        raise _refusal(400)
    since, until = (
        day_of(body.get(name), _refusal(400)) for name in ("startPublishedDate", "endPublishedDate")
    )
    matches = search_pages(
        request,
        query,
        since=since,
        until=until,
        within=within_domains(request, include, exclude),
        region=body.get("userLocation"),
        news=body.get("category") == "news",
    )
    text_options = (body.get("contents") or {}).get("text")
    most = text_options.get("maxCharacters") if isinstance(text_options, dict) else None
    results = [
        row_of(match, iso="publishedDate")
        | present(id=match.url, text=match.page.text[:most] if text_options else None)
        for match in matches[:number]
    ]
    cost = 0.007 + 0.001 * max(0, len(results) - 10)
    return JSONResponse({"requestId": _ID, "results": results, "costDollars": {"total": cost}})


EXA = Vendor("exa", [Route("/search", _search, methods=["POST"])], _refusal)
