"""Texts and presentations of Office (DOCX, PPTX) and OpenDocument (ODT, ODP) as Markdown:
their XML becomes an HTML tree, which the writer of web pages renders. Each slide stands under its title, with its
lists, tables, charts, pictures and notes.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, sections 17, 19 and 21),
https://docs.oasis-open.org/office/OpenDocument/v1.3/.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from websearch_gateway.base import charset_of, decode
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats import formulas
from websearch_gateway.pages.formats.numbering import LEVELS, Numbering
from websearch_gateway.pages.formats.open_sheets import ods
from websearch_gateway.pages.formats.package import (
    A,
    Package,
    embedded,
    inside,
    picture,
    write_embedded,
)
from websearch_gateway.pages.formats.rendering import (
    Builder,
    Cell,
    Text,
    figure,
    leave_out_unseen,
    markdown_of,
    note_of,
    parse_html,
)
from websearch_gateway.pages.formats.symbols import symbol
from websearch_gateway.pages.rendering import MARKER
from websearch_gateway.pages.rendering.tables import MOST_FILLED

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_VAL = f"{W}val"
_MARKS = {"b": "strong", "i": "em"}
_STRUCK = ("strike", "dstrike")
_SMALL = 4
"""Text of at most this size (half points) is not read by people."""
_LONGEST_INSTRUCTION = 4_000
_MOST_FIELDS = 50
"""The most fields in each other; further ones end the outer ones early."""
_BODY_TEXT = 9
"""The outline level of what is no heading."""
_DEEPER = re.compile(r"list (?:bullet|number) ([2-9])", re.IGNORECASE)
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_CODE = re.compile(
    r"(?:source ?code|code|html preformatted|preformatted text|plain text)\b", re.IGNORECASE
)
_CODE_WORDS = re.compile(
    r"(?:verbatim char|html code|inline code|code char|source text)", re.IGNORECASE
)
_HEIGHTS = {"superscript": "sup", "subscript": "sub"}
_LINK_FIELD = re.compile(r"\s*HYPERLINK\s+\"([^\"]{1,2000})\"", re.IGNORECASE)
_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
TICKED, UNTICKED = "☑", "☐"
_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
_LETTERS = ("a", "A", "i", "I")
_OFFICE, _TEXT, _TABLE, _DRAW = (
    f"{{{_ODF}{name}:1.0}}" for name in ("office", "text", "table", "drawing")
)
_STYLE, _FO, _SVG = (
    f"{{{_ODF}{name}:1.0}}" for name in ("style", "xsl-fo-compatible", "svg-compatible")
)
_PRESENTATION = f"{{{_ODF}presentation:1.0}}"
_MATHML = "{http://www.w3.org/1998/Math/MathML}"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_SKIPPED = frozenset(
    (
        f"{_MC}Fallback",
        *(W + name for name in ("del", "moveFrom", "sectPr", "pPr", "rPr", "tblPr", "tblGrid")),
        *(
            _TEXT + name
            for name in (
                "tracked-changes",
                "sequence-decls",
                "variable-decls",
                "user-field-decls",
                "note",
            )
        ),
        *(_OFFICE + name for name in ("annotation", "forms", "event-listeners", "scripts")),
        *(_PRESENTATION + name for name in ("date-time-decl", "footer-decl", "header-decl")),
    )
)


@dataclass(frozen=True, slots=True)
class _Style:
    """What a style, or a paragraph with its style, says about the outline, lists and hidden text. `name` is that of the
    style.

    `marks` are those that keep its text from touching what stands beside it: raised, lowered and struck text.
    `list_level` is None if only the list itself says which level is that of the style.
    """

    name: str = ""
    outline: int | None = None
    list_id: str = ""
    list_level: int | None = None
    is_hidden: bool = False
    marks: tuple[str, ...] = ()


@dataclass(slots=True)
class _Field:
    """A field whose result follows its instruction. `address` is where its result leads."""

    instruction: str = ""
    address: str = ""
    is_result: bool = False


@dataclass(slots=True)
class _Word:
    """Reads one document. `notes` are the ids of the footnotes and endnotes in the order of their marks."""

    package: Package
    part: str
    styles: _Styles
    numbering: Numbering
    relations: dict[str, tuple[str, str]]
    notes: dict[tuple[str, str], int] = field(default_factory=dict)
    fields: list[_Field] = field(default_factory=list)
    unread_fields: int = 0

    def blocks(self, parent: Any, builder: Builder) -> None:
        """Write the paragraphs and tables in an element."""
        for element in parent:
            tag = element.tag
            if tag == f"{W}p":
                self._paragraph(element, builder)
            elif tag == f"{W}tbl":
                builder.table(self._rows(element), self.blocks)
            elif tag == f"{W}altChunk":
                self._other_document(element, builder)
            elif tag not in _SKIPPED:
                self.blocks(element, builder)

    def _other_document(self, element: Any, builder: Builder) -> None:
        """Write a document of another format, usually HTML, that stands in the place of paragraphs."""
        part = self.relations.get(element.get(f"{_R}id", ""), ("", ""))[1]
        body = self.package.read(part)
        if not body:
            return
        if (
            part.lower().endswith((".htm", ".html", ".xhtml", ".mht"))
            or b"<html" in body[:1_000].lower()
        ):
            tree = parse_html(decode(body, charset_of(body, "text/html")))
            leave_out_unseen(tree)
            builder.tree(tree)
        elif part.lower().endswith(".txt"):
            builder.text(builder.block("p"), decode(body, charset_of(body, "text/plain")))

    def _paragraph(self, element: Any, builder: Builder) -> None:
        properties = element.find(f"{W}pPr")
        style, style_id = _Style(), ""
        if properties is not None:
            style_id = _value(properties, "pStyle")
            style = _styled(properties, self.styles[style_id])
        block, mark = self._block(style, style_id, builder)
        if mark:
            builder.text(block, f"{mark} ")
        later: list[Any] = []
        builder.texts(block, self._runs(element, later, is_hidden=style.is_hidden))
        for box in later:
            if isinstance(box, tuple):
                kind, part = box
                write_embedded(self.package, kind, part, builder)
            else:
                self.blocks(box, builder)

    def _block(self, style: _Style, style_id: str, builder: Builder) -> tuple[Any, str]:
        """The element for a paragraph, and the number that stands before its words."""
        level = (
            self.numbering.level_of_style(style_id)
            if style.list_level is None
            else style.list_level
        )
        level = min(level, LEVELS - 1)
        list_level = self.numbering.level(style.list_id, level)
        mark = self.numbering.next_mark(style.list_id, level) if list_level else ""
        if style.outline is not None and style.outline < _BODY_TEXT:
            return builder.block(f"h{min(style.outline + 1, 6)}"), mark
        if style.name.lower() == "title":
            return builder.block("h1"), mark
        if list_level is None:
            if _CODE.match(style.name):
                return builder.block("pre"), ""
            return builder.block("blockquote" if "quote" in style.name.lower() else "p"), ""
        deeper = _DEEPER.fullmatch(style.name)
        depth = max(level, int(deeper[1]) - 1 if deeper else 0)
        number = mark.removesuffix(".")
        is_ordered = number.isascii() and number.isdecimal()
        item = builder.item(depth, is_ordered=is_ordered, list_id=style.list_id)
        if is_ordered:
            item.set("value", number)
        elif mark:
            item.set(MARKER, mark)
        return item, ""

    def _runs(
        self,
        parent: Any,
        later: list[Any],
        marks: tuple[str, ...] = (),
        *,
        is_hidden: bool = False,
    ) -> Iterator[Text]:
        """The texts of a paragraph with their marks; text boxes, and charts as their kind and part, go to `later`.

        `is_hidden`: the style of the paragraph hides the runs that do not say otherwise.
        """
        for element in parent:
            tag = element.tag
            if tag == f"{W}r":
                yield from self._run(element, later, marks, is_hidden=is_hidden)
            elif tag == f"{W}hyperlink":
                kind, address = self.relations.get(element.get(f"{_R}id", ""), ("", ""))
                linked = (*marks, f"a {address}") if kind == "hyperlink" else marks
                yield from self._runs(element, later, linked, is_hidden=is_hidden)
            elif tag == f"{W}fldSimple":
                link = _LINK_FIELD.match(element.get(f"{W}instr", ""))
                linked = (*marks, f"a {link[1]}") if link else marks
                yield from self._runs(element, later, linked, is_hidden=is_hidden)
            elif tag in (f"{_M}oMath", f"{_M}oMathPara"):
                yield formulas.of_office(element), ("tex",)
            elif tag == f"{W}sdt" and (box := element.find(f"{W}sdtPr/{_W14}checkbox")) is not None:
                checked = box.find(f"{_W14}checked")
                is_on = checked is not None and checked.get(f"{_W14}val") in ("1", "true")
                yield TICKED if is_on else UNTICKED, marks
            elif tag not in _SKIPPED:
                yield from self._runs(element, later, marks, is_hidden=is_hidden)

    def _run(
        self, run: Any, later: list[Any], marks: tuple[str, ...], *, is_hidden: bool
    ) -> Iterator[Text]:
        properties = run.find(f"{W}rPr")
        if properties is None:
            if is_hidden:
                return
        else:
            style = self.styles[_value(properties, "rStyle")]
            if _is_unseen(properties, is_hidden=is_hidden or style.is_hidden):
                return
            code = ("code",) if _CODE_WORDS.search(style.name) else ()
            on = (mark for name, mark in _MARKS.items() if _is_on(properties.find(W + name)))
            marks = (*marks, *code, *on, *_apart(properties, style.marks))
        for element in run:
            tag = element.tag
            if tag == f"{W}fldChar":
                yield from self._field(element)
            elif tag == f"{W}instrText" and self.fields:
                open_field = self.fields[-1]
                open_field.instruction = (open_field.instruction + (element.text or ""))[
                    :_LONGEST_INSTRUCTION
                ]
            if self.unread_fields or not all(outer.is_result for outer in self.fields):
                continue
            if self.fields and (address := self.fields[-1].address) and f"a {address}" not in marks:
                marks = (f"a {address}", *marks)
            if tag == f"{W}t":
                yield element.text or "", marks
            elif tag == f"{W}sym":
                yield symbol(element.get(f"{W}font", ""), element.get(f"{W}char", "")), marks
            elif tag == f"{W}ruby":
                yield from self._ruby(element, later, marks)
            elif tag in (f"{W}br", f"{W}cr"):
                yield "\n", marks
            elif tag in (f"{W}tab", f"{W}ptab"):
                yield "\t", marks
            elif tag == f"{W}noBreakHyphen":
                yield "-", marks
            elif tag in (f"{W}footnoteReference", f"{W}endnoteReference"):
                key = ("footnotes" if "footnote" in tag else "endnotes", element.get(f"{W}id", ""))
                yield f"[^{self.notes.setdefault(key, len(self.notes) + 1)}]", ()
            elif tag in (f"{W}drawing", f"{W}pict", f"{W}object", f"{_MC}AlternateContent"):
                later += _within(element, f"{W}txbxContent")
                later += embedded(element, self.relations)
                yield picture(element, self.relations), ()

    def _ruby(self, element: Any, later: list[Any], marks: tuple[str, ...]) -> Iterator[Text]:
        """Signs and, above them, how they are read."""
        for name, elements in (("rubyBase", ("ruby",)), ("rt", ("ruby", "rt"))):
            part = element.find(W + name)
            for text, _ in self._runs(() if part is None else part, later):
                yield text, (*marks, *elements)

    def _field(self, element: Any) -> Iterator[Text]:
        """Begin, continue or end a field. Yields the tick of a form's box and the chosen entry of its list."""
        kind = element.get(f"{W}fldCharType")
        if kind == "begin":
            if len(self.fields) < _MOST_FIELDS:
                self.fields.append(_Field())
            else:
                self.unread_fields += 1
            box = element.find(f"{W}ffData/{W}checkBox")
            if box is not None:
                state = box.find(f"{W}checked")
                yield (
                    TICKED
                    if _is_on(box.find(f"{W}default") if state is None else state)
                    else UNTICKED,
                    (),
                )
            choices = element.find(f"{W}ffData/{W}ddList")
            if choices is not None:
                yield _chosen(choices), ()
        elif self.unread_fields:
            self.unread_fields -= kind == "end"
        elif kind == "separate" and self.fields:
            link = _LINK_FIELD.match(self.fields[-1].instruction)
            self.fields[-1].address = link[1] if link else ""
            self.fields[-1].is_result = True
        elif kind == "end" and self.fields:
            self.fields.pop()

    def _rows(self, table: Any) -> Iterator[list[Cell]]:
        """The cells of each row: the element, the columns that it spans, and "above" if it continues the one above."""
        for row in _within(table, f"{W}tr"):
            properties = row.find(f"{W}trPr")
            before = ""
            if properties is not None:
                if properties.find(f"{W}del") is not None:  # by a tracked change
                    continue
                before = _value(properties, "gridBefore")
            cells: list[Cell] = [(None, _number(before, 1), "")] if before not in ("", "0") else []
            for cell in _within(row, f"{W}tc"):
                properties = cell.find(f"{W}tcPr")
                if properties is None:
                    cells.append((cell, 1, ""))
                    continue
                span = _number(_value(properties, "gridSpan"), 1)
                if cells and _continues(properties, "hMerge"):
                    content, across, above = cells.pop()
                    cells.append((content, across + span, above))
                else:
                    above = "above" if _continues(properties, "vMerge") else ""
                    cells.append((cell, span, above))
            yield cells

    def noted(self) -> Iterator[Any]:
        """The elements of the footnotes and endnotes that the text refers to."""
        roots: dict[str, dict[str, Any]] = {}
        for kind, name in list(self.notes):
            if kind not in roots:
                root = self.package.xml(self.package.related(self.part, kind))
                roots[kind] = {} if root is None else {one.get(f"{W}id", ""): one for one in root}
            yield roots[kind].get(name, ())


