"""The built-in embedder, which needs no network and no key.

`StaticEmbedder` sums one vector per word piece. `tools/train_embedder.py` trained its table to imitate the sentence
vectors of all-MiniLM-L6-v2; `tools/README.md` describes method and data. It knows English best, other Latin-script
languages a little, and no other script.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from zlib import crc32

from websearch_gateway.base import in_own_thread
from websearch_gateway.models import Call

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from websearch_gateway.ports import Vectors

    Matrix = NDArray[np.float32]
    Weights = dict[str, Matrix]

_DATA = resources.files(__package__) / "static_model"
# Embedding takes about 0.2 ms a passage: more than a few would block the event loop.
MOST_TEXTS_ON_THE_LOOP = 8
MOST_CHARACTERS_ON_THE_LOOP = 4_000

# Of `rarity`: what counts as frequent, what each further piece of a word adds, and an unknown word.
_FREQUENT, _EACH_PIECE, _RAREST = 7.0, 1.5, 5.0


class Table(NamedTuple):
    """The model's numbers: piece `i` has the vector `vectors[i] * scales[i]`, whose length is the piece's weight."""

    vectors: NDArray[np.int8]  # (pieces, dimensions)
    scales: NDArray[np.float32]  # (pieces,)


class StaticEmbedder:
    """Embeds on the CPU. A vector depends only on its text, not on its batch, the process or `kind`."""

    name = "static/1"
    dimensions = 256
    weight = 0.3

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Vectors:
        """Unit vectors of the texts; the zero vector for a text without a known piece. Large batches go to a thread."""
        if (
            len(texts) > MOST_TEXTS_ON_THE_LOOP
            or sum(map(len, texts)) > MOST_CHARACTERS_ON_THE_LOOP
        ):
            return await in_own_thread(self.encode, texts)
        return self.encode(texts)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The same as `embed`, in the calling thread."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            counts = self._pieces.counts(text)
            counts.pop(UNKNOWN, None)
            pieces = list(counts)
            weights = self._table.scales[pieces] * np.fromiter(
                counts.values(), np.float32, len(pieces)
            )
            row[:] = weights @ self._table.vectors[pieces].astype(np.float32)
            if length := float(np.linalg.norm(row)):
                row /= length
        return rows

    def rarity(self, words: Sequence[str]) -> list[float]:
        """How rare each word is in English, 0 for the thousand most frequent ones; each unit is e times rarer.

        The vocabulary is in the order of frequency, and a word of several pieces is rarer than its first one.
        """
        return list(map(self._rarity, words))

    def _rarity(self, word: str) -> float:
        pieces = self._pieces(word)
        if not pieces or pieces[0] == UNKNOWN:
            return _RAREST
        first, *more = pieces
        return max(0.0, math.log(first) + _EACH_PIECE * len(more) - _FREQUENT)

    def knows(self, text: str) -> bool:
        """Whether at least half of the text's pieces are in the vocabulary. False for scripts other than Latin."""
        pieces = self._pieces(text)
        return bool(pieces) and 2 * pieces.count(UNKNOWN) <= len(pieces)

    @cached_property
    def _pieces(self) -> WordPieces:
        with resources.as_file(_DATA / "vocab.txt") as path:
            return WordPieces(path)

    @cached_property
    def _table(self) -> Table:
        import numpy as np

        # Memory-mapped: a question reads few of its memory pages, and processes share them.
        with (
            resources.as_file(_DATA / "vectors.npy") as vectors,
            resources.as_file(_DATA / "scales.npy") as scales,
        ):
            return Table(np.load(vectors, mmap_mode="r"), np.load(scales))


class Encode:
    """`StaticEmbedder.encode` and `rarity` with one table for the whole process, for code that runs in a worker."""

    def __call__(self, texts: Sequence[str]) -> Vectors:
        return _shared().encode(texts)

    def rarity(self, words: Sequence[str]) -> list[float]:
        return _shared().rarity(words)


encode = Encode()


@cache
def _shared() -> StaticEmbedder:
    return StaticEmbedder()


UNKNOWN = 0
"""The vocabulary's first line: the piece for a word that no other pieces can spell."""

LONGEST_WORD = 100
"""The most characters of a word; a longer one is unknown."""

REMEMBERED_WORDS = 16_384
"""Cached words, about 4 MB. Texts repeat their words; with a quarter as many, a crawl splits half of them again."""

LONGEST_REMEMBERED = 16
"""The most characters of a cached word or run: longer ones seldom repeat, and 16,384 runs of a hundred ideographs, each
a word of its own, would take 130 MB."""

_CONTINUED = "##"
_PUNCTUATION = r"!-/:-@\[-`{-~"
_ASCII_WORDS = re.compile(rf"[{_PUNCTUATION}]|[^\s{_PUNCTUATION}]+")
_RUNS = re.compile(rf"[{_PUNCTUATION}]|[^ \t\n\r{_PUNCTUATION}]+")
_ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")
_DROPPED = frozenset({"Cc", "Cf", "Co", "Cs"})
_IDEOGRAPHS = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f]"
)


