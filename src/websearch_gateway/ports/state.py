"""The interfaces of the state that all processes share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol, runtime_checkable

from websearch_gateway.models import StateEntry, StateProblem, StateUsage


@runtime_checkable
class State(Protocol):
    """Five verbs for all shared state. Keys are `kind/rest`; values are bytes; times are seconds.

    Never returns expired entries, even if the backend has not deleted them yet.
    """

    async def get(self, key: str) -> bytes | None:
        """The value; None if absent or expired."""
        ...

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        """Store or replace a value; without `ttl` it never expires."""
        ...

    async def delete(self, key: str) -> bool:
        """Delete an entry; True if there was a live one."""
        ...

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        """Add to an integer atomically and return the new value.

        An absent or expired counter starts at zero, and only then does `ttl` apply: later additions do not extend it.
        `get` of a counter returns its decimal digits.
        """
        ...

    def scan(self, prefix: str) -> AsyncIterator[tuple[str, bytes]]:
        """All live entries whose key starts with `prefix`, in key order."""
        ...

    def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        """As `scan`, with all data that a copy needs, and only keys after `after`. For migration to another backend."""
        ...

    async def close(self) -> None:
        """Release files, sockets and threads. Idempotent."""
        ...


@runtime_checkable
class BoundedState(Protocol):
    """A State with a size limit."""

    def limit(self, most_bytes: int, evictable: Sequence[str]) -> None:
        """Delete the least recently used values before the state exceeds `most_bytes`.

        Deletes only values whose keys begin with one of `evictable`, and no counters. Does not store such a value if it
        takes more than a tenth of the limit.
        """
        ...

    async def usage(self) -> StateUsage:
        """The size of the state.

        Raises:
            StateUnavailable: the state cannot be read.
        """
        ...


@runtime_checkable
class SparedState(Protocol):
    """A State that goes on in memory while its backend cannot be used."""

    @property
    def problem(self) -> StateProblem | None:
        """What is wrong; None while the backend is in use."""
        ...


def problem_of(state: State) -> StateProblem | None:
    """The problem of a state that may have one."""
    return state.problem if isinstance(state, SparedState) else None
