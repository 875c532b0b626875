"""The search vendors. Each refuses what the real API refuses, in its words.

Those that want a key, in the order of their rank: https://serper.dev, https://docs.tavily.com/documentation/api-reference,
https://api-dashboard.search.brave.com/app/documentation,
https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list, https://dev.synthetic.new/docs (whose error
bodies are a guess), https://exa.ai/docs/reference/search, https://docs.firecrawl.dev/api-reference/endpoint/search,
https://docs.linkup.so/pages/documentation/api-reference/endpoint and https://github.com/jina-ai/reader.

Then a SearXNG instance that allows JSON (https://docs.searxng.org/dev/search_api.html); DuckDuckGo's HTML page, which
has no API: a form, results as links, and a bot page with HTTP 202 (page 2 and later need the `vqd` of page 1, and links
go through `/l/?uddg=` or straight to their target); Wikipedia's search with introductions
(https://www.mediawiki.org/wiki/API:Search), whose errors come with HTTP 200, and which refuses a caller without its own
User-Agent with a page.
"""

from __future__ import annotations

import hashlib
import math
import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html import escape
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from websearch_gateway.providers import brave
from websearch_gateway.sandbox.server import GOOGLE_ENGINE, key_of
from websearch_gateway.sandbox.small_web import Match, terms
from websearch_gateway.sandbox.vendors.vendor import (
    DAYS,
    Vendor,
    VendorRefusal,
    bearer,
    day_of,
    found,
    json_object,
    long_date,
    parameters,
    posted,
    present,
    row_of,
    whole,
    within_domains,
    within_sites,
    worded,
)

_serper_refusal = worded(
    lambda status, message: {"message": message, "statusCode": status},
    {
        400: "Not enough credits",
        403: "Unauthorized.",
        429: "Too many requests.",
        500: "Internal server error",
    },
)


async def _serper(request: Request) -> JSONResponse:
    if request.headers.get("x-api-key") != key_of("serper"):
        raise _serper_refusal(403)
    body = await json_object(request, _serper_refusal(400, "Invalid JSON"))
    query, number, page = body.get("q"), body.get("num", 10), body.get("page", 1)
    if not isinstance(query, str) or not query.strip():
        raise _serper_refusal(400, "Missing query parameter")
    if not (isinstance(number, int) and 1 <= number <= 100 and isinstance(page, int) and page >= 1):
        raise _serper_refusal(400, "Invalid num or page parameter")
    kind = request.url.path.rpartition("/")[2]
    days = DAYS.get(str(body.get("tbs", "")).removeprefix("qdr:"))
    text, within = within_sites(request, query)
    matches = found(
        request, text, days=days, within=within, region=body.get("gl"), news=kind == "news"
    )
    rows = [
        row_of(match, url="link", snippet="snippet", long="date")
        | ({"source": match.page.site} if kind == "news" else {"position": place})
        for place, match in enumerate(matches[(page - 1) * number : page * number], start=1)
    ]
    echo = {**body, "type": kind, "engine": "google"}
    results = {"news" if kind == "news" else "organic": rows}
    return JSONResponse({"searchParameters": echo, **results, "credits": 2 if number > 10 else 1})


SERPER = Vendor(
    "serper",
    [Route(f"/{kind}", _serper, methods=["POST"]) for kind in ("search", "news")],
    _serper_refusal,
)

_TAVILY_RANGES = {
    "day": "d",
    "week": "w",
    "month": "m",
    "year": "y",
    **{letter: letter for letter in DAYS},
}
_tavily_refusal = worded(
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
            body.get("time_range", "day") not in _TAVILY_RANGES,
            "Invalid time_range. Must be day, week, month or year.",
        ),
    ):
        if is_wrong:
            raise _tavily_refusal(400, message)


def _tavily_row(match: Match, best: float, body: dict[str, Any]) -> dict[str, Any]:
    raw = match.page.text if body.get("include_raw_content") else None
    row = row_of(match, snippet="content") | {
        "score": round(match.score / best, 4),
        "raw_content": raw,
    }
    dated = body.get("topic") == "news" and match.published
    return row | (
        {"published_date": format_datetime(dated.astimezone(UTC), usegmt=True)} if dated else {}
    )


