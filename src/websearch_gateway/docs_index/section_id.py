"""Ids of sections that stay the same when their page is crawled again."""

from __future__ import annotations

from hashlib import sha256

from websearch_gateway.docs_index.models import ChunkDraft, PageDraft

HEX_DIGITS = 16


def content_of(chunk: ChunkDraft, markdown: str) -> str:
    """The text of a chunk."""
    return f"{chunk.before}{markdown[chunk.start : chunk.stop]}{chunk.after}"


def section_ids(page: PageDraft) -> list[str]:
    """The id of each chunk: a hash of the page's address, the headings and the text, the same at every crawl.

    A number distinguishes later chunks that are equal in all of these.
    """
    seen: dict[str, int] = {}
    return [_unique(page.url, chunk, content_of(chunk, page.markdown), seen) for chunk in page.chunks]


def _unique(url: str, chunk: ChunkDraft, content: str, seen: dict[str, int]) -> str:
    text = "\0".join((url, *chunk.heading_path, content))
    number = seen[text] = seen.get(text, 0) + 1
    numbered = text if number == 1 else f"{text}\0{number}"
    return sha256(numbered.encode("utf-8", "surrogatepass")).hexdigest()[:HEX_DIGITS]
