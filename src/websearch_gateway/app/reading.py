"""Page reading: the fetchers behind their address policy, the readers, the page cache and the passages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from websearch_gateway.answers import compose, shortlist
from websearch_gateway.app.addresses import address_policy, outbound
from websearch_gateway.base import (
    CacheMemory,
    Fetcher,
    Fetching,
    Workers,
    prepare,
    user_agent,
)
from websearch_gateway.cache.pages import BlobCache, PageCache, Similarity
from websearch_gateway.evidence import cut_passages, encode
from websearch_gateway.models import Hit, SearchQuery
from websearch_gateway.pages import Browser, ReaderTable, RobotsFetcher, warm_up
from websearch_gateway.pipeline.read_page import PassageFinder
from websearch_gateway.ports import Embedder, Reranker, State
from websearch_gateway.settings.loading import Settings
from websearch_gateway.upstream.bounded_reader import BoundedReader

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
