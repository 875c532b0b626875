"""Workbooks as Markdown: each visible sheet is a table under its name, its cells as the program shows them.

XLSX, XLSB, XLS and ODS need the extra `documents`. The program that wrote them stored the values, also of formulas; no
formula or macro is run. For worker processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from io import BytesIO
from types import MappingProxyType
from typing import Any

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.package import Package, encrypted
from websearch_gateway.pages.formats.rendering import until_too_long
from websearch_gateway.pages.formats.sheet_looks import Looks, Place, column_of, looks_of
from websearch_gateway.pages.rendering import as_cell, row_line, rule_line

EXTRA = "Spreadsheets need the extra `documents`: pip install '.[documents]' in the folder of this project."
MOST_SHEETS = 500
MOST_COLUMNS = 1_000
HIDDEN_CELLS = "Hidden rows and columns of sheets were left out."
UNREAD = "Sheets that are too large to find their hidden cells were left out."
HIDDEN = "Hidden sheets were left out: {}."
MORE = "Only the first {:,} of {:,} sheets were read."
WIDE = "Columns after the first {:,} of a sheet were left out."
FAR = "Cells far away from the first ones were left out."


def workbook(
    body: bytes,
    package: Package | None = None,
    looks: Mapping[str, Looks] = MappingProxyType({}),
) -> Extracted:
    """The visible sheets of a workbook: each is a table under its name, with the range that it uses.

    Args:
        package: the parts of `body`, if it is an XLSX.
        looks: what the sheets of another format show, by their names.

    Raises:
        SearchFetchError: the extra is missing, or the workbook is locked or damaged.
    """
    calamine = _calamine()
    warnings: dict[str, None] = {}
    nearer = _without_far_cells(package) if package else None
    if nearer:
        body = nearer
        warnings[FAR] = None
    try:
        book = calamine.CalamineWorkbook.from_filelike(BytesIO(body))
    except calamine.PasswordError:
        raise encrypted() from None
    except calamine.CalamineError:
        raise SearchFetchError(
            "The spreadsheet is damaged.", details={"reason": "damaged"}
        ) from None
    if package:
        looks = looks_of(Package(body))
    is_shown = calamine.SheetVisibleEnum.Visible
    names = [sheet.name for sheet in book.sheets_metadata if sheet.visible == is_shown]
    if hidden := len(book.sheet_names) - len(names):
        warnings[HIDDEN.format(hidden)] = None
    if len(names) > MOST_SHEETS:
        warnings[MORE.format(MOST_SHEETS, len(names))] = None
    pieces = _sheets(book, names[:MOST_SHEETS], looks, warnings)
    text = "".join(until_too_long(pieces)).strip()
    return Extracted("", text, None, tuple(warnings))


def _calamine() -> Any:
    """The library that reads the values."""
    try:
        import python_calamine
    except ImportError:
        raise SearchFetchError(
            EXTRA, details={"reason": "unsupported", "extra": "documents"}
        ) from None
    return python_calamine


# --- sheets that span more than memory holds ---

MOST_CELLS, NEAR_ROWS = 10_000_000, 10_000
"""The most cells that a sheet may span, since the library keeps all of them; and the rows to read of a larger one."""
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,7})"')
_END_OF_CELL = re.compile(rb"[^>]*/>|.*?</c>", re.DOTALL)
_FURTHER_COLUMN = re.compile(rb'<c r="([A-Z]{2,3})\d')
_ROW_OF_NAME = re.compile(rb'r="[A-Z]{0,3}(\d{1,7})"')
_LETTERS = 26
"""The columns with names of one letter."""


def _without_far_cells(package: Package) -> bytes | None:
    """The workbook without the cells that make a sheet span more than MOST_CELLS; None if no sheet does, or if the
    sheets are too large to look at: the library reads large ones in pieces."""
    names = [name for name in package.names if _SHEET.fullmatch(name)]
    # `read` unpacks no more than the archive declares.
    if sum(package.names[name].file_size for name in names) > package.room:
        return None
    sheets = {name: package.read(name) for name in names}
    large = [name for name, sheet in sheets.items() if _spanned(sheet) > MOST_CELLS]
    if not large:
        return None
    return package.copy(sheets | {name: _nearer(sheets[name]) for name in large})


def _spanned(sheet: bytes) -> int:
    """How many cells lie between the first one of a sheet and its last row and column."""
    last = sheet.rfind(b"<row ")
    last_row = _ROW_OF_NAME.search(sheet, last) if last >= 0 else None
    if last_row is None:
        return 0
    columns = set(_FURTHER_COLUMN.findall(sheet))
    width = 1 + max(map(column_of, columns), default=_LETTERS - 1)
    return int(last_row[1]) * width


def _nearer(sheet: bytes) -> bytes:
    """A sheet without its far cells."""
    kept = bytearray()
    copied = 0
    for cell in _CELL.finditer(sheet):
        if column_of(cell[1]) < MOST_COLUMNS and int(cell[2]) <= NEAR_ROWS:
            continue
        # The end is sought up to the next cell only: the search for one that is missing costs no more than its piece.
        next_cell = sheet.find(b"<c ", cell.end())
        limit = len(sheet) if next_cell < 0 else next_cell
        end = _END_OF_CELL.match(sheet, cell.end(), limit)
        kept += sheet[copied : cell.start()]
        copied = end.end() if end else limit
    return bytes(kept) + sheet[copied:]


# --- a sheet ---


def _sheets(
    book: Any, names: Sequence[str], looks: Mapping[str, Looks], warnings: dict[str, None]
) -> Iterator[str]:
    """The pieces of the sheets. What is left out of them goes to `warnings`."""
    from python_calamine import CalamineError

    for name in names:
        try:
            sheet = book.get_sheet_by_name(name)
        except CalamineError:
            continue
        if sheet.width > MOST_COLUMNS:
            warnings[WIDE.format(MOST_COLUMNS)] = None
        look = looks.get(name, Looks())
        if look.is_unread:
            warnings[UNREAD] = None
            continue
        if look.hidden_rows or look.hidden_columns:
            warnings[HIDDEN_CELLS] = None
        if sheet.start is not None and sheet.end is not None:
            yield from _heading(name, sheet)
            yield from _table(sheet, look)


def _heading(name: str, sheet: Any) -> Iterator[str]:
    words = " ".join(name.split())
    yield f"\n\n## {words}\n\n*Cells {_name_of(*sheet.start)}:{_name_of(*sheet.end)}*\n\n"


def _name_of(row: int, column: int) -> str:
    """The name of a cell, such as `B3` for row 2 and column 1."""
    letters, column = "", column + 1
    while column:
        column, digit = divmod(column - 1, _LETTERS)
        letters = chr(ord("A") + digit) + letters
    return f"{letters}{row + 1}"


def _table(sheet: Any, looks: Looks) -> Iterator[str]:
    """The lines of a sheet: its first visible row, and the further ones that are not empty."""
    top, left = sheet.start
    width = min(sheet.width, MOST_COLUMNS)
    shown = [column for column in range(width) if left + column not in looks.hidden_columns]
    is_first = True
    for number, texts in enumerate(_rows(sheet, width, looks), top):
        if number in looks.hidden_rows:
            continue
        cells = [texts[column] for column in shown]
        if any(cells) or is_first:
            yield f"{row_line(cells)}\n"
        if is_first:
            yield f"{rule_line(len(cells))}\n"
            is_first = False


def _rows(sheet: Any, width: int, looks: Looks) -> Iterator[list[str]]:
    """The texts of each row, in which every place of a merged cell repeats its text."""
    top, left = sheet.start
    repeats = _repeats(looks.merged or sheet.merged_cell_ranges or [], top, left)
    texts: dict[Place, str] = {}
    # Not `iter_rows`: it begins with the first row of the sheet, however far away its values are.
    for row, values in enumerate(sheet.to_python(skip_empty_area=True), top):
        cells = [_shown(value, (row, left + at), looks) for at, value in enumerate(values[:width])]
        for repeat in repeats.get(row, ()):
            at = repeat.column - left
            if at >= width:
                continue
            if repeat.source != (row, repeat.column):
                cells[at] = cells[at] or texts.get(repeat.source, "")
            elif len(cells[at]) <= LONGEST_REPEATED:
                texts[repeat.source] = cells[at]
        yield cells


# --- merged cells ---

LONGEST_REPEATED = 100
"""The most characters of a merged cell that each of its places repeats."""
MOST_REPEATED = 10_000
"""The most places of a merged cell that repeat it; those of all cells of a sheet are ten times as many."""


@dataclass(frozen=True, slots=True)
class _Repeat:
    """A column in which a row repeats the text of a merged cell."""

    column: int
    source: Place


def _repeats(merged: Sequence[Any], top: int, left: int) -> dict[int, list[_Repeat]]:
    """The places of merged cells, by their rows. Cells that begin before the used range have no text."""
    repeats: dict[int, list[_Repeat]] = {}
    room = MOST_REPEATED * 10
    for source, (last_row, last_column) in merged:
        first_row, first_column = source
        places = (last_row - first_row + 1) * (last_column - first_column + 1)
        is_outside = first_row < top or first_column < left
        if places > MOST_REPEATED or places > room or is_outside:
            continue
        room -= places
        columns = [_Repeat(at, source) for at in range(first_column, last_column + 1)]
        for row in range(first_row, last_row + 1):
            repeats.setdefault(row, []).extend(columns)
    return repeats


# --- a cell ---


def _shown(value: Any, place: Place, looks: Looks) -> str:
    """A value as the program shows it in its cell."""
    text = _looked_up(value, place, looks)
    if not text:
        return ""
    if place in looks.struck:
        text = f"~~{text}~~"
    address = looks.links.get(place)
    return f"[{text}]({address})" if address else text


def _looked_up(value: Any, place: Place, looks: Looks) -> str:
    if place in looks.shown:
        return looks.shown[place]
    number_format = looks.formats.get(place)
    is_number = isinstance(value, float | int) and not isinstance(value, bool)
    if number_format and is_number:
        return number_format.written(value)
    return _unformatted(value) or looks.texts.get(place, "")


_WHOLE_BELOW, _SMALL_FROM = 1e16, 1e-9
"""Larger whole numbers and smaller fractions are written with their exponent."""


def _unformatted(value: Any) -> str:
    """A value as a spreadsheet shows it, without its format."""
    if isinstance(value, str):
        return as_cell(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return _plain_number(value)
    if isinstance(value, datetime):
        has_time = value.time() != time()
        return value.isoformat(sep=" ") if has_time else value.date().isoformat()
    return str(value) if isinstance(value, date | time | timedelta | int) else ""


def _plain_number(value: float) -> str:
    if value.is_integer() and abs(value) < _WHOLE_BELOW:
        return str(int(value))
    if _SMALL_FROM <= abs(value) < 1:
        return f"{Decimal(repr(value)):f}"
    return str(value)
