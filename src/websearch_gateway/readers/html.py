"""Any page of the web: fetched, judged by its content, extracted in a worker."""

from __future__ import annotations

import re
from functools import partial

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Deadline, Page
from websearch_gateway.net.fetch import Fetched, Fetcher
from websearch_gateway.readers.extract import Extracted
from websearch_gateway.readers.kinds import ACCEPT, CONVERTERS, kind_of, most_bytes
from websearch_gateway.readers.workers import Workers

NOT_MODIFIED = 304
_SENDABLE = re.compile(r"[ -~]{1,300}")


class HtmlReader:
    """Reads HTML and every other kind of document that `kinds` knows."""

    name = "html"

    def __init__(self, fetcher: Fetcher, workers: Workers) -> None:
        self._fetcher = fetcher
        self._workers = workers

    def accepts(self, url: str) -> bool:
        """Whether this reader is for `url`: it tries every one."""
        return True

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        """Fetch and read a page; `known` itself when its site says that it has not changed.

        Raises:
            ForbiddenUrlError: the address guard said no.
            SearchFetchError: not there, too large, of no readable kind, or without any text.
            SearchTimeoutError: out of time.
        """
        await self._workers.warm()
        fetched = await self._fetch(url, deadline, known)
        if known and fetched.status == NOT_MODIFIED:
            return known
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
            etag=fetched.headers.get("etag"),
            last_modified=fetched.headers.get("last-modified"),
        )

    async def _fetch(self, url: str, deadline: Deadline, known: Page | None) -> Fetched:
        fetch = partial(self._fetcher.fetch, url, deadline, accept=ACCEPT, max_bytes=most_bytes(url))
        if known is None or not (conditions := _conditions(known)):
            return await fetch()
        fetched = await fetch(headers=conditions)
        # Two pages may carry one tag: the redirect must still end where it did.
        return await fetch() if fetched.status == NOT_MODIFIED and fetched.final_url != known.final_url else fetched


def _conditions(known: Page) -> dict[str, str]:
    """The header that asks for a page only if it is no longer `known` (RFC 9110, section 13.1)."""
    for header, value in (("if-none-match", known.etag), ("if-modified-since", known.last_modified)):
        if value and _SENDABLE.fullmatch(value):
            return {header: value}
    return {}
