"""Results as they cross the wire. JSON names are camelCase unless the contract says otherwise.

Every field has a default and each result carries `error`, because clients validate structured content against the
schema even when a call failed. What a next call needs stands before long texts, since clients cut. A new field changes
tests/entrypoints/tools.json and docs/tools.md.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from websearch_gateway.errors import SearchError, shown


class WireModel(BaseModel):
    """The base of all results: frozen, camelCase in JSON, both spellings accepted in Python."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    @cached_property
    def content_key(self) -> bytes:
        """A digest of what it says, without its age: its copies of another age have the same, and so has an equal
        result.
        """
        content = self.model_dump_json(exclude={"age_seconds"})
        return hashlib.blake2b(content.encode(), digest_size=16).digest()

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values of some fields, not validated. It inherits `content_key` if only its age differs."""
        copy = super().model_copy(update=update, deep=deep)
        if update and update.keys() != {"age_seconds"}:
            copy.__dict__.pop("content_key", None)
        return copy


def size_of(value: Any) -> int:
    """The size of a text, a result or JSON-ready data: the bytes of its minified JSON in UTF-8."""
    if isinstance(value, WireModel):
        value = value.model_dump(mode="json", by_alias=True)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "backslashreplace"))


class Content:
    """A result for a function that is remembered by what the result says, see `WireModel.content_key`."""

    __slots__ = ("key", "result")

    def __init__(self, result: WireModel) -> None:
        self.result: Any = result
        self.key = result.content_key

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Content) and self.key == other.key


class FallbackInfo(WireModel):
    """The upstream that did not answer, and why."""

    from_: str = Field(default="", alias="from")
    reason: str = ""


LONGEST_MESSAGE = 2_000
"""Characters of an error's message, and of each text in its details: they may quote what the caller sent."""


class ErrorInfo(WireModel):
    """A failed call. `code` is one of `errors.ErrorCode`; `retry_after_seconds` is null if unknown."""

    code: str = ""
    message: str = ""
    retry_after_seconds: float | None = None
    details: dict[str, Any] | None = None

    @field_validator("message", "details")
    @classmethod
    def _shown(cls, value: Any) -> Any:
        """Cut long texts, and escape control characters in them."""
        if isinstance(value, str):
            return shown(value, LONGEST_MESSAGE)
        if isinstance(value, dict):
            return {name: cls._shown(item) for name, item in value.items()}
        return [cls._shown(item) for item in value] if isinstance(value, list) else value

    @classmethod
    def of(cls, error: SearchError) -> Self:
        """Make it from an error; the wait is rounded up to whole seconds."""
        wait = None if error.retry_after is None else math.ceil(error.retry_after)
        return cls(
            code=error.code,
            message=error.message,
            retry_after_seconds=wait,
            details=error.details or None,
        )


CacheState = Literal["miss", "exact", "semantic", "stale"]


class Quoted(WireModel):
    """What a page says itself: `quote` has its words, `quoteUrl` leads to them; see `models.Support` for `support`.

    All are null where nothing was checked.
    """

    quote: str | None = None
    quote_url: str | None = None
    support: Literal["verbatim", "quoted", "differs", "not_found", "unread"] | None = None


class CitedSpan(Quoted):
    """A part of `text` that a page supports: character offsets, end exclusive. A place has a span for each quote."""

    start_index: int = 0
    end_index: int = 0


class Citation(Quoted):
    """A cited page: `text[startIndex:endIndex]` is its first cited span, `textSnippet` the sentence that it supports.

    `spans` lists every place where the page is cited, including the first, whose quote is the citation's. `publishedAt`
    is ISO 8601. `page` is the page of a PDF, counted from 1, to which `url` leads by `#page=N`.
    """

    url: str = ""
    title: str = ""
    text_snippet: str = ""
    start_index: int = 0
    end_index: int = 0
    rank: int = 0
    spans: tuple[CitedSpan, ...] = ()
    published_at: str | None = None
    page: int | None = None


