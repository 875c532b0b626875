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
from websearch_gateway.pages.formats.sheet_looks import (
    MOST_LOOKS,
    SAFE,
    WEB,
    Looks,
    Place,
    rich_cell,
)
from websearch_gateway.pages.formats.sheets import MOST_COLUMNS, workbook
from websearch_gateway.pages.rendering import as_cell

_OFFICE, _TEXT, _TABLE, _STYLE = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}"
    for name in ("office", "text", "table", "style")
)
ONCE = "Repeated cells were read once, since there are very many."


def ods(package: Package, body: bytes) -> Extracted:
    """A spreadsheet as its program shows it. Needs the extra `documents`.

    Raises:
        SearchFetchError: a sheet is too large.
    """
    content = package.read("content.xml")
    once = without_repeats(content)
    if once is not None:
        content = once
        body = package.copy({"content.xml": once})
        package = Package(body)
    root = package.xml("content.xml")
    looks: dict[str, Looks] = {}
    if root is not None:
        has = _contents(content, root)
        for sheet in root.iter(f"{_TABLE}table"):
            name = sheet.get(f"{_TABLE}name", "")
            looks.setdefault(name, _looks_of(sheet, has))
    page = workbook(body, looks=looks)
    return page if once is None else replace(page, warnings=(ONCE, *page.warnings))


# --- what a sheet shows ---


@dataclass(frozen=True, slots=True)
class _Contents:
    """What the cells of a document may have. Most documents have none of it, and each search costs a third of the time
    of reading a cell.

    Attributes:
        has_spans: whether cells are merged.
        marks: the elements for text that is raised, lowered or struck, by the names of its styles.
    """

    has_spans: bool
    has_links: bool
    marks: dict[str, str]


def _contents(content: bytes, root: Any) -> _Contents:
    has_marks = b"text-position" in content or b"line-through" in content
    return _Contents(
        has_spans=b"-spanned=" in content,
        has_links=b"<text:a" in content,
        marks=_marks(root) if has_marks else {},
    )


def _marks(root: Any) -> dict[str, str]:
    marks: dict[str, str] = {}
    for style in root.iter(f"{_STYLE}style"):
        properties = style.find(f"{_STYLE}text-properties")
        mark = "" if properties is None else _mark(properties)
        if mark:
            marks[style.get(f"{_STYLE}name", "")] = mark
    return marks


def _mark(properties: Any) -> str:
    """The element for text with these properties; "" if it stands like any other."""
    if properties.get(f"{_STYLE}text-line-through-style", "none") != "none":
        return "del"
    height = properties.get(f"{_STYLE}text-position", "").partition(" ")[0]
    if not height or height.startswith("0"):
        return ""
    return "sub" if height.startswith(("sub", "-")) else "sup"


def _looks_of(sheet: Any, has: _Contents) -> Looks:
    looks = Looks()
    _note_hidden_columns(looks, sheet)
    first_row = looked_at = 0
    for row in sheet.iter(f"{_TABLE}table-row"):
        times = _count(row, "rows-repeated", _MOST_ROWS)
        cells = list(row.iterchildren(*_CELLS))
        if row.get(f"{_TABLE}visibility") not in _UNSEEN:
            if looked_at < MOST_LOOKS:
                _note_cells(looks, cells, first_row, has)
            looked_at += len(cells)
        elif any(map(len, cells)):  # an empty row is not written in any case
            if len(looks.hidden_rows) + times > MOST_HIDDEN_ROWS:
                looks.is_unread = True
                break
            looks.hidden_rows.update(range(first_row, first_row + times))
        first_row += times
    return looks


# --- hidden rows and columns ---

_UNSEEN = frozenset(("collapse", "filter"))
_MOST_ROWS = 1 << 20
"""The most rows of a sheet in the programs that write this format."""
MOST_HIDDEN_ROWS = 100_000
"""A sheet with more hidden rows is left out: one element may stand for a million of them, and each is kept."""


def _note_hidden_columns(looks: Looks, sheet: Any) -> None:
    first = 0
    for column in sheet.iter(f"{_TABLE}table-column"):
        end = min(first + _count(column, "columns-repeated", MOST_COLUMNS), MOST_COLUMNS)
        if column.get(f"{_TABLE}visibility") in _UNSEEN:
            looks.hidden_columns.update(range(first, end))
        first = end


# --- cells ---

