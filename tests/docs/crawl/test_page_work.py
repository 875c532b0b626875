"""The outcome of one address, with a fake reader whose documents and errors the test chooses."""

from __future__ import annotations

import zlib
from functools import partial
from pathlib import Path

import pytest

from tests.docs.conftest import leased
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.docs.crawl import page_work, sources
from websearch_gateway.docs.crawl.page_work import Embedding, PageWork, Result
from websearch_gateway.docs.crawl.scope import Scope
from websearch_gateway.docs.crawl.sources import FolderSource
from websearch_gateway.docs.models import CrawlOptions, Document, ReadDocument
from websearch_gateway.docs.store.sqlite import SqliteDocs
from websearch_gateway.errors import SearchFetchError, SearchTimeoutError
from websearch_gateway.evidence.embedders.local import StaticEmbedder


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


async def worked(
    folder: Path,
    reader: ReadDocument,
    workers: Workers,
    pages: int = 1,
    body: str = "Page {}.",
    name: str = "{}.html",
) -> list[Result]:
    """The results of this number of pages in a folder, one after the other. `{}` is the number of a page."""
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
        (folder / name.format(number)).write_text(body.format(number))
        results.append(
            await work.do(await leased(store, version.id, f"{base}{name.format(number)}"))
        )
    await store.close()
    return results


async def test_a_page_that_takes_too_long_to_read_is_retried_without_blaming_its_host(
    tmp_path, workers
):
    reader = Reader(SearchTimeoutError("The page could not be read in time."))
    assert await worked(tmp_path, reader, workers) == [
        Result("retry", "The page could not be read in time.", of_host=False)
    ]


class Rendering(Reader):
    """Reads another text each time, as a browser does that runs the scripts of one shell at several addresses."""

    async def __call__(self, fetched, browser, deadline, draft, *, only_links=False) -> Document:
        self.browsers.append(browser)
        return Document("A route", f"Text {len(self.browsers)}.", rendered=True)


async def test_equal_bodies_are_one_page_unless_their_scripts_write_them(tmp_path, workers):
    reader = Reader(Document("A page", "Text."))
    assert await worked(tmp_path, reader, workers, 3, "The same.") == [
        Result("indexed"),
        *2 * [Result("skipped")],
    ]
    assert len(reader.browsers) == 1
    (tmp_path / "docs.db").unlink()
    assert await worked(tmp_path, Rendering(Document("", "")), workers, 3, "The same.") == 3 * [
        Result("indexed")
    ]


async def test_addresses_that_differ_in_their_query_alone_are_one_page_if_their_bodies_are(
    tmp_path, workers
):
    names = "page.html?view={}"
    found = await worked(tmp_path, Rendering(Document("", "")), workers, 3, "The same.", names)
    assert found == [Result("indexed"), *2 * [Result("skipped")]]


@pytest.mark.parametrize("title", ["404", "Page not found | Frob", "Page Not Found"])
async def test_a_page_that_says_that_it_is_missing_is_not_indexed(tmp_path, workers, title):
    reader = Reader(Document(title, "Try our search."))
    (result,) = await worked(tmp_path, reader, workers)
    assert result == Result("skipped", "says that there is no such page, with status 200")
    (tmp_path / "docs.db").unlink()
    long = Reader(Document("404 Not Found", "What this status of HTTP means. " * 60))
    assert await worked(tmp_path, long, workers) == [Result("indexed")]


@pytest.mark.parametrize(
    "text", ["Loading…", "# Frob\n\nPlease wait ...", "Loading the documentation, please wait"]
)
async def test_a_page_that_says_only_that_it_is_loading_is_not_indexed(tmp_path, workers, text):
    (result,) = await worked(tmp_path, Reader(Document("Frob", text, rendered=True)), workers)
    assert result == Result("failed", "says only that it is loading")
    (tmp_path / "docs.db").unlink()
    page = Reader(Document("Loading", f"{text} and more: loading a page takes its time."))
    assert await worked(tmp_path, page, workers) == [Result("indexed")]


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"x-robots-tag": "noindex, nofollow"}, "noindex"),
        ({"x-robots-tag": "websearch-gateway: none"}, "noindex"),
        ({"x-robots-tag": "otherbot: noindex"}, ""),
        ({"x-robots-tag": "max-snippet: 20"}, ""),
        ({"content-signal": "search=yes, ai-input=no"}, "content-signal: ai-input=no"),
        ({"content-usage": "search=n"}, "content-usage: search=n"),
        ({"content-usage": "train-ai=n"}, ""),
    ],
)
def test_headers_may_forbid_to_index_a_page(headers, reason):
    assert page_work._closed_by(headers) == reason


