"""How often a caller, and all callers together, may ask.

A fixed window of calls begins with its first one; when it ends, the count starts at zero. That is exact with one atomic
addition per call, however many processes share the state. The known drawback: a caller who waits for the end of a
window can once make up to twice the limit in a short time. A refused call does not count towards the next window.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from websearch_gateway.errors import SearchRateLimitError
from websearch_gateway.models import Caller
from websearch_gateway.ports import State
from websearch_gateway.results import LimitUsage
from websearch_gateway.settings.groups import calls_and_seconds
from websearch_gateway.upstream.best_effort import BestEffort
from websearch_gateway.upstream.tracing import stage

OWN_LIMIT = "OWN"
"""Stands for the setting where the limit comes with the caller's token."""
GLOBAL = "GLOBAL_RATE_LIMIT"
"""The setting of the limit that all callers share."""
CACHED = "CACHED_RATE_LIMIT"
"""The setting whose limit also holds for tokens with a limit of their own: it bounds calls that cost no upstream."""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The rate limit of one kind of call. While the state is unavailable, it counts in this process only.

    Attributes:
        own_state: holds the counts of this process, for when `state` is unavailable.
        per_user: the limit for the calls of one user, as `N/PERIOD` (`20/10minutes`); empty for no limit.
        overall: the limit for the calls of all users, in the same form. Instances that have it share its count.
        setting: the setting that `per_user` comes from. Each setting has its own counts.
        clock: seconds since the epoch.
    """

    state: State
    own_state: State
    per_user: str = ""
    overall: str = ""
    setting: str = "RATE_LIMIT"
    clock: Callable[[], float] = time.time
    best_effort: BestEffort = field(
        default_factory=lambda: BestEffort("Rate limits are counted in this process only")
    )

    @stage("rate_limit")
    async def admit(self, caller: Caller) -> None:
        """Count one call of `caller`.

        Raises:
            SearchRateLimitError: the limit is reached; `retry_after` is the rest of the window in whole seconds.
        """
        if not self._limits(caller):
            return

        async def charge() -> bool:
            await self._charge(self.state, caller)
            return True

        if not await self.best_effort(charge, otherwise=False, seconds=None):
            await self._charge(self.own_state, caller)

    async def give_back(self, caller: Caller) -> None:
        """Uncount one admitted call that called no upstream. Does nothing if the state is unavailable."""

        async def refund() -> None:
            for limit in self._limits(caller):
                await self.state.add(limit.key, -1, limit.seconds)

        await self.best_effort(refund, None, seconds=None)

    async def usage(self, caller: Caller) -> list[LimitUsage]:
        """How far each of the limits of `caller` is used, the common one first.

        Raises:
            StateUnavailable: the state cannot be read.
        """
        usages = []
        for limit in self._limits(caller):
            counted = _number(await self.state.get(limit.key))
            end = _number(await self.state.get(limit.end_key))
            seconds_to_end = 0
            if counted and end:
                seconds_to_end = max(0, math.ceil(end - self.clock()))
            used = min(counted, limit.most)
            usage = LimitUsage(
                setting=limit.setting, limit=limit.text, used=used, left=limit.most - used
            )
            resets_in = min(seconds_to_end, limit.seconds)
            usages.append(usage.model_copy(update={"resets_in_seconds": resets_in}))
        return usages

    def _limits(self, caller: Caller) -> list[_Limit]:
        """The common limit, if there is one, and then that of the user."""
        # A digest, so that the state does not reveal the user.
        user = hashlib.blake2b(
            caller.user.encode("utf-8", "surrogatepass"), digest_size=16
        ).hexdigest()
        per_user, setting = self.per_user, self.setting
        if caller.limits.rate_limit is not None and self.setting != CACHED:
            per_user, setting = caller.limits.rate_limit, OWN_LIMIT
        limits = []
        if self.overall:
            limits.append(_limit(self.overall, GLOBAL, "all"))
        if per_user:
            limits.append(_limit(per_user, setting, user))
        return limits

    async def _charge(self, state: State, caller: Caller) -> None:
        """Count a call against the user's own limit first, but not if the common one is reached already."""
        limits = self._limits(caller)
        common = limits[0] if self.overall else None
        if common and _number(await state.get(common.key)) >= common.most:
            raise await self._refusal(state, common)
        for limit in reversed(limits):
            count = await state.add(limit.key, 1, limit.seconds)
            if count == 1:
                await state.put(
                    limit.end_key, b"%d" % math.ceil(self.clock() + limit.seconds), limit.seconds
                )
            if count > limit.most:
                # Another caller took the last common call meanwhile.
                if limit is common and len(limits) > 1:
                    await state.add(limits[-1].key, -1, limits[-1].seconds)
                raise await self._refusal(state, limit)

    async def _refusal(self, state: State, limit: _Limit) -> SearchRateLimitError:
        # None if the first caller left before it was written.
        end = _number(await state.get(limit.end_key))
        seconds = end - self.clock() if end else limit.seconds
        is_common = limit.setting == GLOBAL
        whose = "all users together" if is_common else "you"
        origin = "set for your token" if limit.setting == OWN_LIMIT else limit.setting
        return SearchRateLimitError(
            f"The limit of {limit.text} for {whose} ({origin}) is reached.",
            retry_after=min(max(1, math.ceil(seconds)), limit.seconds),
            details={"limit": limit.text, "scope": "global" if is_common else "user"},
        )


class _Limit(NamedTuple):
    """At most `most` calls in `seconds`. `key` holds the count, and `end_key` the end of the window (epoch)."""

    text: str
    setting: str
    key: str
    most: int
    seconds: int

    @property
    def end_key(self) -> str:
        return f"{self.key}/end"


def _limit(text: str, setting: str, counts_for: str) -> _Limit:
    """The limit `text` (`20/10minutes`), counted for one user (a digest) or for `all`."""
    most, seconds = calls_and_seconds(text)
    return _Limit(text, setting, f"limit/{setting}/{text}/{counts_for}", most, seconds)


_MOST_DIGITS = 19
"""Of a stored number: more than any count or moment has, and few enough for Python, which reads no huge number."""


def _number(stored: bytes | None) -> int:
    """The number; 0 if it is absent or not a number."""
    if not stored or len(stored) > _MOST_DIGITS or not stored.isdigit():
        return 0
    return int(stored)
