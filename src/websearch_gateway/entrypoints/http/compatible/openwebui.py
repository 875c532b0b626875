"""Open WebUI's `external` engine and web loader (https://docs.openwebui.com/features/web-search/external)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from websearch_gateway.entrypoints.http.compatible.endpoint import (
    MOST_RESULTS,
    Addresses,
    Asked,
    Compatible,
    Given,
    Lenient,
    message_alone,
    read_urls,
)
from websearch_gateway.entrypoints.reply.fitting import fit_web
from websearch_gateway.models import (
    Caller,
    WebSearchRequest,
)

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway


class ExternalSearch(Lenient):
    """The body of a search by Open WebUI."""

    query: Asked = ""
    count: int = 5


class ExternalLoad(Lenient):
    """The body of a load by Open WebUI."""

    urls: Addresses = ()


async def openwebui_search(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """A bare list of `{link, title, snippet}`."""
    fields = ExternalSearch.of(given)
    request = WebSearchRequest(
        fields.query, max(1, min(fields.count, MOST_RESULTS)), read_pages=False
    )
    response = fit_web(await gateway.web_search(request, caller), gateway.max_reply_tokens)
    return [
        {"link": result.link, "title": result.title, "snippet": result.snippet or result.title}
        for result in response.results
    ]


async def openwebui_load(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """A bare list of the pages that can be read. `source` is the given URL: the app matches results by it."""
    fields = ExternalLoad.of(given)
    pages = (await read_urls(gateway, fields.urls, caller)).items()
    return [
        {"page_content": page.page_content, "metadata": {"source": url, "title": page.title}}
        for url, page in pages
        if page.error is None
    ]


OPENWEBUI_APIS = (
    Compatible(("/openwebui/search",), ("POST",), "search", message_alone, openwebui_search),
    Compatible(("/openwebui/load",), ("POST",), "read", message_alone, openwebui_load),
)
