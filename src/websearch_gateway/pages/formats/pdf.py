"""A PDF as a tree for each page: headings by the outline or their size, without repeated headers. Pure and linear.

`pdf_page` reads the words of a page, `pdf_layout` finds its blocks with the tables of `pdf_tables`.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.pdf_layout import LARGER, Block, blocks, lines
from websearch_gateway.pages.formats.pdf_page import Sheet, Word, links, sheet, with_form_values
from websearch_gateway.pages.formats.pdf_text import texts_of, without_marks
from websearch_gateway.pages.formats.rendering import MAX_MARKDOWN, Builder, markdown_of

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

LONGEST_HEADING = 200
MARGIN = 0.095
"""The part of a page's height, above and below, in which headers and footers stand."""
MOST_MARGIN_LINES = 3
MOST_PAGE_NUMBERS = 2
"""The numbers of a line without letters that counts pages, such as `3 / 10`."""
OFTEN = 3
"""A header or footer is on at least so many pages, or on both of two: chapters have their own."""

_NUMBERING = re.compile(r"^(?:[\dIVX]++\.?)++\s+")
_NUMBER = re.compile(r"\d+|^\W*[ivxlcdm]+\W*$")
_NO_TITLES = ("", "untitled", "(anonymous)")
_DEEPEST_HEADING = 6
_MOST_HEADINGS = 10_000
_PASSWORD = 4  # FPDF_ERR_PASSWORD

Outline = dict[tuple[int, str], int]


def pdf(body: bytes, url: str, charset: str) -> Extracted:
    """A PDF as Markdown, with a line `*Page N*` before the text of each page. `charset` is not used.

    Raises:
        SearchFetchError: the PDF is damaged, encrypted, or has no text (`details["reason"]`).
    """
    import pypdfium2

    clock = _Clock()
    try:
        document = pypdfium2.PdfDocument(body)
        count = len(document)
        outline = _outline(document)
        sheets = list(clock.items(_read(document), READING))
        stated_title = _line(document.get_metadata_value("Title"))
    except pypdfium2.PdfiumError as error:
        is_locked = getattr(error, "err_code", None) == _PASSWORD
        reason = "encrypted" if is_locked else "damaged"
        message = f"The PDF is {'locked with a password' if is_locked else reason}."
        raise SearchFetchError(message, details={"reason": reason}) from None
    if not any(page.words or page.turned for page in sheets):
        message = "The PDF has no text; its pages are scans."
        raise SearchFetchError(message, details={"reason": "scanned" if count else "empty"})
    pages = list(clock.items(map(blocks, _without_margins(sheets)), LAYOUT))
    levels = _levels(pages, outline)
    anchors: list[tuple[int, str]] = []
    texts: list[str] = []
    at = last = 0
    for last, text in clock.items(_written(pages, outline, levels), WRITING):
        anchors.append((at, f"page={last}"))
        texts.append(text)
        at += len(text) + 2
    name = _title(stated_title, pages[0], levels) or unquote(urlsplit(url).path.rpartition("/")[2])
    written = last if any(pages[last:]) else len(pages)  # pages without text need no writing
    warnings = (ONLY_FIRST.format(count, written),) if written < count else ()
    return Extracted(name, "\n\n".join(texts), None, warnings, tuple(anchors))


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


def _read(document: Any) -> Iterator[Sheet]:
    """The pages, until there is enough text."""
    has_form = bool(document.get_formtype())
    length = 0
    for number in range(min(len(document), MOST_PAGES)):
        page = document[number]
        linked = links(page)
        if has_form and with_form_values(page):
            page.close()
            page = document[number]
        read = sheet(page, linked)
        page.close()
        yield read
        length += sum(len(word.text) + 1 for word in read.words)
        if length > MAX_MARKDOWN:
            return


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


def _without_margins(sheets: Sequence[Sheet]) -> Iterator[Sheet]:
    """The pages without the headers, footers and page numbers that many of them repeat."""
    margins = [_margin_lines(page) for page in sheets]
    often = Counter(mark for margin in margins for mark in margin)
    least = min(OFTEN, max(2, sum(1 for page in sheets if page.words)))
    for page, margin in zip(sheets, margins, strict=True):
        repeated: set[Word] = set()
        for mark, line in margin.items():
            if often[mark] >= least:
                repeated.update(line)
        if repeated:
            page = page._replace(words=[word for word in page.words if word not in repeated])
        yield page


def _margin_lines(page: Sheet) -> dict[tuple[str, int], list[Word]]:
    """The outermost lines in the upper and lower margin, by their text without numbers, and their place."""
    marks: dict[tuple[str, int], list[Word]] = {}
    upper = [word for word in page.words if word.y > (1 - MARGIN) * page.height]
    lower = [word for word in page.words if word.y < MARGIN * page.height]
    for line in (*list(lines(upper))[:MOST_MARGIN_LINES], *list(lines(lower))[-MOST_MARGIN_LINES:]):
        text = " ".join(word.text for word in line)
        # Many numbers are a row of a table.
        is_named = _has_letters(text) or len(_NUMBER.findall(text)) <= MOST_PAGE_NUMBERS
        marks[_NUMBER.sub("#", text) if is_named else text, round(line[0].y / 4)] = line
    return marks


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
        builder.table(([(cell, 1, "") for cell in row] for row in block.rows), _fill_cell)
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
    least = letters.most_common(1)[0][0] * LARGER
    for number, page in enumerate(pages, 1) if outline else ():
        for block in page:
            if (number, _bare(block.text)) in outline:
                least = max(least, _size(block) + 0.5)  # a size below needs no guess
    larger = sorted((size for size in letters if size >= least), reverse=True)
    return {size: min(level, _DEEPEST_HEADING) for level, size in enumerate(larger, 1)}


def _size(block: Block) -> float:
    return round(block.size * 2) / 2


def _may_be_heading(block: Block) -> bool:
    is_text = not block.depth and not block.rows and not block.is_listing
    return is_text and len(block.text) <= LONGEST_HEADING and _has_letters(block.text)


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


def _bare(line: str) -> str:
    """A heading without its number."""
    return _NUMBERING.sub("", _line(line), count=1).casefold()


def _line(text: str) -> str:
    return " ".join(without_marks(text).replace("\0", "").split())
