"""What every entrypoint calls, and `build(settings)`, which makes it from adapters and the pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from websearch_gateway.admin import PREFIXES, CacheAdmin, Doctor, Memory, Migration, Operations
from websearch_gateway.answers.table import Outside
from websearch_gateway.app.adapters import (
    COMPOSE,
    SHORTLIST,
    WARM_UP,
    LazyDocs,
    OperatorDomains,
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
from websearch_gateway.models import (
    LOCAL,
    Caller,
    Claim,
    Progress,
    RawSearchRequest,
    SearchRequest,
    WebSearchRequest,
    no_progress,
)
from websearch_gateway.net.client import create_client
from websearch_gateway.net.requests import Retry
from websearch_gateway.pipeline.claims import ClaimChecking, Verification
from websearch_gateway.pipeline.fallback import Gathering, RawEngine
from websearch_gateway.pipeline.finalize import cleaned_answer
from websearch_gateway.pipeline.guard import KNOWN_ADDRESSES, Guard, Provenance, one_deadline
from websearch_gateway.pipeline.read_page import PageReading
from websearch_gateway.pipeline.search import SIMILAR, CachedAnswers, R, RateLimits, Recall, SearchPipeline
from websearch_gateway.pipeline.web_search import RawSearch, WebSearch
from websearch_gateway.ports import Embedder, HostedEngine, Reranker, State
from websearch_gateway.results import (
    CachedAnswer,
    CheckedClaims,
    DocsSearchResponse,
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
from websearch_gateway.upstream.layers import BudgetedEmbedder, Layered
from websearch_gateway.upstream.ledger import Ledger
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
    parts = _Parts(settings)
    pages, state = parts.pages, parts.state
    web, reading = parts.web_search(), parts.page_reading()
    return Gateway(
        pipeline=parts.search(),
        cached=CachedAnswers(
            parts.guard,
            parts.caches.answers,
            parts.caches.similar,
            parts.limits["CACHED_RATE_LIMIT"],
            parts.telemetry,
            settings.search_deadline_seconds,
        ),
        caches=parts.caches,
        cache=CacheAdmin(
            state, (*parts.caches.memories(), pages.finder), parts.statistics, parts.telemetry, parts.ledger
        ),
        web=web,
        raw=parts.raw_search(),
        reading=reading,
        claims=ClaimChecking(parts.guard, web, reading),
        engines=parts.engines,
        doctor=parts.doctor(),
        health=parts.health,
        operations=Operations(parts.health, parts.statistics, parts.ledger, parts.telemetry, state),
        migration=Migration(state, settings.effective_state_url, open_state, settings.data_dir),
        workers=parts.workers,
        lazy_docs=parts.docs,
        embedder=parts.embedder,
        reranker=parts.reranker,
        max_reply_tokens=settings.max_reply_tokens,
        # In this order reversed: a crawl ends before its workers.
        closers=parts.closers,
    )


_LIMITS = {"RATE_LIMIT": True, "SEARCH_RATE_LIMIT": True, "READ_RATE_LIMIT": False, "CACHED_RATE_LIMIT": False}
"""The settings with limits, and whether GLOBAL_RATE_LIMIT counts their calls too."""


class _Parts:
    """What the parts of a gateway share, and the parts made of it. The last of `closers` is called first."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.client, self.retry = create_client(outbound=outbound(settings)), Retry()
        self.health, self.statistics, self.workers = HealthRegistry(), Statistics(), Workers(warm_up=WARM_UP)
        self.gate, self.flights = (
            asyncio.Semaphore(settings.concurrency),
            SingleFlight(settings.search_deadline_seconds / 2),
        )
        self.state = _state(settings)
        self.limits = _limits(settings, self.state)
        self.addresses = address_policy(settings)
        self.ledger = Ledger(
            self.state, daily_usd=settings.daily_budget_usd, user_daily_usd=settings.user_daily_budget_usd
        )
        self.telemetry = Telemetry([self.statistics.observe, self.ledger.observe])
        self.embedder = open_embedder(settings, self.client, self.retry)
        if price := usd_per_million_tokens(settings):
            self.embedder = BudgetedEmbedder(self.embedder, self.ledger, price)
        self.upstreams = open_upstreams(settings, self.client, self.retry, self.health, self.ledger, self.workers)
        self.reranker = open_reranker(settings, self.client, reranker_layers(settings, self.health, self.ledger))
        self.pages = open_reading(settings, self.state, self.embedder, self.workers, self.reranker)
        self.docs = lazy_docs(settings, self.pages, self.embedder)
        self.caches = open_caches(settings, self.state, self.embedder, self.reranker)
        self.page_seconds = settings.request_timeout_ms / 1000
        self.gather = Gathering(
            self.upstreams.selection.pool, self.pages.page_cache, self.workers, self.gate, self.page_seconds
        )
        outside = Outside(self.client, self.retry, self.gather, self.workers, self.pages.site_fetcher)
        self.engines = open_engines(settings, outside)
        lists = OperatorDomains.of(settings)
        self.guard = Guard(settings.routes, settings.secrets(), allowed=lists.allowed, blocked=lists.blocked)
        clients = (self.state.close, self.ledger.flush, self.client.aclose, *self.pages.closers)
        self.closers = (*clients, self.caches.close, self.docs.close, self.flights.close)  # before their workers

    def recall(self, cache: ResultCache[R], setting: str) -> Recall[R]:
        """A cache with its limits."""
        return Recall(cache, self.flights, self.limits[setting], self.limits["CACHED_RATE_LIMIT"], self.state)

    def search(self) -> SearchPipeline:
        """Answers: the engines in order, then quotes."""
        raw = RawEngine(self.gather, COMPOSE, self.workers, self.reranker, SHORTLIST)
        ranked = answering(self.settings, self.engines, raw, self.health, self.ledger)
        return SearchPipeline(
            guard=self.guard,
            recall=self.recall(self.caches.answers, "RATE_LIMIT"),
            engine=Layered(ranked, (partial(cleaned_answer, self.addresses),)),
            verification=Verification(self.pages.page_cache, self.workers, self.gate, self.page_seconds),
            verifies=self.settings.verify_citations == "on",
            telemetry=self.telemetry,
            deadline_seconds=self.settings.search_deadline_seconds,
        )

    def web_search(self) -> WebSearch:
        """Results with their pages."""
        return WebSearch(
            guard=self.guard,
            recall=self.recall(self.caches.web, "SEARCH_RATE_LIMIT"),
            selection=self.upstreams.selection,
            page_cache=self.pages.page_cache,
            workers=self.workers,
            telemetry=self.telemetry,
            gate=self.gate,
            page_seconds=self.page_seconds,
            deadline_seconds=self.settings.search_deadline_seconds,
        )

    def raw_search(self) -> RawSearch:
        """Results in Google's form."""
        return RawSearch(
            guard=self.guard,
            recall=self.recall(self.caches.raw, "SEARCH_RATE_LIMIT"),
            selection=self.upstreams.selection,
            addresses=self.addresses,
            gate=self.gate,
            telemetry=self.telemetry,
            deadline_seconds=self.settings.search_deadline_seconds,
        )

    def page_reading(self) -> PageReading:
        """One page."""
        known = partial(is_indexed, self.settings, self.docs)
        mode, trusted = self.settings.url_provenance, trusted_domains(self.settings)
        return PageReading(
            page_cache=self.pages.page_cache,
            finder=self.pages.finder,
            rate_limits=self.limits["READ_RATE_LIMIT"],
            cached_limits=self.limits["CACHED_RATE_LIMIT"],
            state=self.state,
            gate=self.gate,
            telemetry=self.telemetry,
            guard=self.guard,
            provenance=Provenance(mode, trusted, self.state, self.workers, known),
            deadline_seconds=self.settings.search_deadline_seconds,
        )

    def doctor(self) -> Doctor:
        """The check of everything outside."""
        return Doctor(
            self.engines,
            self.upstreams.providers,
            self.state,
            self.embedder,
            {one.name: one.provider.capabilities.ends for one in self.upstreams.providers},
            self.pages.browser.missing,
            self.ledger,
            advice=self.upstreams.advice,
            unfinished=self.upstreams.unfinished,
            reranker=self.reranker,
        )


def _limits(settings: Settings, state: State) -> dict[str, RateLimits]:
    counts, overall = MemoryState(), settings.global_rate_limit
    return {
        name: RateLimits(state, counts, getattr(settings, name.lower()) or "", is_global * overall, name)
        for name, is_global in _LIMITS.items()
    }


def _state(settings: Settings) -> State:
    state = open_state(settings.effective_state_url)
    if isinstance(state, SqliteState):
        state = SpareState(state)
    state.limit(settings.max_state_mb * 2**20, (*PREFIXES.values(), KNOWN_ADDRESSES))
    return state


@asynccontextmanager
async def open_gateway(settings: Settings) -> AsyncIterator[Gateway]:
    """A gateway for the length of a block."""
    gateway = build(settings)
    try:
        yield gateway
    finally:
        await gateway.close()
