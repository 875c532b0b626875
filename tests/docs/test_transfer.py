import base64
import gzip
import json
import time

import numpy as np
import pytest

from tests.docs.conftest import (
    BASE,
    chunks_of,
    commit,
    definitions,
    leased,
    page,
    search_text,
    vectors,
    version,
    with_symbols,
)
from websearch_gateway.docs import transfer
from websearch_gateway.docs.crawl.runner import check_source
from websearch_gateway.docs.library import DocsLibrary
from websearch_gateway.docs.models import CrawlOptions, Symbol, TextQuery
from websearch_gateway.docs.reports import iso_date
from websearch_gateway.docs.store.database import pack_vectors
from websearch_gateway.docs.store.sqlite import SqliteDocs
from websearch_gateway.docs.transfer import INTERRUPTED, export_site, import_site
from websearch_gateway.errors import SearchValidationError


@pytest.fixture
def library(docs):
    return DocsLibrary(docs, None, None)


async def exported(library, path):
    id_ = (
        await library.store.add_version(
            "python", "3", BASE, CrawlOptions(headers=(("cookie", "secret=1"),))
        )
    ).id
    draft = with_symbols(
        page(f"{BASE}a.html", "East words.", "North words."), Symbol("a.b", "api", "s1", 1)
    )
    await commit(library.store, id_, draft, vectors((1, 0), (0, 1)), links=[f"{BASE}b.html"])
    (found,) = await library.find("python")
    assert await export_site(library, found, "tests/1", path) == 1


async def test_an_imported_site_is_searchable_by_words_meaning_and_symbols(library, tmp_path):
    path = tmp_path / "python.docs.gz"
    await exported(library, path)
    assert b"secret" not in gzip.decompress(path.read_bytes())
    other = SqliteDocs(tmp_path / "other.db", "tests/1")
    imported = await import_site(DocsLibrary(other, None, None), "tests/1", path)
    assert (imported.status, imported.page_count, imported.unembedded) == ("completed", 1, 0)
    (hit,) = await search_text(other, TextQuery(("north",)), [imported.id], 10)
    assert [c.content for c in await chunks_of(other, [hit.chunk_id])] == ["North words."]
    assert (await other.search_vectors(vectors((0, 1)), [imported.id], 1))[
        0
    ].chunk_id == hit.chunk_id
    assert [match.chunk_id for match in await definitions(other, ["a.b"], [imported.id], 10)] == [
        hit.chunk_id
    ]
    assert imported.known == 1
    await other.start_generation(imported.id)
    # A refresh knows the links of the page.
    task = await leased(other, imported.id, f"{BASE}b.html")
    assert task.depth == 1
    await other.close()


async def test_vectors_of_another_embedder_are_left_out(library, tmp_path):
    await exported(library, tmp_path / "x.gz")
    other = SqliteDocs(tmp_path / "other.db", "another/1")
    imported = await import_site(DocsLibrary(other, None, None), "another/1", tmp_path / "x.gz")
    assert (imported.page_count, imported.unembedded) == (1, 1)
    await other.close()


async def test_an_indexed_site_is_not_overwritten(library, tmp_path):
    await exported(library, tmp_path / "x.gz")
    await library.store.set_status(await version(library.store), "completed")
    with pytest.raises(SearchValidationError, match="Delete it first"):
        await import_site(library, "tests/1", tmp_path / "x.gz")


@pytest.mark.parametrize(
    "data",
    [b"", b"no gzip", gzip.compress(b"{}"), gzip.compress(b'{"format": 1}\n')],
    ids=["empty", "text", "no format", "no pages"],
)
async def test_another_file_is_refused(library, tmp_path, data):
    (tmp_path / "x.gz").write_bytes(data)
    with pytest.raises(SearchValidationError):
        await import_site(library, "tests/1", tmp_path / "x.gz")
    assert await library.store.versions() == []


async def test_a_damaged_export_is_refused(library, tmp_path):
    path = tmp_path / "x.gz"
    await exported(library, path)
    path.write_bytes(path.read_bytes()[:-20])
    other = SqliteDocs(tmp_path / "other.db", "tests/1")
    with pytest.raises(SearchValidationError):
        await import_site(DocsLibrary(other, None, None), "tests/1", path)
    assert await other.versions() == []
    await other.close()


async def test_a_site_is_not_crawled_while_it_is_imported(library, tmp_path, monkeypatch):
    await exported(library, tmp_path / "x.gz")
    other = SqliteDocs(tmp_path / "other.db", "tests/1")
    put, seen = other.put_pages, []

    async def noted(id_, pages):
        seen.extend((one.status, one.reason) for one in await other.versions())
        await put(id_, pages)

    monkeypatch.setattr(other, "put_pages", noted)
    await import_site(DocsLibrary(other, None, None), "tests/1", tmp_path / "x.gz")
    assert seen == [("failed", INTERRUPTED)]
    await other.close()


