"""synthetic.new (https://dev.synthetic.new/docs); its error bodies are a guess."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox.vendors.vendor import (
    Vendor,
    posted,
    row_of,
    search_pages,
    worded,
)

_refusal = worded(
    lambda _, message: {"error": message},
    {
        400: "Invalid request",
        401: "Invalid API key",
        429: "Rate limit exceeded",
        500: "Internal server error",
    },
)

_MOST_RESULTS = 5


async def _search(request: Request) -> JSONResponse:
    query = (await posted(request, "synthetic", _refusal)).get("query")
    if not isinstance(query, str) or not query.strip():
        raise _refusal(400, "query is required")
    matches = search_pages(request, query)[:_MOST_RESULTS]
    rows = [row_of(match, text="text", iso="published") for match in matches]
    return JSONResponse({"results": rows})


SYNTHETIC = Vendor("synthetic", [Route("/v2/search", _search, methods=["POST"])], _refusal)
