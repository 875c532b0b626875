"""Workbooks as Markdown: each visible sheet is a table under its name, its cells as the program shows them.

XLSX, XLSB, XLS and ODS need the extra `documents`. The program that wrote them stored the values, also of formulas; no
formula or macro is run. For worker processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from io import BytesIO
from types import MappingProxyType
from typing import Any

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.package import Package, encrypted
from websearch_gateway.pages.formats.rendering import until_too_long
from websearch_gateway.pages.formats.sheet_looks import Looks, column_of, looks_of
from websearch_gateway.pages.rendering import as_cell, row_line, rule_line

EXTRA = "Spreadsheets need the extra `documents`: pip install '.[documents]' in the folder of this project."
MOST_SHEETS = 500
MOST_COLUMNS = 1_000
LONGEST_REPEATED = 100
"""The most characters of a merged cell that each of its places repeats."""
MOST_REPEATED = 10_000
"""The most places of a merged cell that repeat it."""
HIDDEN_CELLS = "Hidden rows and columns of sheets were left out."
UNREAD = "Sheets that are too large to find their hidden cells were left out."
HIDDEN = "Hidden sheets were left out: {}."
MORE = "Only the first {:,} of {:,} sheets were read."
WIDE = "Columns after the first {:,} of a sheet were left out."
FAR = "Cells far away from the first ones were left out."
MOST_CELLS, NEAR_ROWS = 10_000_000, 10_000
"""The most cells that a sheet may span, since the library keeps all of them; and the rows to read of a larger one."""
_CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,7})"')
_END_OF_CELL = re.compile(rb"[^>]*/>|.*?</c>", re.DOTALL)
_FURTHER_COLUMN = re.compile(rb'<c r="([A-Z]{2,3})\d')


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
    try:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetVisibleEnum
    except ImportError:
        raise SearchFetchError(
            EXTRA, details={"reason": "unsupported", "extra": "documents"}
        ) from None
    nearer = _without_far_cells(package) if package else None
    warnings: dict[str, None] = {FAR: None} if nearer else {}
    try:
        book = CalamineWorkbook.from_filelike(BytesIO(nearer or body))
    except PasswordError:
        raise encrypted() from None
    except CalamineError:
        raise SearchFetchError(
            "The spreadsheet is damaged.", details={"reason": "damaged"}
        ) from None
    if package:
        looks = looks_of(Package(nearer or body))
    shown = [one.name for one in book.sheets_metadata if one.visible == SheetVisibleEnum.Visible]
    if hidden := len(book.sheet_names) - len(shown):
        warnings[HIDDEN.format(hidden)] = None
    if len(shown) > MOST_SHEETS:
        warnings[MORE.format(MOST_SHEETS, len(shown))] = None

    def pieces() -> Iterator[str]:
        for name in shown[:MOST_SHEETS]:
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
            merged = look.merged or sheet.merged_cell_ranges or []
            yield from _written(name, sheet, merged, look)

    text = "".join(until_too_long(pieces())).strip()
    return Extracted("", text, None, tuple(warnings))


def _without_far_cells(package: Package) -> bytes | None:
    """The workbook without the cells that make a sheet span more than MOST_CELLS; None if no sheet does, or if the
    sheets are too large to look at: the library reads large ones in pieces."""
    names = [name for name in package.names if re.fullmatch(r"xl/worksheets/[^/]+\.xml", name)]
    # `read` unpacks no more than the archive declares.
    if sum(package.names[name].file_size for name in names) > package.left:
        return None
    sheets = {name: package.read(name) for name in names}
    cut = {}
    for name, sheet in sheets.items():
        last = re.search(rb'r="[A-Z]{0,3}(\d{1,7})"', sheet[sheet.rfind(b"<row ") :])
        width = 1 + max(map(column_of, set(_FURTHER_COLUMN.findall(sheet))), default=25)
        if last and int(last[1]) * width > MOST_CELLS:
            cut[name] = _nearer(sheet)
    if not cut:
        return None
    return package.copy(sheets | cut)


def _nearer(sheet: bytes) -> bytes:
    """A sheet without its far cells."""
    kept, at = bytearray(), 0
    for cell in _CELL.finditer(sheet):
        if column_of(cell[1]) < MOST_COLUMNS and int(cell[2]) <= NEAR_ROWS:
            continue
        # The end is sought up to the next cell only: the search for one that is missing costs no more than its piece.
        following = sheet.find(b"<c ", cell.end())
        limit = len(sheet) if following < 0 else following
        end = _END_OF_CELL.match(sheet, cell.end(), limit)
        kept += sheet[at : cell.start()]
        at = end.end() if end else limit
    return bytes(kept) + sheet[at:]


def _written(name: str, sheet: Any, merged: Sequence[Any], looks: Looks) -> Iterator[str]:
    """The heading, the range and the rows of a sheet; nothing of one without values."""
    if sheet.start is None or sheet.end is None:
        return
    (top, left), (bottom, right) = sheet.start, sheet.end
    words = " ".join(name.split())
    yield f"\n\n## {words}\n\n*Cells {_address(top, left)}:{_address(bottom, right)}*\n\n"
    repeated = _repeated(merged, top, left)
    texts: dict[tuple[int, int], str] = {}
    width = min(sheet.width, MOST_COLUMNS)
    shown = [column for column in range(width) if left + column not in looks.hidden_columns]
    is_first = True
    # Not `iter_rows`: it begins with the first row of the sheet, however far away its values are.
    for number, row in enumerate(sheet.to_python(skip_empty_area=True)):
        cells = [
            _shown(value, (top + number, left + column), looks)
            for column, value in enumerate(row[:width])
        ]
        for column, source in repeated.get(number, ()):
            if source == (number, column):
                texts[source] = (
                    cells[column]
                    if column < width and len(cells[column]) <= LONGEST_REPEATED
                    else ""
                )
            elif column < width:
                cells[column] = cells[column] or texts.get(source, "")
        if top + number in looks.hidden_rows:
            continue
        cells = [cells[column] for column in shown]
        if any(cells) or is_first:
            yield f"{row_line(cells)}\n"
        if is_first:
            yield f"{rule_line(len(cells))}\n"
            is_first = False


def _shown(value: Any, place: tuple[int, int], looks: Looks) -> str:
    """A value as the program shows it in its cell."""
    form = looks.formats.get(place)
    if place in looks.shown:
        text = looks.shown[place]
    elif form and isinstance(value, float | int) and not isinstance(value, bool):
        text = form.written(value)
    else:
        text = _text(value) or looks.texts.get(place, "")
    if text and place in looks.struck:
        text = f"~~{text}~~"
    address = looks.links.get(place, "")
    return f"[{text}]({address})" if address and text else text


def _repeated(
    merged: Sequence[Any], top: int, left: int
) -> dict[int, list[tuple[int, tuple[int, int]]]]:
    """By row, the columns of merged cells with the place of their text; both relative to the used range."""
    found: dict[int, list[tuple[int, tuple[int, int]]]] = {}
    room = MOST_REPEATED * 10
    for (first, start), (last, end) in merged:
        places = (last - first + 1) * (end - start + 1)
        if places > MOST_REPEATED or places > room or first < top or start < left:
            continue
        room -= places
        for row in range(first - top, last - top + 1):
            found.setdefault(row, []).extend(
                (column, (first - top, start - left))
                for column in range(start - left, end - left + 1)
            )
    return found


_WHOLE_BELOW, _SMALL_FROM = 1e15, 1e-9
"""Larger whole numbers and smaller fractions are written with their exponent."""


def _text(value: Any) -> str:
    """A value as a spreadsheet shows it, without its format."""
    if isinstance(value, str):
        return as_cell(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < _WHOLE_BELOW:
            return str(int(value))
        is_small = _SMALL_FROM <= abs(value) < 1
        return f"{Decimal(repr(value)):f}" if is_small else str(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ") if value.time() != time() else value.date().isoformat()
    return str(value) if isinstance(value, date | time | timedelta | int) else ""


def _address(row: int, column: int) -> str:
    """The name of a cell, such as `B3` for row 2 and column 1."""
    letters, column = "", column + 1
    while column:
        column, digit = divmod(column - 1, 26)
        letters = chr(65 + digit) + letters
    return f"{letters}{row + 1}"
