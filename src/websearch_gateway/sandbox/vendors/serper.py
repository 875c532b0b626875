"""Serper: Google's results as JSON (https://serper.dev)."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox import key_of
from websearch_gateway.sandbox.small_web import Match, search
from websearch_gateway.sandbox.vendor import (
    DAYS,
    Vendor,
    VendorRefusal,
    clock,
    days_ago,
    json_object,
    origin,
    within_sites,
)

_MESSAGES = {
    400: "Not enough credits",
    403: "Unauthorized.",
    429: "Too many requests.",
    500: "Internal server error",
}


def refusal(status: int, message: str | None = None) -> VendorRefusal:
    """Serper's error body: `{"message", "statusCode"}`."""
    return VendorRefusal(status, {"message": message or _MESSAGES.get(status, "Error"), "statusCode": status})


def _dated(match: Match) -> dict[str, str]:
    return {"date": f"{match.published:%b} {match.published.day}, {match.published.year}"} if match.published else {}


async def _find(request: Request, *, news: bool) -> tuple[dict[str, Any], list[Match]]:
    if request.headers.get("x-api-key") != key_of("serper"):
        raise refusal(403)
    body = await json_object(request, refusal(400, "Invalid JSON"))
    query, number, page = body.get("q"), body.get("num", 10), body.get("page", 1)
    if not isinstance(query, str) or not query.strip():
        raise refusal(400, "Missing query parameter")
    if not (isinstance(number, int) and 1 <= number <= 100 and isinstance(page, int) and page >= 1):
        raise refusal(400, "Invalid num or page parameter")
    letter = str(body.get("tbs", "")).removeprefix("qdr:")
    since = days_ago(request, DAYS[letter]) if letter in DAYS else None
    text, within = within_sites(request, query)
    matches = search(text, clock(request), since=since, region=body.get("gl"), news=news, allow=lambda _: within)
    return body, matches[(page - 1) * number : page * number]


def _reply(body: dict[str, Any], kind: str, **results: Any) -> JSONResponse:
    echo = {**body, "type": kind, "engine": "google"}
    return JSONResponse({"searchParameters": echo, **results, "credits": 2 if body.get("num", 10) > 10 else 1})


def _rows(request: Request, matches: list[Match]) -> list[dict[str, Any]]:
    return [
        {
            "title": match.page.title,
            "link": origin(request) + match.page.path,
            "snippet": match.snippet,
            **_dated(match),
            "position": position,
        }
        for position, match in enumerate(matches, start=1)
    ]


async def _search(request: Request) -> JSONResponse:
    body, matches = await _find(request, news=False)
    return _reply(body, "search", organic=_rows(request, matches))


async def _news(request: Request) -> JSONResponse:
    body, matches = await _find(request, news=True)
    rows = zip(_rows(request, matches), matches, strict=True)
    return _reply(body, "news", news=[row | {"source": match.page.site} for row, match in rows])


SERPER = Vendor(
    "serper",
    [Route("/search", _search, methods=["POST"]), Route("/news", _news, methods=["POST"])],
    refusal,
)
