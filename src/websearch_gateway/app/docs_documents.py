"""How the documentation index reads a reply: in the readers' worker processes, with their converters and browser."""

from __future__ import annotations

from dataclasses import dataclass, replace

from websearch_gateway.docs_index.models import BrowserUse, Document
from websearch_gateway.errors import Unavailable
from websearch_gateway.models import Deadline
from websearch_gateway.net.fetch import Fetched
from websearch_gateway.readers.extraction.document import crawled_html, crawled_text, followed_html
from websearch_gateway.readers.formats.html import Renderer
from websearch_gateway.readers.formats.kinds import CONVERTERS, kind_of
from websearch_gateway.workers.pool import Workers


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """A `docs_index.ports.ReadDocument`."""

    workers: Workers
    renderer: Renderer

    async def __call__(
        self, fetched: Fetched, browser: BrowserUse, deadline: Deadline, *, only_links: bool = False
    ) -> Document:
        """See `ReadDocument`."""
        kind = kind_of(fetched)
        if kind != "html":
            return await self._run(crawled_text, CONVERTERS[kind], fetched, deadline)
        if only_links:
            return await self._run(followed_html, None, fetched, deadline)
        if browser == "always":
            return await self._rendered(fetched, deadline)
        document = await self._run(crawled_html, None, fetched, deadline)
        if document.needs_scripts and browser == "auto":
            try:
                return replace(await self._rendered(fetched, deadline), rendered=True)
            except Unavailable:
                return document
        return document

    async def _rendered(self, fetched: Fetched, deadline: Deadline) -> Document:
        return await self._run(crawled_html, None, await self.renderer.render(fetched, deadline), deadline)

    async def _run(self, function: object, convert: object, fetched: Fetched, deadline: Deadline) -> Document:
        arguments = (fetched.body, fetched.final_url, fetched.charset)
        given = arguments if convert is None else (convert, *arguments)
        read = await self.workers.run(function, *given, deadline=deadline)  # type: ignore[arg-type]
        anchors = tuple((offset, anchor) for offset, anchor in read["anchors"])
        return Document(**{**read, "anchors": anchors, "links": tuple(read["links"])})
