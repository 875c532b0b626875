"""What every entrypoint calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from websearch_gateway.admin.maintenance import CacheAdmin, Memory, Migration
from websearch_gateway.admin.operations import Doctor, Operations
from websearch_gateway.app.adapters import LazyDocs
from websearch_gateway.cache.results import (
    ANSWERS,
    RAW_RESULTS,
    WEB_RESULTS,
    Lifetimes,
    RawResult,
    ResultCache,
)
from websearch_gateway.cache.semantic import QuestionIndex, SemanticCache, SimilarQuestions
from websearch_gateway.embedders.local import StaticEmbedder
from websearch_gateway.models import LOCAL, Caller, Claim, RawSearchRequest, SearchRequest, WebSearchRequest
from websearch_gateway.pipeline.claims import ClaimChecking
from websearch_gateway.pipeline.guard import one_deadline
from websearch_gateway.pipeline.raw_search import RawSearch
from websearch_gateway.pipeline.read_page import PageReading
from websearch_gateway.pipeline.search import SIMILAR, CachedAnswers, SearchPipeline
from websearch_gateway.pipeline.web_search import WebSearch
from websearch_gateway.ports import Embedder, HostedEngine, Progress, Reranker, State, no_progress
from websearch_gateway.results import (
    CachedAnswer,
    Check,
    CheckedClaims,
    Diagnosis,
    DocsSearchResponse,
    MigrateResult,
    RawSearchResponse,
    SearchResponse,
    SimilarAnswers,
    WebSearchResponse,
)
from websearch_gateway.settings import Settings
from websearch_gateway.upstream.health import HealthRegistry
from websearch_gateway.workers.pool import Workers

if TYPE_CHECKING:
    from websearch_gateway.docs_index.library import DocsLibrary
    from websearch_gateway.docs_index.models import SiteVersion


R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Gateway:
    """What every entrypoint calls. One per process and event loop; close it when done."""

    pipeline: SearchPipeline
    cached: CachedAnswers
    caches: Caches
    cache: CacheAdmin
    web: WebSearch
    raw: RawSearch
    reading: PageReading
    claims: ClaimChecking
    engines: Sequence[HostedEngine]
    doctor: Doctor
    health: HealthRegistry
    operations: Operations
    migration: Migration
    workers: Workers
    lazy_docs: LazyDocs
    embedder: Embedder
    reranker: Reranker | None
    max_reply_tokens: int
    closers: tuple[Callable[[], Awaitable[None]], ...]

    @property
    def docs(self) -> DocsLibrary:
        """The documentation index. The first use imports it, in about 0.1 s."""
        return self.lazy_docs.get()

    async def search(
        self, request: SearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> SearchResponse:
        """Answer a question with citations. Raises what `SearchPipeline.search` raises."""
        return await self.shown(self.pipeline.search(request, caller, progress), caller)

    async def web_search(
        self, request: WebSearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> WebSearchResponse:
        """Find pages and read them. Raises what `WebSearch.search` raises."""
        await self.workers.warm()  # warm up a worker for the pages during the provider search
        return await self.shown(self.web.search(request, caller, progress), caller)

    async def check_claims(
        self, claims: Sequence[Claim], caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> CheckedClaims:
        """What pages say about each claim. Raises what `ClaimChecking.check` raises."""
        await self.workers.warm()  # warm up a worker for the pages during the searches
        return await self.claims.check(claims, caller, progress)

    async def raw_search(
        self, request: RawSearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> RawSearchResponse:
        """Results in Google's own form. Raises what `RawSearch.search` raises."""
        return await self.shown(self.raw.search(request, caller, progress), caller)

    async def search_cached(self, query: str, caller: Caller = LOCAL) -> CachedAnswer:
        """Answer from the cache alone. Raises what `CachedAnswers.search` raises."""
        return await self.shown(self.cached.search(query, caller), caller)

    async def search_similar(
        self, query: str, caller: Caller = LOCAL, *, threshold: float = SIMILAR, limit: int = 5
    ) -> SimilarAnswers:
        """Cached answers to similar questions. Raises what `CachedAnswers.similar` raises."""
        return await self.shown(self.cached.similar(query, caller, threshold=threshold, limit=limit), caller)

    async def shown(self, call: Awaitable[R], caller: Caller) -> R:
        """The result of a call; its addresses are known to the caller from now on. Raises what the call raises."""
        result = await call
        await self.reading.provenance.remember(result, caller)
        return result

    async def search_docs(
        self,
        query: str,
        *,
        site_id: str | None = None,
        sites_filter: str | None = None,
        label: str | None = None,
        limit: int = 10,
        max_tokens: int = 1_600,
        caller: Caller = LOCAL,
    ) -> DocsSearchResponse:
        """Search the documentation index.

        Raises what `Guard.clean`, `one_deadline` and `docs_index.library.search_docs` raise.
        """
        from websearch_gateway.docs_index.library import search_docs

        async with one_deadline(self.reading.deadline_seconds, caller) as call:
            return await search_docs(
                self.docs,
                self.embedder,
                self.pipeline.guard.clean("query", query),
                site_id=site_id,
                sites_filter=sites_filter,
                label=label,
                limit=limit,
                max_tokens=max_tokens,
                reranker=self.reranker,
                call=call,
            )

    async def add_docs(
        self, source: str, name: str | None = None, label: str | None = None, **options: Any
    ) -> tuple[SiteVersion, str]:
        """Register a site, or the documentation of a package, to crawl. Returns it, and what people must know of it.

        Raises what `DocsLibrary.add` and `DocsLibrary.add_package` raise.

        Raises:
            SearchValidationError: the address carries a credential.
        """
        from websearch_gateway.docs_index.packages import package_named

        for field, address in (("url", source), ("baseUrl", options.get("base_url") or "")):
            self.pipeline.guard.refuse_credentials_in_address(field, address)
        if (package := package_named(source)) is not None:
            return await self.docs.add_package(package, name, label, **options)
        return await self.docs.add(source, name, label, **options), ""

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
        """Load and start everything that the first call would wait for.

        Raises:
            SearchNotConfiguredError: a setting is unusable.
        """
        for engine in self.engines:  # its library takes the longest to import
            await engine.warm_up()
        await asyncio.to_thread(self.pipeline.guard.warm_up)
        for recall in (self.pipeline.recall, self.web.recall):
            await recall.rate_limits.warm_up()
        for rate_limits in (self.reading.rate_limits, self.reading.cached_limits):
            await rate_limits.warm_up()
        await self.caches.warm_up()
        await self.reading.warm_up()
        await self.workers.warm()  # it ends if no page comes within its idle minute

    async def close(self) -> None:
        """Release sockets, files, threads and processes. Idempotent."""
        async with AsyncExitStack() as stack:
            for close in self.closers:
                stack.push_async_callback(close)
            stack.callback(self.pipeline.telemetry.flush)