def docx(package: Package) -> Extracted:
    """A Word document; text that Word does not show is left out, and so are headers and footers."""
    part = package.related("", "officeDocument") or "word/document.xml"
    root = package.xml(part)
    body = root.find(f"{W}body") if root is not None else None
    if body is None:
        return Extracted(package.title(), "", None)
    relations = package.relations(part)
    numbering = Numbering(package.xml(package.related(part, "numbering")))
    styles = _Styles(package.xml(package.related(part, "styles")))
    reader = _Word(package, part, styles, numbering, relations)
    builder = Builder()
    reader.blocks(body, builder)
    return Extracted(
        package.title() or builder.first_heading(),
        _with_notes(reader, builder, reader.noted()),
        None,
    )


def _with_notes(reader: _Word | _OpenDocument, builder: Builder, notes: Iterable[Any]) -> str:
    """The Markdown of a text and its notes, which may refer to further ones."""
    parts = [markdown_of(builder)]
    for number, note in enumerate(notes, 1):
        inner = Builder()
        reader.blocks(note, inner)
        parts.append(note_of(number, inner))
    return "\n\n".join(parts).strip()


class _Styles(dict[str, _Style]):
    """The styles by id, read when they are asked for: most documents define hundreds and use ten."""

    def __init__(self, root: Any) -> None:
        super().__init__()
        elements = root.iterchildren(f"{W}style") if root is not None else ()
        self._elements = {one.get(f"{W}styleId", ""): one for one in elements}

    def __missing__(self, name: str) -> _Style:
        chain: dict[str, Any] = {}
        # A loop, since a document chooses how long the chain is; it may also lead back to itself.
        while name in self._elements and name not in self and name not in chain:
            chain[name] = self._elements[name]
            name = _value(chain[name], "basedOn")
        style = self.get(name, _Style())
        for one, element in reversed(chain.items()):
            style = replace(style, name=_value(element, "name"))
            if heading := _HEADING.fullmatch(style.name):
                style = replace(style, outline=int(heading[1]) - 1)
            properties = element.find(f"{W}pPr")
            style = style if properties is None else _styled(properties, style)
            of_text = element.find(f"{W}rPr")
            if of_text is not None:
                is_hidden = _is_unseen(of_text, is_hidden=style.is_hidden)
                style = replace(style, is_hidden=is_hidden, marks=_apart(of_text, style.marks))
            self[one] = style
        return style


