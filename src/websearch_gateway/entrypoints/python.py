"""The gateway as a library: `Gateway` for asynchronous programs, `SyncGateway` for all others.

Programs import both from `websearch_gateway`. Heavy parts are loaded when a gateway is opened. The keyword arguments of
the calls are the fields of the MCP tools.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import operator
import threading
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Self,
    TypedDict,
    TypeVar,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

from websearch_gateway.errors import SearchError, SearchNotConfiguredError
from websearch_gateway.models import (
    DIRECT,
    Claim,
    ContentRequest,
    DocsReadRequest,
    DocsSearchRequest,
    Freshness,
    PassagesRequest,
    Progress,
    RawSearchRequest,
    SafeSearch,
    SearchRequest,
    WebSearchRequest,
    no_progress,
)

if TYPE_CHECKING:
    from websearch_gateway.app import gateway as app
    from websearch_gateway.results import (
        CheckedClaims,
        DocsReadResponse,
        DocsSearchResponse,
        PageContent,
        PagePassages,
        RawSearchResponse,
        SearchResponse,
        WebSearchResponse,
    )


T = TypeVar("T")


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
        from websearch_gateway.app import gateway as app
        from websearch_gateway.settings.loading import Settings, load_settings

        if unknown := sorted(set(self._settings) - set(Settings.model_fields)):
            raise SearchNotConfiguredError(f"There is no setting {', '.join(unknown)}.")
        self._opened = app.Gateway(load_settings(self._config, **self._settings))
        return self

    async def __aexit__(self, *_: object) -> None:
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
        return await self._gateway.search(
            _made(SearchRequest, query=query, **options), DIRECT, progress
        )

    async def check_claims(
        self, claims: Sequence[str | Claim], *, progress: Progress = no_progress
    ) -> CheckedClaims:
        """What pages say of each sentence: those of a `Claim`, else those that a search finds.

        Raises `SearchError`.
        """
        if not isinstance(claims, Collection) or isinstance(claims, str):
            raise _invalid("claims", "a list of texts and `Claim`s", claims)
        given = [claim if isinstance(claim, Claim) else Claim(claim) for claim in claims]
        asked = [_made(Claim, claim=claim.claim, urls=claim.urls) for claim in given]
        return await self._gateway.check_claims(asked, DIRECT, progress)

    async def web_search(
        self, query: str, *, progress: Progress = no_progress, **options: Unpack[WebSearchOptions]
    ) -> WebSearchResponse:
        """Find pages and read them. Raises `SearchError`."""
        return await self._gateway.web_search(
            _made(WebSearchRequest, query=query, **options), DIRECT, progress
        )

    async def news(
        self, query: str, *, progress: Progress = no_progress, **options: Unpack[WebSearchOptions]
    ) -> WebSearchResponse:
        """Find news and read them. Raises `SearchError`."""
        request = _made(WebSearchRequest, query=query, **options, topic="news")
        return await self._gateway.web_search(request, DIRECT, progress)

    async def raw_search(
        self,
        queries: str | Sequence[str],
        *,
        progress: Progress = no_progress,
        **options: Unpack[RawSearchOptions],
    ) -> RawSearchResponse:
        """Results of one query or several, in Google's form, without pages. Raises `SearchError`."""
        return await self._gateway.raw_search(
            _made(RawSearchRequest, queries=_listed(queries), **options), DIRECT, progress
        )

    async def read(self, url: str, **options: Unpack[ReadOptions]) -> PageContent:
        """A window of a page's Markdown. Raises `SearchError` when the page cannot be read."""
        return await self._gateway.reading.content(
            _made(ContentRequest, url=url, **options), DIRECT
        )

    async def passages(
        self, url: str, queries: str | Sequence[str], **options: Unpack[PassageOptions]
    ) -> PagePassages:
        """The passages of a page that answer one question or several. Raises `SearchError`."""
        request = _made(PassagesRequest, url=url, queries=_listed(queries), **options)
        return await self._gateway.reading.passages(request, DIRECT)

    async def search_docs(self, query: str, **options: Unpack[DocsOptions]) -> DocsSearchResponse:
        """Sections of the documentation that is indexed on this machine; calls no upstream. Raises `SearchError`."""
        request = _made(DocsSearchRequest, query=query, **options)
        return await self._gateway.documentation.search(request, DIRECT)

    async def read_docs(
        self,
        *,
        section_id: str | None = None,
        url: str | None = None,
        **options: Unpack[ReadDocsOptions],
    ) -> DocsReadResponse:
        """A section that `search_docs` found, or an indexed page by its URL. Raises `SearchError`."""
        request = _made(DocsReadRequest, section_id=section_id, url=url, **options)
        return await self._gateway.documentation.read(request, DIRECT)

    @property
    def _gateway(self) -> app.Gateway:
        if self._opened is None:
            raise RuntimeError("The gateway is closed: write `async with Gateway() as gateway`.")
        return self._opened