HEAD = {
    "format": "websearch-gateway-docs/1",
    "name": "python",
    "version": "3",
    "url": BASE,
    "embedder": "tests/1",
    "include": [],
    "exclude": ["private/*"],
    "max_pages": 9,
    "delay": 0.25,
    "indexed_at": 1.0,
}
TEXT = "# A\n\nEast words."
PAGE = {
    "address": f"{BASE}a.html",
    "url": f"{BASE}a.html",
    "title": "A",
    "markdown": TEXT,
    "chunks": [[0, len(TEXT), ["A"], "a", "", ""]],
    "symbols": [["a.b", "api", "a", 0]],
    "links": [f"{BASE}b.html"],
    "etag": '"1"',
    "last_modified": None,
    "body_hash": "0" * 32,
    "fetched_at": 1_700_000_000.0,
    "dimensions": 2,
    "vectors": base64.b64encode(pack_vectors(np.array([[1.0, 0.0]], np.float32))).decode(),
}


@pytest.fixture
async def imported(tmp_path):
    """Imports pages that a stranger wrote; gives the version and its store."""
    store = SqliteDocs(tmp_path / "imported.db", "tests/1")

    async def act(*pages, **head):
        lines = [HEAD | head, *pages]
        (tmp_path / "x.gz").write_bytes(
            gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode())
        )
        return await import_site(
            DocsLibrary(store, None, None), "tests/1", tmp_path / "x.gz"
        ), store

    yield act
    await store.close()


async def stored(imported, *pages, **head):
    version, store = await imported(*pages, **head)
    return version, [page for _, page in await store.pages_after(version.id, 0, 100)]


async def test_a_page_as_the_crawler_writes_it_is_imported_whole(imported):
    version, (page,) = await stored(imported, PAGE)
    assert (version.url, version.reason, version.options.exclude) == (BASE, "", ("private/*",))
    assert (page.address, page.draft.title, page.draft.etag, page.fetched_at) == (
        f"{BASE}a.html",
        "A",
        '"1"',
        1.7e9,
    )
    assert [(c.start, c.stop, c.heading_path, c.anchor) for c in page.draft.chunks] == [
        (0, len(TEXT), ("A",), "a")
    ]
    assert [symbol.name for symbol in page.draft.symbols] == ["a.b"]
    assert page.vectors is not None


@pytest.mark.parametrize("url", ["file:///etc/", "file:///home/x/book.zip"])
async def test_a_folder_of_another_machine_becomes_a_name_that_is_never_crawled(imported, url):
    base = f"{url}!/" if url.endswith("zip") else url
    pages = [
        PAGE
        | {
            "address": f"{base}sub/a%20b.md",
            "url": f"{base}sub/a%20b.md",
            "links": [f"{base}c.md", BASE],
        }
    ]
    pages.append(PAGE | {"address": f"{BASE}a.html"})
    version, (page,) = await stored(imported, *pages, url=url, name="my book")
    assert version.url == "imported:///my%20book/3/"
    assert (page.address, page.draft.url) == ("imported:///my%20book/3/sub/a%20b.md",) * 2
    assert page.links == ("imported:///my%20book/3/c.md",)
    assert (
        version.reason == "1 pages of the file are outside the site, or not as a crawl writes them."
    )
    with pytest.raises(SearchValidationError, match="another machine"):
        check_source(version)


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "ftp://a.example/", "data:text/html,x", "", "//a", "http://\x1b[m/"],
)
async def test_a_site_with_another_address_is_refused(imported, url):
    with pytest.raises(SearchValidationError, match="no usable address"):
        await imported(PAGE, url=url)


async def test_pages_and_links_outside_the_site_are_left_out(imported):
    outside = [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://docs.example.org/",
        "https://elsewhere.example/3/a.html",
    ]
    outside += [f"{BASE}private/a.html", f"{BASE}a.png"]
    links = [*outside, f"{BASE}b.html#x", f"{BASE}b.html"]
    version, (page,) = await stored(
        imported, PAGE | {"links": links}, *(PAGE | {"address": url} for url in outside)
    )
    assert (
        version.reason
        == f"{len(outside)} pages of the file are outside the site, or not as a crawl writes them."
    )
    assert page.links == (f"{BASE}b.html",)


async def test_of_the_addresses_of_a_page_only_its_index_file_stays_beside_its_own(imported):
    for given, expected in (
        (f"{BASE}index.html", f"{BASE}index.html"),
        ("javascript:alert(1)", BASE),
    ):
        _, (page,) = await stored(
            imported, PAGE | {"address": BASE, "url": given}, name=given[:5], version="3"
        )
        assert page.draft.url == expected


async def test_control_characters_and_live_links_do_not_reach_the_index(imported):
    escape, link = "\x1b]0;evil\x07", "[run](javascript:alert(1))"
    dirty = f"# A{escape}\n\nEast {link} words."
    chunk = [0, len(dirty), ["A"], "a", "", ""]
    pages = [
        PAGE | {"markdown": dirty, "chunks": [chunk], "title": f"A{escape}"},
        PAGE | {"chunks": [[0, len(TEXT), [f"A{escape}"], "a", "", ""]]},
        PAGE | {"chunks": [[0, len(TEXT), ["A"], f"a{escape}", "", ""]]},
        PAGE | {"chunks": [[0, len(TEXT), ["A"], "a", link, ""]]},
        PAGE | {"chunks": [[0, len(TEXT), ["A" * 300], "a", "", ""]]},
        PAGE
        | {
            "etag": f"a{escape}",
            "last_modified": "a\r\nb",
            "symbols": [[f"a{escape}", "api", "a", 0]],
        },
    ]
    pages = [page | {"address": f"{BASE}{number}.html"} for number, page in enumerate(pages)]
    imported_version, (found,) = await stored(imported, *pages)
    assert imported_version.reason.startswith(
        "5 pages of the file are outside the site, or not as a crawl writes them."
    )
    assert (found.draft.etag, found.draft.last_modified, found.draft.symbols) == (None, None, ())