def _is_unseen(properties: Any, *, is_hidden: bool) -> bool:
    """Whether the properties of a run or style hide its text; `is_hidden`: what they inherit does."""
    size = _value(properties, "sz")
    if size and _number(size, _SMALL + 1) <= _SMALL:
        return True
    vanishes = properties.find(f"{W}vanish")
    return is_hidden if vanishes is None else _is_on(vanishes)


_LEAST_POSITION = 4
"""So far above or below its line (half points) text is raised or lowered, and not only fitted to a picture."""


def _apart(properties: Any, inherited: tuple[str, ...]) -> tuple[str, ...]:
    """The marks of raised, lowered and struck text, of the properties of a run or those it inherits."""
    marks = list(inherited)
    for name in _STRUCK:
        if (struck := properties.find(W + name)) is not None:
            marks = [mark for mark in marks if mark != "del"] + ["del"] * _is_on(struck)
            if "del" in marks:
                break
    height = _HEIGHTS.get(_value(properties, "vertAlign"), "")
    if not height and abs(position := _signed(_value(properties, "position"))) >= _LEAST_POSITION:
        height = "sup" if position > 0 else "sub"
    if height or _value(properties, "vertAlign"):  # "baseline"
        marks = [mark for mark in marks if mark not in ("sup", "sub")] + [height] * bool(height)
    return tuple(marks)


