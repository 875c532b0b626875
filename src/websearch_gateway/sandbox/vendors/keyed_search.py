"""The search vendors that want a key, in the order of their rank. Each refuses what the real API refuses, in its words.

https://serper.dev, https://docs.tavily.com/documentation/api-reference,
https://api-dashboard.search.brave.com/app/documentation,
https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list, https://dev.synthetic.new/docs (whose error
bodies are a guess), https://exa.ai/docs/reference/search, https://docs.firecrawl.dev/api-reference/endpoint/search,
https://docs.linkup.so/pages/documentation/api-reference/endpoint and https://github.com/jina-ai/reader.
"""

from __future__ import annotations

import re
from datetime import UTC, timedelta
from email.utils import format_datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox import GOOGLE_ENGINE, key_of
from websearch_gateway.sandbox.small_web import Match, terms
from websearch_gateway.sandbox.vendor import (
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
    whole,
    within_domains,
    within_sites,
    worded,
)

_serper_refusal = worded(
    lambda status, message: {"message": message, "statusCode": status},
    {400: "Not enough credits", 403: "Unauthorized.", 429: "Too many requests.", 500: "Internal server error"},
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
    matches = found(request, text, days=days, within=within, region=body.get("gl"), news=kind == "news")
    rows = [
        present(title=match.page.title, link=match.url, snippet=match.snippet, date=long_date(match), position=place)
        | ({"source": match.page.site} if kind == "news" else {})
        for place, match in enumerate(matches[(page - 1) * number : page * number], start=1)
    ]
    echo = {**body, "type": kind, "engine": "google"}
    results = {"news" if kind == "news" else "organic": rows}
    return JSONResponse({"searchParameters": echo, **results, "credits": 2 if number > 10 else 1})


SERPER = Vendor(
    "serper", [Route(f"/{kind}", _serper, methods=["POST"]) for kind in ("search", "news")], _serper_refusal
)

_TAVILY_RANGES = {"day": "d", "week": "w", "month": "m", "year": "y", **{letter: letter for letter in DAYS}}
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
    for is_wrong, message in (
        (not body["query"].strip(), "Query is missing."),
        (not isinstance(number, int) or not 0 <= number <= 20, "Max results must be between 0 and 20."),
        (body.get("search_depth", "basic") not in ("basic", "advanced", "fast", "ultra-fast"), "Invalid search_depth."),
        (topic not in ("general", "news", "finance"), "Invalid topic. Must be general, news or finance."),
        (body.get("country") and topic != "general", "Country can only be used with the topic general."),
        (
            body.get("time_range", "day") not in _TAVILY_RANGES,
            "Invalid time_range. Must be day, week, month or year.",
        ),
    ):
        if is_wrong:
            raise _tavily_refusal(400, message)


def _tavily_row(match: Match, best: float, body: dict[str, Any]) -> dict[str, Any]:
    row = {
        "title": match.page.title,
        "url": match.url,
        "content": match.snippet,
        "score": round(match.score / best, 4),
        "raw_content": match.page.text if body.get("include_raw_content") else None,
    }
    dated = body.get("topic") == "news" and match.published
    return row | ({"published_date": format_datetime(dated.astimezone(UTC), usegmt=True)} if dated else {})


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
    matches = found(request, body["query"], days=days, within=within, since=since, until=until, news=news)
    reply = {
        "query": body["query"],
        "follow_up_questions": None,
        "answer": matches[0].snippet if matches and body.get("include_answer") else None,
        "images": [],
        "results": [_tavily_row(match, matches[0].score, body) for match in matches[: body.get("max_results", 5)]],
    }
    return JSONResponse({**reply, "response_time": 0.1, "request_id": "00000000-0000-4000-8000-000000000000"})


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
_BRAVE_CODES = {404: "SUBSCRIPTION_NOT_FOUND", 422: "VALIDATION", 429: "RATE_LIMITED", 500: "INTERNAL"}
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
    return VendorRefusal(status, {"type": "ErrorResponse", "error": error, "time": 1790000000}, _BRAVE_HEADERS)


def _brave_period(freshness: str) -> dict[str, Any]:
    """What the parameter `freshness` allows, as filters."""
    if not freshness:
        return {}
    if freshness[0] == "p" and freshness[1:] in DAYS:
        return {"days": DAYS[freshness[1:]]}
    match = _BRAVE_RANGE.fullmatch(freshness)
    first, last = (day_of(text, _brave_refusal(422)) for text in (match.groups() if match else ("?", "?")))
    return {"since": first, "until": last and last + timedelta(days=1)}


def _brave_row(match: Match, *, extra: bool) -> dict[str, Any]:
    wanted = set(terms(match.query))
    words = (f"<strong>{word}</strong>" if wanted & set(terms(word)) else word for word in match.snippet.split(" "))
    return present(
        title=match.page.title,
        url=match.url,
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
    query, count, offset = asked.get("q", "").strip(), whole(asked.get("count"), most), whole(asked.get("offset"), 0)
    if (
        not 1 <= len(query) <= 400
        or len(query.split()) > 50
        or count not in range(1, most + 1)
        or offset not in range(10)
        or asked.get("safesearch", "moderate") not in ("off", "moderate", "strict")
    ):
        raise _brave_refusal(422)
    text, within = within_sites(request, query)
    region = None if asked.get("country", "ALL") == "ALL" else asked["country"]
    filters = {**_brave_period(asked.get("freshness", "")), "region": region, "language": asked.get("search_lang")}
    matches = found(request, text, within=within, news=kind == "news", **filters)
    page = slice(offset * count, (offset + 1) * count)
    extra = kind == "web" and asked.get("extra_snippets") == "true"
    rows = [_brave_row(match, extra=extra) for match in matches[page]]
    about = {"original": asked["q"], "more_results_available": len(matches) > page.stop}
    if kind == "news":
        body = {"type": "news", "query": about, "results": [{**row, "type": "news_result"} for row in rows]}
    else:
        found_pages = {"web": {"type": "search", "results": rows, "family_friendly": True}} if rows else {}
        body = {"type": "search", "query": about, **found_pages}
    return JSONResponse(body, headers=_BRAVE_HEADERS)


BRAVE = Vendor("brave", [Route("/res/v1/{kind}/search", _brave)], _brave_refusal)

_GOOGLE_PERIOD = re.compile(r"([dwmy])(\d{1,4})")
_GOOGLE_STATUSES = {
    400: ("INVALID_ARGUMENT", "badRequest", "Request contains an invalid argument."),
    403: ("PERMISSION_DENIED", "forbidden", "This project does not have the access to Custom Search JSON API."),
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
    return {
        "kind": "customsearch#result",
        "title": match.page.title,
        "link": match.url,
        "displayLink": host,
        "snippet": match.snippet,
        "formattedUrl": match.url,
        "pagemap": {"metatags": [tags]},
    }


async def _google(request: Request) -> JSONResponse:
    asked = request.query_params
    if not (key := asked.get("key")):
        raise _google_refusal(403, "Method doesn't allow unregistered callers. Please use API Key to call this API.")
    if key != key_of("google"):
        raise _google_refusal(400, "API key not valid. Please pass a valid API key.")
    query, number, start = asked.get("q", "").strip(), whole(asked.get("num"), 10), whole(asked.get("start"), 1)
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
    matches = found(request, text, days=days, within=within, region=asked.get("gl"), language=language)
    items = [_google_row(match, request.url.hostname) for match in matches[start - 1 : start - 1 + number]]
    about = {"title": f"Google Custom Search - {query}", "searchTerms": query, "count": number, "cx": GOOGLE_ENGINE}
    after = {"nextPage": [{**about, "startIndex": start + number}]} if len(matches) >= start + number else {}
    body = {
        "kind": "customsearch#search",
        "queries": {"request": [{**about, "startIndex": start}], **after},
        "searchInformation": {"searchTime": 0.1, "totalResults": str(len(matches))},
    }
    return JSONResponse(body | ({"items": items} if items else {}))


GOOGLE = Vendor("google", [Route("/customsearch/v1", _google)], _google_refusal)

_synthetic_refusal = worded(
    lambda _, message: {"error": message},
    {400: "Invalid request", 401: "Invalid API key", 429: "Rate limit exceeded", 500: "Internal server error"},
)


async def _synthetic(request: Request) -> JSONResponse:
    query = (await posted(request, "synthetic", _synthetic_refusal)).get("query")
    if not isinstance(query, str) or not query.strip():
        raise _synthetic_refusal(400, "query is required")
    results = [
        present(
            url=match.url,
            title=match.page.title,
            text=match.page.text,
            published=match.published.isoformat(timespec="seconds") if match.published else None,
        )
        for match in found(request, query)[:5]
    ]
    return JSONResponse({"results": results})


SYNTHETIC = Vendor("synthetic", [Route("/v2/search", _synthetic, methods=["POST"])], _synthetic_refusal)

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
        or body.get("type", "auto") not in types
    ):
        raise _exa_refusal(400)
    matches = found(
        request,
        query,
        since=day_of(body.get("startPublishedDate"), _exa_refusal(400)),
        within=within_domains(request, include, exclude),
        region=body.get("userLocation"),
        news=body.get("category") == "news",
    )
    wanted = (body.get("contents") or {}).get("text")
    most = wanted.get("maxCharacters") if isinstance(wanted, dict) else None
    results = [
        present(
            id=match.url,
            url=match.url,
            title=match.page.title,
            publishedDate=match.published.isoformat() if match.published else None,
            text=match.page.text[:most] if wanted else None,
        )
        for match in matches[:number]
    ]
    return JSONResponse({"requestId": _EXA_ID, "results": results, "costDollars": {"total": 0.007}})


EXA = Vendor("exa", [Route("/search", _exa, methods=["POST"])], _exa_refusal)

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


async def _firecrawl(request: Request) -> JSONResponse:
    body = await posted(request, "firecrawl", _firecrawl_refusal)
    query, limit, letter = body.get("query"), body.get("limit", 10), body.get("tbs", "").removeprefix("qdr:")
    include, exclude = body.get("includeDomains"), body.get("excludeDomains")
    sources = [source.get("type") for source in body.get("sources", [{"type": "web"}])]
    if (
        not isinstance(query, str)
        or not 1 <= len(query.strip()) <= 500
        or limit not in range(1, 101)
        or (include and exclude)
        or not {"web", "news"}.issuperset(sources)
        or letter not in ("", *DAYS)
    ):
        raise _firecrawl_refusal(400)
    read = "markdown" in (body.get("scrapeOptions") or {}).get("formats", [])
    within = within_domains(request, include, exclude)
    data = {}
    for source in sources:
        news = source == "news"
        matches = found(request, query, days=DAYS.get(letter), within=within, region=body.get("country"), news=news)
        data[source] = [
            present(
                title=match.page.title,
                url=match.url,
                position=place,
                date=long_date(match) if news else None,
                markdown=match.page.text if read else None,
            )
            | {"snippet" if news else "description": match.snippet}
            for place, match in enumerate(matches[:limit], start=1)
        ]
    credits_used = 2 + (sum(map(len, data.values())) if read else 0)
    return JSONResponse({"success": True, "data": data, "creditsUsed": credits_used})


FIRECRAWL = Vendor("firecrawl", [Route("/v2/search", _firecrawl, methods=["POST"])], _firecrawl_refusal)

_linkup_refusal = worded(
    lambda status, code: {"statusCode": status, "error": {"code": code, "message": "Sandbox refusal.", "details": []}},
    {400: "VALIDATION_ERROR", 401: "UNAUTHORIZED", 403: "FORBIDDEN", 429: "TOO_MANY_REQUESTS"},
)


async def _linkup(request: Request) -> JSONResponse:
    body = await posted(request, "linkup", _linkup_refusal)
    query, depths = body.get("q"), ("flash", "fast", "standard", "deep")
    is_valid = body.get("depth") in depths and body.get("outputType") == "searchResults"
    if not is_valid or not isinstance(query, str) or not query.strip():
        raise _linkup_refusal(400)
    within = within_domains(request, body.get("includeDomains"), body.get("excludeDomains"))
    since, until = (day_of(body.get(name), _linkup_refusal(400)) for name in ("fromDate", "toDate"))
    if not (matches := found(request, query, within=within, since=since, until=until)):
        raise _linkup_refusal(400, "SEARCH_QUERY_NO_RESULT")
    rows = matches[: body.get("maxResults", 10)]
    texts = [{"type": "text", "name": one.page.title, "url": one.url, "content": one.page.text} for one in rows]
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
    query, number, page = asked.get("q", ""), whole(asked.get("num"), 10), whole(asked.get("page"), 1)
    if not query.strip() or number not in range(21) or page < 1:
        raise _jina_refusal(400)
    matches = found(request, query, region=asked.get("gl"), news=asked.get("type") == "news")
    if not matches:
        raise _jina_refusal(422, "No search results available.")
    read = request.headers.get("x-respond-with") != "no-content"
    data = [
        present(
            title=match.page.title,
            url=match.url,
            description=match.snippet,
            date=long_date(match),
            content=match.page.text if read else None,
        )
        for match in matches[(page - 1) * number : page * number]
    ]
    return JSONResponse({"code": 200, "status": 20000, "data": data, "meta": {"usage": {"tokens": 10_000}}})


JINA = Vendor("jina", [Route("/", _jina, methods=["GET", "POST"])], _jina_refusal)
