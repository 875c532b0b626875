"""A SearXNG instance that allows JSON (https://docs.searxng.org/dev/search_api.html)."""

from __future__ import annotations

from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from websearch_gateway.sandbox.small_web import Match, search
from websearch_gateway.sandbox.vendor import DAYS, Vendor, VendorRefusal, clock, days_ago, origin, parameters, whole

_PER_PAGE = 10
_FORMATS = frozenset({"html", "json"})


def refusal(status: int, message: str | None = None) -> VendorRefusal:
    """SearXNG's error body: `{"error"}`, or nothing but the status from its limiter and its refusal of a format."""
    return VendorRefusal(status, {"error": message} if message else None)


def _result(request: Request, match: Match) -> dict[str, object]:
    return {
        "url": origin(request) + match.page.path,
        "title": match.page.title,
        "content": match.snippet,
        "engine": "sandbox",
        "engines": ["sandbox"],
        "score": round(match.score, 3),
        "category": "news" if "news" in match.page.topics else "general",
        "publishedDate": match.published.isoformat(timespec="seconds") if match.published else None,
    }


async def _search(request: Request) -> Response:
    asked = await parameters(request)
    shape, query, page = asked.get("format", "html"), asked.get("q", "").strip(), whole(asked.get("pageno"), 1)
    if shape not in _FORMATS:
        raise refusal(403)
    if not query:
        raise refusal(400, "No query")
    safe, span = whole(asked.get("safesearch"), 0), asked.get("time_range", "")
    if page is None or page < 1 or safe not in {0, 1, 2} or (span and span[0] not in DAYS):
        raise refusal(400, "Invalid value")
    language = asked.get("language", "all").split("-")
    matches = search(
        query,
        clock(request),
        since=days_ago(request, DAYS[span[0]]) if span else None,
        language=None if language[0] in {"all", "auto"} else language[0],
        region=language[1] if len(language) > 1 else None,
        news=asked.get("categories") == "news",
    )
    results = [_result(request, match) for match in matches[(page - 1) * _PER_PAGE : page * _PER_PAGE]]
    if shape == "html":
        links = "".join(f'<h3><a href="{result["url"]}">{escape(str(result["title"]))}</a></h3>' for result in results)
        return HTMLResponse(f"<!doctype html><title>SearXNG</title>{links}")
    others = dict.fromkeys(("answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"), ())
    return JSONResponse({"query": query, "number_of_results": len(matches), "results": results, **others})


SEARXNG = Vendor("searxng", [Route("/search", _search, methods=["GET", "POST"])], refusal)