class SourceInfo(WireModel):
    """A page that was found or read but is not cited."""

    url: str = ""
    title: str = ""
    published_at: str | None = None


class Usage(WireModel):
    """Tokens billed for the call."""

    prompt_tokens: int = 0
    response_tokens: int = 0


class FilterState(WireModel):
    """A requested filter, and how the upstream applied it (null: not at all)."""

    requested: int | str | None = None
    applied: str | None = None


class Filters(WireModel):
    """The requested and the applied freshness and region, and where the lists of domains were applied.

    `domains` is `upstream` (the vendor searched only these domains), `local` (the gateway dropped results from other
    domains) or null (no lists were given).
    """

    freshness: FilterState = FilterState()
    region: FilterState = FilterState()
    domains: Literal["upstream", "local"] | None = None


class CacheMatch(WireModel):
    """The age of the answer to the other wording (seconds)."""

    age_seconds: float = 0.0


class SearchResponse(WireModel):
    """The result of `search_web`.

    `cache` is `miss` (a new answer), `exact`, `semantic` (the answer to another wording, see `cacheMatch`) or `stale`
    (an old answer, because a new search failed). `ageSeconds` is the time since the answer was given.
    `searchSuggestions` is HTML from the search engine; show it unchanged beside the answer. It is the only field that
    the gateway does not clean, because the engine's terms forbid changes.
    """

    text: str = ""
    citations: tuple[Citation, ...] = ()
    sources: tuple[SourceInfo, ...] = ()
    provider: str = ""
    model: str | None = None
    responded_at: str = ""
    usage: Usage = Usage()
    cache: CacheState = "miss"
    cache_match: CacheMatch | None = None
    age_seconds: float = 0.0
    fallback: FallbackInfo | None = None
    filters: Filters = Filters()
    cost_usd: float = 0.0
    search_suggestions: str | None = None
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class ClaimQuote(WireModel):
    """A sentence or table row of the page at `url`; `quoteUrl` leads to it."""

    text: str = ""
    url: str = ""
    quote_url: str = ""


class FactDifference(WireModel):
    """A number, date, unit, name or denial of a claim, and what the page has in its place."""

    kind: Literal["number", "date", "unit", "name", "denial"] = "number"
    claim: str = ""
    page: str = ""


class CheckedClaim(WireModel):
    """What pages show of a claim; tools.md has the verdicts. `quote`, `url` and `quoteUrl` are the first of `quotes`.

    `judge` is `model` where a model that reads gave the verdict, from `quotes`.
    """

    claim: str = ""
    verdict: Literal[
        "verbatim",
        "differs",
        "found",
        "not_found",
        "unread",
        "supported",
        "contradicted",
        "unclear",
    ] = "unread"
    judge: Literal["model", "none"] = "none"
    differences: tuple[FactDifference, ...] = ()
    quotes: tuple[ClaimQuote, ...] = ()
    quote: str | None = None
    url: str | None = None
    quote_url: str | None = None


class CheckedClaims(WireModel):
    """The claims in the order given. `warnings` name the searches and pages that failed."""

    claims: tuple[CheckedClaim, ...] = ()
    cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class WebResult(WireModel):
    """A page that was found, with its text. The names are snake_case on the wire too.

    `page_content` is Markdown and never empty: if the page cannot be read, it begins with a note of the gateway, of
    `note_chars` characters, that says why. `published_date` is an ISO 8601 date or date-time; `relevance_score` is in
    0..1, higher is better.
    """

    model_config = ConfigDict(alias_generator=None)

    title: str = ""
    link: str = ""
    snippet: str = ""
    page_content: str = ""
    note_chars: int | None = None
    provider: str = ""
    published_date: str | None = None
    relevance_score: float = 0.0


