"""Wikipedia's search with introductions (https://www.mediawiki.org/wiki/API:Search): the pages of one language.

Its errors come with HTTP 200, and a caller without its own User-Agent is refused with a page.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox.small_web import Match, search
from websearch_gateway.sandbox.vendor import Vendor, VendorRefusal, clock, origin, whole

_MOST, _MOST_INTRODUCTIONS = 500, 20
_GENERIC = ("python", "curl", "mozilla", "java", "go-http")


def refusal(status: int, code: str | None = None) -> VendorRefusal:
    """The error body of the API where `code` is its own, else a page."""
    return VendorRefusal(status, {"error": {"code": code, "info": "Sandbox refusal."}} if code else None)


def _row(request: Request, match: Match, place: int) -> dict[str, object]:
    return {
        "pageid": 1_000 + place,
        "ns": 0,
        "title": match.page.title,
        "index": place,
        "extract": match.page.text.partition("\n\n")[0],
        "fullurl": origin(request) + match.page.path,
        "pagelanguage": request.path_params["language"],
    }


async def _api(request: Request) -> JSONResponse:
    asked = request.query_params
    agent = request.headers.get("user-agent", "").lower()
    if not agent or agent.startswith(_GENERIC):
        raise refusal(403)
    if (asked.get("action"), asked.get("generator"), asked.get("formatversion")) != ("query", "search", "2"):
        raise refusal(200, "badvalue")
    limit, offset = whole(asked.get("gsrlimit"), 10), whole(asked.get("gsroffset"), 0)
    if limit is None or offset is None or not 1 <= limit <= _MOST or offset < 0:
        raise refusal(200, "badinteger")
    if not (words := asked.get("gsrsearch", "").strip()):
        raise refusal(200, "missingparam")
    matches = search(words, clock(request), language=request.path_params["language"])
    shown = matches[offset : offset + min(limit, _MOST_INTRODUCTIONS)]
    # Like the real API: ordered by id, not by rank.
    rows = [_row(request, match, offset + place) for place, match in enumerate(shown, 1)][::-1]
    reply: dict[str, object] = {"batchcomplete": True} | ({"query": {"pages": rows}} if rows else {})
    if len(matches) > offset + limit:
        reply["continue"] = {"gsroffset": offset + limit, "continue": "gsroffset||"}
    return JSONResponse(reply)


WIKIPEDIA = Vendor("wikipedia", [Route("/{language}/w/api.php", _api)], refusal)
