"""Reads sections and pages of the documentation index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from websearch_gateway.base import estimate_tokens, with_scheme
from websearch_gateway.docs.crawl.scope import canonical
from websearch_gateway.docs.models import Chunk, SiteVersion, select
from websearch_gateway.docs.reports import iso_date
from websearch_gateway.errors import ForbiddenUrlError, SearchValidationError
from websearch_gateway.models import DocsReadRequest
from websearch_gateway.results import DocsOutlineEntry, DocsReadResponse, size_of

if TYPE_CHECKING:
    from websearch_gateway.docs.library import DocsLibrary


CUT = "[Cut: the rest of this section needs more maxTokens.]"

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)


async def read_docs(library: DocsLibrary, request: DocsReadRequest) -> DocsReadResponse:
    """See `ports.DocsIndex.read`. The `around` sections after one come before those in front of it."""
    if (request.section_id is None) == (request.url is None):
        raise SearchValidationError("Give either sectionId or url.")
    indexed = await library.searchable()
    versions = await select(indexed, None, None, request.label, library.runner.workers)
    if request.section_id is not None:
        chunk = await _chunk_of_section(library, request.section_id, versions)
    else:
        chunk = await _chunk_at(library, request.url or "", versions)
    _check_open(library, chunk.url)
    page = await library.store.page_chunks(chunk.page_id)
    version = next(version for version in versions if version.id == chunk.version_id)
    response = DocsReadResponse(
        url=chunk.url,
        page_title=chunk.page_title,
        site_name=version.name,
        site_version=version.label,
        section_id=chunk.section_id,
        fetched_at=iso_date(chunk.fetched_at) or "",
    )
    if request.outline:
        return response.model_copy(update={"outline": tuple(map(_entry, page))})
    room = _Room(request.max_tokens, request.most_bytes - size_of(response) - SECTION_ID_BYTES)
    fitting = _fitting(_wanted(chunk, page, request), room)
    end = (fitting[-1] if fitting else chunk).ordinal + 1
    text = "\n\n".join(part.content for part in fitting)
    return response.model_copy(
        update={
            "content": text or _cut(chunk, room),
            "next_section_id": page[end].section_id if end < len(page) else None,
            "truncated": not fitting,
        }
    )


SECTION_ID_BYTES = 40
"""The room that the id of the next section takes in a reply, in place of `null`."""


@dataclass(frozen=True, slots=True)
class _Room:
    """How long a text may be: in tokens, and in bytes of JSON."""

    tokens: int
    bytes: float

    def holds(self, text: str) -> bool:
        return estimate_tokens(text) <= self.tokens and size_of(text) <= self.bytes

    def beside(self, text: str) -> _Room:
        """What is left beside a text and the blank line between two."""
        return _Room(self.tokens - estimate_tokens(text), self.bytes - size_of(f"{text}\n\n"))


def _wanted(chunk: Chunk, page: Sequence[Chunk], request: DocsReadRequest) -> list[Chunk]:
    """The chunks of a page to show, the most wanted first: all from an address on, or those around a section."""
    before = page[max(0, chunk.ordinal - request.around) : chunk.ordinal]
    after = page[chunk.ordinal + 1 :]
    if request.section_id is not None:
        after = after[: request.around]
    return [chunk, *after, *reversed(before)]


def _fitting(chunks: Sequence[Chunk], room: _Room) -> list[Chunk]:
    """The first chunks that fit, in the order of the page."""
    fitting = []
    for chunk in chunks:
        if not room.holds(chunk.content):
            break
        room = room.beside(chunk.content)
        fitting.append(chunk)
    return sorted(fitting, key=lambda chunk: chunk.ordinal)


def _cut(chunk: Chunk, room: _Room) -> str:
    """The beginning of a section. A block of code that is cut ends with its fence."""
    room = room.beside(CUT)
    text = chunk.content
    while text and not room.holds(text):
        share = min(room.tokens / estimate_tokens(text), room.bytes / size_of(text))
        text = text[: max(0, int(len(text) * min(1.0, share)) - 1)]
    end = max(text.rfind("\n"), text.rfind(". ") + 1)
    if end > 0:
        text = text[:end]
    text = text.rstrip()
    fences = _FENCE.findall(text)
    is_in_code = len(fences) % 2 == 1
    return f"{text}\n{fences[-1] if is_in_code else ''}\n{CUT}"


def _entry(chunk: Chunk) -> DocsOutlineEntry:
    return DocsOutlineEntry(
        section_id=chunk.section_id,
        heading_path=chunk.heading_path,
        url=chunk.url,
        tokens=estimate_tokens(chunk.content),
    )


def _check_open(library: DocsLibrary, url: str) -> None:
    if not library.is_open(url):
        raise ForbiddenUrlError("The operator of this gateway does not allow this page's domain.")


async def _chunk_of_section(
    library: DocsLibrary, section_id: str, versions: Sequence[SiteVersion]
) -> Chunk:
    chunk = await library.store.find_section(section_id)
    if chunk is None or chunk.version_id not in {version.id for version in versions}:
        raise SearchValidationError(
            "No section has this id: the page may have changed. Search again."
        )
    return chunk


async def _chunk_at(library: DocsLibrary, url: str, versions: Sequence[SiteVersion]) -> Chunk:
    """The chunk to which an address leads, from its anchor on if it has one."""
    address, anchor = _split(url)
    _check_open(library, address)
    page = await _page_at(library, address, [version.id for version in versions])
    if not anchor:
        return page[0]
    ordinal = await library.store.find_anchor(page[0].page_id, anchor)
    chunk = page[ordinal] if ordinal is not None else _with_anchor(page, anchor)
    start = next((offset for offset, name in chunk.inner if unquote(name) == anchor), 0)
    is_row = chunk.content.startswith("|", start)
    if not start or is_row:  # a row needs the head of its table
        return chunk
    named = f"{chunk.url.partition('#')[0]}#{url.partition('#')[2]}"
    return replace(chunk, content=chunk.content[start:], url=named)


def _split(url: str) -> tuple[str, str]:
    """The address of a page, and the anchor behind it. `urldefrag` would turn `imported:///` into `imported:/`.

    Raises:
        SearchValidationError: no page has such an address.
    """
    address, _, fragment = url.partition("#")
    anchor = unquote(fragment)
    try:
        urlsplit(address)
        if b"\0" in f"{address}{anchor}".encode():  # PostgreSQL stores none
            raise ValueError
    except ValueError:
        raise SearchValidationError("url is not the address of a page.") from None
    return address, anchor


async def _page_at(library: DocsLibrary, address: str, versions: Sequence[int]) -> list[Chunk]:
    """The chunks of a page, whose address may be spelled in several ways.

    Raises:
        SearchValidationError: there is none.
    """
    spelled = (address, canonical(address), canonical(with_scheme(address) or ""))
    for spelling in dict.fromkeys(spelled):
        page_id = await library.store.find_page(spelling, versions)
        if page_id is not None:
            page = await library.store.page_chunks(page_id)
            if page:
                return page
    raise SearchValidationError(
        "No page with this address is indexed. `list_sites` lists the indexed sites."
    )


def _with_anchor(page: Sequence[Chunk], anchor: str) -> Chunk:
    """The chunk that begins at an anchor or has it inside; the first one if none does."""
    for chunk in page:
        anchors = (chunk.anchor, *(name for _, name in chunk.inner))
        if anchor in map(unquote, anchors):
            return chunk
    return page[0]
