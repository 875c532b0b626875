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


def odt(package: Package) -> Extracted:
    """A text document without its headers, footers, comments and deleted text."""
    reader, content = opened(package, "text")
    builder = Builder()
    reader.blocks(content, builder)
    title = package.title() or builder.first_heading()
    # A note may add to the list of notes.
    return Extracted(title, with_notes(reader, builder, reader.notes), None)


def opened(package: Package, kind: str) -> tuple[OpenDocument, Any]:
    """The reader of a document, and the elements of its body, which is a `text` or a `presentation`."""
    parts = [package.xml(name) for name in ("content.xml", "styles.xml")]
    styles = Styles([part for part in parts if part is not None])
    content = parts[0]
    body = None if content is None else content.find(f"{OFFICE}body/{OFFICE}{kind}")
    return OpenDocument(package, styles), () if body is None else body


_HEADING, _PARAGRAPH, _LIST, _NOTE = f"{TEXT}h", f"{TEXT}p", f"{TEXT}list", f"{TEXT}note"
_TABLE = f"{TABLE}table"
_FRAME, _IMAGE, _OBJECT = f"{DRAW}frame", f"{DRAW}image", f"{DRAW}object"
_ADDRESS = "{http://www.w3.org/1999/xlink}href"
_SKIPPED = frozenset(
    (
        _NOTE,
        f"{TEXT}tracked-changes",
        f"{TEXT}sequence-decls",
        f"{TEXT}variable-decls",
        f"{TEXT}user-field-decls",
        f"{OFFICE}annotation",
        f"{OFFICE}forms",
        f"{OFFICE}event-listeners",
        f"{OFFICE}scripts",
        f"{PRESENTATION}date-time-decl",
        f"{PRESENTATION}footer-decl",
        f"{PRESENTATION}header-decl",
    )
)
"""What is no text where it stands: notes, deleted text, comments, declarations."""


@dataclass(frozen=True, slots=True)
class _Merged:
    """A cell that goes on in the rows below: how many of them, and its columns."""

    rows: int
    columns: int


@dataclass(slots=True)
class _OpenList:
    """A list that is written: its style, how deep it lies, and the number of its next item if that does not follow."""

    style: str
    depth: int
    level: Level
    start: str = ""


