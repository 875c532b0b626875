"""What every entrypoint calls, and `build(settings)`, which makes it from adapters and the pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
from pydantic import BaseModel

from websearch_gateway.admin.maintenance import PREFIXES, CacheAdmin, Memory, Migration
from websearch_gateway.admin.operations import Doctor, Operations
from websearch_gateway.answers.table import Outside
from websearch_gateway.app.adapters import (
    COMPOSE,
    SHORTLIST,
    WARM_UP,
    LazyDocs,
    OperatorDomains,
    PageReaders,
    Upstreams,
    address_policy,
    answering,
    is_indexed,
    lazy_docs,
    open_engines,
    open_reading,
    open_upstreams,
    outbound,
    reranker_layers,
    trusted_domains,
)
from websearch_gateway.cache.results import ANSWERS, RAW_RESULTS, WEB_RESULTS, Lifetimes, RawResult, ResultCache
from websearch_gateway.cache.semantic import QuestionIndex, SemanticCache, SimilarQuestions
from websearch_gateway.embedders import neural_reranker, open_embedder, open_reranker, usd_per_million_tokens
from websearch_gateway.embedders.local import StaticEmbedder
from websearch_gateway.models import LOCAL, Caller, Claim, RawSearchRequest, SearchRequest, WebSearchRequest
from websearch_gateway.net.address import AddressPolicy
from websearch_gateway.net.client import create_client
from websearch_gateway.net.requests import Retry
from websearch_gateway.pipeline.claims import ClaimChecking, Verification
from websearch_gateway.pipeline.fallback import Gathering, RawEngine
from websearch_gateway.pipeline.finalize import cleaned_answer
from websearch_gateway.pipeline.guard import KNOWN_ADDRESSES, Guard, Provenance, one_deadline
from websearch_gateway.pipeline.raw_search import RawSearch
from websearch_gateway.pipeline.read_page import PageReading
from websearch_gateway.pipeline.search import SIMILAR, CachedAnswers, R, RateLimits, Recall, SearchPipeline
from websearch_gateway.pipeline.web_search import WebSearch
from websearch_gateway.ports import AnswerEngine, Embedder, HostedEngine, Progress, Reranker, State, no_progress
from websearch_gateway.results import (
    CachedAnswer,
    Check,
    CheckedClaims,
    Diagnosis,
    DocsSearchResponse,
    MigrateResult,
    RawSearchResponse,
    SearchResponse,
    SimilarAnswers,
    WebSearchResponse,
)
from websearch_gateway.settings import Settings
from websearch_gateway.state import open_state
from websearch_gateway.state.memory import MemoryState, SpareState
from websearch_gateway.state.sqlite import SqliteState
from websearch_gateway.upstream.health import HealthRegistry
from websearch_gateway.upstream.layers import Layered
from websearch_gateway.upstream.ledger import BudgetedEmbedder, Ledger
from websearch_gateway.upstream.race import SingleFlight
from websearch_gateway.upstream.telemetry import Statistics, Telemetry
from websearch_gateway.workers.pool import Workers

if TYPE_CHECKING:
    from websearch_gateway.docs_index.library import DocsLibrary
    from websearch_gateway.docs_index.models import SiteVersion

Shown = TypeVar("Shown", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Gateway:
    """What every entrypoint calls. One per process and event loop; close it when done."""

    pipeline: SearchPipeline
    cached: CachedAnswers
    caches: Caches
    cache: CacheAdmin
    web: WebSearch
    raw: RawSearch
    reading: PageReading
    claims: ClaimChecking
    engines: Sequence[HostedEngine]
    doctor: Doctor
    health: HealthRegistry
    operations: Operations
    migration: Migration
    workers: Workers
    lazy_docs: LazyDocs
    embedder: Embedder
    reranker: Reranker | None
    max_reply_tokens: int
    closers: tuple[Callable[[], Awaitable[None]], ...]

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
        self, query: str, caller: Caller = LOCAL, *, threshold: float = SIMILAR, limit: int = 5
    ) -> SimilarAnswers:
        """Cached answers to similar questions. Raises what `CachedAnswers.similar` raises."""
        return await self.shown(self.cached.similar(query, caller, threshold=threshold, limit=limit), caller)

    async def shown(self, call: Awaitable[Shown], caller: Caller) -> Shown:
        """The result of a call; its addresses are known to the caller from now on. Raises what the call raises."""
        result = await call
        await self.reading.provenance.remember(result, caller)
        return result

    async def search_docs(
        self,
        query: str,
        *,
        site_id: str | None = None,
        sites_filter: str | None = None,
        label: str | None = None,
        limit: int = 10,
        max_tokens: int = 1_600,
        caller: Caller = LOCAL,
    ) -> DocsSearchResponse:
        """Search the documentation index.

        Raises what `Guard.clean`, `one_deadline` and `docs_index.library.search_docs` raise.
        """
        from websearch_gateway.docs_index.library import search_docs

        async with one_deadline(self.reading.deadline_seconds, caller) as call:
            return await search_docs(
                self.docs,
                self.embedder,
                self.pipeline.guard.clean("query", query),
                site_id=site_id,
                sites_filter=sites_filter,
                label=label,
                limit=limit,
                max_tokens=max_tokens,
                reranker=self.reranker,
                neural=neural_reranker(self.embedder),
                call=call,
            )

    async def add_docs(
        self, source: str, name: str | None = None, label: str | None = None, **options: Any
    ) -> tuple[SiteVersion, str]:
        """Register a site, or the documentation of a package, to crawl. Returns it, and what people must know of it.

        Raises what `DocsLibrary.add` and `DocsLibrary.add_package` raise.

        Raises:
            SearchValidationError: the address carries a credential.
        """
        from websearch_gateway.docs_index.packages import package_named

        for field, address in (("url", source), ("baseUrl", options.get("base_url") or "")):
            self.pipeline.guard.refuse_credentials_in_address(field, address)
        if (package := package_named(source)) is not None:
            return await self.docs.add_package(package, name, label, **options)
        return await self.docs.add(source, name, label, **options), ""

    async def diagnose(self) -> Diagnosis:
        """Call every configured upstream once and say what is wrong."""
        return await self.doctor.examine()

    async def check_state(self) -> Check:
        """Whether the state reads and writes: without it a server is not ready."""
        return await self.doctor.check_state()

    async def migrate(self, target_url: str, caller: Caller = LOCAL, *, counters: bool = False) -> MigrateResult:
        """Copy the shared state elsewhere. Raises what `Migration.migrate` raises."""
        return await self.migration.migrate(target_url, caller, counters=counters)

    async def warm_up(self) -> None:
        """Load everything that the first question would wait for.

        Raises:
            SearchNotConfiguredError: a setting is unusable.
        """
        for engine in self.engines:  # its library takes the longest to import
            await engine.warm_up()
        await asyncio.to_thread(self.pipeline.guard.warm_up)
        await self.caches.warm_up()

    async def warm_up_reading(self) -> None:
        """Load and start everything that the first page would wait for."""
        await self.reading.warm_up()
        await self.workers.warm()  # it ends if no page comes within its idle minute

    async def close(self) -> None:
        """Release sockets, files, threads and processes. Idempotent."""
        async with AsyncExitStack() as stack:
            for close in self.closers:
                stack.push_async_callback(close)
            stack.callback(self.pipeline.telemetry.flush)


@dataclass(frozen=True, slots=True)
class Caches:
    """The caches of one process. `questions` and `similar` are None where the semantic cache is off."""

    answers: ResultCache[SearchResponse]
    web: ResultCache[WebSearchResponse]
    raw: ResultCache[RawResult]
    questions: QuestionIndex | None = None
    similar: SimilarQuestions | None = None

    def memories(self) -> Sequence[Memory]:
        """The caches that hold entries in this process's memory."""
        return (self.answers, self.web, self.raw, *([self.questions] if self.questions is not None else []))

    async def warm_up(self) -> None:
        """Load what the first question would wait for."""
        if self.questions is not None:  # an empty index is false
            await self.questions.warm_up()

    async def close(self) -> None:
        """Stop what runs in the background. Idempotent."""
        if self.questions is not None:  # an empty index is false
            await self.questions.close()


