"""All vectors of one embedder in memory, compared one by one: exact, and 25 ms for 200,000."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from websearch_gateway.docs_index.models import ScoredChunk
from websearch_gateway.docs_index.store.packing import unpack_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from websearch_gateway.ports import Vectors

BLOCK_ROWS = 1_024
"""Rows multiplied at once: on larger blocks OpenBLAS starts threads that cost more than they save."""
_DEAD = -1


class Snapshot(NamedTuple):
    """The rows of a table at one moment: int8 numbers, their scales, and chunk, page and version. A later change may
    only mark a row as dead."""

    numbers: NDArray[np.int8]
    scales: NDArray[np.float32]
    owners: NDArray[np.int64]

    def nearest(self, vector: Vectors, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """The chunks of these versions with the highest cosine, best first."""
        import numpy as np

        rows = len(self.scales)
        if not rows:
            return []
        scores = np.empty(rows, np.float32)
        query = vector.reshape(-1)
        for start in range(0, rows, BLOCK_ROWS):
            place = slice(start, min(start + BLOCK_ROWS, rows))
            scores[place] = self.numbers[place].astype(np.float32) @ query
        scores *= self.scales
        scores[~np.isin(self.owners[:, 2], np.array(versions, np.int64))] = -np.inf
        best = np.argpartition(-scores, min(limit, rows) - 1)[:limit]
        best = best[np.argsort(-scores[best], kind="stable")]
        return [
            ScoredChunk(int(chunk), int(page), int(version), float(score))
            for (chunk, page, version), score in zip(self.owners[best], scores[best], strict=True)
            if score > 0
        ]


class VectorTable:
    """Vectors of `dimensions` numbers by chunk. Not thread-safe."""

    def __init__(self, dimensions: int) -> None:
        import numpy as np

        self._dimensions = dimensions
        self._rows = 0
        self._numbers: NDArray[np.int8] = np.empty((0, dimensions), np.int8)
        self._scales: NDArray[np.float32] = np.empty(0, np.float32)
        self._owners: NDArray[np.int64] = np.empty((0, 3), np.int64)  # chunk, page, version
        self._pages: set[int] = set()

    @property
    def pages(self) -> int:
        """The number of pages with vectors."""
        return len(self._pages)

    def put(self, page_id: int, version_id: int, chunk_ids: NDArray[np.int64], data: bytes) -> None:
        """Add the packed vectors of a page, in place of its old ones."""
        scales, numbers = unpack_vectors(data, self._dimensions)
        if page_id in self._pages:
            self._owners[: self._rows][self._owners[: self._rows, 1] == page_id, 2] = _DEAD
        self._pages.add(page_id)
        self._reserve(self._rows + len(scales))
        place = slice(self._rows, self._rows + len(scales))
        self._numbers[place], self._scales[place] = numbers, scales
        self._owners[place, 0], self._owners[place, 1], self._owners[place, 2] = chunk_ids, page_id, version_id
        self._rows += len(scales)

    def snapshot(self) -> Snapshot:
        """The rows as they are now, without a copy; another thread may read them while the table changes."""
        return Snapshot(self._numbers[: self._rows], self._scales[: self._rows], self._owners[: self._rows])

    def _reserve(self, rows: int) -> None:
        import numpy as np

        if rows <= (capacity := len(self._scales)):
            return
        more = max(rows, capacity + capacity // 2, BLOCK_ROWS) - capacity
        self._numbers = np.concatenate([self._numbers, np.empty((more, self._dimensions), np.int8)])
        self._scales = np.concatenate([self._scales, np.empty(more, np.float32)])
        self._owners = np.concatenate([self._owners, np.empty((more, 3), np.int64)])
