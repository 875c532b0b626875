"""Moves spans when their text changes, and converts UTF-16 offsets to Python offsets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Protocol

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


class Mover(Protocol):
    """Maps an offset of a text to the same place in a rewritten one."""

    def __call__(self, offset: int, *, at_end: bool = False) -> int:
        """`at_end`: the offset ends a span, so that text inserted here comes after it."""
        ...


def rewritten(text: str, edits: Iterable[tuple[int, int, str]]) -> tuple[str, Mover]:
    """`text` with each piece `start:end` replaced, and a function that maps its offsets.

    An edit that overlaps an earlier one is left out. The edges of a replaced piece are those of its replacement.
    """
    pieces: list[str] = []
    starts, ends, gains = [], [], [0]
    done = 0
    for start, end, new in sorted(edits):
        if start < done:
            continue
        pieces += [text[done:start], new]
        starts.append(start)
        ends.append(end)
        gains.append(gains[-1] + len(new) - (end - start))
        done = end

    def move(offset: int, *, at_end: bool = False) -> int:
        passed = bisect_right(ends, offset)
        if at_end and passed and starts[passed - 1] == ends[passed - 1] == offset:
            passed -= 1
        if passed < len(starts) and starts[passed] < offset:  # inside a replaced piece
            return ends[passed] + gains[passed + 1] if at_end else starts[passed] + gains[passed]
        return offset + gains[passed]

    return "".join((*pieces, text[done:])), move


def moved(spans: Iterable[Span], move: Move) -> list[Span]:
    """The spans with offsets mapped by `move`."""
    return [replace(span, start=move(span.start), end=move(span.end)) for span in spans]


def from_utf16(text: str) -> Move:
    """A function that converts an offset in UTF-16 units, as JavaScript counts, to a Python offset.

    An offset in the middle of a character moves to its start, and one beyond the end to the end.
    """
    ends = list(accumulate(2 if ord(character) > 0xFFFF else 1 for character in text))
    return lambda units: bisect_right(ends, units)
