"""The only place where the wings meet: `build(settings)` makes a Gateway out of adapters and the pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

import httpx2

from websearch_gateway.answers.extractive import compose
from websearch_gateway.answers.openai_client import OpenAIClient
from websearch_gateway.answers.openai_models import SEARCH_USD
from websearch_gateway.answers.openai_responses import OpenAIEngine
from websearch_gateway.embedders import open_embedder
from websearch_gateway.embedders.static import StaticEmbedder
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.models import LOCAL, Caller, RawSearchRequest, SearchRequest, WebSearchRequest
from websearch_gateway.net.address import AddressGuard
from websearch_gateway.net.client import create_client
from websearch_gateway.net.fetch import Fetcher, user_agent
from websearch_gateway.net.retry import Retry
from websearch_gateway.net.searcher import HttpSearcher
from websearch_gateway.pipeline.admit import Admission
from websearch_gateway.pipeline.breaker import Breaker
from websearch_gateway.pipeline.cached import CachedAnswers
from websearch_gateway.pipeline.chain import LEAST_SHARE_SECONDS, FallbackSearcher
from websearch_gateway.pipeline.diagnose import Doctor
from websearch_gateway.pipeline.fallback import FallbackEngine, UnconfiguredEngine
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.health import HealthRegistry, Stopwatch
from websearch_gateway.pipeline.hedge import ByWeight, Hedging, Order
from websearch_gateway.pipeline.inflight import InFlight
from websearch_gateway.pipeline.layer import LayeredEngine, LayeredSearcher
from websearch_gateway.pipeline.ledger import Ledger
from websearch_gateway.pipeline.migrate import Migration
from websearch_gateway.pipeline.operations import Operations
from websearch_gateway.pipeline.pace import Pace
from websearch_gateway.pipeline.pages import PageLibrary
from websearch_gateway.pipeline.paid import PaidEngine, PaidSearcher
from websearch_gateway.pipeline.passages import PassageFinder
from websearch_gateway.pipeline.raw import RawEngine
from websearch_gateway.pipeline.raw_search import RawSearch
from websearch_gateway.pipeline.reading import PageReading
from websearch_gateway.pipeline.roster import Roster
from websearch_gateway.pipeline.search import SearchPipeline
from websearch_gateway.pipeline.semantic import answer_cache
from websearch_gateway.pipeline.shelf import Shelf
from websearch_gateway.pipeline.similarity import Similarity
from websearch_gateway.pipeline.statistics import Statistics
from websearch_gateway.pipeline.telemetry import Telemetry
from websearch_gateway.pipeline.web import MOST_RESULTS, WebSearch
from websearch_gateway.pipeline.web_cache import WebCache
from websearch_gateway.ports import (
    AnswerEngine,
    HostedEngine,
    Progress,
    Provider,
    Searcher,
    State,
    no_progress,
)
from websearch_gateway.providers import absent, configured
from websearch_gateway.readers import ReaderTable
from websearch_gateway.readers.browser import Browser
from websearch_gateway.readers.extract import warm_up
from websearch_gateway.readers.robots import RobotsFetcher
from websearch_gateway.readers.workers import Workers
from websearch_gateway.settings import Settings
from websearch_gateway.state import open_state
from websearch_gateway.wire.admin import MigrateResult
from websearch_gateway.wire.answer import SearchResponse
from websearch_gateway.wire.cache import CachedAnswer, SimilarAnswers
from websearch_gateway.wire.ops import Check, Diagnosis
from websearch_gateway.wire.search import RawSearchResponse, WebSearchResponse


@dataclass(frozen=True, slots=True)
class Gateway:
    """What every door talks to. One per process and event loop; close it when done."""

    pipeline: SearchPipeline
    cached: CachedAnswers
    web: WebSearch
    raw: RawSearch
    reading: PageReading
    engine: HostedEngine
    doctor: Doctor
    health: HealthRegistry
    operations: Operations
    migration: Migration
    workers: Workers
    closers: tuple[Callable[[], Awaitable[None]], ...]

    async def search(
        self, request: SearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> SearchResponse:
        """Answer a question with citations. Raises what `SearchPipeline.search` raises."""
        return await self.pipeline.search(request, caller, progress)

    async def web_search(
        self, request: WebSearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> WebSearchResponse:
        """Find pages and read them. Raises what `WebSearch.search` raises."""
        return await self.web.search(request, caller, progress)

    async def raw_search(
        self, request: RawSearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> RawSearchResponse:
        """Results in Google's own form. Raises what `RawSearch.search` raises."""
        return await self.raw.search(request, caller, progress)

    async def search_cached(self, query: str, caller: Caller = LOCAL) -> CachedAnswer:
        """Answer from the cache alone. Raises what `CachedAnswers.search` raises."""
        return await self.cached.search(query, caller)

    async def search_similar(
        self, query: str, caller: Caller = LOCAL, *, threshold: float | None = None, limit: int = 5
    ) -> SimilarAnswers:
        """Cached answers to questions near to this one. Raises what `CachedAnswers.similar` raises."""
        return await self.cached.similar(query, caller, threshold=threshold, limit=limit)

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
        """Load and start what the first call would wait for.

        Raises:
            SearchNotConfiguredError: a setting turns out to be unusable.
        """
        await asyncio.to_thread(self.pipeline.guard.warm_up)
        await self.pipeline.admission.warm_up()
        await self.engine.warm_up()
        await self.workers.warm()
        await self.pipeline.cache.warm_up()
        await self.reading.warm_up()

    async def close(self) -> None:
        """Release sockets, files, threads and processes. Idempotent."""
        async with AsyncExitStack() as stack:
            for close in self.closers:
                stack.push_async_callback(close)
            stack.callback(self.pipeline.telemetry.flush)


