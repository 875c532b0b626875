"""`build(settings)` makes a Gateway from adapters and the pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import httpx2

from websearch_gateway.admin.maintenance import PREFIXES, CacheAdmin, Migration
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
from websearch_gateway.app.gateway import Caches, Gateway, open_caches
from websearch_gateway.cache.results import RawResult, ResultCache
from websearch_gateway.embedders import open_embedder, open_reranker, usd_per_million_tokens
from websearch_gateway.net.address import AddressPolicy
from websearch_gateway.net.client import create_client
from websearch_gateway.net.requests import Retry
from websearch_gateway.pipeline.claims import ClaimChecking, Verification
from websearch_gateway.pipeline.fallback import Gathering, RawEngine
from websearch_gateway.pipeline.finalize import cleaned_answer
from websearch_gateway.pipeline.guard import KNOWN_ADDRESSES, Guard, Provenance
from websearch_gateway.pipeline.raw_search import RawSearch
from websearch_gateway.pipeline.read_page import PageReading
from websearch_gateway.pipeline.search import CachedAnswers, R, RateLimits, Recall, SearchPipeline
from websearch_gateway.pipeline.web_search import WebSearch
from websearch_gateway.ports import AnswerEngine, Embedder, HostedEngine, Reranker, State
from websearch_gateway.results import WebSearchResponse
from websearch_gateway.settings import Settings
from websearch_gateway.state import open_state
from websearch_gateway.state.memory import MemoryState, SpareState
from websearch_gateway.state.sqlite import SqliteState
from websearch_gateway.upstream.health import HealthRegistry
from websearch_gateway.upstream.layers import Layered
from websearch_gateway.upstream.ledger import BudgetedEmbedder, Ledger
from websearch_gateway.upstream.race import SingleFlight
from websearch_gateway.upstream.telemetry import Statistics, Telemetry, Traced
from websearch_gateway.workers.pool import Workers


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
    return Layered(ranked, (Traced("answer"), partial(cleaned_answer, shared.addresses)))


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
        return RateLimits(shared.state, per_user, overall, setting=setting, here=shared.counts)

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
