"""Cuts Markdown along its headings and terms into chunks of about `ENOUGH` to `TARGET` tokens.

Pure. Pages are untrusted, so a worker process cuts them, right after it has read them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any, Protocol

from websearch_gateway.docs_index.crawl.scope import Scope
from websearch_gateway.docs_index.crawl.symbols import page_symbols
from websearch_gateway.docs_index.models import ChunkDraft
from websearch_gateway.text.chunk import Piece, pieces
from websearch_gateway.text.markdown import Block, blocks
from websearch_gateway.text.tokens import estimate_tokens

TARGET = 650
"""The most tokens of a chunk (as `estimate_tokens` counts), unless one code block is longer."""
ENOUGH = TARGET // 2
"""A chunk of at least this many tokens ends at the next heading or term; a smaller one takes in its neighbour."""

CACHED_LINKS = 20_000
MAX_TARGET_CHARS = 5_000
"""The most characters of the address that a page names as its canonical one, or sends its readers to."""


class ReadPage(Protocol):
    """A page as the readers know it; a dataclass."""

    @property
    def title(self) -> str: ...
    @property
    def markdown(self) -> str: ...
    @property
    def anchors(self) -> Sequence[tuple[int, str]]: ...
    @property
    def links(self) -> Sequence[str]: ...
    @property
    def canonical(self) -> str: ...
    @property
    def refresh(self) -> str: ...


def drafted(scope: Scope, beside: Scope | None, defined: Sequence[tuple[str, str]], page: ReadPage) -> dict[str, Any]:
    """The fields of a `Document`: those of the page, its links in scope, its chunks and its symbols, as plain values.

    Args:
        beside: the folder of the start page, if links to other pages there are to be counted.
        defined: the names and anchors that an inventory defines on the page.
    """
    found = list(blocks(page.markdown))
    siblings = {url for link in page.links if beside and (url := beside.link("", link)) and not scope.contains(url)}
    chunks = cut(page.markdown, page.anchors, found)
    symbols = page_symbols(page.markdown, chunks, page.anchors, defined, found, page.title)
    return {
        **asdict(page),  # type: ignore[call-overload]
        "siblings": len(siblings),
        "links": list(dict.fromkeys(url for link in page.links if (url := _in_scope(scope, link)))),
        "canonical": page.canonical if len(page.canonical) <= MAX_TARGET_CHARS else "",
        "refresh": page.refresh if len(page.refresh) <= MAX_TARGET_CHARS else "",
        "chunks": [(c.start, c.stop, c.heading_path, c.anchor, c.before, c.after, c.inner) for c in chunks],
        "symbols": [(s.name, s.kind, s.anchor, s.ordinal) for s in symbols],
    }


@lru_cache(CACHED_LINKS)
def _in_scope(scope: Scope, link: str) -> str:
    """See `Scope.link`. Links are absolute, and most of them are on every page of a site."""
    return scope.link("", link)


def cut(
    markdown: str, anchors: Sequence[tuple[int, str]] = (), found: Iterable[Block] | None = None
) -> tuple[ChunkDraft, ...]:
    """The chunks of a page, in order. Code blocks stay whole, and small neighbouring sections share a chunk.

    If a chunk has several sections, its heading path is their common part.

    Args:
        found: the blocks of `markdown`, if the caller has them.
    """
    offsets = [offset for offset, _ in anchors]
    chunks = []
    for group in _groups(markdown, set(offsets), found):
        first, last = group[0], group[-1]
        place, end = bisect_right(offsets, first.start), bisect_right(offsets, last.end)
        anchor = anchors[place - 1][1] if place else ""
        inner = tuple((offset - first.start + len(first.before), name) for offset, name in anchors[place:end])
        chunks.append(ChunkDraft(first.start, last.end, _common(group), anchor, first.before, last.after, inner))
    return tuple(chunks)


def _groups(markdown: str, starts: set[int], found: Iterable[Block] | None) -> Iterator[list[Piece]]:
    group: list[Piece] = []
    filled = 0
    for piece in pieces(markdown, TARGET, found):
        length = estimate_tokens(markdown[piece.start : piece.end])
        if group and not _joins(group[-1], piece, filled, length, is_start=piece.start in starts):
            yield group
            group, filled = [], 0
        group.append(piece)
        filled += length
    if group:
        yield group


def _joins(previous: Piece, piece: Piece, filled: int, length: int, *, is_start: bool) -> bool:
    if previous.is_heading:  # a heading never stands alone
        return not piece.before
    if piece.page != previous.page:
        return False
    if piece.before or previous.after or filled + length > TARGET:
        return False
    return filled < ENOUGH or not (is_start or piece.is_heading)


def _common(group: Sequence[Piece]) -> tuple[str, ...]:
    path = group[0].path
    for piece in group[1:]:
        length = next((i for i, (a, b) in enumerate(zip(path, piece.path, strict=False)) if a != b), None)
        path = path[: min(len(path), len(piece.path)) if length is None else length]
    return path or group[0].path
