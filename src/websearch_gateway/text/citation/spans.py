"""Moves spans when their text changes, and converts UTF-16 offsets to Python offsets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from websearch_gateway.models import Span

Move = Callable[[int], int]


def cut(text: str, pieces: Sequence[tuple[int, int]]) -> tuple[str, Move]:
    """`text` without `pieces`, and a function that maps an offset of the old text to the new one.

    An offset inside a piece moves to the place of the piece. `pieces` are (start, end), ordered and disjoint.
    """
    starts = [start for start, _ in pieces]
    removed = [0, *accumulate(end - start for start, end in pieces)]

    def move(offset: int) -> int:
        index = bisect_right(starts, offset)
        if not index:
            return offset
        start, end = pieces[index - 1]
        return offset - removed[index - 1] - min(offset - start, end - start)

    edges = [0, *(edge for piece in pieces for edge in piece), len(text)]
    return "".join(text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)), move


def moved(spans: Iterable[Span], move: Move) -> list[Span]:
    """The spans with offsets mapped by `move`."""
    return [replace(span, start=move(span.start), end=move(span.end)) for span in spans]


def from_utf16(text: str) -> Move:
    """A function that converts an offset in UTF-16 units, as JavaScript counts, to a Python offset.

    An offset in the middle of a character moves to its start, and one beyond the end to the end.
    """
    ends = list(accumulate(2 if ord(character) > 0xFFFF else 1 for character in text))
    return lambda units: bisect_right(ends, units)