def _styled(properties: Any, style: _Style) -> _Style:
    """`style` with what the properties of a paragraph change."""
    if outline := _value(properties, "outlineLvl"):
        style = replace(style, outline=_number(outline, _BODY_TEXT))
    numbering = properties.find(f"{W}numPr")
    if numbering is not None:
        list_id, level = _value(numbering, "numId"), _value(numbering, "ilvl")
        level_there = _number(level, 0) if level else style.list_level
        style = replace(style, list_id=list_id or style.list_id, list_level=level_there)
    return style


def _chosen(choices: Any) -> str:
    """The entry of a list in a form that is chosen; the first one if the list does not say."""
    entries = choices.findall(f"{W}listEntry")
    place = _number(_value(choices, "result") or _value(choices, "default"), 0)
    return str(entries[place].get(_VAL, "")) if place < len(entries) else ""


def _continues(properties: Any, name: str) -> bool:
    """Whether a cell continues the one above (`vMerge`) or beside it (`hMerge`)."""
    merge = properties.find(W + name)
    return merge is not None and merge.get(_VAL, "continue") == "continue"


def _within(parent: Any, tag: str) -> Iterator[Any]:
    """The children with this tag, also those in content controls and tracked changes."""
    for element in parent:
        if element.tag == tag:
            yield element
        elif element.tag not in _SKIPPED:
            yield from _within(element, tag)


def _is_on(element: Any) -> bool:
    return element is not None and element.get(_VAL, "1") not in ("0", "false", "off", "none")


def _value(parent: Any, name: str) -> str:
    element = parent.find(W + name)
    return "" if element is None else str(element.get(_VAL, ""))


def _number(text: str, otherwise: int, most: int = 99_999) -> int:
    return (
        min(int(text), most) if text.isascii() and text.isdecimal() and len(text) < 9 else otherwise
    )


MOST_SLIDES = 2_000
HIDDEN = "Hidden slides were left out: {}."
MORE = "Slides after the first {:,} were left out."

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_TITLES = ("title", "ctrTitle")
_REPEATED = ("dt", "ftr", "hdr", "sldNum", "sldImg")
"""Placeholders that every slide or page of notes repeats."""
_DEEPEST = 50

Place = tuple[float, float]


def pptx(package: Package) -> Extracted:
    """A presentation without its hidden slides and the headers and footers of its slides."""
    part = package.related("", "officeDocument") or "ppt/presentation.xml"
    root = package.xml(part)
    relations = package.relations(part)
    named = [one.get(f"{_R}id", "") for one in root.iter(f"{_P}sldId")] if root is not None else []
    builder, hidden = Builder(), 0
    for number, name in enumerate(dict.fromkeys(named[:MOST_SLIDES]), 1):
        slide = relations.get(name, ("", ""))[1]
        root = package.xml(slide)
        tree = root.find(f"{_P}cSld/{_P}spTree") if root is not None else None
        if root is not None and root.get("show") in ("0", "false"):
            hidden += 1
        elif tree is not None:
            _write_slide(package, slide, tree, number, builder)
    warnings = (
        *((HIDDEN.format(hidden),) if hidden else ()),
        *((MORE.format(MOST_SLIDES),) if len(named) > MOST_SLIDES else ()),
    )
    title = package.title()
    if title.casefold() in ("", "powerpoint presentation"):
        title = builder.first_heading()
    return Extracted(title, markdown_of(builder), None, warnings)


