"""The values that the layers pass to each other.

All are frozen and without logic, but for the bill and the watch of a call. Add a field with a default, and a line
about its unit or shape.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import Field, dataclass, field, fields, replace
from datetime import date
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    Self,
    TypeVar,
    get_args,
    get_type_hints,
)

if TYPE_CHECKING:
    import asyncio  # a worker has no event loop and starts faster without it

    from _typeshed import DataclassInstance

T = TypeVar("T")

Progress = Callable[[str], Awaitable[None]]
"""Receives a short description of what the gateway is doing. Must not raise."""


async def no_progress(_: str) -> None:
    """The Progress for a caller who needs no reports."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The time by which a whole call must end, on a monotonic clock. It is passed down and never extended.

    `check_redirect` gets the target of every redirect that the call follows, before it is asked; it may raise
    ForbiddenUrlError.
    """

    at: float
    clock: Callable[[], float] = field(default=time.monotonic, compare=False, repr=False)
    check_redirect: Callable[[str], Awaitable[None]] | None = field(
        default=None, kw_only=True, compare=False, repr=False
    )

    @classmethod
    def after(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Self:
        """A deadline `seconds` from now."""
        return cls(clock() + seconds, clock)

    def remaining(self) -> float:
        """Seconds left; zero after the deadline."""
        return max(0.0, self.at - self.clock())

    def within(self, seconds: float) -> Self:
        """The earlier of this deadline and `seconds` from now."""
        return replace(self, at=min(self.at, self.clock() + seconds))


UNLIMITED = Deadline(math.inf)


@dataclass(slots=True)
class AskedUpstream:
    """An upstream that a watched call asked: `seconds` in all its calls, and `usd` that the ledger booked for them.

    `outcome` is that of the last call: empty while it runs, then `ok`, the error's code or `CANCELLED`.
    """

    name: str
    calls: int = 0
    seconds: float = 0.0
    outcome: str = ""
    usd: float = 0.0


class Watch:
    """What the upstreams of one call did. `tell` gets each one that began or ended; it must not raise."""

    def __init__(self, tell: Callable[[AskedUpstream], None]) -> None:
        self.asked: dict[str, AskedUpstream] = {}
        self._tell = tell

    def note(self, name: str, outcome: str, seconds: float = 0.0) -> None:
        """A call of the upstream `name` began (`outcome` is empty) or ended."""
        asked = self.of(name)
        asked.outcome, asked.seconds = outcome, asked.seconds + seconds
        asked.calls += not outcome
        self._tell(asked)

    def of(self, name: str) -> AskedUpstream:
        """The upstream of that name."""
        return self.asked.setdefault(name, AskedUpstream(name))


SCOPES = ("search", "read", "docs", "cache", "ops", "admin")
"""What a token may allow; the tools say which one they need."""


@dataclass(frozen=True, slots=True)
class CallerLimits:
    """The limits of one caller, in place of the settings'; None keeps the setting.

    `rate_limit` (`100/10minutes`, empty for no limit) counts the caller's calls of all kinds together, in place of
    RATE_LIMIT, SEARCH_RATE_LIMIT and READ_RATE_LIMIT. `daily_usd` replaces USER_DAILY_BUDGET_USD.
    """

    rate_limit: str | None = None
    daily_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller. `user` is the key of limits, cache scope and budget; `scopes` decides which tools are allowed.

    `has_specialists`: it can ask the specialist servers of ROUTES, so the guard sends it there. `room`: the most bytes
    of a result for it, if not MAX_REPLY_TOKENS. `watch` sees the upstreams it asks.
    """

    user: str
    scopes: frozenset[str] = frozenset()
    has_specialists: bool = field(default=True, compare=False)
    room: int | None = field(default=None, compare=False)
    watch: Watch | None = field(default=None, compare=False, repr=False)
    limits: CallerLimits = field(default=CallerLimits(), compare=False)


LOCAL = Caller("local", frozenset(SCOPES))
"""The local user: the only caller if there is no authentication."""

DIRECT = replace(LOCAL, has_specialists=False)
"""The local user of the command line and of the Python API."""


Topic = Literal["general", "news"]
SafeSearch = Literal["off", "moderate", "strict"]
Freshness = Literal["day", "week", "month", "year"]

