"""Google's Custom Search JSON API (https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list)."""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox.server import GOOGLE_ENGINE, key_of
from websearch_gateway.sandbox.small_web import Match
from websearch_gateway.sandbox.vendors.vendor import (
    DAYS,
    Vendor,
    VendorRefusal,
    row_of,
    search_pages,
    whole,
    within_sites,
)

_PERIOD = re.compile(r"([dwmy])(\d{1,4})")
_STATUSES = {
    400: ("INVALID_ARGUMENT", "badRequest", "Request contains an invalid argument."),
    403: (
        "PERMISSION_DENIED",
        "forbidden",
        "This project does not have the access to Custom Search JSON API.",
    ),
    429: (
        "RESOURCE_EXHAUSTED",
        "rateLimitExceeded",
        "Quota exceeded for quota metric 'Queries' and limit 'Queries per day' of service "
        "'customsearch.googleapis.com' for consumer 'project_number:100000000000'.",
    ),
    500: ("INTERNAL", "backendError", "Internal error encountered."),
    503: ("UNAVAILABLE", "backendError", "The service is currently unavailable."),
}


def _refusal(status: int, reason: str | None = None) -> VendorRefusal:
    name, kind, usual = _STATUSES.get(status, ("UNKNOWN", "unknown", "Unknown error."))
    errors = [{"message": reason or usual, "domain": "global", "reason": kind}]
    error = {"code": status, "message": reason or usual, "errors": errors, "status": name}
    return VendorRefusal(status, {"error": error})


def _row(match: Match, host: str | None) -> dict[str, Any]:
    tags = {"og:site_name": match.page.site}
    if match.published:
        tags["article:published_time"] = match.published.isoformat(timespec="seconds")
    row = {"kind": "customsearch#result", "displayLink": host, "formattedUrl": match.url}
    return row_of(match, url="link", snippet="snippet") | row | {"pagemap": {"metatags": [tags]}}


async def _search(request: Request) -> JSONResponse:
    fields = request.query_params
    if not (key := fields.get("key")):
        raise _refusal(
            403, "Method doesn't allow unregistered callers. Please use API Key to call this API."
        )
    if key != key_of("google"):
        raise _refusal(400, "API key not valid. Please pass a valid API key.")
    query = fields.get("q", "").strip()
    number, start = whole(fields.get("num"), 10), whole(fields.get("start"), 1)
    period = _PERIOD.fullmatch(fields.get("dateRestrict", "d1"))
    if (
        not query
        or not period
        or fields.get("cx") != GOOGLE_ENGINE
        or fields.get("safe", "off") not in ("off", "active")
        or number not in range(1, 11)
        or start not in range(1, 101 - number)
    ):
        raise _refusal(400)
    text, within = within_sites(request, query)
    days = DAYS[period[1]] * int(period[2]) if fields.get("dateRestrict") else None
    language = fields.get("lr", "").removeprefix("lang_") or None
    matches = search_pages(
        request, text, days=days, within=within, region=fields.get("gl"), language=language
    )
    items = [_row(match, request.url.hostname) for match in matches[start - 1 : start - 1 + number]]
    about = {
        "title": f"Google Custom Search - {query}",
        "searchTerms": query,
        "count": number,
        "cx": GOOGLE_ENGINE,
    }
    after = (
        {"nextPage": [{**about, "startIndex": start + number}]}
        if len(matches) >= start + number
        else {}
    )
    body = {
        "kind": "customsearch#search",
        "queries": {"request": [{**about, "startIndex": start}], **after},
        "searchInformation": {"searchTime": 0.1, "totalResults": str(len(matches))},
    }
    return JSONResponse(body | ({"items": items} if items else {}))


GOOGLE = Vendor("google", [Route("/customsearch/v1", _search)], _refusal)
