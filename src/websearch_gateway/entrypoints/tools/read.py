"""The toolset `read`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import StrictBool, StrictInt, StrictStr

from websearch_gateway.entrypoints.reading import MOST_OF_URL, read_each, windows
from websearch_gateway.entrypoints.reply import fit_content, fit_passages
from websearch_gateway.entrypoints.tools.base import Arguments, Tool, declared, reply_tokens
from websearch_gateway.entrypoints.tools.rendering import fresh_nonce, marked, page_text, passages_text
from websearch_gateway.errors import SearchValidationError, shown
from websearch_gateway.models import Caller, ContentRequest, PassagesRequest
from websearch_gateway.ports import Progress
from websearch_gateway.results import ErrorInfo, PageContent, PagePassages, QueryPassages
from websearch_gateway.text.notes import unreadable_note
from websearch_gateway.text.urls import host

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


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