def _engine(settings: Settings, client: httpx2.AsyncClient, retry: Retry) -> HostedEngine:
    if settings.openai_api_key is None:
        return UnconfiguredEngine("openai", "OPENAI_API_KEY")
    account = OpenAIClient(
        client,
        settings.openai_api_key,
        settings.openai_base_url,
        settings.request_timeout_ms / 1000,
        settings.secrets(),
    )
    return OpenAIEngine(account, settings.openai_models, retry, settings.prices.get("openai", SEARCH_USD))


def _guarded(settings: Settings, bare: HttpSearcher, health: HealthRegistry, ledger: Ledger) -> Searcher:
    """A vendor behind the ledger and its breaker, each of whose requests waits for its turn and is timed."""
    record = health.of(bare.name)
    rate = settings.provider_rates.get(bare.name, bare.provider.capabilities.requests_per_second)
    pace = Pace(record, rate, fixed=bare.name in settings.provider_rates)
    paced = replace(bare, layers=(Stopwatch(record), pace), heed=pace.heed)
    breaker = Breaker(record, settings.breaker_failures, settings.breaker_rest_seconds, LEAST_SHARE_SECONDS)
    guarded = LayeredSearcher(paced, breaker)
    return PaidSearcher(guarded, ledger, bare.most_usd) if bare.price_usd else guarded


def _order(settings: Settings, providers: Sequence[Provider]) -> Order:
    """Who is asked first: by weight where weights are set."""
    names = [provider.name for provider in providers]
    if unknown := sorted(settings.provider_weights.keys() - set(names)):
        raise SearchNotConfiguredError(
            f"PROVIDER_WEIGHTS names {', '.join(unknown)}, but only these are configured: {', '.join(names)}."
        )
    return ByWeight(settings.provider_weights) if settings.provider_weights else tuple


def _answering(
    settings: Settings, engine: HostedEngine, raw: AnswerEngine, health: HealthRegistry, ledger: Ledger
) -> FallbackEngine:
    """The engine behind the ledger and its breaker, backed by raw search. One without a key is no upstream."""
    hedge_seconds = settings.fallback_hedge_seconds
    if settings.openai_api_key is None:
        return FallbackEngine(engine, raw, hedge_seconds)
    record = health.of(engine.name)
    fair_seconds = max(LEAST_SHARE_SECONDS, min(hedge_seconds, settings.search_deadline_seconds / 2))
    breaker = Breaker(record, settings.breaker_failures, settings.breaker_rest_seconds, fair_seconds)
    timed = LayeredEngine(engine, Stopwatch(record))
    paid = PaidEngine(LayeredEngine(timed, breaker), ledger, engine.most_usd, engine.likely_usd)
    return FallbackEngine(paid, raw, hedge_seconds, breaker.overtaken)


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