def open_caches(settings: Settings, state: State, embedder: Embedder, reranker: Reranker | None = None) -> Caches:
    """The caches over `state`. Nothing is read yet."""
    lifetimes = Lifetimes(settings.cache_ttl_seconds, settings.cache_long_ttl_seconds, settings.stale_if_error_seconds)
    orderer, scope = reranker.name if reranker else None, settings.cache_scope
    raw = ResultCache(state, RAW_RESULTS, lifetimes, scope=scope)
    if not settings.semantic_cache or lifetimes.ttl <= 0:
        answers = ResultCache(state, ANSWERS, lifetimes, scope=scope, orderer=orderer)
        return Caches(answers, ResultCache(state, WEB_RESULTS, lifetimes, scope=scope), raw)
    # Questions are compared on every miss, and only the built-in embedder is quick enough for that.
    quick = embedder if isinstance(embedder, StaticEmbedder) else StaticEmbedder()
    questions = QuestionIndex(quick, state, longest_seconds=lifetimes.longest)
    similar_answers = SemanticCache(questions, state, ANSWERS, lifetimes, scope=scope, orderer=orderer)
    web = SemanticCache(questions, state, WEB_RESULTS, lifetimes, scope=scope)
    return Caches(similar_answers, web, raw, questions, SimilarQuestions(questions, (similar_answers, web)))


