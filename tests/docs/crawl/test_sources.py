"""A folder as a source of documents, and the lists of a site, whose size and text strangers choose."""

from __future__ import annotations

import asyncio
import os
import zlib
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from websearch_gateway.docs.crawl import listing
from websearch_gateway.docs.crawl.scope import Scope
from websearch_gateway.docs.crawl.sources import FolderSource
from websearch_gateway.docs.models import UrlTask
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Deadline


class Inline:
    """Runs a function at once, and notes its name."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    async def run(self, function, *arguments, deadline: Deadline):
        self.ran.append(function.__name__)
        return function(*arguments)


async def note(url: str) -> None:
    """Takes a note of nothing."""


def source(folder: Path, workers: object = None, noted=note) -> tuple[FolderSource, str]:
    base = f"{folder.as_uri()}/"
    return FolderSource(folder, base, Scope.of(base), workers or Inline(), noted), Scope.of(
        base
    ).folder


async def test_of_a_page_and_its_text_in_a_folder_only_the_page_is_a_document(tmp_path):
    for name in ("git-add.html", "git-add.txt", "guide.html", "guide.md", "options.txt"):
        (tmp_path / name).write_text("Text.")
    folder, base = source(tmp_path)
    urls, _ = await folder.seeds()
    assert [url.partition(base)[2] for url in urls] == ["git-add.html", "guide.html", "options.txt"]


async def test_every_file_is_listed_once_up_to_a_limit_that_is_told(tmp_path, monkeypatch):
    names = [
        "a.md",
        "b/c.md",
        "b/d/e.md",
        "b/d/f.md",
        "b-a.md",
        "b.md",
        "b.x/g.md",
        "h/i.md",
        "z.md",
    ]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Text.")
    (tmp_path / "loop").symlink_to(tmp_path)
    folder, base = source(tmp_path)
    urls, _ = await folder.seeds()
    assert sorted(url.partition(base)[2] for url in urls) == sorted(names)
    monkeypatch.setattr(listing, "LISTED_CHARS", 3 * len(f"file://{base}b.md") + 3)
    folder, base = source(tmp_path)
    assert len((await folder.seeds())[0]) == 3
    assert [(one.reason, one.count) for one in folder.left_out.rows()] == [
        ("more files than a crawl lists", 6)
    ]


async def test_names_that_are_not_text_lead_to_their_files_or_are_missing(tmp_path):
    folder = tmp_path / "a (b) ü~!"
    folder.mkdir()
    (folder / "100% #1?.md").write_text("Text.")
    Path(os.fsdecode(bytes(folder) + b"/\xff.md")).write_text("Bytes.")
    found, base = source(folder)
    urls, _ = await found.seeds()
    assert {(await found.fetch(UrlTask(1, 1, url))).body for url in urls} == {b"Text.", b"Bytes."}
    for name in ("%00.md", "../secret.md", "/etc/hostname", ""):
        with pytest.raises(SearchFetchError, match="does not exist"):
            await found.fetch(UrlTask(1, 1, f"file://{base}{name}"))


async def test_a_hostile_inventory_of_a_folder_does_not_stop_the_loop(tmp_path, workers):
    """836 bytes that a quadratic pattern reads for minutes."""
    (tmp_path / "a.md").write_text("# A")
    body = b"# Sphinx inventory version 2\n#\n#\n#\n" + zlib.compress(
        b"a " + b":" * 400_000 + b"\n"
    )
    (tmp_path / "objects.inv").write_bytes(body)
    folder, _ = source(tmp_path, workers)
    urls, defined = await asyncio.wait_for(folder.seeds(), PATIENCE)
    assert (len(urls), defined) == (1, {})


async def test_lists_and_inventories_are_parsed_by_workers_only(tmp_path):
    (tmp_path / "a.md").write_text("# A")
    lines = b"a.b py:function 1 a.md#$ -\nc.d py:function 1 ../out.md#$ -\n"
    (tmp_path / "objects.inv").write_bytes(
        b"# Sphinx inventory version 2\n#\n#\n#\n" + zlib.compress(lines)
    )
    inline, noted = Inline(), []

    async def noting(url: str) -> None:
        noted.append(url)

    folder, base = source(tmp_path, inline, noting)
    _, defined = await folder.seeds()
    assert defined == {f"file://{base}a.md": [("a.b", "a.b")]}
    assert inline.ran == ["folder_pages", "definitions_in"]
    assert noted == [f"file://{base}", f"file://{base}objects.inv", ""]


async def test_a_folder_waits_five_minutes_for_a_worker_that_lists_it(tmp_path):
    """On a busy machine a start takes long, and without the list the crawl would end with no page."""
    seconds = []

    class Busy(Inline):
        async def run(self, function, *arguments, deadline):
            seconds.append(deadline.remaining())
            return await super().run(function, *arguments, deadline=deadline)

    folder, _ = source(tmp_path, Busy())
    await folder.seeds()
    assert 240 < seconds[0] <= 300


async def test_a_folder_that_is_gone_is_named(tmp_path):
    folder, _ = source(tmp_path / "gone")
    with pytest.raises(SearchFetchError, match="gone does not exist"):
        await folder.seeds()
