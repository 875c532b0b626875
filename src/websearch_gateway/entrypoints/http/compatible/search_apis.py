"""What an endpoint of another API is; and the search APIs that apps know: Tavily, SearXNG, and Open WebUI's `external`
engine and web loader.

https://docs.tavily.com/documentation/api-reference/introduction, https://docs.searxng.org/dev/search_api.html and
https://docs.openwebui.com/features/web-search/external
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.responses import PlainTextResponse
from starlette.types import Scope

from websearch_gateway.base import country_code, language_code
from websearch_gateway.entrypoints.arguments import ABSENT, Stays, kinds_of, meaning, text_fault
from websearch_gateway.entrypoints.http.middleware import is_json
from websearch_gateway.entrypoints.http.replies import ErrorShape
from websearch_gateway.entrypoints.reply.fitting import fit_web
from websearch_gateway.entrypoints.reply.pages import read_fitting
from websearch_gateway.errors import SearchError, SearchValidationError
from websearch_gateway.models import (
    LAST_PAGE,
    LONGEST_QUERY,
    SHORTEST_QUERY,
    Caller,
    Freshness,
    SafeSearch,
    SearchRequest,
    WebSearchRequest,
)
from websearch_gateway.pipeline.argument_values import code, invalid
from websearch_gateway.pipeline.web_search import HOURS
from websearch_gateway.results import ErrorInfo, PageContent, WebResult, WebSearchResponse

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway

MOST_ITEMS = 1_000

Given = Mapping[str, Any]
"""The parameters of a request: a JSON object, or the fields of a query string or form."""


@dataclass(frozen=True, slots=True)
class Compatible:
    """One endpoint of another API.

    `answer` returns the JSON content of a reply, or a whole `Response`. `serves` selects the requests of an endpoint
    that shares its path and method. `key_in_body`: clients may put their token into the field `api_key`; `basic`: or
    into the password of HTTP Basic.
    """

    paths: tuple[str, ...]
    methods: tuple[str, ...]
    scope: str
    error_shape: ErrorShape
    answer: Callable[[Gateway, Given, Caller], Awaitable[Any]]
    serves: Callable[[Scope], bool] = lambda _: True
    key_in_body: bool = False
    basic: bool = False


class Lenient(BaseModel):
    """Base of parameters: unknown names are ignored, and values are understood as those of the tools."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def of(cls, given: Given) -> Self:
        """The parsed parameters.

        Raises:
            SearchValidationError: one is unusable; the message names the first such field.
        """
        present: dict[str, Any] = {}
        for name, kind in kinds_of(cls).items():
            value = meaning(given.get(name), kind)
            if value is ABSENT:
                continue
            too_large = None if Any in kind.types else text_fault(value, MOST_ITEMS)
            if too_large:
                raise SearchValidationError(f"`{name}`: {too_large}.", details={"field": name})
            present[name] = value
        try:
            return cls.model_validate(present)
        except ValidationError as error:
            fault = error.errors(include_input=False, include_url=False)[0]
            field = ".".join(str(part) for part in fault["loc"][:2]) or "body"
            raise SearchValidationError(
                f"`{field}`: {fault['msg']}.", details={"field": field}
            ) from None


def always(content: Any) -> Callable[[Gateway, Given, Caller], Awaitable[Any]]:
    """An endpoint whose JSON is always the same. No `Response`: CORS adds headers to it."""

    async def answer(*_: Any) -> Any:
        return content

    return answer


MOST_RESULTS = 20
MOST_URLS = 20
PAGE_CHARS = 100_000
CONTENT_CHARS = 1_500
"""The part of a page in `content` if the caller wants more than a snippet (characters)."""
MOST_ANSWER_HOURS = 168

Asked = Annotated[str, Stays]
"""What to search for, which may be the word "null"."""
Addresses = Annotated[tuple[str, ...], Stays]