class WebSearchResponse(WireModel):
    """The result of `web_search` and `search_news`, best first.

    `filters`, `cache` and `cacheMatch` are as in `search_web`; `ageSeconds` is the time since the results were found.
    """

    results: tuple[WebResult, ...] = ()
    filters: Filters = Filters()
    cache: CacheState = "miss"
    cache_match: CacheMatch | None = None
    age_seconds: float = 0.0
    cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class RawQuery(WireModel):
    """One query and its result: a reply of Google's Custom Search JSON API, or `{"error": ErrorInfo}`.

    `provider` found the results: `google`, or another one whose hits were converted into Google's format. `cache` is
    "exact" for a stored result and "stale" for one that replaces a failed search, found `ageSeconds` ago.
    """

    query: str = ""
    provider: str = ""
    cache: CacheState = "miss"
    age_seconds: float = 0.0
    result: dict[str, Any] = Field(default_factory=dict)


class RawSearchResponse(WireModel):
    """The result of `web_search_raw`: the queries in the given order."""

    queries: tuple[RawQuery, ...] = ()
    cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class PageWindow(WireModel):
    """One of several pages: the beginning of its Markdown, or a note and the `error` that says why there is none."""

    url: str = ""
    title: str = ""
    next_offset: int | None = None
    total_chars: int = 0
    page_content: str = Field(default="", alias="page_content")
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
    title: str = ""
    next_offset: int | None = None
    total_chars: int = 0
    cache: CacheState = "miss"
    age_seconds: float = 0.0
    note: str = ""
    page_content: str = Field(default="", alias="page_content")
    pages: tuple[PageWindow, ...] = ()
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class ConnectorHit(WireModel):
    """A page that was found. Its `id` is its address."""

    id: str = ""
    title: str = ""
    url: str = ""


class ConnectorHits(WireModel):
    """The result of `search`, for ChatGPT."""

    results: tuple[ConnectorHit, ...] = ()
    error: ErrorInfo | None = None


class ConnectorPage(WireModel):
    """The result of `fetch`, for ChatGPT: a page, or the part of it that fits.

    `metadata` has `totalChars`, `nextId` (the id of the rest, if there is more) and `warnings`.
    """

    id: str = ""
    title: str = ""
    url: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
    text: str = ""
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
    note: str = ""
    queries: tuple[QueryPassages, ...] = ()
    metadata: PageMetadata | None = None
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class FoundPage(WireModel):
    """A result of `web_search` or `search_news` without its text."""

    title: str = ""
    link: str = ""
    snippet: str = ""


class CachedAnswer(SearchResponse):
    """The result of `search_cached`: a result of `search_web`, empty unless `found`.

    `tool` is the tool that made it. Results of `web_search` and `search_news` have `results` instead of a text.
    """

    found: bool = False
    tool: str = ""
    results: tuple[FoundPage, ...] = ()


class SimilarAnswer(WireModel):
    """An earlier question, its similarity (cosine, at most 1), and its answer.

    `tool` is the tool that made it. Results of `web_search` and `search_news` have `results` instead of a text.
    """

    query: str = ""
    tool: str = ""
    similarity: float = 0.0
    age_seconds: float = 0.0
    text: str = ""
    citations: tuple[Citation, ...] = ()
    sources: tuple[SourceInfo, ...] = ()
    provider: str = ""
    model: str | None = None
    responded_at: str = ""
    results: tuple[FoundPage, ...] = ()


class SimilarAnswers(WireModel):
    """The result of `search_similar`, the most similar question first."""

    results: tuple[SimilarAnswer, ...] = ()
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


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

    `truncated`: the text was cut at `maxTokens`. `next_section_id` is null at the end of the page.
    """

    url: str = ""
    page_title: str = ""
    site_name: str = ""
    site_version: str = ""
    section_id: str = ""
    next_section_id: str | None = None
    truncated: bool = False
    fetched_at: str = ""
    content: str = ""
    outline: tuple[DocsOutlineEntry, ...] = ()
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class DocsSite(_Snake):
    """One version of a site. `indexed_date` is ISO 8601, UTC; `age` says the same in words. `left_out` says how many
    addresses were left out, and why."""

    id: str = ""
    name: str = ""
    version: str = ""
    url: str = ""
    status: str = ""
    indexed_date: str | None = None
    page_count: int = 0
    age: str = ""
    left_out: str = ""


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


class DocsSkipped(_Snake):
    """How many addresses were left out for a reason, and some of them."""

    reason: str = ""
    count: int = 0
    urls: tuple[str, ...] = ()


class DocsSiteStatus(DocsSite):
    """A version of a site, and the state of its crawl.

    `known` counts the addresses found so far, `unembedded` the pages without vectors. `owner` is `MACHINE:PID`.
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
    skipped: tuple[DocsSkipped, ...] = ()


