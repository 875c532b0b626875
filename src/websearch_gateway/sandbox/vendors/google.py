"""Google's Custom Search JSON API (https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list)."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox import GOOGLE_ENGINE, key_of
from websearch_gateway.sandbox.small_web import Match, search
from websearch_gateway.sandbox.vendor import DAYS, Vendor, VendorRefusal, clock, days_ago, origin, whole, within_sites

_MOST_PER_PAGE, _MOST_RESULTS = 10, 100
_DATE_RESTRICT = re.compile(r"([dwmy])(\d{1,4})")
_QUOTA = (
    "Quota exceeded for quota metric 'Queries' and limit 'Queries per day' of service 'customsearch.googleapis.com' "
    "for consumer 'project_number:100000000000'."
)
_UNREGISTERED = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
    "form of API consumer identity to call this API."
)
_BY_STATUS = {
    400: ("INVALID_ARGUMENT", "badRequest", "Request contains an invalid argument."),
    403: ("PERMISSION_DENIED", "forbidden", "This project does not have the access to Custom Search JSON API."),
    429: ("RESOURCE_EXHAUSTED", "rateLimitExceeded", _QUOTA),
    500: ("INTERNAL", "backendError", "Internal error encountered."),
    503: ("UNAVAILABLE", "backendError", "The service is currently unavailable."),
}


def refusal(status: int, message: str | None = None) -> VendorRefusal:
    """Google's error envelope."""
    name, reason, usual = _BY_STATUS.get(status, ("UNKNOWN", "unknown", "Unknown error."))
    text = message or usual
    errors = [{"message": text, "domain": "global", "reason": reason}]
    return VendorRefusal(status, {"error": {"code": status, "message": text, "errors": errors, "status": name}})


def _authorise(request: Request) -> None:
    key = request.query_params.get("key")
    if not key:
        raise refusal(403, _UNREGISTERED)
    if key != key_of("google"):
        raise refusal(400, "API key not valid. Please pass a valid API key.")
    if request.query_params.get("cx") != GOOGLE_ENGINE:
        raise refusal(400)


def _since(request: Request) -> datetime | None:
    restrict = request.query_params.get("dateRestrict")
    if not restrict:
        return None
    match = _DATE_RESTRICT.fullmatch(restrict)
    if match is None:
        raise refusal(400)
    return days_ago(request, DAYS[match[1]] * int(match[2]))


def _window(request: Request) -> tuple[int, int]:
    number = whole(request.query_params.get("num"), _MOST_PER_PAGE)
    start = whole(request.query_params.get("start"), 1)
    if number is None or start is None or not 1 <= number <= _MOST_PER_PAGE or start < 1:
        raise refusal(400)
    if start + number > _MOST_RESULTS:
        raise refusal(400)
    return start, number


def _item(request: Request, match: Match) -> dict[str, Any]:
    link = origin(request) + match.page.path
    tags = {"og:site_name": match.page.site}
    if match.published:
        tags["article:published_time"] = match.published.isoformat(timespec="seconds")
    return {
        "kind": "customsearch#result",
        "title": match.page.title,
        "link": link,
        "displayLink": request.url.hostname,
        "snippet": match.snippet,
        "formattedUrl": link,
        "pagemap": {"metatags": [tags]},
    }


async def _search(request: Request) -> JSONResponse:
    _authorise(request)
    asked = request.query_params
    query = asked.get("q", "").strip()
    safe = asked.get("safe", "off")
    if not query or safe not in {"off", "active"}:
        raise refusal(400)
    start, number = _window(request)
    language = asked.get("lr", "").removeprefix("lang_") or None
    text, within = within_sites(request, query)
    matches = search(
        text,
        clock(request),
        since=_since(request),
        region=asked.get("gl"),
        language=language,
        allow=lambda _: within,
    )
    shown = matches[start - 1 : start - 1 + number]
    about = {"title": f"Google Custom Search - {query}", "searchTerms": query, "count": number, "cx": GOOGLE_ENGINE}
    queries = {"request": [{**about, "startIndex": start}]}
    if len(matches) >= start + number:
        queries["nextPage"] = [{**about, "startIndex": start + number}]
    body: dict[str, Any] = {
        "kind": "customsearch#search",
        "queries": queries,
        "searchInformation": {"searchTime": 0.1, "totalResults": str(len(matches))},
    }
    if shown:
        body["items"] = [_item(request, match) for match in shown]
    return JSONResponse(body)


GOOGLE = Vendor("google", [Route("/customsearch/v1", _search)], refusal)
