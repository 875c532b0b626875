"""Answers calls of `search_docs`, `read_docs` and `list_sites`."""

from __future__ import annotations

import asyncio
import re
import shlex
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urlsplit

from websearch_gateway.docs_index.crawl.scope import canonical
from websearch_gateway.docs_index.library import DocsLibrary
from websearch_gateway.docs_index.models import Chunk, SiteVersion, Skipped, UrlFailure, named, select
from websearch_gateway.docs_index.rank.search import MAX_TOKENS, Ranker
from websearch_gateway.docs_index.store.versions import is_dead
from websearch_gateway.errors import ForbiddenUrlError, SearchValidationError, Unavailable
from websearch_gateway.models import Call
from websearch_gateway.ports import NOT_RERANKED, Embedder, Reranker
from websearch_gateway.results import (
    DocsFailure,
    DocsOutlineEntry,
    DocsReadResponse,
    DocsSearchResponse,
    DocsSite,
    DocsSites,
    DocsSiteStatus,
    DocsSkipped,
    DocsStatus,
)
from websearch_gateway.text.query import normalise
from websearch_gateway.text.tokens import estimate_tokens
from websearch_gateway.text.urls import with_scheme

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


MOST_QUERY_CHARS = 1_000
MOST_SECTIONS = 50
MOST_SEARCH_TOKENS = 50_000
RERANK_SECONDS = 10.0
"""The deadline of a search that has none of its own, as far as the reranker is concerned."""


async def search_docs(
    library: DocsLibrary,
    embedder: Embedder,
    query: str,
    *,
    site_id: str | None = None,
    sites_filter: str | None = None,
    label: str | None = None,
    limit: int = 10,
    max_tokens: int = MAX_TOKENS,
    reranker: Reranker | None = None,
    call: Call | None = None,
) -> DocsSearchResponse:
    """Find the sections that answer a query, best first, with text within `max_tokens`.

    Raises:
        SearchValidationError: a value is out of range, or no indexed site has that id, name or label.
    """
    text = normalise(query) if len(query) <= 10 * MOST_QUERY_CHARS else query
    if not 1 <= len(text) <= MOST_QUERY_CHARS:
        raise SearchValidationError(f"query must have 1 to {MOST_QUERY_CHARS} characters.")
    if not (1 <= limit <= MOST_SECTIONS and 100 <= max_tokens <= MOST_SEARCH_TOKENS):
        raise SearchValidationError(f"limit must be 1 to {MOST_SECTIONS}, maxTokens 100 to {MOST_SEARCH_TOKENS}.")
    indexed = await library.searchable()
    versions = await select(indexed, site_id, sites_filter, label, library.runner.workers)
    if not versions:
        warning = f"No site matches. Indexed: {named(indexed)}." if indexed else NO_SITE
        return DocsSearchResponse(warnings=(warning,))
    faults: list[str] = []

    async def reorder(text: str, sections: Sequence[str]) -> Sequence[int]:
        if reranker is None:
            return range(len(sections))
        order, fault = await reranker.order(text, sections, call or Call.after(RERANK_SECONDS))
        faults.extend([f"{NOT_RERANKED}{fault}"] if fault else [])
        return order

    ranker = Ranker(library.store, library.is_open, reorder if reranker else None)
    asked, instead = await ranker.understood(text, versions)
    vector, warnings = await _vector(embedder, asked.text, call)
    hits, more = await ranker.search(asked, vector, versions, limit=limit, max_tokens=max_tokens)
    guessed = tuple(f"No page has {word!r}: searched for {near!r}." for word, near in instead.items())
    return DocsSearchResponse(results=tuple(hits), more=tuple(more), warnings=(*guessed, *warnings, *faults))


async def _vector(embedder: Embedder, text: str, call: Call | None) -> tuple[Vectors | None, tuple[str, ...]]:
    try:
        async with asyncio.timeout(call.remaining() / 2 if call else None):
            return await embedder.embed([text], "query", call), ()
    except Unavailable as error:
        fault = error.message
    except TimeoutError:
        fault = "the embedder did not answer in time."
    return None, (f"Searched by words alone: {fault}",)


