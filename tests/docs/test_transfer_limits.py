"""How large an export may be, and what of it is written at once."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from websearch_gateway.docs import transfer
from websearch_gateway.docs.models import ChunkDraft, PageDraft, SiteVersion, StoredPage
from websearch_gateway.docs.store.database import pack_vectors
from websearch_gateway.docs.transfer import _batch, _check_places, _Head, _Page, _put_all, _unpacked

PAGE: dict[str, Any] = {
    "address": "https://a.example/",
    "url": "https://a.example/",
    "title": "Tides",
    "markdown": "",
    "chunks": [],
    "symbols": [],
    "links": [],
    "etag": None,
    "last_modified": None,
    "body_hash": "",
    "fetched_at": 1.0,
    "dimensions": 0,
    "vectors": "",
}
HEAD: dict[str, Any] = {
    "format": "websearch-gateway-docs/1",
    "name": "heron",
    "version": "1",
    "url": "https://a.example/",
    "embedder": "tests/1",
}


def line(**fields: Any) -> bytes:
    return json.dumps({**PAGE, **fields}).encode() + b"\n"


class Checks:
    """Lets every page pass."""

    def page(self, page: _Page) -> _Page:
        return page


def batch(data: bytes) -> list[Any]:
    return _batch(io.BytesIO(data), Checks())  # type: ignore[arg-type]


def test_fifty_pages_or_four_million_bytes_are_written_in_one_transaction() -> None:
    assert len(batch(line() * 60)) == 50
    quarter = line(markdown="x" * (1_000_000 - len(line())))
    assert len(quarter) == 1_000_000
    assert len(batch(quarter * 5)) == 4
    assert batch(b"") == []


async def test_two_batches_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = [[1], [2], [None, 3], [4], []]
    at_once, most, written = 0, 0, []

    async def put_pages(version_id: int, pages: list[int]) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.01)
        at_once -= 1
        written.extend(pages)

    async def set_status(*_: object) -> None:
        pass

    store = SimpleNamespace(put_pages=put_pages, set_status=set_status)
    monkeypatch.setattr(transfer, "_batch", lambda *_: batches.pop(0))
    library, checks = SimpleNamespace(store=store), SimpleNamespace(left_out=0)
    await _put_all(library, SiteVersion(1, "x", "1", ""), None, checks)  # type: ignore[arg-type]
    assert (most, sorted(written)) == (2, [1, 2, 3, 4])


@pytest.mark.parametrize(("size", "keeps"), [(15_999_999, True), (16_000_000, False)])
def test_a_page_of_sixteen_million_bytes_is_exported_without_its_vectors(
    monkeypatch: pytest.MonkeyPatch, size: int, keeps: bool
) -> None:
    seen: list[bool] = []

    def long_line(page: StoredPage) -> bytes:
        seen.append(page.vectors is not None)
        return bytes(size) if page.vectors is not None else b"{}"

    monkeypatch.setattr(transfer, "_line", long_line)
    draft = PageDraft("https://a.example/", "T", "", ())
    stored = StoredPage(draft.url, draft, (), 1.0, np.ones((1, 2), np.float32))
    file = io.BytesIO()
    transfer._write(file, [stored])  # type: ignore[arg-type]
    assert len(file.getvalue()) == (size + 1 if keeps else 3)
    assert seen == [True] if keeps else [True, False]


@pytest.mark.parametrize(
    ("strings", "message"), [(200_000, "validation"), (200_001, "many strings")]
)
def test_a_line_has_at_most_two_hundred_thousand_strings(strings: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        batch(b"[" + b'"",' * strings)


@pytest.mark.parametrize(
    ("size", "message"), [(1_000_000, "validation"), (1_000_001, "many parts")]
)
def test_a_line_has_at_most_a_million_bytes_outside_its_strings(size: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        batch(b"[" * size)


CHUNK = [0, 0, [], "", "", ""]


@pytest.mark.parametrize(
    ("field", "most", "value"),
    [
        ("chunks", 20_000, CHUNK),
        ("symbols", 5_000, ["x", "api", "", 0]),
        ("links", 5_000, ""),
    ],
)
def test_a_page_of_an_export_has_as_many_parts_as_a_crawl_writes(
    field: str, most: int, value: Any
) -> None:
    assert len(getattr(_Page(**{**PAGE, field: [value] * most}), field)) == most
    with pytest.raises(ValueError, match=field):
        _Page(**{**PAGE, field: [value] * (most + 1)})


@pytest.mark.parametrize(
    ("field", "most"), [("markdown", 6_000_000), ("address", 5_000), ("url", 5_000)]
)
def test_a_page_of_an_export_has_as_many_characters_as_a_crawl_writes(
    field: str, most: int
) -> None:
    assert len(getattr(_Page(**{**PAGE, field: "x" * most}), field)) == most
    with pytest.raises(ValueError, match=field):
        _Page(**{**PAGE, field: "x" * (most + 1)})


def test_a_page_was_fetched_before_the_year_ten_thousand() -> None:
    assert _Page(**{**PAGE, "fetched_at": 253_402_300_799.0}).fetched_at == 253_402_300_799.0
    with pytest.raises(ValueError, match="fetched_at"):
        _Page(**{**PAGE, "fetched_at": 253_402_300_800.0})


@pytest.mark.parametrize("field", ["include", "exclude"])
def test_a_glob_of_an_export_has_at_most_five_hundred_characters(field: str) -> None:
    assert getattr(_Head(**HEAD, **{field: ("x" * 500,)}), field) == ("x" * 500,)
    with pytest.raises(ValueError, match=field):
        _Head(**HEAD, **{field: ("x" * 501,)})


def test_an_export_without_options_has_those_of_every_crawl() -> None:
    head = _Head(**HEAD)
    assert (head.max_pages, head.delay) == (20_000, 0.25)


@pytest.mark.parametrize(("repeated", "is_one"), [(100_020, True), (100_021, False)])
def test_the_chunks_of_a_page_hold_its_text_twice_and_a_hundred_thousand_characters(
    repeated: int, is_one: bool
) -> None:
    chunk = ChunkDraft(0, 20, before="y" * repeated)
    page = PageDraft("https://a.example/", "T", "x" * 20, (chunk,))
    if is_one:
        _check_places(page)
    else:
        with pytest.raises(ValueError, match="more than the text"):
            _check_places(page)


@pytest.mark.parametrize(
    "chunks",
    [
        (ChunkDraft(0, 21),),
        (ChunkDraft(5, 4),),
        (ChunkDraft(0, 10), ChunkDraft(9, 20)),
    ],
)
def test_chunks_follow_one_another_in_the_text(chunks: tuple[ChunkDraft, ...]) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        _check_places(PageDraft("https://a.example/", "T", "x" * 20, chunks))


@pytest.mark.parametrize(("length", "message"), [(1.0, ""), (1.09, ""), (1.11, "unit length")])
def test_a_vector_of_an_export_is_about_of_unit_length(length: float, message: str) -> None:
    data = pack_vectors(np.array([[1.0, 0.0]], np.float32))
    scaled = np.frombuffer(data[:4], "<f4") * np.float32(length)
    data = scaled.astype("<f4").tobytes() + data[4:]
    page = _Page(
        **{**PAGE, "chunks": [CHUNK], "dimensions": 2, "vectors": base64.b64encode(data).decode()}
    )
    if message:
        with pytest.raises(ValueError, match=message):
            _unpacked(page)
    else:
        assert np.linalg.norm(_unpacked(page)) == pytest.approx(length, abs=0.01)


def test_vectors_of_another_number_than_the_chunks_do_not_fit() -> None:
    data = base64.b64encode(pack_vectors(np.ones((2, 2), np.float32) / 2)).decode()
    page = _Page(**{**PAGE, "chunks": [CHUNK], "dimensions": 2, "vectors": data})
    with pytest.raises(ValueError, match="do not fit the chunks"):
        _unpacked(page)
