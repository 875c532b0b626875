"""A stored result, else that of an identical call in flight, else a new one within the caller's rate limit.

A fixed window of calls begins with its first one; when it ends, the count starts at zero. That is exact with one atomic
addition per call, however many processes share the state. The known drawback: a caller who waits for the end of a
window can once make up to twice the limit in a short time. A refused call does not count towards the next window.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from websearch_gateway.cache.results import RawResult, ResultCache, Served, stand_in
from websearch_gateway.cache.single_flight import SingleFlight
from websearch_gateway.errors import Exhausted, Unavailable
from websearch_gateway.models import Call, Caller, SearchQuery
from websearch_gateway.net.span_attributes import child_span
from websearch_gateway.pipeline.guard import CheckedQuery
from websearch_gateway.ports import Progress, State, problem_of
from websearch_gateway.results import SearchResponse, WebSearchResponse
from websearch_gateway.upstream.best_effort import BestEffort
from websearch_gateway.upstream.tracing import stage

if TYPE_CHECKING:
    from websearch_gateway.upstream.quota import Quota


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
        checked: CheckedQuery,
        call: Call,
        ask: Callable[[Call], Awaitable[Served[R]]],
        *,
        use_cache: bool = True,
    ) -> Served[R]:
        """The result, with the warnings of the guard; `ask` gets a new one after the caller was admitted.
        A stale one stands in if `ask` fails.

        Raises:
            SearchRateLimitError: a limit is reached.
            SearchError: what `ask` raises.
        """
        served = await (self._recalled if use_cache else self._asked)(checked.query, call, ask)
        problem = problem_of(self.state)
        return _warned(served, checked.warnings, (str(problem),) if problem else ())

    async def _asked(self, query: SearchQuery, call: Call, ask: Callable[[Call], Awaitable[Served[R]]]) -> Served[R]:
        await self.rate_limits.admit(call.caller)
        return await ask(replace(call, query=query))

    async def _recalled(self, query: SearchQuery, call: Call, ask: Callable[[Call], Awaitable[Served[R]]]) -> Served[R]:
        caller = call.caller
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
                return await ask(replace(call, query=query, progress=tell))
            except (Unavailable, Exhausted) as error:
                return await stand_in(self.cache, query, caller, error)

        with child_span("cache"):
            known = self.cache.recent(query, caller)
        if known is not None:
            await self.cached_limits.admit(caller)
            return known
        key = self.cache.key(query, caller)
        served, joined = await self.single_flight.join(key, begin, call.progress, user=caller.user)
        if not left:
            await self.cached_limits.admit(caller)
        if joined:  # the first caller is billed
            return Served(self.cache.kind.unbilled(served.response), served.saved_usd, joined=True)
        return served


def _warned(served: Served[R], before: Sequence[str], after: Sequence[str]) -> Served[R]:
    if not before and not after:
        return served
    warnings = (*before, *served.response.warnings, *after)
    return served._replace(response=served.response.model_copy(update={"warnings": warnings}))


class RateLimits:
    """The rate limit of one kind of call. While the state is unavailable, it counts in this process only.

    Args:
        per_user: the limit for the calls of one user, as `N/PERIOD` (`20/10minutes`); empty for no limit.
        overall: the limit for the calls of all users, in the same form. Instances that have it share its count.
        setting: the setting that `per_user` comes from. Each setting has its own counts.
        here: holds the counts of this process, for when the state is unavailable. Instances that share it also share
            the count of `overall` there; without it each instance counts alone.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        state: State,
        per_user: str = "20/10minutes",
        overall: str = "",
        *,
        setting: str = "RATE_LIMIT",
        here: State | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._state = state
        self._per_user = per_user
        self._overall = overall
        self._setting = setting
        self._here = here
        self._clock = clock
        self._quota: Quota | None = None
        self._best_effort = BestEffort("Rate limits are counted in this process only")

    @stage("rate_limit")
    async def admit(self, caller: Caller) -> None:
        """Count one call of `caller`.

        Raises:
            SearchRateLimitError: the limit is reached; `retry_after` is the rest of the window in whole seconds.
            SearchNotConfiguredError: the setting or GLOBAL_RATE_LIMIT is not of the form `N/PERIOD`.
        """
        if not self._per_user and not self._overall:
            return
        quota = await self._loaded()
        user = _pseudonym(caller)

        async def charge() -> bool:
            await quota.charge(user)
            return True

        if not await self._best_effort(charge, otherwise=False, seconds=None):
            await quota.charge_here(user)

    async def give_back(self, caller: Caller) -> None:
        """Uncount one admitted call that called no upstream. Does nothing if the state is unavailable."""
        if (quota := self._quota) is None:
            return

        async def refund() -> bool:
            await quota.refund(_pseudonym(caller))
            return True

        await self._best_effort(refund, otherwise=False, seconds=None)

    async def warm_up(self) -> None:
        """Load everything that the first call would wait for.

        Raises:
            SearchNotConfiguredError: as `admit`.
        """
        await self._loaded()

    async def _loaded(self) -> Quota:
        if self._quota is None:
            quota = await asyncio.to_thread(self._make_quota)
            self._quota = self._quota or quota
        return self._quota

    def _make_quota(self) -> Quota:
        # Importing `limits` is slow, so it happens in a thread, at the first call.
        from websearch_gateway.upstream.quota import Quota

        return Quota(self._state, self._per_user, self._overall, self._clock, self._setting, self._here)


def _pseudonym(caller: Caller) -> str:
    """A digest of the user, so that the state does not reveal the user."""
    return hashlib.blake2b(caller.user.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
