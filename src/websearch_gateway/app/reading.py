"""Who reads pages: the fetcher behind its address guard, the readers, and the library of what they read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from websearch_gateway.net.address import AddressGuard
from websearch_gateway.net.fetch import Fetcher, user_agent
from websearch_gateway.pipeline.pages import PageLibrary
from websearch_gateway.pipeline.passages import PassageFinder
from websearch_gateway.pipeline.shelf import Shelf
from websearch_gateway.pipeline.similarity import Similarity
from websearch_gateway.pipeline.tracing import TracedReader
from websearch_gateway.ports import Embedder, State
from websearch_gateway.readers import ReaderTable
from websearch_gateway.readers.browser import Browser
from websearch_gateway.readers.extract import warm_up
from websearch_gateway.readers.robots import RobotsFetcher
from websearch_gateway.readers.workers import Workers
from websearch_gateway.settings import Settings


@dataclass(frozen=True, slots=True)
class Reading:
    """What reads pages and finds passages in them; `closers` release its sockets and processes."""

    library: PageLibrary
    finder: PassageFinder
    workers: Workers
    browser: Browser
    closers: tuple[Callable[[], Awaitable[None]], ...]


def open_reading(settings: Settings, state: State, embedder: Embedder) -> Reading:
    """Everything that reads. Sockets, processes and the browser come with the first use."""
    addresses = AddressGuard(settings.fetch_allow_private_hosts)
    fetcher = Fetcher(addresses, user_agent=user_agent(settings.contact_url))
    workers = Workers(warm_up=warm_up)
    shelf = Shelf(state)
    readers, browser = _readers(settings, fetcher, workers)
    library = PageLibrary(
        TracedReader(readers),
        shelf,
        addresses.check_url,
        ttl_seconds=settings.page_ttl_seconds,
        secrets=settings.secrets(),
    )
    finder = PassageFinder(Similarity(embedder, shelf), size=settings.embedding_tokens_size)
    return Reading(library, finder, workers, browser, (fetcher.aclose, browser.aclose, workers.aclose))


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