async def _tavily(request: Request) -> JSONResponse:
    body = await posted(request, "tavily", _tavily_refusal)
    _check_tavily(body)
    since, until = (
        day_of(body.get(name), _tavily_refusal(400, f"Invalid {name}. Use YYYY-MM-DD."))
        for name in ("start_date", "end_date")
    )
    days = DAYS[_TAVILY_RANGES[body["time_range"]]] if body.get("time_range") else body.get("days")
    within = within_domains(request, body.get("include_domains"), body.get("exclude_domains"))
    news = body.get("topic") == "news"
    matches = found(
        request, body["query"], days=days, within=within, since=since, until=until, news=news
    )
    reply = {
        "query": body["query"],
        "follow_up_questions": None,
        "answer": matches[0].snippet if matches and body.get("include_answer") else None,
        "images": [],
        "results": [
            _tavily_row(match, matches[0].score, body)
            for match in matches[: body.get("max_results", 5)]
        ],
    }
    return JSONResponse(
        {**reply, "response_time": 0.1, "request_id": "00000000-0000-4000-8000-000000000000"}
    )


TAVILY = Vendor("tavily", [Route("/search", _tavily, methods=["POST"])], _tavily_refusal)

_BRAVE_RANGE = re.compile(r"(\d{4}-\d\d-\d\d)to(\d{4}-\d\d-\d\d)")
_BRAVE_METER = {
    "plan": "Search",
    "rate_limit": 50,
    "rate_current": 50,
    "quota_limit": 0,
    "quota_current": 14,
    "component": "rate_limiter",
}
_BRAVE_HEADERS = {
    "x-ratelimit-limit": "50, 0",
    "x-ratelimit-policy": "50;w=1, 0;w=2678400",
    "x-ratelimit-remaining": "49, 0",
    "x-ratelimit-reset": "1, 2558678",
}
_BRAVE_CODES = {
    404: "SUBSCRIPTION_NOT_FOUND",
    422: "VALIDATION",
    429: "RATE_LIMITED",
    500: "INTERNAL",
}
_BRAVE_DETAILS = {
    "SUBSCRIPTION_NOT_FOUND": "No subscription found.",
    "SUBSCRIPTION_TOKEN_INVALID": "The provided subscription token is invalid.",
    "VALIDATION": "Unable to validate request parameter(s)",
    "RATE_LIMITED": "Request rate limit exceeded for plan.",
    "QUOTA_LIMITED": "Request quota limit exceeded for plan.",
    "INTERNAL": "Internal server error.",
}


def _brave_refusal(status: int, reason: str | None = None) -> VendorRefusal:
    code = reason or _BRAVE_CODES.get(status, "UNKNOWN")
    error = {
        "id": "5a0d0a7e-0000-4000-8000-000000000000",
        "status": status,
        "code": code,
        "detail": _BRAVE_DETAILS.get(code, "Unknown error."),
        "meta": _BRAVE_METER if status == 429 else {},
    }
    return VendorRefusal(
        status, {"type": "ErrorResponse", "error": error, "time": 1790000000}, _BRAVE_HEADERS
    )


def _brave_period(freshness: str) -> dict[str, Any]:
    if not freshness:
        return {}
    if freshness[0] == "p" and freshness[1:] in DAYS:
        return {"days": DAYS[freshness[1:]]}
    match = _BRAVE_RANGE.fullmatch(freshness)
    first, last = (
        day_of(text, _brave_refusal(422)) for text in (match.groups() if match else ("?", "?"))
    )
    return {"since": first, "until": last and last + timedelta(days=1)}


def _brave_row(match: Match, *, extra: bool) -> dict[str, Any]:
    wanted = set(terms(match.query))
    words = (
        f"<strong>{word}</strong>" if wanted & set(terms(word)) else word
        for word in match.snippet.split(" ")
    )
    return row_of(match) | present(
        description=" ".join(words),
        language=match.page.language,
        family_friendly=True,
        page_age=f"{match.published:%Y-%m-%dT%H:%M:%S}" if match.published else None,
        age=long_date(match, "%B"),
        extra_snippets=[*match.page.sentences[:3]] if extra else None,
    )


