"""A SearXNG instance that allows JSON (https://docs.searxng.org/dev/search_api.html)."""

from __future__ import annotations

from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from websearch_gateway.sandbox.vendors.vendor import (
    DAYS,
    Vendor,
    VendorRefusal,
    parameters,
    row_of,
    search_pages,
    whole,
)


def _refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """`{"error"}`, or nothing but the status from its limiter and its refusal of a format."""
    return VendorRefusal(status, {"error": reason} if reason else None)


async def _search(request: Request) -> Response:
    fields = await parameters(request)
    shape, query = fields.get("format", "html"), fields.get("q", "").strip()
    page = whole(fields.get("pageno"), 1)
    if shape not in ("html", "json"):
        raise _refusal(403)
    if not query:
        raise _refusal(400, "No query")
    safe, span = whole(fields.get("safesearch"), 0), fields.get("time_range", "")
    if page < 1 or safe not in (0, 1, 2) or span not in ("", "day", "week", "month", "year"):
        raise _refusal(400, "Invalid value")
    language, _, region = fields.get("language", "all").partition("-")
    matches = search_pages(
        request,
        query,
        days=DAYS[span[0]] if span else None,
        language=None if language in ("all", "auto") else language,
        region=region or None,
        news=fields.get("categories") == "news",
    )
    results = [
        {"publishedDate": None, **row_of(match, snippet="content", iso="publishedDate")}
        | {"engine": "sandbox", "engines": ["sandbox"], "score": round(match.score, 3)}
        | {"category": "news" if "news" in match.page.topics else "general"}
        for match in matches[(page - 1) * 10 : page * 10]
    ]
    if shape == "html":
        links = "".join(
            f'<h3><a href="{result["url"]}">{escape(str(result["title"]))}</a></h3>'
            for result in results
        )
        return HTMLResponse(f"<!doctype html><title>SearXNG</title>{links}")
    others = dict.fromkeys(
        ("answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"), ()
    )
    return JSONResponse(
        {"query": query, "number_of_results": len(matches), "results": results, **others}
    )


SEARXNG = Vendor("searxng", [Route("/search", _search, methods=["GET", "POST"])], _refusal)