async def test_a_page_that_breaks_its_reader_fails_at_once(tmp_path, workers):
    reader = Reader(SearchFetchError("The page could not be read: its reader broke down."))
    assert await worked(tmp_path, reader, workers) == [
        Result("failed", "The page could not be read: its reader broke down.")
    ]


@pytest.mark.parametrize(
    ("rendered", "browsers"), [(True, ["auto"] * 3 + ["always"] * 3), (False, ["auto"] * 6)]
)
async def test_if_three_of_the_first_pages_need_a_browser_every_page_gets_one(
    tmp_path, workers, rendered, browsers
):
    reader = Reader(Document("Title", "Some text.", rendered=rendered))
    assert [result.outcome for result in await worked(tmp_path, reader, workers, pages=6)] == [
        "indexed"
    ] * 6
    assert reader.browsers == browsers


async def test_a_file_that_is_too_large_is_not_tried_again(tmp_path, workers, monkeypatch):
    monkeypatch.setattr(sources, "most_bytes", lambda _: 3)
    assert await worked(tmp_path, Reader(Document("", "")), workers) == [
        Result("failed", "The file is larger than 3 bytes.")
    ]


async def test_a_page_gets_the_definitions_of_the_inventory_beside_the_index_that_it_links_to(
    tmp_path, workers
):
    base = f"{tmp_path.as_uri()}/"
    lines = b"m.run py:function 1 0.html#$ -\n"
    (tmp_path / "objects.inv").write_bytes(
        b"# Sphinx inventory version 2\n#\n#\n#\n" + zlib.compress(lines)
    )
    defined = []

    async def read(fetched, browser, deadline, draft, *, only_links=False) -> Document:
        defined.append(draft.args[1])
        return Document("Title", "Some text.", links=(f"{base}genindex.html",))

    await worked(tmp_path, read, workers)
    assert defined == [[], [("m.run", "m.run")]]


@pytest.mark.parametrize(
    ("status", "result"),
    [
        *(
            (status, Result("retry", "refused", of_host=True))
            for status in (408, 425, 429, 500, 502, 503, 504, 522, 524)
        ),
        (404, Result("failed", "HTTP 404")),
        (410, Result("failed", "HTTP 410")),
        *(
            (
                status,
                Result(
                    "failed",
                    f"HTTP {status}: a login wall (--header sends a login), or closed to programs",
                ),
            )
            for status in (401, 403)
        ),
        (402, Result("failed", "HTTP 402: the site wants to be paid for its pages")),
        (451, Result("failed", "HTTP 451")),
    ],
)
async def test_a_status_says_whether_a_page_is_asked_for_again(
    tmp_path, workers, monkeypatch, status, result
):
    async def refuse(*_: object) -> None:
        raise SearchFetchError("refused", details={"status": status})

    monkeypatch.setattr(FolderSource, "fetch", refuse)
    assert await worked(tmp_path, Reader(Document("", "")), workers) == [result]


@pytest.mark.parametrize(
    ("length", "outcome"), [(1_499, "skipped"), (1_500, "indexed"), (2_000, "indexed")]
)
async def test_a_notice_that_a_page_is_missing_has_less_than_1500_characters(
    tmp_path, workers, length, outcome
):
    text = "What this status of HTTP means. ".ljust(length, "x")
    (result,) = await worked(tmp_path, Reader(Document("404 Not Found", text)), workers)
    assert result.outcome == outcome
