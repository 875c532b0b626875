"""Open WebUI's `external` search engine and web loader. https://docs.openwebui.com/features/web-search/external"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator

from websearch_gateway.entrypoints.http.compatible.base import Compatible, Given, Lenient, as_list, clamped
from websearch_gateway.entrypoints.http.compatible.searxng import searxng_error
from websearch_gateway.entrypoints.reply import fit_web, read_fitting
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import Caller, WebSearchRequest

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway

MOST_RESULTS = 20
MOST_URLS = 20
PAGE_CHARS = 100_000


class ExternalSearch(Lenient):
    """The body of a search."""

    query: str = ""
    count: int = 5


class ExternalLoad(Lenient):
    """The body of a load."""

    urls: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()


async def search(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """A bare list of `{link, title, snippet}`."""
    wanted = ExternalSearch.of(given)
    request = WebSearchRequest(wanted.query, clamped(wanted.count, MOST_RESULTS), read_pages=False)
    found = fit_web(await gateway.web_search(request, caller), gateway.max_reply_tokens)
    return [{"link": one.link, "title": one.title, "snippet": one.snippet or one.title} for one in found.results]


async def load(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """A bare list of the pages that can be read. `source` is the given URL: the app matches results by it."""
    wanted = ExternalLoad.of(given)
    if not 1 <= len(wanted.urls) <= MOST_URLS:
        raise SearchValidationError(f"`urls` must be 1 to {MOST_URLS} URLs.", details={"field": "urls"})
    pages = await read_fitting(gateway, wanted.urls, caller, PAGE_CHARS)
    return [
        {"page_content": page.page_content, "metadata": {"source": url, "title": page.title}}
        for url, page in zip(wanted.urls, pages, strict=True)
        if page.error is None
    ]


OPENWEBUI = (
    Compatible(
        name="open webui search",
        paths=("/openwebui/search",),
        methods=("POST",),
        scope="search",
        error_shape=searxng_error,
        answer=search,
    ),
    Compatible(
        name="open webui loader",
        paths=("/openwebui/load",),
        methods=("POST",),
        scope="read",
        error_shape=searxng_error,
        answer=load,
    ),
)
