"""Workbooks (XLSX, XLSB, XLS, ODS) as Markdown: each sheet is a table under its name, with the range that it uses.

The values are those that the program stored, also of formulas; no formula or macro is run. Needs the extra `documents`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from itertools import islice
from typing import Any

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.formats.package import encrypted
from websearch_gateway.readers.formats.rendering import until_too_long

EXTRA = 'Spreadsheets need the extra `documents`: pip install "websearch-gateway[documents]".'
MOST_SHEETS = 500
MOST_COLUMNS = 1_000
LONGEST_REPEATED = 100
"""The most characters of a merged cell that each of its places repeats."""
MOST_REPEATED = 10_000
"""The most places of a merged cell that repeat it."""
HIDDEN = "Hidden sheets were left out: {}."
MORE = "Only the first {:,} of {:,} sheets were read."
WIDE = "Columns after the first {:,} of a sheet were left out."


def workbook(body: bytes, merged: dict[str, list[Any]] | None = None) -> Extracted:
    """The visible sheets of a workbook.

    Args:
        merged: the merged cells of each sheet, for formats of which the library does not know them.

    Raises:
        SearchFetchError: the extra is missing, or the workbook is locked or damaged.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetVisibleEnum
    except ImportError:
        raise SearchFetchError(EXTRA, details={"reason": "unsupported", "extra": "documents"}) from None
    try:
        book = CalamineWorkbook.from_filelike(BytesIO(body))
    except PasswordError:
        raise encrypted() from None
    except CalamineError:
        raise SearchFetchError("The spreadsheet is damaged.", details={"reason": "damaged"}) from None
    shown = [one.name for one in book.sheets_metadata if one.visible == SheetVisibleEnum.Visible]
    warnings: dict[str, None] = {}
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
            yield from _written(name, sheet, (merged or {}).get(name) or sheet.merged_cell_ranges or [])

    text = "".join(until_too_long(pieces())).strip()
    return Extracted("", text, None, tuple(warnings))


def _written(name: str, sheet: Any, merged: Sequence[Any]) -> Iterator[str]:
    """The heading, the range and the rows of a sheet; nothing of one without values."""
    if sheet.start is None or sheet.end is None:
        return
    (top, left), (bottom, right) = sheet.start, sheet.end
    words = " ".join(name.split())
    yield f"\n\n## {words}\n\n*Cells {_address(top, left)}:{_address(bottom, right)}*\n\n"
    repeated = _repeated(merged, top, left)
    texts: dict[tuple[int, int], str] = {}
    width = min(sheet.width, MOST_COLUMNS)
    # Not `iter_rows`: it begins with the first row of the sheet, however far away its values are.
    for number, row in enumerate(sheet.to_python(skip_empty_area=True)):
        cells = [_text(value) for value in islice(row, width)]
        for column, source in repeated.get(number, ()):
            if source == (number, column):
                texts[source] = cells[column] if column < width and len(cells[column]) <= LONGEST_REPEATED else ""
            elif column < width:
                cells[column] = cells[column] or texts.get(source, "")
        if any(cells) or number == 0:
            yield f"| {' | '.join(cells)} |\n"
        if number == 0:
            yield "|" + " --- |" * len(cells) + "\n"


def _repeated(merged: Sequence[Any], top: int, left: int) -> dict[int, list[tuple[int, tuple[int, int]]]]:
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
                (column, (first - top, start - left)) for column in range(start - left, end - left + 1)
            )
    return found


def _text(value: Any) -> str:
    """A value as a spreadsheet shows it, without its format."""
    if isinstance(value, str):
        return " ".join(value.split()).replace("|", "\\|")
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else str(value)
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
