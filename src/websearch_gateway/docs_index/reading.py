"""Answers calls of `read_docs`: a section with its neighbours, or the outline of a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import unquote, urldefrag, urlsplit

from websearch_gateway.docs_index.crawl.scope import canonical
from websearch_gateway.docs_index.library import DocsLibrary
from websearch_gateway.docs_index.models import Chunk, SiteVersion
from websearch_gateway.docs_index.selection import select
from websearch_gateway.errors import ForbiddenUrlError, SearchValidationError
from websearch_gateway.results import DocsOutlineEntry, DocsReadResponse
from websearch_gateway.text.tokens import estimate_tokens
from websearch_gateway.text.urls import with_scheme

MOST_AROUND = 20
MOST_TOKENS = 100_000
CUT = "[Cut: the rest of this section needs more maxTokens.]"

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)


async def read_docs(
    library: DocsLibrary,
    *,
    section_id: str | None = None,
    url: str | None = None,
    label: str | None = None,
    around: int = 0,
    max_tokens: int = 4_000,
    outline: bool = False,
) -> DocsReadResponse:
    """Read a section by its id, or a page by its address (from its anchor, if it has one), up to `max_tokens`.

    Raises:
        SearchValidationError: neither or both of `section_id` and `url` are given, no indexed section or page has it,
            or a number is out of range.
        ForbiddenUrlError: the operator does not allow the page's domain.
    """
    if (section_id is None) == (url is None):
        raise SearchValidationError("Give either sectionId or url.")
    if not (0 <= around <= MOST_AROUND and 100 <= max_tokens <= MOST_TOKENS):
        raise SearchValidationError(f"around must be 0 to {MOST_AROUND}, maxTokens 100 to {MOST_TOKENS}.")
    versions = await select(await library.searchable(), None, None, label, library.runner.workers)
    chunk = await _chunk(library, section_id, url, versions)
    _check_open(library, chunk.url)
    page = await library.index.page_chunks(chunk.page_id)
    version = next(v for v in versions if v.id == chunk.version_id)
    response = DocsReadResponse(
        url=chunk.url,
        page_title=chunk.page_title,
        site_name=version.name,
        site_version=version.label,
        section_id=chunk.section_id,
        fetched_at=iso_date(chunk.fetched_at) or "",
    )
    if outline:
        return response.model_copy(update={"outline": tuple(_entry(one) for one in page)})
    last = chunk.ordinal + around if section_id is not None else len(page) - 1
    return response.model_copy(update=_text_fields(page, chunk, max(0, chunk.ordinal - around), last, max_tokens))


def _check_open(library: DocsLibrary, url: str) -> None:
    if not library.is_open(url):
        raise ForbiddenUrlError("The operator of this gateway does not allow this page's domain.")


async def _chunk(
    library: DocsLibrary, section_id: str | None, url: str | None, versions: Sequence[SiteVersion]
) -> Chunk:
    if section_id is not None:
        chunk = await library.index.find_section(section_id)
        if chunk is None or chunk.version_id not in {v.id for v in versions}:
            raise SearchValidationError("No section has this id: the page may have changed. Search again.")
        return chunk
    try:
        address, anchor = urldefrag(url or "")
        urlsplit(address.encode())
    except ValueError:
        raise SearchValidationError("url is not the address of a page.") from None
    _check_open(library, address)
    ids = [v.id for v in versions]
    page: list[Chunk] = []
    for spelling in dict.fromkeys((address, canonical(address), canonical(with_scheme(address) or ""))):
        if not page and (page_id := await library.index.find_page(spelling, ids)) is not None:
            page = await library.index.page_chunks(page_id)
    if not page:
        raise SearchValidationError("No page with this address is indexed. `list_sites` lists the indexed sites.")
    ordinal = await library.index.find_anchor(page[0].page_id, unquote(anchor)) if anchor else None
    wanted = unquote(anchor)
    named = (
        chunk
        for chunk in page
        if anchor and wanted in (unquote(chunk.anchor), *(unquote(one) for _, one in chunk.inner))
    )
    return page[ordinal] if ordinal is not None else next(named, page[0])


def _text_fields(
    page: Sequence[Chunk], chunk: Chunk, first: int, last: int, max_tokens: int
) -> dict[str, str | bool | None]:
    """The text from a chunk to the one at `last`, then from those before it back to `first`, as far as they fit."""
    after, left = _fitting(page[chunk.ordinal : last + 1], max_tokens)
    before, _ = _fitting(page[first : chunk.ordinal][::-1], left)
    truncated = not after
    content = _cut(chunk, max_tokens) if truncated else "\n\n".join(one.content for one in (*before[::-1], *after))
    end = chunk.ordinal + max(1, len(after))
    following = page[end].section_id if end < len(page) else None
    return {"content": content, "next_section_id": following, "truncated": truncated}


def _fitting(chunks: Sequence[Chunk], max_tokens: int) -> tuple[list[Chunk], int]:
    """The first chunks that fit, and the tokens that are left (0 if a chunk did not fit)."""
    for count, chunk in enumerate(chunks):
        if (tokens := estimate_tokens(chunk.content)) > max_tokens:
            return list(chunks[:count]), 0
        max_tokens -= tokens
    return list(chunks), max_tokens


def _cut(chunk: Chunk, max_tokens: int) -> str:
    """The beginning of a section. A block of code that is cut ends with its fence."""
    text, room = chunk.content, max_tokens - estimate_tokens(CUT)
    while (tokens := estimate_tokens(text)) > room:
        text = text[: len(text) * room // tokens - 1]
    cut = max(text.rfind("\n"), text.rfind(". ") + 1)
    text = text[: cut if cut > 0 else None].rstrip()
    fences = _FENCE.findall(text)
    return f"{text}\n{fences[-1] if len(fences) % 2 else ''}\n{CUT}"


def _entry(chunk: Chunk) -> DocsOutlineEntry:
    return DocsOutlineEntry(
        section_id=chunk.section_id,
        heading_path=chunk.heading_path,
        url=chunk.url,
        tokens=estimate_tokens(chunk.content),
    )


def iso_date(seconds: float | None) -> str | None:
    """A time as ISO 8601, UTC; None if there is none, or no calendar has it."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return None
