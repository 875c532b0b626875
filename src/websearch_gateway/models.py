"""The values that flow through the gateway. All are frozen; none does any work."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

SafeSearch = Literal["off", "moderate", "strict"]
Topic = Literal["general", "news"]
Freshness = Literal["day", "week", "month", "year"]


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment by which a whole call must be over, on a monotonic clock. Passed down, never extended."""

    at: float
    clock: Callable[[], float] = field(default=time.monotonic, compare=False, repr=False)

    @classmethod
    def after(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Deadline:
        """The deadline `seconds` from now."""
        return cls(clock() + seconds, clock)

    def remaining(self) -> float:
        """Seconds left; zero when it has passed."""
        return max(0.0, self.at - self.clock())

    def within(self, seconds: float) -> Deadline:
        """The earlier of this deadline and `seconds` from now."""
        return Deadline(min(self.at, self.clock() + seconds), self.clock)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is asking. `user` keys limits, cache scope and budget; `scopes` decides which tools are allowed."""

    user: str
    scopes: frozenset[str] = frozenset()


LOCAL = Caller("local", frozenset({"search", "read", "docs", "cache", "ops", "admin"}))
"""The person or process at this machine: the only caller where there is no authentication."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question as it came in, before the guard has seen it. The fields are those of the `search_web` tool."""

    query: str
    max_results: int = 5
    freshness_hours: int | None = None
    region: str | None = None
    include_answers: bool = True
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WebSearchRequest:
    """A wish for results with their pages. The fields are those of the `web_search` tool; news has its own tool.

    `providers` are the only ones to ask, in that order; none: all that are configured. `include_domains` keeps results
    of these hosts and their subdomains only, `exclude_domains` drops those. `page` counts from 1. Without `read_pages`
    the snippet stands for the page.
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
    """A wish for Google's own JSON, for each of `queries`. The fields are those of the `web_search_raw` tool."""

    queries: tuple[str, ...]
    results_per_query: int = 10
    region: str | None = None
    language: str | None = None
    safe_search: SafeSearch | None = None


@dataclass(frozen=True, slots=True)
class ContentRequest:
    """A wish for a page's text, or a window of it. The fields are those of the `get_content` tool.

    `offset` and `max_chars` count characters (code points) of the page's Markdown; `refresh` asks its site anew.
    """

    url: str
    offset: int = 0
    max_chars: int = 20_000
    refresh: bool = False


@dataclass(frozen=True, slots=True)
class PassagesRequest:
    """A wish for the passages of a page that answer `queries`. The fields are those of the `read_from_page` tool."""

    url: str
    queries: tuple[str, ...]
    force_refresh: bool = False
    max_results: int = 8
    include_metadata: bool = False


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A question after the guard: normalised, validated and safe to send out.

    `freshness_hours` is a number of hours (24 a day, 168 a week, 720 a month, 8760 a year);
    `region` an upper-case ISO 3166-1 alpha-2 code; `language` an ISO 639-1 code. `include_domains` and
    `exclude_domains` are the call's lists within the operator's (see text.domains). `variant` tells calls apart that
    differ in what no provider is told, such as the choice of providers. `user` is who pays: it is not part of the
    question and never sent.
    """

    text: str
    max_results: int = 5
    freshness_hours: int | None = None
    region: str | None = None
    include_answers: bool = True
    language: str | None = None
    safe_search: SafeSearch | None = None
    topic: Topic = "general"
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    variant: str = ""
    user: str = field(default="local", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request as a value, so adapters build one without a client. `json` and `form` exclude each other.

    Its repr shows neither keys nor queries.
    """

    method: Literal["GET", "POST"]
    url: str
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Mapping[str, Any] | None = field(default=None, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a raw search vendor can do, how many hits a full page of its holds, and what one call costs (USD).

    `price_source` says who told the price, and when. `requests_per_second` is what the vendor allows a key; None where
    no limit is known. `ends` is the day from which the API is gone. `caveat` warns of what every answer from it lacks.
    """

    max_results: int = 10
    page_size: int = 10
    freshness: bool = False
    region: bool = False
    safe_search: bool = False
    paging: bool = False
    news: bool = False
    cost_per_call_usd: float = 0.0
    price_source: str = ""
    requests_per_second: float | None = None
    ends: date | None = None
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One raw result. `published` is an ISO 8601 date or date-time; `content` is page text the vendor sent along."""

    url: str
    title: str
    snippet: str
    provider: str
    published: str | None = None
    score: float | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True)
class AppliedFilters:
    """What really became of the wish for freshness, region and domains (None: nothing).

    Domains are kept to `upstream`, by the vendor itself, or are `local`: what it found elsewhere was dropped here.
    """

    freshness: str | None = None
    region: str | None = None
    domains: Literal["upstream", "local"] | None = None


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The answer of a Searcher. No hits is an answer, not an error. `bodies` are the vendor's replies, page by page."""

    hits: tuple[Hit, ...]
    provider: str
    applied: AppliedFilters = AppliedFilters()
    cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()
    bodies: tuple[bytes, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was read. `markdown` is untrusted text; `final_url` is where the redirects ended.

    `etag` and `last_modified` are the site's own words, for asking whether the page has changed. `fetched_at` (seconds
    since the epoch) is when the site last said what is on it; 0 if unknown. `cache` says where the page came from: the
    site (`miss`), the cache (`exact`), or the cache although it is too old, because the site failed (`stale`).
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
    """A piece of a page under its headings. `score` is in 0..1, higher is better."""

    text: str
    section_path: tuple[str, ...] = ()
    score: float = 0.0
    id: str = ""


@dataclass(frozen=True, slots=True)
class Gathered:
    """What raw search found for a question. `pages` are those that could be read, by the URLs of their hits."""

    results: SearchResults
    pages: Mapping[str, Page]
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Span:
    """A claim of support: `text[start:end]` of the answer is backed by `url`. Python string offsets, end exclusive."""

    url: str
    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Source:
    """A page that was found or read for an answer. `published` is an ISO 8601 date or date-time."""

    url: str
    title: str = ""
    published: str | None = None


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that the provider billed."""

    prompt: int = 0
    response: int = 0


@dataclass(frozen=True, slots=True)
class Fallback:
    """The upstream that was given up and why, as `CODE: message`."""

    given_up: str
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine or the extractive composer produced, before finalize: spans may repeat, be off or be unranked.

    `provider` says how it was made: `MODEL-web-search`, `MODEL-over-PROVIDER` or `PROVIDER-raw-search`. `sources` are
    the pages that were found or read, cited or not. `search_suggestions` is HTML that the vendor wants to be shown
    beside the answer as it is. `searched_usd` is the part of `cost_usd` that search providers have booked already.
    """

    text: str
    spans: tuple[Span, ...]
    provider: str
    model: str | None = None
    sources: tuple[Source, ...] = ()
    search_suggestions: str | None = None
    searched_usd: float = 0.0
    usage: TokenUsage = TokenUsage()
    cost_usd: float = 0.0
    applied: AppliedFilters = AppliedFilters()
    warnings: tuple[str, ...] = ()
    fallback: Fallback | None = None


@dataclass(frozen=True, slots=True)
class StateEntry:
    """One entry of a State with all that a copy needs. `ttl` is the seconds left, None for ever; `counts` a counter."""

    key: str
    value: bytes
    ttl: float | None = None
    counts: bool = False


@dataclass(frozen=True, slots=True)
class StateUsage:
    """The size of a State (bytes), its limit (None: there is none), and what this process evicted to stay below it."""

    bytes: int
    most_bytes: int | None = None
    evictions: int = 0
