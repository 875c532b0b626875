"""Maps the offsets of a text to those of the text as it is rewritten, so that spans keep their places."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple, Protocol

from websearch_gateway.models import Span

Range = tuple[int, int]
Move = Callable[[int], int]


class Edit(NamedTuple):
    """`text[start:end]` is replaced by `new`."""

    start: int
    end: int
    new: str


class Mover(Protocol):
    """Maps an offset of a text to the same place in a rewritten one."""

    def __call__(self, offset: int, *, at_end: bool = False) -> int:
        """`at_end`: the offset ends a span, so that text inserted here comes after it."""
        ...


@dataclass(frozen=True, slots=True)
class _Edits:
    """The pieces that were replaced, in order; `gains[n]` is what the first n of them made the text longer."""

    starts: list[int]
    ends: list[int]
    gains: list[int]

    def __call__(self, offset: int, *, at_end: bool = False) -> int:
        passed = bisect_right(self.ends, offset)
        if at_end and passed and self.starts[passed - 1] == offset:  # behind an insertion
            passed -= 1
        is_inside = passed < len(self.starts) and self.starts[passed] < offset
        if not is_inside:
            return offset + self.gains[passed]
        if at_end:
            return self.ends[passed] + self.gains[passed + 1]
        return self.starts[passed] + self.gains[passed]


def rewritten(text: str, edits: Iterable[Edit]) -> tuple[str, Mover]:
    """`text` with each piece `start:end` replaced, and a function that maps its offsets.

    An edit that overlaps an earlier one is left out. The edges of a replaced piece are those of its replacement.
    """
    pieces: list[str] = []
    done = _Edits([], [], [0])
    copied = 0
    for start, end, new in sorted(edits):
        if start < copied:
            continue
        pieces.append(text[copied:start])
        pieces.append(new)
        done.starts.append(start)
        done.ends.append(end)
        done.gains.append(done.gains[-1] + len(new) - (end - start))
        copied = end
    pieces.append(text[copied:])
    return "".join(pieces), done


def without_pieces(text: str, pieces: Iterable[Range]) -> tuple[str, Mover]:
    """`text` without `pieces`, and a function that maps its offsets: one inside a piece to where that was."""
    return rewritten(text, (Edit(start, end, "") for start, end in pieces))


def moved(spans: Iterable[Span], move: Move) -> list[Span]:
    """The spans with offsets mapped by `move`."""
    return [replace(span, start=move(span.start), end=move(span.end)) for span in spans]


def from_utf16(text: str) -> Move:
    """A function that converts an offset in UTF-16 units, as JavaScript counts, to a Python offset.

    An offset in the middle of a character moves to its start; one beyond the end stays as far beyond it.
    """
    ends = list(accumulate(2 if ord(character) > 0xFFFF else 1 for character in text))
    length = ends[-1] if ends else 0

    def move(units: int) -> int:
        beyond = max(0, units - length)
        return bisect_right(ends, units) + beyond

    return move
