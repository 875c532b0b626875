"""Writes a table as its readers see it: each text in the column and row in which a browser shows it.

The grid follows https://html.spec.whatwg.org/#forming-a-table. The text of a cell that spans several places stands in
each of them, so that each row can be read by itself; a title between the rows stands once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from websearch_gateway.pages.rendering.escapes import as_paragraph, escaped

_PRESENTATION = frozenset(("presentation", "none"))
_MOST_CODE_LINES = 6
"""A listing of more lines does not fit into a cell."""
_BLOCKS = ("p", "pre", "h1", "h2", "h3", "h4", "article", "section", "blockquote")


def is_data(element: Any) -> bool:
    """Whether a table is data and not page layout: flat, no code, with headers or at least two short columns."""
    is_flat = next(element.iterdescendants("table"), None) is None
    if not is_flat or element.get("role") in _PRESENTATION:
        return False
    has_headers = next(element.iter("th"), None) is not None
    most_lines = _MOST_CODE_LINES if has_headers else 1
    for code in element.iter("pre"):
        lines = "".join(code.itertext()).strip().count("\n") + 1
        if lines > most_lines:
            return False
    if has_headers:
        return True
    rows = [_cells_of(row) for row in element.iter("tr")]
    if len(rows) == 1 and any(map(_is_empty, rows[0])):  # a note beside its picture
        return False
    cells = sum(map(len, rows))
    blocks = sum(1 for _ in element.iter(*_BLOCKS))
    widest = max(map(len, rows), default=0)
    return widest >= 2 and blocks <= cells


def _cells_of(row: Any) -> list[Any]:
    return list(row.iterchildren("td", "th"))


def _is_empty(cell: Any) -> bool:
    return not "".join(cell.itertext()).strip()


# Padding a table of one wide row and many short ones would square its size; above this limit its rows stay short, and
# its cells fill one place each.
_MOST_CELLS = 500_000
# Repeating the text of a large or long cell could make a page a thousand times larger.
LARGEST_CELL = 100
"""The most places that a cell spans."""
_REPEATED_CHARS = 100
MOST_FILLED = 100_000
"""The most places that repeat the text of another cell, in all tables of a tree."""

Write = Callable[[Any], str]
"""Writes the Markdown of a cell or a caption."""


@dataclass(slots=True)
class Room:
    """How many places may still repeat the text of another cell."""

    places: int = MOST_FILLED


def table(element: Any, write: Write, room: Room) -> str:
    """A table as a pipe table, after its caption."""
    rows = [row for row in _grid(element, write, room) if any(row)]
    if not rows:
        return ""
    rows = _without_empty_columns(rows)
    width = max(map(len, rows))
    may_pad = width * len(rows) <= _MOST_CELLS
    lines = []
    for row in rows:
        if may_pad:
            row = row + [""] * (width - len(row))
        lines.append(row_line(row))
    lines.insert(1, rule_line(width))
    written = "\n".join(lines)
    caption = next(element.iterchildren("caption"), None)
    title = write(caption) if caption is not None else ""
    return f"{title}\n\n{written}" if title else written


def row_line(cells: Iterable[str]) -> str:
    """A row of a pipe table, from the texts of its cells in which bars are escaped (`as_cell`)."""
    return f"| {' | '.join(cells)} |"


def rule_line(width: int) -> str:
    """The line under the first row of a table with so many columns."""
    return "|" + " --- |" * width


def as_cell(text: str) -> str:
    """A value as it is, on one line, as the text of a cell."""
    return " ".join(text.split()).replace("|", "\\|")


def _without_empty_columns(rows: list[list[str]]) -> list[list[str]]:
    """The rows without the columns that have no text, such as those that a style hides."""
    filled: set[int] = set()
    for row in rows:
        filled.update(column for column, text in enumerate(row) if text)
    if len(filled) == max(filled) + 1:
        return rows
    return [[text for column, text in enumerate(row) if column in filled] for row in rows]


_GROUPS = {"thead": -1, "tfoot": 1}
"""Where the rows of a group stand; those of all others are between, at 0."""


def _grid(element: Any, write: Write, room: Room) -> Iterator[list[str]]:
    """The texts of each row by column, from the top of the screen to its bottom."""
    rows = sorted(element.iter("tr"), key=lambda row: _GROUPS.get(row.getparent().tag, 0))
    lines = [_cells_of(row) for row in rows]
    if len(rows) * max(map(_width, lines), default=0) > _MOST_CELLS:
        for cells in lines:
            yield [_text(cell, write) for cell in cells]
        return
    grid = _Rows(write, room)
    group = None
    for row, cells in zip(rows, lines, strict=True):
        if (parent := row.getparent()) is not group:
            group = parent
            grid.begin_group()
        yield grid.row(cells, is_first=row is rows[0])


def _width(cells: Iterable[Any]) -> int:
    return sum(_span(cell).columns for cell in cells)


@dataclass(slots=True)
class _Spanning:
    """A cell of a row above that reaches down into so many more rows."""

    rows: int
    text: str


class _Rows:
    """Places the cells of one row after the other."""

    def __init__(self, write: Write, room: Room) -> None:
        self._write = write
        self._room = room
        self._spanning: dict[int, _Spanning] = {}
        """The cells of rows above that reach into the next row, by column."""

    def begin_group(self) -> None:
        """Leave a group of rows, out of which no cell reaches."""
        self._spanning.clear()

    def row(self, cells: list[Any], *, is_first: bool) -> list[str]:
        """The texts of a row by column; a title of the rows below it stands once."""
        is_title = len(cells) == 1 and not self._spanning and not is_first
        texts: list[str] = []
        for cell in cells:
            self._fill_from_above(texts)
            text = _text(cell, self._write)
            span = _span(cell)
            repeated = self._repeated(text, span)
            if is_title and span.rows == 1:
                repeated = ""
            if span.rows > 1:
                for column in range(len(texts), len(texts) + span.columns):
                    self._spanning[column] = _Spanning(span.rows - 1, repeated)
            texts.append(text)
            texts.extend([repeated] * (span.columns - 1))
        self._fill_from_above(texts)
        return texts

    def _repeated(self, text: str, span: _Span) -> str:
        """What the further places of a cell say: its text, or nothing if that would be too much."""
        added = span.columns * span.rows - 1
        if len(text) > _REPEATED_CHARS or added > self._room.places:
            return ""
        if text:
            self._room.places -= added
        return text

    def _fill_from_above(self, texts: list[str]) -> None:
        """Add what cells of the rows above hold in the next columns."""
        while self._spanning and (above := self._spanning.get(len(texts))) is not None:
            above.rows -= 1
            if not above.rows:
                del self._spanning[len(texts)]
            texts.append(above.text)


_LINE_OF_CELL = re.compile(r"\s*\n\s*")
_ITEM = re.compile(r"[-*+] ")
_ENDS = (".", ";", ",", ":", "!", "?")
_BARE_BAR = re.compile(r"(?<!\\)\|")


def _text(cell: Any, write: Write) -> str:
    """The text of a cell on one line."""
    if not len(cell):  # most cells are a few words, and a walk costs much more
        written = as_paragraph(escaped(cell.text or ""))
    else:
        for code in list(cell.iter("pre")):
            _as_code_spans(code)
        written = write(cell)
    text = _on_one_line(written).strip()
    return _BARE_BAR.sub(r"\|", text) if "|" in text else text


def _on_one_line(markdown: str) -> str:
    """The lines of a cell as one; the items of a list are apart by a semicolon."""
    first, *lines = _LINE_OF_CELL.split(markdown) if "\n" in markdown else (markdown,)
    text = _ITEM.sub("", first, count=1) if _ITEM.match(first) else first
    for line in lines:
        marker = _ITEM.match(line)
        if marker is None:
            text += f" {line}"
            continue
        is_open = bool(text) and not text.endswith(_ENDS)
        text += "; " if is_open else " "
        text += line[marker.end() :]
    return text


def _as_code_spans(pre: Any) -> None:
    """Write each line of a listing as inline code."""
    lines = [line for line in "".join(pre.itertext()).split("\n") if line.strip()]
    tail = pre.tail
    pre.clear()
    pre.tag, pre.tail = "div", tail
    for line in lines:
        code = pre.makeelement("code")
        code.text, code.tail = line, " "
        pre.append(code)


class _Span(NamedTuple):
    """How many columns and rows a cell spans."""

    columns: int
    rows: int


_ONE_PLACE = _Span(1, 1)
_COUNT = re.compile(r"\s*\+?([0-9]{1,9})(?![0-9])")


def _span(cell: Any) -> _Span:
    across, down = cell.get("colspan"), cell.get("rowspan")
    if across is None and down is None:  # most cells
        return _ONE_PLACE
    columns = min(max(_count(across), 1), LARGEST_CELL)
    most = LARGEST_CELL // columns
    rows = _count(down) or most  # rowspan 0 reaches to the end of its group
    return _Span(columns, min(rows, most))


def _count(value: str | None) -> int:
    number = _COUNT.match(value or "")
    return int(number[1]) if number else 1