async def _brave(request: Request) -> JSONResponse:
    if request.headers.get("x-subscription-token") != key_of("brave"):
        raise _brave_refusal(422, "SUBSCRIPTION_TOKEN_INVALID")
    asked, kind = request.query_params, request.path_params["kind"]
    most = 50 if kind == "news" else 20
    query, count, offset = (
        asked.get("q", "").strip(),
        whole(asked.get("count"), most),
        whole(asked.get("offset"), 0),
    )
    country, language = asked.get("country", "ALL"), asked.get("search_lang")
    if (
        not 1 <= len(query) <= 400
        or len(query.split()) > 50
        or count not in range(1, most + 1)
        or offset not in range(10)
        or asked.get("safesearch", "moderate") not in ("off", "moderate", "strict")
        or country not in ("ALL", *brave.COUNTRIES.split())
        or language not in (None, *brave.LANGUAGES.split())
    ):
        raise _brave_refusal(422)
    text, within = within_sites(request, query)
    region = None if country == "ALL" else country
    filters = {**_brave_period(asked.get("freshness", "")), "region": region, "language": language}
    matches = found(request, text, within=within, news=kind == "news", **filters)
    page = slice(offset * count, (offset + 1) * count)
    extra = kind == "web" and asked.get("extra_snippets") == "true"
    rows = [_brave_row(match, extra=extra) for match in matches[page]]
    about = {"original": asked["q"], "more_results_available": len(matches) > page.stop}
    if kind == "news":
        body = {
            "type": "news",
            "query": about,
            "results": [{**row, "type": "news_result"} for row in rows],
        }
    else:
        found_pages = (
            {"web": {"type": "search", "results": rows, "family_friendly": True}} if rows else {}
        )
        body = {"type": "search", "query": about, **found_pages}
    return JSONResponse(body, headers=_BRAVE_HEADERS)


BRAVE = Vendor("brave", [Route("/res/v1/{kind}/search", _brave)], _brave_refusal)

_GOOGLE_PERIOD = re.compile(r"([dwmy])(\d{1,4})")
_GOOGLE_STATUSES = {
    400: ("INVALID_ARGUMENT", "badRequest", "Request contains an invalid argument."),
    403: (
        "PERMISSION_DENIED",
        "forbidden",
        "This project does not have the access to Custom Search JSON API.",
    ),
    429: (
        "RESOURCE_EXHAUSTED",
        "rateLimitExceeded",
        "Quota exceeded for quota metric 'Queries' and limit 'Queries per day' of service "
        "'customsearch.googleapis.com' for consumer 'project_number:100000000000'.",
    ),
    500: ("INTERNAL", "backendError", "Internal error encountered."),
    503: ("UNAVAILABLE", "backendError", "The service is currently unavailable."),
}


def _google_refusal(status: int, reason: str | None = None) -> VendorRefusal:
    name, kind, usual = _GOOGLE_STATUSES.get(status, ("UNKNOWN", "unknown", "Unknown error."))
    errors = [{"message": reason or usual, "domain": "global", "reason": kind}]
    error = {"code": status, "message": reason or usual, "errors": errors, "status": name}
    return VendorRefusal(status, {"error": error})


def _google_row(match: Match, host: str | None) -> dict[str, Any]:
    tags = {"og:site_name": match.page.site}
    if match.published:
        tags["article:published_time"] = match.published.isoformat(timespec="seconds")
    row = {"kind": "customsearch#result", "displayLink": host, "formattedUrl": match.url}
    return row_of(match, url="link", snippet="snippet") | row | {"pagemap": {"metatags": [tags]}}


