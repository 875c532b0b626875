"""The results of the toolset `docs`."""

from __future__ import annotations

from pydantic import ConfigDict

from websearch_gateway.results.base import ErrorInfo, WireModel


class _Snake(WireModel):
    """The base of these results: snake_case in JSON too."""

    model_config = ConfigDict(alias_generator=None)


class DocsOtherVersion(_Snake):
    """The same section in another version of the site."""

    site_version: str = ""
    url: str = ""
    section_id: str = ""


class DocsHit(_Snake):
    """A section that was found. `url` has its anchor; `heading_path` lists the headings above it, outermost first.

    `relevance_score` is in 0..1, below .5 without a word of the query; `fetched_at` is ISO 8601, UTC.
    """

    content: str = ""
    url: str = ""
    page_title: str = ""
    heading_path: tuple[str, ...] = ()
    site_name: str = ""
    site_version: str = ""
    relevance_score: float = 0.0
    section_id: str = ""
    also_in: tuple[DocsOtherVersion, ...] = ()
    fetched_at: str = ""


class DocsMore(WireModel):
    """A further section, without its text."""

    title: str = ""
    section_id: str = ""
    url: str = ""


class DocsSearchResponse(_Snake):
    """The result of `search_docs`, best first; `more` names the sections that follow. `notice` tells a model that the
    sections are data."""

    results: tuple[DocsHit, ...] = ()
    more: tuple[DocsMore, ...] = ()
    notice: str = ""
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class DocsOutlineEntry(_Snake):
    """One section of a page."""

    section_id: str = ""
    heading_path: tuple[str, ...] = ()
    url: str = ""
    tokens: int = 0


class DocsReadResponse(_Snake):
    """The result of `read_docs`: the sections as one text, or the outline.

    `truncated`: the text was cut at `maxTokens`. `next_section_id` is the next section to read, null at the end of the
    page.
    """

    content: str = ""
    url: str = ""
    page_title: str = ""
    site_name: str = ""
    site_version: str = ""
    section_id: str = ""
    next_section_id: str | None = None
    truncated: bool = False
    outline: tuple[DocsOutlineEntry, ...] = ()
    fetched_at: str = ""
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class DocsSite(_Snake):
    """One version of a site. `indexed_date` is ISO 8601, UTC; `age` says the same in words."""

    id: str = ""
    name: str = ""
    version: str = ""
    url: str = ""
    status: str = ""
    indexed_date: str | None = None
    page_count: int = 0
    age: str = ""


class DocsSites(_Snake):
    """The result of `list_sites`."""

    sites: tuple[DocsSite, ...] = ()
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class DocsFailure(_Snake):
    """An address that could not be indexed."""

    url: str = ""
    reason: str = ""
    attempts: int = 0


class DocsSiteStatus(DocsSite):
    """A version of a site, and the state of its crawl.

    `progress` is in 0..1. `known` counts the addresses found so far, `unembedded` the pages without vectors. `owner` is
    the process that crawls it, as `MACHINE:PID`, and `heartbeat_seconds` the time since its last sign of life.
    """

    reason: str = ""
    progress: float = 0.0
    known: int = 0
    failed: int = 0
    unembedded: int = 0
    generation: int = 0
    refresh_date: str | None = None
    owner: str | None = None
    heartbeat_seconds: float | None = None
    failures: tuple[DocsFailure, ...] = ()


class DocsStatus(_Snake):
    """The result of `docs_status` and of every change: the affected versions."""

    sites: tuple[DocsSiteStatus, ...] = ()
    message: str = ""
    error: ErrorInfo | None = None