class DocsStatus(_Snake):
    """The result of `docs_status` and of every change: the affected versions."""

    sites: tuple[DocsSiteStatus, ...] = ()
    message: str = ""
    error: ErrorInfo | None = None


class DocsDependency(_Snake):
    """A package that a project uses. `indexed` names the site of its documentation; `problem` says why it has none."""

    package: str = ""
    version: str = ""
    url: str = ""
    indexed: str = ""
    problem: str = ""


class DocsProject(DocsStatus):
    """The documentation of a project's direct dependencies, and the sites that were added for them."""

    dependencies: tuple[DocsDependency, ...] = ()


class Check(WireModel):
    """The health of one part of the gateway, and how to fix it."""

    name: str = ""
    status: Literal["ok", "warn", "fail", "off"] = "ok"
    finding: str = ""
    remedy: str = ""


class Diagnosis(WireModel):
    """The result of `doctor`: one check per part."""

    checks: tuple[Check, ...] = ()
    error: ErrorInfo | None = None


class LastError(WireModel):
    """The latest error of an upstream. `at` is ISO 8601, UTC."""

    code: str = ""
    message: str = ""
    at: str = ""


class ProviderStatus(WireModel):
    """The record of one upstream since this process started.

    `breaker` is `closed` (called as usual), `open` (not called for `open_for_seconds`) or `half_open` (one call probes
    it). `failures` counts the `calls` that failed through its fault; `error_rate` is their share (0..1).
    `last_success_at` is the latest successful call (ISO 8601, UTC). Latencies are those of recent calls. Fields are
    null before the first call.
    """

    name: str = ""
    breaker: Literal["closed", "open", "half_open"] = "closed"
    open_for_seconds: float | None = None
    calls: int = 0
    failures: int = 0
    error_rate: float | None = None
    last_success_at: str | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    last_error: LastError | None = None


class ProviderStatuses(WireModel):
    """The result of `get_provider_status`: the answer engines, then the raw providers, each in order of use."""

    providers: tuple[ProviderStatus, ...] = ()
    error: ErrorInfo | None = None


class CacheStats(WireModel):
    """The result of `get_cache_stats`.

    Hits and misses count calls of `search_web`, `web_search` and `search_news` in this process:
    `joined` calls got the result of an identical one in flight, `misses` went upstream, `stale_served` got an old
    result because upstreams failed; `hit_rate` is the share of hits (0..1), null before the first call. Entries, their
    bytes and ages describe the shared state; `in_memory` counts the entries in this process's memory. `state_bytes` is
    the size of all data in the state's file (null for other backends), `max_state_bytes` its limit, and `evictions`
    the number of entries that this process deleted to stay below it. `warnings` names what was not counted.
    """

    exact_hits: int = 0
    semantic_hits: int = 0
    joined: int = 0
    stale_served: int = 0
    misses: int = 0
    hit_rate: float | None = None
    saved_today_usd: float | None = None
    entries: int = 0
    bytes: int = 0
    entries_by_kind: dict[str, int] = Field(default_factory=dict)
    bytes_by_kind: dict[str, int] = Field(default_factory=dict)
    in_memory: dict[str, int] = Field(default_factory=dict)
    state_bytes: int | None = None
    max_state_bytes: int | None = None
    evictions: int = 0
    oldest_seconds: float | None = None
    newest_seconds: float | None = None
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class Latency(WireModel):
    """The 50th, 95th and 99th percentile of recent calls (milliseconds); null before the first call."""

    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


