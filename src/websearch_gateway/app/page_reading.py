"""Page reading: the fetcher behind its address policy, the readers, and the page cache."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from websearch_gateway.answers.extractive import compose, shortlist
from websearch_gateway.app.upstreams import address_policy, outbound
from websearch_gateway.cache.pages import BlobCache, PageCache, Similarity
from websearch_gateway.embedders.static import encode
from websearch_gateway.models import Hit, SearchQuery
from websearch_gateway.net.fetch import Fetcher, user_agent
from websearch_gateway.pipeline.read_page import PassageFinder
from websearch_gateway.ports import Embedder, Reranker, State
from websearch_gateway.readers import ReaderTable
from websearch_gateway.readers.browser import Browser
from websearch_gateway.readers.extraction.extract import warm_up
from websearch_gateway.readers.robots_fetcher import RobotsFetcher
from websearch_gateway.settings import Settings
from websearch_gateway.text.passages import cut
from websearch_gateway.upstream.layers import BoundedReader
from websearch_gateway.upstream.telemetry import TracedReader
from websearch_gateway.workers.child import prepare
from websearch_gateway.workers.pool import Workers

COMPOSE = partial(compose, encode=encode)
"""Quotes pages, with the built-in vectors of English words. Runs in a worker."""

SHORTLIST = partial(shortlist, encode=encode)

_QUESTION, _HIT = SearchQuery("What is a page?"), Hit("https://a.example/", "A page", "A page is a text.", "warm-up")
WARM_UP = partial(prepare, (warm_up, partial(cut, "A page.", 64), partial(COMPOSE, _QUESTION, (_HIT,), {})))
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
    settings: Settings, state: State, embedder: Embedder, workers: Workers, reranker: Reranker | None = None
) -> PageReaders:
    """The parts that read pages. Sockets, processes and the browser open on first use."""
    addresses = address_policy(settings)
    name, way = user_agent(settings.contact_url), outbound(settings)
    fetcher = Fetcher(addresses, user_agent=name, outbound=way)
    site_fetcher = Fetcher(addresses, user_agent=name, keep_alive=True, outbound=way)
    blobs = BlobCache(state)
    readers, browser = _readers(settings, fetcher, workers)
    page_cache = PageCache(
        TracedReader(BoundedReader(readers, settings.request_timeout_ms / 1000)),
        blobs,
        addresses.check_url,
        ttl_seconds=settings.page_ttl_seconds,
        stale_seconds=settings.stale_if_error_seconds,
        secrets=settings.secrets(),
    )
    finder = PassageFinder(
        Similarity(embedder, blobs),
        workers,
        size=settings.embedding_tokens_size,
        threshold=settings.similarity_threshold,
        reranker=reranker,
    )
    closers = (fetcher.aclose, site_fetcher.aclose, browser.aclose, workers.aclose)
    return PageReaders(page_cache, finder, workers, browser, site_fetcher, closers)


def _readers(settings: Settings, fetcher: Fetcher, workers: Workers) -> tuple[ReaderTable, Browser]:
    pages = RobotsFetcher(fetcher, workers) if settings.respect_robots else fetcher
    browser = Browser(
        pages,
        path=settings.browser_path,
        retries=settings.browser_retries,
        backoff_seconds=settings.browser_backoff_ms / 1000,
    )
    token = settings.github_token.get_secret_value() if settings.github_token else ""
    tells_contact = settings.contact_url is not None
    table = ReaderTable.build(fetcher, workers, token, pages=pages, renderer=browser, tells_contact=tells_contact)
    return table, browser