async def _read(gateway: Gateway, urls: tuple[str, ...], caller: Caller) -> dict[str, PageContent]:
    """The pages by their requested URLs.

    Raises:
        SearchValidationError: there is none, or too many.
    """
    if not 1 <= len(urls) <= MOST_URLS:
        raise SearchValidationError(
            f"`urls` must be 1 to {MOST_URLS} URLs.", details={"field": "urls"}
        )
    return dict(zip(urls, await read_fitting(gateway, urls, caller, PAGE_CHARS), strict=True))


def _is_on(value: bool | str) -> bool:
    """Whether a switch is on; clients send it as a boolean, as text, or as the name of a variant."""
    return (
        value.strip().lower() not in ("", "false", "0", "none") if isinstance(value, str) else value
    )


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
        """The narrowest filter of the gateway that covers what is wanted."""
        if self.time_range is not None:
            if (found := PERIODS.get(self.time_range.strip().lower())) is None:
                raise SearchValidationError(
                    "`time_range` must be one of day, month, week, year.",
                    details={"field": "time_range"},
                )
            return found
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
    wanted = TavilySearch.of(given)
    raw = _is_on(wanted.include_raw_content)
    request = WebSearchRequest(
        wanted.query,
        max(1, min(wanted.max_results, MOST_RESULTS)),
        freshness=wanted.freshness,
        include_domains=wanted.include_domains,
        exclude_domains=wanted.exclude_domains,
        language=code("language", wanted.language) if wanted.language else None,
        region=code("region", wanted.country, "country") if wanted.country else None,
        read_pages=raw or wanted.search_depth.strip().lower() == "advanced",
        topic="news" if wanted.is_about_news else "general",
    )
    found, answer = await asyncio.gather(
        gateway.web_search(request, caller),
        _answer(gateway, wanted, request, caller),
        return_exceptions=True,
    )
    if isinstance(found, BaseException):
        raise found
    found = _fitted(found, gateway.max_reply_tokens, raw=raw)
    return {
        "query": wanted.query,
        "follow_up_questions": None,
        "answer": answer if isinstance(answer, str) else None,
        "images": [],
        "results": [_tavily_result(one, read=request.read_pages, raw=raw) for one in found.results],
        "response_time": round(time.perf_counter() - began, 2),
        "request_id": str(uuid4()),
        **(
            {"usage": {"credits": 0 if found.cache == "exact" else 1}}
            if wanted.include_usage
            else {}
        ),
    }


