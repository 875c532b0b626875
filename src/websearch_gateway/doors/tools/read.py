"""The toolset `read`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import StrictBool, StrictInt, StrictStr

from websearch_gateway.doors.tools.base import Arguments, Tool, declared
from websearch_gateway.doors.tools.marking import fresh_nonce, marked
from websearch_gateway.models import Caller, ContentRequest, PassagesRequest
from websearch_gateway.ports import Progress
from websearch_gateway.text.notes import unreadable_note
from websearch_gateway.text.urls import host
from websearch_gateway.wire.base import ErrorInfo
from websearch_gateway.wire.read import PageContent, PagePassages

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


class GetContentArguments(Arguments):
    url: Annotated[StrictStr, declared("An http(s) URL.")]
    offset: Annotated[StrictInt, declared("Where to read on: `nextOffset` of the window before.", minimum=0)] = 0
    max_chars: Annotated[StrictInt, declared("Characters at most.", minimum=1, maximum=100_000)] = 20_000


class ReadFromPageArguments(Arguments):
    url: Annotated[StrictStr, declared("An http(s) URL.")]
    query: Annotated[
        StrictStr | tuple[StrictStr, ...], declared("What to look for: a question, or up to 20.", maxItems=20)
    ]
    force_refresh: Annotated[StrictBool, declared("true: ask the site anew.")] = False
    max_results: Annotated[StrictInt, declared("Passages per query at most.", minimum=1, maximum=50)] = 8
    include_metadata: Annotated[StrictBool, declared("true: facts about the page too.")] = False


async def _get_content(
    gateway: Gateway, arguments: GetContentArguments, caller: Caller, progress: Progress
) -> PageContent:
    content = await gateway.reading.content(ContentRequest(**arguments.model_dump()))
    return marked(content, "page_content", fresh_nonce())


def _unread(arguments: GetContentArguments, error: ErrorInfo) -> dict[str, Any]:
    """In the place of the page, why there is none."""
    note = unreadable_note(error.code, error.details, host(arguments.url), error.message)
    return {"url": arguments.url, "page_content": note}


async def _read_from_page(
    gateway: Gateway, arguments: ReadFromPageArguments, caller: Caller, progress: Progress
) -> PagePassages:
    queries = (arguments.query,) if isinstance(arguments.query, str) else arguments.query
    fields = arguments.model_dump(exclude={"query"})
    found = await gateway.reading.passages(PassagesRequest(queries=queries, **fields))
    nonce = fresh_nonce()
    shown = tuple(
        query.model_copy(update={"results": tuple(marked(passage, "text", nonce) for passage in query.results)})
        for query in found.queries
    )
    return found.model_copy(update={"queries": shown})


READ: tuple[Tool, ...] = (
    Tool(
        name="get_content",
        toolset="read",
        title="Read a page",
        description=(
            "The text of a page (HTML, PDF, feed, repository, thread ...) as Markdown, in windows. For a fact on a "
            "long page use read_from_page."
        ),
        arguments=GetContentArguments,
        result=PageContent,
        run=_get_content,
        despite=_unread,
    ),
    Tool(
        name="read_from_page",
        toolset="read",
        title="Find passages on a page",
        description=(
            "The passages of a page that answer your questions, best first; `score` says how surely, `note` when "
            "nothing does."
        ),
        arguments=ReadFromPageArguments,
        result=PagePassages,
        run=_read_from_page,
        aliases=("web.readFromPage",),
    ),
)
