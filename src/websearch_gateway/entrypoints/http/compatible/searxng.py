"""SearXNG (https://docs.searxng.org/dev/search_api.html)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qs, urlsplit

from starlette.responses import PlainTextResponse
from starlette.types import Scope

from websearch_gateway.base import country_code, language_code
from websearch_gateway.entrypoints.http.compatible.endpoint import (
    Asked,
    Compatible,
    Given,
    Lenient,
    message_alone,
)
from websearch_gateway.entrypoints.reply.fitting import fit_web
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import (
    LAST_PAGE,
    LONGEST_QUERY,
    Caller,
    SafeSearch,
    WebSearchRequest,
)
from websearch_gateway.pipeline.argument_values import invalid
from websearch_gateway.results import WebResult

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway

PER_PAGE = 10
"""As on a page of most search engines."""
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
    fields = SearxngSearch.of(given)
    safe = SAFE_SEARCH.get(str(fields.safesearch).strip().lower())
    for is_wrong, message in (
        (not fields.q.strip(), "No query"),
        (fields.format.strip().lower() != "json", "Only format=json is served."),
        (fields.pageno < 1, "`pageno` must be 1 or more."),
        (fields.safesearch is not None and safe is None, "`safesearch` must be 0, 1 or 2."),
    ):
        if is_wrong:
            raise SearchValidationError(message)
    names = [name.strip().lower() for name in fields.categories.split(",") if name.strip()]
    category = next((name for name in CATEGORIES if name in (names or ["general"])), None)
    results: list[dict[str, Any]] = []
    if category is not None and fields.pageno <= LAST_PAGE:
        language, region = _locale(fields.language)
        request = WebSearchRequest(
            fields.q,
            PER_PAGE,
            freshness=fields.time_range,
            language=language,
            region=region,
            page=fields.pageno,
            safe_search=safe,
            read_pages=False,
            topic="news" if category == "news" else "general",
        )
        # Every link is listed twice.
        response = await gateway.web_search(request, caller)
        fitted = fit_web(response, gateway.max_reply_tokens // 2)
        first = (fields.pageno - 1) * PER_PAGE + 1
        results = [
            _result(result, place, category)
            for place, result in enumerate(fitted.results, start=first)
        ]
    others = dict.fromkeys(
        ("answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"), ()
    )
    # SearXNG has removed the number, and older clients require it.
    return {"query": fields.q, "number_of_results": len(results), "results": results, **others}


def _result(result: WebResult, place: int, category: str) -> dict[str, Any]:
    parts = urlsplit(result.link)
    return {
        "url": result.link,
        "title": result.title,
        "content": result.snippet,
        "engine": result.provider,
        "engines": [result.provider],
        "category": category,
        "score": result.relevance_score,
        "positions": [place],
        "parsed_url": [parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment],
        "publishedDate": result.published_date,
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


def _searxng(paths: tuple[str, ...], answer: Any, *methods: str, **more: Any) -> Compatible:
    return Compatible(
        paths, methods or ("GET",), "search", message_alone, answer, basic=True, **more
    )


SEARXNG_APIS = (
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
)
