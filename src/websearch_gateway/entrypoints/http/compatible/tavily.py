"""Tavily's `/search`, `/extract` and `/usage`. https://docs.tavily.com/documentation/api-reference/introduction"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

from pydantic import BeforeValidator

from websearch_gateway.entrypoints.http.compatible.base import (
    Compatible,
    Given,
    Lenient,
    as_list,
    clamped,
    is_json,
    is_on,
)
from websearch_gateway.entrypoints.reply import fit_web, read_fitting
from websearch_gateway.errors import SearchError, SearchValidationError
from websearch_gateway.models import Caller, Freshness, SearchRequest, WebSearchRequest
from websearch_gateway.pipeline.web_search import HOURS
from websearch_gateway.results import ErrorInfo, WebResult, WebSearchResponse
from websearch_gateway.text.notes import is_unreadable_note
from websearch_gateway.text.query import country_code

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


MOST_RESULTS = 20
CONTENT_CHARS = 1_500
"""The part of a page in `content` if the caller wants more than a snippet (characters)."""
MOST_ANSWER_HOURS = 168


class TavilySearch(Lenient):
    """The fields that mean something here."""

    query: str = ""
    max_results: int = 5
    search_depth: str = "basic"
    topic: str = "general"
    time_range: str | None = None
    days: int | None = None
    include_domains: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    exclude_domains: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    include_answer: bool | str = False
    include_raw_content: bool | str = False
    include_usage: bool = False
    country: str | None = None
    language: str | None = None

    @property
    def freshness(self) -> Freshness | None:
        """The freshness filter in the gateway's units."""
        if self.time_range is not None:
            if (bucket := BUCKETS.get(self.time_range.lower())) is None:
                known = ", ".join(sorted(set(BUCKETS.values())))
                raise SearchValidationError(f"`time_range` must be one of {known}.", details={"field": "time_range"})
            return bucket
        return within_days(self.days) if self.days and self.topic == "news" else None


