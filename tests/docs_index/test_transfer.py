import gzip

import pytest

from tests.docs_index.conftest import BASE, commit, leased, page, vectors, version, with_symbols
from websearch_gateway.docs_index.library import DocsLibrary
from websearch_gateway.docs_index.models import CrawlOptions, Symbol, TextQuery
from websearch_gateway.docs_index.store.sqlite.docs import SqliteDocs
from websearch_gateway.docs_index.transfer import INTERRUPTED, export_site, import_site
from websearch_gateway.errors import SearchValidationError


@pytest.fixture
def library(docs):
    return DocsLibrary(docs, docs, None)


async def exported(library, path):
    id_ = (await library.store.add_version("python", "3", BASE, CrawlOptions(headers=(("cookie", "secret=1"),)))).id
    draft = with_symbols(page(f"{BASE}a.html", "East words.", "North words."), Symbol("a.b", "api", "s1", 1))
    await commit(library.store, id_, draft, vectors((1, 0), (0, 1)), links=[f"{BASE}b.html"])
    (found,) = await library.find("python")
    assert await export_site(library, found, "tests/1", path) == 1


async def test_an_imported_site_is_searchable_by_words_meaning_and_symbols(library, tmp_path):
    path = tmp_path / "python.docs.gz"
    await exported(library, path)
    assert b"secret" not in gzip.decompress(path.read_bytes())
    other = SqliteDocs(tmp_path / "other.db", "tests/1")
    imported = await import_site(DocsLibrary(other, other, None), "tests/1", path)
    assert (imported.status, imported.page_count, imported.unembedded) == ("completed", 1, 0)
    (hit,) = await other.search_text(TextQuery(("north",)), [imported.id], 10)
    assert [c.content for c in await other.chunks([hit.chunk_id])] == ["North words."]
    assert (await other.search_vectors(vectors((0, 1)), [imported.id], 1))[0].chunk_id == hit.chunk_id
    assert [match.chunk_id for match in await other.find_symbols(["a.b"], [imported.id], 10)] == [hit.chunk_id]
    assert imported.known == 1
    await other.start_generation(imported.id)
    task = await leased(other, imported.id, f"{BASE}b.html")  # a refresh knows the links of the page
    assert task.depth == 1
    await other.close()


async def test_vectors_of_another_embedder_are_left_out(library, tmp_path):
    await exported(library, tmp_path / "x.gz")
    other = SqliteDocs(tmp_path / "other.db", "another/1")
    imported = await import_site(DocsLibrary(other, other, None), "another/1", tmp_path / "x.gz")
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
        await import_site(DocsLibrary(other, other, None), "tests/1", path)
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
    await import_site(DocsLibrary(other, other, None), "tests/1", tmp_path / "x.gz")
    assert seen == [("failed", INTERRUPTED)]
    await other.close()
