"""The results of `get_content` and `read_from_page`."""

from __future__ import annotations

from pydantic import Field

from websearch_gateway.wire.base import ErrorInfo, WireModel


class PageContent(WireModel):
    """The result of `get_content`: a window of a page's Markdown.

    `page_content` is never empty when `error` is set: it says why the page cannot be read. `next_offset` is where the
    next window begins, null after the last; the windows of a page put together are its text, of `total_chars`.
    """

    url: str = ""
    page_content: str = Field(default="", alias="page_content")
    title: str = ""
    next_offset: int | None = None
    total_chars: int = 0
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class PagePassage(WireModel):
    """A piece of a page. `score` is how likely it answers the query; `id` survives changes elsewhere on the page."""

    id: str = ""
    text: str = ""
    score: float = 0.0
    section_path: tuple[str, ...] = ()


class QueryPassages(WireModel):
    """A query and its passages, best first."""

    query: str = ""
    results: tuple[PagePassage, ...] = ()


class PageMetadata(WireModel):
    """What is known about a page. `published` is an ISO 8601 date; `content_hash` tells two states of it apart."""

    final_url: str = ""
    content_type: str = ""
    published: str | None = None
    content_hash: str = ""
    total_chars: int = 0
    passages: int = 0


class PagePassages(WireModel):
    """The result of `read_from_page`.

    `last_crawled` (ISO 8601) is when the site last said what is on the page. `note` says what a reader should know
    before trusting the passages; it is empty when there is nothing to say.
    """

    url: str = ""
    title: str = ""
    last_crawled: str = ""
    queries: tuple[QueryPassages, ...] = ()
    note: str = ""
    metadata: PageMetadata | None = None
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None
