"""The toolsets `answer`, `search` and `read`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import StrictInt, StrictStr, model_validator

from websearch_gateway.base import host, unreadable_note
from websearch_gateway.entrypoints.reply.fitting import (
    fit_answer,
    fit_claims,
    fit_content,
    fit_passages,
    fit_raw,
    fit_web,
)
from websearch_gateway.entrypoints.reply.marks import fresh_nonce, marked, marked_page
from websearch_gateway.entrypoints.reply.pages import MOST_OF_URL, read_each, windows
from websearch_gateway.entrypoints.reply.texts import (
    answer_text,
    claims_text,
    found_text,
    page_text,
    passages_text,
    raw_text,
)
from websearch_gateway.entrypoints.tools.base import (
    Arguments,
    Tool,
    arguments_of,
    declared,
    reply_tokens,
)
from websearch_gateway.errors import SearchValidationError, shown
from websearch_gateway.models import (
    MOST_CLAIMS,
    Caller,
    Claim,
    ContentRequest,
    PassagesRequest,
    Progress,
    RawSearchRequest,
    SearchRequest,
    Topic,
    WebSearchRequest,
)
from websearch_gateway.results import (
    CheckedClaims,
    ErrorInfo,
    PageContent,
    PagePassages,
    QueryPassages,
    RawSearchResponse,
    SearchResponse,
    WebSearchResponse,
)

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway


class ClaimArguments(arguments_of(Claim, "ClaimArguments")):  # type: ignore[misc]  # made of the fields of `Claim`
    @model_validator(mode="before")
    @classmethod
    def _take_text(cls, argument: Any) -> Any:
        return {"claim": argument} if isinstance(argument, str) else argument


class CheckClaimsArguments(Arguments):
    claims: Annotated[
        tuple[ClaimArguments, ...], declared("What to check.", minItems=1, maxItems=MOST_CLAIMS)
    ]

    def request(self) -> list[Claim]:
        return [claim.request() for claim in self.claims]


ANSWER: tuple[Tool, ...] = (
    Tool(
        name="search_web",
        toolset="answer",
        title="Search the web",
        description=(
            "Answer a question from the live web in a few cited sentences. One question per call. To "
            "read pages use web_search; prediction-market data and feeds have their own servers. "
            "Warnings say when the answer comes from elsewhere."
        ),
        arguments=arguments_of(SearchRequest, "SearchWebArguments"),
        result=SearchResponse,
        run=lambda gateway, request, caller, progress: gateway.search(request, caller, progress),
        fit=fit_answer,
        text=answer_text,
    ),
    Tool(
        name="check_claims",
        toolset="answer",
        title="Check claims against pages",
        description=(
            "Lay sentences beside pages: shows the page's nearest words and which number, date, unit or name differs. "
            "It does not judge the rest unless a model is set up (`judge`): read the quotes, `found` is not proof."
        ),
        arguments=CheckClaimsArguments,
        result=CheckedClaims,
        run=lambda gateway, claims, caller, progress: gateway.check_claims(
            claims, caller, progress
        ),
        fit=fit_claims,
        text=claims_text,
    ),
)


class WebSearchArguments(arguments_of(WebSearchRequest, "WebSearchArguments")):  # type: ignore[misc]  # as above
    topic: Annotated[Topic, declared("news: of the last week, unless `freshness` is given.")] = (
        "general"
    )

    def request(self) -> WebSearchRequest:
        request: WebSearchRequest = super().request()
        freshness = request.freshness
        if self.topic == "news" and freshness is None:
            freshness = "week"
        return replace(request, topic=self.topic, freshness=freshness)


async def _web_search(
    gateway: Gateway, request: WebSearchRequest, caller: Caller, progress: Progress
) -> WebSearchResponse:
    response = await gateway.web_search(request, caller, progress)
    fitted = fit_web(response, reply_tokens(gateway, caller))
    nonce = fresh_nonce()
    results = tuple(marked_page(result, nonce) for result in fitted.results)
    return fitted.model_copy(update={"results": results})


async def _search_news(
    gateway: Gateway, request: WebSearchRequest, caller: Caller, progress: Progress
) -> WebSearchResponse:
    return await _web_search(gateway, replace(request, topic="news"), caller, progress)


SEARCH: tuple[Tool, ...] = (
    Tool(
        name="web_search",
        toolset="search",
        title="Find and read pages",
        description=(
            "Find pages and get their text as Markdown, to compare or read for yourself. For one answer with proof use "
            "search_web. A note says why a page cannot be read."
        ),
        arguments=WebSearchArguments,
        result=WebSearchResponse,
        run=_web_search,
        text=found_text,
    ),
    Tool(
        name="search_news",
        toolset="news",
        scope="search",
        title="Find and read news",
        description="Like web_search, among news of the last week. Feeds and market data have their own servers.",
        arguments=arguments_of(WebSearchRequest, "SearchNewsArguments", freshness="week"),
        result=WebSearchResponse,
        run=_search_news,
        text=found_text,
    ),
    Tool(
        name="web_search_raw",
        toolset="search",
        title="Raw search results",
        description=(
            "Get links and snippets for many queries at once, without the pages. Programs get the JSON of Google "
            "Custom Search."
        ),
        arguments=arguments_of(RawSearchRequest, "WebSearchRawArguments"),
        result=RawSearchResponse,
        run=lambda gateway, request, caller, progress: gateway.raw_search(
            request, caller, progress
        ),
        fit=fit_raw,
        text=raw_text,
        aliases=("web.search",),
    ),
)


CONTENT_PROTECTED = "content protected"
"""The note of a page whose site answers 401 or 403."""

SCANNED = "scanned"
"""The note of a PDF without text, and the reason in its error."""

MOST_URLS = 10


class GetContentArguments(Arguments):
    url: Annotated[StrictStr | None, declared("An http(s) URL.")] = None
    urls: Annotated[
        tuple[StrictStr, ...],
        declared("Several URLs instead of `url`; gives `pages`.", maxItems=MOST_URLS),
    ] = ()
    offset: Annotated[
        StrictInt, declared("Where to begin: `nextOffset` of the previous window.", minimum=0)
    ] = 0
    max_chars: Annotated[
        StrictInt, declared("The most characters.", minimum=1, maximum=100_000)
    ] = 20_000


async def _get_content(
    gateway: Gateway, arguments: GetContentArguments, caller: Caller, progress: Progress
) -> PageContent:
    if (arguments.url is None) == (not arguments.urls):
        raise SearchValidationError("Give either `url` or `urls`.", details={"field": "url"})
    if arguments.url is None:
        return await _several(gateway, arguments, caller, progress)
    await progress(f"Reading {host(arguments.url)}")
    request = ContentRequest(arguments.url, arguments.offset, arguments.max_chars)
    content = await gateway.reading.content(request, caller)
    fitted = fit_content(content, reply_tokens(gateway, caller))
    return marked(fitted, "page_content", fresh_nonce())


async def _several(
    gateway: Gateway, arguments: GetContentArguments, caller: Caller, progress: Progress
) -> PageContent:
    """The beginnings of several pages, each with an equal share of the reply."""
    if arguments.offset:
        raise SearchValidationError(
            "`offset` works with one `url` only.", details={"field": "offset"}
        )
    pages = await read_each(gateway, arguments.urls, caller, arguments.max_chars, progress)
    whole = PageContent(pages=windows(pages), warnings=_warnings_of(pages))
    fitted = fit_content(whole, reply_tokens(gateway, caller))
    nonce = fresh_nonce()
    marked_pages = [
        page if page.error else marked(page, "page_content", nonce) for page in fitted.pages
    ]
    return fitted.model_copy(update={"pages": tuple(marked_pages)})


def _warnings_of(pages: Sequence[PageContent]) -> tuple[str, ...]:
    """The warnings of several pages; that of a single one stands with its address."""
    counts = Counter(warning for page in pages for warning in page.warnings)
    warnings: dict[str, None] = {}
    for page in pages:
        for warning in page.warnings:
            is_shared = counts[warning] > 1
            warnings[warning if is_shared else f"{page.url}: {warning}"] = None
    return tuple(warnings)


def _unread(arguments: GetContentArguments, error: ErrorInfo) -> dict[str, Any]:
    """The reason for a missing page, in its place."""
    url = arguments.url or ""
    note = unreadable_note(error.code, error.details, host(url), error.message)
    return {"url": shown(url, MOST_OF_URL), "page_content": note, **_noted(error)}


def _without_passages(request: PassagesRequest, error: ErrorInfo) -> dict[str, Any]:
    """The queries without passages, for a protected or scanned page."""
    note = _noted(error)
    if not note:
        return {}
    queries = tuple(QueryPassages(query=query) for query in request.queries)
    return {"url": shown(request.url, MOST_OF_URL), "queries": queries, **note}


def _noted(error: ErrorInfo) -> dict[str, str]:
    """The note of a page that is protected or scanned."""
    details = error.details or {}
    if error.code == "FETCH" and details.get("status") in (401, 403):
        return {"note": CONTENT_PROTECTED}
    return {"note": SCANNED} if details.get("reason") == SCANNED else {}


async def _read_from_page(
    gateway: Gateway, request: PassagesRequest, caller: Caller, _: Progress
) -> PagePassages:
    page = await gateway.reading.passages(request, caller)
    fitted = fit_passages(page, reply_tokens(gateway, caller))
    nonce = fresh_nonce()
    queries = []
    for query in fitted.queries:
        results = tuple(marked(passage, "text", nonce) for passage in query.results)
        nearest = query.nearest and marked(query.nearest, "text", nonce)
        queries.append(query.model_copy(update={"results": results, "nearest": nearest}))
    return fitted.model_copy(update={"queries": tuple(queries)})


READ: tuple[Tool, ...] = (
    Tool(
        name="get_content",
        toolset="read",
        title="Read a page",
        description=(
            "Get the text of pages whose URL you know (HTML, PDF, repository, thread ...) as Markdown, "
            "in windows. For a fact on a long page use read_from_page."
        ),
        arguments=GetContentArguments,
        result=PageContent,
        run=_get_content,
        text=page_text,
        on_error=_unread,
    ),
    Tool(
        name="read_from_page",
        toolset="read",
        title="Find passages on a page",
        description=(
            "Get the passages of a page that answer your questions, best first, each with its probability. A note says "
            "when none does."
        ),
        arguments=arguments_of(PassagesRequest, "ReadFromPageArguments"),
        result=PagePassages,
        run=_read_from_page,
        text=passages_text,
        aliases=("web.readFromPage",),
        on_error=_without_passages,
    ),
)
