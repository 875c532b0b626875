"""Texts of OpenDocument (ODT) as Markdown, and the reader of the blocks that its presentations hold too.

Their XML becomes an HTML tree, which the writer of web pages renders
(https://docs.oasis-open.org/office/OpenDocument/v1.3/).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats import formulas
from websearch_gateway.pages.formats.office_parts import number, with_notes, within
from websearch_gateway.pages.formats.open_styles import (
    DRAW,
    OFFICE,
    PRESENTATION,
    STYLE_NAME,
    SVG,
    TABLE,
    TEXT,
    Level,
    Styles,
)
from websearch_gateway.pages.formats.package import Package, inside
from websearch_gateway.pages.formats.rendering import Builder, Cell, Text, figure
from websearch_gateway.pages.rendering.tables import MOST_FILLED

MOST_REPEATED = 1_000
"""The most columns and rows that a repeated cell or row stands for: programs repeat empty ones up to the last row."""
LONG_CELL = 100
"""So many characters of a cell count as a further one, as does each element in it."""
MOST_SPACES = 100

_HEADING, _PARAGRAPH, _LIST = f"{TEXT}h", f"{TEXT}p", f"{TEXT}list"
_START, _HEADER = f"{TEXT}start-value", f"{TEXT}list-header"
_SPAN, _LINK, _RUBY, _NOTE, _SPACES = (TEXT + name for name in ("span", "a", "ruby", "note", "s"))
_SIGNS = {f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}
_FRAME, _IMAGE, _OBJECT = f"{DRAW}frame", f"{DRAW}image", f"{DRAW}object"
_TABLE, _ROW, _CELL, _COVERED = (
    TABLE + name for name in ("table", "table-row", "table-cell", "covered-table-cell")
)
_FORMULA = "{http://www.w3.org/1998/Math/MathML}math"
_ADDRESS = "{http://www.w3.org/1999/xlink}href"
_LETTERS = ("a", "A", "i", "I")
_DECLARATIONS = ("tracked-changes", "sequence-decls", "variable-decls", "user-field-decls")
_SKIPPED = frozenset(
    (
        _NOTE,
        *(TEXT + name for name in _DECLARATIONS),
        *(OFFICE + name for name in ("annotation", "forms", "event-listeners", "scripts")),
        *(PRESENTATION + name for name in ("date-time-decl", "footer-decl", "header-decl")),
    )
)


def odt(package: Package) -> Extracted:
    """A text document without its headers, footers, comments and deleted text."""
    reader, content = opened(package, "text")
    builder = Builder()
    reader.blocks(content, builder)
    title = package.title() or builder.first_heading()
    # A note may add to the list.
    return Extracted(title, with_notes(reader, builder, reader.notes), None)


def opened(package: Package, kind: str) -> tuple[OpenDocument, Any]:
    """The reader of a document, and the elements of its body, which is a `text` or a `presentation`."""
    content = package.xml("content.xml")
    body = content.find(f"{OFFICE}body/{OFFICE}{kind}") if content is not None else None
    roots = [root for root in (content, package.xml("styles.xml")) if root is not None]
    return OpenDocument(package, Styles(roots)), () if body is None else body


@dataclass(frozen=True, slots=True)
class _Merged:
    """A cell that goes on in the rows below: how many of them, and its columns."""

    rows: int
    columns: int


@dataclass(slots=True)
class OpenDocument:
    """Reads one document. `lists` counts those that do not continue another one; `notes` are the bodies of
    its footnotes and endnotes; `room` is how many repeated cells it may still have.
    """

    package: Package
    styles: Styles
    lists: int = 0
    notes: list[Any] = field(default_factory=list)
    room: int = MOST_FILLED

    def blocks(self, parent: Any, builder: Builder) -> None:
        """Write the headings, paragraphs, lists, tables and frames in an element."""
        for element in parent:
            tag = element.tag
            if tag == _HEADING:
                level = number(element.get(f"{TEXT}outline-level", ""), 1, most=6)
                self._paragraph(element, builder.block(f"h{level or 1}"), builder)
            elif tag == _PARAGRAPH:
                self._paragraph(element, builder.block(self.styles.tag(element)), builder)
            elif tag == _LIST:
                self._list(element, 0, "", builder)
            elif tag == _TABLE:
                builder.table(self._rows(element), self.blocks)
            elif tag == _FRAME:
                self._frame(element, builder)
            elif tag not in _SKIPPED:
                self.blocks(element, builder)

    def _list(self, element: Any, depth: int, style: str, builder: Builder) -> None:
        style = element.get(STYLE_NAME, style)
        level = self.styles.level(style, depth)
        start = ""
        if depth == 0 and not _is_continued(element):
            self.lists += 1
            start = level.start
        for item in element:
            is_first = True
            start = item.get(_START, start)
            for child in item:
                if child.tag == _LIST:
                    self._list(child, depth + 1, style, builder)
                elif child.tag == _HEADING and item.tag != _HEADER:
                    self.blocks([child], builder)  # a numbered heading
                elif child.tag in (_PARAGRAPH, _HEADING):
                    if is_first:
                        block = self._item(level, depth, style, builder)
                    else:
                        block = builder.more()
                    if is_first and level.kind and start:
                        block.set("value", start)
                        start = ""
                    self._paragraph(child, block, builder)
                    is_first = False

    def _item(self, level: Level, depth: int, style: str, builder: Builder) -> Any:
        list_id = f"{style} {self.lists}"
        item = builder.item(depth, is_ordered=bool(level.kind), list_id=list_id)
        if level.kind in _LETTERS:
            item.getparent().set("type", level.kind)
        return item

    def _paragraph(self, element: Any, block: Any, builder: Builder) -> None:
        if self.styles.is_hidden(element):
            return
        frames: list[Any] = []
        builder.texts(block, self._inline(element, (), frames))
        for frame in frames:
            self._frame(frame, builder)

    def _inline(self, element: Any, marks: tuple[str, ...], frames: list[Any]) -> Iterator[Text]:
        """The texts of a paragraph with their marks; its frames go to `frames`."""
        if element.text:
            yield element.text.replace("\n", " "), marks
        for child in element:
            yield from self._shown(child, marks, frames)
            if child.tail:
                yield child.tail.replace("\n", " "), marks

    def _shown(self, element: Any, marks: tuple[str, ...], frames: list[Any]) -> Iterator[Text]:
        """What an element in a paragraph shows."""
        tag = element.tag
        if tag == _RUBY:
            yield from self._ruby(element, marks, frames)
        elif tag == _SPAN:
            if not self.styles.is_hidden(element):
                yield from self._inline(element, (*marks, *self.styles.marks(element)), frames)
        elif tag == _LINK:
            yield from self._inline(element, (*marks, f"a {element.get(_ADDRESS, '')}"), frames)
        elif tag == _SPACES:
            yield " " * number(element.get(f"{TEXT}c", ""), 1, MOST_SPACES), marks
        elif tag in _SIGNS:
            yield _SIGNS[tag], marks
        elif tag == _NOTE:
            self.notes.append(element.iterchildren(f"{TEXT}note-body"))
            yield f"[^{len(self.notes)}]", ()
        elif tag == _FRAME and (formula := self._formula(element)):
            yield formula, ("tex",)
        elif tag.startswith(DRAW):
            frames.append(element)
        elif tag not in _SKIPPED:
            yield from self._inline(element, marks, frames)

    def _ruby(self, element: Any, marks: tuple[str, ...], frames: list[Any]) -> Iterator[Text]:
        """Signs and, above them, how they are read."""
        for name, elements in (("ruby-base", ("ruby",)), ("ruby-text", ("ruby", "rt"))):
            part = element.find(TEXT + name)
            if part is not None:
                yield from self._inline(part, (*marks, *elements), frames)

    def _formula(self, frame: Any) -> str:
        """The LaTeX of the formula in a frame; "" if it holds something else."""
        place = frame.find(_OBJECT)
        if place is None:
            return ""
        formula = place.find(_FORMULA)
        if formula is None:
            formula = self.package.xml(inside("", f"{place.get(_ADDRESS, '')}/content.xml"))
        if formula is None or formula.tag != _FORMULA:
            return ""
        return formulas.of_open_document(formula)

    def _frame(self, frame: Any, builder: Builder) -> None:
        """A picture by its name; a text box, a shape or a table by its text."""
        if formula := self._formula(frame):
            builder.text(builder.block("p"), formula, ("tex",))
            return
        image = frame.find(_IMAGE)
        words = frame.findtext(f"{SVG}desc") or frame.findtext(f"{SVG}title") or ""
        is_preview = frame.find(_OBJECT) is not None or frame.find(_TABLE) is not None
        if image is not None and (words or not is_preview):
            name = image.get(_ADDRESS, "").rpartition("/")[2]
            builder.text(builder.block("p"), figure(words, name))
        self.blocks([child for child in frame if child is not image], builder)

    def _rows(self, table: Any) -> Iterator[list[Cell]]:
        """The cells of each row; a cell that spans several rows is named again in those below."""
        below: dict[int, _Merged] = {}
        for row in within(table, _ROW, _SKIPPED):
            cells = list(self._cells(row, below))
            if any(cell is not None for cell, _, _ in cells):
                yield cells

    def _cells(self, row: Any, below: dict[int, _Merged]) -> Iterator[Cell]:
        """The cells of a row; `below` are those of the rows above that go on in it, by their column."""
        column = 0
        for cell in row.iterchildren(_CELL, _COVERED):
            for _ in range(self._repeats(cell)):
                if column in below:
                    merged = below.pop(column)
                    if merged.rows > 1:
                        below[column] = _Merged(merged.rows - 1, merged.columns)
                    yield None, merged.columns, "above"
                elif cell.tag == _CELL:
                    across = _count(cell, "columns-spanned")
                    down = _count(cell, "rows-spanned")
                    if down > 1:
                        below[column] = _Merged(down - 1, across)
                    yield cell, across, ""
                column += 1

    def _repeats(self, cell: Any) -> int:
        """How often a cell is written; only once where there is no more room."""
        repeats = _count(cell, "columns-repeated")
        if repeats == 1 or self.room <= 0:
            return 1
        elements = sum(1 for _ in cell.iter())
        letters = sum(map(len, cell.itertext()))
        size = elements + letters // LONG_CELL
        repeats = min(repeats, 1 + self.room // size)
        self.room -= (repeats - 1) * size
        return repeats


def _is_continued(element: Any) -> bool:
    """Whether a list goes on counting where one above it ended."""
    continues = element.get(f"{TEXT}continue-numbering") == "true"
    return continues or element.get(f"{TEXT}continue-list") is not None


def _count(cell: Any, name: str) -> int:
    return number(cell.get(f"{TABLE}number-{name}", ""), 1, MOST_REPEATED) or 1
