"""A Word document (DOCX) as Markdown: its XML becomes an HTML tree, which the writer of web pages renders.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, section 17).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.formats.drawings import embedded, picture, write_embedded
from websearch_gateway.readers.formats.package import Package
from websearch_gateway.readers.formats.rendering import Builder, markdown_of

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_VAL = f"{W}val"
_SMALL = 4
"""Text of at most this size (half points) is not read by people."""
_MOST_STYLES = 50
"""The longest chain of styles that are based on each other."""
_DEEPER = re.compile(r"list (?:bullet|number) ([2-9])", re.IGNORECASE)
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_CODE = re.compile(r"(?:source ?code|code|html preformatted|preformatted text|plain text)\b", re.IGNORECASE)
_CODE_WORDS = re.compile(r"(?:verbatim char|html code|inline code|code char|source text)", re.IGNORECASE)
_ORDERED = frozenset(("bullet", "none", ""))
_SKIPPED = frozenset(f"{W}{name}" for name in ("del", "moveFrom", "sectPr", "pPr", "rPr", "tblPr", "tblGrid"))
_FALLBACK = f"{_MC}Fallback"


@dataclass(slots=True)
class _Style:
    """A paragraph or character style: its name, and what it says about the outline and lists."""

    name: str = ""
    based_on: str = ""
    outline: int | None = None
    list_id: str = ""
    list_level: int = 0


@dataclass(slots=True)
class _Reader:
    """Reads one document. `notes` are the ids of the footnotes and endnotes in the order of their marks."""

    package: Package
    part: str
    styles: _Styles
    lists: dict[str, dict[int, bool]]
    relations: dict[str, tuple[str, str]]
    notes: dict[tuple[str, str], int] = field(default_factory=dict)

    def blocks(self, parent: Any, builder: Builder) -> None:
        """Write the paragraphs and tables in an element."""
        for element in parent:
            tag = element.tag
            if tag == f"{W}p":
                self._paragraph(element, builder)
            elif tag == f"{W}tbl":
                builder.table(self._rows(element), self.blocks)
            elif tag not in _SKIPPED and tag != _FALLBACK:
                self.blocks(element, builder)

    def _paragraph(self, element: Any, builder: Builder) -> None:
        properties = element.find(f"{W}pPr")
        style, outline, list_id, level = self._described(properties)
        name = style.name
        if outline is not None:
            block = builder.block(f"h{min(outline + 1, 6)}")
        elif name.lower() == "title":
            block = builder.block("h1")
        elif list_id and (formats := self.lists.get(list_id)):
            deeper = _DEEPER.fullmatch(name)
            depth = max(level, int(deeper[1]) - 1 if deeper else 0)
            block = builder.item(depth, is_ordered=formats.get(level, False), list_id=list_id)
        elif _CODE.match(name):
            block = builder.block("pre")
        else:
            block = builder.block("blockquote" if "quote" in name.lower() else "p")
        later: list[Any] = []
        for text, marks in self._runs(element, later):
            builder.text(block, text, marks)
        for box in later:
            if isinstance(box, tuple):
                kind, part = box
                write_embedded(self.package, kind, part, builder)
            else:
                self.blocks(box, builder)

    def _described(self, properties: Any) -> tuple[_Style, int | None, str, int]:
        """The style, the outline level, the list and the level in it of a paragraph."""
        found = _style_of(properties) if properties is not None else _Style()
        style = self.styles[found.based_on]
        chain, outline, list_id, level = style, found.outline, found.list_id, found.list_level
        for _ in range(_MOST_STYLES):
            if outline is None:
                heading = _HEADING.fullmatch(chain.name)
                outline = chain.outline if chain.outline is not None else int(heading[1]) - 1 if heading else None
            if not list_id:
                list_id, level = chain.list_id, chain.list_level
            if not chain.based_on:
                break
            chain = self.styles[chain.based_on]
        return style, outline if outline is None or 0 <= outline < 9 else None, list_id if list_id != "0" else "", level

    def _runs(
        self, parent: Any, later: list[Any], marks: tuple[str, ...] = ()
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The texts of a paragraph with their marks; text boxes, and charts as their kind and part, go to `later`."""
        for element in parent:
            tag = element.tag
            if tag == f"{W}r":
                yield from self._run(element, later, marks)
            elif tag == f"{W}hyperlink":
                kind, address = self.relations.get(element.get(f"{_R}id", ""), ("", ""))
                yield from self._runs(element, later, (*marks, f"a {address}") if kind == "hyperlink" else marks)
            elif tag in (f"{_M}oMath", f"{_M}oMathPara"):
                yield "".join(element.itertext(f"{_M}t")), (*marks, "code")
            elif tag not in _SKIPPED and tag != _FALLBACK:
                yield from self._runs(element, later, marks)

    def _run(self, run: Any, later: list[Any], marks: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
        properties = run.find(f"{W}rPr")
        if properties is not None:
            if _is_hidden(properties):
                return
            marks = (*marks, *self._marks(properties))
        for element in run:
            tag = element.tag
            if tag == f"{W}t":
                yield element.text or "", marks
            elif tag in (f"{W}br", f"{W}cr"):
                yield "\n", marks
            elif tag == f"{W}tab":
                yield "\t", marks
            elif tag == f"{W}noBreakHyphen":
                yield "-", marks
            elif tag in (f"{W}footnoteReference", f"{W}endnoteReference"):
                key = ("footnotes" if "footnote" in tag else "endnotes", element.get(f"{W}id", ""))
                yield f"[^{self.notes.setdefault(key, len(self.notes) + 1)}]", ()
            elif tag in (f"{W}drawing", f"{W}pict", f"{W}object", f"{_MC}AlternateContent"):
                later += (box for box in element.iter(f"{W}txbxContent") if not _is_fallback(box))
                later += embedded(element, self.relations)
                yield picture(element, self.relations), ()

    def _marks(self, properties: Any) -> Iterator[str]:
        style = self.styles[_value(properties, "rStyle")]
        if _CODE_WORDS.search(style.name):
            yield "code"
        for name, mark in (("b", "strong"), ("i", "em"), ("strike", "del")):
            if _is_on(properties.find(W + name)):
                yield mark

    def _rows(self, table: Any) -> Iterator[list[tuple[Any, int, str]]]:
        """The cells of each row: the element, the columns that it spans, and "above" if it continues the one above."""
        for row in _within(table, f"{W}tr"):
            properties = row.find(f"{W}trPr")
            before = _value(properties, "gridBefore") if properties is not None else ""
            cells: list[tuple[Any, int, str]] = [(None, 1, "")] * _number(before, 0)
            for cell in _within(row, f"{W}tc"):
                properties = cell.find(f"{W}tcPr")
                span, merge = 1, None
                if properties is not None:
                    span = _number(_value(properties, "gridSpan"), 1)
                    merge = properties.find(f"{W}vMerge")
                continues = merge is not None and merge.get(_VAL, "continue") == "continue"
                cells.append((cell, span, "above" if continues else ""))
            yield cells

    def noted(self) -> str:
        """The footnotes and endnotes that the text refers to."""
        written: list[str] = []
        roots: dict[str, dict[str, Any]] = {}
        for (kind, name), number in list(self.notes.items()):
            if kind not in roots:
                root = self.package.xml(self.package.related(self.part, kind))
                roots[kind] = {} if root is None else {one.get(f"{W}id", ""): one for one in root}
            builder = Builder()
            if name in roots[kind]:
                self.blocks(roots[kind][name], builder)
            written.append(f"[^{number}]: {markdown_of(builder)}".replace("\n", "\n    ").rstrip())
        return "\n\n".join(written)


def docx(package: Package, url: str) -> Extracted:
    """A Word document; text that Word does not show is left out, and so are headers and footers."""
    part = package.related("", "officeDocument") or "word/document.xml"
    root = package.xml(part)
    body = root.find(f"{W}body") if root is not None else None
    if body is None:
        return Extracted(package.title(), "", None)
    relations = package.relations(part)
    lists = _lists(package.xml(package.related(part, "numbering")))
    styles = _Styles(package.xml(package.related(part, "styles"), _without_table_styles))
    reader = _Reader(package, part, styles, lists, relations)
    builder = Builder()
    reader.blocks(body, builder)
    text = markdown_of(builder)
    notes = reader.noted()
    return Extracted(package.title() or builder.first_heading(), f"{text}\n\n{notes}".strip(), None)


def _without_table_styles(xml: bytes) -> bytes:
    """The styles without those of tables, which say nothing about text: to parse hundreds took half of the time."""
    first, *others = xml.split(b'<w:style w:type="table"')
    return b"".join((first, *(other.partition(b"</w:style>")[2] for other in others)))


class _Styles(dict[str, _Style]):
    """The styles by id, read when they are asked for: most documents define hundreds and use ten."""

    def __init__(self, root: Any) -> None:
        super().__init__()
        elements = root.iterchildren(f"{W}style") if root is not None else ()
        self._elements = {one.get(f"{W}styleId", ""): one for one in elements}

    def __missing__(self, name: str) -> _Style:
        style = _Style()
        if name and (element := self._elements.get(name)) is not None:
            properties = element.find(f"{W}pPr")
            if properties is not None:
                style = _style_of(properties)
            style.name, style.based_on = _value(element, "name"), _value(element, "basedOn")
        self[name] = style
        return style


def _style_of(properties: Any) -> _Style:
    """What the properties of a paragraph say; `based_on` is its style."""
    style = _Style(based_on=_value(properties, "pStyle"))
    if outline := _value(properties, "outlineLvl"):
        style.outline = _number(outline, 9)
    numbering = properties.find(f"{W}numPr")
    if numbering is not None:
        style.list_id, style.list_level = _value(numbering, "numId"), _number(_value(numbering, "ilvl"), 0)
    return style


def _lists(root: Any) -> dict[str, dict[int, bool]]:
    """For each list, which of its levels are numbered."""
    if root is None:
        return {}
    abstract = {
        one.get(f"{W}abstractNumId", ""): {
            _number(level.get(f"{W}ilvl", ""), 0): _value(level, "numFmt") not in _ORDERED
            for level in one.iterchildren(f"{W}lvl")
        }
        for one in root.iterchildren(f"{W}abstractNum")
    }
    return {
        one.get(f"{W}numId", ""): abstract.get(_value(one, "abstractNumId"), {}) for one in root.iterchildren(f"{W}num")
    }


def _within(parent: Any, tag: str) -> Iterator[Any]:
    """The children with this tag, also those in content controls and tracked changes."""
    for element in parent:
        if element.tag == tag:
            yield element
        elif element.tag not in _SKIPPED:
            yield from _within(element, tag)


def _is_hidden(properties: Any) -> bool:
    size = _value(properties, "sz")
    return _is_on(properties.find(f"{W}vanish")) or (size != "" and _number(size, _SMALL + 1) <= _SMALL)


def _is_on(element: Any) -> bool:
    return element is not None and element.get(_VAL, "1") not in ("0", "false", "off", "none")


def _is_fallback(element: Any) -> bool:
    return next(element.iterancestors(_FALLBACK), None) is not None


def _value(parent: Any, name: str) -> str:
    element = parent.find(W + name)
    return "" if element is None else str(element.get(_VAL, ""))


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else otherwise
