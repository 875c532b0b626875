"""Firecrawl (https://docs.firecrawl.dev/api-reference/endpoint/search)."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox.vendors.vendor import (
    DAYS,
    Vendor,
    posted,
    row_of,
    search_pages,
    within_domains,
    worded,
)

_US_DATE = re.compile(r"cd_m(?:in|ax):(\d\d/\d\d/\d{4})")
_refusal = worded(
    lambda _, message: {"success": False, "error": message},
    {
        400: "Bad Request",
        401: "Unauthorized: Invalid token",
        402: "Insufficient credits to perform this request.",
        429: "Rate limit exceeded.",
        500: "Internal server error",
    },
)


def _period(tbs: Any) -> dict[str, Any]:
    """What the parameter `tbs` allows, as filters: `qdr:w` or `cdr:1,cd_min:MM/DD/YYYY,cd_max:MM/DD/YYYY`."""
    letter = str(tbs or "").removeprefix("qdr:")
    if not letter:
        return {}
    if letter == "h":
        return {"days": 1 / 24}
    if letter in DAYS:
        return {"days": DAYS[letter]}
    try:
        first, last = (
            datetime.strptime(text, "%m/%d/%Y").replace(tzinfo=UTC)
            for text in _US_DATE.findall(letter)
        )
    except ValueError:
        raise _refusal(400) from None
    return {"since": first, "until": last + timedelta(days=1)}


async def _search(request: Request) -> JSONResponse:
    body = await posted(request, "firecrawl", _refusal)
    query, limit = body.get("query"), body.get("limit", 10)
    period = _period(body.get("tbs"))
    include, exclude = body.get("includeDomains"), body.get("excludeDomains")
    sources = [source.get("type") for source in body.get("sources", [{"type": "web"}])]
    if (
        not isinstance(query, str)
        or not 1 <= len(query.strip()) <= 500
        or limit not in range(1, 101)
        or (include and exclude)
        or not {"web", "news", "images"}.issuperset(sources)
        or body.get("timeout", 1) not in range(1, 300_001)
    ):
        raise _refusal(400)
    read = "markdown" in (body.get("scrapeOptions") or {}).get("formats", [])
    within = within_domains(request, include, exclude)
    data = {}
    for source in sources:
        names = (
            {"snippet": "snippet", "long": "date"}
            if source == "news"
            else {"snippet": "description"}
        )
        names |= {"text": "markdown"} if read else {}
        filters = {"region": body.get("country"), "news": source == "news", **period}
        matches = search_pages(request, query, within=within and source != "images", **filters)
        rows = enumerate(matches[:limit], start=1)
        data[source] = [row_of(match, **names) | {"position": place} for place, match in rows]
    count = sum(map(len, data.values()))
    credits_used = 2 * max(1, math.ceil(count / 10)) + (count if read else 0)
    return JSONResponse({"success": True, "data": data, "creditsUsed": credits_used})


FIRECRAWL = Vendor("firecrawl", [Route("/v2/search", _search, methods=["POST"])], _refusal)
