"""Adding sites to the index: folders with addresses of the web."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.docs.crawl.small_site import EMBEDDER, FAST, html, library
from tests.patience import PATIENCE
from websearch_gateway.base.net.client import create_client
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.docs.library import checked_base, checked_name
from websearch_gateway.docs.packages import Package
from websearch_gateway.docs.store.docs import SqlDocs
from websearch_gateway.docs.transfer import export_site, import_site
from websearch_gateway.errors import SearchFetchError, SearchValidationError
from websearch_gateway.evidence.embedders.remote import HttpReranker
from websearch_gateway.models import Call, Caller, Deadline, DocsReadRequest, DocsSearchRequest
from websearch_gateway.ports import NOT_RERANKED
from websearch_gateway.results import DocsDependency
from websearch_gateway.sandbox import Sandbox, key_of

HOME = "https://docs.example.org/heron/"


async def test_a_base_url_holds_over_searches_refreshes_and_exports_on_every_store(
    docs: SqlDocs, tmp_path: Path, workers: Workers
) -> None:
    book = tmp_path / "book"
    book.mkdir()
    (book / "tides.html").write_text(html("Tides", "The heron.forecast tells the tides."))
    (book / "index.html").write_text(html("Heron", links=("tides.html",)))
    async with library(docs, 1, workers) as opened:
        for _ in range(2):
            added = await opened.add(str(book), "heron", "2", FAST, base_url=HOME)
            await opened.runner.crawl(added.id)
        (version,) = await opened.find(HOME)
        assert (version.status, version.page_count, version.generation) == ("completed", 2, 1)
        found = await opened.search(DocsSearchRequest("forecast tides"), Call.after(PATIENCE))
        assert found.results[0].url.startswith(f"{HOME}tides.html")
        page = await docs.find_page(f"{HOME}tides.html", [version.id])
        assert page is not None
        assert (await docs.page_chunks(page))[0].path == "tides.html"
        assert (
            await opened.read(DocsReadRequest(url=f"{HOME}tides.html#top"))
        ).section_id == found.results[0].section_id
        await export_site(opened, version, EMBEDDER.name, tmp_path / "heron.gz")
        await opened.store.delete_version(version.id)
        imported = await import_site(opened, EMBEDDER.name, tmp_path / "heron.gz")
        assert (imported.home, imported.page_count) == (HOME, 2)
        again = await opened.search(DocsSearchRequest("forecast tides"), Call.after(PATIENCE))
        assert [hit.section_id for hit in again.results] == [
            hit.section_id for hit in found.results
        ]


async def test_a_site_is_found_by_its_name_id_and_address_and_by_nothing_else(
    docs: SqlDocs, workers: Workers
) -> None:
    async with library(docs, 1, workers) as opened:
        await docs.add_version("heron", "1", HOME, FAST)
        gull = await docs.add_version("gull", "1", "imported:///gull/1/", FAST)
        for place, name in (
            (gull.url, "gull"),
            (str(gull.id), "gull"),
            (f"{HOME}index.html", "heron"),
            (HOME, "heron"),
        ):
            assert [version.name for version in await opened.find(place)] == [name]
        for place in ("", "imported:///", "no address"):
            with pytest.raises(SearchValidationError):
                await opened.find(place)


async def test_a_site_of_a_forbidden_domain_is_neither_listed_nor_found_and_can_be_deleted(
    docs: SqlDocs, workers: Workers
) -> None:
    async with library(docs, 1, workers) as opened:
        await docs.add_version("heron", "1", HOME, FAST)
        await docs.add_version("gull", "1", "https://gull.example.com/", FAST)
        opened.is_open = lambda url: "docs.example.org" not in url
        assert [version.name for version in await opened.shown()] == ["gull"]
        for place in ("heron", HOME):
            with pytest.raises(SearchValidationError, match=r"Known: 2 \(gull 1\)\.$"):
                await opened.find(place)
        assert [version.name for version in await opened.find("heron", blocked_too=True)] == [
            "heron"
        ]


@pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("key", "fault", "warning"),
    [
        ("wrong", None, "The reranker answered with HTTP 401; check RERANKER_API_KEY."),
        (key_of("reranker"), "hang", ""),
        (key_of("reranker"), "garbage", ""),
    ],
)
async def test_a_failing_or_slow_reranker_leaves_the_order_and_a_warning(
    docs: SqlDocs,
    tmp_path: Path,
    workers: Workers,
    sandbox: Sandbox,
    key: str,
    fault: str | None,
    warning: str,
) -> None:
    for name in ("tides", "storms"):
        (tmp_path / f"{name}.html").write_text(
            html(name, f"The heron.forecast tells the {name} of the sea.")
        )
    client = create_client()
    reranker = HttpReranker(f"{sandbox.url}/reranker/v2", client, key=key)
    if fault:
        sandbox.fault("reranker", fault)
    async with library(docs, 1, workers) as opened:
        added = await opened.add(str(tmp_path), "heron", "2", FAST)
        await opened.runner.crawl(added.id)
        request = DocsSearchRequest("storms of the sea")
        own = await opened.search(request, Call.after(PATIENCE))
        opened.reranker = reranker
        found = await opened.search(request, Call.after(2.0 if fault else PATIENCE))
    await client.aclose()
    assert len(own.results) == 2
    assert found.results == own.results
    (told,) = found.warnings
    assert told.startswith(f"{NOT_RERANKED}{warning}")


ODD_QUERIES = (
    "x",
    "?",
    "...",
    "zqxjkv wvutqz",
    "sea " * 100,
    "ab" * 200,
    "a && b || !c ^ (d)",
    "-> :: ++ <=>",
    '"sea" AND NOT -tides OR *',
    "'; DROP TABLE chunks; --",
    "operator<<",
    "\u6d77\u6d0b",
    "\U0001f30a",
)


@pytest.mark.parametrize("docs", ["sqlite", "postgresql"], indirect=True)
async def test_any_query_is_answered_by_what_there_is(
    docs: SqlDocs, tmp_path: Path, workers: Workers
) -> None:
    (tmp_path / "sea.html").write_text(html("Sea", "The heron.forecast tells the tides of it."))
    async with library(docs, 1, workers) as opened:
        added = await opened.add(str(tmp_path), "heron", "2", FAST)
        await opened.runner.crawl(added.id)
        for query in ODD_QUERIES:
            async with asyncio.timeout(PATIENCE):
                found = await opened.search(DocsSearchRequest(query), Call.after(PATIENCE))
            assert all(0 <= hit.relevance_score <= 1 for hit in found.results), query
        (hit,) = (await opened.search(DocsSearchRequest("tides"), Call.after(PATIENCE))).results
    assert "heron.forecast" in hit.content


async def test_a_search_pays_for_its_vector_and_finds_by_words_without_it(
    docs: SqlDocs, tmp_path: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paid by the caller, and in half of the time that is left: the words need the other half."""
    (tmp_path / "tides.html").write_text(
        html("tides", "The heron.forecast tells the tides of the sea.")
    )
    asked: list[Call | None] = []

    async def hang(_: Sequence[str], __: str, call: Call | None = None) -> None:
        asked.append(call)
        await asyncio.Event().wait()

    call = Call(time.monotonic() + 1.0, caller=Caller("anna"))
    async with library(docs, 1, workers) as opened:
        added = await opened.add(str(tmp_path), "heron", "2", FAST)
        await opened.runner.crawl(added.id)
        monkeypatch.setattr(type(EMBEDDER), "embed", staticmethod(hang))
        found = await opened.search(DocsSearchRequest("tides of the sea"), call)
    assert asked == [call]
    assert len(found.results) == 1
    assert found.warnings == ("Searched by words alone: the embedder did not answer in time.",)


