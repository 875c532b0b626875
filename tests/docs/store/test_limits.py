"""How much a store counts, keeps, shows and follows."""

from __future__ import annotations

import logging
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.docs.conftest import BASE, commit, definitions, leased, page, version, with_symbols
from websearch_gateway.docs.models import PageDraft, Skipped, StoredPage, Symbol
from websearch_gateway.docs.store.docs import SqlDocs
from websearch_gateway.docs.store.pages import load_body, prepared
from websearch_gateway.docs.store.sqlite import SqliteDocs


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlDocs]:
    opened = SqliteDocs(tmp_path / "docs.db", "tests/1")
    yield opened
    await opened.close()


@pytest.mark.parametrize(
    ("pages", "gone", "is_finished"),
    [(30, 20, True), (30, 21, False), (220, 22, True), (220, 23, False)],
)
async def test_a_refresh_that_loses_more_than_twenty_pages_and_a_tenth_is_not_finished(
    store: SqlDocs, pages: int, gone: int, is_finished: bool
) -> None:
    id_ = await version(store)
    drafts = [page(f"{BASE}{number}.html", f"Page {number}.") for number in range(pages)]
    await store.put_pages(id_, [StoredPage(draft.url, draft, (), 1.0, None) for draft in drafts])
    await store.start_generation(id_)
    states = (("done", 1, pages), ("skipped", 1, gone))
    for state, first, last in states:
        await store.file.write(
            lambda db, state=state, last=last: db.execute(
                "UPDATE urls SET state = ?, seen = 1 WHERE id IN (SELECT id FROM urls ORDER BY id LIMIT ?)",
                (state, last),
            )
        )
        del first
    assert await store.finish_generation(id_) is is_finished
    left = (await store.versions())[0].page_count
    assert left == (pages - gone if is_finished else pages)


async def test_ten_thousand_reasons_of_a_site_are_read(store: SqlDocs) -> None:
    id_ = await version(store)
    await store.file.write(
        lambda db: db.executemany(
            "INSERT INTO urls (version_id, url, depth, state, reason, seen) VALUES (?, ?, 0, 'skipped', ?, 0)",
            [(id_, f"{BASE}{number}", f"reason {number:05}") for number in range(10_001)],
        )
    )
    found = (await store.skipped([id_]))[id_]
    assert len(found) == 10_000
    assert "reason 10000" not in {one.reason for one in found}


async def test_five_addresses_are_shown_for_a_reason(store: SqlDocs) -> None:
    id_ = await version(store)
    urls = tuple(f"{BASE}{number}" for number in range(9))
    await store.note_left_out(id_, [Skipped("noindex", 9, urls)])
    (one,) = (await store.skipped([id_]))[id_]
    assert (one.count, one.urls) == (9, urls[:5])


@pytest.mark.parametrize(("aliases", "is_found"), [(3, True), (4, False)])
async def test_a_page_is_found_over_three_aliases(
    store: SqlDocs, aliases: int, is_found: bool
) -> None:
    id_ = await version(store)
    await commit(store, id_, page(f"{BASE}0", "Words."))
    for number in range(aliases):
        task = await leased(store, id_, f"{BASE}{number + 1}")
        await store.finish_url(task, "alias", alias_of=f"{BASE}{number}")
    assert (await store.find_page(f"{BASE}{aliases}", [id_]) is not None) is is_found
    assert await store.find_page(f"{BASE}nowhere", [id_]) is None
    assert await store.find_page(f"{BASE}0", []) is None


async def test_an_address_leads_over_four_aliases_and_never_in_a_loop(store: SqlDocs) -> None:
    id_ = await version(store)
    for number in range(6):
        task = await leased(store, id_, f"{BASE}{number}")
        await store.finish_url(task, "alias", alias_of=f"{BASE}{number + 1}")
    assert await store.led_to(id_, f"{BASE}0") == [f"{BASE}{number}" for number in range(5)]
    for name, other in (("x", "y"), ("y", "x")):
        task = await leased(store, id_, f"{BASE}{name}")
        await store.finish_url(task, "alias", alias_of=f"{BASE}{other}")
    assert await store.led_to(id_, f"{BASE}x") == [f"{BASE}x", f"{BASE}y"]
    assert await store.led_to(id_, f"{BASE}nowhere") == [f"{BASE}nowhere"]


async def test_fifty_thousand_names_of_a_version_may_end_alike(
    store: SqlDocs, caplog: pytest.LogCaptureFixture
) -> None:
    id_ = await version(store)
    await store.file.write(
        lambda db: db.execute(
            """
            WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 49999)
            INSERT INTO symbols (version_id, page_id, ordinal, name, last, kind, anchor)
            SELECT ?, 99, 0, 'm' || x || '.get', 'get', 'api', '' FROM n
            """,
            (id_,),
        )
    )
    names = [Symbol("a.get", "api"), Symbol("b.get", "api")]
    with caplog.at_level(logging.WARNING):
        await commit(store, id_, with_symbols(page(f"{BASE}a.html", "One."), *names))
    found = await definitions(store, ["a.get", "b.get"], [id_], 5)
    assert [match.name for match in found if match.exact] == ["a.get"]
    assert "defines 50000 names that end in 'get'" in caplog.text


class Body:
    """A database that has the compressed text of one page."""

    def __init__(self, text: str, level: int = -1) -> None:
        self.data = zlib.compress(text.encode(), level)

    def execute(self, *_: object) -> Body:
        return self

    def fetchone(self) -> tuple[bytes]:
        return (self.data,)


@pytest.mark.parametrize(("size", "is_whole"), [(50_000, False), (50_001, True)])
def test_a_body_of_more_than_fifty_thousand_bytes_is_unpacked_once_and_whole(
    size: int, is_whole: bool
) -> None:
    body = Body("x" * (size - 11), level=0)
    assert len(body.data) == size
    text = load_body(body, b"", 100)  # type: ignore[arg-type]
    assert (len(text) > 100) is is_whole
    assert (load_body(body, b"", 100) is text) is is_whole  # type: ignore[arg-type]


@pytest.mark.parametrize("until", [None, 1, 10, 1_000])
def test_a_body_is_unpacked_as_far_as_it_is_asked_for(until: int | None) -> None:
    text = load_body(Body("äöü" * 100), b"", until)  # type: ignore[arg-type]
    assert text == ("äöü" * 100)[: len(text)]
    assert len(text) == 300 if until is None else min(until, 300) <= len(text) <= 300


def test_the_text_of_a_page_is_compressed_at_the_fourth_level() -> None:
    text = " ".join(f"{number * number} tides {number}" for number in range(2_000))
    body = prepared(PageDraft(BASE, "T", text, ()), None).body
    sizes = [len(zlib.compress(text.encode(), level)) for level in (2, 4, 6)]
    assert len(set(sizes)) == 3
    assert len(body) == sizes[1]
