"""The keyword arguments of the Python API's calls. The fields are those of the MCP tools."""

from __future__ import annotations

from typing import TypedDict

from websearch_gateway.models import Freshness, SafeSearch


class SearchOptions(TypedDict, total=False):
    """Of `search`: at most `max_results` sources (1-8), of the last `freshness_hours` (1-168), for a country.

    Sources are only from `include_domains`, if given, and never from `exclude_domains`.
    """

    max_results: int
    freshness_hours: int | None
    region: str | None
    include_answers: bool
    include_domains: tuple[str, ...]
    exclude_domains: tuple[str, ...]


class WebSearchOptions(TypedDict, total=False):
    """Of `web_search` and `news`: `num_results` pages (1-50) of `page` (from 1), from some domains and not others.

    Without `read_pages` the snippet replaces the page, and the reply is faster.
    """

    num_results: int
    providers: tuple[str, ...]
    use_cache: bool
    freshness: Freshness | None
    include_domains: tuple[str, ...]
    exclude_domains: tuple[str, ...]
    language: str | None
    region: str | None
    page: int
    safe_search: SafeSearch | None
    read_pages: bool


class RawSearchOptions(TypedDict, total=False):
    """Of `raw_search`: up to `results_per_query` items (1-50) for each query."""

    results_per_query: int
    region: str | None
    language: str | None
    safe_search: SafeSearch | None
    use_cache: bool


class ReadOptions(TypedDict, total=False):
    """Of `read`: the window that begins at `offset`, of at most `max_chars` (1-100,000) characters."""

    offset: int
    max_chars: int
    refresh: bool


class PassageOptions(TypedDict, total=False):
    """Of `passages`: at most `max_results` (1-50) for each query."""

    force_refresh: bool
    max_results: int
    include_metadata: bool


class DocsOptions(TypedDict, total=False):
    """Of `search_docs`: one site by `site_id`, or those whose name or URL matches `sites_filter`; a version by `label`.

    At most `limit` sections, of `max_tokens` in all.
    """

    site_id: str | None
    sites_filter: str | None
    label: str | None
    limit: int
    max_tokens: int
