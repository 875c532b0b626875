"""Results that may be served again: in memory, and behind that in the shared state."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.pipeline.generation import Generation
from websearch_gateway.ports import State
from websearch_gateway.wire.base import WireModel

_PATIENCE_SECONDS = 0.5
_MOST_USD = 10.0  # no result costs more, so a row that says so is none of ours

_log = logging.getLogger(__name__)

R = TypeVar("R", bound=WireModel)


class Served(NamedTuple, Generic[R]):
    """A result as a call gets it: what that saved when the cache gave it, and whether a call under way was joined."""

    response: R
    saved_usd: float = 0.0
    joined: bool = False


class Stamp(BaseModel):
    """What an entry of the state tells of itself: when it was stored (seconds since the epoch), and `question_name`.

    Entries of earlier versions tell neither.
    """

    stored: FiniteFloat | None = None
    question: str | None = None


class _Entry(Stamp, Generic[R]):
    """What the state holds: a result, what it cost, and the moment (seconds since the epoch) when it is too old."""

    expires: FiniteFloat
    cost_usd: Annotated[float, Field(ge=0, le=_MOST_USD)] = 0.0
    response: R


def question_name(text: str) -> str:
    """By what the entries about a question are found, whatever its parameters: a digest that ignores case."""
    return hashlib.blake2b(text.casefold().encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


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
        self._generation = Generation(state, clock=clock)
        self._seen = self._generation.number
        self._empty: Callable[[], TLRUCache[str, _Entry[R]]] = partial(
            TLRUCache, most_in_memory, lambda _, entry, __: entry.expires, clock
        )
        self._memory = self._empty()
        self._outage_told = False

    def __len__(self) -> int:
        """How many results are in memory."""
        return len(self._memory)

    def forget(self) -> None:
        """Drop what is in memory. What a fetch under way brings goes with it."""
        self._memory = self._empty()

    def recent(self, key: str) -> Served[R] | None:
        """What `get` finds without asking the state."""
        if self._seen != self._generation.number:
            self._seen = self._generation.number
            self.forget()
        if not self._generation.is_known or (entry := self._memory.get(key)) is None:
            return None
        return Served(entry.response, entry.cost_usd)

    async def get(self, key: str, longest_seconds: float) -> Served[R] | None:
        """The result, unless it is too old or claims to live longer than `longest_seconds` from now."""
        if key in self._memory:
            await self._generation.look_up()
        return self.recent(key) or await self._fetch(key, longest_seconds)

    async def put(self, key: str, response: R, ttl_seconds: float, *, question: str, cost_usd: float) -> None:
        """Remember a result for so long, if it is servable. It answers `question` and costs as much."""
        if (kept := self._servable(response)) is None:
            return
        now = self._clock()
        entry = self._memory[key] = self._entry(
            stored=now,
            question=question_name(question),
            expires=now + ttl_seconds,
            cost_usd=min(cost_usd, _MOST_USD),
            response=kept,
        )
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):  # the result is there, and somebody waits for it
                await self._state.put(key, entry.model_dump_json(by_alias=True).encode(), ttl_seconds)
        except StateUnavailable as error:
            self._tell_outage(error)
        except TimeoutError:
            self._tell_outage(StateUnavailable("The state is slow."))

    async def _fetch(self, key: str, longest_seconds: float) -> Served[R] | None:
        """What another process, or this one before its restart, left in the state."""
        memory = self._memory
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
        memory[key] = entry.model_copy(update={"response": kept})
        return Served(kept, entry.cost_usd)

    def _tell_outage(self, error: StateUnavailable) -> None:
        if not self._outage_told:
            self._outage_told = True
            _log.warning("Answers are cached in this process only: %s", error.message)
