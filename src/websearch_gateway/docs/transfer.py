"""Exports a version of a site into one file, and imports it on another machine.

The file is gzip over JSON lines. The first line is the site, each other line a page with its chunks, symbols, links and
vectors. The headers of a crawl may hold a password and are left out.

An export may come from a stranger. An import writes only what the crawler could have written: addresses of the site,
text without control characters and live links, times of a calendar. A site that was a folder or an archive on another
machine gets an address that nothing can crawl.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import os
import re
import time
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field

from websearch_gateway.base import strip_invisible_characters, without_live_parts
from websearch_gateway.docs.crawl.chunking import LONGEST_NAME, MOST_SYMBOLS
from websearch_gateway.docs.crawl.listing import base_url, is_archive
from websearch_gateway.docs.crawl.page_work import LONGEST_TITLE, sendable
from websearch_gateway.docs.crawl.runner import URLS_PER_PAGE
from websearch_gateway.docs.crawl.scope import Scope, canonical
from websearch_gateway.docs.library import DocsLibrary, checked_base, checked_name
from websearch_gateway.docs.models import (
    ChunkDraft,
    CrawlOptions,
    PageDraft,
    SiteVersion,
    StoredPage,
    Symbol,
    SymbolKind,
    content_of,
    values_of,
)
from websearch_gateway.docs.store.database import pack_vectors, unpack_vectors
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.evidence import MAX_TITLE

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

FORMAT = "websearch-gateway-docs/1"
MAX_LINE_BYTES = 16_000_000
"""The most bytes of a page. `export_site` leaves out the vectors of a page that needs more."""
BATCH = 50
BATCH_BYTES = 4_000_000
"""The most lines, and about the most bytes, that are written in one transaction."""
AT_ONCE = 2
"""Concurrent writes: one batch is written while the next is prepared and the one after that is parsed."""
INTERRUPTED = "The import was interrupted. Import the file again, or delete the site."
IMPORTED = "imported:///"
"""Begins the addresses of pages that were files on another machine; like those of files, they have no host."""
MOST_CHUNKS = 20_000
MAX_TEXT_CHARS = 6_000_000
MOST_STRINGS = 200_000
MAX_FRAME_BYTES = 1_000_000
"""The most strings of a line, and the most bytes outside them: a million empty lists would take half a gigabyte."""
MOST_LINKS = 5_000
LARGEST_REPEAT = 100_000
"""The most characters of fences and table heads that the chunks of a small page repeat."""
LONGEST_VECTOR = 1.1
"""The length of a unit vector whose numbers are rounded to eight bits, and some room."""
LATEST = 253_402_300_799.0
"""The end of the year 9999 (seconds since the epoch)."""

_USUAL = CrawlOptions()
_FOLDER = "https://folder.invalid/"
"""Stands for the folder of files while their paths are checked like those of a website."""
_ANCHOR = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]{1,200}")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
_HASH = re.compile(r"[0-9a-f]{1,64}")

_Place = Annotated[int, Field(ge=0)]
_Glob = Annotated[str, Field(max_length=500)]
_Url = Annotated[str, Field(max_length=5_000)]
_Seconds = Annotated[float, Field(ge=0, le=LATEST, allow_inf_nan=False)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Head(_Line):
    """The first line."""

    format: Literal["websearch-gateway-docs/1"]
    name: str
    version: str
    url: _Url
    embedder: str
    include: Annotated[tuple[_Glob, ...], Field(max_length=100)] = ()
    exclude: Annotated[tuple[_Glob, ...], Field(max_length=100)] = ()
    max_pages: Annotated[int, Field(ge=1, le=1_000_000)] = _USUAL.max_pages
    delay: Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)] = _USUAL.delay
    base_url: _Url = ""
    indexed_at: float | None = None


_OldChunk = tuple[_Place, _Place, tuple[str, ...], str, str, str]
_Chunk = tuple[_Place, _Place, tuple[str, ...], str, str, str, tuple[tuple[_Place, str], ...]]


class _Page(_Line):
    """A page. `dimensions` is 0 if it has no vectors."""

    address: _Url
    url: _Url
    title: str
    markdown: Annotated[str, Field(max_length=MAX_TEXT_CHARS)]
    chunks: Annotated[tuple[_Chunk | _OldChunk, ...], Field(max_length=MOST_CHUNKS)]
    symbols: Annotated[
        tuple[tuple[str, SymbolKind, str, _Place], ...], Field(max_length=MOST_SYMBOLS)
    ]
    links: Annotated[tuple[str, ...], Field(max_length=MOST_LINKS)]
    etag: str | None
    last_modified: str | None
    body_hash: str
    fetched_at: _Seconds
    dimensions: Annotated[int, Field(ge=0, le=16_384)]
    vectors: str


async def export_site(library: DocsLibrary, version: SiteVersion, embedder: str, path: Path) -> int:
    """Write a version into a file, which appears when it is complete. Returns the number of pages.

    Raises:
        SearchValidationError: the file cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    options = version.options
    head = _Head(
        format=FORMAT,
        name=version.name,
        version=version.label,
        url=IMPORTED if options.base_url and version.url.startswith("file:") else version.url,
        embedder=embedder,
        include=options.include,
        exclude=options.exclude,
        max_pages=options.max_pages,
        delay=options.delay,
        base_url=options.base_url,
        indexed_at=version.indexed_at,
    )
    count = 0
    try:
        with gzip.open(part, "wb", compresslevel=6) as file:
            file.write(head.model_dump_json().encode() + b"\n")
            last_id = 0
            while rows := await library.store.pages_after(version.id, last_id, BATCH):
                last_id = rows[-1][0]
                count += len(rows)
                await asyncio.to_thread(_write, file, [page for _, page in rows])
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise SearchValidationError(f"{path} cannot be written: {error.strerror}.") from error
    return count