def build(settings: Settings) -> Gateway:
    """Make a gateway. Opens nothing yet: connections, files and processes come with the first use.

    Raises:
        SearchNotConfiguredError: a setting names something that does not exist or lacks its key.
    """
    shared = _shared(settings)
    pages = open_reading(settings, shared.state, shared.embedder, shared.workers, shared.reranker)
    docs = lazy_docs(settings, pages, shared.embedder)
    caches = open_caches(settings, shared.state, shared.embedder, shared.reranker)
    page_seconds = settings.request_timeout_ms / 1000
    gather = Gathering(shared.upstreams.selection.pool, pages.page_cache, pages.workers, shared.gate, page_seconds)
    engines = open_engines(settings, Outside(shared.client, shared.retry, gather, pages.workers, pages.site_fetcher))
    guard, limits, flights = _guard(settings), _limits(settings, shared), SingleFlight()
    web = _web_search(settings, shared, guard, limits.of_searches(caches.web, flights, shared.state), pages)
    reading = _page_reading(settings, shared, guard, limits, pages, docs)
    return Gateway(
        pipeline=SearchPipeline(
            guard=guard,
            recall=Recall(caches.answers, flights, limits.answers, limits.cached, shared.state),
            engine=_answers(settings, shared, engines, gather, pages),
            verification=Verification(pages.page_cache, pages.workers, shared.gate, page_seconds),
            verifies=settings.verify_citations == "on",
            telemetry=shared.telemetry,
            deadline_seconds=settings.search_deadline_seconds,
        ),
        cached=_cached_answers(settings, shared, guard, caches, limits.cached),
        caches=caches,
        cache=_cache_admin(shared, caches, pages),
        web=web,
        raw=_raw_search(settings, shared, guard, limits.of_searches(caches.raw, flights, shared.state)),
        reading=reading,
        claims=ClaimChecking(guard, web, reading),
        engines=engines,
        doctor=_doctor(engines, shared, pages),
        health=shared.health,
        operations=Operations(shared.health, shared.statistics, shared.ledger, shared.telemetry, shared.state),
        migration=Migration(shared.state, settings.effective_state_url, open_state, settings.data_dir),
        workers=pages.workers,
        lazy_docs=docs,
        embedder=shared.embedder,
        reranker=shared.reranker,
        max_reply_tokens=settings.max_reply_tokens,
        closers=(*shared.closers, *pages.closers, caches.close, docs.close),  # a crawl ends before its workers
    )


@dataclass(frozen=True, slots=True)
class _Shared:
    """The parts that other parts of a gateway share."""

    client: httpx2.AsyncClient
    retry: Retry
    state: State
    counts: State
    """The counts of this process only, for when `state` is unavailable."""
    embedder: Embedder
    reranker: Reranker | None
    health: HealthRegistry
    statistics: Statistics
    ledger: Ledger
    telemetry: Telemetry
    upstreams: Upstreams
    workers: Workers
    addresses: AddressPolicy
    gate: asyncio.Semaphore

    @property
    def closers(self) -> tuple[Callable[[], Awaitable[None]], ...]:
        """What releases files and sockets."""
        return (self.state.close, self.ledger.flush, self.client.aclose)


def _shared(settings: Settings) -> _Shared:
    client, retry = create_client(outbound=outbound(settings)), Retry()
    health, statistics, workers = HealthRegistry(), Statistics(), Workers(warm_up=WARM_UP)
    state = open_state(settings.effective_state_url)
    if isinstance(state, SqliteState):
        state = SpareState(state)
    state.limit(settings.max_state_mb * 2**20, (*PREFIXES.values(), KNOWN_ADDRESSES))
    ledger = Ledger(state, daily_usd=settings.daily_budget_usd, user_daily_usd=settings.user_daily_budget_usd)
    embedder = open_embedder(settings, client, retry)
    if price := usd_per_million_tokens(settings):
        embedder = BudgetedEmbedder(embedder, ledger, price)
    upstreams = open_upstreams(settings, client, retry, health, ledger, workers)
    return _Shared(
        client=client,
        retry=retry,
        state=state,
        counts=MemoryState(),
        embedder=embedder,
        reranker=open_reranker(settings, client, reranker_layers(settings, health, ledger)),
        health=health,
        statistics=statistics,
        ledger=ledger,
        telemetry=Telemetry([statistics.observe, ledger.observe]),
        upstreams=upstreams,
        workers=workers,
        addresses=address_policy(settings),
        gate=asyncio.Semaphore(settings.concurrency),
    )


