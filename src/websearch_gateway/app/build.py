"""`build(settings)` makes a Gateway out of adapters and the pipeline."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from websearch_gateway.answers.extractive import compose
from websearch_gateway.app.gateway import Gateway
from websearch_gateway.app.reading import Reading, open_reading
from websearch_gateway.app.upstreams import Upstreams, answering, open_upstreams
from websearch_gateway.embedders import open_embedder
from websearch_gateway.embedders.static import StaticEmbedder
from websearch_gateway.net.client import create_client
from websearch_gateway.net.retry import Retry
from websearch_gateway.pipeline.admit import Admission
from websearch_gateway.pipeline.cache_care import CacheCare
from websearch_gateway.pipeline.cached import CachedAnswers
from websearch_gateway.pipeline.diagnose import Doctor
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.health import HealthRegistry
from websearch_gateway.pipeline.inflight import InFlight
from websearch_gateway.pipeline.layer import LayeredEngine
from websearch_gateway.pipeline.ledger import Ledger
from websearch_gateway.pipeline.migrate import Migration
from websearch_gateway.pipeline.operations import Operations
from websearch_gateway.pipeline.pages import PageLibrary
from websearch_gateway.pipeline.raw import RawEngine
from websearch_gateway.pipeline.raw_search import RawSearch
from websearch_gateway.pipeline.reading import PageReading
from websearch_gateway.pipeline.recall import AnswerCache
from websearch_gateway.pipeline.roster import Roster
from websearch_gateway.pipeline.search import SearchPipeline
from websearch_gateway.pipeline.semantic import answer_cache
from websearch_gateway.pipeline.statistics import Statistics
from websearch_gateway.pipeline.telemetry import Telemetry
from websearch_gateway.pipeline.tracing import Traced
from websearch_gateway.pipeline.web import MOST_RESULTS, WebSearch
from websearch_gateway.pipeline.web_cache import WebCache
from websearch_gateway.ports import AnswerEngine, Embedder, State
from websearch_gateway.settings import Settings
from websearch_gateway.state import open_state


def build(settings: Settings) -> Gateway:
    """Make a gateway. Opens nothing yet: connections, files and processes come with the first use.

    Raises:
        SearchNotConfiguredError: a setting names something that does not exist or lacks its key.
    """
    guard = Guard(settings.routes, settings.strict_routing, settings.secrets())
    client, retry = create_client(), Retry()
    state, embedder = open_state(settings.effective_state_url), open_embedder(settings, client, retry)
    health, statistics = HealthRegistry(), Statistics()
    ledger = Ledger(state, daily_usd=settings.daily_budget_usd, user_daily_usd=settings.user_daily_budget_usd)
    telemetry = Telemetry([statistics.observe, ledger.observe])
    upstreams = open_upstreams(settings, client, retry, health, ledger)
    pages = open_reading(settings, state, embedder)
    seconds = settings.search_deadline_seconds
    page_seconds = settings.request_timeout_ms / 1000
    raw = RawEngine(upstreams.roster.pool, pages.library, compose, settings.concurrency, page_seconds)
    cache = _answer_cache(settings, state, embedder)
    engine = LayeredEngine(answering(settings, upstreams.engine, raw, health, ledger), Traced("answer"))
    pipeline = _pipeline(settings, state, guard, cache, engine, telemetry)
    web = _web_search(settings, pipeline, upstreams.roster, pages.library, state)
    return Gateway(
        pipeline=pipeline,
        cached=CachedAnswers(guard, cache, telemetry, settings.similarity_threshold, seconds),
        cache=CacheCare(state, (cache, web.cache, pages.finder), statistics, telemetry, ledger),
        web=web,
        raw=RawSearch(guard, pipeline.admission, upstreams.roster, telemetry, seconds),
        reading=PageReading(pages.library, pages.finder, telemetry, seconds),
        engine=upstreams.engine,
        doctor=_doctor(upstreams, state, embedder, pages),
        health=health,
        operations=Operations(health, statistics, ledger, telemetry),
        migration=Migration(state, settings.effective_state_url, open_state, settings.data_dir),
        workers=pages.workers,
        closers=(state.close, ledger.flush, client.aclose, *pages.closers, cache.close),
    )


def _pipeline(
    settings: Settings, state: State, guard: Guard, cache: AnswerCache, engine: AnswerEngine, telemetry: Telemetry
) -> SearchPipeline:
    return SearchPipeline(
        guard=guard,
        admission=Admission(state, settings.rate_limit, settings.global_rate_limit),
        cache=cache,
        in_flight=InFlight(),
        engine=engine,
        telemetry=telemetry,
        deadline_seconds=settings.search_deadline_seconds,
    )


def _doctor(upstreams: Upstreams, state: State, embedder: Embedder, pages: Reading) -> Doctor:
    ends = {one.name: one.provider.capabilities.ends for one in upstreams.providers}
    return Doctor(upstreams.engine, upstreams.providers, state, embedder, ends, pages.browser.missing)


def _answer_cache(settings: Settings, state: State, embedder: Embedder) -> AnswerCache:
    """The cache compares questions on every miss: the built-in embedder alone is quick enough."""
    return answer_cache(
        state,
        embedder if isinstance(embedder, StaticEmbedder) else StaticEmbedder(),
        ttl_seconds=settings.cache_ttl_seconds,
        scope=settings.cache_scope,
        semantic=settings.semantic_cache,
    )


def _web_search(
    settings: Settings, pipeline: SearchPipeline, roster: Roster, library: PageLibrary, state: State
) -> WebSearch:
    return WebSearch(
        guard=pipeline.guard,
        admission=pipeline.admission,
        roster=roster,
        library=library,
        cache=WebCache(state, ttl_seconds=settings.cache_ttl_seconds, scope=settings.cache_scope),
        in_flight=pipeline.in_flight,
        telemetry=pipeline.telemetry,
        concurrency=settings.concurrency if "concurrency" in settings.model_fields_set else MOST_RESULTS,
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
