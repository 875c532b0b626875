"""The toolset `chatgpt`: `search` and `fetch` as ChatGPT's connectors and OpenAI's deep research ask for them
(https://platform.openai.com/docs/mcp). Each takes one text and answers with one JSON text. Web text in the JSON stands
between marks.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import StrictStr

from websearch_gateway.base import host
from websearch_gateway.entrypoints.reply.fitting import MARKS, OWN_WARNING, fit_content
from websearch_gateway.entrypoints.reply.marks import fresh_nonce, marked, untrusted
from websearch_gateway.entrypoints.reply.sizes import (
    BYTES_PER_TOKEN,
    LONGEST_TITLE,
    shortened,
)
from websearch_gateway.entrypoints.tools.base import Arguments, Tool, declared, reply_tokens
from websearch_gateway.models import (
    LONGEST_QUERY,
    Caller,
    ContentRequest,
    Progress,
    WebSearchRequest,
)
from websearch_gateway.results import ConnectorHit, ConnectorHits, ConnectorPage, WireModel, size_of

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway

MOST_HITS = 10

LONGEST_WINDOW = 100_000
"""Characters of a page to ask for; the reply has room for fewer."""

_CONTINUED = re.compile(r"(.+)#offset=(\d{1,9})")
"""The id of a later part of a page: its address and where the part begins."""


class FindArguments(Arguments):
    query: Annotated[StrictStr, declared("What to find.", minLength=1, maxLength=LONGEST_QUERY)]


class FetchArguments(Arguments):
    id: Annotated[StrictStr, declared("An id of search, or a URL.", minLength=1)]


async def _find(
    gateway: Gateway, asked: FindArguments, caller: Caller, progress: Progress
) -> ConnectorHits:
    request = WebSearchRequest(asked.query, max_results=MOST_HITS, read_pages=False)
    found = await gateway.web_search(request, caller, progress)
    hits = [
        ConnectorHit(id=result.link, title=_title(result.title, result.link), url=result.link)
        for result in found.results
    ]
    room = reply_tokens(gateway, caller) * BYTES_PER_TOKEN
    while hits and size_of(ConnectorHits(results=tuple(hits))) > room:
        hits.pop()
    return ConnectorHits(results=tuple(hits))


async def _fetch(
    gateway: Gateway, asked: FetchArguments, caller: Caller, progress: Progress
) -> ConnectorPage:
    """A page, or as much of it as fits: `metadata.nextId` is the id of the rest."""
    continued = _CONTINUED.fullmatch(asked.id)
    url = continued[1] if continued else asked.id
    offset = int(continued[2]) if continued else 0
    await progress(f"Reading {host(url)}")
    content = await gateway.reading.content(ContentRequest(url, offset, LONGEST_WINDOW), caller)
    # The address stands in the reply three times, and the title has marks too.
    around = (3 * size_of(content.url) + MARKS + OWN_WARNING) // BYTES_PER_TOKEN
    content = fit_content(content, reply_tokens(gateway, caller) - around)
    metadata: dict[str, Any] = {"totalChars": content.total_chars}
    if content.next_offset is not None:
        metadata["nextId"] = f"{content.url}#offset={content.next_offset}"
    if content.warnings:
        metadata["warnings"] = list(content.warnings)
    return ConnectorPage(
        id=asked.id,
        title=_title(content.title, content.url),
        url=content.url,
        metadata=metadata,
        text=marked(content, "page_content", fresh_nonce()).page_content,
    )


def _title(title: str, url: str) -> str:
    return untrusted(shortened(title, LONGEST_TITLE)) or host(url)


def json_text(result: WireModel) -> str:
    """A result as the one JSON text that these tools give."""
    data = result.model_dump(mode="json", by_alias=True, exclude={"error"})
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


_chatgpt = partial(Tool, toolset="chatgpt", text=json_text, has_data=False)

CHATGPT: tuple[Tool, ...] = (
    _chatgpt(
        name="search",
        title="Search the web",
        description="Search the web: ids, titles and URLs of the best pages. fetch reads one by its id.",
        arguments=FindArguments,
        result=ConnectorHits,
        run=_find,
        scope="search",
    ),
    _chatgpt(
        name="fetch",
        title="Read a page",
        description="Read the page with an id that search gave; `metadata.nextId` is the id of the rest of a long one.",
        arguments=FetchArguments,
        result=ConnectorPage,
        run=_fetch,
        scope="read",
    ),
)
