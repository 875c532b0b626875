"""Brave Search, web and news (https://api-dashboard.search.brave.com/app/documentation)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox import key_of
from websearch_gateway.sandbox.small_web import Match, search, terms
from websearch_gateway.sandbox.vendor import DAYS, Vendor, VendorRefusal, clock, days_ago, origin, whole, within_sites

_LONGEST_QUERY, _MOST_WORDS = 400, 50
_MOST_WEB, _MOST_NEWS, _LAST_PAGE = 20, 50, 9
_RANGE = re.compile(r"(\d{4}-\d\d-\d\d)to(\d{4}-\d\d-\d\d)")
_METER = {
    "plan": "Search",
    "rate_limit": 50,
    "rate_current": 50,
    "quota_limit": 0,
    "quota_current": 14,
    "component": "rate_limiter",
}
_HEADERS = {
    "x-ratelimit-limit": "50, 0",
    "x-ratelimit-policy": "50;w=1, 0;w=2678400",
    "x-ratelimit-remaining": "49, 0",
    "x-ratelimit-reset": "1, 2558678",
}
_BY_STATUS = {
    404: ("SUBSCRIPTION_NOT_FOUND", "No subscription found."),
    422: ("VALIDATION", "Unable to validate request parameter(s)"),
    429: ("RATE_LIMITED", "Request rate limit exceeded for plan."),
    500: ("INTERNAL", "Internal server error."),
}
_BY_CODE = {
    "SUBSCRIPTION_TOKEN_INVALID": "The provided subscription token is invalid.",
    "QUOTA_LIMITED": "Request quota limit exceeded for plan.",
}


def refusal(status: int, code: str | None = None) -> VendorRefusal:
    """Brave's `ErrorResponse` of that HTTP status, or of that code where a status has several."""
    usual, detail = _BY_STATUS.get(status, ("UNKNOWN", "Unknown error."))
    error = {
        "id": "5a0d0a7e-0000-4000-8000-000000000000",
        "status": status,
        "code": code or usual,
        "detail": _BY_CODE.get(code or "", detail),
        "meta": _METER if status == 429 else {},
    }
    return VendorRefusal(status, {"type": "ErrorResponse", "error": error, "time": 1790000000}, _HEADERS)


def _range(request: Request) -> tuple[datetime | None, datetime | None]:
    """The earliest and latest moment that the parameter `freshness` allows."""
    freshness = request.query_params.get("freshness")
    if not freshness:
        return None, None
    if freshness[0] == "p" and freshness[1:] in DAYS:
        return days_ago(request, DAYS[freshness[1:]]), None
    match = _RANGE.fullmatch(freshness)
    if match is None:
        raise refusal(422)
    try:
        first, last = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in match.groups())
    except ValueError:
        raise refusal(422) from None
    return first, last + timedelta(days=1)


def _find(request: Request, most: int, *, news: bool) -> tuple[list[Match], bool]:
    if request.headers.get("x-subscription-token") != key_of("brave"):
        raise refusal(422, "SUBSCRIPTION_TOKEN_INVALID")
    asked = request.query_params
    query = asked.get("q", "").strip()
    if not query or len(query) > _LONGEST_QUERY or len(query.split()) > _MOST_WORDS:
        raise refusal(422)
    count, offset = whole(asked.get("count"), most), whole(asked.get("offset"), 0)
    if count is None or offset is None or not 1 <= count <= most or not 0 <= offset <= _LAST_PAGE:
        raise refusal(422)
    if asked.get("safesearch", "moderate") not in {"off", "moderate", "strict"}:
        raise refusal(422)
    since, until = _range(request)
    country = asked.get("country", "ALL")
    text, within = within_sites(request, query)
    matches = search(
        text,
        clock(request),
        since=since,
        until=until,
        region=None if country == "ALL" else country,
        language=asked.get("search_lang"),
        news=news,
        allow=lambda _: within,
    )
    return matches[offset * count : (offset + 1) * count], len(matches) > (offset + 1) * count


def _marked(text: str, query: str) -> str:
    wanted = set(terms(query))
    words = text.split(" ")
    return " ".join(f"<strong>{word}</strong>" if wanted & set(terms(word)) else word for word in words)


def _result(request: Request, match: Match) -> dict[str, Any]:
    dated = {"page_age": f"{match.published:%Y-%m-%dT%H:%M:%S}"} if match.published else {}
    if match.published:
        dated["age"] = f"{match.published:%B} {match.published.day}, {match.published.year}"
    return {
        "title": match.page.title,
        "url": origin(request) + match.page.path,
        "description": _marked(match.snippet, match.query),
        "language": match.page.language,
        "family_friendly": True,
        **dated,
    }


async def _web(request: Request) -> JSONResponse:
    matches, more = _find(request, _MOST_WEB, news=False)
    query = {"original": request.query_params["q"], "more_results_available": more}
    body: dict[str, Any] = {"type": "search", "query": query}
    if matches:
        extra = request.query_params.get("extra_snippets") == "true"
        rows = (_result(request, match) for match in matches)
        snippets = ([*match.page.sentences[:3]] for match in matches)
        results = [
            row | ({"extra_snippets": more_text} if extra else {})
            for row, more_text in zip(rows, snippets, strict=True)
        ]
        body["web"] = {"type": "search", "results": results, "family_friendly": True}
    return JSONResponse(body, headers=_HEADERS)


async def _news(request: Request) -> JSONResponse:
    matches, _ = _find(request, _MOST_NEWS, news=True)
    results = [{**_result(request, match), "type": "news_result", "breaking": False} for match in matches]
    query = {"original": request.query_params["q"]}
    return JSONResponse({"type": "news", "query": query, "results": results}, headers=_HEADERS)


BRAVE = Vendor("brave", [Route("/res/v1/web/search", _web), Route("/res/v1/news/search", _news)], refusal)
