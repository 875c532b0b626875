"""A PDF as a tree for each page: headings by the outline or their size, without repeated headers. Pure and linear.

pdf_page        a page as PDFium gives it -> words, links, ruling lines
pdf_text        the characters of words: raised signs, scripts from right to left, marks of hyphens
pdf_marks       large first letters, numbers of lines, drawn bullets
pdf_lines       words -> lines and their segments
pdf_layout      segments -> columns, and their blocks in reading order
pdf_paragraphs  the lines of a column -> paragraphs, list items, listings
pdf_tables      tables, with ruling lines and without
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.pdf_layout import LARGER, blocks
from websearch_gateway.pages.formats.pdf_lines import has_letters, lines
from websearch_gateway.pages.formats.pdf_page import Sheet, Word, links, sheet, with_form_values
from websearch_gateway.pages.formats.pdf_paragraphs import Block
from websearch_gateway.pages.formats.pdf_text import texts_of, without_marks
from websearch_gateway.pages.formats.rendering import MAX_MARKDOWN, Builder, Cell, markdown_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Until:
    """When to stop a step, in seconds since the start of the job: of processor time, or else of the clock."""

    cpu: float
    clock: float


READING, LAYOUT, WRITING = Until(3.0, 6.0), Until(5.0, 8.0), Until(7.0, 9.0)
"""After these no further page is read, laid out, written. A job may take ten seconds; processor time decides, so that a
busy machine does not shorten a document, and the clock only where the job would be killed without any page."""
MOST_PAGES = 1_000
ONLY_FIRST = "The PDF has {:,} pages; only the first {:,} were read."

_NO_TITLES = ("", "untitled", "(anonymous)")
_PASSWORD = 4  # FPDF_ERR_PASSWORD

Outline = dict[tuple[int, str], int]


def pdf(body: bytes, url: str, charset: str) -> Extracted:
    """A PDF as Markdown, with a line `*Page N*` before the text of each page. `charset` is not used.

    Raises:
        SearchFetchError: the PDF is damaged, encrypted, or has no text (`details["reason"]`).
    """
    clock = _Clock()
    document = _read(body, clock)
    if not any(page.words or page.turned for page in document.sheets):
        reason = "scanned" if document.count else "empty"
        message = "The PDF has no text; its pages are scans."
        raise SearchFetchError(message, details={"reason": reason})
    pages = list(clock.items(map(blocks, _without_margins(document.sheets)), LAYOUT))
    levels = _levels(pages, document.outline)
    anchors: list[tuple[int, str]] = []
    texts: list[str] = []
    offset = last = 0
    for last, text in clock.items(_written(pages, document.outline, levels), WRITING):
        anchors.append((offset, f"page={last}"))
        texts.append(text)
        offset += len(text) + 2
    title = _title(document.title, pages[0], levels)
    if not title:
        title = unquote(urlsplit(url).path.rpartition("/")[2])
    written = last if any(pages[last:]) else len(pages)  # pages without text need no writing
    warnings = (ONLY_FIRST.format(document.count, written),) if written < document.count else ()
    return Extracted(title, "\n\n".join(texts), None, warnings, tuple(anchors))


@dataclass(frozen=True, slots=True)
class _Document:
    """What PDFium reads of a document: the number of its pages, and those for which there was time."""

    count: int
    sheets: list[Sheet]
    outline: Outline
    title: str


def _read(body: bytes, clock: _Clock) -> _Document:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(body)
        return _Document(
            count=len(document),
            sheets=list(clock.items(_sheets(document), READING)),
            outline=_outline(document),
            title=_line(document.get_metadata_value("Title")),
        )
    except pypdfium2.PdfiumError as error:
        is_locked = getattr(error, "err_code", None) == _PASSWORD
        reason = "encrypted" if is_locked else "damaged"
        message = f"The PDF is {'locked with a password' if is_locked else reason}."
        raise SearchFetchError(message, details={"reason": reason}) from None


class _Clock:
    """The time since the start of a job."""

    def __init__(self) -> None:
        self._cpu, self._clock = time.thread_time(), time.monotonic()

    def items(self, items: Iterable[T], until: Until) -> Iterator[T]:
        """The items for which there is time, at least one."""
        for item in items:
            yield item
            is_spent = time.thread_time() - self._cpu > until.cpu
            if is_spent or time.monotonic() - self._clock > until.clock:
                return


def _title(stated: str, page: Sequence[Block], levels: dict[float, int]) -> str:
    """The title that the document states, or the first of the largest headings of its first page."""
    if stated.casefold() in _NO_TITLES:
        stated = ""
    for block in page:
        if levels.get(_size(block)) == 1 and _may_be_heading(block):
            return stated if _is_title(stated, page) else _line(block.text)
    return stated


def _is_title(title: str, page: Sequence[Block]) -> bool:
    """Whether a stated title is one: a single word that the first page does not have is the name of a file."""
    if not title or " " in title:
        return bool(title)
    return any(title.casefold() in block.text.casefold() for block in page)


def _sheets(document: Any) -> Iterator[Sheet]:
    """The pages, until there is enough text."""
    has_form = bool(document.get_formtype())
    length = 0
    for number in range(min(len(document), MOST_PAGES)):
        page = document[number]
        linked = links(page)
        if has_form and with_form_values(page):
            page.close()
            page = document[number]
        words_and_lines = sheet(page, linked)
        page.close()
        yield words_and_lines
        length += sum(len(word.text) + 1 for word in words_and_lines.words)
        if length > MAX_MARKDOWN:
            return


_DEEPEST_HEADING = 6
_MOST_HEADINGS = 10_000


def _outline(document: Any) -> Outline:
    """The level of each heading, by page number and bare title."""
    headings: Outline = {}
    for bookmark in islice(document.get_toc(max_depth=_DEEPEST_HEADING), _MOST_HEADINGS):
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        if index is not None:
            level = min(bookmark.level + 2, _DEEPEST_HEADING)
            headings[index + 1, _bare(bookmark.get_title())] = level
    return headings


MARGIN = 0.095
"""The part of a page's height, above and below, in which headers and footers stand."""
MOST_MARGIN_LINES = 3
MOST_PAGE_NUMBERS = 2
"""The numbers of a line without letters that counts pages, such as `3 / 10`."""
OFTEN = 3
"""A header or footer is on at least so many pages, or on both of two: chapters have their own."""
_NUMBER = re.compile(r"\d+|^\W*[ivxlcdm]+\W*$")
_SAME_HEIGHT = 4
"""A header or footer moves less than this between two pages, in points."""


