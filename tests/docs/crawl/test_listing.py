"""An archive from a stranger is unpacked within limits."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.base.workers.worker import Limits
from websearch_gateway.docs.crawl import listing
from websearch_gateway.docs.crawl.listing import (
    folder_pages,
    full_text_pages,
    inventory,
    most_bytes,
    search_index_urls,
    sitemap_urls,
    unpack,
)
from websearch_gateway.docs.crawl.scope import NO_PAGE, ByReason
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Deadline


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def tarred(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


@pytest.mark.parametrize("make", [zipped, tarred])
def test_a_document_that_inflates_ends_after_the_size_of_a_page(
    make: object, tmp_path: Path
) -> None:
    archive = (zipped if make is zipped else tarred)(
        tmp_path / "a.zip", {"a.html": bytes(20_000_000)}
    )
    archive = archive.rename(tmp_path / ("a.zip" if make is zipped else "a.tar.gz"))
    unpack(archive, tmp_path / "out")
    assert (tmp_path / "out" / "a.html").stat().st_size == 5_000_001


def test_all_documents_together_have_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = zipped(tmp_path / "a.zip", {f"{number}.html": bytes(1_000) for number in range(20)})
    unpack(archive, tmp_path / "whole")
    monkeypatch.setattr(listing, "MAX_UNPACKED_BYTES", 5_000)
    with pytest.raises(SearchFetchError, match="more than may be unpacked"):
        unpack(archive, tmp_path / "large")
    monkeypatch.undo()
    monkeypatch.setattr(listing, "MAX_FILES", 5)
    with pytest.raises(SearchFetchError, match="more than may be unpacked"):
        unpack(archive, tmp_path / "many")


def test_skipped_members_count_towards_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Skipping a file in a compressed stream unpacks it."""
    monkeypatch.setattr(listing, "MAX_UNPACKED_BYTES", 50_000)
    archive = tarred(
        tmp_path / "a.tar.gz", {"a.html": b"<p>a", "film.mp4": bytes(1_000_000), "b.html": b"<p>b"}
    )
    with pytest.raises(SearchFetchError, match="more than may be unpacked"):
        unpack(archive, tmp_path / "out")


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar.bz2", "a.tar.xz"])
def test_a_damaged_archive_is_refused(name: str, tmp_path: Path) -> None:
    whole = tarred(tmp_path / "whole.tar.gz", {"a.html": bytes(range(256)) * 200}).read_bytes()
    for number, body in enumerate(
        (b"no archive", whole[:200], whole[:60] + b"\xff" * 60 + whole[120:], gzip.compress(b""))
    ):
        archive = tmp_path / f"{number}{name}"
        archive.write_bytes(body)
        with pytest.raises(SearchFetchError, match="cannot be unpacked"):
            unpack(archive, tmp_path / "out")


def test_nothing_is_written_outside(tmp_path: Path) -> None:
    unpack(
        zipped(
            tmp_path / "a.zip", {"../up.html": b"x", "/tmp/../../root.html": b"x", "in.html": b"x"}
        ),
        tmp_path / "out",
    )
    assert [path.name for path in tmp_path.rglob("*.html")] == ["in.html"]


def headed(path: Path, kind: bytes, size: int) -> Path:
    """A tar whose extended header has this type and size, before a document."""
    header, document = tarfile.TarInfo("x"), tarfile.TarInfo("a.html")
    header.type, header.size, document.size = kind, size, 1
    text = f"{size} comment=".encode().ljust(size - 1, b"x") + b"\n"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(header.tobuf(tarfile.GNU_FORMAT) + text + bytes(-size % 512))
        file.write(document.tobuf(tarfile.GNU_FORMAT) + b"x" + bytes(511) + bytes(1024))
    return path


async def test_an_extended_header_ends_with_the_memory_of_its_worker(tmp_path: Path) -> None:
    kind = tarfile.GNUTYPE_LONGLINK
    unpack(headed(tmp_path / "a.tar.gz", kind, 1_000_000), tmp_path / "out")
    assert len(list((tmp_path / "out").iterdir())) == 1
    archive = headed(tmp_path / "b.tar.gz", kind, 300_000_000)
    async with Workers(
        count=1, limits=Limits(megabytes=256, seconds=60.0, cpu_seconds=30.0)
    ) as workers:
        with pytest.raises(SearchFetchError):
            await workers.run(unpack, archive, tmp_path / "large", deadline=Deadline.after(60.0))


