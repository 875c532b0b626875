"""Answers that are known already: the exact cache, in memory and behind that in the shared state."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Literal

from pydantic import BaseModel, FiniteFloat, ValidationError

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.ports import State
from websearch_gateway.text.urls import is_web_address
from websearch_gateway.wire.answer import SearchResponse, Usage

_SCHEMA = 1  # part of every key; raise it when old entries must no longer be served
_MOST_IN_MEMORY = 1_000
_PATIENCE_SECONDS = 0.5
_STOPGAP_SECONDS = 60.0  # an answer given while the engine was down: a better one may be had soon
_parameters = attrgetter(*(field.name for field in fields(SearchQuery) if field.compare and field.name != "text"))

_log = logging.getLogger(__name__)


class _Entry(BaseModel):
    """What the state holds: an answer, and the moment (seconds since the epoch) from which it is too old."""

    expires: FiniteFloat
    response: SearchResponse


class ExactCache:
    """Serves an answer again when the same question is asked with the same parameters.

    Without its state it goes on with what this process remembers.

    Args:
        ttl_seconds: how long an answer may be served; 0 turns the cache off. An answer to a question about the last
            hours is kept for a tenth of that time at most.
        scope: `user` keeps each user's answers apart.
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(
        self,
        state: State,
        *,
        ttl_seconds: float = 300.0,
        scope: Literal["shared", "user"] = "shared",
        clock: Callable[[], float] = time.time,
    ) -> None:
        from cachetools import TLRUCache

        self._state = state
        self._ttl_seconds = ttl_seconds
        self._scope = scope
        self._clock = clock
        self._memory: TLRUCache[str, _Entry] = TLRUCache(_MOST_IN_MEMORY, lambda _, entry, __: entry.expires, clock)
        self._outage_told = False

    def key(self, query: SearchQuery, caller: Caller) -> str:
        """The state key of the answer: the same for questions that differ only in upper and lower case."""
        user = caller.user if self._scope == "user" else None
        # repr keeps the parts apart and escapes what UTF-8 cannot encode.
        identity = repr((_SCHEMA, query.text.casefold(), _parameters(query), user)).encode()
        return f"cache/exact/{hashlib.blake2b(identity, digest_size=20).hexdigest()}"

    def recent(self, query: SearchQuery, caller: Caller) -> SearchResponse | None:
        """What `get` finds without asking the state."""
        entry = self._memory.get(self.key(query, caller)) if self._ttl(query) > 0 else None
        return entry.response if entry else None

    async def get(self, query: SearchQuery, caller: Caller) -> SearchResponse | None:
        """The answer as it was given, marked `cache="exact"`; None when there is none."""
        if self._ttl(query) <= 0:
            return None
        key = self.key(query, caller)
        entry = self._memory.get(key) or await self._fetch(key, query)
        return entry.response if entry else None

    async def put(self, query: SearchQuery, caller: Caller, response: SearchResponse) -> None:
        """Remember `response`, unless it is an error or cites nothing: those are worth another try."""
        ttl = self._ttl(query)
        if ttl <= 0 or not _is_sound(response):
            return
        if response.fallback is not None and not response.fallback.reason.startswith("NOT_CONFIGURED"):
            ttl = min(ttl, _STOPGAP_SECONDS)
        key = self.key(query, caller)
        entry = _Entry(expires=self._clock() + ttl, response=_as_recalled(response))
        self._memory[key] = entry
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):  # the answer is there, and somebody waits for it
                await self._state.put(key, entry.model_dump_json(by_alias=True).encode(), ttl)
        except StateUnavailable as error:
            self._tell_outage(error)
        except TimeoutError:
            self._tell_outage(StateUnavailable("The state is slow."))

    async def _fetch(self, key: str, query: SearchQuery) -> _Entry | None:
        """What another process, or this one before its restart, left in the state. Nothing in there is trusted."""
        try:
            stored = await self._state.get(key)
        except StateUnavailable as error:
            self._tell_outage(error)
            return None
        if stored is None:
            return None
        try:
            entry = _Entry.model_validate_json(stored)
        except ValidationError:
            return None
        now = self._clock()
        if not now < entry.expires <= now + self._ttl(query) or not _is_sound(entry.response):
            return None
        entry = self._memory[key] = _Entry(expires=entry.expires, response=_as_recalled(entry.response))
        return entry

    def _ttl(self, query: SearchQuery) -> float:
        if query.freshness_hours is None:
            return self._ttl_seconds
        return min(self._ttl_seconds, query.freshness_hours * 3600 / 10)

    def _tell_outage(self, error: StateUnavailable) -> None:
        if not self._outage_told:
            self._outage_told = True
            _log.warning("Answers are cached in this process only: %s", error.message)


def unbilled(response: SearchResponse) -> SearchResponse:
    """`response` for everybody but the first: nobody is billed for it a second time."""
    return response.model_copy(update={"cost_usd": 0.0, "usage": Usage()})


def _as_recalled(response: SearchResponse) -> SearchResponse:
    return unbilled(response).model_copy(update={"cache": "exact"})


def _is_sound(response: SearchResponse) -> bool:
    """Whether it is an answer with sources, each on the web and with its span inside the text."""
    if response.error is not None or not response.citations:
        return False
    return all(
        is_web_address(citation.url) and 0 <= citation.start_index <= citation.end_index <= len(response.text)
        for citation in response.citations
    )