def _readers(settings: Settings, fetcher: Fetcher, workers: Workers) -> tuple[ReaderTable, Browser]:
    pages = RobotsFetcher(fetcher, workers) if settings.respect_robots else fetcher
    browser = Browser(
        pages,
        path=settings.browser_path,
        retries=settings.browser_retries,
        backoff_seconds=settings.browser_backoff_ms / 1000,
    )
    token = settings.github_token.get_secret_value() if settings.github_token else ""
    told = settings.contact_url is not None
    return ReaderTable.build(fetcher, workers, token, pages=pages, renderer=browser, tells_contact=told), browser


def build(settings: Settings) -> Gateway:
    """Make a gateway. Opens nothing yet: connections, files and processes come with the first use.

    Raises:
        SearchNotConfiguredError: a setting names something that does not exist or lacks its key.
    """
    # First what can be wrong, then what would have to be closed.
    providers = configured(settings)
    order = _order(settings, providers)
    guard = Guard(settings.routes, settings.strict_routing, settings.secrets())
    client, retry = create_client(), Retry()
    state = open_state(settings.effective_state_url)
    addresses = AddressGuard(settings.fetch_allow_private_hosts)
    fetcher = Fetcher(addresses, user_agent=user_agent(settings.contact_url))
    shelf, embedder = Shelf(state), open_embedder(settings, client, retry)
    workers = Workers(warm_up=warm_up)
    timeout = settings.request_timeout_ms / 1000
    engine = _engine(settings, client, retry)
    health, statistics = HealthRegistry(), Statistics()
    ledger = Ledger(state, daily_usd=settings.daily_budget_usd, user_daily_usd=settings.user_daily_budget_usd)
    bare = [HttpSearcher(provider, client, retry, timeout, settings.prices) for provider in providers]
    searchers = [_guarded(settings, searcher, health, ledger) for searcher in bare]
    chain = FallbackSearcher(searchers, order=order, hedging=Hedging(health))
    readers, browser = _readers(settings, fetcher, workers)
    library = PageLibrary(
        readers, shelf, addresses.check_url, ttl_seconds=settings.page_ttl_seconds, secrets=settings.secrets()
    )
    raw = RawEngine(chain, library, compose, settings.concurrency, timeout)
    pipeline = SearchPipeline(
        guard=guard,
        admission=Admission(state, settings.rate_limit, settings.global_rate_limit),
        cache=answer_cache(
            state,
            embedder if isinstance(embedder, StaticEmbedder) else StaticEmbedder(),
            ttl_seconds=settings.cache_ttl_seconds,
            scope=settings.cache_scope,
            semantic=settings.semantic_cache,
        ),
        in_flight=InFlight(),
        engine=_answering(settings, engine, raw, health, ledger),
        telemetry=Telemetry([statistics.observe]),
        deadline_seconds=settings.search_deadline_seconds,
    )
    roster = Roster(
        pool=chain,
        searchers={searcher.name: searcher for searcher in searchers},
        news={provider.name for provider in providers if provider.capabilities.news},
        absent=absent(settings),
    )
    web = _web_search(settings, pipeline, roster, library, state)
    cached = CachedAnswers(
        guard, pipeline.cache, pipeline.telemetry, settings.similarity_threshold, settings.search_deadline_seconds
    )
    raw_search = RawSearch(guard, pipeline.admission, roster, pipeline.telemetry, settings.search_deadline_seconds)
    finder = PassageFinder(Similarity(embedder, shelf), size=settings.embedding_tokens_size)
    reading = PageReading(library, finder, pipeline.telemetry, settings.search_deadline_seconds)
    doctor = Doctor(engine, bare, state)
    migration = Migration(state, settings.effective_state_url, open_state, settings.data_dir)
    operations = Operations(health, statistics, ledger, pipeline.telemetry)
    closers = (
        state.close,
        ledger.flush,
        client.aclose,
        fetcher.aclose,
        browser.aclose,
        workers.aclose,
        pipeline.cache.close,
    )
    return Gateway(
        pipeline, cached, web, raw_search, reading, engine, doctor, health, operations, migration, workers, closers
    )


@asynccontextmanager
async def open_gateway(settings: Settings) -> AsyncIterator[Gateway]:
    """A gateway for the length of a block."""
    gateway = build(settings)
    try:
        yield gateway
    finally:
        await gateway.close()
