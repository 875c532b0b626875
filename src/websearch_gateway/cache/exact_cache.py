"""The exact cache: serves a result again for the same question with the same parameters."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Generic, Literal, Protocol, TypeVar

from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.result_store import ResultStore, Served
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.ports import State
from websearch_gateway.results.base import WireModel

STOPGAP_SECONDS = 60.0
"""How long to serve a result that a better one may soon replace (seconds)."""

_SCHEMA = 2  # part of every key; raise it when old entries must no longer be served
_parameters = attrgetter(*(field.name for field in fields(SearchQuery) if field.compare and field.name != "text"))

Scope = Literal["shared", "user"]
KindName = Literal["answers", "web", "raw"]

R = TypeVar("R", bound=WireModel)


@dataclass(frozen=True, slots=True)
class ResultKind(Generic[R]):
    """The parts of a cache that depend on the kind of its results.

    Attributes:
        name: the kind in statistics and in `cache_clear`.
        prefix: the beginning of its state keys.
        model: the type of the results.
        is_valid: whether a result is worth keeping. It checks all that readers rely on, since the state is untrusted.
        unbilled: the result without its price, for all callers but the first, who paid for it.
        cost_usd: the price of a result.
        most_in_memory: the most results that a process keeps in memory.
    """

    name: KindName
    prefix: str
    model: type[R]
    is_valid: Callable[[R], bool]
    unbilled: Callable[[R], R]
    cost_usd: Callable[[R], float]
    most_in_memory: int

    def recalled(self, response: R) -> R | None:
        """`response` as the cache serves it, or None if it is not worth keeping."""
        if not self.is_valid(response):
            return None
        return self.unbilled(response).model_copy(update={"cache": "exact", "cache_match": None})


class ResultCache(Protocol[R]):
    """A cache in which the pipeline looks up results."""

    @property
    def kind(self) -> ResultKind[R]:
        """The kind of results."""
        ...

    def key(self, query: SearchQuery, caller: Caller) -> str:
        """The state key of the result: equal for calls that may share it."""
        ...

    def recent(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """The fresh result if it is in this process's memory."""
        ...

    async def get(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """The fresh result, free of charge and marked with `cache` and its age; None if there is none."""
        ...

    async def stale(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """An older result, for use after every upstream has failed, marked `cache="stale"`; None if absent."""
        ...

    async def put(self, query: SearchQuery, caller: Caller, response: R, *, stopgap: bool = False) -> None:
        """Keep a valid result. A `stopgap` lives for at most STOPGAP_SECONDS and never replaces a better result."""
        ...

    def in_memory(self) -> Mapping[str, int]:
        """The number of entries in this process's memory, by kind."""
        ...

    def forget(self) -> None:
        """Drop the entries in memory."""
        ...


class ExactCache(Generic[R]):
    """A ResultCache that identifies a question by its words and parameters.

    Args:
        kind: the kind of results.
        lifetimes: how long results are served.
        scope: `user` keeps each user's results apart.
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(
        self,
        state: State,
        kind: ResultKind[R],
        lifetimes: Lifetimes,
        *,
        scope: Scope = "shared",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.kind = kind
        self.scope = scope
        self.lifetimes = lifetimes
        self.clock = clock
        self._results = ResultStore(state, kind.model, kind.recalled, most_in_memory=kind.most_in_memory, clock=clock)

    def __len__(self) -> int:
        """The number of results in memory."""
        return len(self._results)

    def key(self, query: SearchQuery, caller: Caller) -> str:
        """See ResultCache. Ignores letter case."""
        user = caller.user if self.scope == "user" else None
        return f"{self.kind.prefix}{digest(query, user).hex()}"

    def recent(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """See ResultCache."""
        return self._results.recent(self.key(query, caller)) if self.lifetimes.ttl > 0 else None

    async def get(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """See ResultCache."""
        if (seconds := self.lifetimes.fresh(query, self.clock())) <= 0:
            return None
        return await self._results.get(self.key(query, caller), seconds)

    async def stale(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        """See ResultCache. Never a result for a question whose answer changes."""
        now = self.clock()
        if (seconds := self.lifetimes.stale(query, now)) <= 0:
            return None
        oldest = self.lifetimes.fresh(query, now) + seconds
        if (served := await self._results.stale(self.key(query, caller), oldest)) is None:
            return None
        return served._replace(response=served.response.model_copy(update={"cache": "stale"}))

    async def put(self, query: SearchQuery, caller: Caller, response: R, *, stopgap: bool = False) -> None:
        """See ResultCache."""
        if (seconds := self.seconds_fresh(query, response, stopgap=stopgap)) > 0:
            await self._results.put(
                self.key(query, caller),
                response,
                seconds,
                self.lifetimes.stale(query, self.clock()),
                question=query.text,
                cost_usd=self.kind.cost_usd(response),
                stopgap=stopgap,
            )

    def seconds_fresh(self, query: SearchQuery, response: R, *, stopgap: bool = False) -> float:
        """How long `put` keeps a result fresh (seconds); 0 if it does not keep it."""
        if not self.kind.is_valid(response):
            return 0.0
        seconds = self.lifetimes.fresh(query, self.clock())
        return min(seconds, STOPGAP_SECONDS) if stopgap else seconds

    def in_memory(self) -> Mapping[str, int]:
        """See ResultCache."""
        return {self.kind.name: len(self._results)}

    def forget(self) -> None:
        """See ResultCache."""
        self._results.forget()


def variant(*parameters: object) -> str:
    """A `SearchQuery.variant` for further parameters, whose different values must have different reprs."""
    return hashlib.blake2b(repr(parameters).encode(), digest_size=8).hexdigest()


def digest(query: SearchQuery, *more: object) -> bytes:
    """A 20-byte digest of the query and further values. Ignores letter case of the text."""
    # repr keeps the parts apart and escapes what UTF-8 cannot encode.
    identity = repr((_SCHEMA, query.text.casefold(), _parameters(query), *more)).encode()
    return hashlib.blake2b(identity, digest_size=20).digest()
