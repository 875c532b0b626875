"""Sizes of what is sent, and how texts share the room of a reply. Sizes are bytes of minified JSON in UTF-8."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from websearch_gateway.evidence import window
from websearch_gateway.results import WireModel

T = TypeVar("T")

BYTES_PER_TOKEN = 3
"""English has four to five bytes per token; code, addresses and most other scripts have about three."""

LEAST_SHARE = 300
"""A text that would be cut to fewer bytes is left out: so short a beginning is useless."""

MOST_WARNINGS = 30
LONGEST_WARNING = 400
LONGEST_TITLE = 300


def size_of(value: Any) -> int:
    """The size of a text, a result or JSON-ready data."""
    if isinstance(value, WireModel):
        value = value.model_dump(mode="json", by_alias=True)
    return len(
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "backslashreplace"
        )
    )


def shares(sizes: Sequence[int], room: int) -> list[int]:
    """The room for each of several texts, in the order of rank.

    The share of the n-th text is proportional to 1/n. Room that short texts do not need goes to the others, best first.
    A share below both the size of its text and LEAST_SHARE becomes 0.
    """
    weights = [1 / rank for rank in range(1, len(sizes) + 1)]
    total = sum(weights)
    given = [
        min(size, int(max(0, room) * weight / total))
        for size, weight in zip(sizes, weights, strict=True)
    ]
    given = [
        share if share >= min(size, LEAST_SHARE) else 0
        for size, share in zip(sizes, given, strict=True)
    ]
    left = max(0, room) - sum(given)
    for place, size in enumerate(sizes):
        more = min(size - given[place], left)
        if given[place] + more >= min(size, LEAST_SHARE):
            given[place] += more
            left -= more
    return given


def opening(text: str, most: int) -> tuple[str, int | None]:
    """The beginning of `text`, of at most `most` bytes, and the offset of the rest (None if the whole text fits).

    The beginning ends at a natural break, see `text.chunk`.
    """
    if size_of(text) <= most:
        return text, None
    fitting = bisect_right(range(len(text)), most, key=lambda length: size_of(text[:length])) - 1
    return window(text, 0, fitting) if fitting > 0 else ("", 0)


def limited_warnings(warnings: Sequence[str]) -> tuple[str, ...]:
    """At most MOST_WARNINGS of them, each cut to LONGEST_WARNING characters."""
    kept = [shortened(warning, LONGEST_WARNING) for warning in warnings[:MOST_WARNINGS]]
    if left := len(warnings) - len(kept):
        kept.append(f"{left} more warnings are left out.")
    return tuple(kept)


def shortened(text: str, most: int) -> str:
    """`text`, cut to `most` characters with an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def with_warning(
    fields: Mapping[str, Any], warnings: Sequence[str], warning: str
) -> dict[str, Any]:
    """`fields` with the limited `warnings` and one more `warning`."""
    return {**fields, "warnings": (*limited_warnings(warnings), warning)}


def first_fitting(room: int, parts: Sequence[T], *, around: int = 1) -> list[T]:
    """The first parts that fit into `room` bytes together, each with `around` bytes of marks and commas."""
    kept = []
    for part in parts:
        room -= size_of(part) + around
        if room < 0:
            break
        kept.append(part)
    return kept
