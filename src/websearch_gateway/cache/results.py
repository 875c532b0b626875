"""Results that may be served again: for the same question with the same parameters, and for how long.

They are stored in memory first, then in the shared state, until their time is over or the cache is cleared.
"""

from __future__ import annotations

import hashlib
import logging
import math
import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from operator import attrgetter
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from websearch_gateway.base import CacheMemory, SharedCache, in_words, is_web_address
from websearch_gateway.errors import SearchError
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.ports import NOT_RERANKED, State
from websearch_gateway.results import (
    CacheMatch,
    CacheState,
    SearchResponse,
    Usage,
    WebSearchResponse,
    WireModel,
)
from websearch_gateway.upstream.layers import BestEffort

_log = logging.getLogger(__name__)

R = TypeVar("R", bound=WireModel)


class RawResult(WireModel):
    """The result of one query. `provider` and `result` are as in `RawQuery`, without errors."""

    provider: str = ""
    result: dict[str, Any] = Field(default_factory=dict)
    cache: CacheState = "miss"
    cache_match: CacheMatch | None = None
    age_seconds: float = 0.0
    cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()


AnyResult = TypeVar("AnyResult", SearchResponse, WebSearchResponse, RawResult)

STOPGAP_SECONDS = 60.0
"""How long to serve a result that a better one may soon replace (seconds)."""

_SCHEMA = 2  # part of every key; raise it when old entries must no longer be served
_cost_of = attrgetter("cost_usd")
_parameters = attrgetter(
    *(field.name for field in fields(SearchQuery) if field.compare and field.name != "text")
)

Scope = Literal["shared", "user"]
KindName = Literal["answers", "web", "raw"]


