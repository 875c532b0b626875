"""Results that may be served again for the same question with the same parameters.

They are stored in memory first, then in the shared state, until their time is over or the cache is cleared.
"""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from operator import attrgetter
from typing import Annotated, Generic, Literal, NamedTuple, TypeVar

from pydantic import Field, FiniteFloat, ValidationError

from websearch_gateway.base import CacheMemory, SharedCache, in_words
from websearch_gateway.cache.clearing import Stamp, is_cleared, question_name
from websearch_gateway.cache.kinds import R, RawResult, ResultKind
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.errors import SearchError
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.ports import NOT_RERANKED, State
from websearch_gateway.results import (
    SearchResponse,
    WebSearchResponse,
)
from websearch_gateway.upstream.best_effort import BestEffort

_log = logging.getLogger(__name__)

AnyResult = TypeVar("AnyResult", SearchResponse, WebSearchResponse, RawResult)

STOPGAP_SECONDS = 60.0
"""How long to serve a result that a better one may soon replace (seconds)."""

ALWAYS_STORED_BYTES = 900_000
"""A backend may leave out larger values without an error, as Firestore does."""

CHECK_SECONDS = 5.0
"""How long a process may serve an entry from memory that another one has cleared (seconds)."""

OUTAGE_SECONDS = 30.0
"""The same while the state cannot be read (seconds)."""

CLOCK_SKEW_SECONDS = 60.0
"""How far the clocks of processes may differ (seconds)."""

_MOST_USD = 10.0  # no result costs more, so a row with a higher price is forged
_SCHEMA = 2  # part of every key; raise it when old entries must no longer be served
_cost_of = attrgetter("cost_usd")
_parameters = attrgetter(
    *(field.name for field in fields(SearchQuery) if field.compare and field.name != "text")
)

Scope = Literal["shared", "user"]