class ToolStats(WireModel):
    """The calls of one tool in this process, by outcome (`ok` or an error's code)."""

    tool: str = ""
    calls: int = 0
    outcomes: dict[str, int] = Field(default_factory=dict)
    latency_ms: Latency = Latency()


class DayStats(WireModel):
    """One day (UTC) of all processes: costs and savings (USD), calls and latencies.

    Latencies are rounded up to the next bound of the histogram.
    """

    day: str = ""
    usd: float = 0.0
    saved_usd: float = 0.0
    by_provider: dict[str, float] = Field(default_factory=dict)
    calls_by_provider: dict[str, int] = Field(default_factory=dict)
    calls: int = 0
    latency_ms: Latency = Latency()


class ServerStats(WireModel):
    """The result of `get_server_stats`: the tools of this process, and the costs of all processes that share the state.

    `warnings` names what could not be read.
    """

    version: str = ""
    started_at: str = ""
    uptime_seconds: float = 0.0
    calls_per_minute: int = 0
    tools: tuple[ToolStats, ...] = ()
    daily_budget_usd: float | None = None
    left_today_usd: float | None = None
    days: tuple[DayStats, ...] = ()
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class LimitUsage(WireModel):
    """A rate limit and how far it is used. `setting` is `OWN` if it comes with the token."""

    setting: str
    limit: str
    used: int = 0
    left: int = 0
    resets_in_seconds: int = 0


class CallerUsage(WireModel):
    """What `/v1/usage` tells a caller: their limits, and what they have used of them. Amounts are USD, days UTC.

    `daily_budget_usd` is the caller's own; null if there is none.
    """

    user: str = ""
    scopes: tuple[str, ...] = ()
    calls_today: int = 0
    spent_today_usd: float = 0.0
    daily_budget_usd: float | None = None
    left_today_usd: float | None = None
    day_ends_in_seconds: int = 0
    limits: tuple[LimitUsage, ...] = ()


class NewToken(WireModel):
    """A token that was just made. `token` is the secret, which nothing else ever shows."""

    token: str = Field(repr=False)
    name: str = ""
    scopes: tuple[str, ...] = ()
    expires_at: str | None = None


class RevokedTokens(WireModel):
    """How many tokens of a name were deleted."""

    name: str = ""
    revoked: int = 0


class TokenUse(WireModel):
    """A token that an operator has created, and what its bearer did. Times are ISO 8601 in UTC, amounts USD."""

    name: str
    scopes: tuple[str, ...] = ()
    rate_limit: str | None = None
    daily_budget_usd: float | None = None
    created_at: str = ""
    expires_at: str | None = None
    has_expired: bool = False
    spent_today_usd: float = 0.0
    calls_today: int = 0
    last_used_at: str | None = None


class TokenUses(WireModel):
    """All tokens that an operator has created."""

    tokens: tuple[TokenUse, ...] = ()


class MigrateResult(WireModel):
    """The result of `cache_migrate`.

    `copied` counts values, read back from the target, and `counters` counters; `already_there` counters that the target
    had already, `expired` entries that expired during the run, `left_out` values too large for the target. `resumed`:
    an earlier run was interrupted, and the entries that it copied are not counted again.
    """

    target: str = ""
    copied: int = 0
    counters: int = 0
    already_there: int = 0
    expired: int = 0
    left_out: int = 0
    resumed: bool = False
    error: ErrorInfo | None = None


class CacheClearResult(WireModel):
    """The result of `cache_clear`: the number of entries removed from the shared state, by kind.

    Kinds are `answers`, `questions` (their wordings), `web` and `raw` (results), and `pages`.
    """

    removed: int = 0
    removed_by_kind: dict[str, int] = Field(default_factory=dict)
    error: ErrorInfo | None = None
