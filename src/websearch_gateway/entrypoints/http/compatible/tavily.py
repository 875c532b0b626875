"""Tavily: search and extract (https://docs.tavily.com/documentation/api-reference/introduction)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from websearch_gateway.entrypoints.http.compatible.endpoint import (
    MOST_RESULTS,
    Addresses,
    Asked,
    Compatible,
    Given,
    Lenient,
    always,
    read_urls,
)
from websearch_gateway.entrypoints.http.middleware import is_json
from websearch_gateway.entrypoints.reply.fitting import fit_web
from websearch_gateway.errors import SearchError, SearchValidationError
from websearch_gateway.models import (
    SHORTEST_QUERY,
    Caller,
    Freshness,
    SearchRequest,
    WebSearchRequest,
)
from websearch_gateway.pipeline.argument_values import code
from websearch_gateway.pipeline.web_search import HOURS
from websearch_gateway.results import ErrorInfo, WebResult, WebSearchResponse

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway

CONTENT_CHARS = 1_500
"""The part of a page in `content` if the caller wants more than a snippet (characters)."""
MOST_ANSWER_HOURS = 168


class TavilySearch(Lenient):
    """The fields that mean something here."""

    query: Asked = ""
    max_results: int = 5
    search_depth: str = "basic"
    topic: str = "general"
    time_range: str | None = None
    days: int | None = None
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    include_answer: bool | str = False
    include_raw_content: bool | str = False
    include_usage: bool = False
    country: str | None = None
    language: str | None = None

    @property
    def is_about_news(self) -> bool:
        """Whether it asks for news; every other topic is the whole web."""
        return self.topic.strip().lower() == "news"

    @property
    def freshness(self) -> Freshness | None:
        """The narrowest filter of the gateway that covers the period asked for."""
        if self.time_range is not None:
            period = PERIODS.get(self.time_range.strip().lower())
            if period is None:
                raise SearchValidationError(
                    "`time_range` must be one of day, month, week, year.",
                    details={"field": "time_range"},
                )
            return period
        if not self.days or not self.is_about_news:
            return None
        return next((name for most, name in _DAYS if self.days <= most), "year")


PERIODS: dict[str, Freshness] = {
    "day": "day",
    "week": "week",
    "month": "month",
    "year": "year",
    "d": "day",
    "w": "week",
    "m": "month",
    "y": "year",
}
_DAYS: tuple[tuple[int, Freshness], ...] = ((1, "day"), (7, "week"), (31, "month"))


async def tavily_search(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """The results, and with `include_answer` the answer of `search_web`."""
    began = time.perf_counter()
    fields = TavilySearch.of(given)
    raw = _is_on(fields.include_raw_content)
    request = WebSearchRequest(
        fields.query,
        max(1, min(fields.max_results, MOST_RESULTS)),
        freshness=fields.freshness,
        include_domains=fields.include_domains,
        exclude_domains=fields.exclude_domains,
        language=code("language", fields.language) if fields.language else None,
        region=code("region", fields.country, "country") if fields.country else None,
        read_pages=raw or fields.search_depth.strip().lower() == "advanced",
        topic="news" if fields.is_about_news else "general",
    )
    response, answer = await asyncio.gather(
        gateway.web_search(request, caller),
        _answer(gateway, fields, request, caller),
        return_exceptions=True,
    )
    if isinstance(response, BaseException):
        raise response
    response = _fitted(response, gateway.max_reply_tokens, raw=raw)
    results = [_result(result, read=request.read_pages, raw=raw) for result in response.results]
    reply: dict[str, Any] = {
        "query": fields.query,
        "follow_up_questions": None,
        "answer": answer if isinstance(answer, str) else None,
        "images": [],
        "results": results,
        "response_time": round(time.perf_counter() - began, 2),
        "request_id": str(uuid4()),
    }
    if fields.include_usage:
        reply["usage"] = {"credits": 0 if response.cache == "exact" else 1}
    return reply


async def _answer(
    gateway: Gateway, fields: TavilySearch, request: WebSearchRequest, caller: Caller
) -> str | None:
    """The answer's text; None if it was not asked for or fails: the results are useful without it."""
    if not _is_on(fields.include_answer):
        return None
    hours = HOURS[request.freshness] if request.freshness else None
    fresh = hours if hours is not None and hours <= MOST_ANSWER_HOURS else None
    question = SearchRequest(
        fields.query,
        min(request.max_results, 8),
        fresh,
        request.region,
        include_domains=request.include_domains,
        exclude_domains=request.exclude_domains,
        shortest=SHORTEST_QUERY,
    )
    try:
        return (await gateway.search(question, caller)).text or None
    except SearchError:
        return None


