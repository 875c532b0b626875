"""A call: its caller, and the time by which it must end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Deadline:
    """The time by which a whole call must end, on a monotonic clock. It is passed down and never extended."""

    at: float
    clock: Callable[[], float] = field(default=time.monotonic, compare=False, repr=False)

    @classmethod
    def after(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Deadline:
        """A deadline `seconds` from now."""
        return cls(clock() + seconds, clock)

    def remaining(self) -> float:
        """Seconds left; zero after the deadline."""
        return max(0.0, self.at - self.clock())

    def within(self, seconds: float) -> Deadline:
        """The earlier of this deadline and `seconds` from now."""
        return Deadline(min(self.at, self.clock() + seconds), self.clock)


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller. `user` is the key of limits, cache scope and budget; `scopes` decides which tools are allowed.

    `has_specialists`: it can ask the specialist servers of ROUTES, so the guard sends it there.
    """

    user: str
    scopes: frozenset[str] = frozenset()
    has_specialists: bool = field(default=True, compare=False)


LOCAL = Caller("local", frozenset({"search", "read", "docs", "cache", "ops", "admin"}))
"""The local user: the only caller if there is no authentication."""

DIRECT = replace(LOCAL, has_specialists=False)
"""The local user of the command line and of the Python API."""
