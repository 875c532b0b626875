"""A PDF as Markdown: numbered pages, headings by the outline or their size, tables; without repeated headers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any
from urllib.parse import unquote, urlsplit

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.readers.cleaning import MAX_MARKDOWN
from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.formats.pdf_layout import Block, blocks, lines
from websearch_gateway.readers.formats.pdf_words import Sheet, Word, sheet

MOST_PAGES = 1_000
ONLY_FIRST = "The PDF has {:,} pages; only the first {:,} were read."

LARGER = 1.12
"""A font this many times larger than that of the text makes a heading."""
LONGEST_HEADING = 200
MARGIN = 0.095
"""The part of a page's height, above and below, in which headers and footers stand."""
MOST_MARGIN_LINES = 3
OFTEN = 3
"""A header or footer is on at least so many pages, or on both of two: chapters have their own."""

_NUMBERING = re.compile(r"^(?:[\dIVX]++\.?)++\s+")
_NUMBER = re.compile(r"\d+|^\W*[ivxlcdm]+\W*$")
_BLOCK_START = re.compile(r"^(?=#{1,6} |>|\||={3,}$|-{3,}$|~{3,}|`{3,})", re.MULTILINE)
_NO_TITLES = ("", "untitled", "(anonymous)")
_DEEPEST = 6
_MOST_HEADINGS = 10_000
_PASSWORD = 4  # FPDF_ERR_PASSWORD

Outline = dict[int, list[tuple[int, str]]]


