"""Exports a version of a site into one file, and imports it on another machine.

The file is gzip over JSON lines. The first line is the site, each other line a page with its chunks, symbols, links and
vectors. The headers of a crawl may hold a password and are left out.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import os
import zlib
from collections import deque
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from websearch_gateway.docs_index.crawl.scope import canonical
from websearch_gateway.docs_index.library import DocsLibrary
from websearch_gateway.docs_index.models import (
    ChunkDraft,
    CrawlOptions,
    PageDraft,
    SiteVersion,
    StoredPage,
    Symbol,
    SymbolKind,
)
from websearch_gateway.docs_index.store.packing import pack_vectors, unpack_vectors
from websearch_gateway.errors import SearchValidationError

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

FORMAT = "websearch-gateway-docs/1"
MAX_LINE_BYTES = 60_000_000
BATCH = 50
AT_ONCE = 2
"""Concurrent writes: one batch is written while the next is prepared and the one after that is parsed."""
INTERRUPTED = "The import was interrupted. Import the file again, or delete the site."

_Place = Annotated[int, Field(ge=0)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Head(_Line):
    """The first line."""

    format: Literal["websearch-gateway-docs/1"]
    name: str
    version: str
    url: str
    embedder: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_pages: int = 20_000
    delay: Annotated[float, Field(ge=0)] = 0.25
    indexed_at: float | None = None


class _Page(_Line):
    """A page. `dimensions` is 0 if it has no vectors."""

    address: str
    url: str
    title: str
    markdown: str
    chunks: tuple[tuple[_Place, _Place, tuple[str, ...], str, str, str], ...]
    symbols: tuple[tuple[str, SymbolKind, str, _Place], ...]
    links: tuple[str, ...]
    etag: str | None
    last_modified: str | None
    body_hash: str
    fetched_at: float
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
        url=version.url,
        embedder=embedder,
        include=options.include,
        exclude=options.exclude,
        max_pages=options.max_pages,
        delay=options.delay,
        indexed_at=version.indexed_at,
    )
    count = 0
    try:
        with gzip.open(part, "wb", compresslevel=6) as file:
            file.write(head.model_dump_json().encode() + b"\n")
            async for pages in _pages(library, version.id):
                count += len(pages)
                await asyncio.to_thread(_write, file, pages)
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise SearchValidationError(f"{path} cannot be written: {error.strerror}.") from error
    return count


async def import_site(library: DocsLibrary, embedder: str, path: Path) -> SiteVersion:
    """Import a version that `export_site` wrote; it is searchable when this returns.

    Vectors of another embedder are left out: `status` counts the pages without vectors, and the next update makes
    them. A failed import leaves nothing of the version.

    Raises:
        SearchValidationError: the file is not an export or is damaged, or the version is indexed already.
    """
    try:
        with gzip.open(path, "rb") as file:
            lines = _lines(file)
            head = _Head.model_validate_json(next(lines, b""))
            version = await _new_version(library, head)
            try:
                await _put_all(library, version, lines, with_vectors=head.embedder == embedder)
            except BaseException:
                await asyncio.shield(library.delete(version))
                raise
            return await library.store.version(version.id) or version
    except (OSError, EOFError, zlib.error) as error:
        raise SearchValidationError(f"{path} cannot be read as an export ({type(error).__name__}).") from error
    except ValueError as error:  # pydantic's ValidationError too
        raise SearchValidationError(f"{path} is not an export of a site, or it is damaged.") from error


async def _put_all(library: DocsLibrary, version: SiteVersion, lines: Iterator[bytes], *, with_vectors: bool) -> None:
    await library.store.set_status(version.id, "failed", INTERRUPTED)  # a failed version is not crawled
    writes: deque[asyncio.Task[None]] = deque()
    try:
        while batch := await asyncio.to_thread(_batch, lines, with_vectors):
            writes.append(asyncio.create_task(library.store.put_pages(version.id, batch)))
            if len(writes) == AT_ONCE:
                await writes.popleft()
        await asyncio.gather(*writes)
    finally:
        await asyncio.gather(*writes, return_exceptions=True)
    await library.store.set_status(version.id, "completed")


async def _new_version(library: DocsLibrary, head: _Head) -> SiteVersion:
    if not canonical(head.url):
        raise SearchValidationError("The export has no usable address for its site.")
    for known in await library.store.versions():
        if (known.name, known.label) == (head.name, head.version) and known.page_count and known.indexed_at:
            raise SearchValidationError(f"{known.name} {known.label} is indexed already. Delete it first.")
    options = CrawlOptions(head.include, head.exclude, head.max_pages, head.delay)
    return await library.store.add_version(head.name, head.version, head.url, options)


async def _pages(library: DocsLibrary, version_id: int) -> AsyncIterator[list[StoredPage]]:
    last = 0
    while found := await library.store.pages_after(version_id, last, BATCH):
        last = found[-1][0]
        yield [page for _, page in found]


def _write(file: gzip.GzipFile, pages: list[StoredPage]) -> None:
    for page in pages:
        file.write(json.dumps(_encoded(page), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
        file.write(b"\n")


def _encoded(page: StoredPage) -> dict[str, Any]:
    draft, vectors = page.draft, page.vectors
    return {
        "address": page.address,
        "url": draft.url,
        "title": draft.title,
        "markdown": draft.markdown,
        "chunks": [(c.start, c.stop, c.heading_path, c.anchor, c.before, c.after) for c in draft.chunks],
        "symbols": [(s.name, s.kind, s.anchor, s.ordinal) for s in draft.symbols],
        "links": page.links,
        "etag": draft.etag,
        "last_modified": draft.last_modified,
        "body_hash": draft.body_hash,
        "fetched_at": page.fetched_at,
        "dimensions": 0 if vectors is None else vectors.shape[1],
        "vectors": "" if vectors is None else base64.b64encode(pack_vectors(vectors)).decode(),
    }


def _lines(file: gzip.GzipFile) -> Iterator[bytes]:
    while line := file.readline(MAX_LINE_BYTES):
        yield line


def _batch(lines: Iterator[bytes], with_vectors: bool) -> list[StoredPage]:
    found: list[StoredPage] = []
    while len(found) < BATCH and (line := next(lines, None)) is not None:
        found.append(_decoded(_Page.model_validate_json(line), with_vectors))
    return found


def _decoded(page: _Page, with_vectors: bool) -> StoredPage:
    draft = PageDraft(
        url=page.url,
        title=page.title,
        markdown=page.markdown,
        chunks=tuple(ChunkDraft(*chunk) for chunk in page.chunks),
        symbols=tuple(Symbol(*symbol) for symbol in page.symbols),
        etag=page.etag,
        last_modified=page.last_modified,
        body_hash=page.body_hash,
    )
    vectors = _unpacked(page) if with_vectors and page.dimensions else None
    return StoredPage(page.address, draft, page.links, page.fetched_at, vectors)


def _unpacked(page: _Page) -> Vectors:
    data = base64.b64decode(page.vectors, validate=True)
    if len(data) != len(page.chunks) * (page.dimensions + 4):
        raise ValueError("vectors do not fit the chunks")
    scales, numbers = unpack_vectors(data, page.dimensions)
    scaled: Vectors = scales[:, None] * numbers
    return scaled