class WordPieces:
    """The tokenizer over a vocabulary of one piece per line; a piece that continues a word begins with `##`."""

    def __init__(self, vocabulary: Path) -> None:
        self._vocabulary = Vocabulary(vocabulary)
        self._of_word = functools.lru_cache(REMEMBERED_WORDS)(self._spell)

    def __call__(self, text: str) -> list[int]:
        """The pieces of a text; one UNKNOWN for each word that cannot be spelled."""
        return [piece for word in words(text) for piece in self._pieces(word)]

    def counts(self, text: str) -> dict[int, int]:
        """The number of times that each piece occurs in a text, in the order of the first occurrences."""
        counts: dict[int, int] = {}
        for word, times in Counter(words(text)).items():
            for piece in self._pieces(word):
                counts[piece] = counts.get(piece, 0) + times
        return counts

    def _pieces(self, word: str) -> tuple[int, ...]:
        if len(word) > LONGEST_WORD:
            return (UNKNOWN,)
        return self._of_word(word) if len(word) <= LONGEST_REMEMBERED else self._spell(word)

    def _spell(self, word: str) -> tuple[int, ...]:
        """The longest piece that begins the word, then the longest that continues it, and so on to its end."""
        pieces: list[int] = []
        start = 0
        while start < len(word):
            number, start = self._longest_piece(word, start)
            if number is None:
                return (UNKNOWN,)
            pieces.append(number)
        return tuple(pieces)

    def _longest_piece(self, word: str, start: int) -> tuple[int | None, int]:
        """The longest piece at `start` and where it ends; None if no piece fits."""
        mark = _CONTINUED if start else ""
        for end in self._vocabulary.ends(mark, word, start):
            if (number := self._vocabulary.number(mark + word[start:end])) is not None:
                return number, end
        return None, start


def words(text: str) -> list[str]:
    """The words and the punctuation marks of a text, in lower case and without accents."""
    text = _ASCII_CONTROLS.sub("", text)
    if text.isascii():
        return _ASCII_WORDS.findall(text.lower())
    found: list[str] = []
    # ASCII punctuation always separates words, so each run is independent.
    for run in _RUNS.findall(text):
        if run.isascii():
            found.append(run.lower())
        else:
            is_remembered = len(run) <= LONGEST_REMEMBERED
            found += _words_of_run(run) if is_remembered else _words_of_run.__wrapped__(run)
    return found


@functools.lru_cache(REMEMBERED_WORDS)
def _words_of_run(text: str) -> list[str]:
    """The words of a run of text with letters beyond ASCII."""
    spaced = _IDEOGRAPHS.sub(r" \g<0> ", "".join(map(_cleaned, text)))
    bare = (
        letter
        for letter in unicodedata.normalize("NFD", spaced)
        if unicodedata.category(letter) != "Mn"
    )
    # Each letter alone, so that no sigma becomes a final one.
    return list(_split("".join(map(str.lower, bare))))


@functools.lru_cache(4_096)
def _cleaned(letter: str) -> str:
    """The character; a space for whitespace, nothing for a control, format or private-use character."""
    if letter in "\t\n\r" or unicodedata.category(letter) == "Zs":
        return " "
    return "" if letter == "\ufffd" or unicodedata.category(letter) in _DROPPED else letter


def _split(text: str) -> Iterator[str]:
    for word in text.split():
        start = 0
        for place, letter in enumerate(word):
            if _is_punctuation(letter):
                if start < place:
                    yield word[start:place]
                yield letter
                start = place + 1
        if start < len(word):
            yield word[start:]


@functools.lru_cache(4_096)
def _is_punctuation(letter: str) -> bool:
    if letter.isascii():
        return not letter.isalnum()
    return unicodedata.category(letter).startswith("P")


_FILTER_BITS = 17  # 128 kB say of four places in five at once that no piece ends there
_SHIFT = 32 - _FILTER_BITS


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
        self._filter = bytearray(1 << _FILTER_BITS)
        for checksum in checksums:
            self._filter[checksum >> _SHIFT] = 1
        self.longest = max(
            end - start for start, end in zip(self._starts, self._starts[1:], strict=False)
        )

    def ends(self, mark: str, word: str, start: int) -> list[int]:
        """Where a piece that begins at `start` of a word may end, the last place first; most places are left out."""
        found: list[int] = []
        checksum = crc32(mark.encode())
        for end, letter in enumerate(word[start : start + self.longest], start + 1):
            checksum = crc32(letter.encode(), checksum)
            if self._filter[checksum >> _SHIFT]:
                found.append(end)
        return found[::-1]

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
