"""Linkup (https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox.vendors.vendor import (
    Vendor,
    day_of,
    posted,
    row_of,
    search_pages,
    within_domains,
    worded,
)

_refusal = worded(
    lambda status, code: {
        "statusCode": status,
        "error": {"code": code, "message": "Sandbox refusal.", "details": []},
    },
    {400: "VALIDATION_ERROR", 401: "UNAUTHORIZED", 403: "FORBIDDEN", 429: "TOO_MANY_REQUESTS"},
)


async def _search(request: Request) -> JSONResponse:
    body = await posted(request, "linkup", _refusal)
    query, depths = body.get("q"), ("flash", "fast", "standard", "deep")
    is_valid = body.get("depth") in depths and body.get("outputType") in (
        "searchResults",
        "sourcedAnswer",
    )
    most = body.get("maxResults", 10)
    if (
        not is_valid
        or not isinstance(query, str)
        or not query.strip()
        or not isinstance(most, int)
        or most < 1
    ):
        raise _refusal(400)
    within = within_domains(request, body.get("includeDomains"), body.get("excludeDomains"))
    since, until = (day_of(body.get(name), _refusal(400)) for name in ("fromDate", "toDate"))
    if not (matches := search_pages(request, query, within=within, since=since, until=until)):
        raise _refusal(400, "SEARCH_QUERY_NO_RESULT")
    if body["outputType"] == "sourcedAnswer":
        sources = [row_of(match, title="name", snippet="snippet") for match in matches[:most]]
        return JSONResponse({"answer": matches[0].snippet, "sources": sources})
    texts = [
        {"type": "text", **row_of(match, title="name", text="content")} for match in matches[:most]
    ]
    return JSONResponse({"results": texts})


LINKUP = Vendor("linkup", [Route("/v1/search", _search, methods=["POST"])], _refusal)
