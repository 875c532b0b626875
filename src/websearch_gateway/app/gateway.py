"""What every door talks to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from websearch_gateway.models import LOCAL, Caller, RawSearchRequest, SearchRequest, WebSearchRequest
from websearch_gateway.pipeline.cache_care import CacheCare
from websearch_gateway.pipeline.cached import CachedAnswers
from websearch_gateway.pipeline.diagnose import Doctor
from websearch_gateway.pipeline.health import HealthRegistry
from websearch_gateway.pipeline.migrate import Migration
from websearch_gateway.pipeline.operations import Operations
from websearch_gateway.pipeline.raw_search import RawSearch
from websearch_gateway.pipeline.reading import PageReading
from websearch_gateway.pipeline.search import SearchPipeline
from websearch_gateway.pipeline.web import WebSearch
from websearch_gateway.ports import HostedEngine, Progress, no_progress
from websearch_gateway.readers.workers import Workers
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
    cache: CacheCare
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
