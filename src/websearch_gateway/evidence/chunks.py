"""Splits Markdown into passages along its structure, and a long text into windows that together are all of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice, takewhile
from typing import NamedTuple
from urllib.parse import urldefrag

from websearch_gateway.base import (
    Block,
    blocks,
    estimate_tokens,
    plain,
    prose_sentences,
    split_sentences,
)
from websearch_gateway.models import Passage

DEFAULT_SIZE = 512
"""Tokens in a passage: the input size of common embedding models."""

WHOLE = 4
"""A code block, table or list item is split only if it has more than this many times the size of a passage."""

LARGEST_WHOLE = 2_048
"""Tokens up to which a code block or table is never split: half of one is often useless."""

LONGEST_MARKED = 4_000
"""The most characters of a sentence or heading with its marks (links may be long); the rest is ignored."""

MAX_TITLE = 200
"""The most characters of a heading in a section path, which every passage below it repeats."""

LONGEST_FENCE = 100
"""The most characters of a fence that each part of a split block repeats."""

MOST_HEADINGS = 20
"""The most consecutive headings without text that join the text below the last of them."""

MOST_PIECES = 100_000
"""The most blocks and sentences of a page that are recognised: text after them is split only between words."""

OVERLAP = 0.125
"""The share of a passage that `overlapping` repeats."""

CHARACTERS_A_TOKEN = 4
LEAST_OVERLAP, MOST_OVERLAP = 0.8, 1.2
"""The bounds of an overlap that begins with a sentence, relative to the wanted length."""

PDF = "application/pdf"
"""The content type of pages whose numbers count: another page may say `*Page 3*` too."""
_PAGE_MARK = re.compile(r"^\*Page (\d{1,6})\*$", re.MULTILINE)
_NOT_BLANK = re.compile(r"\S")
_LINE = re.compile(r"[^\n]+")
_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)")
_RULED = re.compile(r"[ \t]*+\|?[ \t:|-]*-[ \t:|-]*$")


class Piece(NamedTuple):
    """`text[start:end]` must stay together. `is_heading` pieces belong to the next piece.

    `before` and `after` complete a part of a split code block or table: its fences or its header. `page` counts the
    pages of a PDF, each of which begins with its mark.
    """

    start: int
    end: int
    path: tuple[str, ...]
    is_heading: bool = False
    before: str = ""
    after: str = ""
    is_prose: bool = False
    page: int | None = None


def page_of(markdown: str, words: str) -> int | None:
    """The number of the first page of a PDF's Markdown with these words, however its lines break; None if none has."""
    on_one_line = " ".join(words.split())
    _, *numbers_and_texts = _PAGE_MARK.split(markdown)
    numbers, texts = numbers_and_texts[::2], numbers_and_texts[1::2]
    for number, text in zip(numbers, texts, strict=True):
        if on_one_line in " ".join(plain(text).split()):
            return int(number)
    return None


def at_page(url: str, page: int | None) -> str:
    """The address of a page in a PDF."""
    return f"{urldefrag(url).url}#page={page}" if page else url


def chunk(markdown: str, size: int = DEFAULT_SIZE, most: int | None = None) -> list[Passage]:
    """The passages of a page, in order, at most the first `most`.

    Each is a slice of `markdown`, and together they contain all its non-blank text.

    A passage lies in one section, in a PDF on one page, and has about `size` tokens, as `estimate_tokens` counts them:
    four characters each.
    Code blocks, tables and list items stay whole up to `WHOLE` times that, code blocks and tables at least up to
    `LARGEST_WHOLE`; a larger one is split between its lines (a list item between its sentences), and each part repeats
    the fence or the table header. A paragraph is split between sentences, and a long sentence between words. A heading
    stays with the text below it. `id` is a hash of the section path and the text, so it survives changes
    elsewhere on the page.
    """
    groups = islice(_groups(markdown, pieces(markdown, size), size), most)
    return [_passage(markdown, group, group[0].start) for group in groups]


def overlapping(markdown: str, size: int, most: int) -> list[tuple[Passage, str]]:
    """As `chunk`, but a passage that continues the prose of its section begins with the end of the passage before it.

    The repeated text is about OVERLAP of the size, and begins with a sentence if one begins near there. With each
    passage comes its own text, without the repeated one.
    """
    room = round(size / (1 + OVERLAP))
    passages: list[tuple[Passage, str]] = []
    before: list[Piece] = []
    for group in islice(_groups(markdown, pieces(markdown, room), room), most):
        own_start = group[0].start
        start = _overlap(markdown, before, group[0], room) if before else own_start
        own = _passage(markdown, group, own_start)
        whole = own if start == own_start else _passage(markdown, group, start)
        passages.append((whole, own.text))
        before = group
    return passages