async def import_site(library: DocsLibrary, embedder: str, path: Path) -> SiteVersion:
    """Import a version that `export_site` wrote; it is searchable when this returns.

    Vectors of another embedder are left out: `status` counts the pages without vectors, and the next update makes
    them. Pages outside the site, or with text that no crawl writes, are left out too; the `reason` of the version says
    how many. A failed import leaves nothing of the version.

    Raises:
        SearchValidationError: the file is not an export or is damaged, or the version is indexed already.
    """
    try:
        with gzip.open(path, "rb") as file:
            head = _Head.model_validate_json(file.readline(MAX_LINE_BYTES))
            version = await _new_version(library, head)
            checks = _Checks(head, version, with_vectors=head.embedder == embedder)
            try:
                await _put_all(library, version, file, checks)
            except BaseException:
                await asyncio.shield(library.store.delete_version(version.id))
                raise
            return await library.store.version(version.id) or version
    except (OSError, EOFError, zlib.error) as error:
        raise SearchValidationError(
            f"{path} cannot be read as an export ({type(error).__name__})."
        ) from error
    except ValueError as error:  # pydantic's ValidationError too
        raise SearchValidationError(
            f"{path} is not an export of a site, or it is damaged."
        ) from error


async def _put_all(
    library: DocsLibrary, version: SiteVersion, file: gzip.GzipFile, checks: _Checks
) -> None:
    # A failed version is not crawled.
    await library.store.set_status(version.id, "failed", INTERRUPTED)
    writes: deque[asyncio.Task[None]] = deque()
    try:
        while batch := await asyncio.to_thread(_batch, file, checks):
            pages = list(filter(None, batch))
            writes.append(asyncio.create_task(library.store.put_pages(version.id, pages)))
            if len(writes) == AT_ONCE:
                await writes.popleft()
        await asyncio.gather(*writes)
    finally:
        await asyncio.gather(*writes, return_exceptions=True)
    reason = ""
    if checks.left_out:
        reason = f"{checks.left_out} pages of the file are outside the site, or not as a crawl writes them."
    await library.store.set_status(version.id, "completed", reason)


