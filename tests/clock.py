"""The clock of tests."""

from __future__ import annotations


class Clock:
    """Returns `now`, in seconds, which tests set. Each call first adds `step` seconds."""

    def __init__(self, now: float = 1_000_000.0, step: float = 0.0) -> None:
        self.now = now
        self._step = step

    def __call__(self) -> float:
        self.now += self._step
        return self.now