def _write_slide(package: Package, part: str, tree: Any, number: int, builder: Builder) -> None:
    shapes = list(_shapes(tree))
    title = next((one for one in shapes if _placeholder(one) in _TITLES), None)
    words = "" if title is None else " ".join(_words(title).split())
    builder.text(builder.block("h2"), words or f"Slide {number}")
    rest = [one for one in shapes if one is not title and _placeholder(one) not in _REPEATED]
    # From top to bottom; a shape whose place is unknown stays behind the one before it.
    places: list[Place] = []
    for one in rest:
        places.append(_place(one) or (places[-1] if places else (0, 0)))
    for at in sorted(range(len(rest)), key=lambda at: (places[at], at)):
        _write_shape(package, rest[at], package.relations(part), builder)
    notes = package.xml(package.related(part, "notesSlide"))
    found = () if notes is None else notes.iter(f"{_P}sp")
    bodies = [one.find(f"{_P}txBody") for one in found if _placeholder(one) not in _REPEATED]
    written = [one for one in bodies if one is not None and _words(one).strip()]
    if written:
        builder.text(builder.block("h3"), "Notes")
    for body in written:
        _paragraphs(body, builder, is_list=False)


def _write_shape(
    package: Package, shape: Any, relations: dict[str, tuple[str, str]], builder: Builder
) -> None:
    table = next(shape.iter(f"{A}tbl"), None)
    if table is not None:
        builder.table(
            _rows_of_slide(table), lambda cell, inner: _paragraphs(cell, inner, is_list=False)
        )
        return
    found = list(embedded(shape, relations))
    for kind, part in found:
        write_embedded(package, kind, part, builder)
    if (
        shape.tag in (f"{_P}pic", f"{_P}graphicFrame")
        and not found
        and (name := picture(shape, relations))
    ):
        builder.text(builder.block("p"), name)
    body = shape.find(f"{_P}txBody")
    if body is not None:
        is_list = len(body.findall(f"{A}p")) > 1 and _placeholder(shape) in ("body", "obj")
        _paragraphs(body, builder, is_list=is_list)


def _shapes(tree: Any, depth: int = 0) -> Iterator[Any]:
    """The shapes with content, in groups and alternatives too."""
    for one in tree:
        if one.tag in (f"{_P}sp", f"{_P}pic", f"{_P}graphicFrame"):
            yield one
        elif (
            one.tag in (f"{_P}grpSp", f"{_MC}AlternateContent", f"{_MC}Choice") and depth < _DEEPEST
        ):
            yield from _shapes(one, depth + 1)


def _placeholder(shape: Any) -> str:
    """The type of a placeholder; "" for other shapes."""
    found = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return "" if found is None else found.get("type", "obj")


def _place(shape: Any) -> Place | None:
    offset = next(shape.iter(f"{A}off", f"{_P}off"), None)
    try:
        return None if offset is None else (int(offset.get("y", "")), int(offset.get("x", "")))
    except ValueError:
        return None


def _words(element: Any) -> str:
    return " ".join("".join(one.itertext(f"{A}t")) for one in element.iter(f"{A}p"))


def _rows_of_slide(table: Any) -> Iterator[list[Cell]]:
    for row in table.iterchildren(f"{A}tr"):
        cells: list[Cell] = []
        for cell in row.iterchildren(f"{A}tc"):
            if cell.get("hMerge") in ("1", "true"):
                continue
            above = "above" if cell.get("vMerge") in ("1", "true") else ""
            cells.append((cell, _number(cell.get("gridSpan", ""), 1), above))
        yield cells


def _paragraphs(body: Any, builder: Builder, *, is_list: bool) -> None:
    """Write paragraphs. `is_list` makes list items of those that do not say that they have no bullet."""
    for element in body.iter(f"{A}p"):
        properties = element.find(f"{A}pPr")
        level, numbers, plain = "0", None, not is_list
        if properties is not None:
            level = properties.get("lvl", "0")
            numbers = properties.find(f"{A}buAutoNum")
            has_bullet = numbers is not None or properties.find(f"{A}buChar") is not None
            plain = not has_bullet and (plain or properties.find(f"{A}buNone") is not None)
        runs = list(_runs(element))
        if not any(text.strip() for text, _ in runs):
            continue
        if plain:
            block = builder.block("p")
        else:
            block = builder.item(_number(level, 0), is_ordered=numbers is not None)
        if numbers is not None and not plain and block.getprevious() is None:
            _count_as(block.getparent(), numbers)
        builder.texts(block, runs)


_COUNTERS = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}


def _count_as(numbered: Any, numbers: Any) -> None:
    """Let a new list count as its first paragraph says: with letters, Roman numbers, or from another number on."""
    kind = re.sub(r"(?:Paren(?:R|Both)|Period|Plain)$", "", numbers.get("type", ""))
    if kind in _COUNTERS:
        numbered.set("type", _COUNTERS[kind])
    if start := _number(numbers.get("startAt", ""), 0):
        numbered.set("start", str(start))