async def _new_version(library: DocsLibrary, head: _Head) -> SiteVersion:
    name, label = checked_name(head.name, "name"), checked_name(head.version, "version")
    for known in await library.store.versions():
        is_same = known.name == name and known.label == label
        if is_same and known.page_count and known.indexed_at:
            raise SearchValidationError(f"{name} {label} is indexed already. Delete it first.")
    url = head.url
    if url.startswith(("file:", IMPORTED)):
        url = f"{IMPORTED}{quote(name, safe='')}/{quote(label, safe='')}/"
    elif not url.startswith(("https://", "http://")) or not canonical(url) or not url.isprintable():
        raise SearchValidationError("The export has no usable address for its site.")
    base = checked_base(head.base_url) if head.base_url else ""
    is_of_files = url.startswith(IMPORTED) or is_archive(urlsplit(url).path)
    if base and not is_of_files:
        raise SearchValidationError("The export has no usable address for its site.")
    options = CrawlOptions(head.include, head.exclude, head.max_pages, head.delay, base_url=base)
    return await library.store.add_version(name, label, url, options)


def _write(file: gzip.GzipFile, pages: list[StoredPage]) -> None:
    for page in pages:
        line = _line(page)
        if len(line) >= MAX_LINE_BYTES:
            line = _line(replace(page, vectors=None))
        file.write(line + b"\n")


