"""The vocabulary of a tokenizer, from its file of one piece per line."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from pathlib import Path


class Vocabulary:
    """Piece -> line number, kept in three arrays: 0.6 MB where a dict of 30,000 strings takes 3.4 MB.

    Attributes:
        longest: the length of the longest line (bytes of UTF-8, its end included); no piece is longer.
    """

    def __init__(self, path: Path) -> None:
        self._text = path.read_bytes()
        self._starts = array("I", [0])
        checksums = array("I")
        with path.open("rb") as lines:
            for line in lines:
                checksums.append(crc32(line.rstrip(b"\n")))
                self._starts.append(self._starts[-1] + len(line))
        self._numbers = array("I", sorted(range(len(checksums)), key=checksums.__getitem__))
        self._checksums = array("I", map(checksums.__getitem__, self._numbers))
        self.longest = max(end - start for start, end in zip(self._starts, self._starts[1:], strict=False))

    def number(self, piece: str) -> int | None:
        """The line of a piece, counted from 0; None if it is not in the vocabulary."""
        wanted = piece.encode()
        checksum = crc32(wanted)
        place = bisect_left(self._checksums, checksum)
        while place < len(self._checksums) and self._checksums[place] == checksum:
            number = self._numbers[place]
            if self._text[self._starts[number] : self._starts[number + 1]].rstrip(b"\n") == wanted:
                return number
            place += 1
        return None