MOST_AROUND = 20
MOST_PAGE_TOKENS = 100_000
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
    if not (0 <= around <= MOST_AROUND and 100 <= max_tokens <= MOST_PAGE_TOKENS):
        raise SearchValidationError(f"around must be 0 to {MOST_AROUND}, maxTokens 100 to {MOST_PAGE_TOKENS}.")
    versions = await select(await library.searchable(), None, None, label, library.runner.workers)
    chunk = await _chunk(library, section_id, url, versions)
    _check_open(library, chunk.url)
    page = await library.store.page_chunks(chunk.page_id)
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
        chunk = await library.store.find_section(section_id)
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
        if not page and (page_id := await library.store.find_page(spelling, ids)) is not None:
            page = await library.store.page_chunks(page_id)
    if not page:
        raise SearchValidationError("No page with this address is indexed. `list_sites` lists the indexed sites.")
    ordinal = await library.store.find_anchor(page[0].page_id, unquote(anchor)) if anchor else None
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


NO_SITE = "No site is indexed. Add one: websearch-gateway docs add URL NAME VERSION"
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def listed(versions: Sequence[SiteVersion]) -> DocsSites:
    """The result of `list_sites`."""
    return DocsSites(sites=tuple(DocsSite(**_facts(version)) for version in versions))


def statuses(versions: Sequence[SiteVersion], message: str = "") -> DocsStatus:
    """The versions after a change, without the addresses that failed."""
    return DocsStatus(sites=tuple(map(_status, versions)), message=message)


async def full_statuses(library: DocsLibrary, versions: Sequence[SiteVersion], message: str = "") -> DocsStatus:
    """The result of `docs_status`: the versions, with the addresses that failed or were left out, and why."""
    store = library.store
    found = [
        _status(one, await store.failures(one.id) if one.failed else (), await store.skipped(one.id))
        for one in versions
    ]
    return DocsStatus(sites=tuple(found), message=message)


def _status(
    version: SiteVersion, failures: Sequence[UrlFailure] = (), skipped: Sequence[Skipped] = ()
) -> DocsSiteStatus:
    owner = None if version.owner is None or is_dead(version.owner) else version.owner
    return DocsSiteStatus(
        **_facts(version),
        reason=_stopped(version) if version.owner and not owner else version.reason,
        progress=round(min(1.0, version.page_count / version.known), 3) if version.known else 0.0,
        known=max(version.known, version.page_count),  # pages that a refresh has not found yet are kept
        failed=version.failed,
        unembedded=version.unembedded,
        generation=version.generation,
        refresh_date=iso_date(version.refresh_at),
        owner=f"{owner.machine}:{owner.pid}" if owner else None,
        heartbeat_seconds=round(time.time() - version.heartbeat, 1) if owner and version.heartbeat else None,
        failures=tuple(DocsFailure(url=f.url, reason=f.reason, attempts=f.attempts) for f in failures),
        skipped=tuple(DocsSkipped(reason=one.reason, count=one.count, urls=one.urls) for one in skipped),
    )


def _stopped(version: SiteVersion) -> str:
    command = f"websearch-gateway docs update {shlex.join((version.name, version.label))}"
    return f"The process that crawled it has ended. What it fetched is kept; go on with: {command}"


def _facts(version: SiteVersion) -> dict[str, object]:
    return {
        "id": str(version.id),
        "name": version.name,
        "version": version.label,
        "url": version.home,
        "status": version.status,
        "indexed_date": iso_date(version.indexed_at),
        "page_count": version.page_count,
        "age": _age(version.indexed_at),
    }


def _age(indexed_at: float | None) -> str:
    if indexed_at is None:
        return ""
    seconds = max(0.0, time.time() - indexed_at)
    length, unit = next(((length, unit) for length, unit in _UNITS if seconds >= length), (1, "second"))
    count = int(seconds // length)
    return f"{count} {unit}{'' if count == 1 else 's'}"