def _runs(paragraph: Any) -> Iterator[Text]:
    for one in paragraph:
        if one.tag == f"{A}br":
            yield "\n", ()
        elif one.tag in (f"{A}r", f"{A}fld"):
            properties = one.find(f"{A}rPr")
            marks: tuple[str, ...] = ()
            if properties is not None:
                on = ("1", "true")
                marks = tuple(
                    mark
                    for name, mark in (("b", "strong"), ("i", "em"))
                    if properties.get(name) in on
                )
                if properties.get("strike", "noStrike") != "noStrike":
                    marks = (*marks, "del")
                raised = _signed(properties.get("baseline", "0"))
                marks = (*marks, *(("sup",) if raised > 0 else ("sub",) if raised < 0 else ()))
            yield one.findtext(f"{A}t", ""), marks
        elif (formula := next(one.iter(f"{_M}oMath"), None)) is not None:
            yield formulas.of_office(formula), ("tex",)
        else:
            yield "".join(one.itertext(f"{A}t")), ()


def _signed(text: str) -> int:
    digits = text.removeprefix("-").removesuffix("%")
    return _number(digits, 0) * (-1 if text.startswith("-") else 1)


MOST_REPEATED = 1_000
"""The most columns and rows that a repeated cell or row stands for: programs repeat empty ones up to the last row."""
LONG_CELL = 100
"""So many characters of a cell count as a further one, as does each element in it."""
MOST_SPACES = 100
_MOST_PARENTS = 30

_REPEATED_IN_PAGES = ("header", "footer", "date-time", "page-number")
_LENGTH = re.compile(r"(-?\d{1,9}(?:\.\d{1,9})?)([a-z]{2})")
_CODE_STYLES = ("preformatted_20_text", "source_20_text", "code")


@dataclass(slots=True)
class _Look:
    """What an automatic or named style says: its marks, its parent, and how its text is displayed (`none` hides it)."""

    marks: tuple[str, ...] = ()
    parent: str = ""
    display: str = ""


@dataclass(frozen=True, slots=True)
class _Level:
    """How a level of a list counts: the kind of its numbers, such as `1` or `a` ("": none), and the first one."""

    kind: str = ""
    start: str = ""


def _is_continued(element: Any) -> bool:
    """Whether a list goes on counting where one above it ended."""
    continues = element.get(f"{_TEXT}continue-numbering") == "true"
    return continues or element.get(f"{_TEXT}continue-list") is not None


