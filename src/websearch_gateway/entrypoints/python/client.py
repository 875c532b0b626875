"""`Gateway`: search, read and check from an asynchronous program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from websearch_gateway.entrypoints.python.options import (
    DocsOptions,
    PassageOptions,
    RawSearchOptions,
    ReadOptions,
    SearchOptions,
    WebSearchOptions,
)
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.models import (
    DIRECT,
    ContentRequest,
    PassagesRequest,
    RawSearchRequest,
    SearchRequest,
    WebSearchRequest,
)
from websearch_gateway.ports import Progress, no_progress

if TYPE_CHECKING:
    from websearch_gateway import app
    from websearch_gateway.results.answer import SearchResponse
    from websearch_gateway.results.docs import DocsSearchResponse
    from websearch_gateway.results.read import PageContent, PagePassages
    from websearch_gateway.results.search import RawSearchResponse, WebSearchResponse


class Gateway:
    """The gateway inside this process::

        async with Gateway(openai_api_key="sk-...") as gateway:
            answer = await gateway.search("How tall is the Eiffel Tower?")

    One per process is enough: it serves concurrent calls, which share its cache and limits.

    Args:
        config: a settings file (TOML); else the user's, if there is one.
        settings: any setting by its name in lower case; they override the environment, which overrides the file.
    """

    def __init__(self, *, config: Path | None = None, **settings: Any) -> None:
        self._config = config
        self._settings = settings
        self._opened: app.Gateway | None = None

    async def __aenter__(self) -> Self:
        """Open it. Raises `SearchNotConfiguredError` when a setting is unusable or unknown."""
        from websearch_gateway.app import build
        from websearch_gateway.settings import Settings, load_settings

        if unknown := sorted(set(self._settings) - set(Settings.model_fields)):
            raise SearchNotConfiguredError(f"There is no setting {', '.join(unknown)}.")
        self._opened = build(load_settings(self._config, **self._settings))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release sockets, files and processes."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.close()

    async def search(
        self, query: str, *, progress: Progress = no_progress, **options: Unpack[SearchOptions]
    ) -> SearchResponse:
        """Answer a question in a few sentences with verified citations.

        Raises:
            SearchError: `code`, `message` and `retry_after` say what is wrong and when to try again.
        """
        return await self._gateway.search(SearchRequest(query, **options), DIRECT, progress)

    async def web_search(
        self, query: str, *, progress: Progress = no_progress, **options: Unpack[WebSearchOptions]
    ) -> WebSearchResponse:
        """Find pages and read them. Raises `SearchError`."""
        return await self._gateway.web_search(WebSearchRequest(query, **options), DIRECT, progress)

    async def news(
        self, query: str, *, progress: Progress = no_progress, **options: Unpack[WebSearchOptions]
    ) -> WebSearchResponse:
        """Find news and read them. Raises `SearchError`."""
        return await self._gateway.web_search(WebSearchRequest(query, **options, topic="news"), DIRECT, progress)

    async def raw_search(
        self,
        queries: str | Sequence[str],
        *,
        progress: Progress = no_progress,
        **options: Unpack[RawSearchOptions],
    ) -> RawSearchResponse:
        """Results of one query or several, in Google's form, without pages. Raises `SearchError`."""
        return await self._gateway.raw_search(RawSearchRequest(_tuple(queries), **options), DIRECT, progress)

    async def read(self, url: str, **options: Unpack[ReadOptions]) -> PageContent:
        """A window of a page's Markdown. Raises `SearchError` when the page cannot be read."""
        return await self._gateway.reading.content(ContentRequest(url, **options), DIRECT)

    async def passages(self, url: str, queries: str | Sequence[str], **options: Unpack[PassageOptions]) -> PagePassages:
        """The passages of a page that answer one question or several. Raises `SearchError`."""
        return await self._gateway.reading.passages(PassagesRequest(url, _tuple(queries), **options), DIRECT)

    async def search_docs(self, query: str, **options: Unpack[DocsOptions]) -> DocsSearchResponse:
        """Sections of the documentation that is indexed on this machine; calls no upstream. Raises `SearchError`."""
        return await self._gateway.search_docs(query, **options)

    @property
    def _gateway(self) -> app.Gateway:
        if self._opened is None:
            raise RuntimeError("The gateway is closed: write `async with Gateway() as gateway`.")
        return self._opened


def _tuple(texts: str | Sequence[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)
