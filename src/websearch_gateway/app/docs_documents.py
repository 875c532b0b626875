"""How the documentation index reads a reply: in the readers' worker processes, with their converters and browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from websearch_gateway.docs_index.models import BrowserUse, ChunkDraft, Document, Symbol
from websearch_gateway.errors import Unavailable
from websearch_gateway.models import Deadline
from websearch_gateway.net.fetch import Fetched
from websearch_gateway.readers.extraction.document import (
    CrawledPage,
    crawled,
    crawled_html,
    crawled_text,
    followed_html,
)
from websearch_gateway.readers.formats.html import Renderer
from websearch_gateway.readers.formats.kinds import CONVERTERS, HEAVY, kind_of
from websearch_gateway.workers.pool import Workers

Read = Callable[[bytes, str, str], CrawledPage]
Draft = Callable[[CrawledPage], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """A `docs_index.models.ReadDocument`."""

    workers: Workers
    renderer: Renderer

    async def __call__(
        self,
        fetched: Fetched,
        browser: BrowserUse,
        deadline: Deadline,
        draft: Callable[[Any], Mapping[str, Any]],
        *,
        only_links: bool = False,
    ) -> Document:
        """See `ReadDocument`."""
        kind = kind_of(fetched)
        if kind != "html":
            read = partial(crawled_text, CONVERTERS[kind])
            return await self._run(read, fetched, draft, deadline, heavy=kind in HEAVY)
        if only_links:
            return await self._run(followed_html, fetched, draft, deadline)
        if browser == "always":
            return await self._rendered(fetched, draft, deadline)
        document = await self._run(crawled_html, fetched, draft, deadline)
        if document.needs_scripts and browser == "auto":
            try:
                return replace(await self._rendered(fetched, draft, deadline), rendered=True)
            except Unavailable:
                return document
        return document

    async def _rendered(self, fetched: Fetched, draft: Draft, deadline: Deadline) -> Document:
        return await self._run(crawled_html, await self.renderer.render(fetched, deadline), draft, deadline)

    async def _run(
        self, read: Read, fetched: Fetched, draft: Draft, deadline: Deadline, *, heavy: bool = False
    ) -> Document:
        arguments = (fetched.body, fetched.final_url, fetched.charset)
        page = await self.workers.run(crawled, read, draft, *arguments, deadline=deadline, heavy=heavy)
        chunks = (
            ChunkDraft(start, stop, tuple(path), anchor, before, after, tuple(map(tuple, inner)))
            for start, stop, path, anchor, before, after, inner in page.pop("chunks")
        )
        symbols = (Symbol(*symbol) for symbol in page.pop("symbols"))
        del page["anchors"]
        return Document(**{**page, "chunks": tuple(chunks), "symbols": tuple(symbols), "links": tuple(page["links"])})
