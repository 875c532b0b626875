"""Durations in words."""

from __future__ import annotations

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def in_words(seconds: float) -> str:
    """A duration in its largest unit, rounded down: `3 hours`, `1 minute`, `0 seconds`."""
    length, unit = next(((length, unit) for length, unit in _UNITS if seconds >= length), _UNITS[-1])
    number = int(seconds // length)
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