@pytest.mark.parametrize(("letters", "is_one"), [(100, True), (101, False)])
def test_the_name_of_a_site_has_at_most_a_hundred_characters(letters: int, is_one: bool) -> None:
    if is_one:
        assert checked_name(f"  {'x' * letters} ", "name") == "x" * letters
    else:
        with pytest.raises(SearchValidationError, match="1 to 100 characters"):
            checked_name("x" * letters, "name")


@pytest.mark.parametrize(("letters", "is_one"), [(300, True), (301, False)])
def test_a_base_url_has_at_most_three_hundred_characters(letters: int, is_one: bool) -> None:
    base = "https://a.example/".ljust(letters, "x")
    if is_one:
        assert checked_base(base) == f"{base}/"
    else:
        with pytest.raises(SearchValidationError, match="base URL"):
            checked_base(base)


@pytest.mark.parametrize("base", ["file:///docs/", "https://a.example/?x", "https://a.example/#x"])
def test_a_base_url_is_a_web_address_without_a_query_and_a_fragment(base: str) -> None:
    with pytest.raises(SearchValidationError, match="base URL"):
        checked_base(base)


@pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
async def test_six_packages_of_a_project_are_looked_up_at_once(
    docs: SqlDocs, tmp_path: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"heron-{number}" for number in range(12)]
    (tmp_path / "package.json").write_text(json.dumps({"dependencies": dict.fromkeys(names, "1")}))
    at_once, most = 0, 0

    async def documented(package: Package) -> DocsDependency:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        for _ in range(5):
            await asyncio.sleep(0)
        at_once -= 1
        return DocsDependency(package=str(package))

    class Inline:
        async def run(
            self, read: Callable[..., object], *arguments: object, deadline: Deadline
        ) -> object:
            return read(*arguments)

    async with library(docs, 1, workers) as opened:
        monkeypatch.setattr(opened.runner, "workers", Inline())
        monkeypatch.setattr(opened, "documented", documented)
        assert len(await opened.dependencies(str(tmp_path))) == 12
    assert most == 6


@pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
async def test_the_files_of_a_project_are_read_within_half_a_minute(
    docs: SqlDocs, tmp_path: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow:
        async def run(self, *_: object, deadline: Deadline, **__: object) -> None:
            assert 20 < deadline.remaining() <= 30
            raise SearchFetchError("The worker broke down.")

    async with library(docs, 1, workers) as opened:
        monkeypatch.setattr(opened.runner, "workers", Slow())
        with pytest.raises(SearchValidationError, match="too much time or memory"):
            await opened.dependencies(str(tmp_path))


@pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
async def test_a_version_is_found_by_its_label_too_and_one_of_several_must_be_named(
    docs: SqlDocs, workers: Workers
) -> None:
    async with library(docs, 1, workers) as opened:
        for label in ("1", "2"):
            await docs.add_version("heron", label, f"{HOME}{label}/", FAST)
        assert [found.label for found in await opened.find("heron")] == ["1", "2"]
        assert [found.label for found in await opened.find("heron", "2")] == ["2"]
        assert (await opened.find_one("heron", "1")).label == "1"
        with pytest.raises(SearchValidationError, match="Several versions match"):
            await opened.find_one("heron")
        with pytest.raises(SearchValidationError, match=r"heron 3'\. Known"):
            await opened.find("heron", "3")