def _without_margins(sheets: Sequence[Sheet]) -> Iterator[Sheet]:
    """The pages without the headers, footers and page numbers that many of them repeat."""
    margins = [_margin_lines(page) for page in sheets]
    pages_with: Counter[_Margin] = Counter()
    for margin in margins:
        pages_with.update(margin.keys())
    with_words = sum(1 for page in sheets if page.words)
    least = min(OFTEN, max(2, with_words))
    for page, margin in zip(sheets, margins, strict=True):
        repeated: set[Word] = set()
        for mark, line in margin.items():
            if pages_with[mark] >= least:
                repeated.update(line)
        if repeated:
            page = page._replace(words=[word for word in page.words if word not in repeated])
        yield page


class _Margin(NamedTuple):
    """What a header or footer has in common on all pages: its text without numbers, and its height."""

    text: str
    height: int


def _margin_lines(page: Sheet) -> dict[_Margin, list[Word]]:
    """The outermost lines in the upper and lower margin."""
    upper = [word for word in page.words if word.y > (1 - MARGIN) * page.height]
    lower = [word for word in page.words if word.y < MARGIN * page.height]
    outermost = [*list(lines(upper))[:MOST_MARGIN_LINES], *list(lines(lower))[-MOST_MARGIN_LINES:]]
    margin: dict[_Margin, list[Word]] = {}
    for line in outermost:
        text = " ".join(word.text for word in line)
        # Many numbers are a row of a table.
        if has_letters(text) or len(_NUMBER.findall(text)) <= MOST_PAGE_NUMBERS:
            text = _NUMBER.sub("#", text)
        margin[_Margin(text, round(line[0].y / _SAME_HEIGHT))] = line
    return margin


