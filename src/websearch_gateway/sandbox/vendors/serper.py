"""Serper (https://serper.dev): Google's results, web and news."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox.server import key_of
from websearch_gateway.sandbox.vendors.vendor import (
    DAYS,
    Vendor,
    json_object,
    row_of,
    search_pages,
    within_sites,
    worded,
)

_refusal = worded(
    lambda status, message: {"message": message, "statusCode": status},
    {
        400: "Not enough credits",
        403: "Unauthorized.",
        429: "Too many requests.",
        500: "Internal server error",
    },
)


async def _search(request: Request) -> JSONResponse:
    if request.headers.get("x-api-key") != key_of("serper"):
        raise _refusal(403)
    body = await json_object(request, _refusal(400, "Invalid JSON"))
    query, number, page = body.get("q"), body.get("num", 10), body.get("page", 1)
    if not isinstance(query, str) or not query.strip():
        raise _refusal(400, "Missing query parameter")
    if not (isinstance(number, int) and 1 <= number <= 100 and isinstance(page, int) and page >= 1):
        raise _refusal(400, "Invalid num or page parameter")
    kind = request.url.path.rpartition("/")[2]
    days = DAYS.get(str(body.get("tbs", "")).removeprefix("qdr:"))
    text, within = within_sites(request, query)
    matches = search_pages(
        request, text, days=days, within=within, region=body.get("gl"), news=kind == "news"
    )
    rows = [
        row_of(match, url="link", snippet="snippet", long="date")
        | ({"source": match.page.site} if kind == "news" else {"position": place})
        for place, match in enumerate(matches[(page - 1) * number : page * number], start=1)
    ]
    echo = {**body, "type": kind, "engine": "google"}
    results = {"news" if kind == "news" else "organic": rows}
    return JSONResponse({"searchParameters": echo, **results, "credits": 2 if number > 10 else 1})


SERPER = Vendor(
    "serper",
    [Route(f"/{kind}", _search, methods=["POST"]) for kind in ("search", "news")],
    _refusal,
)