@pytest.mark.parametrize("make", [zipped, tarred])
def test_members_that_are_not_documents_count_too(
    make: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = (zipped if make is zipped else tarred)(
        tmp_path / "a", {f"{number}.bin": b"" for number in range(20)}
    )
    archive = archive.rename(tmp_path / ("a.zip" if make is zipped else "a.tar.gz"))
    unpack(archive, tmp_path / "out")
    monkeypatch.setattr(listing, "MAX_FILES", 19)
    with pytest.raises(SearchFetchError, match="more than may be unpacked"):
        unpack(archive, tmp_path / "out")


def test_a_document_below_endless_folders_is_left_out(tmp_path: Path) -> None:
    unpack(
        tarred(tmp_path / "a.tar.gz", {"a/" * 200 + "x.html": b"x", "a/b/y.html": b"y"}),
        tmp_path / "out",
    )
    assert [path.name for path in tmp_path.rglob("*.html")] == ["y.html"]
    assert len(list((tmp_path / "out").rglob("*"))) == 3


@pytest.mark.parametrize("make", [zipped, tarred])
@pytest.mark.parametrize("name", ["x" * 300 + ".html", "a.html/below.html", "b/c.html/objects.inv"])
def test_a_name_that_no_file_can_have_here_is_left_out(
    make: Callable[[Path, dict[str, bytes]], Path], name: str, tmp_path: Path
) -> None:
    documents = {"a.html": b"a", "b/c.html": b"c", name: b"x", "d.html": b"d"}
    unpack(
        make(tmp_path / f"archive{'.zip' if make is zipped else '.tar.gz'}", documents),
        tmp_path / "out",
    )
    assert {"a.html", "c.html", "d.html"} <= {path.name for path in tmp_path.rglob("*.html")}


@pytest.mark.parametrize(("folders", "documents"), [(30, 1), (31, 0)])
def test_a_document_lies_below_up_to_thirty_folders(
    folders: int, documents: int, tmp_path: Path
) -> None:
    unpack(zipped(tmp_path / "a.zip", {"a/" * folders + "x.html": b"x"}), tmp_path / "out")
    assert len(list((tmp_path / "out").rglob("*.html"))) == documents


ADDRESSES = [f"https://a.example/{number}" for number in range(50_001)]


@pytest.mark.parametrize("is_compressed", [False, True])
@pytest.mark.parametrize("form", ["{}\n", "<loc>{}</loc>"])
def test_a_sitemap_has_up_to_fifty_thousand_addresses(form: str, is_compressed: bool) -> None:
    body = "".join(form.format(url) for url in ADDRESSES).encode()
    found = sitemap_urls(gzip.compress(body, 1) if is_compressed else body)
    assert [url for url, _ in found] == ADDRESSES[:50_000]


def test_a_search_index_has_up_to_fifty_thousand_addresses() -> None:
    names = ",".join(f'"{number}"' for number in range(50_001))
    found = search_index_urls(
        f"Search.setIndex({{docnames:[{names}]}})".encode(), "https://a.example/"
    )
    assert found[-1] == "https://a.example/49999.html"


def inventory_of(*lines: str) -> bytes:
    head = b"# Sphinx inventory version 2\n# Project: x\n# Version: 1\n# zlib\n"
    return head + zlib.compress("".join(f"{line}\n" for line in lines).encode(), 1)


def test_a_line_of_an_inventory_has_at_most_two_thousand_characters() -> None:
    rest = " py:function 1 a.html#$ -"
    lines = [("x" * (length - len(rest) - 1)) + rest for length in (2_000, 2_001)]
    found = inventory(inventory_of(*lines), "https://a.example/")
    assert [len(name) for name, _, _ in found] == [2_000 - len(rest) - 1]


def test_an_inventory_has_up_to_two_hundred_thousand_names() -> None:
    body = inventory_of(
        *["x"] * 199_999, *(f"{name} py:data 1 a.html#$ -" for name in ("last", "past"))
    )
    assert [name for name, _, _ in inventory(body, "https://a.example/")] == ["last"]


@pytest.mark.parametrize(("between", "url"), [(560, "https://a.example/x"), (600, "")])
def test_the_address_of_a_page_of_a_full_text_stands_in_its_first_600_characters(
    between: int, url: str
) -> None:
    text = f"# Tides\n\n{'x' * between}\nSource: https://a.example/x\n\n# Winds\n\nWords.\n"
    assert full_text_pages(text)[0][1] == url


def test_a_title_of_a_full_text_has_at_most_three_hundred_characters() -> None:
    assert len(full_text_pages(f"# {'x' * 400}\n\nWords.\n")[0][0]) == 300


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("a.html", 5_000_000),
        ("a.md", 5_000_000),
        ("objects.inv", 5_000_000),
        ("a.pdf", 20_000_000),
        ("a.DOCX", 20_000_000),
    ],
)
def test_a_document_that_holds_its_pictures_may_be_four_times_as_large_as_a_page(
    name: str, most: int
) -> None:
    assert most_bytes(name) == most