async def _google(request: Request) -> JSONResponse:
    asked = request.query_params
    if not (key := asked.get("key")):
        raise _google_refusal(
            403, "Method doesn't allow unregistered callers. Please use API Key to call this API."
        )
    if key != key_of("google"):
        raise _google_refusal(400, "API key not valid. Please pass a valid API key.")
    query, number, start = (
        asked.get("q", "").strip(),
        whole(asked.get("num"), 10),
        whole(asked.get("start"), 1),
    )
    period = _GOOGLE_PERIOD.fullmatch(asked.get("dateRestrict", "d1"))
    if (
        not query
        or not period
        or asked.get("cx") != GOOGLE_ENGINE
        or asked.get("safe", "off") not in ("off", "active")
        or number not in range(1, 11)
        or start not in range(1, 101 - number)
    ):
        raise _google_refusal(400)
    text, within = within_sites(request, query)
    days = DAYS[period[1]] * int(period[2]) if asked.get("dateRestrict") else None
    language = asked.get("lr", "").removeprefix("lang_") or None
    matches = found(
        request, text, days=days, within=within, region=asked.get("gl"), language=language
    )
    items = [
        _google_row(match, request.url.hostname)
        for match in matches[start - 1 : start - 1 + number]
    ]
    about = {
        "title": f"Google Custom Search - {query}",
        "searchTerms": query,
        "count": number,
        "cx": GOOGLE_ENGINE,
    }
    after = (
        {"nextPage": [{**about, "startIndex": start + number}]}
        if len(matches) >= start + number
        else {}
    )
    body = {
        "kind": "customsearch#search",
        "queries": {"request": [{**about, "startIndex": start}], **after},
        "searchInformation": {"searchTime": 0.1, "totalResults": str(len(matches))},
    }
    return JSONResponse(body | ({"items": items} if items else {}))


GOOGLE = Vendor("google", [Route("/customsearch/v1", _google)], _google_refusal)

_synthetic_refusal = worded(
    lambda _, message: {"error": message},
    {
        400: "Invalid request",
        401: "Invalid API key",
        429: "Rate limit exceeded",
        500: "Internal server error",
    },
)


async def _synthetic(request: Request) -> JSONResponse:
    query = (await posted(request, "synthetic", _synthetic_refusal)).get("query")
    if not isinstance(query, str) or not query.strip():
        raise _synthetic_refusal(400, "query is required")
    return JSONResponse(
        {
            "results": [
                row_of(one, text="text", iso="published") for one in found(request, query)[:5]
            ]
        }
    )


SYNTHETIC = Vendor(
    "synthetic", [Route("/v2/search", _synthetic, methods=["POST"])], _synthetic_refusal
)

_EXA_ID = "00000000000000000000000000000000"
_EXA_ERRORS = {
    400: ("INVALID_REQUEST_BODY", "Invalid request body"),
    401: ("INVALID_API_KEY", "Invalid API key"),
    402: ("NO_MORE_CREDITS", "You have exceeded your credits limit."),
    429: ("RATE_LIMIT", "Too many requests."),
    503: ("SERVICE_OVERLOADED", "The service is overloaded."),
}


def _exa_refusal(status: int, reason: str | None = None) -> VendorRefusal:
    tag, message = _EXA_ERRORS.get(status, ("ERROR", "Error"))
    return VendorRefusal(status, {"requestId": _EXA_ID, "error": message, "tag": reason or tag})


async def _exa(request: Request) -> JSONResponse:
    if key_of("exa") not in (request.headers.get("x-api-key"), bearer(request)):
        raise _exa_refusal(401)
    body = await json_object(request, _exa_refusal(400))
    query, number = body.get("query"), body.get("numResults", 10)
    include, exclude = body.get("includeDomains"), body.get("excludeDomains")
    types = ("lite", "auto", "deep", "fast", "instant", "deep-reasoning")
    if (
        not isinstance(query, str)
        or not query.strip()
        or number not in range(1, 101)
        or (include and exclude)
        or len(include or exclude or ()) > 1_200
        or body.get("type", "auto") not in types
    ):
        raise _exa_refusal(400)
    since, until = (
        day_of(body.get(name), _exa_refusal(400))
        for name in ("startPublishedDate", "endPublishedDate")
    )
    matches = found(
        request,
        query,
        since=since,
        until=until,
        within=within_domains(request, include, exclude),
        region=body.get("userLocation"),
        news=body.get("category") == "news",
    )
    wanted = (body.get("contents") or {}).get("text")
    most = wanted.get("maxCharacters") if isinstance(wanted, dict) else None
    results = [
        row_of(match, iso="publishedDate")
        | present(id=match.url, text=match.page.text[:most] if wanted else None)
        for match in matches[:number]
    ]
    cost = 0.007 + 0.001 * max(0, len(results) - 10)
    return JSONResponse({"requestId": _EXA_ID, "results": results, "costDollars": {"total": cost}})


EXA = Vendor("exa", [Route("/search", _exa, methods=["POST"])], _exa_refusal)