@dataclass(frozen=True, slots=True)
class ResultKind(Generic[R]):
    """The parts of a cache that depend on the kind of its results.

    Attributes:
        name: the kind in statistics and in `cache_clear`.
        prefix: the beginning of its state keys.
        model: the type of the results.
        is_valid: whether a result is worth keeping. It checks all that readers rely on, since the state is untrusted.
        unbilled: the fields without a price, for all callers but the first, who paid for the result.
    """

    name: KindName
    prefix: str
    model: type[R]
    is_valid: Callable[[R], bool]
    unbilled: Mapping[str, object] = field(default_factory=lambda: {"cost_usd": 0.0})

    def recalled(self, response: R) -> R | None:
        """`response` as the cache serves it, or None if it is not worth keeping."""
        if not self.is_valid(response):
            return None
        return self.free(response).model_copy(update={"cache": "exact", "cache_match": None})

    def free(self, response: R) -> R:
        """`response` without its price."""
        return response.model_copy(update=self.unbilled)


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
        self._memory: SharedCache[str, _Held[R]] = SharedCache(memory, clock)

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
        if (seconds := self.lifetimes.fresh(query, self.clock())) <= 0:
            return None
        key = self.key(query, caller)
        if known := self._recent(key):
            return known
        entry = await self._fetch(key)
        if entry and entry.expires <= self.clock() and not entry.stopgap:
            entry = await self._fetch(_stopgap_key(key))
        now = self.clock()
        return self._served(entry) if entry and now < entry.expires <= now + seconds else None

    async def stale(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """An older result to the same words, for use after every upstream has failed, marked `cache="stale"`.

        None if absent, and always for a question whose answer changes.
        """
        now = self.clock()
        if (seconds := self.lifetimes.stale(query, now)) <= 0:
            return None
        entry = await self._usable(
            self.key(query, caller), self.lifetimes.fresh(query, now) + seconds
        )
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
        if stopgap and (known := await self._usable(key)) and not known.stopgap:
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
        held = _Held(entry, now + CHECK_SECONDS, untaken=True)
        memory.put(key, held, expires=entry.usable_until)
        value = entry.model_dump_json(by_alias=True).encode()

        async def store() -> bool:
            await self._state.put(key, value, seconds + stale_seconds)
            return len(value) <= ALWAYS_STORED_BYTES or await self._state.get(key) is not None

        if await self._best_effort(store, False):
            held.untaken = False

    def seconds_fresh(self, query: SearchQuery, response: R, *, stopgap: bool = False) -> float:
        """How long `put` keeps a result fresh (seconds); 0 if it does not keep it."""
        if not self.kind.is_valid(response):
            return 0.0
        seconds = self.lifetimes.fresh(query, self.clock())
        return min(seconds, STOPGAP_SECONDS) if stopgap else seconds

    def _recent(self, key: str) -> Served[R] | None:
        now = self.clock()
        for one in (key, _stopgap_key(key)):
            if (held := self._memory.get(one)) and now < min(
                held.entry.expires, held.trusted_until
            ):
                return self._served(held.entry)
        return None

    async def _usable(self, key: str, longest_seconds: float = math.inf) -> _Entry[R] | None:
        """The entry, fresh or stale, unless it is too old to be served at all."""
        now, held = self.clock(), self._memory.get(key)
        entry = held.entry if held and now < held.trusted_until else await self._fetch(key)
        if entry is None or now >= entry.usable_until or now - entry.stored > longest_seconds:
            return None
        return entry

    def _served(self, entry: _Entry[R]) -> Served[R]:
        age = max(0.0, self.clock() - entry.stored)
        response = entry.response.model_copy(update={"age_seconds": round(age, 1)})
        _log.debug("cache hit: %s, %.0f s old", type(response).__name__, age)
        return Served(response, entry.cost_usd, age_seconds=age)

    async def _fetch(self, key: str) -> _Entry[R] | None:
        """The entry in the state, from this or another process; in an outage the one in memory."""
        memory = self._memory
        failed: bytes | None = b""
        stored = await self._best_effort(lambda: self._state.get(key), failed, seconds=None)
        now, held = self.clock(), memory.get(key)
        if held is not None and (stored == failed or (stored is None and held.untaken)):
            known: _Entry[R] = held.entry
            if stored == failed or not await self._best_effort(
                partial(_is_cleared, self._state, known), False
            ):
                seconds = OUTAGE_SECONDS if stored == failed else CHECK_SECONDS
                held.trusted_until = now + seconds
                return known
        memory.pop(key)
        try:
            entry: _Entry[R] = self._entry.model_validate_json(stored or b"")
        except ValidationError:
            return None
        is_valid = (
            entry.stored <= now + CLOCK_SKEW_SECONDS
            and entry.stored <= entry.expires <= entry.stale_until
        )
        if not is_valid or (kept := self.kind.recalled(entry.response)) is None:
            return None
        entry = entry.model_copy(update={"response": kept})
        memory.put(key, _Held(entry, now + CHECK_SECONDS), expires=entry.usable_until)
        return entry


def variant(*parameters: object) -> str:
    """A `SearchQuery.variant` for further parameters, whose different values must have different reprs."""
    return hashlib.blake2b(repr(parameters).encode(), digest_size=8).hexdigest()


def digest(query: SearchQuery, *more: object) -> bytes:
    """A 20-byte digest of the query and further values. Ignores letter case of the text."""
    # repr keeps the parts apart and escapes what UTF-8 cannot encode.
    identity = repr((_SCHEMA, query.text.casefold(), _parameters(query), *more)).encode()
    return hashlib.blake2b(identity, digest_size=20).digest()


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Times to live, in seconds.

    Attributes:
        ttl: for changing subjects, such as weather, prices and news; 0 turns the cache off.
        long_ttl: for all other results.
        stale_if_error: how much longer these other results may be served if upstreams fail (RFC 5861, section 4).
    """

    ttl: float = 300.0
    long_ttl: float = 3_600.0
    stale_if_error: float = 86_400.0

    def fresh(self, query: SearchQuery, now: float) -> float:
        """How long a result is fresh (seconds): with a freshness filter, at most a tenth of its hours.

        Args:
            now: seconds since the epoch; decides which year is the current one.
        """
        if self.ttl <= 0:
            return 0.0
        seconds = self.ttl if is_current(query, now) else self.long_ttl
        return (
            seconds
            if query.freshness_hours is None
            else min(seconds, query.freshness_hours * 3600 / 10)
        )

    def stale(self, query: SearchQuery, now: float) -> float:
        """How long a result that is no longer fresh may replace a failed search (seconds); 0 for changing subjects."""
        return 0.0 if self.ttl <= 0 or is_current(query, now) else self.stale_if_error

    @property
    def longest(self) -> float:
        """The longest time for which a result is fresh (seconds)."""
        return max(self.ttl, self.long_ttl)


def is_current(query: SearchQuery, now: float) -> bool:
    """Whether a query is about a changing subject, judged by its words, freshness filter or topic."""
    is_recent = query.freshness_hours is not None or query.topic == "news"
    return is_recent or is_timely(query.text, time.gmtime(now).tm_year)


_STALE_SOON = re.compile(
    r"""\b(?:
        today(?:'?s)? | tonight(?:'?s)? | tomorrow(?:'?s)? | yesterday(?:'?s)? | now | nowadays | current(?:ly)?
      | latest | newest | recent(?:ly)? | live | breaking | upcoming | trending | ongoing | so\ far
      | (?:this|next|last)\ (?:minute|hour|morning|afternoon|evening|night|week|weekend|month|quarter|year|season
          |spring|summer|autumn|fall|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday|game|match|race)
      | news | headlines? | weather | forecasts? | temperatures? | humidity | air\ quality | traffic | delays?
      | outages?
      | scores? | standings | fixtures? | line-?ups? | odds | polls? | results? | election
      | prices? | pricing | costs? | how\ much\ (?:is|are|does) | shares? | stocks? | quotes? | market\ cap | net\ worth
      | rates? | interest | exchange | bitcoin | btc | ethereum | crypto\w* | gold | silver | oil
      | in\ stock | available | availability | open\ now | is\ \w+\ (?:down|open|closed|alive|dead|married)
      | time\ (?:is\ it|in) | who\ (?:is\ (?:winning|leading)|won) | updates?
    )\b""",
    re.VERBOSE,
)
_YEAR = re.compile(r"(?<![\d.])20\d\d(?![\d.])")


def is_timely(text: str, this_year: int) -> bool:
    """Whether a question is about a subject that changes hourly, or names this year or a later one.

    When in doubt it is: a past price counts too.
    """
    if _STALE_SOON.search(text.lower()):
        return True
    return any(int(year) >= this_year for year in _YEAR.findall(text))


def is_stopgap(response: SearchResponse) -> bool:
    """Whether a configured engine or the reranker failed, so that a better answer may come soon."""
    return response.fallback is not None or any(
        one.startswith(NOT_RERANKED) for one in response.warnings
    )


def _is_valid(response: SearchResponse) -> bool:
    urls = [page.url for page in response.citations] + [page.url for page in response.sources]
    if response.error is not None or not urls or not all(map(is_web_address, urls)):
        return False
    first = [(cited.start_index, cited.end_index) for cited in response.citations]
    others = [
        (span.start_index, span.end_index) for cited in response.citations for span in cited.spans
    ]
    return all(0 <= start <= end <= len(response.text) for start, end in (*first, *others))


ANSWERS: ResultKind[SearchResponse] = ResultKind(
    name="answers",
    prefix="cache/exact/",
    model=SearchResponse,
    is_valid=_is_valid,
    unbilled={"cost_usd": 0.0, "usage": Usage()},
)


def _are_valid(response: WebSearchResponse) -> bool:
    results = response.results
    return (
        response.error is None
        and bool(results)
        and all(
            is_web_address(r.link) and r.page_content and 0 <= r.relevance_score <= 1
            for r in results
        )
    )


WEB_RESULTS: ResultKind[WebSearchResponse] = ResultKind(
    name="web",
    prefix="cache/web/",
    model=WebSearchResponse,
    is_valid=_are_valid,
)


def _is_valid_raw(found: RawResult) -> bool:
    items = found.result.get("items")
    if not isinstance(items, list) or not items:
        return False
    return all(isinstance(item, dict) and is_web_address(str(item.get("link"))) for item in items)


RAW_RESULTS: ResultKind[RawResult] = ResultKind(
    name="raw",
    prefix="cache/raw/",
    model=RawResult,
    is_valid=_is_valid_raw,
)


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


ALWAYS_STORED_BYTES = 900_000
"""A backend may leave out larger values without an error, as Firestore does."""

CHECK_SECONDS, OUTAGE_SECONDS = 5.0, 30.0
"""How long a process may serve an entry from memory that another one has cleared; and that, in an outage (seconds)."""

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

    @property
    def usable_until(self) -> float:
        """The moment from which it is neither fresh nor stale."""
        return max(self.expires, self.stale_until)


@dataclass(slots=True)
class _Held(Generic[R]):
    """An entry in memory. After `trusted_until` the state is asked again: another process may have cleared it.

    An entry is `untaken` until the state has stored it, and for its whole life if the state does not.
    """

    entry: _Entry[R]
    trusted_until: float
    untaken: bool = False


CLEARED = "cache/cleared/"
"""The beginning of the state keys of marks. Entries that are only in a process's memory go by these when the cache is
cleared: a mark is a moment (seconds since the epoch), and what was stored before it is gone."""

_EVERYTHING, _MARK_SECONDS = "all", 30 * 86_400.0


async def mark_cleared(state: State, before: float, questions: Collection[str] | None) -> None:
    """Tell all processes that the entries stored `before` a moment are cleared: all, or those of these questions.

    Args:
        questions: as from `question_name`; None for all.

    Raises:
        StateUnavailable: the state failed.
    """
    for name in (_EVERYTHING,) if questions is None else questions:
        prefix = f"{CLEARED}{name}/"
        # A key of its own, since another process may clear at this moment too: the later mark counts.
        await state.put(f"{prefix}{before!r}", repr(before).encode(), _MARK_SECONDS)
        for key in [key async for key, mark in state.scan(prefix) if _moment(mark) < before]:
            await state.delete(key)


async def _is_cleared(state: State, entry: _Entry[Any]) -> bool:
    prefixes = [f"{CLEARED}{name}/" for name in (_EVERYTHING, entry.question)]
    return any(
        [
            entry.stored <= _moment(mark)
            for prefix in prefixes
            async for _, mark in state.scan(prefix)
        ]
    )


def _moment(mark: bytes) -> float:
    """The moment of a mark; long ago if it is unreadable."""
    try:
        return float(mark)
    except ValueError:
        return -math.inf


def question_name(text: str) -> str:
    """The name shared by all entries about a question, with any parameters: a digest that ignores letter case."""
    return hashlib.blake2b(
        text.casefold().encode("utf-8", "surrogatepass"), digest_size=16
    ).hexdigest()


def _stopgap_key(key: str) -> str:
    return f"{key}-stopgap"
