"""Spreadsheets of OpenDocument (ODS): what their cells show, which are merged or hidden, and repeats that fill memory.

The library that reads the values knows none of them. The format stores the text of each cell beside its value
(https://docs.oasis-open.org/office/OpenDocument/v1.3/, part 3, section 9.1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.package import Package, too_large
from websearch_gateway.pages.formats.rendering import Text
from websearch_gateway.pages.formats.sheet_looks import MOST_LOOKS, SAFE, Looks, rich_cell
from websearch_gateway.pages.formats.sheets import MOST_COLUMNS, workbook
from websearch_gateway.pages.rendering import as_cell

_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TEXT, _TABLE, _STYLE = (
    f"{{{_ODF}{name}:1.0}}" for name in ("office", "text", "table", "style")
)
_VALUE_TYPE, _LINE, _LINK = f"{_OFFICE}value-type", f"{_TEXT}p", f"{_TEXT}a"
_SPAN = f"{_TEXT}span"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_WEB = ("http://", "https://", "mailto:")
_AS_SHOWN = frozenset(("float", "percentage", "currency"))
"""The types of values that a cell shows in its own way; dates stay as they are stored, which is never ambiguous."""
_UNSEEN = frozenset(("collapse", "filter"))
_MOST_ROWS = 1 << 20
"""The most rows of a sheet in the programs that write this format."""
_MOST_SPANNED = 1_000
MOST_HIDDEN_ROWS = 100_000
"""A sheet with more hidden rows is left out: one element may stand for a million of them, and each is kept."""


def ods(package: Package, body: bytes) -> Extracted:
    """A spreadsheet as its program shows it. Needs the extra `documents`.

    Raises:
        SearchFetchError: a sheet is too large.
    """
    content = package.read("content.xml")
    once = without_repeats(content)
    if once is not None:
        body = package.copy({"content.xml": once})
        package = Package(body)
        content = once
    root = package.xml("content.xml")
    # Most documents have none, and each search costs a third of the time of reading a cell.
    has = _Has(
        spans=b"-spanned=" in content,
        links=b"<text:a" in content,
        marks=_marks(root) if b"text-position" in content or b"line-through" in content else {},
    )
    looks: dict[str, Looks] = {}
    for sheet in root.iter(f"{_TABLE}table") if root is not None else ():
        name = sheet.get(f"{_TABLE}name", "")
        looks.setdefault(name, _looks_of(sheet, has))
    page = workbook(body, looks=looks)
    return page if once is None else replace(page, warnings=(ONCE, *page.warnings))


@dataclass(frozen=True, slots=True)
class _Has:
    """What the cells of a document may have: spans, links, and `marks` by the names of styles."""

    spans: bool
    links: bool
    marks: dict[str, str]


def _marks(root: Any) -> dict[str, str]:
    """The styles of text that stands higher or lower or is struck, with the elements for them."""
    marks: dict[str, str] = {}
    for style in root.iter(f"{_STYLE}style"):
        properties = style.find(f"{_STYLE}text-properties")
        if properties is None:
            continue
        height = properties.get(f"{_STYLE}text-position", "").partition(" ")[0]
        name = style.get(f"{_STYLE}name", "")
        if properties.get(f"{_STYLE}text-line-through-style", "none") != "none":
            marks[name] = "del"
        elif height and not height.startswith("0"):
            marks[name] = "sub" if height.startswith(("sub", "-")) else "sup"
    return marks


def _looks_of(sheet: Any, has: _Has) -> Looks:
    looks = Looks()
    _note_hidden_columns(looks, sheet)
    row_number = looked_at = 0
    for row in sheet.iter(f"{_TABLE}table-row"):
        times = _count(row, "rows-repeated", _MOST_ROWS)
        cells = list(row.iterchildren(*_CELLS))
        if row.get(f"{_TABLE}visibility") not in _UNSEEN:
            if looked_at < MOST_LOOKS:
                _note_cells(looks, cells, row_number, has)
            looked_at += len(cells)
        elif any(map(len, cells)):  # an empty row is not written in any case
            if len(looks.hidden_rows) + times > MOST_HIDDEN_ROWS:
                looks.is_unread = True
                break
            looks.hidden_rows.update(range(row_number, row_number + times))
        row_number += times
    return looks


def _note_hidden_columns(looks: Looks, sheet: Any) -> None:
    at = 0
    for column in sheet.iter(f"{_TABLE}table-column"):
        end = min(at + _count(column, "columns-repeated", MOST_COLUMNS), MOST_COLUMNS)
        if column.get(f"{_TABLE}visibility") in _UNSEEN:
            looks.hidden_columns.update(range(at, end))
        at = end


def _note_cells(looks: Looks, cells: list[Any], row_number: int, has: _Has) -> None:
    column = 0
    for cell in cells:
        place = row_number, column
        if has.spans:
            across = _count(cell, "columns-spanned", _MOST_SPANNED)
            down = _count(cell, "rows-spanned", _MOST_SPANNED)
            if across * down > 1:
                looks.merged.append((place, (row_number + down - 1, column + across - 1)))
        if cell.get(_VALUE_TYPE) in _AS_SHOWN and (text := _shown(cell)):
            looks.shown[place] = text
        if has.marks:
            _note_marks(looks, cell, place, has.marks)
        if has.links and (address := _address(cell)):
            looks.links[place] = address
        column += _count(cell, "columns-repeated", _MOST_ROWS)


def _note_marks(looks: Looks, cell: Any, place: tuple[int, int], marks: dict[str, str]) -> None:
    """Note that a text is struck, or that parts of it are raised, lowered or struck."""
    if marks.get(cell.get(f"{_TABLE}style-name", "")) == "del":
        looks.struck.add(place)
    spans = [span for line in cell.iterchildren(_LINE) for span in line.iterchildren(_SPAN)]
    if any(span.get(f"{_TEXT}style-name") in marks for span in spans):
        looks.shown[place] = rich_cell(_texts(cell, marks))


def _texts(cell: Any, marks: dict[str, str]) -> Iterator[Text]:
    for number, line in enumerate(cell.iterchildren(_LINE)):
        yield f"{' ' if number else ''}{line.text or ''}", ()
        for part in line:
            mark = marks.get(part.get(f"{_TEXT}style-name", ""))
            yield "".join(part.itertext()), (mark,) if mark else ()
            yield part.tail or "", ()


def _shown(cell: Any) -> str:
    """The text of a cell on one line."""
    if len(cell) == 1 and cell[0].tag == _LINE and not len(cell[0]):  # most cells
        text = cell[0].text or ""
    else:
        text = " ".join("".join(line.itertext()) for line in cell.iterchildren(_LINE))
    return as_cell(text)


def _address(cell: Any) -> str:
    """Where the link leads that a cell consists of; "" if it has none."""
    for line in cell.iterchildren(_LINE):
        link = line.find(_LINK)
        if link is not None and not line.text and not link.tail:
            address = link.get(_XLINK, "")
            return quote(address, safe=SAFE) if address.startswith(_WEB) else ""
    return ""


def _count(element: Any, name: str, most: int) -> int:
    """A number of repeats or spanned places from an attribute, 1 without it."""
    digits = element.get(f"{_TABLE}number-{name}")
    if digits is None or not (digits.isascii() and digits.isdecimal()):
        return 1
    return min(int(digits[:10]), most) or 1


MOST_SHEET_CELLS, MOST_BOOK_CELLS = 4_000_000, 10_000_000
"""The most cells that a sheet of OpenDocument, and all of them, may span: the library keeps several copies of all."""
ONCE = "Repeated cells were read once, since there are very many."
_REPEATS = re.compile(rb"""(table:number-(?:rows|columns)-repeated\s*=\s*)["'](\d{1,18})\d*["']""")
_VALUE = re.compile(rb"office:|table:formula")


def without_repeats(content: bytes) -> bytes | None:
    """The content of an OpenDocument spreadsheet with each repeated cell once; None if its sheets are not too large.

    Raises:
        SearchFetchError: they are too large nevertheless.
    """
    if not _is_too_large(content):
        return None
    content = _REPEATS.sub(rb'\1"1"', content)
    if _is_too_large(content):
        raise too_large()
    return content


def _is_too_large(content: bytes) -> bool:
    """Whether the sheets span too many cells. Those that are empty at the end of a row or sheet do not count."""
    spans = []
    for table in content.split(b"<table:table "):
        rows = width = empty = 0
        for row in table.split(b"<table:table-row")[1:]:
            start, _, cells = row.partition(b">")
            cells = cells.partition(b"</table:table-row>")[0]
            times = _REPEATS.search(start)
            empty += int(times[2]) if times else 1
            last = cells.rfind(b"<table:")
            if last >= 0 and not _VALUE.search(cells, last):
                cells = cells[:last]
            if _VALUE.search(cells):
                rows, empty = rows + empty, 0
                repeated = sum(int(number) for _, number in _REPEATS.findall(cells))
                width = max(width, cells.count(b"<table:") + repeated)
        spans.append(rows * width)
    return max(spans) > MOST_SHEET_CELLS or sum(spans) > MOST_BOOK_CELLS
