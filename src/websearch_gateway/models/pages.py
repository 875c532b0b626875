"""Pages that were read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from websearch_gateway.models.search import SearchResults


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was read. `markdown` is untrusted text; `final_url` is the URL after redirects.

    `etag` and `last_modified` are the site's header values, for conditional requests. `fetched_at` (seconds since the
    epoch) is when the site last sent or confirmed the content; 0 if unknown. `cache` says where the page came from:
    the site (`miss`), the cache (`exact`), or the cache although expired, because the site failed (`stale`).
    """

    url: str
    final_url: str
    title: str
    markdown: str
    content_type: str = "text/html"
    published: str | None = None
    truncated: bool = False
    warnings: tuple[str, ...] = ()
    etag: str | None = None
    last_modified: str | None = None
    fetched_at: float = 0.0
    cache: Literal["miss", "exact", "stale"] = field(default="miss", compare=False)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a page with its headings. `score` is in 0..1, higher is better. `page` counts the pages of a PDF."""

    text: str
    section_path: tuple[str, ...] = ()
    score: float = 0.0
    id: str = ""
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Gathered:
    """The material from raw search for a question. `pages` are those that could be read, by the URLs of their hits."""

    results: SearchResults
    pages: Mapping[str, Page]
    cost_usd: float = 0.0
