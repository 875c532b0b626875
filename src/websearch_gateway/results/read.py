"""The results of `get_content` and `read_from_page`."""

from __future__ import annotations

from pydantic import Field

from websearch_gateway.results.answer import CacheState
from websearch_gateway.results.base import ErrorInfo, WireModel


class PageWindow(WireModel):
    """One of several pages: the beginning of its Markdown, or a note and the `error` that says why there is none."""

    url: str = ""
    title: str = ""
    page_content: str = Field(default="", alias="page_content")
    next_offset: int | None = None
    total_chars: int = 0
    error: ErrorInfo | None = None


class PageContent(WireModel):
    """The result of `get_content`: a window of a page's Markdown, or `pages` if several URLs were given.

    If `error` is set, `page_content` says why the page cannot be read. `next_offset` is where the next window begins,
    null after the last; all windows together are the page's text of `total_chars` characters. `cache` is `miss` (read
    now), `exact` (read before) or `stale` (an old page, because its site failed), and `age_seconds` the time since the
    site sent or confirmed it. `note` is `content protected` if the site answers 401 or 403, `scanned` if no page of a
    PDF has text.
    """

    url: str = ""
    page_content: str = Field(default="", alias="page_content")
    title: str = ""
    next_offset: int | None = None
    total_chars: int = 0
    cache: CacheState = "miss"
    age_seconds: float = 0.0
    note: str = ""
    pages: tuple[PageWindow, ...] = ()
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class PagePassage(WireModel):
    """A piece of a page. `score`: how likely it answers the query. `id` survives changes elsewhere on the page.

    `page` is its page in a PDF, counted from 1.
    """

    id: str = ""
    text: str = ""
    score: float = 0.0
    section_path: tuple[str, ...] = ()
    page: int | None = None


class QueryPassages(WireModel):
    """A query and its passages, best first; without any, the beginning of the `nearest`, which hardly answers."""

    query: str = ""
    results: tuple[PagePassage, ...] = ()
    nearest: PagePassage | None = None


class PageMetadata(WireModel):
    """Facts about a page. `published` is an ISO 8601 date; `content_hash` changes with its content."""

    final_url: str = ""
    content_type: str = ""
    published: str | None = None
    content_hash: str = ""
    total_chars: int = 0
    passages: int = 0


class PagePassages(WireModel):
    """The result of `read_from_page`.

    `last_crawled` (ISO 8601) is when the site last sent or confirmed the page; `cache` and `age_seconds` are as in
    `get_content`. `note` says what limits the passages, such as a failed embedder, or `content protected` if the site
    answers 401 or 403, or `scanned` if no page of a PDF has text; otherwise it is empty.
    """

    url: str = ""
    title: str = ""
    last_crawled: str = ""
    cache: CacheState = "miss"
    age_seconds: float = 0.0
    queries: tuple[QueryPassages, ...] = ()
    note: str = ""
    metadata: PageMetadata | None = None
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None