def _overlap(markdown: str, before: list[Piece], first: Piece, size: int) -> int:
    """The start of the passage whose first own piece is `first`, after the passage of the pieces `before`."""
    last = before[-1]
    goes_on = last.is_prose and first.is_prose and last.path == first.path
    if not goes_on:
        return first.start
    length = OVERLAP * size * CHARACTERS_A_TOKEN
    *_, first_of_prose = takewhile(lambda piece: piece.is_prose, reversed(before))
    earliest = max(first_of_prose.start, last.end - round(length * MOST_OVERLAP))
    sentences = split_sentences(markdown[earliest : last.end])
    starts = [earliest + start for start, _ in sentences]
    if earliest > first_of_prose.start:
        del starts[:1]  # the middle of a sentence
    elif last.end - earliest < length:
        return earliest
    for start in starts:
        if last.end - start >= length * LEAST_OVERLAP:
            return start
    blank = markdown.find(" ", last.end - round(length), last.end)
    return blank + 1 if blank >= 0 else first.start


def _passage(markdown: str, group: list[Piece], start: int) -> Passage:
    first, last = group[0], group[-1]
    text = first.before + markdown[start : last.end] + last.after
    identity = "\0".join((*last.path, text))
    digest = sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
    return Passage(text=text, section_path=last.path, id=digest[:16], page=last.page)


def _groups(markdown: str, pieces: Iterator[Piece], size: int) -> Iterator[list[Piece]]:
    """Groups of neighbouring pieces of one section, up to `size` tokens; headings join the next text."""
    group: list[Piece] = []
    filled = 0
    for piece in pieces:
        length = estimate_tokens(markdown[piece.start : piece.end])
        if group and not _joins(piece, length, group, filled, size):
            yield group
            group, filled = [], 0
        group.append(piece)
        filled += length
    if group:
        yield group


def _joins(piece: Piece, length: int, group: list[Piece], filled: int, size: int) -> bool:
    """Whether a piece of `length` tokens belongs to the group before it, which has `filled`."""
    last = group[-1]
    if last.is_heading and (len(group) < MOST_HEADINGS or filled <= size):
        return True
    is_part = bool(piece.before or last.after)
    is_beside = piece.path == last.path and piece.page == last.page
    has_room = filled + length <= size
    return has_room and is_beside and not is_part


def pieces(markdown: str, size: int, of_page: Iterable[Block] | None = None) -> Iterator[Piece]:
    """Pieces that must stay together, in order: blocks, sentences of long paragraphs, parts of long code and tables.

    Args:
        of_page: the blocks of `markdown`, if the caller has them.
    """
    if of_page is None:
        of_page = blocks(markdown)
    for place, piece in enumerate(_pieces(markdown, size, of_page)):
        if place == MOST_PIECES:
            for start, end in _cut_words(markdown, piece.start, len(markdown), size):
                yield Piece(start, end, piece.path, page=piece.page)
            return
        yield piece


class _Heading(NamedTuple):
    """A heading above a block; its title may be empty."""

    level: int
    title: str


def _pieces(markdown: str, size: int, of_page: Iterable[Block]) -> Iterator[Piece]:
    above: list[_Heading] = []
    path: tuple[str, ...] = ()
    page: int | None = None
    for block in of_page:
        if block.kind == "heading":
            above = [heading for heading in above if heading.level < block.level]
            above.append(_Heading(block.level, _title(markdown, block)))
            path = tuple(heading.title for heading in above if heading.title)
        elif block.kind == "paragraph":
            mark = _PAGE_MARK.fullmatch(markdown, block.start, block.end)
            if mark:
                page = int(mark[1])
                yield Piece(block.start, block.end, path, is_heading=True, page=page)
                continue
        for piece in _of_block(markdown, block, path, size):
            yield piece if page is None else piece._replace(page=page)


def _of_block(markdown: str, block: Block, path: tuple[str, ...], size: int) -> Iterator[Piece]:
    has_lines = block.kind in ("code", "table")
    most = max(WHOLE * size, LARGEST_WHOLE) if has_lines else WHOLE * size
    is_long = _is_longer(markdown, block.start, block.end, most)
    if block.kind == "paragraph" or (block.kind == "item" and is_long):
        for start, end in _cut(markdown, block.start, block.end, size):
            yield Piece(start, end, path, is_prose=True)
    elif has_lines and is_long:
        yield from _parts(markdown, block, path, size)
    else:
        yield Piece(block.start, block.end, path, is_heading=block.kind == "heading")


