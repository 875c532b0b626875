"""Texts of Word (DOCX) as Markdown: their XML becomes an HTML tree, which the writer of web pages renders.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, section 17).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from websearch_gateway.base import charset_of, decode
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats import formulas
from websearch_gateway.pages.formats.numbering import LEVELS, Numbering, W
from websearch_gateway.pages.formats.office_drawings import (
    Embedded,
    embedded,
    picture,
    write_embedded,
)
from websearch_gateway.pages.formats.office_parts import ALTERNATIVES, number, with_notes, within
from websearch_gateway.pages.formats.package import Package, R, Relation, Relations
from websearch_gateway.pages.formats.rendering import (
    Builder,
    Cell,
    Text,
    leave_out_unseen,
    parse_html,
)
from websearch_gateway.pages.formats.symbols import symbol
from websearch_gateway.pages.formats.word_fields import Fields, filled_in, link_of, tick_of
from websearch_gateway.pages.formats.word_styles import (
    BODY_TEXT,
    VAL,
    Style,
    Styles,
    apart,
    is_on,
    is_unseen,
    styled,
    value,
)
from websearch_gateway.pages.rendering import MARKER

_PARAGRAPH, _PARAGRAPH_PROPERTIES = f"{W}p", f"{W}pPr"
_TABLE, _OTHER_DOCUMENT = f"{W}tbl", f"{W}altChunk"
_LEFT_OUT = ("del", "moveFrom", "sectPr", "pPr", "rPr", "tblPr", "tblGrid")
_SKIPPED = frozenset((f"{ALTERNATIVES}Fallback", *(W + name for name in _LEFT_OUT)))
"""Deleted text, what only describes its neighbours, and drawings for older programs."""


def docx(package: Package) -> Extracted:
    """A Word document; text that Word does not show is left out, and so are headers and footers."""
    part = package.related("", "officeDocument") or "word/document.xml"
    root = package.xml(part)
    body = root.find(f"{W}body") if root is not None else None
    if body is None:
        return Extracted(package.title(), "", None)
    relations = package.relations(part)
    numbering = Numbering(package.xml(package.related(part, "numbering")))
    styles = Styles(package.xml(package.related(part, "styles")))
    reader = _Word(package, part, styles, numbering, relations)
    builder = Builder()
    reader.blocks(body, builder)
    title = package.title() or builder.first_heading()
    return Extracted(title, with_notes(reader, builder, reader.noted()), None)


@dataclass(frozen=True, slots=True)
class _NoteMark:
    """What marks a note: the kind of notes, `footnotes` or `endnotes`, and the id of this one."""

    kind: str
    note_id: str


@dataclass(slots=True)
class _Word:
    """Reads one document.

    Attributes:
        notes: the numbers of the footnotes and endnotes, in the order of their marks.
        fields: those that are open where the text is read.
    """

    package: Package
    part: str
    styles: Styles
    numbering: Numbering
    relations: Relations
    notes: dict[_NoteMark, int] = field(default_factory=dict)
    fields: Fields = field(default_factory=Fields)

    def blocks(self, parent: Any, builder: Builder) -> None:
        """Write the paragraphs and tables in an element."""
        for element in parent:
            tag = element.tag
            if tag == _PARAGRAPH:
                self._paragraph(element, builder)
            elif tag == _TABLE:
                builder.table(self._rows(element), self.blocks)
            elif tag == _OTHER_DOCUMENT:
                self._other_document(element, builder)
            elif tag not in _SKIPPED:
                self.blocks(element, builder)

    def noted(self) -> Iterator[Any]:
        """The elements of the footnotes and endnotes that the text refers to."""
        notes: dict[str, dict[str, Any]] = {}
        for mark in list(self.notes):
            if mark.kind not in notes:
                notes[mark.kind] = self._notes_of(mark.kind)
            yield notes[mark.kind].get(mark.note_id, ())

    def _notes_of(self, kind: str) -> dict[str, Any]:
        root = self.package.xml(self.package.related(self.part, kind))
        if root is None:
            return {}
        return {note.get(f"{W}id", ""): note for note in root}

    def _other_document(self, element: Any, builder: Builder) -> None:
        """Write a document of another format, usually HTML, that stands in the place of paragraphs."""
        part = self._relation(element).target
        body = self.package.read(part)
        if not body:
            return
        name = part.lower()
        if name.endswith(_WEB_PAGES) or b"<html" in body[:1_000].lower():
            tree = parse_html(decode(body, charset_of(body, "text/html")))
            leave_out_unseen(tree)
            builder.tree(tree)
        elif name.endswith(".txt"):
            text = decode(body, charset_of(body, "text/plain"))
            builder.text(builder.block("p"), text)

    def _relation(self, element: Any) -> Relation:
        return self.relations[element.get(f"{R}id", "")]

    # --- paragraphs ---

    def _paragraph(self, element: Any, builder: Builder) -> None:
        properties = element.find(_PARAGRAPH_PROPERTIES)
        style, style_id = Style(), ""
        if properties is not None:
            style_id = value(properties, "pStyle")
            style = styled(properties, self.styles[style_id])
        block = self._block(style, style_id, builder)
        boxes: list[Any] = []
        builder.texts(block, self._runs(element, boxes, is_hidden=style.is_hidden))
        for box in boxes:
            if isinstance(box, Embedded):
                write_embedded(self.package, box, builder)
            else:
                self.blocks(box, builder)

    def _block(self, style: Style, style_id: str, builder: Builder) -> Any:
        """The element for a paragraph. A heading has the number that stands before its words in it."""
        level = style.list_level
        if level is None:
            level = self.numbering.level_of_style(style_id)
        level = min(level, LEVELS - 1)
        is_listed = self.numbering.level(style.list_id, level) is not None
        mark = self.numbering.next_mark(style.list_id, level) if is_listed else ""
        heading = _heading_of(style)
        if heading:
            block = builder.block(heading)
            if mark:
                builder.text(block, f"{mark} ")
            return block
        if is_listed:
            return _item(style, level, mark, builder)
        return builder.block(_tag_of(style))

    # --- what a paragraph shows ---

    def _runs(
        self,
        parent: Any,
        boxes: list[Any],
        marks: tuple[str, ...] = (),
        *,
        is_hidden: bool = False,
    ) -> Iterator[Text]:
        """The texts of a paragraph with their marks. Its text boxes, charts and diagrams go to `boxes`.

        `is_hidden`: the style of the paragraph hides the runs that do not say otherwise.
        """
        for element in parent:
            tag = element.tag
            if tag == _RUN:
                yield from self._run(element, boxes, marks, is_hidden=is_hidden)
            elif tag in _LINKS:
                link = self._link_mark(element)
                yield from self._runs(element, boxes, (*marks, *link), is_hidden=is_hidden)
            elif tag in _FORMULAS:
                yield formulas.of_office(element), ("tex",)
            elif tag == _CONTROL and (tick := tick_of(element)):
                yield tick, marks
            elif tag not in _SKIPPED:
                yield from self._runs(element, boxes, marks, is_hidden=is_hidden)

    def _link_mark(self, element: Any) -> tuple[str, ...]:
        """The mark of the words in a link or a simple field; none if it leads nowhere."""
        if element.tag == _SIMPLE_FIELD:
            address = link_of(element.get(f"{W}instr", ""))
            return (f"a {address}",) if address else ()
        relation = self._relation(element)
        return (f"a {relation.target}",) if relation.kind == "hyperlink" else ()

    def _run(
        self, run: Any, boxes: list[Any], marks: tuple[str, ...], *, is_hidden: bool
    ) -> Iterator[Text]:
        properties = run.find(_RUN_PROPERTIES)
        if properties is not None:
            style = self.styles[value(properties, "rStyle")]
            is_hidden = is_unseen(properties, is_hidden=is_hidden or style.is_hidden)
            marks = (*marks, *_marks(properties, style))
        if is_hidden:
            return
        for element in run:
            if element.tag == _FIELD:
                yield from self._field(element)
            elif element.tag == _INSTRUCTION:
                self.fields.instruct(element.text or "")
            if not self.fields.show_text:
                continue
            link = f"a {self.fields.address}"
            if self.fields.address and link not in marks:
                marks = (link, *marks)
            yield from self._shown(element, boxes, marks)

    def _field(self, element: Any) -> Iterator[Text]:
        """Begin, continue or end a field. Yields what a form shows where it begins."""
        kind = element.get(f"{W}fldCharType")
        self.fields.turn(kind)
        if kind == "begin":
            for text in filled_in(element):
                yield text, ()

    def _shown(self, element: Any, boxes: list[Any], marks: tuple[str, ...]) -> Iterator[Text]:
        """What an element of a run shows."""
        tag = element.tag
        if tag == _TEXT:
            yield element.text or "", marks
        elif tag in _SIGNS:
            yield _SIGNS[tag], marks
        elif tag == _SYMBOL:
            yield symbol(element.get(f"{W}font", ""), element.get(f"{W}char", "")), marks
        elif tag == _RUBY:
            yield from self._ruby(element, boxes, marks)
        elif tag in _NOTES:
            yield f"[^{self._number_of_note(element)}]", ()
        elif tag in _DRAWINGS:
            boxes += within(element, f"{W}txbxContent", _SKIPPED)
            boxes += embedded(element, self.relations)
            yield picture(element, self.relations), ()

    def _number_of_note(self, element: Any) -> int:
        """The number of the note that a mark refers to, which is a new one at its first mark."""
        mark = _NoteMark(_NOTES[element.tag], element.get(f"{W}id", ""))
        return self.notes.setdefault(mark, len(self.notes) + 1)

    def _ruby(self, element: Any, boxes: list[Any], marks: tuple[str, ...]) -> Iterator[Text]:
        """Signs and, above them, how they are read."""
        for tag, elements in _RUBY_PARTS.items():
            part = element.find(tag)
            if part is not None:
                for text, _ in self._runs(part, boxes):
                    yield text, (*marks, *elements)

    # --- tables ---

    def _rows(self, table: Any) -> Iterator[list[Cell]]:
        for row in within(table, f"{W}tr", _SKIPPED):
            properties = row.find(f"{W}trPr")
            cells: list[Cell] = []
            if properties is not None:
                if properties.find(f"{W}del") is not None:  # by a tracked change
                    continue
                before = value(properties, "gridBefore")
                if before not in ("", "0"):
                    cells.append(Cell(None, number(before, 1)))
            for cell in within(row, f"{W}tc", _SKIPPED):
                _add_cell(cells, cell)
            yield cells


# --- paragraphs ---

_WEB_PAGES = (".htm", ".html", ".xhtml", ".mht")
_DEEPER = re.compile(r"list (?:bullet|number) ([2-9])", re.IGNORECASE)
_CODE = re.compile(
    r"(?:source ?code|code|html preformatted|preformatted text|plain text)\b", re.IGNORECASE
)


def _heading_of(style: Style) -> str:
    """The HTML element for a heading of this style; "" if it is none."""
    if style.outline is not None and style.outline < BODY_TEXT:
        return f"h{min(style.outline + 1, 6)}"
    return "h1" if style.name.lower() == "title" else ""


def _tag_of(style: Style) -> str:
    """The HTML element for a paragraph of this style that is no heading and no item."""
    name = style.name.lower()
    if _CODE.match(name):
        return "pre"
    return "blockquote" if "quote" in name else "p"


def _item(style: Style, level: int, mark: str, builder: Builder) -> Any:
    """The element for an item of a list, which has the mark that Word shows."""
    deeper = _DEEPER.fullmatch(style.name)
    depth = max(level, int(deeper[1]) - 1) if deeper else level
    place = mark.removesuffix(".")
    is_ordered = place.isascii() and place.isdecimal()
    item = builder.item(depth, is_ordered=is_ordered, list_id=style.list_id)
    if is_ordered:
        item.set("value", place)
    elif mark:
        item.set(MARKER, mark)
    return item


# --- what a paragraph shows ---

_RUN, _RUN_PROPERTIES = f"{W}r", f"{W}rPr"
_TEXT, _SYMBOL, _RUBY = f"{W}t", f"{W}sym", f"{W}ruby"
_FIELD, _INSTRUCTION, _SIMPLE_FIELD = f"{W}fldChar", f"{W}instrText", f"{W}fldSimple"
_CONTROL = f"{W}sdt"
_LINKS = (f"{W}hyperlink", _SIMPLE_FIELD)
_FORMULAS = (f"{formulas.M}oMath", f"{formulas.M}oMathPara")
_NOTES = {f"{W}footnoteReference": "footnotes", f"{W}endnoteReference": "endnotes"}
_DRAWINGS = (f"{W}drawing", f"{W}pict", f"{W}object", f"{ALTERNATIVES}AlternateContent")
_SIGNS = {
    f"{W}br": "\n",
    f"{W}cr": "\n",
    f"{W}tab": "\t",
    f"{W}ptab": "\t",
    f"{W}noBreakHyphen": "-",
}
_RUBY_PARTS = {f"{W}rubyBase": ("ruby",), f"{W}rt": ("ruby", "rt")}
_MARKS = {"b": "strong", "i": "em"}
_CODE_WORDS = re.compile(
    r"(?:verbatim char|html code|inline code|code char|source text)", re.IGNORECASE
)


def _marks(properties: Any, style: Style) -> Iterator[str]:
    """The marks of a run by its properties and its style."""
    if _CODE_WORDS.search(style.name):
        yield "code"
    for name, mark in _MARKS.items():
        if is_on(properties.find(W + name)):
            yield mark
    yield from apart(properties, style.marks)


# --- tables ---


def _add_cell(cells: list[Cell], element: Any) -> None:
    """Add a cell to its row, or its columns to the cell before it if it continues this one."""
    properties = element.find(f"{W}tcPr")
    if properties is None:
        cells.append(Cell(element))
        return
    span = number(value(properties, "gridSpan"), 1)
    if cells and _continues(properties, "hMerge"):
        before = cells.pop()
        cells.append(replace(before, span=before.span + span))
    else:
        cells.append(Cell(element, span, continues_above=_continues(properties, "vMerge")))


def _continues(properties: Any, name: str) -> bool:
    """Whether a cell continues the one above (`vMerge`) or beside it (`hMerge`)."""
    merge = properties.find(W + name)
    return merge is not None and merge.get(VAL, "continue") == "continue"
