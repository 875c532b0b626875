"""The toolset `search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import ConfigDict, StrictBool, StrictInt, StrictStr

from websearch_gateway.doors.tools.base import Arguments, Tool, declared
from websearch_gateway.doors.tools.marking import fresh_nonce, marked
from websearch_gateway.models import Caller, Freshness, RawSearchRequest, SafeSearch, Topic, WebSearchRequest
from websearch_gateway.ports import Progress
from websearch_gateway.wire.search import RawSearchResponse, WebSearchResponse

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


class WebSearchArguments(Arguments):
    model_config = ConfigDict(alias_generator=None)  # these names are snake_case on the wire too

    query: Annotated[StrictStr, declared("What to find.", minLength=3, maxLength=400)]
    num_results: Annotated[StrictInt, declared("Pages at most.", minimum=1, maximum=20)] = 3
    providers: Annotated[
        tuple[StrictStr, ...], declared("Ask only these, in this order, such as brave. Default: all configured.")
    ] = ()
    use_cache: Annotated[StrictBool, declared("false: search and read anew.")] = True
    freshness: Annotated[Freshness | None, declared("Only what is this new.")] = None


class SearchNewsArguments(WebSearchArguments):
    freshness: Annotated[Freshness | None, declared("Only what is this new.")] = "week"


class WebSearchRawArguments(Arguments):
    query: Annotated[
        StrictStr | tuple[StrictStr, ...], declared("One query, or up to 20.", minLength=3, maxLength=400, maxItems=20)
    ]
    results_per_query: Annotated[StrictInt, declared("Items at most.", minimum=1, maximum=50)] = 10
    region: Annotated[
        StrictStr | None, declared("ISO 3166-1 alpha-2 country, such as DE.", pattern="^[A-Za-z]{2}$")
    ] = None
    language: Annotated[StrictStr | None, declared("ISO 639-1, such as de.", pattern="^[A-Za-z]{2}$")] = None
    safe_search: Annotated[SafeSearch | None, declared("Default: the operator's.")] = None


async def _find(
    gateway: Gateway, arguments: WebSearchArguments, topic: Topic, caller: Caller, progress: Progress
) -> WebSearchResponse:
    response = await gateway.web_search(WebSearchRequest(**arguments.model_dump(), topic=topic), caller, progress)
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
    return await gateway.raw_search(RawSearchRequest(queries, **fields), caller, progress)


SEARCH: tuple[Tool, ...] = (
    Tool(
        name="web_search",
        toolset="search",
        title="Find and read pages",
        description=(
            "Find pages and get their text as Markdown, to read for yourself. `page_content` is always there: a page "
            "that cannot be read has a note that says why, a long one says how to read on."
        ),
        arguments=WebSearchArguments,
        result=WebSearchResponse,
        run=_web_search,
    ),
    Tool(
        name="search_news",
        toolset="search",
        title="Find and read news",
        description="As web_search, among news.",
        arguments=SearchNewsArguments,
        result=WebSearchResponse,
        run=_search_news,
    ),
    Tool(
        name="web_search_raw",
        toolset="search",
        title="Raw search results",
        description=(
            "Result lists without pages, for many queries at once, as JSON of Google Custom Search. `provider` says "
            "whose results they are; a query that failed has `result.error`."
        ),
        arguments=WebSearchRawArguments,
        result=RawSearchResponse,
        run=_web_search_raw,
        aliases=("web.search",),
    ),
)
