"""Firecrawl: search that reads pages (https://docs.firecrawl.dev/api-reference/endpoint/search)."""

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
    bearer,
    clock,
    days_ago,
    json_object,
    origin,
    within_domains,
)

_LONGEST_QUERY = 500
_SOURCES = frozenset({"web", "news", "images"})
_MESSAGES = {
    400: "Bad Request",
    401: "Unauthorized: Invalid token",
    402: "Insufficient credits to perform this request.",
    429: "Rate limit exceeded.",
    500: "Internal server error",
}


def refusal(status: int, message: str | None = None) -> VendorRefusal:
    """Firecrawl's error body: `{"success": false, "error"}`."""
    return VendorRefusal(status, {"success": False, "error": message or _MESSAGES.get(status, "Error")})


def _sources(body: dict[str, Any]) -> list[str]:
    """The sources of a valid request."""
    query, limit = body.get("query"), body.get("limit", 10)
    sources = [source.get("type") for source in body.get("sources", [{"type": "web"}])]
    if (
        not isinstance(query, str)
        or not 1 <= len(query.strip()) <= _LONGEST_QUERY
        or not (isinstance(limit, int) and 1 <= limit <= 100)
        or (body.get("includeDomains") and body.get("excludeDomains"))
        or not _SOURCES.issuperset(sources)
        or body.get("tbs", "qdr:d").removeprefix("qdr:") not in DAYS
    ):
        raise refusal(400)
    return sources


def _row(request: Request, match: Match, position: int, *, news: bool, read: bool) -> dict[str, Any]:
    row = {"title": match.page.title, "url": origin(request) + match.page.path, "position": position}
    row |= {"snippet" if news else "description": match.snippet}
    if news and match.published:
        row["date"] = f"{match.published:%b} {match.published.day}, {match.published.year}"
    return row | ({"markdown": match.page.text} if read else {})


async def _search(request: Request) -> JSONResponse:
    if bearer(request) != key_of("firecrawl"):
        raise refusal(401)
    body = await json_object(request, refusal(400))
    sources = _sources(body)
    within = within_domains(request, body.get("includeDomains"), body.get("excludeDomains"))
    letter = body.get("tbs", "").removeprefix("qdr:")
    read = "markdown" in (body.get("scrapeOptions") or {}).get("formats", [])
    data = {}
    for source in sources:
        matches = search(
            body["query"],
            clock(request),
            since=days_ago(request, DAYS[letter]) if letter else None,
            region=body.get("country"),
            news=source == "news",
            allow=lambda _: within,
        )[: body.get("limit", 10)]
        rows = enumerate(matches, start=1)
        data[source] = [_row(request, match, place, news=source == "news", read=read) for place, match in rows]
    credits_used = 2 + (sum(map(len, data.values())) if read else 0)
    return JSONResponse({"success": True, "data": data, "creditsUsed": credits_used})


FIRECRAWL = Vendor("firecrawl", [Route("/v2/search", _search, methods=["POST"])], refusal)
