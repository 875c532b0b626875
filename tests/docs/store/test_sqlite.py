from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from tests.docs.conftest import BASE, commit, page, vectors, version
from websearch_gateway.docs.store import pages
from websearch_gateway.docs.store.database import pack_vectors
from websearch_gateway.docs.store.sqlite import LEAST_ROWS, SqliteDocs, VectorTable
from websearch_gateway.errors import StateUnavailable


async def test_a_search_after_a_failed_read_finds_every_vector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    id_ = await version(store)
    for name in ("a", "b"):
        await commit(store, id_, page(f"{BASE}{name}.html", f"Text {name}."), vectors((1, 0)))
    with monkeypatch.context() as patch:

        def broken(*arguments):
            yield next(real(*arguments))
            raise StateUnavailable("The file cannot be read.")

        real = pages.vectors_after
        patch.setattr(pages, "vectors_after", broken)
        with pytest.raises(StateUnavailable):
            await store.search_vectors(vectors((1, 0)), [id_], 10)
    assert len(await store.search_vectors(vectors((1, 0)), [id_], 10)) == 2
    await store.close()


async def test_a_read_beside_the_first_write_finds_the_tables(tmp_path: Path) -> None:
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    _, seen = await asyncio.gather(version(store), store.versions())
    assert seen in ([], await store.versions())
    await store.close()


DIMENSIONS = 64


def test_a_scan_finds_the_nearest_of_all_rows() -> None:
    vectors = np.random.default_rng(1).normal(size=(3_000, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    table = VectorTable(DIMENSIONS)
    table.put(1, 1, np.arange(len(vectors)), pack_vectors(vectors))
    for asked in vectors[::500] + vectors[1::500]:
        near = {one.chunk_id: one.score for one in table.snapshot().nearest(asked, [1], 5)}
        exact = vectors @ asked
        assert list(near.values()) == pytest.approx(np.sort(exact)[:-6:-1], abs=0.02)
        assert list(near.values()) == pytest.approx(exact[list(near)], abs=0.02)


def test_a_snapshot_keeps_its_rows_while_the_table_grows() -> None:
    table = VectorTable(2)
    north, east = (np.array([row], np.float32) for row in ((0, 1), (1, 0)))
    table.put(1, 1, np.array([10]), pack_vectors(north))
    before = table.snapshot()
    table.put(
        2,
        1,
        np.arange(20, 20 + 2 * LEAST_ROWS),
        pack_vectors(np.repeat(east, 2 * LEAST_ROWS, axis=0)),
    )
    assert [one.chunk_id for one in before.nearest(north, [1], 5)] == [10]
    assert len(table.snapshot().nearest(east, [1], 5)) == 5
