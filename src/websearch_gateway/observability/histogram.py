"""Counts durations in buckets: more detail than a few quantiles, and counts of several processes can be added."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0)
"""Upper bounds in seconds: from an answer held in memory to longer than any call may take."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """A snapshot. `counts[i]` durations did not exceed `BOUNDS[i]`; the last counts all. `seconds` is their sum."""

    counts: Sequence[int]
    seconds: float


NOTHING = Distribution((0,) * (len(BOUNDS) + 1), 0.0)


class Histogram:
    """Counts durations."""

    __slots__ = ("_counts", "_seconds")

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS) + 1)
        self._seconds = 0.0

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        self._counts[bisect_left(BOUNDS, seconds)] += 1
        self._seconds += seconds

    def distribution(self) -> Distribution:
        """The counts so far."""
        return Distribution(tuple(accumulate(self._counts)), self._seconds)