_US_DATE = re.compile(r"cd_m(?:in|ax):(\d\d/\d\d/\d{4})")
_firecrawl_refusal = worded(
    lambda _, message: {"success": False, "error": message},
    {
        400: "Bad Request",
        401: "Unauthorized: Invalid token",
        402: "Insufficient credits to perform this request.",
        429: "Rate limit exceeded.",
        500: "Internal server error",
    },
)


def _firecrawl_period(tbs: Any) -> dict[str, Any]:
    """What the parameter `tbs` allows, as filters: `qdr:w` or `cdr:1,cd_min:MM/DD/YYYY,cd_max:MM/DD/YYYY`."""
    letter = str(tbs or "").removeprefix("qdr:")
    if not letter or letter in DAYS or letter == "h":
        return {"days": 1 / 24 if letter == "h" else DAYS[letter]} if letter else {}
    try:
        first, last = (
            datetime.strptime(text, "%m/%d/%Y").replace(tzinfo=UTC)
            for text in _US_DATE.findall(letter)
        )
    except ValueError:
        raise _firecrawl_refusal(400) from None
    return {"since": first, "until": last + timedelta(days=1)}


async def _firecrawl(request: Request) -> JSONResponse:
    body = await posted(request, "firecrawl", _firecrawl_refusal)
    query, limit, period = (
        body.get("query"),
        body.get("limit", 10),
        _firecrawl_period(body.get("tbs")),
    )
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
        raise _firecrawl_refusal(400)
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
        matches = found(request, query, within=within and source != "images", **filters)
        rows = enumerate(matches[:limit], start=1)
        data[source] = [row_of(match, **names) | {"position": place} for place, match in rows]
    count = sum(map(len, data.values()))
    credits_used = 2 * max(1, math.ceil(count / 10)) + (count if read else 0)
    return JSONResponse({"success": True, "data": data, "creditsUsed": credits_used})


FIRECRAWL = Vendor(
    "firecrawl", [Route("/v2/search", _firecrawl, methods=["POST"])], _firecrawl_refusal
)

_linkup_refusal = worded(
    lambda status, code: {
        "statusCode": status,
        "error": {"code": code, "message": "Sandbox refusal.", "details": []},
    },
    {400: "VALIDATION_ERROR", 401: "UNAUTHORIZED", 403: "FORBIDDEN", 429: "TOO_MANY_REQUESTS"},
)


async def _linkup(request: Request) -> JSONResponse:
    body = await posted(request, "linkup", _linkup_refusal)
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
        raise _linkup_refusal(400)
    within = within_domains(request, body.get("includeDomains"), body.get("excludeDomains"))
    since, until = (day_of(body.get(name), _linkup_refusal(400)) for name in ("fromDate", "toDate"))
    if not (matches := found(request, query, within=within, since=since, until=until)):
        raise _linkup_refusal(400, "SEARCH_QUERY_NO_RESULT")
    if body["outputType"] == "sourcedAnswer":
        sources = [row_of(match, title="name", snippet="snippet") for match in matches[:most]]
        return JSONResponse({"answer": matches[0].snippet, "sources": sources})
    texts = [
        {"type": "text", **row_of(match, title="name", text="content")} for match in matches[:most]
    ]
    return JSONResponse({"results": texts})


LINKUP = Vendor("linkup", [Route("/v1/search", _linkup, methods=["POST"])], _linkup_refusal)

_JINA_NAMES = {
    400: "ParamValidationError",
    401: "AuthenticationRequiredError",
    402: "InsufficientBalanceError",
    422: "AssertionFailureError",
    429: "RateLimitTriggeredError",
}


def _jina_refusal(status: int, reason: str | None = None) -> VendorRefusal:
    name, message = _JINA_NAMES.get(status, "ServiceError"), reason or "Sandbox refusal."
    body = {"data": None, "code": status, "name": name, "status": status * 100, "message": message}
    return VendorRefusal(status, {**body, "readableMessage": f"{name}: {message}"})