@dataclass(frozen=True, slots=True)
class Caches:
    """The caches of one process. `questions` and `similar` are None where the semantic cache is off."""

    answers: ResultCache[SearchResponse]
    web: ResultCache[WebSearchResponse]
    raw: ResultCache[RawResult]
    questions: QuestionIndex | None = None
    similar: SimilarQuestions | None = None

    def memories(self) -> Sequence[Memory]:
        """The caches that hold entries in this process's memory."""
        return (self.answers, self.web, self.raw, *([self.questions] if self.questions is not None else []))

    async def warm_up(self) -> None:
        """Load what the first question would wait for."""
        if self.questions is not None:  # an empty index is false
            await self.questions.warm_up()

    async def close(self) -> None:
        """Stop what runs in the background. Idempotent."""
        if self.questions is not None:  # an empty index is false
            await self.questions.close()


def open_caches(settings: Settings, state: State, embedder: Embedder, reranker: Reranker | None = None) -> Caches:
    """The caches over `state`. Nothing is read yet."""
    lifetimes = Lifetimes(settings.cache_ttl_seconds, settings.cache_long_ttl_seconds, settings.stale_if_error_seconds)
    orderer, scope = reranker.name if reranker else None, settings.cache_scope
    raw = ResultCache(state, RAW_RESULTS, lifetimes, scope=scope)
    if not settings.semantic_cache or lifetimes.ttl <= 0:
        answers = ResultCache(state, ANSWERS, lifetimes, scope=scope, orderer=orderer)
        return Caches(answers, ResultCache(state, WEB_RESULTS, lifetimes, scope=scope), raw)
    # Questions are compared on every miss, and only the built-in embedder is quick enough for that.
    quick = embedder if isinstance(embedder, StaticEmbedder) else StaticEmbedder()
    questions = QuestionIndex(quick, state, longest_seconds=lifetimes.longest)
    similar_answers = SemanticCache(questions, state, ANSWERS, lifetimes, scope=scope, orderer=orderer)
    web = SemanticCache(questions, state, WEB_RESULTS, lifetimes, scope=scope)
    return Caches(similar_answers, web, raw, questions, SimilarQuestions(questions, (similar_answers, web)))