@pytest.mark.parametrize(
    "wrong",
    [
        {"fetched_at": 1e300},
        {"fetched_at": -1},
        {"fetched_at": float("nan")},
        {"fetched_at": float("inf")},
        {"chunks": [[0, 99, ["A"], "a", "", ""]]},
        {"chunks": [[5, 2, ["A"], "a", "", ""]]},
        {"chunks": [[0, 9, ["A"], "a", "", ""]] * 2},
        {"chunks": [[0, 9, ["A"], "a", "x" * 200_000, ""]]},
        {"chunks": [[0, 1, [], "", "", ""]] * 200_000},
        {"symbols": [["a", "api", "a", 0]] * 5_001},
        {"symbols": [["a", "evil", "a", 0]]},
        {"links": [BASE] * 5_001},
        {"vectors": "AAAA"},
        {"vectors": base64.b64encode(np.array([np.inf], "<f4").tobytes() + b"\x01\x01").decode()},
        {"vectors": base64.b64encode(np.array([1e9], "<f4").tobytes() + b"\x01\x01").decode()},
        {"address": BASE + "a" * 10_000},
        {"extra": 1},
    ],
)
async def test_a_page_that_no_crawler_writes_is_refused_and_leaves_nothing(
    imported, tmp_path, wrong
):
    with pytest.raises(SearchValidationError, match="damaged"):
        await imported(PAGE, PAGE | {"address": f"{BASE}z.html"} | wrong)
    store = SqliteDocs(tmp_path / "imported.db", "tests/1")
    assert await store.versions() == []
    await store.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_pages": 0},
        {"max_pages": 10**9},
        {"delay": -1},
        {"delay": 1e300},
        {"include": ["*"] * 101},
    ],
)
async def test_options_that_no_command_takes_are_refused(imported, wrong):
    with pytest.raises(SearchValidationError, match="damaged"):
        await imported(PAGE, **wrong)


@pytest.mark.parametrize("name", ["", "a\x1b[31m", "a" * 101, "a\u202eb"])
async def test_a_name_that_no_command_takes_is_refused(imported, name):
    with pytest.raises(SearchValidationError, match="1 to 100 characters"):
        await imported(PAGE, name=name)


async def test_a_time_in_the_future_counts_as_now(imported):
    _, (page,) = await stored(imported, PAGE | {"fetched_at": time.time() + 1e9})
    assert page.fetched_at <= time.time()


async def test_links_are_taken_up_to_the_limit_of_a_crawl(imported, monkeypatch):
    monkeypatch.setattr(transfer, "URLS_PER_PAGE", 0.0001)  # of 20,000 pages
    links = tuple(f"{BASE}{number}.html" for number in range(5))
    _, found = await stored(
        imported, PAGE | {"links": links[:3]}, PAGE | {"address": BASE, "links": links[1:]}
    )
    assert [one.links for one in found] == [links[:3], links[1:3]]


async def test_a_batch_is_bounded_by_its_bytes(imported, monkeypatch):
    monkeypatch.setattr(transfer, "BATCH_BYTES", 1_000)
    sizes, put = [], SqliteDocs.put_pages

    async def noted(store, id_, pages):
        sizes.append(len(pages))
        await put(store, id_, pages)

    monkeypatch.setattr(SqliteDocs, "put_pages", noted)
    pages = [
        PAGE | {"address": f"{BASE}{number}.html", "markdown": TEXT + "x" * 400}
        for number in range(6)
    ]
    await imported(*pages)
    assert sizes == [2, 2, 2]


async def test_a_page_too_large_for_a_line_is_exported_without_its_vectors(
    library, tmp_path, monkeypatch
):
    await exported(library, tmp_path / "whole.gz")
    (line,) = gzip.decompress((tmp_path / "whole.gz").read_bytes()).splitlines()[1:]
    monkeypatch.setattr(transfer, "MAX_LINE_BYTES", len(line))
    (found,) = await library.find("python")
    await export_site(library, found, "tests/1", tmp_path / "less.gz")
    (less,) = gzip.decompress((tmp_path / "less.gz").read_bytes()).splitlines()[1:]
    assert (json.loads(less)["dimensions"], json.loads(less)["vectors"]) == (0, "")


def test_a_time_that_no_calendar_has_is_not_shown():
    assert [iso_date(seconds) for seconds in (1e300, float("nan"), None, 0)] == [None] * 3 + [
        "1970-01-01T00:00:00+00:00"
    ]
