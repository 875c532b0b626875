"""Asking a site whether a page that is known has changed (RFC 9110, section 13)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import Fetcher
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Deadline
from websearch_gateway.pages.reader_table import ReaderTable
from websearch_gateway.ports import Workers

PAGE = b"# Tides\n\nThe moon makes them."
DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.fixture
async def table(api: Any, workers: Workers) -> AsyncIterator[ReaderTable]:
    async with Fetcher(AddressPolicy([api.pair])) as fetcher:
        yield ReaderTable.build(fetcher, workers)


def soon() -> Deadline:
    return Deadline.after(300)


@pytest.mark.parametrize(
    ("sent", "asked"),
    [
        ({"etag": '"v1"', "last_modified": DATE}, 'if-none-match: "v1"'),
        ({"last_modified": DATE}, "if-modified-since"),
    ],
)
async def test_an_unchanged_page_is_the_known_page_itself(
    api: Any, table: ReaderTable, sent: dict[str, str], asked: str
) -> None:
    api.says("/a.md", PAGE, content_type="text/markdown", **sent)
    known = await table.read(f"{api.url}/a.md", soon())
    api.says("/a.md", b"", status=304)
    assert await table.read(f"{api.url}/a.md", soon(), known) is known
    assert asked in api.heads[-1]
    assert (known.etag, known.last_modified) == (sent.get("etag"), DATE)


async def test_a_changed_page_is_read_again(api: Any, table: ReaderTable) -> None:
    api.says("/a.md", PAGE, content_type="text/markdown", etag='"v1"')
    known = await table.read(f"{api.url}/a.md", soon())
    api.says("/a.md", b"# Ebb", content_type="text/markdown", etag='"v2"')
    page = await table.read(f"{api.url}/a.md", soon(), known)
    assert (page.markdown, page.etag) == ("# Ebb", '"v2"')


async def test_the_same_etag_after_another_redirect_is_another_page(
    api: Any, table: ReaderTable
) -> None:
    api.says("/new", b"", status=302, location="/a.md")
    api.says("/a.md", PAGE, content_type="text/markdown", etag='"1"')
    known = await table.read(f"{api.url}/new", soon())
    api.says("/new", b"", status=302, location="/b.md")
    api.says("/b.md", b"", status=304)
    seen = len(api.seen)
    with pytest.raises(SearchFetchError, match="304"):
        await table.read(f"{api.url}/new", soon(), known)
    assert api.seen[seen:] == ["/new", "/b.md", "/new", "/b.md"]
    assert "if-none-match" not in api.heads[-1]


@pytest.mark.parametrize("tag", ['"a\r\nx-evil: 1"', '"é"', '"' + "x" * 400 + '"', ""])
async def test_an_etag_that_is_unsafe_in_a_request_is_not_sent(
    api: Any, table: ReaderTable, tag: str
) -> None:
    """Ours: a known page may come from a store that others can write."""
    api.says("/a.md", PAGE, content_type="text/markdown")
    known = replace(await table.read(f"{api.url}/a.md", soon()), etag=tag)
    assert (await table.read(f"{api.url}/a.md", soon(), known)).markdown == PAGE.decode()
    assert "if-none-match" not in api.heads[-1]
