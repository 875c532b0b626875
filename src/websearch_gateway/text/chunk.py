"""Markdown cut into passages along its own structure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from websearch_gateway.models import Passage
from websearch_gateway.text.markdown import LONGEST_MARKED, Block, blocks, plain
from websearch_gateway.text.sentences import split_sentences
from websearch_gateway.text.tokens import estimate_tokens

DEFAULT_SIZE = 512
"""Tokens in a passage: what common embedding models read at once."""

MAX_TITLE = 200
"""Characters of a heading in a section path, which every passage below it repeats."""

_NOT_BLANK = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class _Piece:
    """`text[start:end]` must stay together. `is_heading` pieces belong to what follows them."""

    start: int
    end: int
    path: tuple[str, ...]
    is_heading: bool = False


def chunk(markdown: str, size: int = DEFAULT_SIZE) -> list[Passage]:
    """The passages of a page, in order; each is a slice of `markdown` and together they hold all that is not blank.

    A passage lies in one section and has about `size` tokens. Code fences, tables and list items stay whole, however
    long; a longer paragraph is cut between sentences, and a longer sentence between words. A heading goes with the
    text below it. `id` is a hash of the section path and the text, so it survives changes elsewhere on the page.
    """
    return [_passage(markdown, group) for group in _groups(markdown, _pieces(markdown, size), size)]


def _passage(markdown: str, group: list[_Piece]) -> Passage:
    text, path = markdown[group[0].start : group[-1].end], group[-1].path
    digest = sha256("\0".join((*path, text)).encode("utf-8", "surrogatepass")).hexdigest()
    return Passage(text=text, section_path=path, id=digest[:16])


def _groups(markdown: str, pieces: Iterator[_Piece], size: int) -> Iterator[list[_Piece]]:
    """Neighbouring pieces of one section, up to `size` tokens; headings without a text of their own wait for one."""
    group: list[_Piece] = []
    filled = 0
    for piece in pieces:
        length = estimate_tokens(markdown[piece.start : piece.end])
        is_open = bool(group) and (group[-1].is_heading or (piece.path == group[-1].path and filled + length <= size))
        if group and not is_open:
            yield group
            group, filled = [], 0
        group.append(piece)
        filled += length
    if group:
        yield group


def _pieces(markdown: str, size: int) -> Iterator[_Piece]:
    path: list[tuple[int, str]] = []
    for block in blocks(markdown):
        if block.kind == "heading":
            path = [(level, title) for level, title in path if level < block.level]
            path.append((block.level, _title(markdown, block)))
        titles = tuple(title for _, title in path if title)
        if block.kind == "paragraph":
            for start, end in _cut(markdown, block.start, block.end, size):
                yield _Piece(start, end, titles)
        else:
            yield _Piece(block.start, block.end, titles, block.kind == "heading")


def _title(markdown: str, heading: Block) -> str:
    text = markdown[heading.start : heading.end]
    words = text if text.startswith("#") else text[: text.rindex("\n")]
    return plain(words[:LONGEST_MARKED])[:MAX_TITLE].rstrip()


def _cut(markdown: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """A paragraph whole if it fits, else its sentences, else runs of words of about `size` tokens."""
    text = markdown[start:end]
    if len(text) <= size or estimate_tokens(text) <= size:
        yield start, end
        return
    for first, last in split_sentences(text):
        if estimate_tokens(text[first:last]) <= size:
            yield start + first, start + last
        else:
            yield from ((start + a, start + b) for a, b in _cut_words(text, first, last, size))


def _cut_words(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    width = max(1, (end - start) * size // estimate_tokens(text[start:end]))
    while start < end:
        stop = min(start + width, end)
        if stop < end and (blank := text.rfind(" ", start, stop)) > start:
            stop = blank
        yield start, stop
        following = _NOT_BLANK.search(text, stop, end)
        start = following.start() if following else end