_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_LINE, _SPAN, _LINK = f"{_TEXT}p", f"{_TEXT}span", f"{_TEXT}a"
_VALUE_TYPE, _TEXT_STYLE = f"{_OFFICE}value-type", f"{_TEXT}style-name"
_AS_SHOWN = frozenset(("float", "percentage", "currency"))
"""The types of values that a cell shows in its own way; dates stay as they are stored, which is never ambiguous."""
_MOST_SPANNED = 1_000


def _note_cells(looks: Looks, cells: list[Any], row: int, has: _Contents) -> None:
    column = 0
    for cell in cells:
        place = row, column
        if has.has_spans:
            _note_span(looks, cell, place)
        if cell.get(_VALUE_TYPE) in _AS_SHOWN and (text := _shown(cell)):
            looks.shown[place] = text
        if has.marks:
            _note_marks(looks, cell, place, has.marks)
        if has.has_links and (address := _address(cell)):
            looks.links[place] = address
        column += _count(cell, "columns-repeated", _MOST_ROWS)


def _note_span(looks: Looks, cell: Any, place: Place) -> None:
    across = _count(cell, "columns-spanned", _MOST_SPANNED)
    down = _count(cell, "rows-spanned", _MOST_SPANNED)
    if across > 1 or down > 1:
        row, column = place
        looks.merged.append((place, (row + down - 1, column + across - 1)))


def _note_marks(looks: Looks, cell: Any, place: Place, marks: dict[str, str]) -> None:
    """Note that a text is struck, or that parts of it are raised, lowered or struck."""
    if marks.get(cell.get(f"{_TABLE}style-name", "")) == "del":
        looks.struck.add(place)
    for line in cell.iterchildren(_LINE):
        if any(span.get(_TEXT_STYLE) in marks for span in line.iterchildren(_SPAN)):
            looks.shown[place] = rich_cell(_texts(cell, marks))
            return


def _texts(cell: Any, marks: dict[str, str]) -> Iterator[Text]:
    """The texts of a cell with their marks, its lines beside each other."""
    for number, line in enumerate(cell.iterchildren(_LINE)):
        if number:
            yield " ", ()
        yield line.text or "", ()
        for part in line:
            mark = marks.get(part.get(_TEXT_STYLE, ""))
            yield "".join(part.itertext()), (mark,) if mark else ()
            yield part.tail or "", ()


def _shown(cell: Any) -> str:
    """The text of a cell on one line."""
    is_plain = len(cell) == 1 and cell[0].tag == _LINE and not len(cell[0])
    if is_plain:  # as most cells are
        return as_cell(cell[0].text or "")
    lines = ("".join(line.itertext()) for line in cell.iterchildren(_LINE))
    return as_cell(" ".join(lines))


def _address(cell: Any) -> str:
    """Where the link leads that a cell consists of; "" if it has none."""
    for line in cell.iterchildren(_LINE):
        link = line.find(_LINK)
        if link is not None and not line.text and not link.tail:
            address = link.get("{http://www.w3.org/1999/xlink}href", "")
            return quote(address, safe=SAFE) if address.startswith(WEB) else ""
    return ""


def _count(element: Any, name: str, most: int) -> int:
    """A number of repeats or spanned places from an attribute, 1 without it."""
    digits = element.get(f"{_TABLE}number-{name}")
    if digits is None or not (digits.isascii() and digits.isdecimal()):
        return 1
    return min(int(digits[:10]), most) or 1


# --- repeats that fill memory ---

MOST_SHEET_CELLS, MOST_BOOK_CELLS = 4_000_000, 10_000_000
"""The most cells that a sheet of OpenDocument, and all of them, may span: the library keeps several copies of all."""
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
    sizes = [_spanned(table) for table in content.split(b"<table:table ")]
    return max(sizes) > MOST_SHEET_CELLS or sum(sizes) > MOST_BOOK_CELLS


def _spanned(table: bytes) -> int:
    """How many cells a sheet spans. Those that are empty at the end of a row or sheet do not count."""
    rows = width = empty = 0
    for row in table.split(b"<table:table-row")[1:]:
        tag, _, cells = row.partition(b">")
        cells = cells.partition(b"</table:table-row>")[0]
        repeats = _REPEATS.search(tag)
        empty += int(repeats[2]) if repeats else 1
        last = cells.rfind(b"<table:")
        if last >= 0 and not _VALUE.search(cells, last):
            cells = cells[:last]
        if _VALUE.search(cells):
            rows, empty = rows + empty, 0
            repeated = sum(int(number) for _, number in _REPEATS.findall(cells))
            width = max(width, cells.count(b"<table:") + repeated)
    return rows * width
