"""The entries, the size and the problem that a State reports."""

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


@dataclass(frozen=True, slots=True)
class StateProblem:
    """Why a State is not what it was set up to be, what is lost by that, and what its operator can do."""

    finding: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.finding} {self.remedy}"
