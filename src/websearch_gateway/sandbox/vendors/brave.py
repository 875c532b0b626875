"""Brave Search (https://api-dashboard.search.brave.com/app/documentation): web and news."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.providers import brave
from websearch_gateway.sandbox.server import key_of
from websearch_gateway.sandbox.small_web import Match, terms
from websearch_gateway.sandbox.vendors.vendor import (
    DAYS,
    Vendor,
    VendorRefusal,
    day_of,
    long_date,
    present,
    row_of,
    search_pages,
    whole,
    within_sites,
)

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
_CODES = {
    404: "SUBSCRIPTION_NOT_FOUND",
    422: "VALIDATION",
    429: "RATE_LIMITED",
    500: "INTERNAL",
}
_DETAILS = {
    "SUBSCRIPTION_NOT_FOUND": "No subscription found.",
    "SUBSCRIPTION_TOKEN_INVALID": "The provided subscription token is invalid.",
    "VALIDATION": "Unable to validate request parameter(s)",
    "RATE_LIMITED": "Request rate limit exceeded for plan.",
    "QUOTA_LIMITED": "Request quota limit exceeded for plan.",
    "INTERNAL": "Internal server error.",
}


def _refusal(status: int, reason: str | None = None) -> VendorRefusal:
    code = reason or _CODES.get(status, "UNKNOWN")
    error = {
        "id": "5a0d0a7e-0000-4000-8000-000000000000",
        "status": status,
        "code": code,
        "detail": _DETAILS.get(code, "Unknown error."),
        "meta": _METER if status == 429 else {},
    }
    return VendorRefusal(
        status, {"type": "ErrorResponse", "error": error, "time": 1790000000}, _HEADERS
    )


def _period(freshness: str) -> dict[str, Any]:
    if not freshness:
        return {}
    if freshness[0] == "p" and freshness[1:] in DAYS:
        return {"days": DAYS[freshness[1:]]}
    match = _RANGE.fullmatch(freshness)
    first, last = (
        day_of(text, _refusal(422)) for text in (match.groups() if match else ("?", "?"))
    )
    return {"since": first, "until": last and last + timedelta(days=1)}


def _row(match: Match, *, extra: bool) -> dict[str, Any]:
    query_words = set(terms(match.query))
    words = (
        f"<strong>{word}</strong>" if query_words & set(terms(word)) else word
        for word in match.snippet.split(" ")
    )
    return row_of(match) | present(
        description=" ".join(words),
        language=match.page.language,
        family_friendly=True,
        page_age=f"{match.published:%Y-%m-%dT%H:%M:%S}" if match.published else None,
        age=long_date(match, "%B"),
        extra_snippets=[*match.page.sentences[:3]] if extra else None,
    )


async def _search(request: Request) -> JSONResponse:
    if request.headers.get("x-subscription-token") != key_of("brave"):
        raise _refusal(422, "SUBSCRIPTION_TOKEN_INVALID")
    fields, kind = request.query_params, request.path_params["kind"]
    most = 50 if kind == "news" else 20
    query = fields.get("q", "").strip()
    count, offset = whole(fields.get("count"), most), whole(fields.get("offset"), 0)
    country, language = fields.get("country", "ALL"), fields.get("search_lang")
    if (
        not 1 <= len(query) <= 400
        or len(query.split()) > 50
        or count not in range(1, most + 1)
        or offset not in range(10)
        or fields.get("safesearch", "moderate") not in ("off", "moderate", "strict")
        or country not in ("ALL", *brave.COUNTRIES.split())
        or language not in (None, *brave.LANGUAGES.split())
    ):
        raise _refusal(422)
    text, within = within_sites(request, query)
    region = None if country == "ALL" else country
    filters = {**_period(fields.get("freshness", "")), "region": region, "language": language}
    matches = search_pages(request, text, within=within, news=kind == "news", **filters)
    page = slice(offset * count, (offset + 1) * count)
    extra = kind == "web" and fields.get("extra_snippets") == "true"
    rows = [_row(match, extra=extra) for match in matches[page]]
    about = {"original": fields["q"], "more_results_available": len(matches) > page.stop}
    if kind == "news":
        body = {
            "type": "news",
            "query": about,
            "results": [{**row, "type": "news_result"} for row in rows],
        }
    else:
        web = {"web": {"type": "search", "results": rows, "family_friendly": True}} if rows else {}
        body = {"type": "search", "query": about, **web}
    return JSONResponse(body, headers=_HEADERS)


BRAVE = Vendor("brave", [Route("/res/v1/{kind}/search", _search)], _refusal)