MOST_DOMAINS = 150
"""Domains in one list of a request."""

LONGEST_QUERY = 400
"""Characters of a question."""

SHORTEST_QUESTION, SHORTEST_QUERY = 3, 2
"""Characters of a question to answer; and of a query for results, which may be "AI", "C#" or "F1"."""

MOST_SOURCES, MOST_RESULTS, MOST_QUERIES = 8, 50, 20
"""What a call may ask for: pages to cite, results or passages, and queries."""

MOST_FRESH_HOURS = 168
"""A week: what is older has its own filters at providers."""
LAST_PAGE = 10
"""The last page of results that a `WebSearchRequest` may ask for."""

LONGEST_URL = 8_000
"""Characters of the longest address to look at. Longer ones never reach `urlsplit`, which remembers its last 128."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Says of a field of a request that callers may set it: what it means, and keywords of JSON Schema.

    The tools, REST and the command line are made from the fields and this. The guard judges ranges after it has
    normalised. A field without one is for programs.

    Attributes:
        name: on the wire, if not the field's own in camelCase.
    """

    about: str
    keywords: Mapping[str, Any]
    name: str | None


def argument(about: str, *, name: str | None = None, **keywords: Any) -> Argument:
    """An `Argument`."""
    return Argument(about, keywords, name)


def arguments_in(request: type[DataclassInstance]) -> Iterator[tuple[Field[Any], Any, Argument]]:
    """The fields of a request that callers may set, each with its type."""
    hints = get_type_hints(request, include_extras=True)
    for declared in fields(request):
        for about in getattr(hints[declared.name], "__metadata__", ()):
            yield declared, get_args(hints[declared.name])[0], about


Region = Annotated[str | None, argument("Country, such as DE.")]
Language = Annotated[str | None, argument("Such as de.")]
UnwantedDomains = Annotated[tuple[str, ...], argument("Leave these out.", maxItems=MOST_DOMAINS)]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question before the guard has checked it. `verify_citations`: None is the operator's choice. `shortest` is the
    least number of characters: clients of other APIs send queries as questions.
    """

    query: Annotated[str, argument("The question.", minLength=1, maxLength=LONGEST_QUERY)]
    max_results: Annotated[
        int, argument("The most sources to cite.", minimum=1, maximum=MOST_SOURCES)
    ] = 5
    freshness_hours: Annotated[
        int | None, argument("How old results may be.", minimum=1, maximum=MOST_FRESH_HOURS)
    ] = None
    region: Region = None
    include_domains: Annotated[
        tuple[str, ...], argument("Search only these domains.", maxItems=MOST_DOMAINS)
    ] = ()
    exclude_domains: UnwantedDomains = ()
    include_answers: Annotated[bool, argument("false: sources without the written answer.")] = True
    verify_citations: Annotated[
        bool | None, argument("true: read the cited pages and quote them.")
    ] = None
    shortest: int = SHORTEST_QUESTION


@dataclass(frozen=True, slots=True)
class WebSearchRequest:
    """A request for results with their pages. Without `read_pages` the snippet replaces the page."""

    query: Annotated[str, argument("What to find.", minLength=1, maxLength=LONGEST_QUERY)]
    max_results: Annotated[int, argument("The most pages.", minimum=1, maximum=MOST_RESULTS)] = 3
    providers: Annotated[
        tuple[str, ...],
        argument(
            "Ask only these, in this order, such as brave. Default: all configured.", maxItems=20
        ),
    ] = ()
    use_cache: Annotated[bool, argument("false: search and read again.")] = True
    freshness: Annotated[Freshness | None, argument("How old results may be.")] = None
    include_domains: Annotated[
        tuple[str, ...],
        argument("Search only these domains and their subdomains.", maxItems=MOST_DOMAINS),
    ] = ()
    exclude_domains: UnwantedDomains = ()
    language: Language = None
    region: Region = None
    page: Annotated[int, argument("Page of results.", minimum=1, maximum=LAST_PAGE)] = 1
    safe_search: SafeSearch | None = None
    read_pages: bool = True
    topic: Topic = "general"


@dataclass(frozen=True, slots=True)
class RawSearchRequest:
    """A request for Google's own JSON, for each of `queries`."""

    queries: Annotated[
        tuple[str, ...],
        argument(
            "One query, or up to 20.",
            name="query",
            minItems=1,
            maxItems=MOST_QUERIES,
        ),
    ]
    max_results: Annotated[int, argument("The most items.", minimum=1, maximum=MOST_RESULTS)] = 10
    region: Region = None
    language: Language = None
    safe_search: Annotated[SafeSearch | None, argument("Default: the operator's.")] = None
    use_cache: Annotated[bool, argument("false: search again.")] = True


