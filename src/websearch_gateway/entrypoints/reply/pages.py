"""Several pages in one reply."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from websearch_gateway.base import host, unreadable_note
from websearch_gateway.entrypoints.lifecycle import describe
from websearch_gateway.entrypoints.reply.fitting import fit_content
from websearch_gateway.errors import SearchError, shown
from websearch_gateway.models import Caller, ContentRequest, Progress, no_progress
from websearch_gateway.results import PageContent, PageWindow

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway

AT_ONCE = 8
"""Of one call: it leaves the gate of the process to other calls."""
MOST_OF_URL = 200
"""Characters: enough to know it again."""


def windows(pages: Iterable[PageContent]) -> tuple[PageWindow, ...]:
    """Several pages in one result."""
    return tuple(
        PageWindow(**{name: getattr(page, name) for name in PageWindow.model_fields})
        for page in pages
    )


async def read_fitting(
    gateway: Gateway, urls: Sequence[str], caller: Caller, max_chars: int
) -> list[PageContent]:
    """As `read_each`, each page with an equal share of the reply."""
    pages = await read_each(gateway, urls, caller, max_chars)
    return [
        page if page.error else fit_content(page, gateway.max_reply_tokens // len(pages))
        for page in pages
    ]


async def read_each(
    gateway: Gateway,
    urls: Sequence[str],
    caller: Caller,
    max_chars: int,
    progress: Progress = no_progress,
) -> list[PageContent]:
    """The beginning of each page, in the order of `urls`. One that fails has its `error`, a note as its text, and the
    first MOST_OF_URL characters of its URL."""
    turn = asyncio.Semaphore(AT_ONCE)
    await progress(f"Reading {len(urls)} pages")

    async def read(url: str) -> PageContent:
        async with turn:
            try:
                return await gateway.reading.content(
                    ContentRequest(url, max_chars=max_chars), caller
                )
            except SearchError as error:
                info = describe(error)
                note = unreadable_note(info.code, info.details, host(url), info.message)
                return PageContent(url=shown(url, MOST_OF_URL), page_content=note, error=info)

    return list(await asyncio.gather(*map(read, urls)))