class Wide:
    """A scope that has every address, each of half a million characters."""

    def place(self, base: str, url: str) -> tuple[str, str]:
        return url.rjust(500_000, "x"), ""


def listed(monkeypatch: pytest.MonkeyPatch, names: list[str]) -> tuple[list[str], ByReason]:
    """What is listed of a folder with so much in it that to make it takes too long."""
    monkeypatch.setattr(os, "walk", lambda root: [(root, [], names)])
    return folder_pages("/", "file:///docs/", Wide())  # type: ignore[arg-type]


def test_the_addresses_of_a_folder_have_less_than_eight_million_characters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages, left_out = listed(monkeypatch, [f"{number:02}.md" for number in range(17)])
    assert [page[-5:] for page in pages] == [f"{number:02}.md" for number in range(15)]
    assert [len(urls) for urls in left_out.values()] == [2]


def test_five_thousand_files_of_a_folder_that_are_no_documents_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Wide, "place", lambda _, base, url: (url, ""))
    pages, left_out = listed(monkeypatch, [f"{number}.png" for number in range(8_000)])
    assert pages == []
    assert {reason: len(urls) for reason, urls in left_out.items()} == {NO_PAGE: 5_000}


@pytest.mark.parametrize(("claimed", "is_read"), [(1_999_000_000, True), (2_000_000_000, False)])
def test_a_member_ends_before_two_gigabytes_of_a_tar(
    tmp_path: Path, claimed: int, is_read: bool
) -> None:
    film = tarfile.TarInfo("film.mp4")
    film.size = claimed
    with (tmp_path / "a.tar").open("wb") as file:
        file.write(film.tobuf())
        file.truncate(2_000_010_240)  # a hole: it takes no room on the disk
    if is_read:
        unpack(tmp_path / "a.tar", tmp_path / "out")
    else:
        with pytest.raises(SearchFetchError, match="more than may be unpacked"):
            unpack(tmp_path / "a.tar", tmp_path / "out")


@pytest.mark.parametrize(("count", "is_read"), [(200_000, True), (200_001, False)])
def test_an_archive_has_at_most_two_hundred_thousand_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, is_read: bool
) -> None:
    """To make such an archive takes seconds."""
    archive = zipped(tmp_path / "a.zip", {})
    folder = zipfile.ZipInfo("folder/")
    monkeypatch.setattr(
        zipfile.ZipFile, "filelist", property(lambda _: [folder] * count, lambda *_: None), False
    )
    if is_read:
        unpack(archive, tmp_path / "out")
    else:
        with pytest.raises(SearchFetchError, match="more than may be unpacked"):
            unpack(archive, tmp_path / "out")


def test_the_first_fifty_megabytes_of_a_compressed_sitemap_are_read() -> None:
    pack = zlib.compressobj(1, wbits=-zlib.MAX_WBITS)
    first, past = b"<loc>https://a.example/1</loc>", b"<loc>https://a.example/2</loc>"

    def packed(text: bytes) -> bytes:
        return pack.compress(text) + pack.flush(zlib.Z_FULL_FLUSH)

    head = gzip.compress(b"")[:10]
    megabyte = packed(bytes(1_000_000))
    rest = packed(bytes(1_000_000 - len(first)) + first) + packed(past)
    body = head + megabyte * 49 + rest
    assert sitemap_urls(body) == [("https://a.example/1", False)]
