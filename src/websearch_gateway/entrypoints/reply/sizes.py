"""Sizes of what is sent, and how texts share the room of a reply. Sizes are bytes of minified JSON in UTF-8."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeVar

from websearch_gateway.evidence import window
from websearch_gateway.results import size_of

T = TypeVar("T")

BYTES_PER_TOKEN = 3
"""English has four to five bytes per token; code, addresses and most other scripts have about three."""

LEAST_SHARE = 300
"""A text that would be cut to fewer bytes is left out: so short a beginning is useless."""

MOST_WARNINGS = 30
"""A reply of twenty claims may have one for each, and some about the call."""
LONGEST_WARNING = 400
"""Characters: two sentences with an address in them."""
LONGEST_TITLE = 300
"""Characters: longer than any title that a person would write."""


def shares(sizes: Sequence[int], room: int) -> list[int]:
    """The room for each of several texts, in the order of rank.

    The share of the n-th text is proportional to 1/n. Room that short texts do not need goes to the others, best first.
    A share below both the size of its text and LEAST_SHARE becomes 0.
    """
    room = max(0, room)
    weights = [1 / rank for rank in range(1, len(sizes) + 1)]
    whole = sum(weights)
    least = [min(size, LEAST_SHARE) for size in sizes]
    parts = []
    for place, size in enumerate(sizes):
        share = min(size, int(room * weights[place] / whole))
        parts.append(share if share >= least[place] else 0)
    spare = room - sum(parts)
    for place, size in enumerate(sizes):
        more = min(size - parts[place], spare)
        if parts[place] + more >= least[place]:
            parts[place] += more
            spare -= more
    return parts


def opening(text: str, most: int) -> tuple[str, int | None]:
    """The beginning of `text`, of at most `most` bytes, and the offset of the rest (None if the whole text fits).

    The beginning ends at a natural break, see `evidence.window`.
    """
    if size_of(text) <= most:
        return text, None
    lengths = range(len(text))
    fitting = bisect_right(lengths, most, key=lambda length: size_of(text[:length])) - 1
    return window(text, 0, fitting) if fitting > 0 else ("", 0)


def limited_warnings(warnings: Sequence[str]) -> tuple[str, ...]:
    """At most MOST_WARNINGS of them, each cut to LONGEST_WARNING characters."""
    limited = [shortened(warning, LONGEST_WARNING) for warning in warnings[:MOST_WARNINGS]]
    more = len(warnings) - len(limited)
    if more:
        limited.append(f"{more} more warnings are left out.")
    return tuple(limited)


def shortened(text: str, most: int) -> str:
    """`text`, cut to `most` characters with an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def first_fitting(room: int, parts: Sequence[T], *, around: int = 1) -> list[T]:
    """The first parts that fit into `room` bytes together, each with `around` bytes of marks and commas."""
    fitting = []
    for part in parts:
        room -= size_of(part) + around
        if room < 0:
            break
        fitting.append(part)
    return fitting
