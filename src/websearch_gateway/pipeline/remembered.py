"""Results that may be served again: in memory, and behind that in the shared state."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from pydantic import BaseModel, FiniteFloat, ValidationError

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.ports import State
from websearch_gateway.wire.base import WireModel

_PATIENCE_SECONDS = 0.5

_log = logging.getLogger(__name__)

R = TypeVar("R", bound=WireModel)


class _Entry(BaseModel, Generic[R]):
    """What the state holds: a result, and the moment (seconds since the epoch) from which it is too old."""

    expires: FiniteFloat
    response: R


class Remembered(Generic[R]):
    """Results by state key. Without its state it goes on with what this process remembers.

    Args:
        kind: the type of the results.
        servable: a result as it is served again; None for one that must not be. Asked on the way in and, since nothing
            in the state is trusted, on the way out of it.
        most_in_memory: how many results this process keeps at hand.
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(
        self,
        state: State,
        kind: type[R],
        servable: Callable[[R], R | None],
        *,
        most_in_memory: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        from cachetools import TLRUCache

        self._state = state
        self._entry = _Entry[kind]  # type: ignore[valid-type]
        self._servable = servable
        self._clock = clock
        self._memory: TLRUCache[str, _Entry[R]] = TLRUCache(most_in_memory, lambda _, entry, __: entry.expires, clock)
        self._outage_told = False

    def __len__(self) -> int:
        """How many results are in memory."""
        return len(self._memory)

    def recent(self, key: str) -> R | None:
        """What `get` finds without asking the state."""
        entry = self._memory.get(key)
        return entry.response if entry else None

    async def get(self, key: str, longest_seconds: float) -> R | None:
        """The result, unless it is too old or claims to live longer than `longest_seconds` from now."""
        return self.recent(key) or await self._fetch(key, longest_seconds)

    async def put(self, key: str, response: R, ttl_seconds: float) -> None:
        """Remember a result for so long, if it is servable."""
        if (kept := self._servable(response)) is None:
            return
        entry = self._memory[key] = self._entry(expires=self._clock() + ttl_seconds, response=kept)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):  # the result is there, and somebody waits for it
                await self._state.put(key, entry.model_dump_json(by_alias=True).encode(), ttl_seconds)
        except StateUnavailable as error:
            self._tell_outage(error)
        except TimeoutError:
            self._tell_outage(StateUnavailable("The state is slow."))

    async def _fetch(self, key: str, longest_seconds: float) -> R | None:
        """What another process, or this one before its restart, left in the state."""
        try:
            stored = await self._state.get(key)
        except StateUnavailable as error:
            self._tell_outage(error)
            return None
        if stored is None:
            return None
        try:
            entry = self._entry.model_validate_json(stored)
        except ValidationError:
            return None
        now = self._clock()
        if not now < entry.expires <= now + longest_seconds or (kept := self._servable(entry.response)) is None:
            return None
        self._memory[key] = self._entry(expires=entry.expires, response=kept)
        return kept

    def _tell_outage(self, error: StateUnavailable) -> None:
        if not self._outage_told:
            self._outage_told = True
            _log.warning("Answers are cached in this process only: %s", error.message)