def _parts(markdown: str, block: Block, path: tuple[str, ...], size: int) -> Iterator[Piece]:
    """A code block or table in parts of about `size` tokens."""
    lines = [match.span() for match in _LINE.finditer(markdown, block.start, block.end)]
    first_lines = [markdown[start:end] for start, end in lines[:2]]
    above, below = _frame(first_lines, size)
    last_line = markdown[slice(*lines[-1])].lstrip()
    if below and len(lines) > 1 and last_line.startswith(below):
        lines.pop()  # the closing fence stays with the line before it
    *runs, last = _runs(markdown, lines, size)
    before = ""
    for start, end in runs:
        yield Piece(start, end, path, before=before, after=f"\n{below}" if below else "")
        before = above
    yield Piece(last[0], block.end, path, before=before)


def _frame(lines: list[str], size: int) -> tuple[str, str]:
    """The text before and after each part of a split block, by its first lines: fences or a table header.

    It is short: repeated before every part it could make more text than the page has.
    """
    fence = _FENCE.match(lines[0])
    if fence:
        below = fence[1]
        if len(below) > LONGEST_FENCE:
            return "", ""
        is_short = estimate_tokens(f"{lines[0]}\n") <= size
        return f"{lines[0] if is_short else below}\n", below
    if len(lines) > 1 and _RULED.match(lines[1]):
        header = f"{lines[0]}\n{lines[1]}\n"
        if estimate_tokens(header) <= size:
            return header, ""
    return "", ""


def _runs(markdown: str, lines: list[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Groups of neighbouring lines, up to `size` tokens; a much longer line is split between words."""
    runs: list[tuple[int, int]] = []
    room = 0
    for start, end in lines:
        length = estimate_tokens(markdown[start:end])
        if length > WHOLE * size:
            runs += _cut_words(markdown, start, end, size)
            room = 0
        elif length <= room:
            runs[-1] = (runs[-1][0], end)
            room -= length
        else:
            runs.append((start, end))
            room = size - length
    return runs


def _title(markdown: str, heading: Block) -> str:
    text = markdown[heading.start : heading.end]
    words = text if text.startswith("#") else text[: text.rindex("\n")]
    return plain(words[:LONGEST_MARKED])[:MAX_TITLE].rstrip()


def _is_longer(text: str, start: int, end: int, size: int) -> bool:
    """Whether the text has more than `size` tokens; a token has at least one character."""
    return end - start > size and estimate_tokens(text[start:end]) > size


def _cut(markdown: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """A paragraph as a whole if it fits, else its sentences; a longer sentence as runs of words of `size` tokens."""
    if not _is_longer(markdown, start, end, size):
        yield start, end
        return
    for first, last in prose_sentences(markdown, start, end):
        if _is_longer(markdown, first, last, size):
            yield from _cut_words(markdown, first, last, size)
        else:
            yield first, last


def _cut_words(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    width = max(1, (end - start) * size // estimate_tokens(text[start:end]))
    while start < end:
        stop = min(start + width, end)
        blank = text.rfind(" ", start, stop) if stop < end else -1
        if blank > start:
            stop = blank
        yield start, stop
        following = _NOT_BLANK.search(text, stop, end)
        start = following.start() if following else end


_LONGEST_CHARACTER = 32
"""Code points of what is seen as one character, such as a family of emoji; a longer one is cut anywhere."""


def window(text: str, offset: int, size: int) -> tuple[str, int | None]:
    """At most `size` characters of `text` from `offset` on, and the offset of the next window (None after the last).

    The window ends after a line if one ends in its second half, else after a word, else before a character.
    `offset` counts code points and is at most `len(text)`; `size` is at least 1.
    """
    end = offset + size
    if end >= len(text):
        return text[offset:], None
    middle = offset + (size + 1) // 2
    for separator in ("\n", " "):
        behind = text.rfind(separator, middle, end) + 1
        if behind:
            return text[offset:behind], behind
    cut = end
    earliest = max(offset + 1, end - _LONGEST_CHARACTER)
    while cut > earliest and _splits(text, cut):
        cut -= 1
    if _splits(text, cut):
        cut = end
    return text[offset:cut], cut


def _splits(text: str, cut: int) -> bool:
    """Whether `cut` is before a mark or a skin tone, or beside a joiner: inside of what is seen as one character."""
    after = text[cut]
    return (
        unicodedata.category(after).startswith("M")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\u200d" in text[cut - 1 : cut + 1]
    )