async def _jina(request: Request) -> JSONResponse:
    if bearer(request) != key_of("jina"):
        raise _jina_refusal(401)
    asked = await parameters(request)
    query, number, page = (
        asked.get("q", ""),
        whole(asked.get("num"), 10),
        whole(asked.get("page"), 1),
    )
    kind = asked.get("type", "web")
    if (
        not query.strip()
        or number not in range(21)
        or page < 1
        or kind not in ("web", "images", "news")
    ):
        raise _jina_refusal(400)
    matches = found(request, query, region=asked.get("gl"), news=kind == "news")
    if not matches:
        raise _jina_refusal(422, "No search results available.")
    texts = {} if request.headers.get("x-respond-with") == "no-content" else {"text": "content"}
    shown = matches[(page - 1) * number : page * number]
    data = [row_of(match, snippet="description", long="date", **texts) for match in shown]
    return JSONResponse(
        {"code": 200, "status": 20000, "data": data, "meta": {"usage": {"tokens": 10_000}}}
    )


JINA = Vendor("jina", [Route("/", _jina, methods=["GET", "POST"])], _jina_refusal)


def _searxng_refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """`{"error"}`, or nothing but the status from its limiter and its refusal of a format."""
    return VendorRefusal(status, {"error": reason} if reason else None)


async def _searxng(request: Request) -> Response:
    asked = await parameters(request)
    shape, query, page = (
        asked.get("format", "html"),
        asked.get("q", "").strip(),
        whole(asked.get("pageno"), 1),
    )
    if shape not in ("html", "json"):
        raise _searxng_refusal(403)
    if not query:
        raise _searxng_refusal(400, "No query")
    safe, span = whole(asked.get("safesearch"), 0), asked.get("time_range", "")
    if page < 1 or safe not in (0, 1, 2) or span not in ("", "day", "week", "month", "year"):
        raise _searxng_refusal(400, "Invalid value")
    language, _, region = asked.get("language", "all").partition("-")
    matches = found(
        request,
        query,
        days=DAYS[span[0]] if span else None,
        language=None if language in ("all", "auto") else language,
        region=region or None,
        news=asked.get("categories") == "news",
    )
    results = [
        {"publishedDate": None, **row_of(match, snippet="content", iso="publishedDate")}
        | {"engine": "sandbox", "engines": ["sandbox"], "score": round(match.score, 3)}
        | {"category": "news" if "news" in match.page.topics else "general"}
        for match in matches[(page - 1) * 10 : page * 10]
    ]
    if shape == "html":
        links = "".join(
            f'<h3><a href="{result["url"]}">{escape(str(result["title"]))}</a></h3>'
            for result in results
        )
        return HTMLResponse(f"<!doctype html><title>SearXNG</title>{links}")
    others = dict.fromkeys(
        ("answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"), ()
    )
    return JSONResponse(
        {"query": query, "number_of_results": len(matches), "results": results, **others}
    )


SEARXNG = Vendor("searxng", [Route("/search", _searxng, methods=["GET", "POST"])], _searxng_refusal)

_FIRST_PAGE, _LATER_PAGES, _LONGEST_QUERY = 10, 15, 499
_BOT_PAGE = """<!doctype html><html><head><title>DuckDuckGo</title></head><body>
<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html" method="POST">
<div class="anomaly-modal__mask"><div class="anomaly-modal__modal" data-testid="anomaly-modal">
<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>
<div class="anomaly-modal__description">Please complete the following challenge to confirm this search was made by a
human.</div></div></div></form></body></html>"""
_AD = """<div class="result results_links results_links_deep result--ad"><div class="links_main result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a"
href="https://duckduckgo.com/y.js?ad_domain=ads.invalid&amp;ad_provider=sandbox">Sponsored: buy it now</a></h2>
<a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=ads.invalid">An advertisement.</a></div></div>"""


def _vqd(query: str) -> str:
    return f"4-{int.from_bytes(hashlib.blake2b(query.encode(), digest_size=16).digest()):039d}"


def _duckduckgo_row(match: Match, position: int) -> str:
    wrapped = f"//duckduckgo.com/l/?uddg={quote(match.url, safe='')}&rut={position:064x}"
    href = escape(wrapped if position % 2 == 0 else match.url)
    return f"""<div class="result results_links results_links_deep web-result"><div class="links_main result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{escape(match.page.title)}</a></h2>
<div class="result__extras"><a class="result__url" href="{href}">{escape(match.url.split("://", 1)[1])}</a></div>
<a class="result__snippet" href="{href}">{escape(match.snippet)}</a></div></div>"""


