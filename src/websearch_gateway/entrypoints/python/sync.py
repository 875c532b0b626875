"""`SyncGateway`: the same for programs that do not await."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from websearch_gateway.entrypoints.python.client import Gateway
from websearch_gateway.entrypoints.python.options import (
    DocsOptions,
    PassageOptions,
    RawSearchOptions,
    ReadOptions,
    SearchOptions,
    WebSearchOptions,
)

if TYPE_CHECKING:
    from websearch_gateway.results.answer import SearchResponse
    from websearch_gateway.results.docs import DocsSearchResponse
    from websearch_gateway.results.read import PageContent, PagePassages
    from websearch_gateway.results.search import RawSearchResponse, WebSearchResponse

T = TypeVar("T")


class SyncGateway:
    """`Gateway` for synchronous programs; it may be called from several threads, also beside a running event loop::

        with SyncGateway() as gateway:
            print(gateway.search("How tall is the Eiffel Tower?").text)

    The arguments and errors are those of `Gateway`. Its event loop runs in a thread of its own.
    """

    def __init__(self, *, config: Path | None = None, **settings: Any) -> None:
        self._gateway = Gateway(config=config, **settings)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Open it. Raises `SearchNotConfiguredError` when a setting is unusable or unknown."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="websearch-gateway", daemon=True)
        self._thread.start()
        try:
            self._wait(self._gateway.__aenter__())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release sockets, files, processes and the thread."""
        try:
            self._wait(self._gateway.__aexit__(kind, error, trace))
        finally:
            self._stop()

    def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchResponse:
        """Answer a question in a few sentences with verified citations."""
        return self._wait(self._gateway.search(query, **options))

    def web_search(self, query: str, **options: Unpack[WebSearchOptions]) -> WebSearchResponse:
        """Find pages and read them."""
        return self._wait(self._gateway.web_search(query, **options))

    def news(self, query: str, **options: Unpack[WebSearchOptions]) -> WebSearchResponse:
        """Find news and read them."""
        return self._wait(self._gateway.news(query, **options))

    def raw_search(self, queries: str | Sequence[str], **options: Unpack[RawSearchOptions]) -> RawSearchResponse:
        """Results of one query or several, in Google's form, without pages."""
        return self._wait(self._gateway.raw_search(queries, **options))

    def read(self, url: str, **options: Unpack[ReadOptions]) -> PageContent:
        """A window of a page's Markdown."""
        return self._wait(self._gateway.read(url, **options))

    def passages(self, url: str, queries: str | Sequence[str], **options: Unpack[PassageOptions]) -> PagePassages:
        """The passages of a page that answer one question or several."""
        return self._wait(self._gateway.passages(url, queries, **options))

    def search_docs(self, query: str, **options: Unpack[DocsOptions]) -> DocsSearchResponse:
        """Sections of the documentation that is indexed on this machine; calls no upstream."""
        return self._wait(self._gateway.search_docs(query, **options))

    def _wait(self, call: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            call.close()
            raise RuntimeError("The gateway is closed: write `with SyncGateway() as gateway`.")
        future = asyncio.run_coroutine_threadsafe(call, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C ends the call too
            raise

    def _stop(self) -> None:
        loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
