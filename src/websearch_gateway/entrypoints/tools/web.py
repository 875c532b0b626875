"""The toolsets `answer`, `search` and `read`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import StrictBool, StrictInt, StrictStr, model_validator

from websearch_gateway.entrypoints.reply import (
    MOST_OF_URL,
    answer_text,
    claims_text,
    fit_answer,
    fit_claims,
    fit_content,
    fit_passages,
    fit_raw,
    fit_web,
    found_text,
    fresh_nonce,
    marked,
    page_text,
    passages_text,
    raw_text,
    read_each,
    windows,
)
from websearch_gateway.entrypoints.tools.base import Arguments, Tool, declared, reply_tokens
from websearch_gateway.errors import SearchValidationError, shown
from websearch_gateway.models import (
    LAST_PAGE,
    LONGEST_CLAIM,
    MOST_CLAIM_URLS,
    MOST_CLAIMS,
    Caller,
    Claim,
    ContentRequest,
    Freshness,
    PassagesRequest,
    RawSearchRequest,
    SafeSearch,
    SearchRequest,
    Topic,
    WebSearchRequest,
)
from websearch_gateway.ports import Progress
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
from websearch_gateway.text.notes import unreadable_note
from websearch_gateway.text.urls import MOST_DOMAINS, host

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


class SearchWebArguments(Arguments):
    query: Annotated[StrictStr, declared("The question.", minLength=1, maxLength=400)]
    max_results: Annotated[StrictInt, declared("The most sources to cite.", minimum=1, maximum=8)] = 5
    freshness_hours: Annotated[StrictInt | None, declared("How old results may be.", minimum=1, maximum=168)] = None
    region: Annotated[StrictStr | None, declared("Country, such as DE.")] = None
    include_domains: Annotated[
        tuple[StrictStr, ...], declared("Search only these domains.", maxItems=MOST_DOMAINS)
    ] = ()
    exclude_domains: Annotated[tuple[StrictStr, ...], declared("Leave these out.", maxItems=MOST_DOMAINS)] = ()
    include_answers: Annotated[StrictBool, declared("false: sources without the written answer.")] = True
    verify_citations: Annotated[StrictBool | None, declared("true: read the cited pages and quote them.")] = None


async def _search_web(
    gateway: Gateway, arguments: SearchWebArguments, caller: Caller, progress: Progress
) -> SearchResponse:
    response = await gateway.search(SearchRequest(**arguments.model_dump()), caller, progress)
    return fit_answer(response, reply_tokens(gateway, caller))


class ClaimArguments(Arguments):
    claim: Annotated[StrictStr, declared("One sentence.", minLength=1, maxLength=LONGEST_CLAIM)]
    urls: Annotated[
        tuple[StrictStr, ...], declared("Default: pages that a search finds.", maxItems=MOST_CLAIM_URLS)
    ] = ()

    @model_validator(mode="before")
    @classmethod
    def _take_text(cls, given: Any) -> Any:
        return {"claim": given} if isinstance(given, str) else given


class CheckClaimsArguments(Arguments):
    claims: Annotated[tuple[ClaimArguments, ...], declared("What to check.", minItems=1, maxItems=MOST_CLAIMS)]


async def _check_claims(
    gateway: Gateway, arguments: CheckClaimsArguments, caller: Caller, progress: Progress
) -> CheckedClaims:
    claims = [Claim(one.claim, one.urls) for one in arguments.claims]
    return fit_claims(await gateway.check_claims(claims, caller, progress), reply_tokens(gateway, caller))


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
        arguments=SearchWebArguments,
        result=SearchResponse,
        run=_search_web,
        text=answer_text,
    ),
    Tool(
        name="check_claims",
        toolset="answer",
        title="Check claims against pages",
        description="Check sentences before you rely on them: whether pages say so, in which words, or deny it.",
        arguments=CheckClaimsArguments,
        result=CheckedClaims,
        run=_check_claims,
        text=claims_text,
    ),
)


class WebSearchArguments(Arguments):
    query: Annotated[StrictStr, declared("What to find.", minLength=1, maxLength=400)]
    num_results: Annotated[StrictInt, declared("The most pages.", name="maxResults", minimum=1, maximum=50)] = 3
    providers: Annotated[
        tuple[StrictStr, ...],
        declared("Ask only these, in this order, such as brave. Default: all configured.", maxItems=20),
    ] = ()
    use_cache: Annotated[StrictBool, declared("false: search and read again.")] = True
    freshness: Annotated[Freshness | None, declared("How old results may be.")] = None
    include_domains: Annotated[
        tuple[StrictStr, ...], declared("Search only these domains and their subdomains.", maxItems=MOST_DOMAINS)
    ] = ()
    exclude_domains: Annotated[tuple[StrictStr, ...], declared("Leave these out.", maxItems=MOST_DOMAINS)] = ()
    language: Annotated[StrictStr | None, declared("Such as de.")] = None
    region: Annotated[StrictStr | None, declared("Country, such as DE.")] = None
    page: Annotated[StrictInt, declared("Page of results.", minimum=1, maximum=LAST_PAGE)] = 1


class SearchNewsArguments(WebSearchArguments):
    freshness: Annotated[Freshness | None, declared("How old results may be.")] = "week"


class WebSearchRawArguments(Arguments):
    query: Annotated[
        StrictStr | tuple[StrictStr, ...], declared("One query, or up to 20.", minLength=1, maxLength=400, maxItems=20)
    ]
    results_per_query: Annotated[StrictInt, declared("The most items.", minimum=1, maximum=50)] = 10
    region: Annotated[StrictStr | None, declared("Country, such as DE.")] = None
    language: Annotated[StrictStr | None, declared("Such as de.")] = None
    safe_search: Annotated[SafeSearch | None, declared("Default: the operator's.")] = None
    use_cache: Annotated[StrictBool, declared("false: search again.")] = True


async def _find(
    gateway: Gateway, arguments: WebSearchArguments, topic: Topic, caller: Caller, progress: Progress
) -> WebSearchResponse:
    response = await gateway.web_search(WebSearchRequest(**arguments.model_dump(), topic=topic), caller, progress)
    response = fit_web(response, reply_tokens(gateway, caller))
    nonce = fresh_nonce()
    results = tuple(marked(result, "page_content", nonce) for result in response.results)
    return response.model_copy(update={"results": results})


async def _web_search(
    gateway: Gateway, arguments: WebSearchArguments, caller: Caller, progress: Progress
) -> WebSearchResponse:
    return await _find(gateway, arguments, "general", caller, progress)


async def _search_news(
    gateway: Gateway, arguments: SearchNewsArguments, caller: Caller, progress: Progress
) -> WebSearchResponse:
    return await _find(gateway, arguments, "news", caller, progress)


async def _web_search_raw(
    gateway: Gateway, arguments: WebSearchRawArguments, caller: Caller, progress: Progress
) -> RawSearchResponse:
    fields = arguments.model_dump(exclude={"query"})
    queries = (arguments.query,) if isinstance(arguments.query, str) else arguments.query
    response = await gateway.raw_search(RawSearchRequest(queries, **fields), caller, progress)
    return fit_raw(response, reply_tokens(gateway, caller))


SEARCH: tuple[Tool, ...] = (
    Tool(
        name="web_search",
        toolset="search",
        title="Find and read pages",
        description=(
            "Find pages and get their text as Markdown, to compare or read for yourself; for one answer with proof use "
            "search_web. A page that cannot be read has a note in `page_content` that says why."
        ),
        arguments=WebSearchArguments,
        result=WebSearchResponse,
        run=_web_search,
        text=found_text,
    ),
    Tool(
        name="search_news",
        toolset="search",
        title="Find and read news",
        description="Like web_search, among news of the last week. Feeds and market data have their own servers.",
        arguments=SearchNewsArguments,
        result=WebSearchResponse,
        run=_search_news,
        text=found_text,
    ),
    Tool(
        name="web_search_raw",
        toolset="search",
        title="Raw search results",
        description=(
            "Get links and snippets for many queries at once, as JSON of Google Custom Search, without "
            "the pages. A query that failed has `result.error`."
        ),
        arguments=WebSearchRawArguments,
        result=RawSearchResponse,
        run=_web_search_raw,
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
        tuple[StrictStr, ...], declared("Several URLs instead of `url`; gives `pages`.", maxItems=MOST_URLS)
    ] = ()
    offset: Annotated[StrictInt, declared("Where to begin: `nextOffset` of the previous window.", minimum=0)] = 0
    max_chars: Annotated[StrictInt, declared("The most characters.", minimum=1, maximum=100_000)] = 20_000


class ReadFromPageArguments(Arguments):
    url: Annotated[StrictStr, declared("An http(s) URL.")]
    query: Annotated[
        StrictStr | tuple[StrictStr, ...], declared("What to look for: a question, or up to 20.", maxItems=20)
    ]
    force_refresh: Annotated[StrictBool, declared("true: ask the site again.")] = False
    max_results: Annotated[StrictInt, declared("The most passages per query.", minimum=1, maximum=50)] = 8
    include_metadata: Annotated[StrictBool, declared("true: add facts about the page.")] = False


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
    return marked(fit_content(content, arguments.offset, reply_tokens(gateway, caller)), "page_content", fresh_nonce())


async def _several(gateway: Gateway, arguments: GetContentArguments, caller: Caller, progress: Progress) -> PageContent:
    """The beginnings of several pages, each with an equal share of the reply."""
    if arguments.offset:
        raise SearchValidationError("`offset` works with one `url` only.", details={"field": "offset"})
    pages = await read_each(gateway, arguments.urls, caller, arguments.max_chars, progress)
    share = reply_tokens(gateway, caller) // len(pages)
    fitted = windows(page if page.error else fit_content(page, 0, share) for page in pages)
    nonce = fresh_nonce()
    return PageContent(
        pages=tuple(page if page.error else marked(page, "page_content", nonce) for page in fitted),
        warnings=_warnings_of(pages),
    )


def _warnings_of(pages: Sequence[PageContent]) -> tuple[str, ...]:
    """The warnings of all pages: those of a single page with its address."""
    counted = Counter(warning for page in pages for warning in page.warnings)
    return tuple(
        dict.fromkeys(
            warning if counted[warning] > 1 else f"{page.url}: {warning}" for page in pages for warning in page.warnings
        )
    )


def _unread(arguments: GetContentArguments, error: ErrorInfo) -> dict[str, Any]:
    """The reason for a missing page, in its place."""
    url = arguments.url or ""
    note = unreadable_note(error.code, error.details, host(url), error.message)
    return {"url": shown(url, MOST_OF_URL), "page_content": note, **_noted(error)}


def _without_passages(arguments: ReadFromPageArguments, error: ErrorInfo) -> dict[str, Any]:
    """Of a protected or scanned page, the queries without passages."""
    if not (note := _noted(error)):
        return {}
    queries = (arguments.query,) if isinstance(arguments.query, str) else arguments.query
    return {
        "url": shown(arguments.url, MOST_OF_URL),
        "queries": tuple(QueryPassages(query=query) for query in queries),
        **note,
    }


def _noted(error: ErrorInfo) -> dict[str, str]:
    """The note of a page that is protected or scanned."""
    details = error.details or {}
    if error.code == "FETCH" and details.get("status") in (401, 403):
        return {"note": CONTENT_PROTECTED}
    return {"note": SCANNED} if details.get("reason") == SCANNED else {}


async def _read_from_page(
    gateway: Gateway, arguments: ReadFromPageArguments, caller: Caller, progress: Progress
) -> PagePassages:
    queries = (arguments.query,) if isinstance(arguments.query, str) else arguments.query
    fields = arguments.model_dump(exclude={"query"})
    found = await gateway.reading.passages(PassagesRequest(queries=queries, **fields), caller)
    found = fit_passages(found, reply_tokens(gateway, caller))
    nonce = fresh_nonce()
    shown = tuple(
        query.model_copy(
            update={
                "results": tuple(marked(passage, "text", nonce) for passage in query.results),
                "nearest": query.nearest and marked(query.nearest, "text", nonce),
            }
        )
        for query in found.queries
    )
    return found.model_copy(update={"queries": shown})


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
            "Get the passages of a page that answer your questions, best first; `score` is the "
            "probability, and `note` says when none does."
        ),
        arguments=ReadFromPageArguments,
        result=PagePassages,
        run=_read_from_page,
        text=passages_text,
        aliases=("web.readFromPage",),
        on_error=_without_passages,
    ),
)
