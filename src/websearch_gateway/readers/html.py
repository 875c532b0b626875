"""Any page of the web: fetched, judged by its content, extracted in a worker."""

from __future__ import annotations

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Deadline, Page
from websearch_gateway.net.fetch import Fetcher
from websearch_gateway.readers.extract import Extracted
from websearch_gateway.readers.kinds import ACCEPT, CONVERTERS, kind_of, most_bytes
from websearch_gateway.readers.workers import Workers


class HtmlReader:
    """Reads HTML and every other kind of document that `kinds` knows."""

    name = "html"

    def __init__(self, fetcher: Fetcher, workers: Workers) -> None:
        self._fetcher = fetcher
        self._workers = workers

    def accepts(self, url: str) -> bool:
        """Whether this reader is for `url`: it tries every one."""
        return True

    async def read(self, url: str, deadline: Deadline) -> Page:
        """Fetch and read a page.

        Raises:
            ForbiddenUrlError: the address guard said no.
            SearchFetchError: not there, too large, of no readable kind, or without any text.
            SearchTimeoutError: out of time.
        """
        await self._workers.warm()
        fetched = await self._fetcher.fetch(url, deadline, accept=ACCEPT, max_bytes=most_bytes(url))
        convert = CONVERTERS[kind_of(fetched)]
        arguments = (fetched.body, fetched.final_url, fetched.charset)
        page = Extracted(**await self._workers.run(convert, *arguments, deadline=deadline))
        if not page.markdown:
            raise SearchFetchError("The page has no readable text.")
        return Page(
            url=url,
            final_url=fetched.final_url,
            title=page.title,
            markdown=page.markdown,
            content_type=fetched.content_type or "text/html",
            published=page.published,
        )
