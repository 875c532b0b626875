"""Any page of the web: fetched, judged by its content, extracted in a worker."""

from __future__ import annotations

import re
from typing import Literal

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Deadline, Page
from websearch_gateway.net.charset import decode
from websearch_gateway.net.fetch import Fetched, Fetcher
from websearch_gateway.readers.extract import Extracted, extract
from websearch_gateway.readers.workers import Workers

HTML_TYPES = ("text/html", "application/xhtml+xml")
SNIFFED_BYTES = 1024
_TEXT_TYPES = re.compile(r"text/.+|application/(.+\+)?(json|xml|yaml)")
_MARKUP = re.compile(
    rb"(?:\s|\xef\xbb\xbf|<\?xml[^>]*>|<!--(?:(?!-->).)*-->)*<(?:!doctype html|html|head|body|title|meta|div|h1|p)\b",
    re.IGNORECASE | re.DOTALL,
)
# What people link to and servers mislabel (https://mimesniff.spec.whatwg.org/#sniffing-a-mislabeled-binary-resource).
_SIGNATURES = {
    b"%PDF-": "application/pdf",
    b"PK\x03\x04": "application/zip",
    b"\x1f\x8b": "application/gzip",
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}


class HtmlReader:
    """Reads HTML, and passes plain text as it is."""

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
            SearchFetchError: not there, too large, not text, or without any text.
            SearchTimeoutError: out of time.
        """
        await self._workers.warm()
        fetched = await self._fetcher.fetch(url, deadline)
        if kind_of(fetched) == "html":
            page = await self._extracted(fetched, deadline)
        else:
            text = await self._workers.run(decode, fetched.body, fetched.charset, deadline=deadline)
            page = Extracted("", text.strip(), None)
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

    async def _extracted(self, fetched: Fetched, deadline: Deadline) -> Extracted:
        arguments = (fetched.body, fetched.final_url, fetched.charset)
        return Extracted(**await self._workers.run(extract, *arguments, deadline=deadline))


def kind_of(fetched: Fetched) -> Literal["html", "text"]:
    """Judge a body by its declared type and its first bytes.

    Raises:
        SearchFetchError: neither HTML nor text; the message and `details["content_type"]` name the type.
    """
    declared, head = fetched.content_type, fetched.body[:SNIFFED_BYTES]
    for signature, actual in _SIGNATURES.items():
        if head.startswith(signature):
            raise _unreadable(actual)
    if b"\0" in head and not fetched.charset.startswith("utf-16"):
        raise _unreadable(declared or "application/octet-stream")
    if declared in HTML_TYPES:
        return "html" if b"<" in fetched.body else "text"
    if _TEXT_TYPES.fullmatch(declared):
        return "text"
    if _MARKUP.match(head):
        return "html"
    if declared in ("", "application/octet-stream"):
        return "text"
    raise _unreadable(declared)


def _unreadable(content_type: str) -> SearchFetchError:
    return SearchFetchError(
        f"The page is of type {content_type}, which cannot be read as text.", details={"content_type": content_type}
    )
