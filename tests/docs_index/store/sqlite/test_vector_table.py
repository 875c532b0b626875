"""The table compares every vector, a block at a time."""

from __future__ import annotations

import numpy as np

from tests.products import Noted
from websearch_gateway.docs_index.store.packing import pack_vectors
from websearch_gateway.docs_index.store.sqlite.vector_table import BLOCK_ROWS, VectorTable

DIMENSIONS = 64


def test_a_scan_multiplies_at_most_1024_rows_at_once_and_all_of_them() -> None:
    """Larger products make OpenBLAS start threads, which take many times as long."""
    count, rows = 2 * BLOCK_ROWS + 7, list[int]()
    vectors = np.random.default_rng(1).normal(size=(count, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    table = VectorTable(DIMENSIONS)
    table.put(1, 1, np.arange(count), pack_vectors(vectors))
    best, *_ = table.snapshot().nearest(Noted.of(vectors[count - 1], rows), [1], 5)
    assert best.chunk_id == count - 1
    assert max(rows) == BLOCK_ROWS == 1_024
    assert sum(rows) == count


def test_a_snapshot_keeps_its_rows_while_the_table_grows() -> None:
    table = VectorTable(2)
    north, east = (np.array([row], np.float32) for row in ((0, 1), (1, 0)))
    table.put(1, 1, np.array([10]), pack_vectors(north))
    before = table.snapshot()
    table.put(2, 1, np.arange(20, 20 + 2 * BLOCK_ROWS), pack_vectors(np.repeat(east, 2 * BLOCK_ROWS, axis=0)))
    assert [one.chunk_id for one in before.nearest(north, [1], 5)] == [10]
    assert len(table.snapshot().nearest(east, [1], 5)) == 5