def pdf(body: bytes, url: str, charset: str) -> Extracted:
    """A PDF as Markdown, with a line `*Page N*` before the text of each page. `charset` is not used.

    Raises:
        SearchFetchError: the PDF is damaged, encrypted, or has no text (`details["reason"]`).
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(body)
        count = len(document)
        outline = _outline(document)
        sheets = list(_read(document))
        title = document.get_metadata_value("Title")
    except pypdfium2.PdfiumError as error:
        raise _unreadable(error) from None
    if not any(one.words or one.turned for one in sheets):
        message = "The PDF has no text; its pages are scans."
        raise SearchFetchError(message, details={"reason": "scanned" if count else "empty"})
    shown = [blocks(one) for one in _without_margins(sheets)]
    levels = _levels(shown, outline)
    written = list(_written(shown, outline, levels))
    anchors, texts, at = [], [], 0
    for number, text in written:
        anchors.append((at, f"page={number}"))
        texts.append(text)
        at += len(text) + 2
    name = _line(title) if _line(title).casefold() not in _NO_TITLES else ""
    name = name or next(_largest(shown[0], levels), "") or unquote(urlsplit(url).path.rpartition("/")[2])
    warnings = (ONLY_FIRST.format(count, len(sheets)),) if len(sheets) < count else ()
    return Extracted(name, "\n\n".join(texts), None, warnings, tuple(anchors))


def _unreadable(error: Exception) -> SearchFetchError:
    if getattr(error, "err_code", None) == _PASSWORD:
        return SearchFetchError("The PDF is locked with a password.", details={"reason": "encrypted"})
    return SearchFetchError("The PDF is damaged.")


def _read(document: Any) -> Iterator[Sheet]:
    """The pages, until there is enough text."""
    length = 0
    for page in islice(document, MOST_PAGES):
        read = sheet(page)
        page.close()
        yield read
        length += sum(len(word.text) + 1 for word in read.words)
        if length > MAX_MARKDOWN:
            return


def _outline(document: Any) -> Outline:
    """Level and title of each heading, by page number."""
    headings: Outline = {}
    for bookmark in islice(document.get_toc(max_depth=_DEEPEST), _MOST_HEADINGS):
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        if index is not None and (title := _line(bookmark.get_title())):
            headings.setdefault(index + 1, []).append((min(bookmark.level + 2, _DEEPEST), title))
    return headings


def _without_margins(sheets: Sequence[Sheet]) -> Iterator[Sheet]:
    """The pages without the headers, footers and page numbers that many of them repeat."""
    margins = [_margin_lines(one) for one in sheets]
    often = Counter(mark for margin in margins for mark in margin)
    least = min(OFTEN, max(2, sum(1 for one in sheets if one.words)))
    for one, margin in zip(sheets, margins, strict=True):
        repeated = {word for mark, line in margin.items() if often[mark] >= least for word in line}
        yield one._replace(words=[word for word in one.words if word not in repeated]) if repeated else one


def _margin_lines(page: Sheet) -> dict[tuple[str, int], list[Word]]:
    """The outermost lines in the upper and lower margin, by their text without numbers, and their place."""
    marks: dict[tuple[str, int], list[Word]] = {}
    upper = [word for word in page.words if word.y > (1 - MARGIN) * page.height]
    lower = [word for word in page.words if word.y < MARGIN * page.height]
    for line in (*list(lines(upper))[:MOST_MARGIN_LINES], *list(lines(lower))[-MOST_MARGIN_LINES:]):
        text = " ".join(word.text for word in sorted(line))
        marks[_NUMBER.sub("#", text), round(line[0].y / 4)] = line
    return marks


def _written(pages: Sequence[Sequence[Block]], outline: Outline, levels: dict[float, int]) -> Iterator[tuple[int, str]]:
    """The number and Markdown of each page with text."""
    for number, page in enumerate(pages, 1):
        found = list(_apart(page, outline.get(number, ())))
        named = _places(found, outline.get(number, ()))
        parts = [f"{'#' * level} {title}" for level, title in named.pop(-1, ())]
        after_item = False
        for place, one in enumerate(found):
            text = _block(one, levels) if place not in named else _headings(named[place])
            if one.depth and after_item:
                parts[-1] += f"\n{text}"
            elif text:
                parts.append(text)
            after_item = bool(one.depth)
        if parts:
            yield number, "\n\n".join((f"*Page {number}*", *parts))


def _apart(page: Sequence[Block], headings: Sequence[tuple[int, str]]) -> Iterator[Block]:
    """The blocks of a page, in which each line that is a heading of the outline is a block of its own."""
    titles = {_bare(title) for _, title in headings}
    for one in page:
        lines: list[str] = []
        for line in one.text.split("\n") if titles else [one.text]:
            if _bare(line) in titles:
                if lines:
                    yield one._replace(text="\n".join(lines))
                yield one._replace(text=line)
                lines = []
            else:
                lines.append(line)
        if lines:
            yield one._replace(text="\n".join(lines))


def _headings(headings: Sequence[tuple[int, str]]) -> str:
    return "\n\n".join(f"{'#' * level} {title}" for level, title in headings)


def _places(found: Sequence[Block], headings: Sequence[tuple[int, str]]) -> dict[int, list[tuple[int, str]]]:
    """The headings of the outline by the block that has their words; -1 for those that the page spells otherwise."""
    blocks_by_text = {_bare(one.text): place for place, one in reversed([*enumerate(found)])} if headings else {}
    named: dict[int, list[tuple[int, str]]] = {}
    for level, title in headings:
        named.setdefault(blocks_by_text.get(_bare(title), -1), []).append((level, title))
    return named


def _levels(pages: Sequence[Sequence[Block]], outline: Outline) -> dict[float, int]:
    """The heading level of each font size that is larger than that of most text, and of the outline's headings."""
    letters: Counter[float] = Counter()
    named = {number: {_bare(title) for _, title in headings} for number, headings in outline.items()}
    for one in (block for page in pages for block in page):
        letters[_size(one)] += len(one.text)
    del letters[0.0]
    if not letters:
        return {}
    least = letters.most_common(1)[0][0] * LARGER
    if named:
        found = [_size(one) for at, page in enumerate(pages, 1) for one in page if _bare(one.text) in named.get(at, ())]
        least = max([least, *(size + 0.5 for size in found)])
    larger = sorted((size for size in letters if size >= least), reverse=True)
    return {size: min(level, _DEEPEST) for level, size in enumerate(larger, 1)}


def _largest(page: Sequence[Block], levels: dict[float, int]) -> Iterator[str]:
    """The texts of the largest headings of a page."""
    return (_line(one.text) for one in page if levels.get(_size(one)) == 1 and len(one.text) <= LONGEST_HEADING)


def _size(block: Block) -> float:
    return round(block.size * 2) / 2


def _block(one: Block, levels: dict[float, int]) -> str:
    if one.rows:
        return _table(one.rows)
    text = one.text
    level = levels.get(_size(one))
    if level and not one.depth and len(text) <= LONGEST_HEADING and any(map(str.isalpha, text)):
        return f"{'#' * level} {_line(text)}"
    return f"{'  ' * (one.depth - 1)}{text}" if one.depth else _BLOCK_START.sub(r"\\", text)


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
    return "\n".join((lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]))


def _bare(line: str) -> str:
    """A heading without its number."""
    return _NUMBERING.sub("", _line(line), count=1).casefold()


def _line(text: str) -> str:
    return " ".join(text.replace("\0", "").split())
