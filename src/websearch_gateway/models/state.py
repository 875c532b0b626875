"""The entries and the size that a State reports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StateEntry:
    """An entry of a State, for a copy. `ttl` is the seconds left (None: it never expires); `counts`: a counter."""

    key: str
    value: bytes
    ttl: float | None = None
    counts: bool = False


@dataclass(frozen=True, slots=True)
class StateUsage:
    """The size of a State (bytes), its limit (None: no limit), and the number of entries that this process evicted."""

    bytes: int
    most_bytes: int | None = None
    evictions: int = 0
