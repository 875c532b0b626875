"""Tavily (https://docs.tavily.com/documentation/api-reference/endpoint/search)."""

from __future__ import annotations

from datetime import UTC
from email.utils import format_datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox.small_web import Match
from websearch_gateway.sandbox.vendors.vendor import (
    DAYS,
    Vendor,
    VendorRefusal,
    day_of,
    posted,
    row_of,
    search_pages,
    within_domains,
    worded,
)

_RANGES = {
    "day": "d",
    "week": "w",
    "month": "m",
    "year": "y",
    **{letter: letter for letter in DAYS},
}
_refusal = worded(
    lambda _, message: {"detail": {"error": message}},
    {
        400: "Bad request.",
        401: "Unauthorized: missing or invalid API key.",
        429: "Your request has been blocked due to excessive requests. Please reduce the rate of requests.",
        432: "This request exceeds your plan's set usage limit. Please upgrade your plan.",
        433: "This request exceeds the pay-as-you-go limit. Please increase your limit on the dashboard.",
        500: "Internal Server Error",
    },
)


def _check_tavily(body: dict[str, Any]) -> None:
    topic, number = body.get("topic", "general"), body.get("max_results", 5)
    if not isinstance(body.get("query"), str):
        fault = {"type": "value_error", "loc": ["body", "query"], "msg": "Field required"}
        raise VendorRefusal(422, {"detail": [fault]})
    include, exclude = (body.get(name) or [] for name in ("include_domains", "exclude_domains"))
    for is_wrong, message in (
        (not body["query"].strip(), "Query is missing."),
        (len(include) > 300, "Max 300 include_domains are allowed."),
        (len(exclude) > 150, "Max 150 exclude_domains are allowed."),
        (
            not isinstance(number, int) or not 0 <= number <= 20,
            "Max results must be between 0 and 20.",
        ),
        (
            body.get("search_depth", "basic") not in ("basic", "advanced", "fast", "ultra-fast"),
            "Invalid search_depth.",
        ),
        (
            topic not in ("general", "news", "finance"),
            "Invalid topic. Must be general, news or finance.",
        ),
        (
            body.get("country") and topic != "general",
            "Country can only be used with the topic general.",
        ),
        (
            body.get("time_range", "day") not in _RANGES,
            "Invalid time_range. Must be day, week, month or year.",
        ),
    ):
        if is_wrong:
            raise _refusal(400, message)


def _row(match: Match, best: float, body: dict[str, Any]) -> dict[str, Any]:
    raw = match.page.text if body.get("include_raw_content") else None
    row = row_of(match, snippet="content") | {
        "score": round(match.score / best, 4),
        "raw_content": raw,
    }
    if body.get("topic") == "news" and match.published:
        row["published_date"] = format_datetime(match.published.astimezone(UTC), usegmt=True)
    return row


async def _search(request: Request) -> JSONResponse:
    body = await posted(request, "tavily", _refusal)
    _check_tavily(body)
    since, until = (
        day_of(body.get(name), _refusal(400, f"Invalid {name}. Use YYYY-MM-DD."))
        for name in ("start_date", "end_date")
    )
    days = DAYS[_RANGES[body["time_range"]]] if body.get("time_range") else body.get("days")
    within = within_domains(request, body.get("include_domains"), body.get("exclude_domains"))
    news = body.get("topic") == "news"
    matches = search_pages(
        request, body["query"], days=days, within=within, since=since, until=until, news=news
    )
    reply = {
        "query": body["query"],
        "follow_up_questions": None,
        "answer": matches[0].snippet if matches and body.get("include_answer") else None,
        "images": [],
        "results": [
            _row(match, matches[0].score, body) for match in matches[: body.get("max_results", 5)]
        ],
    }
    return JSONResponse(
        {**reply, "response_time": 0.1, "request_id": "00000000-0000-4000-8000-000000000000"}
    )


TAVILY = Vendor("tavily", [Route("/search", _search, methods=["POST"])], _refusal)