def _answers(
    settings: Settings, shared: _Shared, engines: Sequence[HostedEngine], gather: Gathering, pages: PageReaders
) -> AnswerEngine:
    raw = RawEngine(gather, COMPOSE, pages.workers, shared.reranker, SHORTLIST)
    ranked = answering(settings, engines, raw, shared.health, shared.ledger)
    return Layered(ranked, (partial(cleaned_answer, shared.addresses),))


def _guard(settings: Settings) -> Guard:
    lists = OperatorDomains.of(settings)
    return Guard(settings.routes, settings.secrets(), allowed=lists.allowed, blocked=lists.blocked)


@dataclass(frozen=True, slots=True)
class _Limits:
    """The rate limits of one process: three for calls that leave the cache, and one for all that do not."""

    answers: RateLimits
    searches: RateLimits
    reads: RateLimits
    cached: RateLimits

    def of_searches(self, cache: ResultCache[R], flights: SingleFlight, state: State) -> Recall[R]:
        """A cache of search results with its limits."""
        return Recall(cache, flights, self.searches, self.cached, state)


def _limits(settings: Settings, shared: _Shared) -> _Limits:
    def limits(setting: str, overall: str = "") -> RateLimits:
        per_user = getattr(settings, setting.lower()) or ""
        return RateLimits(shared.state, shared.counts, per_user, overall, setting)

    return _Limits(
        answers=limits("RATE_LIMIT", settings.global_rate_limit),
        searches=limits("SEARCH_RATE_LIMIT", settings.global_rate_limit),
        reads=limits("READ_RATE_LIMIT"),
        cached=limits("CACHED_RATE_LIMIT"),
    )


def _cached_answers(
    settings: Settings, shared: _Shared, guard: Guard, caches: Caches, rate_limits: RateLimits
) -> CachedAnswers:
    return CachedAnswers(
        guard,
        caches.answers,
        caches.similar,
        rate_limits,
        shared.telemetry,
        settings.search_deadline_seconds,
    )


def _page_reading(
    settings: Settings, shared: _Shared, guard: Guard, limits: _Limits, pages: PageReaders, docs: LazyDocs
) -> PageReading:
    return PageReading(
        page_cache=pages.page_cache,
        finder=pages.finder,
        rate_limits=limits.reads,
        cached_limits=limits.cached,
        state=shared.state,
        gate=shared.gate,
        telemetry=shared.telemetry,
        guard=guard,
        provenance=Provenance(
            settings.url_provenance,
            trusted_domains(settings),
            shared.state,
            shared.workers,
            partial(is_indexed, settings, docs),
        ),
        deadline_seconds=settings.search_deadline_seconds,
    )


def _cache_admin(shared: _Shared, caches: Caches, pages: PageReaders) -> CacheAdmin:
    memories = (*caches.memories(), pages.finder)
    return CacheAdmin(shared.state, memories, shared.statistics, shared.telemetry, shared.ledger)


def _web_search(
    settings: Settings, shared: _Shared, guard: Guard, recall: Recall[WebSearchResponse], pages: PageReaders
) -> WebSearch:
    return WebSearch(
        guard=guard,
        recall=recall,
        selection=shared.upstreams.selection,
        page_cache=pages.page_cache,
        workers=pages.workers,
        telemetry=shared.telemetry,
        gate=shared.gate,
        page_seconds=settings.request_timeout_ms / 1000,
        deadline_seconds=settings.search_deadline_seconds,
    )


def _raw_search(settings: Settings, shared: _Shared, guard: Guard, recall: Recall[RawResult]) -> RawSearch:
    return RawSearch(
        guard=guard,
        recall=recall,
        selection=shared.upstreams.selection,
        addresses=shared.addresses,
        gate=shared.gate,
        telemetry=shared.telemetry,
        deadline_seconds=settings.search_deadline_seconds,
    )


def _doctor(engines: Sequence[HostedEngine], shared: _Shared, pages: PageReaders) -> Doctor:
    upstreams, missing = shared.upstreams, pages.browser.missing
    ends = {one.name: one.provider.capabilities.ends for one in upstreams.providers}
    return Doctor(
        engines,
        upstreams.providers,
        shared.state,
        shared.embedder,
        ends,
        missing,
        shared.ledger,
        advice=upstreams.advice,
        unfinished=upstreams.unfinished,
        reranker=shared.reranker,
    )


@asynccontextmanager
async def open_gateway(settings: Settings) -> AsyncIterator[Gateway]:
    """A gateway for the length of a block."""
    gateway = build(settings)
    try:
        yield gateway
    finally:
        await gateway.close()
