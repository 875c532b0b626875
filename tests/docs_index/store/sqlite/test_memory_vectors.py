"""Vectors in memory follow those of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs_index.conftest import BASE, commit, page, vectors, version
from websearch_gateway.docs_index.store.sql import pages
from websearch_gateway.docs_index.store.sqlite.docs import SqliteDocs
from websearch_gateway.errors import StateUnavailable


async def test_a_search_after_a_failed_read_finds_every_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
