"""Counts calls against `N/PERIOD` limits with the `limits` library over our State. Imported with the first call."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from limits import RateLimitItem
from limits.aio.storage import MemoryStorage, Storage
from limits.aio.strategies import FixedWindowRateLimiter
from limits.util import parse_many

from websearch_gateway.errors import SearchNotConfiguredError, SearchRateLimitError, StateUnavailable
from websearch_gateway.ports import State


class StateStorage(Storage):
    """A storage for `limits` over our five verbs. `KEY` holds the count and `KEY/end` the end of its window."""

    STORAGE_SCHEME = None

    def __init__(self, state: State, clock: Callable[[], float]) -> None:
        super().__init__()
        self._state = state
        self._clock = clock

    @property
    def base_exceptions(self) -> type[Exception]:
        return StateUnavailable

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        count = await self._state.add(key, amount, ttl=expiry)
        if count == amount:  # the first call of a window
            await self._state.put(_end_of(key), b"%d" % math.ceil(self._clock() + expiry), ttl=expiry)
        return count

    async def get(self, key: str) -> int:
        return _number(await self._state.get(key))

    async def get_expiry(self, key: str) -> float:
        """The end of the window in seconds since the epoch; now if unknown."""
        return _number(await self._state.get(_end_of(key))) or self._clock()

    async def check(self) -> bool:
        await self._state.get("limit/")
        return True

    async def reset(self) -> int:
        return sum([await self._state.delete(key) async for key, _ in self._state.scan("limit/")])

    async def clear(self, key: str) -> None:
        await self._state.delete(key)
        await self._state.delete(_end_of(key))


def _end_of(key: str) -> str:
    return f"{key}/end"


def _number(stored: bytes | None) -> int:
    """The number; 0 if absent or not a number."""
    return int(stored) if stored and stored.isdigit() else 0


@dataclass(frozen=True, slots=True)
class _Limit:
    item: RateLimitItem
    text: str
    setting: str
    scope: str


class Quota:
    """A limit per user and one for all users together; an empty string means no limit.

    Args:
        setting: the setting that `per_user` comes from.
        here: holds the counts of this process; None for counts that no other quota shares.

    Raises:
        SearchNotConfiguredError: a limit is not of the form `N/PERIOD`.
    """

    def __init__(
        self,
        state: State,
        per_user: str,
        overall: str,
        clock: Callable[[], float],
        setting: str = "RATE_LIMIT",
        here: State | None = None,
    ) -> None:
        self._per_user = _parse(per_user, "user", setting)
        self._overall = _parse(overall, "global", "GLOBAL_RATE_LIMIT")
        self._clock = clock
        self._shared = FixedWindowRateLimiter(StateStorage(state, clock))
        self._here = FixedWindowRateLimiter(StateStorage(here, clock) if here else MemoryStorage())

    async def charge(self, user: str) -> None:
        """Count one call of `user` in the shared state.

        Raises:
            SearchRateLimitError: a limit is reached.
            StateUnavailable: the state failed.
        """
        await self._charge(self._shared, user)

    async def charge_here(self, user: str) -> None:
        """Count one call of `user` in this process only.

        Raises:
            SearchRateLimitError: a limit is reached.
        """
        await self._charge(self._here, user)

    async def refund(self, user: str) -> None:
        """Take back one call of `user` from the shared state.

        Raises:
            StateUnavailable: the state failed.
        """
        if self._per_user:
            await self._shared.hit(self._per_user.item, self._per_user.setting, user, cost=-1)
        if self._overall:
            await self._shared.hit(self._overall.item, self._overall.setting, cost=-1)

    async def _charge(self, limiter: FixedWindowRateLimiter, user: str) -> None:
        mine, common = self._per_user, self._overall
        # Test the common limit first, so that a user whom it stops does not lose a call of their own limit.
        if common and not await limiter.test(common.item, common.setting):
            raise await self._limit_error(limiter, common)
        if mine and not await limiter.hit(mine.item, mine.setting, user):
            raise await self._limit_error(limiter, mine, user)
        if common and not await limiter.hit(common.item, common.setting):
            if mine:  # another caller took the last common call after the test
                await limiter.hit(mine.item, mine.setting, user, cost=-1)
            raise await self._limit_error(limiter, common)

    async def _limit_error(
        self, limiter: FixedWindowRateLimiter, limit: _Limit, *identifiers: str
    ) -> SearchRateLimitError:
        window_end, _ = await limiter.get_window_stats(limit.item, limit.setting, *identifiers)
        seconds = min(max(1, math.ceil(window_end - self._clock())), limit.item.get_expiry())
        whose = "you" if limit.scope == "user" else "all users together"
        return SearchRateLimitError(
            f"The limit of {limit.text} for {whose} ({limit.setting}) is reached.",
            retry_after=seconds,
            details={"limit": limit.text, "scope": limit.scope},
        )


def _parse(text: str, scope: str, setting: str) -> _Limit | None:
    if not text:
        return None
    try:
        (item,) = parse_many(text)
    except ValueError:
        raise SearchNotConfiguredError(f"{setting} must be of the form N/PERIOD, such as 20/10minutes.") from None
    item.namespace = "limit"
    return _Limit(item, text, setting, scope)
