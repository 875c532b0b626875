"""What a State reports about its entries and its size."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StateEntry:
    """An entry of a State with all that a copy needs. `ttl` is the seconds left, None for ever; `counts`: a counter."""

    key: str
    value: bytes
    ttl: float | None = None
    counts: bool = False


@dataclass(frozen=True, slots=True)
class StateUsage:
    """The size of a State (bytes), its limit (None: no limit), and what this process evicted to stay below it."""

    bytes: int
    most_bytes: int | None = None
    evictions: int = 0
