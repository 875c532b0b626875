"""A result from the cache, from an identical call in flight, or from a new call that the limits admit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from websearch_gateway.base import child_span
from websearch_gateway.cache.kinds import RawResult
from websearch_gateway.cache.results import ResultCache, Served, stand_in
from websearch_gateway.errors import Exhausted, Unavailable
from websearch_gateway.models import Call, Caller, Progress, SearchQuery, StateProblem
from websearch_gateway.pipeline.calls import timeout_error
from websearch_gateway.pipeline.guard import CheckedQuery
from websearch_gateway.pipeline.rate_limits import RateLimits
from websearch_gateway.ports import State
from websearch_gateway.results import SearchResponse, WebSearchResponse
from websearch_gateway.upstream.single_flight import SingleFlight
from websearch_gateway.upstream.tracing import stage

STALE_RESERVE_SECONDS = 0.5
"""A search is asked to end this long before the deadline, so that a stale result can stand in (seconds). Of a call
shorter than ten times this it is a tenth."""

CANCEL_SHARE = 1 / 4
"""A search that does not end in time is cancelled with this share of the reserve left: most of the reserve is for
searches that end by themselves a little late, with an error that says more than a timeout."""

STORE_SHARE = 1 / 2
"""The share of the time left after a search in which its result must be stored; the rest is for the reply."""

R = TypeVar("R", SearchResponse, WebSearchResponse, RawResult)
Ask = Callable[[Call], Awaitable[tuple[R, bool]]]
"""Gets a new result. Also says whether it is a stopgap, which a better one may soon replace."""


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
        self, checked: CheckedQuery, call: Call, ask: Ask[R], *, use_cache: bool = True
    ) -> Served[R]:
        """The result, with the warnings of the guard. `ask` gets a new one, which is stored, after the caller was
        admitted. If it fails or takes too long, a stale one stands in.

        Raises:
            SearchRateLimitError: a limit is reached.
            SearchError: what `ask` raises.
        """
        call = replace(call, query=checked.query)
        if use_cache:
            served: Served[R] = await self._recalled(call, ask)
        else:
            await self.rate_limits.admit(call.caller)
            served = await self._asked(call, ask)
        problem: StateProblem | None = self.state.problem
        if not checked.warnings and problem is None:
            return served
        warnings = [*checked.warnings, *served.response.warnings]
        if problem:
            warnings.append(str(problem))
        response = served.response.model_copy(update={"warnings": tuple(warnings)})
        return served._replace(response=response)

    async def _recalled(self, call: Call, ask: Ask[R]) -> Served[R]:
        """As above, from the cache or an identical call in flight if possible.

        A caller counts for `rate_limits` in the flight that leaves the cache, and for `cached_limits` otherwise.
        """
        query = call.query
        caller = call.caller
        leaves_cache = False

        async def begin(tell: Progress) -> Served[R]:
            """The flight, which the first caller begins."""
            nonlocal leaves_cache
            with child_span("cache"):
                cached = await self.cache.get(query, caller)
            if cached is not None:
                return cached
            leaves_cache = True
            await self.rate_limits.admit(caller)
            try:
                return await self._asked(replace(call, progress=tell), ask)
            except (Unavailable, Exhausted) as error:
                return await stand_in(self.cache, query, caller, error)

        recent = self._recent(query, caller)
        if recent is not None:
            await self.cached_limits.admit(caller)
            return recent
        key = self.cache.key(query, caller)
        served, joined = await self.single_flight.join(
            key, begin, call.progress, user=caller.user, deadline=call
        )
        if not leaves_cache:
            await self.cached_limits.admit(caller)
        if joined:  # the first caller is billed
            return Served(self.cache.kind.free(served.response), served.saved_usd, joined=True)
        return served

    async def _asked(self, call: Call, ask: Ask[R]) -> Served[R]:
        """A new result, also put into the cache."""
        clock = asyncio.get_running_loop().time
        seconds = call.remaining()
        end = clock() + seconds
        reserve = min(STALE_RESERVE_SECONDS, seconds / 10)
        try:
            async with asyncio.timeout_at(end - reserve * CANCEL_SHARE):
                response, stopgap = await ask(call.within(seconds - reserve))
        except TimeoutError:
            raise timeout_error(round(seconds, 1)) from None
        # The result is in memory by now, and a slow state must not lose it.
        with suppress(TimeoutError):
            async with asyncio.timeout((end - clock()) * STORE_SHARE):
                await self.cache.put(call.query, call.caller, response, stopgap=stopgap)
        return Served(response)

    @stage("cache")
    def _recent(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        return self.cache.recent(query, caller)