def _line(page: StoredPage) -> bytes:
    draft, vectors = page.draft, page.vectors
    fields = {
        "address": page.address,
        "url": draft.url,
        "title": draft.title,
        "markdown": draft.markdown,
        "chunks": [list(values_of(chunk).values()) for chunk in draft.chunks],
        "symbols": [list(values_of(symbol).values()) for symbol in draft.symbols],
        "links": page.links,
        "etag": draft.etag,
        "last_modified": draft.last_modified,
        "body_hash": draft.body_hash,
        "fetched_at": page.fetched_at,
        "dimensions": 0 if vectors is None else vectors.shape[1],
        "vectors": "" if vectors is None else base64.b64encode(pack_vectors(vectors)).decode(),
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _batch(file: gzip.GzipFile, checks: _Checks) -> list[StoredPage | None]:
    """The next pages, None for each that is left out; empty at the end.

    Raises:
        ValueError: a line is not a page, or has more parts than any page.
    """
    pages: list[StoredPage | None] = []
    size = 0
    while len(pages) < BATCH and size < BATCH_BYTES:
        line = file.readline(MAX_LINE_BYTES)
        if not line:
            break
        size += len(line)
        _check_parts(line)
        pages.append(checks.page(_Page.model_validate_json(line)))
    return pages


def _check_parts(line: bytes) -> None:
    """Raises ValueError for a line with more parts than any page, before all of them are in memory."""
    bytes_outside_strings = len(line)
    for count, string in enumerate(_STRING.finditer(line)):
        bytes_outside_strings -= string.end() - string.start()
        if count == MOST_STRINGS:
            raise ValueError("no page has so many strings")
    if bytes_outside_strings > MAX_FRAME_BYTES:
        raise ValueError("no page has so many parts")


class _Checks:
    """Makes pages of lines, as far as the crawler could have written them. `left_out` counts those that it could not.

    Args:
        version: the new version, whose address and name are checked.
    """

    def __init__(self, head: _Head, version: SiteVersion, *, with_vectors: bool) -> None:
        self.left_out = 0
        self._with_vectors = with_vectors
        self._old, self._new = "", ""
        base = version.options.base_url or base_url(head.url)
        is_cited = bool(version.options.base_url)
        if version.url.startswith(IMPORTED) and not is_cited:
            self._old, self._new = canonical(base) or base, version.url
            base = _FOLDER
        of_files = is_cited or base == _FOLDER
        self._scope = Scope.of(base, head.include, head.exclude, of_files=of_files)
        self._links: set[int] = set()
        self._count = 0

    def page(self, page: _Page) -> StoredPage | None:
        """The page; None if it lies outside the site, or has text that no crawl writes.

        Raises:
            ValueError: a number or the text of a chunk is not that of a page.
        """
        address = self._address(page.address)
        self._count += 1
        if not address:
            self.left_out += 1
            return None
        ending = page.url.removeprefix(page.address)
        title, _ = strip_invisible_characters(" ".join(page.title.split()))
        draft = PageDraft(
            url=address + ending if ending in ("index.html", ".md") else address,
            title=title[:LONGEST_TITLE],
            markdown=page.markdown,
            chunks=tuple(ChunkDraft(*chunk) for chunk in page.chunks),
            symbols=tuple(_symbols(page)),
            etag=sendable(page.etag),
            last_modified=sendable(page.last_modified),
            body_hash=page.body_hash if _HASH.fullmatch(page.body_hash) else "",
        )
        _check_places(draft)
        vectors = _unpacked(page) if self._with_vectors and page.dimensions else None
        if not all(_is_clean(chunk, page.markdown, draft.url) for chunk in draft.chunks):
            self.left_out += 1
            return None
        fetched_at = min(page.fetched_at, time.time())
        return StoredPage(address, draft, self._in_scope(page.links), fetched_at, vectors)

    def _address(self, url: str) -> str:
        """The canonical address of a page of the site, in the new folder if it was a file; "" if it is not one."""
        if self._old:
            if not url.startswith(self._old):
                return ""
            in_folder = self._scope.link(_FOLDER, _FOLDER + url.removeprefix(self._old))
            return self._new + in_folder.removeprefix(_FOLDER) if in_folder else ""
        return self._scope.link(url, url)

    def _in_scope(self, links: Sequence[str]) -> tuple[str, ...]:
        """The links to pages of the site, as far as a crawl would take them into its frontier."""
        most = URLS_PER_PAGE * max(self._count, _USUAL.max_pages)
        addresses = dict.fromkeys(filter(None, map(self._address, links)))
        kept = [url for url in addresses if hash(url) in self._links or len(self._links) < most]
        self._links.update(map(hash, kept))
        return tuple(kept)


def _symbols(page: _Page) -> Iterator[Symbol]:
    """The names of a page as a crawl writes them."""
    for name, kind, anchor, ordinal in page.symbols:
        is_name = 0 < len(name) <= LONGEST_NAME and name.isprintable()
        if is_name and ordinal < len(page.chunks):
            yield Symbol(name, kind, anchor if _ANCHOR.fullmatch(anchor) else "", ordinal)


def _check_places(page: PageDraft) -> None:
    """Raises ValueError unless the chunks follow one another and hold at most twice the text of the page."""
    end = size = 0
    for chunk in page.chunks:
        if not end <= chunk.start <= chunk.stop <= len(page.markdown):
            raise ValueError("the chunks do not fit the text")
        end = chunk.stop
        size += chunk.stop - chunk.start + len(chunk.before) + len(chunk.after)
    if size > 2 * len(page.markdown) + LARGEST_REPEAT:
        raise ValueError("the chunks hold more than the text")


def _is_clean(chunk: ChunkDraft, markdown: str, url: str) -> bool:
    """Whether the text, headings and anchor of a chunk are as the crawler writes them."""
    headings = " ".join(chunk.heading_path)
    if not headings.isprintable() or strip_invisible_characters(headings)[0] != headings:
        return False
    if any(len(heading) > MAX_TITLE for heading in chunk.heading_path):
        return False
    anchors = [chunk.anchor, *(anchor for _, anchor in chunk.inner)]
    if not all(_ANCHOR.fullmatch(anchor) for anchor in filter(None, anchors)):
        return False
    content = content_of(chunk, markdown)
    return without_live_parts(content, url)[0] == content


def _unpacked(page: _Page) -> Vectors:
    import numpy as np

    data = base64.b64decode(page.vectors, validate=True)
    if len(data) != len(page.chunks) * (page.dimensions + 4):
        raise ValueError("vectors do not fit the chunks")
    scales, numbers = unpack_vectors(data, page.dimensions)
    scaled: Vectors = scales[:, None] * numbers
    lengths = np.linalg.norm(scaled, axis=1)
    if not (np.isfinite(lengths).all() and (lengths <= LONGEST_VECTOR).all()):
        raise ValueError("vectors are not of unit length")
    return scaled
