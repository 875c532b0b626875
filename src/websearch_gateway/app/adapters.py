"""The adapters that the settings choose, inside their layers.

- The search providers and the answer engines, each behind its circuit breaker, its rate limiter and the ledger.
- The choices of the operator for outgoing requests: domains to search and to read, and the route.
- Page reading: the fetcher behind its address policy, the readers, and the page cache.
- The documentation index, made on first use of its store, the fetcher, the workers of the readers and an embedder.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urldefrag, urlsplit
from urllib.request import getproxies_environment

import httpx2

from websearch_gateway.answers import compose, shortlist
from websearch_gateway.answers import table as answers
from websearch_gateway.answers.table import Outside
from websearch_gateway.answers.table import configured as answers_configured
from websearch_gateway.base import (
    WORKING_FOR,
    AddressPolicy,
    CacheMemory,
    FairQueue,
    Fetched,
    Fetcher,
    Fetching,
    HttpSearcher,
    Limits,
    Outbound,
    ReplyParser,
    Retry,
    Workers,
    admitted,
    domains,
    fake_networks,
    nat64_prefixes,
    prepare,
    user_agent,
)
from websearch_gateway.cache.judgements import CachedReader
from websearch_gateway.cache.pages import BlobCache, PageCache, Similarity
from websearch_gateway.errors import (
    SearchError,
    SearchNotConfiguredError,
    SearchValidationError,
    Unavailable,
)
from websearch_gateway.evidence import cut_passages, encode
from websearch_gateway.models import MOST_DOMAINS, BrowserUse, Deadline, Hit, SearchQuery
from websearch_gateway.pages import (
    CONVERTERS,
    HEAVY,
    Browser,
    ReaderTable,
    RobotsFetcher,
    kind_of,
    warm_up,
)
from websearch_gateway.pipeline.cleaning import cleaned_hits
from websearch_gateway.pipeline.fallback import FallbackEngine, Ranked
from websearch_gateway.pipeline.judging import FallbackReader
from websearch_gateway.pipeline.read_page import PassageFinder
from websearch_gateway.ports import (
    AnswerEngine,
    ClaimReader,
    Embedder,
    HostedEngine,
    Layer,
    Reranker,
    Searcher,
    State,
    no_layer,
)
from websearch_gateway.providers.table import PROVIDERS, absent, advice, configured
from websearch_gateway.settings.loading import Settings, certificate_folders, index_variables
from websearch_gateway.state.shared import require
from websearch_gateway.upstream.guarded import Guarded, UpstreamGuard
from websearch_gateway.upstream.layers import (
    BoundedReader,
    BurstGate,
    CircuitBreaker,
    HealthRegistry,
    RateLimiter,
    Stopwatch,
    UpstreamHealth,
)
from websearch_gateway.upstream.ledger import Ledger
from websearch_gateway.upstream.race import (
    LEAST_SHARE_SECONDS,
    FallbackSearcher,
    Hedging,
    Order,
    ProviderSelection,
    by_weight,
)

if TYPE_CHECKING:
    from websearch_gateway.answers.claim_reader import ModelReader
    from websearch_gateway.docs import DocsLibrary, Document, SqlDocs, Turn
    from websearch_gateway.pages import CrawledPage, Renderer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Upstreams:
    """The bare providers, which `doctor` examines, and the selection among the guarded ones.

    `advice` tells which keys to set, unless a provider has one. `unfinished` maps each engine and provider of whose
    required settings only some are set to what is missing.
    """

    providers: Sequence[HttpSearcher]
    selection: ProviderSelection
    advice: Callable[[], str]
    unfinished: Mapping[str, str]


def open_upstreams(
    settings: Settings,
    client: httpx2.AsyncClient,
    retry: Retry,
    health: HealthRegistry,
    ledger: Ledger,
    workers: Workers,
) -> Upstreams:
    """Every configured upstream. Calls nothing.

    Raises:
        SearchNotConfiguredError: a setting names a provider that does not exist or lacks its key.
    """
    providers = configured(settings)
    _check_names(settings, [provider.name for provider in providers])
    for engine in answers.configured(settings):
        health.of(engine.name)  # the health page lists engines first
    timeout = settings.request_timeout_ms / 1000
    parser = ReplyParser(workers)
    bare = [
        HttpSearcher(provider, client, retry, timeout, settings.prices, parser=parser)
        for provider in providers
    ]
    searchers = [_layered(settings, searcher, health, ledger) for searcher in bare]
    order: Order = by_weight(settings.provider_weights) if settings.provider_weights else tuple
    hedging, advised = Hedging(health), partial(advice, settings)  # it imports every provider
    selection = ProviderSelection(
        pool=FallbackSearcher(searchers, order=order, hedging=hedging, advice=advised),
        searchers={searcher.name: searcher for searcher in searchers},
        news={provider.name for provider in providers if provider.capabilities.news},
        absent=absent(settings),
        hedging=hedging,
    )
    return Upstreams(bare, selection, advised, _unfinished(settings))


def _unfinished(settings: Settings) -> dict[str, str]:
    found = {}
    rows = [(entry.name, entry.needs) for entry in answers.ENGINES] + [
        (entry.name, entry.needs) for entry in PROVIDERS
    ]
    for name, needs in rows:
        done = [need.upper() for need in needs if getattr(settings, need)]
        missing = [need.upper() for need in needs if not getattr(settings, need)]
        if done and missing:
            found[name] = f"{' and '.join(done)} is set, {' and '.join(missing)} is not"
    if settings.reranker_url is None and (settings.reranker_model or settings.reranker_api_key):
        found["reranker"] = "RERANKER_MODEL or RERANKER_API_KEY is set, RERANKER_URL is not"
    return found


def _layered(
    settings: Settings, bare: HttpSearcher, health: HealthRegistry, ledger: Ledger
) -> Searcher:
    record = health.of(bare.name)
    limiter = RateLimiter(record, bare.provider.capabilities.requests_per_second)
    guard = UpstreamGuard(
        bare.name,
        BurstGate(bare.name),
        _breaker(settings, record, LEAST_SHARE_SECONDS),
        ledger.budget(bare.name, bare.most_usd) if bare.price_usd else no_layer,
    )
    paced = replace(bare, pace=limiter, stopwatch=Stopwatch(record), on_headers=limiter.learn)
    return Guarded(paced, guard, partial(cleaned_hits, address_policy(settings)))


def reranker_guard(settings: Settings, health: HealthRegistry, ledger: Ledger) -> Layer:
    """The guard of RERANKER_URL: one that is down, or hangs once, is not asked for every call."""
    if settings.reranker_url is None:
        return no_layer
    record, price = health.of("reranker"), settings.prices.get("reranker")
    return UpstreamGuard(
        "reranker",
        BurstGate("reranker"),
        # Every call waits for it, and can do without it.
        _breaker(settings, record, LEAST_SHARE_SECONDS, timeouts=1),
        ledger.budget("reranker", lambda _: price) if price else no_layer,
        Stopwatch(record),
    )


def _breaker(
    settings: Settings, record: UpstreamHealth, fair_seconds: float, timeouts: int | None = None
) -> CircuitBreaker:
    return CircuitBreaker(
        record, settings.breaker_failures, settings.breaker_rest_seconds, fair_seconds, timeouts
    )


def _check_names(settings: Settings, names: Sequence[str]) -> None:
    """A weight must name a configured provider; a price may name one that has no key yet.

    Raises:
        SearchNotConfiguredError: a name is unknown.
    """
    if unknown := sorted(settings.provider_weights.keys() - set(names)):
        raise SearchNotConfiguredError(
            f"PROVIDER_WEIGHTS names {', '.join(unknown)}, but only these are configured: {', '.join(names)}."
        )
    priced = {
        *(engine.name for engine in answers.ENGINES),
        "embedding",
        "reranker",
        *names,
        *absent(settings),
    }
    if unknown := sorted(settings.prices.keys() - priced):
        raise SearchNotConfiguredError(
            f"PRICES names {', '.join(unknown)}, but there are only these: {', '.join(sorted(priced))}."
        )


def open_engines(settings: Settings, outside: Outside) -> Sequence[HostedEngine]:
    """Every configured engine, in order. Calls nothing.

    Raises:
        SearchNotConfiguredError: ANSWER_ENGINES names an engine that does not exist or lacks its key.
    """
    return [entry.build(settings, outside) for entry in answers_configured(settings)]


def claim_reader(
    settings: Settings, outside: Outside, state: State, health: HealthRegistry, ledger: Ledger
) -> ClaimReader | None:
    """The models that CLAIMS_READER names, each upstream behind its guard and its cache. Calls nothing.

    Raises:
        SearchNotConfiguredError: CLAIMS_READER names a model whose settings are missing.
    """
    stored = BlobCache(state)
    readers: list[ClaimReader] = []
    for name, reader in _bare_readers(settings, outside).items():
        record = health.of(name)
        reader.guard = UpstreamGuard(
            name,
            BurstGate(name),
            _breaker(settings, record, LEAST_SHARE_SECONDS),
            ledger.budget(name, partial(_most_usd, reader)),
            Stopwatch(record),
        )
        per_user = settings.cache_scope == "user"
        readers.append(CachedReader(reader, stored, settings.cache_long_ttl_seconds, per_user))
    return FallbackReader(readers) if readers else None


def _bare_readers(settings: Settings, outside: Outside) -> Mapping[str, ModelReader]:
    """The readers in the order in which they are asked, by the name of their upstream."""
    has_own = settings.llm_base_url is not None and settings.llm_model is not None
    match settings.claims_reader:
        case "off":
            return {}
        case "auto":
            return {"llm": answers.own_reader(settings, outside)} if has_own else {}
        case "llm":
            if not has_own:
                raise SearchNotConfiguredError(
                    "CLAIMS_READER=llm needs LLM_BASE_URL and LLM_MODEL."
                )
            return {"llm": answers.own_reader(settings, outside)}
        case "engine":
            return _engine_readers(settings, outside)


def _engine_readers(settings: Settings, outside: Outside) -> Mapping[str, ModelReader]:
    """The answer engines that can be asked without a search. Your own model is one of them, and needs none."""
    readers = {}
    names = [entry.name for entry in answers_configured(settings)]
    for name in names:
        if name == "llm":
            readers[name] = answers.own_reader(settings, outside)
        elif reader := answers.engine_reader(name, settings, outside):
            readers[name] = reader
    if readers:
        return readers
    if names:
        raise SearchNotConfiguredError(
            f"CLAIMS_READER=engine cannot ask {' or '.join(names)}: without a model in its setting, or without chat "
            "completions that search nothing, an answer engine judges no claims. Name another one in ANSWER_ENGINES, "
            "or set CLAIMS_READER=llm or off."
        )
    raise SearchNotConfiguredError(
        "CLAIMS_READER=engine needs an answer engine, and none is configured."
    )


def answering(
    settings: Settings,
    engines: Sequence[HostedEngine],
    raw: AnswerEngine,
    health: HealthRegistry,
    ledger: Ledger,
) -> AnswerEngine:
    """The engines in order, with raw search as the last."""
    fair_seconds = max(
        LEAST_SHARE_SECONDS,
        min(settings.fallback_hedge_seconds, settings.search_deadline_seconds / 2),
    )
    ranked = []
    for engine, entry in zip(engines, answers_configured(settings), strict=True):
        record = health.of(engine.name)
        breaker = _breaker(settings, record, fair_seconds)
        guard = UpstreamGuard(
            engine.name,
            BurstGate(engine.name),
            breaker,
            ledger.budget(engine.name, partial(_most_usd, engine)),
            Stopwatch(record),
        )
        ranked.append(Ranked(Guarded(engine, guard), breaker.overtaken, entry.gathers))
    return FallbackEngine(ranked, raw, settings.fallback_hedge_seconds)


def _most_usd(upstream: HostedEngine | ModelReader, _: SearchQuery) -> float:
    """What a call may cost; it changes when a model is shut down."""
    return upstream.most_usd


@dataclass(frozen=True, slots=True)
class OperatorDomains:
    """What ALLOWED_DOMAINS and BLOCKED_DOMAINS say, as `text.urls.domains` gives it."""

    allowed: tuple[str, ...]
    blocked: tuple[str, ...]

    def admit(self, url: str) -> bool:
        """Whether a page with this address may be shown. One of this machine, which has no host, always may."""
        try:
            if not urlsplit(url).netloc:
                return True
        except ValueError:
            return False
        return admitted(url, self.allowed, self.blocked)

    @classmethod
    def of(cls, settings: Settings) -> OperatorDomains:
        """Raises `SearchNotConfiguredError` if an entry is not a domain or a list is too long."""
        return cls(
            checked_domains("ALLOWED_DOMAINS", settings.allowed_domains),
            checked_domains("BLOCKED_DOMAINS", settings.blocked_domains),
        )


def address_policy(settings: Settings) -> AddressPolicy:
    """Which addresses may be read and shown as links.

    Raises:
        SearchNotConfiguredError: a setting is unusable.
    """
    lists = OperatorDomains.of(settings)
    return AddressPolicy(
        settings.fetch_allow_private_hosts,
        allowed=lists.allowed,
        blocked=lists.blocked,
        fake=fake_networks(settings.fake_ip_networks),
        nat64=nat64_prefixes(settings.nat64_prefixes),
    )


def checked_domains(setting: str, given: tuple[str, ...]) -> tuple[str, ...]:
    """What a setting says. Raises `SearchNotConfiguredError` if an entry is not a domain."""
    try:
        return domains(setting, given)
    except SearchValidationError:
        message = f"{setting} must hold at most {MOST_DOMAINS} domains such as example.org, separated by commas."
        raise SearchNotConfiguredError(message) from None


def outbound(settings: Settings) -> Outbound:
    """OUTBOUND_PROXY, CA_BUNDLE, and the environment's proxies if TRUST_ENV is on.

    Raises:
        SearchNotConfiguredError: the environment names folders of certificates, and there are none in them.
    """
    folders = certificate_folders()
    if folders and not any(map(_holds_certificates, folders)):
        raise SearchNotConfiguredError(
            "SSL_CERT_DIR names no folder with certificates under their hashes (c_rehash). Unset it, or give your own "
            "authorities with CA_BUNDLE."
        )
    environment = getproxies_environment() if settings.trust_env else {}
    return Outbound(settings.outbound_proxy, settings.ca_bundle, environment)


_HASHED_NAME = re.compile(r"[0-9a-f]{8}\.\d+")
"""How OpenSSL finds a certificate in a folder (https://docs.openssl.org/3.0/man1/openssl-rehash/)."""


def _holds_certificates(folder: Path) -> bool:
    try:
        return any(_HASHED_NAME.fullmatch(file.name) for file in folder.iterdir())
    except (OSError, ValueError):
        return False


COMPOSE = partial(compose, encode=encode)
"""Quotes pages, with the built-in vectors of English words. Runs in a worker."""

SHORTLIST = partial(shortlist, encode=encode)

_QUESTION, _HIT = (
    SearchQuery("What is a page?"),
    Hit("https://a.example/", "A page", "A page is a text.", "warm-up"),
)
WARM_UP = partial(
    prepare,
    (warm_up, partial(cut_passages, "A page.", 64), partial(COMPOSE, _QUESTION, (_HIT,), {})),
)
"""Runs first in each worker: imports what most jobs need."""


@dataclass(frozen=True, slots=True)
class PageReaders:
    """What reads pages and finds passages in them; `closers` release its sockets and processes.

    `site_fetcher` is for fetching many pages of one site.
    """

    page_cache: PageCache
    finder: PassageFinder
    workers: Workers
    browser: Browser
    site_fetcher: Fetcher
    closers: tuple[Callable[[], Awaitable[None]], ...]


def open_reading(
    settings: Settings,
    state: State,
    embedder: Embedder,
    workers: Workers,
    reranker: Reranker | None,
    memory: CacheMemory,
) -> PageReaders:
    """The parts that read pages. Sockets, processes and the browser open on first use."""
    addresses = address_policy(settings)
    name, way = user_agent(settings.contact_url), outbound(settings)
    fetcher = Fetcher(addresses, user_agent=name, outbound=way)
    site_fetcher = Fetcher(addresses, user_agent=name, keep_alive=True, outbound=way)
    pages: Fetching = fetcher
    if settings.respect_robots:
        pages = RobotsFetcher(fetcher, workers, memory=memory)
    browser = Browser(
        pages,
        path=settings.browser_path,
        retries=settings.browser_retries,
        backoff_seconds=settings.browser_backoff_ms / 1000,
    )
    token = settings.github_token.get_secret_value() if settings.github_token else ""
    contact = settings.contact_url is not None
    readers = ReaderTable.build(
        fetcher, workers, token, pages=pages, renderer=browser, tells_contact=contact
    )
    page_cache = PageCache(
        BoundedReader(readers, settings.request_timeout_ms / 1000),
        BlobCache(state),
        addresses.check_url,
        stale_seconds=settings.stale_if_error_seconds,
        secrets=settings.secrets(),
    )
    finder = PassageFinder(
        Similarity(embedder),
        workers,
        size=settings.embedding_tokens_size,
        threshold=settings.similarity_threshold,
        reranker=reranker,
        memory=memory,
    )
    closers = (fetcher.aclose, site_fetcher.aclose, browser.aclose, workers.aclose)
    return PageReaders(page_cache, finder, workers, browser, site_fetcher, closers)


INDEX_SECONDS = 2.0
"""For looking whether a site is indexed (seconds): tools are listed without it if the index is slow."""

UNPACKING = Limits(megabytes=512, seconds=600.0, cpu_seconds=120.0)
"""For an archive of 500 MB that unpacks to 2 GB."""


@dataclass(slots=True)
class LazyDocs:
    """Makes the index on first use: its fifty modules take 3 MB, and most servers have no documentation."""

    make: Callable[[], DocsLibrary]
    closers: tuple[Callable[[], Awaitable[None]], ...] = ()
    _made: DocsLibrary | None = None
    _lock: Lock = field(default_factory=Lock)

    def get(self) -> DocsLibrary:
        """The index. Thread-safe."""
        with self._lock:
            if self._made is None:
                self._made = self.make()
            return self._made

    async def close(self) -> None:
        """Release its files, sockets and threads. Idempotent."""
        if self._made is not None:
            await self._made.close()
            for close in self.closers:
                await close()


def lazy_docs(
    settings: Settings,
    reading: PageReaders,
    embedder: Embedder,
    reranker: Reranker | None,
    guarded: Callable[[], Deadline],
) -> LazyDocs:
    """The index that DOCS_URL names. Its file or database is opened by the first call. `guarded`: see `CrawlRunner`.

    Raises:
        SearchNotConfiguredError: a library that it needs is not installed.
    """
    if settings.docs_vectors:
        require("lancedb", extra="lancedb", setting="DOCS_VECTORS")
    if settings.docs_path is None:
        require("psycopg_pool", extra="postgres", setting="DOCS_URL")
    unpackers = Workers(count=1, limits=UNPACKING, idle_seconds=1)
    return LazyDocs(
        partial(_make, settings, reading, unpackers, embedder, reranker, guarded),
        (unpackers.aclose,),
    )


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """A `docs_index.models.ReadDocument`: in the readers' worker processes, with their converters and browser."""

    workers: Workers
    renderer: Renderer

    async def __call__(
        self,
        fetched: Fetched,
        browser: BrowserUse,
        deadline: Deadline,
        draft: Callable[[Any], Mapping[str, Any]],
        *,
        only_links: bool = False,
    ) -> Document:
        from websearch_gateway.pages import crawled_html, crawled_text, followed_html

        kind = kind_of(fetched)
        if kind != "html":
            read = partial(crawled_text, CONVERTERS[kind])
            return await self._run(read, fetched, draft, deadline, heavy=kind in HEAVY)
        if only_links:
            return await self._run(followed_html, fetched, draft, deadline)
        if browser == "always":
            return await self._rendered(fetched, draft, deadline)
        document = await self._run(crawled_html, fetched, draft, deadline)
        if document.needs_scripts and browser == "auto":
            try:
                return replace(await self._rendered(fetched, draft, deadline), rendered=True)
            except Unavailable:
                return document
        return document

    async def _rendered(
        self,
        fetched: Fetched,
        draft: Callable[[CrawledPage], Mapping[str, Any]],
        deadline: Deadline,
    ) -> Document:
        from websearch_gateway.pages import crawled_html

        return await self._run(
            crawled_html, await self.renderer.render(fetched, deadline), draft, deadline
        )

    async def _run(
        self,
        read: Callable[[bytes, str, str], CrawledPage],
        fetched: Fetched,
        draft: Callable[[CrawledPage], Mapping[str, Any]],
        deadline: Deadline,
        *,
        heavy: bool = False,
    ) -> Document:
        from websearch_gateway.docs import ChunkDraft, Document, Symbol
        from websearch_gateway.pages import crawled

        arguments = (fetched.body, fetched.final_url, fetched.charset)
        page = await self.workers.run(
            crawled, read, draft, *arguments, deadline=deadline, heavy=heavy
        )
        made = {
            "chunks": tuple(map(ChunkDraft.of_values, page["chunks"])),
            "symbols": tuple(Symbol(**values) for values in page["symbols"]),
            "links": tuple(page["links"]),
        }
        return Document(**{**page, **made})


def _make(
    settings: Settings,
    reading: PageReaders,
    unpackers: Workers,
    embedder: Embedder,
    reranker: Reranker | None,
    guarded: Callable[[], Deadline],
) -> DocsLibrary:
    from websearch_gateway.docs import MOST_SEARCHES, CrawlRunner, DocsLibrary, Registries

    # Half of the searches may be one user's; a user without a running search does not wait for them.
    queue = FairQueue(MOST_SEARCHES // 2, MOST_SEARCHES // 2)
    store = _store(settings, embedder.name, lambda: queue.turn(WORKING_FOR.get()))
    read = DocumentReading(reading.workers, reading.browser)
    fetcher, workers = reading.site_fetcher, reading.workers
    runner = CrawlRunner(
        store, fetcher, workers, unpackers, read, embedder, settings.docs_path, guarded
    )
    registries = Registries(
        fetcher, workers, settings.pypi_base_url, settings.npm_base_url, index_variables()
    )
    return DocsLibrary(store, runner, registries, OperatorDomains.of(settings).admit, reranker)


async def is_indexed(settings: Settings, docs: LazyDocs, url: str) -> bool:
    """Whether exactly this address is a page of the documentation index. False where there is no index yet."""
    if settings.docs_path is not None and not settings.docs_path.exists():
        return False
    library = docs.get()
    try:
        async with asyncio.timeout(INDEX_SECONDS):
            versions = [version.id for version in await library.searchable()]
            return await library.store.find_page(urldefrag(url).url, versions) is not None
    except (TimeoutError, SearchError):
        return False


def _store(settings: Settings, embedder: str, turn: Turn) -> SqlDocs:
    near = None
    if url := settings.docs_vectors:
        from websearch_gateway.docs import LanceVectors

        near = partial(
            LanceVectors, url.removeprefix("lance://" if url.startswith("lance:///") else "lance+")
        )
    if settings.docs_path is not None:
        from websearch_gateway.docs import SqliteDocs

        return SqliteDocs(settings.docs_path, embedder, near=near, turn=turn)
    from websearch_gateway.docs import PostgresDocs

    return PostgresDocs(settings.docs_url or "", embedder, near=near, turn=turn)
