"""The only place where the adapters meet: a Gateway is made from settings, and every entrypoint calls one.

Only wiring belongs here. `upstreams`, `engines`, `reading` and `documentation` open the parts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from websearch_gateway.admin.cache import CacheAdmin, Memory
from websearch_gateway.admin.contents import PREFIXES
from websearch_gateway.admin.doctor import Doctor
from websearch_gateway.admin.migration import Migration
from websearch_gateway.admin.operations import Operations
from websearch_gateway.answers.table import Outside
from websearch_gateway.app.addresses import (
    OperatorDomains,
    address_policy,
    checked_domains,
    outbound,
)
from websearch_gateway.app.documentation import is_indexed, lazy_docs
from websearch_gateway.app.engines import answering, claim_reader, open_engines
from websearch_gateway.app.guards import Guards
from websearch_gateway.app.reading import COMPOSE, SHORTLIST, WARM_UP, open_reading
from websearch_gateway.app.upstreams import open_upstreams, reranker_guard
from websearch_gateway.base import WORKING_FOR, CacheMemory, Retry, Workers, create_client
from websearch_gateway.cache.kinds import ANSWERS, RAW_RESULTS, WEB_RESULTS, RawResult
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.results import ResultCache
from websearch_gateway.cache.semantic import AskedQuestions, SemanticCache
from websearch_gateway.cache.similar import SimilarQuestions
from websearch_gateway.errors import StateUnavailable
from websearch_gateway.evidence import (
    StaticEmbedder,
    open_embedder,
    open_reranker,
    usd_per_million_tokens,
)
from websearch_gateway.models import (
    LOCAL,
    SIMILAR,
    UNLIMITED,
    Caller,
    Claim,
    Deadline,
    Progress,
    RawSearchRequest,
    SearchRequest,
    WebSearchRequest,
    no_progress,
)
from websearch_gateway.pipeline.cached_answers import CachedAnswers
from websearch_gateway.pipeline.claims import ClaimChecking
from websearch_gateway.pipeline.documentation import Documentation
from websearch_gateway.pipeline.fallback import Gathering, RawEngine
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.provenance import KNOWN_ADDRESSES, Provenance
from websearch_gateway.pipeline.rate_limits import RateLimits
from websearch_gateway.pipeline.raw_search import RawSearch
from websearch_gateway.pipeline.read_page import PageReading
from websearch_gateway.pipeline.recall import R, Recall
from websearch_gateway.pipeline.search import SearchPipeline
from websearch_gateway.pipeline.verification import Verification
from websearch_gateway.pipeline.web_search import WebSearch
from websearch_gateway.ports import AnswerEngine, Embedder, Reranker, State
from websearch_gateway.results import (
    CachedAnswer,
    CallerUsage,
    CheckedClaims,
    LimitUsage,
    RawSearchResponse,
    SearchResponse,
    SimilarAnswers,
    WebSearchResponse,
    WireModel,
)
from websearch_gateway.settings.loading import Settings
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.opening import SpareState, open_state
from websearch_gateway.state.sqlite import SqliteState
from websearch_gateway.upstream.api_tokens import ApiTokens
from websearch_gateway.upstream.health import HealthRegistry
from websearch_gateway.upstream.ledger import BudgetedEmbedder, Ledger
from websearch_gateway.upstream.single_flight import SingleFlight
from websearch_gateway.upstream.statistics import Statistics
from websearch_gateway.upstream.telemetry import Telemetry

if TYPE_CHECKING:
    from websearch_gateway.docs import DocsLibrary

Shown = TypeVar("Shown", bound=WireModel)


_LIMITS = {
    "RATE_LIMIT": True,
    "SEARCH_RATE_LIMIT": True,
    "READ_RATE_LIMIT": False,
    "CACHED_RATE_LIMIT": False,
}
"""The settings with limits, and whether GLOBAL_RATE_LIMIT counts their calls too."""


class Gateway:
    """What every entrypoint calls. One per process and event loop; close it when done.

    Opens nothing yet: connections, files and processes come with the first use.

    Raises:
        SearchNotConfiguredError: a setting names something that does not exist or lacks its key.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.max_reply_tokens = settings.max_reply_tokens
        self._client, retry = create_client(outbound=outbound(settings)), Retry()
        self.health, self.workers = HealthRegistry(), Workers(warm_up=WARM_UP)
        self._gate = asyncio.Semaphore(settings.concurrency)
        self._flights = SingleFlight(settings.search_deadline_seconds / 2)
        self._state = state = _state(settings)
        self.memory = memory = _memory(settings, state)
        self._limits = _limits(settings, state)
        self._addresses = address_policy(settings)
        ledger = Ledger(
            state,
            daily_usd=settings.daily_budget_usd,
            user_daily_usd=settings.user_daily_budget_usd,
        )
        self._ledger, self.api_tokens = ledger, ApiTokens(state)
        statistics = Statistics()
        self._telemetry = Telemetry([statistics.observe, ledger.observe])
        self.embedder = open_embedder(settings, self._client, retry)
        if price := usd_per_million_tokens(settings):
            self.embedder = BudgetedEmbedder(self.embedder, ledger, price)
        guards = Guards(settings, self.health, ledger)
        self._upstreams = open_upstreams(settings, self._client, retry, self.workers, guards)
        self.reranker = open_reranker(settings, self._client, reranker_guard(guards))
        self._pages = pages = open_reading(
            settings, state, self.embedder, self.workers, self.reranker, memory
        )
        self.lazy_docs = lazy_docs(settings, pages, self.embedder, self.reranker, self._guarded)
        self.caches = open_caches(settings, state, self.embedder, self.reranker, memory)
        self.cache = CacheAdmin(
            state, (*self.caches.memories(), pages.finder), statistics, self._telemetry, ledger
        )
        self.operations = Operations(
            self.health, statistics, ledger, self._telemetry, state, self.api_tokens
        )
        self.migration = Migration(
            state, settings.effective_state_url, open_state, settings.data_dir
        )
        clients = (
            state.close,
            self.api_tokens.close,
            ledger.flush,
            self._client.aclose,
            *pages.closers,
        )
        # In this order reversed: a crawl ends before its workers, and calls pay their bills before the ledger closes.
        self.closers = (*clients, self._flights.close, self.lazy_docs.close)
        self._open_tools(retry, guards)

    def _open_tools(self, retry: Retry, guards: Guards) -> None:
        settings, pages, pool = self.settings, self._pages, self._upstreams.selection.pool
        gather = Gathering(
            pool, pages.page_cache, self.workers, self._gate, settings.request_timeout_ms / 1000
        )
        outside = Outside(self._client, retry, gather, self.workers, pages.site_fetcher)
        self.engines = open_engines(settings, outside)
        lists = OperatorDomains.of(settings)
        self._guard = Guard(
            settings.routes, settings.secrets(), allowed=lists.allowed, blocked=lists.blocked
        )
        raw = RawEngine(gather, COMPOSE, self.workers, self.reranker, SHORTLIST)
        self.pipeline = self._search(answering(settings, self.engines, raw, guards))
        self.web, self.raw, self.reading = (
            self._web_search(),
            self._raw_search(),
            self._page_reading(),
        )
        self.documentation = Documentation(
            self.lazy_docs.get,
            self._guard,
            self._limits["READ_RATE_LIMIT"],
            self.reading.provenance,
            settings.search_deadline_seconds,
        )
        reader = claim_reader(settings, outside, self._state, guards)
        self.claims = ClaimChecking(self._guard, self.web, self.reading, reader)
        self.cached = CachedAnswers(
            self._guard,
            self.caches.answers,
            self.caches.similar,
            self._limits["CACHED_RATE_LIMIT"],
            self._telemetry,
            settings.search_deadline_seconds,
        )
        self.doctor = self._doctor(guards.ledger)

    @property
    def docs(self) -> DocsLibrary:
        """The documentation index. The first use imports it, in about 0.1 s."""
        return self.lazy_docs.get()

    async def search(
        self, request: SearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> SearchResponse:
        """Answer a question with citations. Raises what `SearchPipeline.search` raises."""
        return await self.shown(self.pipeline.search(request, caller, progress), caller)

    async def web_search(
        self, request: WebSearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> WebSearchResponse:
        """Find pages and read them. Raises what `WebSearch.search` raises."""
        await self.workers.warm()  # warm up a worker for the pages during the provider search
        return await self.shown(self.web.search(request, caller, progress), caller)

    async def check_claims(
        self, claims: Sequence[Claim], caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> CheckedClaims:
        """What pages say about each claim. Raises what `ClaimChecking.check` raises."""
        await self.workers.warm()  # warm up a worker for the pages during the searches
        return await self.claims.check(claims, caller, progress)

    async def raw_search(
        self, request: RawSearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> RawSearchResponse:
        """Results in Google's own form. Raises what `RawSearch.search` raises."""
        return await self.shown(self.raw.search(request, caller, progress), caller)

    async def search_cached(self, query: str, caller: Caller = LOCAL) -> CachedAnswer:
        """Answer from the cache alone. Raises what `CachedAnswers.search` raises."""
        return await self.shown(self.cached.search(query, caller), caller)

    async def search_similar(
        self,
        query: str,
        caller: Caller = LOCAL,
        *,
        threshold: float = SIMILAR,
        max_results: int = 5,
    ) -> SimilarAnswers:
        """Cached answers to similar questions. Raises what `CachedAnswers.similar` raises."""
        return await self.shown(
            self.cached.similar(query, caller, threshold=threshold, max_results=max_results), caller
        )

    async def shown(self, call: Awaitable[Shown], caller: Caller) -> Shown:
        """The result of a call; its addresses are known to the caller from now on. Raises what the call raises."""
        result = await call
        await self.reading.provenance.remember(result, caller)
        return result

    def called_by(self, caller: Caller) -> None:
        """Count a call, and let workers count its jobs as the caller's."""
        WORKING_FOR.set(caller.user)
        self._ledger.called(caller.user)

    async def usage(self, caller: Caller) -> CallerUsage:
        """The limits of a caller, how far they are used, and what the caller has spent today.

        Raises:
            StateUnavailable: the state cannot be read.
        """
        today = await self._ledger.user_day(caller.user)
        limits: dict[str, LimitUsage] = {}
        for rate_limits in self._limits.values():
            for limit in await rate_limits.usage(caller):
                limits.setdefault(limit.setting, limit)
        own = caller.limits.daily_usd
        budget = self.settings.user_daily_budget_usd if own is None else own
        return CallerUsage(
            user=caller.user,
            scopes=tuple(sorted(caller.scopes)),
            calls_today=today.calls,
            spent_today_usd=today.usd,
            daily_budget_usd=budget,
            left_today_usd=None if budget is None else max(0.0, budget - today.usd),
            day_ends_in_seconds=self._ledger.resets_in(),
            limits=tuple(limits.values()),
        )

    async def warm_up(self) -> None:
        """Load everything that the first question would wait for.

        Raises:
            SearchNotConfiguredError: a setting is unusable.
        """
        reaching = asyncio.create_task(self._reach_state())
        try:
            for engine in self.engines:  # its library takes the longest to import
                await engine.warm_up()
            await asyncio.to_thread(self.pipeline.guard.warm_up)
        finally:
            await reaching

    async def _reach_state(self) -> None:
        """Connect to a database, which takes seconds on a new instance: the first paid call waits for it."""
        if not self._state.opened:
            with suppress(StateUnavailable):
                await self._state.get("doctor/probe")

    async def warm_up_reading(self) -> None:
        """Load and start everything that the first page would wait for."""
        await self.reading.warm_up()
        await self.workers.warm()  # it ends if no page comes within its idle minute

    async def close(self) -> None:
        """Release sockets, files, threads and processes. Idempotent."""
        async with AsyncExitStack() as stack:
            for close in self.closers:
                stack.push_async_callback(close)
            stack.callback(self._telemetry.flush)

    def _recall(self, cache: ResultCache[R], setting: str) -> Recall[R]:
        return Recall(
            cache,
            self._flights,
            self._limits[setting],
            self._limits["CACHED_RATE_LIMIT"],
            self._state,
        )

    def _search(self, engine: AnswerEngine) -> SearchPipeline:
        page_seconds = self.settings.request_timeout_ms / 1000
        return SearchPipeline(
            guard=self._guard,
            recall=self._recall(self.caches.answers, "RATE_LIMIT"),
            engine=engine,
            addresses=self._addresses,
            verification=Verification(
                self._pages.page_cache, self.workers, self._gate, page_seconds
            ),
            verifies=self.settings.verify_citations == "on",
            telemetry=self._telemetry,
            deadline_seconds=self.settings.search_deadline_seconds,
        )

    def _web_search(self) -> WebSearch:
        return WebSearch(
            guard=self._guard,
            recall=self._recall(self.caches.web, "SEARCH_RATE_LIMIT"),
            selection=self._upstreams.selection,
            page_cache=self._pages.page_cache,
            workers=self.workers,
            telemetry=self._telemetry,
            gate=self._gate,
            page_seconds=self.settings.request_timeout_ms / 1000,
            deadline_seconds=self.settings.search_deadline_seconds,
        )

    def _raw_search(self) -> RawSearch:
        return RawSearch(
            guard=self._guard,
            recall=self._recall(self.caches.raw, "SEARCH_RATE_LIMIT"),
            selection=self._upstreams.selection,
            addresses=self._addresses,
            gate=self._gate,
            telemetry=self._telemetry,
            deadline_seconds=self.settings.search_deadline_seconds,
        )

    def _guarded(self) -> Deadline:
        """A call without a caller, to which no address was shown: a crawl that resumes what an agent began."""
        return self.reading.provenance.checking_redirects(UNLIMITED, "", Caller("crawl"))

    def _page_reading(self) -> PageReading:
        known = partial(is_indexed, self.settings, self.lazy_docs)
        trusted = checked_domains("PROVENANCE_DOMAINS", self.settings.provenance_domains)
        return PageReading(
            page_cache=self._pages.page_cache,
            finder=self._pages.finder,
            rate_limits=self._limits["READ_RATE_LIMIT"],
            cached_limits=self._limits["CACHED_RATE_LIMIT"],
            state=self._state,
            gate=self._gate,
            telemetry=self._telemetry,
            guard=self._guard,
            provenance=Provenance(
                self.settings.url_provenance,
                trusted,
                self._state,
                self.workers,
                known,
                self.memory,
            ),
            deadline_seconds=self.settings.search_deadline_seconds,
        )

    def _doctor(self, ledger: Ledger) -> Doctor:
        return Doctor(
            self.engines,
            self._upstreams.providers,
            self._state,
            self.embedder,
            {
                searcher.name: searcher.provider.capabilities.ends
                for searcher in self._upstreams.providers
            },
            self._pages.browser.missing,
            ledger,
            advice=self._upstreams.advice,
            unfinished=self._upstreams.unfinished,
            reranker=self.reranker,
        )


@dataclass(frozen=True, slots=True)
class Caches:
    """The caches of one process. `questions` and `similar` are None where the semantic cache is off."""

    answers: ResultCache[SearchResponse]
    web: ResultCache[WebSearchResponse]
    raw: ResultCache[RawResult]
    questions: AskedQuestions | None = None
    similar: SimilarQuestions | None = None

    def memories(self) -> Sequence[Memory]:
        """The caches that hold entries in this process's memory."""
        return (
            self.answers,
            self.web,
            self.raw,
            *([self.questions] if self.questions is not None else []),
        )


def open_caches(
    settings: Settings,
    state: State,
    embedder: Embedder,
    reranker: Reranker | None,
    memory: CacheMemory,
) -> Caches:
    """The caches over `state`. Nothing is read yet."""
    lifetimes = Lifetimes(
        settings.cache_ttl_seconds, settings.cache_long_ttl_seconds, settings.stale_if_error_seconds
    )
    orderer, scope = reranker.name if reranker else None, settings.cache_scope
    raw = ResultCache(state, RAW_RESULTS, lifetimes, scope=scope, memory=memory)
    if not settings.semantic_cache or lifetimes.ttl <= 0:
        answers = ResultCache(
            state, ANSWERS, lifetimes, scope=scope, orderer=orderer, memory=memory
        )
        web_results = ResultCache(state, WEB_RESULTS, lifetimes, scope=scope, memory=memory)
        return Caches(answers, web_results, raw)
    questions = AskedQuestions(state, longest_seconds=lifetimes.longest, memory=memory)
    similar_answers = SemanticCache(
        questions, state, ANSWERS, lifetimes, scope=scope, orderer=orderer, memory=memory
    )
    web = SemanticCache(questions, state, WEB_RESULTS, lifetimes, scope=scope, memory=memory)
    # Thousands of questions are compared at once, and only the built-in embedder is quick enough for that.
    quick = embedder if isinstance(embedder, StaticEmbedder) else StaticEmbedder()
    return Caches(
        similar_answers,
        web,
        raw,
        questions,
        SimilarQuestions(quick, questions, (similar_answers, web), memory=memory),
    )


def _limits(settings: Settings, state: State) -> dict[str, RateLimits]:
    counts, overall = MemoryState(), settings.global_rate_limit
    return {
        name: RateLimits(
            state, counts, getattr(settings, name.lower()) or "", is_global * overall, name
        )
        for name, is_global in _LIMITS.items()
    }


def _state(settings: Settings) -> State:
    state = open_state(settings.effective_state_url)
    evictable = (*PREFIXES.values(), KNOWN_ADDRESSES)
    file_bytes, memory_bytes = settings.max_state_mb * 2**20, _memory_of_state(settings)
    if isinstance(state, SqliteState):
        state = SpareState(state, most_memory_bytes=memory_bytes)
    state.limit(memory_bytes if isinstance(state, MemoryState) else file_bytes, evictable)
    return state


def _memory_of_state(settings: Settings) -> int:
    """The bytes for a state in memory, or for one that goes on in memory when its file cannot be used."""
    return settings.memory_cache_mb * 2**20 // 2


def _memory(settings: Settings, state: State) -> CacheMemory:
    """What is left for the caches of this process."""
    most_bytes = settings.memory_cache_mb * 2**20
    if isinstance(state, (MemoryState, SpareState)):
        most_bytes -= _memory_of_state(settings)
    return CacheMemory(most_bytes)


@asynccontextmanager
async def open_gateway(settings: Settings) -> AsyncIterator[Gateway]:
    """A gateway for the length of a block."""
    gateway = Gateway(settings)
    try:
        yield gateway
    finally:
        await gateway.close()