def _listed(texts: str | Sequence[str]) -> Sequence[str]:
    return (texts,) if isinstance(texts, str) else texts


def _made(kind: Callable[..., T], **given: Any) -> T:
    """An object of that kind with these fields: lists as tuples, and what stands for a whole number (numpy's) as one.

    Raises:
        SearchValidationError: a value has another type than the kind declares; the message says what to pass.
        TypeError: the kind has no such field.
    """
    hints = _hints(kind)
    for name, value in given.items():
        hint = hints.get(name)
        if int in (hint, *get_args(hint)) and not isinstance(value, int):
            with suppress(TypeError):
                given[name] = value = operator.index(value)
        if hint is not None and not _fits(value, hint):
            raise _invalid(name, _demand(hint), value)
        if get_origin(hint) is tuple:
            given[name] = tuple(value)
    return kind(**given)


_hints = functools.cache(get_type_hints)  # working them out takes most of a millisecond


def _invalid(name: str, demand: str, value: object) -> SearchError:
    from websearch_gateway.pipeline.argument_values import invalid

    return invalid(
        name, f"{demand}, not a generator" if isinstance(value, Iterator) else demand, demand
    )


def _fits(value: object, hint: Any) -> bool:
    if get_origin(hint) is tuple:
        if not isinstance(value, Collection) or isinstance(value, str | bytes | Mapping):
            return False
        return all(isinstance(item, str) for item in value)
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if kinds := get_args(hint):
        return any(_fits(value, kind) for kind in kinds)
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))


def _demand(hint: Any) -> str:
    """What a value of this type is, in words."""
    if get_origin(hint) is tuple:
        return "a list of texts"
    if get_origin(hint) is Literal:
        return f"one of {', '.join(get_args(hint))}"
    if kinds := get_args(hint):
        return " or ".join(map(_demand, kinds))
    return {str: "text", int: "a whole number", bool: "True or False"}.get(hint, "None")


P = ParamSpec("P")


