"""Fixtures for the documentation index: a store of every backend, and pages to put into it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial

import numpy as np
import psycopg
import pytest

from tools.servers import Postgresql
from websearch_gateway.docs.models import (
    Chunk,
    ChunkDraft,
    CrawlOptions,
    PageDraft,
    PageFacts,
    ScoredChunk,
    Symbol,
    SymbolMatch,
    TextQuery,
    UrlTask,
)
from websearch_gateway.docs.store.docs import SqlDocs
from websearch_gateway.docs.store.lance import LanceVectors
from websearch_gateway.docs.store.pages import find_symbols, load_chunks, page_facts
from websearch_gateway.docs.store.postgres import PostgresDocs
from websearch_gateway.docs.store.sqlite import SqliteDocs

BASE = "https://docs.example.org/3/"

pytest.register_assert_rewrite("tests.docs.store.contract")


@pytest.fixture(params=["sqlite", "postgresql", "lance"])
async def docs(request, tmp_path, clock) -> AsyncIterator[SqlDocs]:
    """An empty index that implements both ports."""
    store: SqlDocs
    if request.param == "sqlite":
        store = SqliteDocs(tmp_path / "docs.db", "tests/1", clock=clock)
    elif request.param == "lance":
        pytest.importorskip("lancedb", reason="the extra `lancedb` is not installed")
        near = partial(LanceVectors, str(tmp_path / "vectors"), lag=0)
        store = SqliteDocs(tmp_path / "docs.db", "tests/1", near=near, clock=clock)
    else:
        server = request.getfixturevalue("postgresql_server")
        empty_database(server)
        store = PostgresDocs(server.url, "tests/1", clock=clock)
    yield store
    await store.close()


def empty_database(server: Postgresql) -> None:
    """Delete the data of earlier tests. Skips the test if the server has no pgvector."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        if not connection.execute(
            "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
        ).fetchall():
            pytest.skip(
                "the PostgreSQL server has no pgvector (the extra `dev` brings one that has)"
            )
        connection.execute("DROP SCHEMA IF EXISTS websearch_docs CASCADE")


def page(
    url: str = f"{BASE}a.html", *texts: str, title: str = "A", headings: tuple[str, ...] = ("A",)
) -> PageDraft:
    """A page with one chunk per text."""
    markdown, chunks = "", []
    for text in texts:
        chunks.append(
            ChunkDraft(len(markdown), len(markdown) + len(text), headings, f"s{len(chunks)}")
        )
        markdown += text + "\n\n"
    return PageDraft(
        url, title, markdown, tuple(chunks), body_hash=f"hash of {markdown}", etag='"1"'
    )


def with_symbols(draft: PageDraft, *symbols: Symbol) -> PageDraft:
    return PageDraft(
        draft.url, draft.title, draft.markdown, draft.chunks, symbols, body_hash=draft.body_hash
    )


def vectors(*rows: tuple[float, ...]) -> np.ndarray:
    array = np.array(rows, np.float32)
    return array / np.linalg.norm(array, axis=1, keepdims=True)


async def version(store: SqlDocs, name: str = "python", label: str = "3", url: str = BASE) -> int:
    return (await store.add_version(name, label, url, CrawlOptions())).id


async def leased(store: SqlDocs, version_id: int, url: str) -> UrlTask:
    """Put an address into the frontier and lease it. Returns its task."""
    await store.add_urls(version_id, {url: 0})
    found = {task.url: task for task in await store.lease_urls(version_id, 1_000, 2e9)}
    return found[url]


async def commit(store: SqlDocs, version_id: int, draft: PageDraft, rows=None, links=()) -> UrlTask:
    task = await leased(store, version_id, draft.url)
    await store.commit_page(task, draft, rows, links)
    return task


async def search_text(
    store: SqlDocs, query: TextQuery, versions: Sequence[int], limit: int
) -> list[ScoredChunk]:
    return await store.searching(lambda db: db.search_text(query, versions, limit))


async def definitions(
    store: SqlDocs, names: Sequence[str], versions: Sequence[int], limit: int
) -> list[SymbolMatch]:
    return await store.searching(lambda db: find_symbols(db, names, versions, limit))


async def count_words(store: SqlDocs, words: Sequence[str]) -> Mapping[str, int]:
    return await store.searching(lambda db: db.count_words(words))


async def chunks_of(store: SqlDocs, ids: Sequence[int]) -> list[Chunk]:
    return await store.searching(lambda db: load_chunks(db, ids))


async def facts_of(store: SqlDocs, pages: Sequence[int]) -> Mapping[int, PageFacts]:
    return await store.searching(lambda db: page_facts(db, pages))
