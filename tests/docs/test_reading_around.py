"""What is read of a page beside a section, and how much room a reply has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.docs.conftest import BASE, commit, page, version
from tests.docs.crawl.small_site import EMBEDDER, library
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.docs.library import DocsLibrary
from websearch_gateway.docs.store.sqlite import SqliteDocs
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import DocsReadRequest
from websearch_gateway.results import size_of


@pytest.fixture
async def stored(tmp_path: Path, workers: Workers) -> AsyncIterator[DocsLibrary]:
    """A library whose only page has four sections."""
    store = SqliteDocs(tmp_path / "docs.db", EMBEDDER.name)
    texts = [f"## Tide {letter}\n\nIt comes and goes." for letter in "abcd"]
    await commit(store, await version(store), page(f"{BASE}a.html", *texts))
    async with library(store, 1, workers) as opened:
        yield opened


@pytest.mark.parametrize(
    ("around", "wanted", "shown"),
    [(0, 1, "b"), (1, 1, "abc"), (1, 0, "ab"), (2, 3, "bcd"), (3, 1, "abcd")],
)
async def test_a_section_is_read_with_those_around_it(
    stored: DocsLibrary, around: int, wanted: int, shown: str
) -> None:
    url = f"{BASE}a.html"
    outline = (await stored.read(DocsReadRequest(url=url, outline=True))).outline
    ids = [entry.section_id for entry in outline]
    part = await stored.read(DocsReadRequest(section_id=ids[wanted], around=around))
    assert [letter for letter in "abcd" if f"Tide {letter}" in part.content] == list(shown)
    last = "abcd".index(shown[-1])
    assert part.next_section_id == (ids[last + 1] if last < 3 else None)
    assert not part.truncated


async def test_the_id_of_the_next_section_has_forty_bytes_of_a_reply(stored: DocsLibrary) -> None:
    url = f"{BASE}a.html"
    outline = (await stored.read(DocsReadRequest(url=url, outline=True))).outline
    last = outline[-1].section_id
    whole = await stored.read(DocsReadRequest(section_id=last))
    without_text = size_of(whole.model_copy(update={"content": ""}))
    most = without_text + size_of(whole.content) + 40
    for most_bytes, is_cut in ((most, False), (most - 1, True)):
        part = await stored.read(DocsReadRequest(section_id=last, most_bytes=most_bytes))
        assert part.truncated is is_cut


@pytest.mark.parametrize(
    "request_",
    [
        DocsReadRequest(),
        DocsReadRequest(url=f"{BASE}a.html", section_id="00"),
        DocsReadRequest(section_id="00"),
        DocsReadRequest(section_id="no id"),
        DocsReadRequest(url=f"{BASE}nowhere.html"),
        DocsReadRequest(url="http://[/"),
        DocsReadRequest(url=f"{BASE}a.html\0"),
        DocsReadRequest(url=f"{BASE}a.html", label="4"),
    ],
)
async def test_a_request_for_no_page_or_section_is_refused(
    stored: DocsLibrary, request_: DocsReadRequest
) -> None:
    with pytest.raises(SearchValidationError):
        await stored.read(request_)
