"""Tavily `POST /search`. https://docs.tavily.com/documentation/api-reference/endpoint/search"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

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
from websearch_gateway.entrypoints.http.compatible.tavily import BUCKETS, request_id, tavily_error, within_days
from websearch_gateway.errors import SearchError, SearchValidationError
from websearch_gateway.models import Caller, Freshness, SearchRequest, WebSearchRequest
from websearch_gateway.pipeline.reply.fit import fit_web
from websearch_gateway.pipeline.web_search import HOURS
from websearch_gateway.results.search import WebResult, WebSearchResponse
from websearch_gateway.text.codes import country_code
from websearch_gateway.text.notes import is_unreadable_note

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
        "request_id": request_id(),
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
