"""Writes a table as its readers see it: each text in the column and row in which a browser shows it.

The grid follows https://html.spec.whatwg.org/#forming-a-table. The text of a cell that spans several places stands in
each of them, so that each row can be read by itself; a title between the rows stands once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from websearch_gateway.pages.rendering.escapes import as_paragraph, escaped

_PRESENTATION = frozenset(("presentation", "none"))
_GROUPS = {"thead": 0, "tfoot": 2}
"""Where the rows of a group stand; those of all others are between."""
_MOST_CODE_LINES = 6
"""A listing of more lines does not fit into a cell."""

# Padding a table of one wide row and many short ones would square its size; above this limit its rows stay short, and
# its cells fill one place each.
_MOST_CELLS = 500_000
# Repeating the text of a large or long cell could make a page a thousand times larger.
LARGEST_CELL = 100
"""The most places that a cell spans."""
_REPEATED_CHARS = 100
MOST_FILLED = 100_000
"""The most places that repeat the text of another cell, in all tables of a tree."""


@dataclass(slots=True)
class Room:
    """How many places may still repeat the text of another cell."""

    left: int = MOST_FILLED


@dataclass(slots=True)
class _Spanning:
    """A cell of a row above that reaches down into this one."""

    rows: int
    text: str


def is_data(element: Any) -> bool:
    """Whether a table is data and not page layout: flat, no code, with headers or at least two short columns."""
    if element.get("role") in _PRESENTATION or any(
        inner is not element for inner in element.iter("table")
    ):
        return False
    has_headers = next(element.iter("th"), None) is not None
    for code in element.iter("pre"):
        lines = "".join(code.itertext()).strip().count("\n") + 1
        if lines > (_MOST_CODE_LINES if has_headers else 1):
            return False
    if has_headers:
        return True
    rows = [_cells_of(row) for row in element.iter("tr")]
    blocks = sum(
        1
        for _ in element.iter(
            "p", "pre", "h1", "h2", "h3", "h4", "article", "section", "blockquote"
        )
    )
    # A note beside its picture.
    if len(rows) == 1 and any(not "".join(cell.itertext()).strip() for cell in rows[0]):
        return False
    return max(map(len, rows), default=0) >= 2 and blocks <= sum(map(len, rows))


def table(element: Any, write: Callable[[Any], str], room: Room) -> str:
    """A table as a pipe table, after its caption.

    Args:
        write: the Markdown of a cell or a caption.
    """
    rows = [row for row in _grid(element, write, room) if any(row)]
    if not rows:
        return ""
    rows = _without_empty_columns(rows)
    width = max(map(len, rows))
    padded = width if width * len(rows) <= _MOST_CELLS else 0
    lines = [row_line(row + [""] * (padded - len(row))) for row in rows]
    lines.insert(1, rule_line(width))
    captions = (write(caption) for caption in islice(element.iterchildren("caption"), 1))
    return "\n\n".join((*filter(None, captions), "\n".join(lines)))


def _without_empty_columns(rows: list[list[str]]) -> list[list[str]]:
    """The rows without the columns that have no text, such as those that a style hides."""
    filled = {place for row in rows for place, text in enumerate(row) if text}
    last = max(filled)
    if len(filled) == last + 1:
        return rows
    return [[text for place, text in enumerate(row) if place in filled] for row in rows]


def row_line(cells: Iterable[str]) -> str:
    """A row of a pipe table, from the texts of its cells in which bars are escaped (`as_cell`)."""
    return f"| {' | '.join(cells)} |"


def rule_line(width: int) -> str:
    """The line under the first row of a table with so many columns."""
    return "|" + " --- |" * width


def as_cell(text: str) -> str:
    """A value as it is, on one line, as the text of a cell."""
    return " ".join(text.split()).replace("|", "\\|")


def _grid(element: Any, write: Callable[[Any], str], room: Room) -> Iterator[list[str]]:
    """The texts of each row by column, from the top of the screen to its bottom."""
    rows = sorted(element.iter("tr"), key=lambda row: _GROUPS.get(row.getparent().tag, 1))
    cells = [_cells_of(row) for row in rows]
    widest = max((sum(_spans(cell)[0] for cell in line) for line in cells), default=0)
    if len(rows) * widest > _MOST_CELLS:
        yield from ([_text(cell, write) for cell in line] for line in cells)
        return
    group, spanning = None, dict[int, _Spanning]()
    for row, line in zip(rows, cells, strict=True):
        if (parent := row.getparent()) is not group:  # no cell reaches out of its group
            group = parent
            spanning.clear()
        yield _row(line, write, room, spanning, is_first=row is rows[0])


def _cells_of(row: Any) -> list[Any]:
    return list(row.iterchildren("td", "th"))


def _row(
    cells: list[Any],
    write: Callable[[Any], str],
    room: Room,
    spanning: dict[int, _Spanning],
    *,
    is_first: bool,
) -> list[str]:
    texts: list[str] = []
    for cell in cells:
        _fill_from_above(texts, spanning)
        text = _text(cell, write)
        across, down = _spans(cell)
        added = across * down - 1
        repeated = text if len(text) <= _REPEATED_CHARS and added <= room.left else ""
        if added and repeated:
            room.left -= added
        is_alone = len(cells) == 1 and not texts and not spanning
        if is_alone and down == 1 and not is_first:  # a title of the rows below it
            repeated = ""
        column = len(texts)
        if down > 1:
            for place in range(column, column + across):
                spanning[place] = _Spanning(down - 1, repeated)
        texts.append(text)
        texts.extend([repeated] * (across - 1))
    _fill_from_above(texts, spanning)
    return texts


def _fill_from_above(texts: list[str], spanning: dict[int, _Spanning]) -> None:
    """Add what cells of the rows above hold in the next columns."""
    while spanning and (above := spanning.get(len(texts))) is not None:
        above.rows -= 1
        if not above.rows:
            del spanning[len(texts)]
        texts.append(above.text)


_LINE_OF_CELL = re.compile(r"\s*\n\s*")
_ITEM = re.compile(r"[-*+] ")
_ENDS = (".", ";", ",", ":", "!", "?")


def _text(cell: Any, write: Callable[[Any], str]) -> str:
    """The text of a cell on one line; the items of a list are apart by a semicolon."""
    if not len(cell):  # most cells are a few words, and a walk costs much more
        written = as_paragraph(escaped(cell.text or ""))
    else:
        for code in list(cell.iter("pre")):
            _as_code_spans(code)
        written = write(cell)
    lines = _LINE_OF_CELL.split(written) if "\n" in written else [written]
    text = _ITEM.sub("", lines[0], count=1) if _ITEM.match(lines[0]) else lines[0]
    for line in lines[1:]:
        marker = _ITEM.match(line)
        separator = "; " if marker and text and not text.endswith(_ENDS) else " "
        text += separator + line[marker.end() if marker else 0 :]
    return re.sub(r"(?<!\\)\|", r"\|", text.strip()) if "|" in text else text.strip()


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


def _spans(cell: Any) -> tuple[int, int]:
    """How many columns and rows a cell spans; rowspan 0 reaches to the end of its group."""
    # Most cells; it saves a tenth of the time.
    if cell.get("colspan") is None and cell.get("rowspan") is None:
        return 1, 1
    across, down = (_count(cell.get(name, "")) for name in ("colspan", "rowspan"))
    across = min(max(across, 1), LARGEST_CELL)
    most = LARGEST_CELL // across
    return across, min(down, most) if down else (most if cell.get("rowspan") else 1)


_COUNT = re.compile(r"\s*\+?([0-9]{1,9})(?![0-9])")


def _count(value: str) -> int:
    number = _COUNT.match(value)
    return int(number[1]) if number else 1