@dataclass(slots=True)
class _OpenDocument:
    """Reads one document. `numbered` says how the levels of a style of lists count; `lists` counts those that do not
    continue another one; `notes` are the bodies of
    its footnotes and endnotes; `room` is how many repeated cells it may still have.
    """

    package: Package
    styles: dict[str, _Look]
    numbered: dict[str, list[_Level]]
    lists: int = 0
    notes: list[Any] = field(default_factory=list)
    room: int = MOST_FILLED

    def blocks(self, parent: Any, builder: Builder) -> None:
        """Write the headings, paragraphs, lists, tables and frames in an element."""
        for element in parent:
            tag = element.tag
            if tag == f"{_TEXT}h":
                level = _number(element.get(f"{_TEXT}outline-level", ""), 1, most=6)
                self._paragraph(element, builder.block(f"h{level or 1}"), builder)
            elif tag == f"{_TEXT}p":
                self._paragraph(element, self._block_of(element, builder), builder)
            elif tag == f"{_TEXT}list":
                self._list(element, 0, "", builder)
            elif tag == f"{_TABLE}table":
                builder.table(self._rows(element), self.blocks)
            elif tag == f"{_DRAW}frame":
                self._frame(element, builder)
            elif tag not in _SKIPPED:
                self.blocks(element, builder)

    def _block_of(self, element: Any, builder: Builder) -> Any:
        """The block for a paragraph, by its style and those that this is based on."""
        name = element.get(f"{_TEXT}style-name", "")
        for _ in range(_MOST_PARENTS):
            lower = name.lower()
            if lower == "title":
                return builder.block("h1")
            if lower.startswith(_CODE_STYLES):
                return builder.block("pre")
            if lower.startswith("quot"):
                return builder.block("blockquote")
            name = self.styles.get(name, _Look()).parent
        return builder.block("p")

    def _list(self, element: Any, level: int, name: str, builder: Builder) -> None:
        name = element.get(f"{_TEXT}style-name", name)
        levels = self.numbered.get(name, [])
        own = levels[level] if level < len(levels) else _Level()
        continues = level or _is_continued(element)
        self.lists += not continues
        start = "" if continues else own.start
        for item in element:
            first = True
            start = item.get(f"{_TEXT}start-value", start)
            for child in item:
                if child.tag == f"{_TEXT}list":
                    self._list(child, level + 1, name, builder)
                elif child.tag == f"{_TEXT}h" and item.tag != f"{_TEXT}list-header":
                    self.blocks([child], builder)  # a numbered heading
                elif child.tag in (f"{_TEXT}p", f"{_TEXT}h"):
                    block = builder.more() if not first else self._item(own, level, name, builder)
                    if first and own.kind and start:
                        block.set("value", start)
                        start = ""
                    self._paragraph(child, block, builder)
                    first = False

    def _item(self, own: _Level, level: int, name: str, builder: Builder) -> Any:
        item = builder.item(level, is_ordered=bool(own.kind), list_id=f"{name} {self.lists}")
        if own.kind in _LETTERS:
            item.getparent().set("type", own.kind)
        return item

    def _is_hidden(self, element: Any) -> bool:
        """Whether the style of a paragraph or span, or one that it is based on, hides the text.

        So does one that is based on too many others to tell.
        """
        name = element.get(f"{_TEXT}style-name", "")
        for _ in range(_MOST_PARENTS):
            look = self.styles.get(name)
            if look is None or look.display:
                return look is not None and look.display == "none"
            name = look.parent
        return bool(name)

    def _marks(self, span: Any) -> tuple[str, ...]:
        """The marks of the style of a span, or of the nearest one with marks that it is based on."""
        name = span.get(f"{_TEXT}style-name", "")
        for _ in range(_MOST_PARENTS):
            look = self.styles.get(name, _Look())
            if look.marks:
                return look.marks
            name = look.parent
        return ()

    def _paragraph(self, element: Any, block: Any, builder: Builder) -> None:
        if self._is_hidden(element):
            return
        frames: list[Any] = []
        builder.texts(block, self._inline(element, (), frames))
        for frame in frames:
            self._frame(frame, builder)

    def _inline(self, element: Any, marks: tuple[str, ...], frames: list[Any]) -> Iterator[Text]:
        """The texts of a paragraph with their marks; its frames go to `frames`."""
        if element.text:
            yield " ".join(element.text.split("\n")), marks
        for child in element:
            tag = child.tag
            if tag == f"{_TEXT}ruby":
                yield from self._ruby(child, marks, frames)
            elif tag == f"{_TEXT}span":
                if not self._is_hidden(child):
                    yield from self._inline(child, (*marks, *self._marks(child)), frames)
            elif tag == f"{_TEXT}a":
                yield from self._inline(child, (*marks, f"a {child.get(_XLINK, '')}"), frames)
            elif tag == f"{_TEXT}s":
                yield " " * _number(child.get(f"{_TEXT}c", ""), 1, MOST_SPACES), marks
            elif tag == f"{_TEXT}tab":
                yield "\t", marks
            elif tag == f"{_TEXT}line-break":
                yield "\n", marks
            elif tag == f"{_TEXT}note":
                self.notes.append(child.iterchildren(f"{_TEXT}note-body"))
                yield f"[^{len(self.notes)}]", ()
            elif tag == f"{_DRAW}frame" and (formula := self._formula(child)):
                yield formula, ("tex",)
            elif tag.startswith(_DRAW):
                frames.append(child)
            elif tag not in _SKIPPED:
                yield from self._inline(child, marks, frames)
            if child.tail:
                yield " ".join(child.tail.split("\n")), marks

    def _ruby(self, element: Any, marks: tuple[str, ...], frames: list[Any]) -> Iterator[Text]:
        """Signs and, above them, how they are read."""
        for name, elements in (("ruby-base", ("ruby",)), ("ruby-text", ("ruby", "rt"))):
            part = element.find(_TEXT + name)
            if part is not None:
                yield from self._inline(part, (*marks, *elements), frames)

    def _formula(self, frame: Any) -> str:
        """The LaTeX of the formula in a frame; "" if it holds something else."""
        place = frame.find(f"{_DRAW}object")
        if place is None:
            return ""
        math = place.find(f"{_MATHML}math")
        if math is None:
            root = self.package.xml(inside("", f"{place.get(_XLINK, '')}/content.xml"))
            math = root if root is not None and root.tag == f"{_MATHML}math" else None
        return "" if math is None else formulas.of_open_document(math)

    def _frame(self, frame: Any, builder: Builder) -> None:
        """A picture by its name; a text box, a shape or a table by its text."""
        if formula := self._formula(frame):
            builder.text(builder.block("p"), formula, ("tex",))
            return
        image = frame.find(f"{_DRAW}image")
        words = frame.findtext(f"{_SVG}desc") or frame.findtext(f"{_SVG}title") or ""
        is_preview = (
            frame.find(f"{_DRAW}object") is not None or frame.find(f"{_TABLE}table") is not None
        )
        if image is not None and (words or not is_preview):
            name = image.get(_XLINK, "").rpartition("/")[2]
            builder.text(builder.block("p"), figure(words, name))
        self.blocks([one for one in frame if one is not image], builder)

    def _rows(self, table: Any) -> Iterator[list[Cell]]:
        """The cells of each row; a cell that spans several rows is named again in those below."""
        below: dict[int, tuple[int, int]] = {}
        for row in _within(table, f"{_TABLE}table-row"):
            cells: list[Cell] = []
            column = 0
            for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                for _ in range(self._repeats(cell)):
                    if column in below:
                        left, across = below.pop(column)
                        cells.append((None, across, "above"))
                        if left > 1:
                            below[column] = (left - 1, across)
                    elif cell.tag == f"{_TABLE}table-cell":
                        across = _count(cell, "columns-spanned", MOST_REPEATED)
                        if (down := _count(cell, "rows-spanned", MOST_REPEATED)) > 1:
                            below[column] = (down - 1, across)
                        cells.append((cell, across, ""))
                    column += 1
            if any(cell is not None for cell, _, _ in cells):
                yield cells

    def _repeats(self, cell: Any) -> int:
        """How often a cell is written; only once where there is no more room."""
        repeats = _count(cell, "columns-repeated", MOST_REPEATED)
        if repeats == 1 or self.room <= 0:
            return 1
        size = sum(1 for _ in cell.iter()) + sum(map(len, cell.itertext())) // LONG_CELL
        repeats = min(repeats, 1 + self.room // size)
        self.room -= (repeats - 1) * size
        return repeats


def odt(package: Package, body: bytes) -> Extracted:
    """A text document without its headers, footers, comments and deleted text."""
    reader, content = _opened(package, "text")
    builder = Builder()
    reader.blocks(content, builder)
    # A note may add to the list.
    return Extracted(
        package.title() or builder.first_heading(), _with_notes(reader, builder, reader.notes), None
    )


def odp(package: Package, body: bytes) -> Extracted:
    """A presentation: each slide under its title, with its notes."""
    reader, content = _opened(package, "presentation")
    builder = Builder()
    for number, page in enumerate((one for one in content if one.tag == f"{_DRAW}page"), 1):
        frames = [one for one in page if one.get(f"{_PRESENTATION}class") not in _REPEATED_IN_PAGES]
        title = next((one for one in frames if one.get(f"{_PRESENTATION}class") == "title"), None)
        words = "" if title is None else " ".join(" ".join(title.itertext()).split())
        builder.text(builder.block("h2"), words or f"Slide {number}")
        notes = page.find(f"{_PRESENTATION}notes")
        rest = [one for one in frames if one is not title and one is not notes]
        # From top to bottom, if all places are known and in one unit.
        places = [
            [_LENGTH.fullmatch(one.get(f"{_SVG}{axis}", "")) for axis in ("y", "x")] for one in rest
        ]
        keys = [(float(y[1]), float(x[1])) for y, x in places if y and x and y[2] == x[2]]
        order = (
            sorted(range(len(rest)), key=keys.__getitem__)
            if len(keys) == len(rest)
            else range(len(rest))
        )
        reader.blocks([rest[at] for at in order], builder)
        if (
            notes is not None
            and "".join("".join(one.itertext()) for one in notes.iter(f"{_TEXT}p")).strip()
        ):
            builder.text(builder.block("h3"), "Notes")
            reader.blocks(
                [
                    one
                    for one in notes.iter(f"{_DRAW}frame")
                    if one.get(f"{_PRESENTATION}class") == "notes"
                ],
                builder,
            )
    return Extracted(package.title() or builder.first_heading(), markdown_of(builder), None)


OPEN_DOCUMENTS = {"text": odt, "presentation": odp, "spreadsheet": ods}


def _opened(package: Package, kind: str) -> tuple[_OpenDocument, Any]:
    content = package.xml("content.xml")
    body = content.find(f"{_OFFICE}body/{_OFFICE}{kind}") if content is not None else None
    roots = [root for root in (content, package.xml("styles.xml")) if root is not None]
    numbered = {
        style.get(f"{_STYLE}name", ""): [_level_of(level) for level in islice(style, 10)]
        for root in roots
        for style in root.iter(f"{_TEXT}list-style")
    }
    return _OpenDocument(package, _looks(roots), numbered), () if body is None else body


def _level_of(level: Any) -> _Level:
    if level.tag != f"{_TEXT}list-level-style-number":
        return _Level()
    return _Level(level.get(f"{_STYLE}num-format", ""), level.get(f"{_TEXT}start-value", ""))


def _looks(roots: list[Any]) -> dict[str, _Look]:
    styles: dict[str, _Look] = {}
    for one in (one for root in roots for one in root.iter(f"{_STYLE}style")):
        name, said = one.get(f"{_STYLE}name", ""), one.find(f"{_STYLE}text-properties")
        marks: tuple[str, ...] = ()
        if name.lower().startswith(_CODE_STYLES):
            marks = ("code",)
        elif said is not None:
            bold = said.get(f"{_FO}font-weight") == "bold"
            italic = said.get(f"{_FO}font-style") == "italic"
            struck = said.get(f"{_STYLE}text-line-through-style", "none") != "none"
            marks = tuple(
                mark for is_on, mark in ((bold, "strong"), (italic, "em"), (struck, "del")) if is_on
            )
            height = said.get(f"{_STYLE}text-position", "").partition(" ")[0]
            marks = (*marks, *_height_marks(height))
        display = said.get(f"{_TEXT}display", "") if said is not None else ""
        styles.setdefault(name, _Look(marks, one.get(f"{_STYLE}parent-style-name", ""), display))
    return styles


def _height_marks(height: str) -> tuple[str, ...]:
    """The mark for text that stands `super`, `sub`, or so many percent above or below the line."""
    if height == "super" or (height.endswith("%") and _signed(height) > 0):
        return ("sup",)
    return ("sub",) if height == "sub" or (height.endswith("%") and _signed(height) < 0) else ()


def _count(element: Any, name: str, most: int) -> int:
    return _number(element.get(f"{_TABLE}number-{name}", ""), 1, most) or 1