def _written(
    pages: Sequence[Sequence[Block]], outline: Outline, levels: dict[float, int]
) -> Iterator[tuple[int, str]]:
    """The number and Markdown of each page with text."""
    for number, page in enumerate(pages, 1):
        builder = Builder()
        for block in page:
            level = outline.get((number, _bare(block.text))) if outline else None
            if level is None and _may_be_heading(block):
                level = levels.get(_size(block))
            _write(block, level, builder)
        if text := markdown_of(builder, bullet="-"):
            yield number, f"*Page {number}*\n\n{text}"


def _write(block: Block, level: int | None, builder: Builder) -> None:
    """Add a block to the tree, as a heading of this level if there is one."""
    if block.rows:
        builder.table(([Cell(cell) for cell in row] for row in block.rows), _fill_cell)
    elif level:
        number = f"{block.number}. " if block.number else ""
        builder.texts(builder.block(f"h{level}"), texts_of(number + " ".join(block.text.split())))
    elif block.is_listing:
        for line in block.text.split("\n"):
            builder.text(builder.block("pre"), line)
    elif block.depth:
        item = builder.item(block.depth - 1, is_ordered=bool(block.number))
        if block.number:
            item.set("value", block.number)
        builder.texts(item, texts_of(block.text))
    elif block.text:
        builder.texts(builder.block("p"), texts_of(block.text))


def _fill_cell(cell: str, builder: Builder) -> None:
    if cell.isascii():  # without marks, as most numbers
        builder.text(builder.root, cell)
    else:
        builder.texts(builder.root, texts_of(cell))


def _levels(pages: Sequence[Sequence[Block]], outline: Outline) -> dict[float, int]:
    """The heading level of each font size that is larger than that of most text, and of the outline's headings."""
    letters: Counter[float] = Counter()
    for page in pages:
        for block in page:
            letters[_size(block)] += len(block.text)
    del letters[0.0]
    if not letters:
        return {}
    [(usual, _)] = letters.most_common(1)
    least = max(usual * LARGER, _size_above(outline, pages))
    larger = sorted((size for size in letters if size >= least), reverse=True)
    return {size: min(level, _DEEPEST_HEADING) for level, size in enumerate(larger, 1)}


def _size_above(outline: Outline, pages: Sequence[Sequence[Block]]) -> float:
    """The least size that no heading of the outline has: those and smaller ones need no guess. 0 without an outline."""
    largest = 0.0
    if not outline:
        return largest
    for number, page in enumerate(pages, 1):
        for block in page:
            if (number, _bare(block.text)) in outline:
                largest = max(largest, _size(block) + _SIZE_STEP)
    return largest


_SIZE_STEP = 0.5
"""Sizes of fonts are rounded to this, in points."""


def _size(block: Block) -> float:
    return round(block.size / _SIZE_STEP) * _SIZE_STEP


LONGEST_HEADING = 200


def _may_be_heading(block: Block) -> bool:
    is_text = not block.depth and not block.rows and not block.is_listing
    return is_text and len(block.text) <= LONGEST_HEADING and has_letters(block.text)


_NUMBERING = re.compile(r"^(?:[\dIVX]++\.?)++\s+")


def _bare(line: str) -> str:
    """A heading without its number."""
    return _NUMBERING.sub("", _line(line), count=1).casefold()


def _line(text: str) -> str:
    return " ".join(without_marks(text).replace("\0", "").split())
