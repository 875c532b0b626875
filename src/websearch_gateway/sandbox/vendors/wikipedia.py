"""Wikipedia's search with introductions (https://www.mediawiki.org/wiki/API:Search).

Its errors come with HTTP 200. It refuses a caller without its own User-Agent with a page.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox.vendors.vendor import (
    Vendor,
    VendorRefusal,
    search_pages,
    whole,
)

_MOST, _MOST_INTRODUCTIONS = 500, 20
_GENERIC_AGENTS = ("python", "curl", "mozilla", "java", "go-http")


def _refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """The error body of the API where the reason is one of its codes, else a page."""
    return VendorRefusal(
        status, {"error": {"code": reason, "info": "Sandbox refusal."}} if reason else None
    )


async def _search(request: Request) -> JSONResponse:
    fields, language = request.query_params, request.path_params["language"]
    agent = request.headers.get("user-agent", "").lower()
    if not agent or agent.startswith(_GENERIC_AGENTS):
        raise _refusal(403)
    if (fields.get("action"), fields.get("generator"), fields.get("formatversion")) != (
        "query",
        "search",
        "2",
    ):
        raise _refusal(200, "badvalue")
    limit, offset = whole(fields.get("gsrlimit"), 10), whole(fields.get("gsroffset"), 0)
    if not 1 <= limit <= _MOST or offset < 0:
        raise _refusal(200, "badinteger")
    if not (words := fields.get("gsrsearch", "").strip()):
        raise _refusal(200, "missingparam")
    matches = search_pages(request, words, language=language)
    shown = matches[offset : offset + min(limit, _MOST_INTRODUCTIONS)]
    rows = [
        {
            "pageid": 1_000 + place,
            "ns": 0,
            "title": match.page.title,
            "index": place,
            "extract": match.page.text.partition("\n\n")[0],
            "fullurl": match.url,
            "pagelanguage": language,
        }
        for place, match in enumerate(shown, start=offset + 1)
    ]
    # Like the real API: ordered by id, not by rank.
    reply: dict[str, object] = {"batchcomplete": True} | (
        {"query": {"pages": rows[::-1]}} if rows else {}
    )
    if len(matches) > offset + limit:
        reply["continue"] = {"gsroffset": offset + limit, "continue": "gsroffset||"}
    return JSONResponse(reply)


WIKIPEDIA = Vendor("wikipedia", [Route("/{language}/w/api.php", _search)], _refusal)
