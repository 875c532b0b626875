"""Answers that are known already: the exact cache, in memory and behind that in the shared state."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Literal, Protocol

from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.pipeline.remembered import Remembered, Served
from websearch_gateway.ports import State
from websearch_gateway.text.urls import is_web_address
from websearch_gateway.wire.answer import SearchResponse, Usage

_SCHEMA = 1  # part of every key; raise it when old entries must no longer be served
_MOST_IN_MEMORY = 1_000
_STOPGAP_SECONDS = 60.0  # an answer given while the engine was down: a better one may be had soon
_parameters = attrgetter(*(field.name for field in fields(SearchQuery) if field.compare and field.name != "text"))

Scope = Literal["shared", "user"]


def query_key(kind: str, query: SearchQuery, caller: Caller, scope: Scope, *more: object) -> str:
    """The state key of what answers `query`: the same for questions that differ only in upper and lower case.

    Args:
        kind: what is kept under it, such as `exact`.
        scope: `user` keeps each user's results apart.
        more: further parameters of the call.
    """
    user = caller.user if scope == "user" else None
    return f"cache/{kind}/{digest(query, user, *more).hex()}"


def digest(query: SearchQuery, *more: object) -> bytes:
    """20 bytes that tell queries, and whatever is given with them, apart."""
    # repr keeps the parts apart and escapes what UTF-8 cannot encode.
    identity = repr((_SCHEMA, query.text.casefold(), _parameters(query), *more)).encode()
    return hashlib.blake2b(identity, digest_size=20).digest()


def lifetime(query: SearchQuery, ttl_seconds: float) -> float:
    """For how long results may be served (seconds): for a query about the last hours, a tenth of those at most."""
    if query.freshness_hours is None:
        return ttl_seconds
    return min(ttl_seconds, query.freshness_hours * 3600 / 10)


class AnswerCache(Protocol):
    """What the pipeline recalls answers from."""

    def key(self, query: SearchQuery, caller: Caller) -> str:
        """What two calls have in common that want the same answer."""
        ...

    def recent(self, query: SearchQuery, caller: Caller) -> Served[SearchResponse] | None:
        """The answer, if this process can give it at once."""
        ...

    async def get(self, query: SearchQuery, caller: Caller) -> Served[SearchResponse] | None:
        """The answer, free of charge and marked with its `cache`; None when there is none."""
        ...

    async def put(self, query: SearchQuery, caller: Caller, response: SearchResponse) -> None:
        """Remember an answer that was just given, if it is worth it."""
        ...

    def in_memory(self) -> Mapping[str, int]:
        """How many entries this process has at hand, by kind."""
        ...

    def forget(self) -> None:
        """Drop these."""
        ...

    async def warm_up(self) -> None:
        """Load what the first call would wait for."""
        ...

    async def close(self) -> None:
        """Stop what runs in the background. Idempotent."""
        ...


class ExactCache:
    """Serves an answer again when the same question is asked with the same parameters.

    Args:
        ttl_seconds: how long an answer may be served, see `lifetime`; 0 turns the cache off.
        scope: `user` keeps each user's answers apart.
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(
        self,
        state: State,
        *,
        ttl_seconds: float = 300.0,
        scope: Scope = "shared",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ttl_seconds = ttl_seconds
        self._scope = scope
        self._answers = Remembered(state, SearchResponse, _servable, most_in_memory=_MOST_IN_MEMORY, clock=clock)

    @property
    def scope(self) -> Scope:
        """Whether users share answers."""
        return self._scope

    def __len__(self) -> int:
        """How many answers are in memory."""
        return len(self._answers)

    def key(self, query: SearchQuery, caller: Caller) -> str:
        """The state key of the answer."""
        return query_key("exact", query, caller, self._scope)

    def recent(self, query: SearchQuery, caller: Caller) -> Served[SearchResponse] | None:
        """What `get` finds without asking the state."""
        return self._answers.recent(self.key(query, caller)) if self._ttl_seconds > 0 else None

    async def get(self, query: SearchQuery, caller: Caller) -> Served[SearchResponse] | None:
        """The answer as it was given, marked `cache="exact"`; None when there is none."""
        if self._ttl_seconds <= 0:
            return None
        return await self._answers.get(self.key(query, caller), lifetime(query, self._ttl_seconds))

    async def put(self, query: SearchQuery, caller: Caller, response: SearchResponse) -> None:
        """Remember `response`, unless it is an error or cites nothing: those are worth another try."""
        if (seconds := self.keeps_for(query, response)) > 0:
            key = self.key(query, caller)
            await self._answers.put(key, response, seconds, question=query.text, cost_usd=response.cost_usd)

    def in_memory(self) -> Mapping[str, int]:
        """See AnswerCache."""
        return {"answers": len(self._answers)}

    def forget(self) -> None:
        """See AnswerCache."""
        self._answers.forget()

    async def warm_up(self) -> None:
        """See AnswerCache. There is nothing to load."""

    async def close(self) -> None:
        """See AnswerCache. Nothing runs in the background."""

    def keeps_for(self, query: SearchQuery, response: SearchResponse) -> float:
        """For how long `put` remembers it (seconds); 0: not at all."""
        if self._ttl_seconds <= 0 or not _is_sound(response):
            return 0.0
        ttl = lifetime(query, self._ttl_seconds)
        if response.fallback is not None and not response.fallback.reason.startswith("NOT_CONFIGURED"):
            return min(ttl, _STOPGAP_SECONDS)
        return ttl


def unbilled(response: SearchResponse) -> SearchResponse:
    """`response` for everybody but the first: nobody is billed for it a second time."""
    return response.model_copy(update={"cost_usd": 0.0, "usage": Usage()})


def _servable(response: SearchResponse) -> SearchResponse | None:
    """`response` as recalled, or None when it is not worth it."""
    return (
        unbilled(response).model_copy(update={"cache": "exact", "cache_match": None}) if _is_sound(response) else None
    )


def _is_sound(response: SearchResponse) -> bool:
    """Whether it is an answer with sources, each on the web and with its span inside the text."""
    if response.error is not None or not response.citations:
        return False
    return all(
        is_web_address(citation.url) and 0 <= citation.start_index <= citation.end_index <= len(response.text)
        for citation in response.citations
    )
