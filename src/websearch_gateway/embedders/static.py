"""The default embedder: one vector per word piece, summed. It ships with the package and needs no network and no key.

`tools/train_embedder.py` trained the table to imitate the sentence vectors of all-MiniLM-L6-v2; `tools/README.md`
describes method and data. It knows English best, other Latin-script languages a little, and no other script.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from importlib import resources
from typing import TYPE_CHECKING, Literal, NamedTuple

from websearch_gateway.embedders.word_pieces import UNKNOWN, WordPieces
from websearch_gateway.net.own_threads import in_own_thread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from websearch_gateway.ports import Vectors

_DATA = resources.files(__package__) / "static_model"
# Embedding takes about 0.2 ms a passage: more than a few would block the event loop.
MOST_TEXTS_ON_THE_LOOP = 8
MOST_CHARACTERS_ON_THE_LOOP = 4_000


class Table(NamedTuple):
    """The model's numbers: piece `i` has the vector `vectors[i] * scales[i]`, whose length is the piece's weight."""

    vectors: NDArray[np.int8]  # (pieces, dimensions)
    scales: NDArray[np.float32]  # (pieces,)


class StaticEmbedder:
    """Embeds on the CPU. A vector depends only on its text, not on its batch, the process or `kind`."""

    name = "static/1"
    dimensions = 256
    weight = 0.3

    async def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """Unit vectors of the texts; the zero vector for a text without a known piece. Large batches go to a thread."""
        if len(texts) > MOST_TEXTS_ON_THE_LOOP or sum(map(len, texts)) > MOST_CHARACTERS_ON_THE_LOOP:
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
            weights = self._table.scales[pieces] * np.fromiter(counts.values(), np.float32, len(pieces))
            row[:] = weights @ self._table.vectors[pieces].astype(np.float32)
            if length := float(np.linalg.norm(row)):
                row /= length
        return rows

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
        with resources.as_file(_DATA / "vectors.npy") as vectors, resources.as_file(_DATA / "scales.npy") as scales:
            return Table(np.load(vectors, mmap_mode="r"), np.load(scales))


def encode(texts: Sequence[str]) -> Vectors:
    """`StaticEmbedder.encode` with one table for the whole process, for code that runs in a worker."""
    return _shared().encode(texts)


@cache
def _shared() -> StaticEmbedder:
    return StaticEmbedder()
