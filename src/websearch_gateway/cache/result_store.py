"""Stored results: first in memory, then in the shared state, until their time is over or the cache is cleared."""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from websearch_gateway.ports import State
from websearch_gateway.results import WireModel
from websearch_gateway.upstream.best_effort import BestEffort

_log = logging.getLogger(__name__)

R = TypeVar("R", bound=WireModel)

CLOCK_SKEW_SECONDS = 60.0
"""How far the clocks of processes may differ (seconds)."""

_MOST_USD = 10.0  # no result costs more, so a row with a higher price is forged


class Served(NamedTuple, Generic[R]):
    """A result and its origin.

    `saved_usd` is its price if it came from the cache, `age_seconds` its age; `joined` says that it came from an
    identical call in flight.
    """

    response: R
    saved_usd: float = 0.0
    joined: bool = False
    age_seconds: float = 0.0


class Stamp(BaseModel):
    """The metadata of every entry: when it was stored (seconds since the epoch), and its `question_name`."""

    stored: FiniteFloat | None = None
    question: str | None = None


class _Entry(Stamp, Generic[R]):
    """A result, its price, and the moments (seconds since the epoch) until which it is fresh and may be stale.

    `stopgap` says that a better result may soon replace it.
    """

    stored: FiniteFloat
    expires: FiniteFloat
    stale_until: FiniteFloat
    cost_usd: Annotated[float, Field(ge=0, le=_MOST_USD)] = 0.0
    stopgap: bool = False
    response: R