class ResultCache(Generic[R]):
    """Results in memory and in the state. It identifies a question by its words and parameters.

    During an outage of the state it serves the entries in memory. What it reads from the state is validated, since that
    is untrusted.

    Args:
        kind: the kind of results.
        lifetimes: how long results are served.
        scope: `user` keeps each user's results apart.
        orderer: the reranker that chose the quotes of the results, if any; those of another one are not served.
        memory: shared with the other caches of the process.
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(
        self,
        state: State,
        kind: ResultKind[R],
        lifetimes: Lifetimes,
        *,
        scope: Scope = "shared",
        orderer: str | None = None,
        memory: CacheMemory | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.kind = kind
        self.scope = scope
        self.lifetimes = lifetimes
        self.clock = clock
        self._state = state
        self._made_by = () if orderer is None else (orderer,)
        self._entry = _Entry[kind.model]  # type: ignore[name-defined]
        self._best_effort = BestEffort("Answers are cached in this process only")
        self._memory: SharedCache[str, _Remembered[R]] = SharedCache(memory, clock)

    def __len__(self) -> int:
        """The number of results in memory."""
        return len(self._memory)

    def key(self, query: SearchQuery, caller: Caller) -> str:
        """The state key of the result: equal for calls that may share it. Ignores letter case."""
        user = caller.user if self.scope == "user" else None
        return f"{self.kind.prefix}{digest(query, user, *self._made_by).hex()}"

    def in_memory(self) -> Mapping[str, int]:
        return {self.kind.name: len(self)}

    def forget(self) -> None:
        """Drop the entries in memory. Results of reads in flight are not kept in memory either."""
        self._memory.clear()
        self._memory = SharedCache(self._memory.memory, self.clock)

    def recent(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """The fresh result to the same words if it is in this process's memory."""
        return self._recent(self.key(query, caller)) if self.lifetimes.ttl > 0 else None

    async def get(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """The fresh result, free of charge and marked with `cache` and its age; None if there is none."""
        longest_seconds = self.lifetimes.fresh(query, self.clock())
        if longest_seconds <= 0:
            return None
        key = self.key(query, caller)
        recent = self._recent(key)
        if recent:
            return recent
        entry = await self._fetch(key)
        if entry and entry.expires <= self.clock() and not entry.stopgap:
            entry = await self._fetch(_stopgap_key(key))
        now = self.clock()
        # An entry that claims to live longer than any may is forged, or of other settings.
        if entry is None or not now < entry.expires <= now + longest_seconds:
            return None
        return self._served(entry)

    async def stale(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """An older result to the same words, for use after every upstream has failed, marked `cache="stale"`.

        None if absent, and always for a question whose answer changes.
        """
        now = self.clock()
        stale_seconds = self.lifetimes.stale(query, now)
        if stale_seconds <= 0:
            return None
        longest_seconds = self.lifetimes.fresh(query, now) + stale_seconds
        entry = await self._usable(self.key(query, caller), longest_seconds)
        if entry is None:
            return None
        served = self._served(entry)
        return served._replace(response=served.response.model_copy(update={"cache": "stale"}))

    async def put(
        self, query: SearchQuery, caller: Caller, response: R, *, stopgap: bool = False
    ) -> None:
        """Keep a valid result. A `stopgap` lives for at most STOPGAP_SECONDS and never replaces a better result."""
        seconds = self.seconds_fresh(query, response, stopgap=stopgap)
        kept = self.kind.recalled(response)
        if seconds <= 0 or kept is None:
            return
        key, stale_seconds = self.key(query, caller), self.lifetimes.stale(query, self.clock())
        if stopgap:
            known = await self._usable(key)
            if known and not known.stopgap:
                key, stale_seconds = _stopgap_key(key), 0.0
        now = self.clock()
        entry = self._entry(
            stored=now,
            question=question_name(query.text),
            expires=now + seconds,
            stale_until=now + seconds + stale_seconds,
            cost_usd=min(_cost_of(response), _MOST_USD),
            stopgap=stopgap,
            response=kept,
        )
        memory = self._memory
        remembered = _Remembered(entry, now + CHECK_SECONDS, is_stored=False)
        memory.put(key, remembered, expires=entry.usable_until)
        value = entry.model_dump_json(by_alias=True).encode()

        async def store() -> bool:
            await self._state.put(key, value, seconds + stale_seconds)
            return len(value) <= ALWAYS_STORED_BYTES or await self._state.get(key) is not None

        remembered.is_stored = await self._best_effort(store, False)

    def seconds_fresh(self, query: SearchQuery, response: R, *, stopgap: bool = False) -> float:
        """How long `put` keeps a result fresh (seconds); 0 if it does not keep it."""
        if not self.kind.is_valid(response):
            return 0.0
        seconds = self.lifetimes.fresh(query, self.clock())
        return min(seconds, STOPGAP_SECONDS) if stopgap else seconds

    def _recent(self, key: str) -> Served[R] | None:
        now = self.clock()
        for memory_key in (key, _stopgap_key(key)):
            remembered = self._memory.get(memory_key)
            if remembered and now < min(remembered.entry.expires, remembered.trusted_until):
                return self._served(remembered.entry)
        return None

    async def _usable(self, key: str, longest_seconds: float = math.inf) -> _Entry[R] | None:
        """The entry, fresh or stale, unless it is too old to be served at all."""
        now, remembered = self.clock(), self._memory.get(key)
        if remembered and now < remembered.trusted_until:
            entry: _Entry[R] | None = remembered.entry
        else:
            entry = await self._fetch(key)
        if entry is None or now >= entry.usable_until or now - entry.stored > longest_seconds:
            return None
        return entry

    def _served(self, entry: _Entry[R]) -> Served[R]:
        _ = entry.response.content_key  # computed once: the copies of other ages inherit it
        age = max(0.0, self.clock() - entry.stored)
        response = entry.response.model_copy(update={"age_seconds": round(age, 1)})
        _log.debug("cache hit: %s, %.0f s old", type(response).__name__, age)
        return Served(response, entry.cost_usd, age_seconds=age)

    async def _fetch(self, key: str) -> _Entry[R] | None:
        """The entry in the state, from this or another process; in an outage the one in memory."""
        memory = self._memory
        outage: bytes | None = b""
        stored = await self._best_effort(lambda: self._state.get(key), outage, seconds=None)
        remembered = memory.get(key)
        if remembered is not None:
            if stored == outage:
                return self._trust(remembered, OUTAGE_SECONDS)
            if stored is None and not remembered.is_stored:
                entry = remembered.entry
                cleared = partial(is_cleared, self._state, entry.stored, entry.question)
                if not await self._best_effort(cleared, False):
                    return self._trust(remembered, CHECK_SECONDS)
        memory.pop(key)
        new_entry = self._parsed(stored) if stored else None
        if new_entry is not None:
            trusted_until = self.clock() + CHECK_SECONDS
            memory.put(key, _Remembered(new_entry, trusted_until), expires=new_entry.usable_until)
        return new_entry

    def _trust(self, remembered: _Remembered[R], seconds: float) -> _Entry[R]:
        remembered.trusted_until = self.clock() + seconds
        return remembered.entry

    def _parsed(self, value: bytes) -> _Entry[R] | None:
        """An entry of the state; None if this gateway did not write it or would not serve it."""
        try:
            entry: _Entry[R] = self._entry.model_validate_json(value)
        except ValidationError:
            return None
        is_of_the_past = entry.stored <= self.clock() + CLOCK_SKEW_SECONDS
        if not is_of_the_past or not entry.stored <= entry.expires <= entry.stale_until:
            return None
        response = self.kind.recalled(entry.response)
        return None if response is None else entry.model_copy(update={"response": response})


def variant(*parameters: object) -> str:
    """A `SearchQuery.variant` for further parameters, whose different values must have different reprs."""
    return hashlib.blake2b(repr(parameters).encode(), digest_size=8).hexdigest()


def digest(query: SearchQuery, *more: object) -> bytes:
    """A 20-byte digest of the query and further values. Ignores letter case of the text."""
    # repr keeps the parts apart and escapes what UTF-8 cannot encode.
    identity = repr((_SCHEMA, query.text.casefold(), _parameters(query), *more)).encode()
    return hashlib.blake2b(identity, digest_size=20).digest()


def is_stopgap(response: SearchResponse) -> bool:
    """Whether a configured engine or the reranker failed, so that a better answer may come soon."""
    is_unranked = any(warning.startswith(NOT_RERANKED) for warning in response.warnings)
    return is_unranked or response.fallback is not None


async def stand_in(
    cache: ResultCache[AnyResult], query: SearchQuery, caller: Caller, error: SearchError
) -> Served[AnyResult]:
    """The stale result in place of a search that failed with `error`, with a warning.

    Raises:
        SearchError: `error`, if there is no such result.
    """
    served = await cache.stale(query, caller)
    if served is None:
        raise error
    return _warned(served, f"a new search failed with {error.code}: {error.message}")


def _warned(served: Served[AnyResult], reason: str) -> Served[AnyResult]:
    warning = f"This is {in_words(served.age_seconds)} old: {reason}"
    response = served.response.model_copy(update={"warnings": (*served.response.warnings, warning)})
    return served._replace(response=response)


class Served(NamedTuple, Generic[R]):
    """A result and its origin.

    `saved_usd` is its price if it came from the cache, `age_seconds` its age; `joined` says that it came from an
    identical call in flight.
    """

    response: R
    saved_usd: float = 0.0
    joined: bool = False
    age_seconds: float = 0.0


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

    @property
    def usable_until(self) -> float:
        """The moment from which it is neither fresh nor stale."""
        return max(self.expires, self.stale_until)


@dataclass(slots=True)
class _Remembered(Generic[R]):
    """An entry in memory. After `trusted_until` the state is asked again: another process may have cleared it.

    `is_stored` is false until the state has stored the entry, and stays so if the state does not.
    """

    entry: _Entry[R]
    trusted_until: float
    is_stored: bool = True


def _stopgap_key(key: str) -> str:
    return f"{key}-stopgap"
