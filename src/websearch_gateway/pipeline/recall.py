"""A stored result, else that of an identical call in flight, else a new one. Only a new one leaves the cache."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from websearch_gateway.cache.result_store import Served
from websearch_gateway.cache.results import RawResult, ResultCache, stand_in
from websearch_gateway.cache.single_flight import SingleFlight
from websearch_gateway.errors import Exhausted, Unavailable
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.pipeline.rate_limit import RateLimits
from websearch_gateway.ports import Progress, State, no_progress, problem_of
from websearch_gateway.results.answer import SearchResponse
from websearch_gateway.results.search import WebSearchResponse
from websearch_gateway.upstream.tracing import child_span

R = TypeVar("R", SearchResponse, WebSearchResponse, RawResult)


@dataclass(frozen=True, slots=True)
class Recall(Generic[R]):
    """The cache of one kind of results with its limits. One per process and kind; safe for concurrent calls.

    Attributes:
        rate_limits: for calls that leave the cache.
        cached_limits: for calls with a stored result, and for those that join an identical call.
        state: its problem becomes a warning of every result.
    """

    cache: ResultCache[R]
    single_flight: SingleFlight
    rate_limits: RateLimits
    cached_limits: RateLimits
    state: State

    async def __call__(
        self,
        query: SearchQuery,
        caller: Caller,
        ask: Callable[[Progress], Awaitable[Served[R]]],
        progress: Progress = no_progress,
        *,
        use_cache: bool = True,
    ) -> Served[R]:
        """The result; `ask` gets a new one after the caller was admitted. A stale one stands in if `ask` fails.

        Raises:
            SearchRateLimitError: a limit is reached.
            SearchError: what `ask` raises.
        """
        served = await self._served(query, caller, ask, progress, use_cache=use_cache)
        problem = problem_of(self.state)
        return _warned(served, str(problem)) if problem else served

    async def _served(
        self,
        query: SearchQuery,
        caller: Caller,
        ask: Callable[[Progress], Awaitable[Served[R]]],
        progress: Progress,
        *,
        use_cache: bool,
    ) -> Served[R]:
        if not use_cache:
            await self.rate_limits.admit(caller)
            return await ask(progress)
        left = False

        async def begin(tell: Progress) -> Served[R]:
            nonlocal left
            with child_span("cache"):
                known = await self.cache.get(query, caller)
            if known is not None:
                return known
            left = True
            await self.rate_limits.admit(caller)
            try:
                return await ask(tell)
            except (Unavailable, Exhausted) as error:
                return await stand_in(self.cache, query, caller, error)

        with child_span("cache"):
            known = self.cache.recent(query, caller)
        if known is not None:
            await self.cached_limits.admit(caller)
            return known
        key = self.cache.key(query, caller)
        served, joined = await self.single_flight.join(key, begin, progress, user=caller.user)
        if not left:
            await self.cached_limits.admit(caller)
        if joined:  # the first caller is billed
            return Served(self.cache.kind.unbilled(served.response), served.saved_usd, joined=True)
        return served


def _warned(served: Served[R], warning: str) -> Served[R]:
    response = served.response.model_copy(update={"warnings": (*served.response.warnings, warning)})
    return served._replace(response=response)