def _sync(
    method: Callable[Concatenate[Gateway, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[SyncGateway, P], T]:
    """The method of `Gateway` with the same arguments, which waits for its result."""

    @functools.wraps(method)
    def call(self: SyncGateway, /, *args: P.args, **options: P.kwargs) -> T:
        return self._wait(method(self._gateway, *args, **options))

    return call


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
        self._calls: set[asyncio.Task[Any]] = set()

    def __enter__(self) -> Self:
        """Open it. Raises `SearchNotConfiguredError` when a setting is unusable or unknown."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="websearch-gateway", daemon=True
        )
        self._thread.start()
        try:
            self._wait(self._gateway.__aenter__())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Cancel the calls of other threads, and release sockets, files, processes and the thread."""
        try:
            self._wait(_end(self._calls))  # or a call would go on, and open new connections
            self._wait(self._gateway.__aexit__())
        finally:
            self._stop()

    search = _sync(Gateway.search)
    check_claims = _sync(Gateway.check_claims)
    web_search = _sync(Gateway.web_search)
    news = _sync(Gateway.news)
    raw_search = _sync(Gateway.raw_search)
    read = _sync(Gateway.read)
    passages = _sync(Gateway.passages)
    search_docs = _sync(Gateway.search_docs)
    read_docs = _sync(Gateway.read_docs)

    def _wait(self, call: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            call.close()
            raise RuntimeError("The gateway is closed: write `with SyncGateway() as gateway`.")
        future = asyncio.run_coroutine_threadsafe(self._tracked(call), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C ends the call too
            raise

    async def _tracked(self, call: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(call)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        return await task

    def _stop(self) -> None:
        loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_end_all(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end_all() -> None:
    """Cancel what began while the gateway closed, and would wait for ever without a loop."""
    await _end(asyncio.all_tasks())
    await asyncio.get_running_loop().shutdown_default_executor()


async def _end(tasks: Collection[asyncio.Task[Any]]) -> None:
    ending = [task for task in tasks if task is not asyncio.current_task()]
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


class SearchOptions(TypedDict, total=False):
    """Of `search`: at most `max_results` sources (1-8), of the last `freshness_hours` (1-168), for a country.

    Sources are only from `include_domains`, if given, and never from `exclude_domains`. `verify_citations` reads
    the cited pages and quotes them.
    """

    max_results: int
    freshness_hours: int | None
    region: str | None
    include_answers: bool
    include_domains: tuple[str, ...]
    exclude_domains: tuple[str, ...]
    verify_citations: bool | None


class WebSearchOptions(TypedDict, total=False):
    """Of `web_search` and `news`: `max_results` pages (1-50) of `page` (from 1), from some domains and not others.

    Without `read_pages` the snippet replaces the page, and the reply is faster.
    """

    max_results: int
    providers: tuple[str, ...]
    use_cache: bool
    freshness: Freshness | None
    include_domains: tuple[str, ...]
    exclude_domains: tuple[str, ...]
    language: str | None
    region: str | None
    page: int
    safe_search: SafeSearch | None
    read_pages: bool


class RawSearchOptions(TypedDict, total=False):
    """Of `raw_search`: up to `max_results` items (1-50) for each query."""

    max_results: int
    region: str | None
    language: str | None
    safe_search: SafeSearch | None
    use_cache: bool


class ReadOptions(TypedDict, total=False):
    """Of `read`: the window that begins at `offset`, of at most `max_chars` (1-100,000) characters."""

    offset: int
    max_chars: int
    refresh: bool


class PassageOptions(TypedDict, total=False):
    """Of `passages`: at most `max_results` (1-50) for each query."""

    force_refresh: bool
    max_results: int
    include_metadata: bool


class DocsOptions(TypedDict, total=False):
    """Of `search_docs`: one site by `site_id`, or those whose name or URL matches `sites_filter`; a version by `label`.

    At most `max_results` sections, of `max_tokens` in all.
    """

    site_id: str | None
    sites_filter: str | None
    label: str | None
    max_results: int
    max_tokens: int


class ReadDocsOptions(TypedDict, total=False):
    """Of `read_docs`: a version by `label`; at most `max_tokens` of the section and of `around` before and after it.

    With `outline` the sections of the page are listed instead of their text.
    """

    label: str | None
    around: int
    max_tokens: int
    outline: bool


def _show_options(method: Callable[..., object], options: type) -> None:
    """List the options of a method one by one in its signature, for `help()` and editors, in place of `**options`."""
    signature = inspect.signature(method)
    parameters = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    for name, annotation in options.__annotations__.items():
        kind = annotation.__forward_arg__
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=..., annotation=kind)
        )
    vars(method)["__signature__"] = signature.replace(parameters=parameters)


_show_options(Gateway.search, SearchOptions)
_show_options(Gateway.web_search, WebSearchOptions)
_show_options(Gateway.news, WebSearchOptions)
_show_options(Gateway.raw_search, RawSearchOptions)
_show_options(Gateway.read, ReadOptions)
_show_options(Gateway.passages, PassageOptions)
_show_options(Gateway.search_docs, DocsOptions)
_show_options(Gateway.read_docs, ReadDocsOptions)