@dataclass(slots=True)
class OpenDocument:
    """Reads one document.

    Attributes:
        lists: how many lists there were that do not continue another one.
        notes: the bodies of its footnotes and endnotes.
        room: how many repeated cells it may still have.
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
            elif tag not in _SKIPPED and not _is_hidden(element):
                self.blocks(element, builder)

    # --- lists and paragraphs ---

    def _list(self, element: Any, depth: int, style: str, builder: Builder) -> None:
        style = element.get(STYLE_NAME, style)
        opened = _OpenList(style, depth, self.styles.level(style, depth))
        if depth == 0 and not _is_continued(element):
            self.lists += 1
            opened.start = opened.level.start
        for item in element:
            opened.start = item.get(f"{TEXT}start-value", opened.start)
            self._item(item, opened, builder)

    def _item(self, item: Any, opened: _OpenList, builder: Builder) -> None:
        """Write an item: its first paragraph has the mark, and further ones stand below it."""
        is_first = True
        for child in item:
            if child.tag == _LIST:
                self._list(child, opened.depth + 1, opened.style, builder)
            elif child.tag == _HEADING and item.tag != _LIST_HEADER:
                self.blocks([child], builder)  # a numbered heading
            elif child.tag in (_PARAGRAPH, _HEADING):
                block = self._marked(opened, builder) if is_first else builder.more()
                self._paragraph(child, block, builder)
                is_first = False

    def _marked(self, opened: _OpenList, builder: Builder) -> Any:
        """The element for the first paragraph of an item."""
        kind = opened.level.kind
        list_id = f"{opened.style} {self.lists}"
        item = builder.item(opened.depth, is_ordered=bool(kind), list_id=list_id)
        if kind in _LETTERS:
            item.getparent().set("type", kind)
        if kind and opened.start:
            item.set("value", opened.start)
            opened.start = ""
        return item

    def _paragraph(self, element: Any, block: Any, builder: Builder) -> None:
        hides_itself = any(map(_is_hidden, element.iter(f"{TEXT}hidden-paragraph")))
        if hides_itself or self.styles.is_hidden(element):
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
        if tag == _SPACES or tag in _SIGNS:
            yield _blanks(element), marks
        elif tag == _RUBY:
            yield from self._ruby(element, marks, frames)
        elif tag == _NOTE:
            self.notes.append(element.iterchildren(f"{TEXT}note-body"))
            yield f"[^{len(self.notes)}]", ()
        elif tag == _FRAME and (formula := self._formula(element)):
            yield formula, ("tex",)
        elif tag.startswith(DRAW):
            frames.append(element)
        elif not self._is_left_out(element):
            yield from self._inline(element, (*marks, *self._marks(element)), frames)

    def _is_left_out(self, element: Any) -> bool:
        if element.tag in (_SPAN, _LINK):
            return self.styles.is_hidden(element)
        return element.tag in _SKIPPED or _is_hidden(element)

    def _marks(self, element: Any) -> tuple[str, ...]:
        """The marks of the words in an element: those of its style, or the link that it is."""
        if element.tag == _SPAN:
            return self.styles.marks(element)
        return (f"a {element.get(_ADDRESS, '')}",) if element.tag == _LINK else ()

    def _ruby(self, element: Any, marks: tuple[str, ...], frames: list[Any]) -> Iterator[Text]:
        """Signs and, above them, how they are read."""
        for tag, elements in _RUBY_PARTS.items():
            part = element.find(tag)
            if part is not None:
                yield from self._inline(part, (*marks, *elements), frames)

    # --- frames ---

    def _formula(self, frame: Any) -> str:
        """The LaTeX of the formula in a frame; "" if it holds something else."""
        place = frame.find(_OBJECT)
        if place is None:
            return ""
        formula = place.find(_FORMULA)
        if formula is None:
            formula = self.package.xml(inside("", f"{place.get(_ADDRESS, '')}/content.xml"))
        is_formula = formula is not None and formula.tag == _FORMULA
        return formulas.of_open_document(formula) if is_formula else ""

    def _frame(self, frame: Any, builder: Builder) -> None:
        """A picture by its name; a text box, a shape or a table by its text."""
        if formula := self._formula(frame):
            builder.text(builder.block("p"), formula, ("tex",))
            return
        image = frame.find(_IMAGE)
        if image is not None:
            words = frame.findtext(f"{SVG}desc") or frame.findtext(f"{SVG}title") or ""
            name = image.get(_ADDRESS, "").rpartition("/")[2]
            if words or not _is_preview(frame):
                builder.text(builder.block("p"), figure(words, name))
        self.blocks([child for child in frame if child is not image], builder)

    # --- tables ---

    def _rows(self, table: Any) -> Iterator[list[Cell]]:
        """The cells of each row that has any; one that spans several rows is named again in those below."""
        below: dict[int, _Merged] = {}
        for row in within(table, _ROW, _SKIPPED):
            cells = list(self._cells(row, below))
            if any(cell.content is not None for cell in cells):
                yield cells

    def _cells(self, row: Any, below: dict[int, _Merged]) -> Iterator[Cell]:
        """The cells of a row; `below` are those of the rows above that go on in it, by their column."""
        column = 0
        for cell in row.iterchildren(_CELL, _COVERED_CELL):
            for _ in range(self._repeats(cell)):
                if column in below:
                    merged = below.pop(column)
                    if merged.rows > 1:
                        below[column] = _Merged(merged.rows - 1, merged.columns)
                    yield Cell(None, merged.columns, continues_above=True)
                elif cell.tag == _CELL:
                    across = _count(cell, "columns-spanned")
                    down = _count(cell, "rows-spanned")
                    if down > 1:
                        below[column] = _Merged(down - 1, across)
                    yield Cell(cell, across)
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


# --- lists and paragraphs ---

MOST_SPACES = 100
_LIST_HEADER = f"{TEXT}list-header"
_SPAN, _LINK, _RUBY, _SPACES = f"{TEXT}span", f"{TEXT}a", f"{TEXT}ruby", f"{TEXT}s"
_SIGNS = {f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}
_RUBY_PARTS = {f"{TEXT}ruby-base": ("ruby",), f"{TEXT}ruby-text": ("ruby", "rt")}
_FORMULA = "{http://www.w3.org/1998/Math/MathML}math"
_LETTERS = ("a", "A", "i", "I")
"""The kinds of numbers that HTML knows too, as the `type` of a list."""


def _is_continued(element: Any) -> bool:
    """Whether a list goes on counting where one above it ended."""
    continues = element.get(f"{TEXT}continue-numbering") == "true"
    return continues or element.get(f"{TEXT}continue-list") is not None


def _is_hidden(element: Any) -> bool:
    """Whether a section or a field is hidden, always or since its condition holds."""
    display, is_hidden = element.get(f"{TEXT}display"), element.get(f"{TEXT}is-hidden")
    return bool(display == "none" or is_hidden == "true")


def _blanks(element: Any) -> str:
    """The blanks, the tab or the line break that an element stands for."""
    if element.tag in _SIGNS:
        return _SIGNS[element.tag]
    return " " * number(element.get(f"{TEXT}c", ""), 1, MOST_SPACES)


def _is_preview(frame: Any) -> bool:
    """Whether the picture in a frame only shows the object or table that it holds too."""
    return frame.find(_OBJECT) is not None or frame.find(_TABLE) is not None


# --- tables ---

MOST_REPEATED = 1_000
"""The most columns and rows that a repeated cell or row stands for: programs repeat empty ones up to the last row."""
LONG_CELL = 100
"""So many characters of a cell count as a further one, as does each element in it."""
_ROW, _CELL = f"{TABLE}table-row", f"{TABLE}table-cell"
_COVERED_CELL = f"{TABLE}covered-table-cell"


def _count(cell: Any, name: str) -> int:
    """A number of repeats or spanned places, 1 without it."""
    return number(cell.get(f"{TABLE}number-{name}", ""), 1, MOST_REPEATED) or 1
