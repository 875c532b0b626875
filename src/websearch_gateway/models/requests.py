"""The requests of callers before the guard has checked them, one for each tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Topic = Literal["general", "news"]
SafeSearch = Literal["off", "moderate", "strict"]
Freshness = Literal["day", "week", "month", "year"]

LONGEST_URL = 8_000
"""Characters of the longest address to look at. Longer ones never reach `urlsplit`, which remembers its last 128."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question before the guard has checked it. The fields are those of the `search_web` tool."""

    query: str
    max_results: int = 5
    freshness_hours: int | None = None
    region: str | None = None
    include_answers: bool = True
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WebSearchRequest:
    """A request for results with their pages. The fields are those of the `web_search` tool; news has its own tool.

    `providers` are the only ones to use, in that order; empty means all configured ones. `include_domains` keeps only
    results of these hosts and their subdomains, `exclude_domains` drops them. `page` counts from 1. Without
    `read_pages` the snippet replaces the page.
    """

    query: str
    num_results: int = 3
    providers: tuple[str, ...] = ()
    use_cache: bool = True
    freshness: Freshness | None = None
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    language: str | None = None
    region: str | None = None
    page: int = 1
    safe_search: SafeSearch | None = None
    read_pages: bool = True
    topic: Topic = "general"


@dataclass(frozen=True, slots=True)
class RawSearchRequest:
    """A request for Google's own JSON, for each of `queries`. The fields are those of the `web_search_raw` tool."""

    queries: tuple[str, ...]
    results_per_query: int = 10
    region: str | None = None
    language: str | None = None
    safe_search: SafeSearch | None = None
    use_cache: bool = True


@dataclass(frozen=True, slots=True)
class ContentRequest:
    """A request for a page's text, or a window of it. The fields are those of the `get_content` tool.

    `offset` and `max_chars` count characters (code points) of the page's Markdown; `refresh` skips the cache.
    """

    url: str
    offset: int = 0
    max_chars: int = 20_000
    refresh: bool = False


@dataclass(frozen=True, slots=True)
class PassagesRequest:
    """A request for the passages of a page that answer `queries`. The fields are those of the `read_from_page` tool."""

    url: str
    queries: tuple[str, ...]
    force_refresh: bool = False
    max_results: int = 8
    include_metadata: bool = False
