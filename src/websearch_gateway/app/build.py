"""`build(settings)` makes a Gateway out of adapters and the pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from websearch_gateway.admin.cache_admin import CacheAdmin
from websearch_gateway.admin.cache_contents import PREFIXES
from websearch_gateway.admin.doctor import Doctor
from websearch_gateway.admin.migrate import Migration
from websearch_gateway.admin.operations import Operations
from websearch_gateway.answers import Outside
from websearch_gateway.answers.extractive import compose
from websearch_gateway.app.caches import Caches, open_caches
from websearch_gateway.app.docs import open_docs
from websearch_gateway.app.domains import OperatorDomains, address_guard
from websearch_gateway.app.engines import answering, open_engines
from websearch_gateway.app.gateway import Gateway
from websearch_gateway.app.outbound import outbound
from websearch_gateway.app.page_reading import PageReaders, open_reading
from websearch_gateway.app.upstreams import Upstreams, open_upstreams
from websearch_gateway.budget.budgeted_embedder import BudgetedEmbedder
from websearch_gateway.budget.ledger import Ledger
from websearch_gateway.cache.page_cache import PageCache
from websearch_gateway.cache.single_flight import SingleFlight
from websearch_gateway.embedders import open_embedder
from websearch_gateway.embedders.prices import usd_per_million_tokens
from websearch_gateway.net.client import create_client
from websearch_gateway.net.retry import Retry
from websearch_gateway.observability.statistics import Statistics
from websearch_gateway.observability.telemetry import Telemetry
from websearch_gateway.observability.tracing import Traced
from websearch_gateway.pipeline.cached_answers import CachedAnswers
from websearch_gateway.pipeline.cleaning.answers import CleanedEngine
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.rate_limit import RateLimits
from websearch_gateway.pipeline.raw_engine import Gathering, RawEngine
from websearch_gateway.pipeline.raw_search import RawSearch
from websearch_gateway.pipeline.read_page import PageReading
from websearch_gateway.pipeline.search import SearchPipeline
from websearch_gateway.pipeline.web_search import WebSearch
from websearch_gateway.ports import AnswerEngine, BoundedState, Embedder, HostedEngine, State
from websearch_gateway.resilience.health import HealthRegistry
from websearch_gateway.resilience.layered_call import LayeredEngine
from websearch_gateway.resilience.provider_selection import ProviderSelection
from websearch_gateway.settings import Settings
from websearch_gateway.state import open_state


def build(settings: Settings) -> Gateway:
    """Make a gateway. Opens nothing yet: connections, files and processes come with the first use.

    Raises:
        SearchNotConfiguredError: a setting names something that does not exist or lacks its key.
    """
    lists = OperatorDomains.of(settings)
    guard = Guard(
        settings.routes,
        settings.strict_routing,
        settings.secrets(),
        allowed=lists.allowed,
        blocked=lists.blocked,
    )
    client, retry = create_client(outbound=outbound(settings)), Retry()
    state, embedder = open_state(settings.effective_state_url), open_embedder(settings, client, retry)
    if isinstance(state, BoundedState):
        state.limit(settings.max_state_mb * 2**20, tuple(PREFIXES.values()))
    health, statistics = HealthRegistry(), Statistics()
    ledger = Ledger(state, daily_usd=settings.daily_budget_usd, user_daily_usd=settings.user_daily_budget_usd)
    telemetry = Telemetry([statistics.observe, ledger.observe])
    upstreams = open_upstreams(settings, client, retry, health, ledger)
    if price := usd_per_million_tokens(settings):
        embedder = BudgetedEmbedder(embedder, ledger, price)
    pages = open_reading(settings, state, embedder)
    docs = open_docs(settings, pages, embedder)
    seconds = settings.search_deadline_seconds
    page_seconds = settings.request_timeout_ms / 1000
    gate = asyncio.Semaphore(settings.concurrency)
    gather = Gathering(upstreams.selection.pool, pages.page_cache, gate, page_seconds)
    engines = open_engines(settings, Outside(client, retry, gather, pages.workers, pages.site_fetcher))
    caches = open_caches(settings, state, embedder)
    searching = RateLimits(state, settings.search_rate_limit, settings.global_rate_limit, setting="SEARCH_RATE_LIMIT")
    reading = RateLimits(state, settings.read_rate_limit, setting="READ_RATE_LIMIT")
    addresses = address_guard(settings)
    answers = answering(settings, engines, RawEngine(gather, compose, pages.workers), health, ledger)
    engine = LayeredEngine(CleanedEngine(answers, addresses), Traced("answer"))
    pipeline = _pipeline(settings, state, guard, caches, engine, telemetry)
    web = _web_search(settings, pipeline, searching, gate, upstreams.selection, pages.page_cache, caches)
    return Gateway(
        pipeline=pipeline,
        cached=CachedAnswers(
            guard, caches.answers, caches.similar, reading, telemetry, settings.similarity_threshold, seconds
        ),
        caches=caches,
        cache=CacheAdmin(state, (*caches.memories(), pages.finder), statistics, telemetry, ledger),
        web=web,
        raw=RawSearch(guard, searching, upstreams.selection, addresses, gate, telemetry, seconds),
        reading=PageReading(pages.page_cache, pages.finder, reading, gate, telemetry, seconds),
        engines=engines,
        doctor=_doctor(engines, upstreams, state, embedder, pages, ledger),
        health=health,
        operations=Operations(health, statistics, ledger, telemetry),
        migration=Migration(state, settings.effective_state_url, open_state, settings.data_dir),
        workers=pages.workers,
        docs=docs,
        embedder=embedder,
        max_reply_tokens=settings.max_reply_tokens,
        closers=(docs.close, state.close, ledger.flush, client.aclose, *pages.closers, caches.close),
    )


def _pipeline(
    settings: Settings, state: State, guard: Guard, caches: Caches, engine: AnswerEngine, telemetry: Telemetry
) -> SearchPipeline:
    return SearchPipeline(
        guard=guard,
        rate_limits=RateLimits(state, settings.rate_limit, settings.global_rate_limit),
        cache=caches.answers,
        single_flight=SingleFlight(),
        engine=engine,
        telemetry=telemetry,
        deadline_seconds=settings.search_deadline_seconds,
    )


def _doctor(
    engines: Sequence[HostedEngine],
    upstreams: Upstreams,
    state: State,
    embedder: Embedder,
    pages: PageReaders,
    ledger: Ledger,
) -> Doctor:
    ends = {one.name: one.provider.capabilities.ends for one in upstreams.providers}
    missing, advice = pages.browser.missing, upstreams.advice
    return Doctor(engines, upstreams.providers, state, embedder, ends, missing, ledger, advice=advice)


def _web_search(
    settings: Settings,
    pipeline: SearchPipeline,
    rate_limits: RateLimits,
    gate: asyncio.Semaphore,
    selection: ProviderSelection,
    page_cache: PageCache,
    caches: Caches,
) -> WebSearch:
    return WebSearch(
        guard=pipeline.guard,
        rate_limits=rate_limits,
        selection=selection,
        page_cache=page_cache,
        cache=caches.web,
        single_flight=pipeline.single_flight,
        telemetry=pipeline.telemetry,
        gate=gate,
        page_seconds=settings.request_timeout_ms / 1000,
        deadline_seconds=settings.search_deadline_seconds,
    )


@asynccontextmanager
async def open_gateway(settings: Settings) -> AsyncIterator[Gateway]:
    """A gateway for the length of a block."""
    gateway = build(settings)
    try:
        yield gateway
    finally:
        await gateway.close()
