"""The vectors in LanceDB follow the store: when, and how many at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.clock import Clock
from tests.docs.conftest import BASE, commit, page, vectors, version
from websearch_gateway.docs.store import lance
from websearch_gateway.docs.store.lance import LanceVectors
from websearch_gateway.docs.store.sqlite import SqliteDocs

pytest.importorskip("lancedb", reason="the extra `lancedb` is not installed")


@pytest.fixture
async def store(tmp_path: Path, clock: Clock) -> AsyncIterator[SqliteDocs]:
    near = partial(LanceVectors, str(tmp_path / "vectors"), clock=clock)
    opened = SqliteDocs(tmp_path / "docs.db", "tests/1", near=near)
    yield opened
    await opened.close()


async def count(store: SqliteDocs, id_: int, *row: float) -> int:
    return len(await store.search_vectors(vectors(row), [id_], 10))


async def test_a_search_follows_the_store_again_after_a_minute(
    store: SqliteDocs, clock: Clock
) -> None:
    id_ = await version(store)
    await commit(store, id_, page(f"{BASE}a.html", "East."), vectors((1, 0)))
    assert await count(store, id_, 1, 0) == 1
    await commit(store, id_, page(f"{BASE}b.html", "East too."), vectors((1, 0)))
    for seconds, found in ((59.9, 1), (0.1, 2)):
        clock.now += seconds
        assert await count(store, id_, 1, 0) == found


async def test_the_vectors_of_a_changed_or_removed_page_are_gone_and_opposite_ones_are_not_near(
    store: SqliteDocs,
) -> None:
    id_ = await version(store)
    assert await count(store, id_, 1, 0) == 0  # before the first vector there is no table
    await commit(store, id_, page(f"{BASE}a.html", "East."), vectors((1, 0)))
    await commit(store, id_, page(f"{BASE}b.html", "West."), vectors((-1, 0)))
    await store._near.follow()
    assert [await count(store, id_, *row) for row in ((1, 0), (-1, 0), (0, 1))] == [1, 1, 0]
    (hit,) = await store.search_vectors(vectors((1, 0)), [id_], 10)
    assert hit.score == pytest.approx(1.0, abs=0.01)
    await store.start_generation(id_)
    await commit(store, id_, page(f"{BASE}a.html", "North."), vectors((0, 1)))
    await store._near.follow()
    assert [await count(store, id_, *row) for row in ((1, 0), (-1, 0), (0, 1))] == [0, 1, 1]
    await store._near.follow()
    assert [await count(store, id_, *row) for row in ((1, 0), (-1, 0), (0, 1))] == [0, 1, 1]
    assert await store.search_vectors(np.ones((1, 3), np.float32), [id_], 1) == []


class Table:
    """A table that notes what is done to it."""

    def __init__(self, known: dict[int, int], rows: int = 0) -> None:
        self.known = known
        self.rows = rows
        self.removed: list[int] = []
        self.added: list[int] = []
        self.indexed = 0
        self.has_index = False
        self.optimized = 0

    def query(self) -> Table:
        return self

    def select(self, columns: list[str]) -> Table:
        return self

    async def to_arrow(self) -> Table:
        return self

    def group_by(self, columns: list[str]) -> Table:
        return self

    def aggregate(self, columns: list[str]) -> Table:
        return self

    def to_pylist(self) -> list[dict[str, int]]:
        return [{"page_id": page_id, "row": row} for page_id, row in self.known.items()]

    async def delete(self, where: str) -> None:
        self.removed.append(where.count(",") + 1)

    async def add(self, batch: int) -> None:
        self.added.append(batch)

    async def optimize(self) -> None:
        self.optimized += 1

    async def list_indices(self) -> list[str]:
        return ["vector"] if self.has_index else []

    async def count_rows(self) -> int:
        return self.rows

    async def create_index(self, *_: object, **__: object) -> None:
        self.indexed += 1


async def followed(table: Table, stored: dict[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    class Stored:
        async def read(self, act: Any) -> object:
            return len(act.keywords["rows"]) if isinstance(act, partial) else stored

    async def same(self: LanceVectors, dimensions: int, *, make: bool) -> Table:
        return table

    monkeypatch.setattr(LanceVectors, "_table", same)
    await LanceVectors("", Stored(), "tests/1")._follow(2)  # type: ignore[arg-type]


async def test_two_thousand_pages_are_removed_and_added_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Table({page_id: page_id for page_id in range(4_001)})
    await followed(table, {page_id: 9_000 + page_id for page_id in range(4_001)}, monkeypatch)
    assert table.removed == table.added == [2_000, 2_000, 1]
    assert table.optimized == 1


@pytest.mark.parametrize(
    ("rows", "has_index", "stored", "indexed"),
    [
        (99_999, False, {1: 1}, 0),
        (100_000, False, {1: 1}, 1),
        (100_000, True, {1: 1}, 0),
        (100_000, False, {}, 0),
    ],
)
async def test_a_hundred_thousand_rows_get_an_approximate_index_once(
    monkeypatch: pytest.MonkeyPatch,
    rows: int,
    has_index: bool,
    stored: dict[int, int],
    indexed: int,
) -> None:
    table = Table({}, rows)
    table.has_index = has_index
    await followed(table, stored, monkeypatch)
    assert (table.indexed, table.optimized) == (indexed, len(stored))
    assert lance.LEAST_INDEXED <= 100_000
