"""Tavily: search and extraction for agents (https://docs.tavily.com/documentation/api-reference)."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox import key_of
from websearch_gateway.sandbox.small_web import Match, library, search
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

_DEPTHS = frozenset({"basic", "advanced", "fast", "ultra-fast"})
_TOPICS = frozenset({"general", "news", "finance"})
_RANGES = {"day": "d", "week": "w", "month": "m", "year": "y", **{letter: letter for letter in DAYS}}
_USUAL_RESULTS, _MOST_RESULTS, _MOST_URLS = 5, 20, 20
_MESSAGES = {
    400: "Bad request.",
    401: "Unauthorized: missing or invalid API key.",
    429: "Your request has been blocked due to excessive requests. Please reduce the rate of requests.",
    432: "This request exceeds your plan's set usage limit. Please upgrade your plan or contact support@tavily.com.",
    433: "This request exceeds the pay-as-you-go limit. Please increase your limit on the dashboard.",
    500: "Internal Server Error",
}


def refusal(status: int, message: str | None = None) -> VendorRefusal:
    """Tavily's error body: `{"detail": {"error"}}`."""
    return VendorRefusal(status, {"detail": {"error": message or _MESSAGES.get(status, "Error")}})


def _unprocessable(name: str, message: str) -> VendorRefusal:
    return VendorRefusal(422, {"detail": [{"type": "value_error", "loc": ["body", name], "msg": message}]})


async def _asked(request: Request) -> dict[str, Any]:
    if bearer(request) != key_of("tavily"):
        raise refusal(401)
    return await json_object(request, _unprocessable("body", "JSON decode error"))


def _day(body: dict[str, Any], name: str) -> datetime | None:
    try:
        return datetime.fromisoformat(body[name]).replace(tzinfo=UTC) if body.get(name) else None
    except (TypeError, ValueError):
        raise refusal(400, f"Invalid {name}. Use YYYY-MM-DD.") from None


def _since(request: Request, body: dict[str, Any]) -> datetime | None:
    if (name := body.get("time_range")) is not None:
        if name not in _RANGES:
            raise refusal(400, "Invalid time_range. Must be day, week, month or year.")
        return days_ago(request, DAYS[_RANGES[name]])
    days = body.get("days")
    return days_ago(request, days) if isinstance(days, int) else _day(body, "start_date")


def _check(body: dict[str, Any]) -> None:
    if not isinstance(body.get("query"), str):
        raise _unprocessable("query", "Field required")
    if not body["query"].strip():
        raise refusal(400, "Query is missing.")
    number = body.get("max_results", _USUAL_RESULTS)
    if not isinstance(number, int) or not 0 <= number <= _MOST_RESULTS:
        raise refusal(400, f"Max results must be between 0 and {_MOST_RESULTS}.")
    if body.get("search_depth", "basic") not in _DEPTHS:
        raise refusal(400, "Invalid search_depth.")
    if body.get("topic", "general") not in _TOPICS:
        raise refusal(400, "Invalid topic. Must be general, news or finance.")
    if body.get("country") and body.get("topic", "general") != "general":
        raise refusal(400, "Country can only be used with the topic general.")


def _result(request: Request, match: Match, best: float, body: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "title": match.page.title,
        "url": origin(request) + match.page.path,
        "content": match.snippet,
        "score": round(match.score / best, 4),
        "raw_content": match.page.text if body.get("include_raw_content") else None,
    }
    if body.get("topic") == "news" and match.published:
        result["published_date"] = format_datetime(match.published.astimezone(UTC), usegmt=True)
    return result


async def _search(request: Request) -> JSONResponse:
    body = await _asked(request)
    _check(body)
    within = within_domains(request, body.get("include_domains"), body.get("exclude_domains"))
    matches = search(
        body["query"],
        clock(request),
        since=_since(request, body),
        until=_day(body, "end_date"),
        news=body.get("topic") == "news",
        allow=lambda _: within,
    )
    shown = matches[: body.get("max_results", _USUAL_RESULTS)]
    results = [_result(request, match, matches[0].score, body) for match in shown]
    answer = matches[0].snippet if matches and body.get("include_answer") else None
    reply = {"query": body["query"], "follow_up_questions": None, "answer": answer, "images": [], "results": results}
    return JSONResponse({**reply, "response_time": 0.1, "request_id": "00000000-0000-4000-8000-000000000000"})


async def _extract(request: Request) -> JSONResponse:
    body = await _asked(request)
    urls = body.get("urls")
    urls = [urls] if isinstance(urls, str) else urls
    if not isinstance(urls, list) or not urls:
        raise refusal(400, "No URLs provided.")
    if len(urls) > _MOST_URLS:
        raise refusal(400, f"Max {_MOST_URLS} URLs are allowed.")
    found = {url: library().get(urlsplit(url).path.removeprefix("/pages/")) for url in urls}
    results = [{"url": url, "raw_content": page.text, "images": []} for url, page in found.items() if page]
    failed = [{"url": url, "error": "Failed to fetch url"} for url, page in found.items() if page is None]
    reply = {"results": results, "failed_results": failed, "response_time": 0.1}
    return JSONResponse({**reply, "request_id": "00000000-0000-4000-8000-000000000000"})


TAVILY = Vendor(
    "tavily",
    [Route("/search", _search, methods=["POST"]), Route("/extract", _extract, methods=["POST"])],
    refusal,
)