async def _answer(
    gateway: Gateway, wanted: TavilySearch, request: WebSearchRequest, caller: Caller
) -> str | None:
    """The answer's text; None if it is not wanted or fails: the results are useful without it."""
    if not _is_on(wanted.include_answer):
        return None
    hours = HOURS[request.freshness] if request.freshness else None
    fresh = hours if hours is not None and hours <= MOST_ANSWER_HOURS else None
    question = SearchRequest(
        wanted.query,
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


def _fitted(found: WebSearchResponse, tokens: int, *, raw: bool) -> WebSearchResponse:
    """Pages in the room beside an answer, twice where they may stand in both `content` and `raw_content`."""
    if raw:
        return fit_web(found, tokens // 2)
    short = [
        one.model_copy(update={"page_content": one.page_content[:CONTENT_CHARS]})
        for one in found.results
    ]
    return fit_web(found.model_copy(update={"results": tuple(short)}), tokens * 3 // 4)


def _tavily_result(found: WebResult, *, read: bool, raw: bool) -> dict[str, Any]:
    page = found.page_content if read and found.note_chars is None else None
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


class TavilyExtract(Lenient):
    """The fields that mean something here."""

    urls: Addresses = ()
    include_usage: bool = False


async def tavily_extract(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """The text of each page under its requested URL, and the errors of the others."""
    began = time.perf_counter()
    wanted = TavilyExtract.of(given)
    pages = await _read(gateway, wanted.urls, caller)
    return {
        "results": [
            {"url": url, "title": page.title, "raw_content": page.page_content, "images": []}
            for url, page in pages.items()
            if page.error is None
        ],
        "failed_results": [
            {"url": page.url, "error": page.error.message}
            for page in pages.values()
            if page.error is not None
        ],
        "response_time": round(time.perf_counter() - began, 2),
        "request_id": str(uuid4()),
        **({"usage": {"credits": 1}} if wanted.include_usage else {}),
    }


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


PER_PAGE = 10
SAFE_SEARCH: dict[str, SafeSearch] = {
    "0": "off",
    "false": "off",
    "1": "moderate",
    "true": "moderate",
    "2": "strict",
}
CATEGORIES = ("general", "news")


class SearxngSearch(Lenient):
    """The fields that mean something here. `engines` is ignored: clients name engines of other instances."""

    q: Asked = ""
    format: str = "json"
    categories: str = "general"
    language: str = "all"
    pageno: int = 1
    time_range: Literal["day", "week", "month", "year"] | None = None
    safesearch: str | int | None = None


async def searxng_search(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """Results of the web, or of news; empty for pages and categories that the gateway lacks."""
    wanted = SearxngSearch.of(given)
    safe = (
        None
        if wanted.safesearch is None
        else SAFE_SEARCH.get(str(wanted.safesearch).strip().lower())
    )
    for is_wrong, message in (
        (not wanted.q.strip(), "No query"),
        (wanted.format.strip().lower() != "json", "Only format=json is served."),
        (wanted.pageno < 1, "`pageno` must be 1 or more."),
        (wanted.safesearch is not None and safe is None, "`safesearch` must be 0, 1 or 2."),
    ):
        if is_wrong:
            raise SearchValidationError(message)
    asked = [name.strip().lower() for name in wanted.categories.split(",") if name.strip()] or [
        "general"
    ]
    category = next((name for name in CATEGORIES if name in asked), None)
    results: list[dict[str, Any]] = []
    if category is not None and wanted.pageno <= LAST_PAGE:
        language, region = _locale(wanted.language)
        request = WebSearchRequest(
            wanted.q,
            PER_PAGE,
            freshness=wanted.time_range,
            language=language,
            region=region,
            page=wanted.pageno,
            safe_search=safe,
            read_pages=False,
            topic="news" if category == "news" else "general",
        )
        # Every link is listed twice.
        found = fit_web(await gateway.web_search(request, caller), gateway.max_reply_tokens // 2)
        first = (wanted.pageno - 1) * PER_PAGE + 1
        results = [
            _searxng_result(one, place, category)
            for place, one in enumerate(found.results, start=first)
        ]
    others = dict.fromkeys(
        ("answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"), ()
    )
    # SearXNG has removed the number, and older clients require it.
    return {"query": wanted.q, "number_of_results": len(results), "results": results, **others}


def _searxng_result(found: WebResult, place: int, category: str) -> dict[str, Any]:
    parts = urlsplit(found.link)
    return {
        "url": found.link,
        "title": found.title,
        "content": found.snippet,
        "engine": found.provider,
        "engines": [found.provider],
        "category": category,
        "score": found.relevance_score,
        "positions": [place],
        "parsed_url": [parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment],
        "publishedDate": found.published_date,
        "template": "default.html",
        "thumbnail": "",
        "img_src": "",
        "iframe_src": "",
    }


ANY_LANGUAGE = ("all", "auto")


def _locale(tag: str) -> tuple[str | None, str | None]:
    """Language and region of a tag such as `de-AT` or `zh-Hans-CN`; neither for `ANY_LANGUAGE`.

    Raises:
        SearchValidationError: it is another word, or one of its parts is unknown.
    """
    if tag.strip().lower() in ANY_LANGUAGE:
        return None, None
    first, *others = tag.strip().replace("_", "-").split("-")
    language = language_code(first)
    parts = [part for part in others if not _is_script(part)]
    region = country_code(parts[0]) if parts else None
    if language is None or len(parts) > 1 or (parts and region is None):
        demand = "all, auto, or an ISO 639-1 code such as de, alone or with a country as in de-AT"
        raise invalid("language", demand, "all, auto, ISO 639-1, ISO 639-1 and ISO 3166-1 alpha-2")
    return language, region


def _is_script(part: str) -> bool:
    """Whether a part of a language tag names a script, such as `Hans` (https://www.rfc-editor.org/rfc/rfc5646)."""
    return len(part) == 4 and part.isalpha()


def _is_search(scope: Scope) -> bool:
    """`/` is the status page, so a search there needs `format=json` and a query."""
    if scope["path"] != "/":
        return True
    given = parse_qs(scope["query_string"].decode("latin-1"))
    return given.get("format") == ["json"] and "q" in given


async def searxng_config(gateway: Gateway, _: Given, __: Caller) -> Any:
    """The configured raw providers as engines, with the fields that clients read."""
    engines = [
        {"name": name, "categories": CATEGORIES, "shortcut": name[:3], "enabled": True}
        for name in gateway.web.selection.searchers
    ]
    return {
        "categories": CATEGORIES,
        "engines": engines,
        "plugins": [],
        "locales": {"en": "English"},
    }


async def searxng_health(_: Gateway, __: Given, ___: Caller) -> Any:
    """The reply of SearXNG."""
    return PlainTextResponse("OK")


async def searxng_suggestions(_: Gateway, given: Given, __: Caller) -> Any:
    """No suggestions, in the form of OpenSearch."""
    return [str(given.get("q", ""))[:LONGEST_QUERY], []]


def message_alone(error: ErrorInfo, _: int) -> Any:
    """`{"error": message}`."""
    return {"error": error.message}


def _searxng(paths: tuple[str, ...], answer: Any, *methods: str, **more: Any) -> Compatible:
    return Compatible(
        paths, methods or ("GET",), "search", message_alone, answer, basic=True, **more
    )


class ExternalSearch(Lenient):
    """The body of a search by Open WebUI."""

    query: Asked = ""
    count: int = 5


class ExternalLoad(Lenient):
    """The body of a load by Open WebUI."""

    urls: Addresses = ()


async def openwebui_search(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """A bare list of `{link, title, snippet}`."""
    wanted = ExternalSearch.of(given)
    request = WebSearchRequest(
        wanted.query, max(1, min(wanted.count, MOST_RESULTS)), read_pages=False
    )
    found = fit_web(await gateway.web_search(request, caller), gateway.max_reply_tokens)
    return [
        {"link": one.link, "title": one.title, "snippet": one.snippet or one.title}
        for one in found.results
    ]


async def openwebui_load(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """A bare list of the pages that can be read. `source` is the given URL: the app matches results by it."""
    wanted = ExternalLoad.of(given)
    pages = (await _read(gateway, wanted.urls, caller)).items()
    return [
        {"page_content": page.page_content, "metadata": {"source": url, "title": page.title}}
        for url, page in pages
        if page.error is None
    ]


SEARCH_APIS = (
    # Before SearXNG: a JSON body at /search is Tavily's.
    _tavily(
        ("search",),
        tavily_search,
        serves=lambda scope: is_json(scope) or scope["path"] != "/search",
    ),
    _tavily(("extract",), tavily_extract, "read"),
    _tavily(("usage",), always(TAVILY_USAGE), method="GET"),
    _tavily(("crawl", "map", "research"), tavily_refusal),
    _searxng(
        ("/search", "/", "/searxng", "/searxng/", "/searxng/search"),
        searxng_search,
        "GET",
        "POST",
        serves=_is_search,
    ),
    _searxng(("/config", "/searxng/config"), searxng_config),
    _searxng(("/searxng/healthz",), searxng_health),
    _searxng(("/autocompleter", "/searxng/autocompleter"), searxng_suggestions),
    Compatible(("/openwebui/search",), ("POST",), "search", message_alone, openwebui_search),
    Compatible(("/openwebui/load",), ("POST",), "read", message_alone, openwebui_load),
)