def _fitted(response: WebSearchResponse, tokens: int, *, raw: bool) -> WebSearchResponse:
    """Pages in the room beside an answer, twice where they may stand in both `content` and `raw_content`."""
    if raw:
        return fit_web(response, tokens // 2)
    short = [
        result.model_copy(update={"page_content": result.page_content[:CONTENT_CHARS]})
        for result in response.results
    ]
    return fit_web(response.model_copy(update={"results": tuple(short)}), tokens * 3 // 4)


def _result(result: WebResult, *, read: bool, raw: bool) -> dict[str, Any]:
    page = result.page_content if read and result.note_chars is None else None
    content = result.snippet
    if page is not None and (not content or not raw):
        content = f"{content}\n\n{page[:CONTENT_CHARS]}".strip()
    row: dict[str, Any] = {
        "url": result.link,
        "title": result.title,
        "content": content,
        "score": result.relevance_score,
        "raw_content": page if raw else None,
    }
    if result.published_date:
        row["published_date"] = result.published_date
    return row


class TavilyExtract(Lenient):
    """The fields that mean something here."""

    urls: Addresses = ()
    include_usage: bool = False


async def tavily_extract(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """The text of each page under its requested URL, and the errors of the others."""
    began = time.perf_counter()
    fields = TavilyExtract.of(given)
    pages = await read_urls(gateway, fields.urls, caller)
    results, failed = [], []
    for url, page in pages.items():
        if page.error is not None:
            failed.append({"url": page.url, "error": page.error.message})
            continue
        text = page.page_content
        results.append({"url": url, "title": page.title, "raw_content": text, "images": []})
    reply: dict[str, Any] = {
        "results": results,
        "failed_results": failed,
        "response_time": round(time.perf_counter() - began, 2),
        "request_id": str(uuid4()),
    }
    if fields.include_usage:
        reply["usage"] = {"credits": 1}
    return reply


TAVILY_USAGE = {
    "key": {"usage": 0, "limit": None},
    "account": {"current_plan": "websearch-gateway", "plan_usage": 0, "plan_limit": None},
}
"""No plan and no credits: limits and budgets are the gateway's own."""


async def tavily_refusal(_: Gateway, __: Given, ___: Caller) -> Any:
    """What is not supported, in a form that the SDKs pass on: of a plain 404 they would say that a key is missing."""
    raise SearchValidationError(
        "This gateway searches and extracts; it does not crawl, map or research."
    )


def tavily_error(error: ErrorInfo, _: int) -> Any:
    """`{"detail": {"error": text}}`. No `error.code`: @tavily/core reads any as the limit of callers without a key."""
    return {"detail": {"error": error.message}}


def _tavily(
    paths: tuple[str, ...], answer: Any, scope: str = "search", method: str = "POST", **more: Any
) -> Compatible:
    every = tuple(f"{prefix}/{path}" for prefix in ("", "/tavily") for path in paths)
    return Compatible(
        every, (method,), scope, tavily_error, answer, key_in_body=method == "POST", **more
    )


def _is_on(value: bool | str) -> bool:
    """Whether a switch is on; clients send it as a boolean, as text, or as the name of a variant."""
    if isinstance(value, str):
        return value.strip().lower() not in ("", "false", "0", "none")
    return value


TAVILY_APIS = (
    _tavily(
        ("search",),
        tavily_search,
        serves=lambda scope: is_json(scope) or scope["path"] != "/search",
    ),
    _tavily(("extract",), tavily_extract, "read"),
    _tavily(("usage",), always(TAVILY_USAGE), method="GET"),
    _tavily(("crawl", "map", "research"), tavily_refusal),
)
