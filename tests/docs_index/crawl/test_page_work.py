"""The outcome of one address, with a fake reader whose documents and errors the test chooses."""

from __future__ import annotations

import zlib
from functools import partial
from pathlib import Path

import pytest

from tests.docs_index.conftest import leased
from websearch_gateway.docs_index.crawl import sources
from websearch_gateway.docs_index.crawl.embedding import Embedding
from websearch_gateway.docs_index.crawl.page_work import PageWork, Result
from websearch_gateway.docs_index.crawl.scope import Scope
from websearch_gateway.docs_index.crawl.sources import FolderSource
from websearch_gateway.docs_index.models import CrawlOptions, Document
from websearch_gateway.docs_index.ports import ReadDocument
from websearch_gateway.docs_index.store.sqlite.docs import SqliteDocs
from websearch_gateway.embedders.static import StaticEmbedder
from websearch_gateway.errors import SearchFetchError, SearchTimeoutError
from websearch_gateway.workers.pool import Workers


class Reader:
    """Answers with the same document, or error, and notes the browser option of each call."""

    def __init__(self, answer: Document | Exception) -> None:
        self.answer = answer
        self.browsers: list[str] = []

    async def __call__(self, fetched, browser, deadline, draft, *, only_links=False) -> Document:
        self.browsers.append(browser)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def worked(folder: Path, reader: ReadDocument, workers: Workers, pages: int = 1) -> list[Result]:
    """The results of this number of different pages in a folder, one after the other."""
    store = SqliteDocs(folder / "docs.db", "static/1")
    base = f"{folder.as_uri()}/"
    scope = Scope.of(base)
    work = PageWork(
        store,
        FolderSource(folder, base, scope, workers, partial(store.note_reading, 0)),
        scope,
        reader,
        Embedding(StaticEmbedder(), store),
    )
    version = await store.add_version("x", "1", base, CrawlOptions())
    results = []
    for number in range(pages):
        (folder / f"{number}.html").write_text(f"Page {number}.")
        results.append(await work.do(await leased(store, version.id, f"{base}{number}.html")))
    await store.close()
    return results


async def test_a_page_that_takes_too_long_to_read_is_retried_without_blaming_its_host(tmp_path, workers):
    reader = Reader(SearchTimeoutError("The page could not be read in time."))
    assert await worked(tmp_path, reader, workers) == [
        Result("retry", "The page could not be read in time.", of_host=False)
    ]


async def test_a_page_that_breaks_its_reader_fails_at_once(tmp_path, workers):
    reader = Reader(SearchFetchError("The page could not be read: its reader broke down."))
    assert await worked(tmp_path, reader, workers) == [
        Result("failed", "The page could not be read: its reader broke down.")
    ]


@pytest.mark.parametrize(("rendered", "browsers"), [(True, ["auto"] * 3 + ["always"] * 3), (False, ["auto"] * 6)])
async def test_if_three_of_the_first_pages_need_a_browser_every_page_gets_one(tmp_path, workers, rendered, browsers):
    reader = Reader(Document("Title", "Some text.", rendered=rendered))
    assert [result.outcome for result in await worked(tmp_path, reader, workers, pages=6)] == ["indexed"] * 6
    assert reader.browsers == browsers


async def test_a_file_that_is_too_large_is_not_tried_again(tmp_path, workers, monkeypatch):
    monkeypatch.setattr(sources, "most_bytes", lambda _: 3)
    assert await worked(tmp_path, Reader(Document("", "")), workers) == [
        Result("failed", "The file is larger than 3 bytes.")
    ]


async def test_a_page_gets_the_definitions_of_the_inventory_beside_the_index_that_it_links_to(tmp_path, workers):
    base = f"{tmp_path.as_uri()}/"
    lines = b"m.run py:function 1 0.html#$ -\n"
    (tmp_path / "objects.inv").write_bytes(b"# Sphinx inventory version 2\n#\n#\n#\n" + zlib.compress(lines))
    defined = []

    async def read(fetched, browser, deadline, draft, *, only_links=False) -> Document:
        defined.append(draft.args[2])
        return Document("Title", "Some text.", links=(f"{base}genindex.html",))

    await worked(tmp_path, read, workers)
    assert defined == [[], [("m.run", "m.run")]]