def _duckduckgo_page(query: str, matches: list[Match], start: int) -> str:
    after = start + (_LATER_PAGES if start else _FIRST_PAGE)
    results = "\n".join(
        _duckduckgo_row(match, place)
        for place, match in enumerate(matches[start:after], start=start)
    )
    body = _AD + results if results else '<div class="no-results">No results found.</div>'
    more = f"""<div class="nav-link"><form action="/html/" method="post"><input type="submit" value="Next">
<input type="hidden" name="q" value="{escape(query)}"><input type="hidden" name="s" value="{after}">
<input type="hidden" name="nextParams" value=""><input type="hidden" name="v" value="l">
<input type="hidden" name="o" value="json"><input type="hidden" name="dc" value="{after + 1}">
<input type="hidden" name="api" value="d.js"><input type="hidden" name="vqd" value="{_vqd(query)}"></form></div>"""
    return f"""<!doctype html><html><head><title>{escape(query)} at DuckDuckGo</title></head>
<body class="body--html"><div id="links" class="results">{body}{more if len(matches) > after else ""}</div>
</body></html>"""


async def _duckduckgo(request: Request) -> HTMLResponse:
    asked = await parameters(request)
    query, start = asked.get("q", "").strip(), whole(asked.get("s"), 0)
    later_without_token = bool(start) and asked.get("vqd") != _vqd(query)
    if start < 0 or len(query) > _LONGEST_QUERY or later_without_token:
        return HTMLResponse(_BOT_PAGE, 202)
    if not query:
        return HTMLResponse(
            "<!doctype html><title>DuckDuckGo</title><form action='/html/' method='post'></form>"
        )
    country = asked.get("kl", "wt-wt").split("-")[0]
    text, within = within_sites(request, query)
    region = None if country == "wt" else country
    matches = found(request, text, days=DAYS.get(asked.get("df", "")), within=within, region=region)
    return HTMLResponse(_duckduckgo_page(query, matches, start))


DUCKDUCKGO = Vendor(
    "duckduckgo",
    [Route("/html/", _duckduckgo, methods=["GET", "POST"])],
    lambda status, reason=None: VendorRefusal(status, None),  # it has no error format
    bot_page=(202, _BOT_PAGE),
)

_MOST, _MOST_INTRODUCTIONS = 500, 20
_GENERIC_AGENTS = ("python", "curl", "mozilla", "java", "go-http")


def _wikipedia_refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """The error body of the API where the reason is one of its codes, else a page."""
    return VendorRefusal(
        status, {"error": {"code": reason, "info": "Sandbox refusal."}} if reason else None
    )


async def _wikipedia(request: Request) -> JSONResponse:
    asked, language = request.query_params, request.path_params["language"]
    agent = request.headers.get("user-agent", "").lower()
    if not agent or agent.startswith(_GENERIC_AGENTS):
        raise _wikipedia_refusal(403)
    if (asked.get("action"), asked.get("generator"), asked.get("formatversion")) != (
        "query",
        "search",
        "2",
    ):
        raise _wikipedia_refusal(200, "badvalue")
    limit, offset = whole(asked.get("gsrlimit"), 10), whole(asked.get("gsroffset"), 0)
    if not 1 <= limit <= _MOST or offset < 0:
        raise _wikipedia_refusal(200, "badinteger")
    if not (words := asked.get("gsrsearch", "").strip()):
        raise _wikipedia_refusal(200, "missingparam")
    matches = found(request, words, language=language)
    shown = matches[offset : offset + min(limit, _MOST_INTRODUCTIONS)]
    rows = [
        {
            "pageid": 1_000 + place,
            "ns": 0,
            "title": match.page.title,
            "index": place,
            "extract": match.page.text.partition("\n\n")[0],
            "fullurl": match.url,
            "pagelanguage": language,
        }
        for place, match in enumerate(shown, start=offset + 1)
    ]
    # Like the real API: ordered by id, not by rank.
    reply: dict[str, object] = {"batchcomplete": True} | (
        {"query": {"pages": rows[::-1]}} if rows else {}
    )
    if len(matches) > offset + limit:
        reply["continue"] = {"gsroffset": offset + limit, "continue": "gsroffset||"}
    return JSONResponse(reply)


WIKIPEDIA = Vendor("wikipedia", [Route("/{language}/w/api.php", _wikipedia)], _wikipedia_refusal)