@dataclass(frozen=True, slots=True)
class ContentRequest:
    """A request for a page's text, or a window of it. `offset` and `max_chars` count characters (code points) of the
    page's Markdown; `refresh` skips the cache.
    """

    url: str
    offset: int = 0
    max_chars: int = 20_000
    refresh: bool = False


@dataclass(frozen=True, slots=True)
class PassagesRequest:
    """A request for the passages of a page that answer `queries`."""

    url: Annotated[str, argument("An http(s) URL.")]
    queries: Annotated[
        tuple[str, ...],
        argument(
            "What to look for: a question, or up to 20.",
            name="query",
            minItems=1,
            maxItems=MOST_QUERIES,
        ),
    ]
    force_refresh: Annotated[bool, argument("true: ask the site again.")] = False
    max_results: Annotated[
        int, argument("The most passages per query.", minimum=1, maximum=MOST_RESULTS)
    ] = 8
    include_metadata: Annotated[bool, argument("true: add facts about the page.")] = False


SIMILAR = 0.72
"""The least similarity (cosine) of a question that counts as similar, unless the caller sets another."""
MOST_SIMILAR = 20


@dataclass(frozen=True, slots=True)
class CachedRequest:
    """A question for the cache alone."""

    query: Annotated[
        str, argument("The question, in full words.", minLength=1, maxLength=LONGEST_QUERY)
    ]


@dataclass(frozen=True, slots=True)
class SimilarRequest:
    """A question whose like were answered before."""

    query: Annotated[
        str, argument("The question, in full words.", minLength=1, maxLength=LONGEST_QUERY)
    ]
    threshold: Annotated[float, argument("The least similarity.", minimum=0, maximum=1)] = SIMILAR
    max_results: Annotated[int, argument("The most answers.", minimum=1, maximum=MOST_SIMILAR)] = 5