def question_name(text: str) -> str:
    """The name shared by all entries about a question, with any parameters: a digest that ignores letter case."""
    return hashlib.blake2b(text.casefold().encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _stopgap_key(key: str) -> str:
    """The key of a stopgap whose main key holds a better, stale result."""
    return f"{key}-stopgap"


class ResultStore(Generic[R]):
    """Results by state key. During an outage of the state it serves the entries in memory.

    Args:
        model: the type of the results.
        as_served: gives the form in which a result is served again, or None if it must not be. Applied on writes, and
            on reads from the state, which is untrusted.
        most_in_memory: the most results to keep in memory.
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(
        self,
        state: State,
        model: type[R],
        as_served: Callable[[R], R | None],
        *,
        most_in_memory: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        from cachetools import TLRUCache

        self._state = state
        self._entry = _Entry[model]  # type: ignore[valid-type]
        self._as_served = as_served
        self._clock = clock
        self._best_effort = BestEffort("Answers are cached in this process only")
        self._epoch = CacheEpoch(state, self._best_effort, clock=clock)
        self._seen_epoch = self._epoch.number
        self._empty: Callable[[], TLRUCache[str, _Entry[R]]] = partial(
            TLRUCache, most_in_memory, lambda _, entry, __: max(entry.expires, entry.stale_until), clock
        )
        self._memory = self._empty()

    def __len__(self) -> int:
        """The number of results in memory."""
        return len(self._memory)

    def forget(self) -> None:
        """Drop the entries in memory. Results of reads in flight are not kept in memory either."""
        self._memory = self._empty()

    def recent(self, key: str) -> Served[R] | None:
        """The fresh result in memory, found without a call to the state."""
        now = self._clock()
        for one in (key, _stopgap_key(key)):
            if (entry := self._in_memory(one)) and now < entry.expires:
                return self._served(entry)
        return None

    async def get(self, key: str, longest_seconds: float) -> Served[R] | None:
        """The fresh result; None if absent, or if it claims to live longer than `longest_seconds` from now."""
        if key in self._memory:
            await self._epoch.look_up()
        if known := self.recent(key):
            return known
        entry = await self._fetch(key)
        if entry and entry.expires <= self._clock() and not entry.stopgap:
            entry = await self._fetch(_stopgap_key(key))
        now = self._clock()
        return self._served(entry) if entry and now < entry.expires <= now + longest_seconds else None

    async def stale(self, key: str, longest_seconds: float) -> Served[R] | None:
        """The result, fresh or not, if it is not older than `longest_seconds` and was stored to be served stale."""
        entry = await self._usable(key, longest_seconds)
        return self._served(entry) if entry else None

    async def put(
        self,
        key: str,
        response: R,
        ttl_seconds: float,
        stale_seconds: float,
        *,
        question: str,
        cost_usd: float,
        stopgap: bool = False,
    ) -> None:
        """Keep a result: fresh for `ttl_seconds`, then stale for `stale_seconds`. `question` is its question.

        A `stopgap` never replaces a better result that may still be served.
        """
        if (kept := self._as_served(response)) is None:
            return
        if stopgap and (known := await self._usable(key)) and not known.stopgap:
            key, stale_seconds = _stopgap_key(key), 0.0
        now = self._clock()
        entry = self._memory[key] = self._entry(
            stored=now,
            question=question_name(question),
            expires=now + ttl_seconds,
            stale_until=now + ttl_seconds + stale_seconds,
            cost_usd=min(cost_usd, _MOST_USD),
            stopgap=stopgap,
            response=kept,
        )
        value = entry.model_dump_json(by_alias=True).encode()
        await self._best_effort(lambda: self._state.put(key, value, ttl_seconds + stale_seconds), None)

    async def _usable(self, key: str, longest_seconds: float = math.inf) -> _Entry[R] | None:
        """The entry, fresh or stale, unless it is too old to be served at all."""
        if key in self._memory:
            await self._epoch.look_up()
        entry = self._in_memory(key) or await self._fetch(key)
        now = self._clock()
        if entry is None or now >= max(entry.expires, entry.stale_until) or now - entry.stored > longest_seconds:
            return None
        return entry

    def _in_memory(self, key: str) -> _Entry[R] | None:
        """The entry in memory; None if another process has, or may have, cleared the cache."""
        if self._seen_epoch != self._epoch.number:
            self._seen_epoch = self._epoch.number
            self.forget()
        return self._memory.get(key) if self._epoch.is_known else None

    def _served(self, entry: _Entry[R]) -> Served[R]:
        age = max(0.0, self._clock() - entry.stored)
        response = entry.response.model_copy(update={"age_seconds": round(age, 1)})
        _log.debug("cache hit: %s, %.0f s old", type(response).__name__, age)
        return Served(response, entry.cost_usd, age_seconds=age)

    async def _fetch(self, key: str) -> _Entry[R] | None:
        """The entry in the state, from this or another process."""
        memory = self._memory
        stored = await self._best_effort(lambda: self._state.get(key), None, seconds=None)
        if stored is None:
            return None
        try:
            entry: _Entry[R] = self._entry.model_validate_json(stored)
        except ValidationError:
            return None
        now = self._clock()
        is_valid = entry.stored <= now + CLOCK_SKEW_SECONDS and entry.stored <= entry.expires <= entry.stale_until
        if not is_valid or (kept := self._as_served(entry.response)) is None:
            return None
        memory[key] = entry = entry.model_copy(update={"response": kept})
        return entry


CHECK_SECONDS = 5.0
"""How long a process may serve entries from memory that another process has cleared (seconds)."""

_KEY = "cache/epoch"
_OUTAGE_SECONDS = 30.0


class CacheEpoch:
    """The number as this process last read it. Users drop entries that were stored under another number.

    Args:
        best_effort: runs the calls to the state.
        clock: seconds, of any origin.
    """

    def __init__(self, state: State, best_effort: BestEffort, *, clock: Callable[[], float]) -> None:
        self.number = 0
        self._state = state
        self._best_effort = best_effort
        self._clock = clock
        self._known_until = float("-inf")

    @property
    def is_known(self) -> bool:
        """Whether the number was read within the last CHECK_SECONDS."""
        return self._clock() < self._known_until

    async def look_up(self) -> None:
        """Read the number from the state unless it is known. In an outage the number stays the same."""
        if self.is_known:
            return
        self._known_until = self._clock() + CHECK_SECONDS  # set first, so that only one of many callers reads it
        number = await self._best_effort(self._stored, None)
        if number is None:
            self._known_until = self._clock() + _OUTAGE_SECONDS
        else:
            self.number = number

    async def _stored(self) -> int | None:
        return _number(await self._state.get(_KEY))


async def advance(state: State) -> None:
    """Make all processes drop their entries in memory.

    Raises:
        StateUnavailable: the state cannot be written.
    """
    await state.add(_KEY)


def _number(stored: bytes | None) -> int:
    """The stored number; 0 for anything else under that key."""
    try:
        return int(stored or 0)
    except ValueError:
        return 0