async def search(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """The results, and with `include_answer` the answer of `search_web`."""
    began = time.perf_counter()
    wanted = TavilySearch.of(given)
    deep = wanted.search_depth == "advanced"
    request = WebSearchRequest(
        wanted.query,
        clamped(wanted.max_results, MOST_RESULTS),
        freshness=wanted.freshness,
        include_domains=wanted.include_domains,
        exclude_domains=wanted.exclude_domains,
        language=wanted.language if wanted.language and len(wanted.language) == 2 else None,
        region=country_code(wanted.country) if wanted.country else None,
        read_pages=deep or is_on(wanted.include_raw_content),
        topic="news" if wanted.topic == "news" else "general",
    )
    found, answer = await asyncio.gather(
        gateway.web_search(request, caller), _answer(gateway, wanted, request, caller), return_exceptions=True
    )
    if isinstance(found, BaseException):
        raise found
    found = _fitted(found, gateway.max_reply_tokens, raw=is_on(wanted.include_raw_content))
    return {
        "query": wanted.query,
        "follow_up_questions": None,
        "answer": answer if isinstance(answer, str) else None,
        "images": [],
        "results": [_result(one, request, raw=is_on(wanted.include_raw_content)) for one in found.results],
        "response_time": round(time.perf_counter() - began, 2),
        "request_id": str(uuid4()),
        **({"usage": {"credits": 0 if found.cache == "exact" else 1}} if wanted.include_usage else {}),
    }


async def _answer(gateway: Gateway, wanted: TavilySearch, request: WebSearchRequest, caller: Caller) -> str | None:
    """The answer's text; None if it is not wanted or fails: the results are useful without it."""
    if not is_on(wanted.include_answer):
        return None
    hours = HOURS[request.freshness] if request.freshness else None
    fresh = hours if hours is not None and hours <= MOST_ANSWER_HOURS else None
    question = SearchRequest(wanted.query, min(request.num_results, 8), fresh, request.region)
    question = replace(question, include_domains=request.include_domains, exclude_domains=request.exclude_domains)
    try:
        return (await gateway.search(question, caller)).text or None
    except SearchError:
        return None


def _fitted(found: WebSearchResponse, tokens: int, *, raw: bool) -> WebSearchResponse:
    """Pages in the room beside an answer, twice where they may stand in both `content` and `raw_content`."""
    if raw:
        return fit_web(found, tokens // 2)
    short = [one.model_copy(update={"page_content": one.page_content[:CONTENT_CHARS]}) for one in found.results]
    return fit_web(found.model_copy(update={"results": tuple(short)}), tokens * 3 // 4)


def _result(found: WebResult, request: WebSearchRequest, *, raw: bool) -> dict[str, Any]:
    page = found.page_content if request.read_pages and not is_unreadable_note(found.page_content) else None
    content = found.snippet
    if page is not None and (not content or not raw):
        content = f"{content}\n\n{page[:CONTENT_CHARS]}".strip()
    return {
        "url": found.link,
        "title": found.title,
        "content": content,
        "score": found.relevance_score,
        "raw_content": page if raw else None,
        **({"published_date": found.published_date} if found.published_date else {}),
    }


BUCKETS: dict[str, Freshness] = {
    "day": "day",
    "d": "day",
    "week": "week",
    "w": "week",
    "month": "month",
    "m": "month",
    "year": "year",
    "y": "year",
}


def tavily_error(error: ErrorInfo, _: int) -> Any:
    """`{"detail": {"error": text}}`. No `error.code`: @tavily/core reads any as the limit of callers without a key."""
    return {"detail": {"error": error.message}}


def within_days(days: int) -> Freshness:
    """The narrowest period that covers this many days."""
    return next((name for most, name in _BUCKET_DAYS if days <= most), "year")


_BUCKET_DAYS: tuple[tuple[int, Freshness], ...] = ((1, "day"), (7, "week"), (31, "month"))

SEARCH = Compatible(
    name="tavily search",
    paths=("/search", "/tavily/search"),
    methods=("POST",),
    scope="search",
    error_shape=tavily_error,
    answer=search,
    serves=lambda scope: is_json(scope) or scope["path"] != "/search",
    key_in_body=True,
)

MOST_URLS = 20
PAGE_CHARS = 100_000


class TavilyExtract(Lenient):
    """The fields that mean something here."""

    urls: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    include_usage: bool = False


async def extract(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """The text of each page under its requested URL, and the errors of the others."""
    began = time.perf_counter()
    wanted = TavilyExtract.of(given)
    if not 1 <= len(wanted.urls) <= MOST_URLS:
        raise SearchValidationError(f"`urls` must be 1 to {MOST_URLS} URLs.", details={"field": "urls"})
    pages = dict(zip(wanted.urls, await read_fitting(gateway, wanted.urls, caller, PAGE_CHARS), strict=True))
    return {
        "results": [
            {"url": url, "title": page.title, "raw_content": page.page_content, "images": []}
            for url, page in pages.items()
            if page.error is None
        ],
        "failed_results": [
            {"url": page.url, "error": page.error.message} for page in pages.values() if page.error is not None
        ],
        "response_time": round(time.perf_counter() - began, 2),
        "request_id": str(uuid4()),
        **({"usage": {"credits": 1}} if wanted.include_usage else {}),
    }


EXTRACT = Compatible(
    name="tavily extract",
    paths=("/extract", "/tavily/extract"),
    methods=("POST",),
    scope="read",
    error_shape=tavily_error,
    answer=extract,
    key_in_body=True,
)


async def usage(_: Gateway, __: Given, ___: Caller) -> Any:
    """No plan and no credits: limits and budgets are the gateway's own."""
    return {
        "key": {"usage": 0, "limit": None},
        "account": {"current_plan": "websearch-gateway", "plan_usage": 0, "plan_limit": None},
    }


async def not_offered(_: Gateway, __: Given, ___: Caller) -> Any:
    """Reply that it is not supported, in a form that the SDKs pass on."""
    raise SearchValidationError("This gateway searches and extracts; it does not crawl, map or research.")


OTHERS = (
    Compatible(
        name="tavily usage",
        paths=("/usage", "/tavily/usage"),
        methods=("GET",),
        scope="search",
        error_shape=tavily_error,
        answer=usage,
    ),
    Compatible(
        name="tavily crawl, map and research",
        paths=tuple(f"{prefix}/{name}" for prefix in ("", "/tavily") for name in ("crawl", "map", "research")),
        methods=("POST",),
        scope="search",
        error_shape=tavily_error,
        answer=not_offered,
        key_in_body=True,
    ),
)