@dataclass(frozen=True, slots=True)
class CacheClearRequest:
    """What to remove from the cache: everything, unless it is narrowed down."""

    older_than_hours: Annotated[
        float | None,
        argument("Only entries older than this. Default: any age.", exclusiveMinimum=0),
    ] = None
    query: Annotated[
        str | None,
        argument(
            "Only answers to this question. Default: everything.",
            minLength=1,
            maxLength=LONGEST_QUERY,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class CacheMigrateRequest:
    """Where to copy the cache."""

    target: Annotated[
        str, argument("A STATE_URL; over HTTP sqlite:///NAME only.", minLength=1, maxLength=2000)
    ]


LONGEST_DOCS_QUERY = 1_000
"""Characters: people search documentation for whole lines of code and for errors with their paths."""

MOST_SECTIONS, MOST_AROUND = 50, 20
"""Sections that a search may find, and that may be read on either side of one."""

LEAST_DOCS_TOKENS, MOST_SEARCH_TOKENS, MOST_READ_TOKENS = 100, 50_000, 100_000
"""Tokens of the text of one reply. Fewer than the least hold no section."""

MOST_SITE_PAGES, LONGEST_DELAY = 1_000_000, 600
"""Pages of one site; and seconds between two requests to it, after which it would be called dead."""

DocsVersion = Annotated[str | None, argument("Such as 3.12.", name="version")]
BrowserUse = Literal["never", "auto", "always"]
"""Whether the scripts of pages run."""


@dataclass(frozen=True, slots=True)
class DocsSearchRequest:
    """A request for sections of the indexed documentation."""

    query: Annotated[
        str,
        argument("A symbol, a flag, or a question.", minLength=1, maxLength=LONGEST_DOCS_QUERY),
    ]
    site_id: Annotated[str | None, argument("An id or name of list_sites.")] = None
    sites_filter: Annotated[
        str | None, argument("Regular expression over site names and URLs.", maxLength=200)
    ] = None
    label: DocsVersion = None
    max_results: Annotated[
        int, argument("The most sections.", minimum=1, maximum=MOST_SECTIONS)
    ] = 10
    max_tokens: Annotated[
        int,
        argument(
            "The most tokens of all sections.",
            minimum=LEAST_DOCS_TOKENS,
            maximum=MOST_SEARCH_TOKENS,
        ),
    ] = 1_600


@dataclass(frozen=True, slots=True)
class DocsReadRequest:
    """A request for one section with those `around` it, for a page from an address on, or for the outline of a page.

    `most_bytes` is the room for the result, as JSON.
    """

    section_id: Annotated[
        str | None, argument("The `section_id` of search_docs; or give `url`.")
    ] = None
    url: Annotated[str | None, argument("The URL of an indexed page.")] = None
    label: DocsVersion = None
    around: Annotated[
        int, argument("Sections before and after.", minimum=0, maximum=MOST_AROUND)
    ] = 0
    max_tokens: Annotated[
        int, argument("At most.", minimum=LEAST_DOCS_TOKENS, maximum=MOST_READ_TOKENS)
    ] = 4_000
    outline: Annotated[bool, argument("true: list the page's sections.")] = False
    most_bytes: float = math.inf


@dataclass(frozen=True, slots=True)
class DocsSiteRequest:
    """The name of one version of one site."""

    site: Annotated[str, argument("An id, name or URL of docs_status.")]
    label: Annotated[str | None, argument("Default: the only one.", name="version")] = None


@dataclass(frozen=True, slots=True)
class DocsStatusRequest:
    """The sites whose crawls are asked about: those of that name, or all."""

    site: Annotated[str | None, argument("An id, name or URL. Default: every site.")] = None
    label: Annotated[str | None, argument("Default: all versions.", name="version")] = None


@dataclass(frozen=True, slots=True)
class DocsAddRequest:
    """A site to crawl and index. What is None stays as it is for a site that is registered.

    Attributes:
        url: also `pypi:NAME` or `npm:NAME`, and for the operator a folder or archive of this machine.
    """

    url: Annotated[
        str,
        argument("Where it begins, a zip or tar of it, or a package: pypi:NAME, npm:NAME@1.2."),
    ]
    name: Annotated[str | None, argument("Default: its host.")] = None
    label: Annotated[str | None, argument("Default: latest.", name="version")] = None
    max_pages: Annotated[
        int | None,
        argument("Pages at most. Default: 20000.", minimum=1, maximum=MOST_SITE_PAGES),
    ] = None
    delay: Annotated[
        float | None,
        argument("Seconds between requests. Default: 0.25.", minimum=0, maximum=LONGEST_DELAY),
    ] = None
    base_url: Annotated[str | None, argument("Where the pages of an archive are on the web.")] = (
        None
    )
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    browser: BrowserUse | None = None
    headers: tuple[tuple[str, str], ...] | None = field(default=None, repr=False)


MOST_CLAIMS = 20
"""Of one call: a page's worth of sentences, in one request to a reader."""
LONGEST_CLAIM = 400
"""Characters: a claim may become a query."""
MOST_CLAIM_URLS = 5
"""Addresses per claim."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence to check against the pages at `urls`; without any, against pages that a search for it finds."""

    claim: Annotated[str, argument("One sentence.", minLength=1, maxLength=LONGEST_CLAIM)]
    urls: Annotated[
        tuple[str, ...], argument("Default: pages that a search finds.", maxItems=MOST_CLAIM_URLS)
    ] = ()


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A claim, and the sentences of pages by which a reader judges it.

    `contexts` has for each sentence those beside it on its page, itself included; empty if it stands alone.
    """

    claim: str
    sentences: tuple[str, ...]
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a reader says of a claim, and the words of a sentence on which it relies. It may err, and lie."""

    verdict: Literal["supported", "contradicted", "unclear"]
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the model `reader` says of several claims, in their order; None of one about which it wrote nothing."""

    judgements: Sequence[Judgement | None]
    reader: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A question after the guard: normalised, validated and safe to send out.

    `freshness_hours` is a number of hours (24 a day, 168 a week, 720 a month, 8760 a year); `region` an upper-case
    ISO 3166-1 alpha-2 code; `language` an ISO 639-1 code. `include_domains` and `exclude_domains` are the call's lists
    within the operator's (see `base.narrowed`). `verify_citations` reads the cited pages. `variant` separates calls
    that differ only in something that providers do not see, such as the choice of providers.
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
    verify_citations: bool = False
    variant: str = ""


class Bill:
    """What a call has cost so far, in USD. The code that sends a paid request books it here as it goes out.

    A call that fails or is cancelled can return no price, so its bill outlives it. Each upstream has its `part` of the
    bill, and what it books there counts in the whole. `own_usd` leaves out what the parts of this part cost.

    Attributes:
        usd: the cost with that of all parts.
        own_usd: the cost without that of the parts.
        requests: how many requests were sent, with those of all parts.
    """

    __slots__ = ("_whole", "own_usd", "requests", "usd")

    def __init__(self, whole: Bill | None = None) -> None:
        self._whole = whole
        self.usd = self.own_usd = 0.0
        self.requests = 0

    def part(self) -> Bill:
        """The part of one more upstream."""
        return Bill(self)

    def book(self, usd: float) -> None:
        """Add the price of a request; a negative one takes it back."""
        self.own_usd += usd
        bill: Bill | None = self
        while bill is not None:
            bill.usd += usd
            bill = bill._whole

    def note_request(self) -> None:
        """Count a request that is sent."""
        bill: Bill | None = self
        while bill is not None:
            bill.requests += 1
            bill = bill._whole


class OneTask(Generic[T]):
    """Work that several parts of a call need and that is done once. Leaving the context cancels it.

    It belongs to the call, not to the part that begins it, so its spans are beside those of the parts.
    """

    def __init__(self) -> None:
        self._context = copy_context()
        self._task: asyncio.Task[T] | None = None

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the `work` of the first caller."""
        import asyncio

        if self._task is None:
            self._task = asyncio.create_task(work(), context=self._context)
        return await asyncio.shield(self._task)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        import asyncio

        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class Call(Deadline):
    """A call on its way down: its deadline with the question, the caller and the bill.

    Attributes:
        query: the question; empty for a call that only reads.
        progress: tells the caller what is going on.
        caller: who asks and pays.
        bill: what the call has cost so far, or the part of an upstream.
        behind: another upstream was asked before, so one whose key is rejected is skipped.
        gathering: what raw search finds for the question, once for all engines; None if nobody shares it.
    """

    query: SearchQuery = field(default=SearchQuery(""), repr=False)
    progress: Progress = field(default=no_progress, compare=False, repr=False)
    caller: Caller = field(default=LOCAL, compare=False, repr=False)
    bill: Bill = field(default_factory=Bill, compare=False, repr=False)
    behind: bool = field(default=False, compare=False, repr=False)
    gathering: OneTask[Gathered] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        query: SearchQuery,
        deadline: Deadline,
        progress: Progress = no_progress,
        caller: Caller = LOCAL,
    ) -> Self:
        """The call for `query`, with a new bill."""
        return cls(deadline.at, deadline.clock, query, progress, caller)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request as a value, so adapters build one without a client. Set at most one of `json` and `form`.

    The repr shows neither keys nor queries.
    """

    method: Literal["GET", "POST"]
    url: str
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Mapping[str, Any] | None = field(default=None, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The features of a raw search vendor, the hits of a full page, and the price of one call (USD).

    `max_results` is the most hits of a search, on all its pages; 100 if that is more, since no call asks for more.
    `price_source` is the source and date of the price. `requests_per_second` is the vendor's limit per key; None if
    unknown. `ends` is the day on which the API shuts down. `caveat` is a warning for all its results. The vendor sends
    a reply without results with one of the `empty_statuses`; `parse` reads it, unless `refusal` gives an error.
    """

    max_results: int = 10
    page_size: int = 10
    freshness: bool = False
    region: bool = False
    language: bool = False
    safe_search: bool = False
    paging: bool = False
    news: bool = False
    cost_per_call_usd: float = 0.0
    price_source: str = ""
    requests_per_second: float | None = None
    ends: date | None = None
    caveat: str = ""
    empty_statuses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One raw result. `published` is an ISO 8601 date or date-time; `content` is page text that the vendor included."""

    url: str
    title: str
    snippet: str
    provider: str
    published: str | None = None
    score: float | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True)
class AppliedFilters:
    """How the requested filters were actually applied (None: not at all).

    Domains are `upstream` if the vendor filtered by them, `local` if we dropped results from other domains. `news`: the
    search was one for news. `max_results` is the most hits that the vendor gives for a query; None: it has no limit.
    """

    freshness: str | None = None
    region: str | None = None
    domains: Literal["upstream", "local"] | None = None
    language: str | None = None
    safe_search: SafeSearch | None = None
    news: bool = False
    max_results: int | None = None


@dataclass(frozen=True, slots=True)
class Fallback:
    """The name of the upstream that failed, and why: `CODE: message`, or `errors.UNRELATED`."""

    given_up: str
    reason: str


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The result of a Searcher. Having no hits is not an error. `bodies` are the vendor's replies, page by page;
    `fallback` names the searcher whose results were replaced because they are unrelated; `is_unrelated` says that these
    ones share no word with the query.
    """

    hits: tuple[Hit, ...]
    provider: str
    applied: AppliedFilters = AppliedFilters()
    warnings: tuple[str, ...] = ()
    bodies: tuple[bytes, ...] = field(default=(), repr=False)
    fallback: Fallback | None = None
    is_unrelated: bool = False


Support = Literal["verbatim", "quoted", "differs", "not_found", "unread"]
"""What stands beside a sentence: the page's own sentence (`verbatim`); words of the page about the same, in which no
number, date, unit or name differs (`quoted`), or one does (`differs`). `not_found`: the page has no such words;
`unread`: it could not be read in time."""


@dataclass(frozen=True, slots=True)
class Span:
    """A citation: `url` supports `text[start:end]` of the answer. Python string offsets, end exclusive.

    `quote` has the page's own words, and `support` says how they stand to the sentence; None if that was not checked.
    """

    url: str
    title: str
    start: int
    end: int
    quote: str | None = None
    support: Support | None = None


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
class Answer:
    """An answer of an engine or the extractive composer, before finalize: spans may repeat, be misplaced or unranked.

    `provider` says how it was made: `MODEL-web-search`, `MODEL-over-PROVIDER` or `PROVIDER-raw-search`. `sources` are
    the pages that were found or read, cited or not. `search_suggestions` is HTML that must be shown
    unchanged beside the answer.
    """

    text: str
    spans: tuple[Span, ...]
    provider: str
    model: str | None = None
    sources: tuple[Source, ...] = ()
    search_suggestions: str | None = None
    usage: TokenUsage = TokenUsage()
    applied: AppliedFilters = field(default_factory=AppliedFilters)
    warnings: tuple[str, ...] = ()
    fallback: Fallback | None = None


@dataclass(frozen=True, slots=True)
class Extracted:
    """`markdown` is empty when the page has no readable text. `published` is an ISO 8601 date.

    `warnings` lists problems for the reader, such as hidden text on the page. `anchors` are the ids
    of headings and terms, each with the offset in `markdown` at which its line begins.
    """

    title: str
    markdown: str
    published: str | None
    warnings: tuple[str, ...] = ()
    anchors: tuple[tuple[int, str], ...] = ()


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


@dataclass(frozen=True, slots=True)
class StateEntry:
    """An entry of a State, for a copy. `ttl` is the seconds left (None: it never expires); `counts`: a counter."""

    key: str
    value: bytes
    ttl: float | None = None
    counts: bool = False


@dataclass(frozen=True, slots=True)
class StateUsage:
    """The size of a State (bytes), its limit (None: no limit), and the number of entries that this process evicted."""

    bytes: int
    most_bytes: int | None = None
    evictions: int = 0


@dataclass(frozen=True, slots=True)
class StateProblem:
    """Why a State is not what it was set up to be, what is lost by that, and what its operator can do."""

    finding: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.finding} {self.remedy}"
