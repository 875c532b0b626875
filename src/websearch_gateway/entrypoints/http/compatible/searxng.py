"""SearXNG's `/search`, `/config`, `/healthz` and `/autocompleter`. https://docs.searxng.org/dev/search_api.html"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qs, urlsplit

from starlette.responses import PlainTextResponse
from starlette.types import Scope

from websearch_gateway import __version__
from websearch_gateway.entrypoints.http.compatible.base import Compatible, Given, Lenient
from websearch_gateway.entrypoints.reply import fit_web
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import LAST_PAGE, Caller, SafeSearch, WebSearchRequest
from websearch_gateway.results import ErrorInfo, WebResult
from websearch_gateway.text.query import LANGUAGES, LONGEST_QUERY, country_code

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


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

    q: str = ""
    format: str = "json"
    categories: str = "general"
    language: str = "all"
    pageno: int = 1
    time_range: Literal["day", "week", "month", "year"] | None = None
    safesearch: str | int | None = None


def searxng_error(error: ErrorInfo, _: int) -> Any:
    """`{"error": message}`."""
    return {"error": error.message}


async def search(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """Results of the web, or of news; empty for pages and categories that the gateway lacks."""
    wanted = SearxngSearch.of(given)
    if not wanted.q.strip():
        raise SearchValidationError("No query")
    if wanted.format != "json":
        raise SearchValidationError("Only format=json is served.")
    if wanted.pageno < 1:
        raise SearchValidationError("`pageno` must be 1 or more.")
    asked = [name.strip().lower() for name in wanted.categories.split(",") if name.strip()] or ["general"]
    category = next((name for name in CATEGORIES if name in asked), None)
    if category is None or wanted.pageno > LAST_PAGE:
        return _reply(wanted.q, [])
    language, region = _locale(wanted.language)
    request = WebSearchRequest(
        wanted.q,
        PER_PAGE,
        freshness=wanted.time_range,
        language=language,
        region=region,
        page=wanted.pageno,
        safe_search=_safe_search(wanted.safesearch),
        read_pages=False,
        topic="news" if category == "news" else "general",
    )
    found = await gateway.web_search(request, caller)
    found = fit_web(found, gateway.max_reply_tokens // 2)  # every link is listed twice
    first = (wanted.pageno - 1) * PER_PAGE + 1
    return _reply(wanted.q, [_result(one, place, category) for place, one in enumerate(found.results, start=first)])


def _reply(query: str, results: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "query": query,
        "number_of_results": len(results),  # removed from SearXNG; older clients require it
        "results": results,
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    }


def _result(found: WebResult, place: int, category: str) -> dict[str, Any]:
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


def _safe_search(given: str | int | None) -> SafeSearch | None:
    if given is None:
        return None
    if (level := SAFE_SEARCH.get(str(given).strip().lower())) is None:
        raise SearchValidationError("`safesearch` must be 0, 1 or 2.", details={"field": "safesearch"})
    return level


def _locale(tag: str) -> tuple[str | None, str | None]:
    """Language and region of a tag such as `de-AT`; neither for `all`, `auto` and unknown tags."""
    language, _, region = tag.strip().replace("_", "-").partition("-")
    code = language.lower()
    return (code if code in LANGUAGES else None), (country_code(region) if len(region) == 2 else None)


def _is_search(scope: Scope) -> bool:
    """`/` is the status page, so a search there needs `format=json` and a query."""
    if scope["path"] != "/":
        return True
    given = parse_qs(scope["query_string"].decode("latin-1"))
    return given.get("format") == ["json"] and "q" in given


SEARXNG = Compatible(
    name="searxng search",
    paths=("/search", "/", "/searxng", "/searxng/", "/searxng/search"),
    methods=("GET", "POST"),
    scope="search",
    error_shape=searxng_error,
    answer=search,
    serves=_is_search,
    basic=True,
)


async def config(gateway: Gateway, _: Given, __: Caller) -> Any:
    """The configured raw providers as engines."""
    names = list(gateway.web.selection.searchers)
    return {
        "instance_name": "websearch-gateway",
        "version": __version__,
        "categories": list(CATEGORIES),
        "engines": [_engine(name, list(CATEGORIES)) for name in names],
        "plugins": [],
        "locales": {"en": "English"},
        "safe_search": 1,
        "default_locale": "",
        "autocomplete": "",
    }


def _engine(name: str, categories: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "categories": categories,
        "shortcut": name[:3],
        "enabled": True,
        "paging": True,
        "languages": [],
        "language_support": True,
        "regions": [],
        "safesearch": True,
        "time_range_support": True,
        "timeout": 10.0,
    }


async def health(_: Gateway, __: Given, ___: Caller) -> Any:
    """The reply of SearXNG."""
    return PlainTextResponse("OK")


async def suggestions(_: Gateway, given: Given, __: Caller) -> Any:
    """No suggestions, in the form of OpenSearch."""
    return [str(given.get("q", ""))[:LONGEST_QUERY], []]


def _row(name: str, paths: tuple[str, ...], answer: Any) -> Compatible:
    return Compatible(
        name=f"searxng {name}",
        paths=paths,
        methods=("GET",),
        scope="search",
        error_shape=searxng_error,
        answer=answer,
        basic=True,
    )


SEARXNG_CONFIG = (
    _row("config", ("/config", "/searxng/config"), config),
    _row("healthz", ("/searxng/healthz",), health),
    _row("autocompleter", ("/autocompleter", "/searxng/autocompleter"), suggestions),
)
