"""A presentation (PPTX) as Markdown: each slide under its title, with its lists, tables, charts, pictures and notes.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, sections 19 and 21).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.formats.drawings import A, embedded, picture, write_embedded
from websearch_gateway.readers.formats.package import Package
from websearch_gateway.readers.formats.rendering import Builder, markdown_of

MOST_SLIDES = 2_000
HIDDEN = "Hidden slides were left out: {}."

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TITLES = ("title", "ctrTitle")
_REPEATED = ("dt", "ftr", "hdr", "sldNum", "sldImg")
"""Placeholders that every slide or page of notes repeats."""
_DEEPEST = 50

Place = tuple[int, int]


@dataclass(slots=True)
class _Slides:
    """Reads the slides of one presentation. `layouts` holds the places of the placeholders in the layouts seen."""

    package: Package
    layouts: dict[str, dict[str, Place]] = field(default_factory=dict)

    def write(self, part: str, number: int, builder: Builder) -> bool:
        """Write a slide; returns whether it is shown."""
        root = self.package.xml(part)
        tree = root.find(f"{_P}cSld/{_P}spTree") if root is not None else None
        if root is None or tree is None:
            return True
        if root.get("show") in ("0", "false"):
            return False
        shapes = list(_shapes(tree))
        title = next((one for one in shapes if _placeholder(one)[0] in _TITLES), None)
        words = "" if title is None else " ".join(_words(title).split())
        builder.text(builder.block("h2"), words or f"Slide {number}")
        relations = self.package.relations(part)
        rest = [one for one in shapes if one is not title and _placeholder(one)[0] not in _REPEATED]
        for shape in self._in_order(rest, relations):
            self._shape(shape, relations, builder)
        self._notes(relations, builder)
        return True

    def _in_order(self, shapes: list[Any], relations: dict[str, tuple[str, str]]) -> list[Any]:
        """The shapes from top to bottom; one whose place is unknown stays behind the shape before it."""
        places = [_place(one) for one in shapes]
        if any(places) and not all(places):
            known = self._layout(relations)
            places = [place or known.get(_placeholder(shape)[1]) for place, shape in zip(places, shapes, strict=True)]
        keys: list[Place] = []
        for place in places:
            keys.append(place or (keys[-1] if keys else (0, 0)))
        return [shapes[at] for at in sorted(range(len(shapes)), key=lambda at: (keys[at], at))]

    def _layout(self, relations: dict[str, tuple[str, str]]) -> dict[str, Place]:
        part = next((target for kind, target in relations.values() if kind == "slideLayout"), "")
        if part not in self.layouts:
            root = self.package.xml(part)
            shapes = root.iter(f"{_P}sp") if root is not None else ()
            self.layouts[part] = {_placeholder(one)[1]: place for one in shapes if (place := _place(one))}
        return self.layouts[part]

    def _shape(self, shape: Any, relations: dict[str, tuple[str, str]], builder: Builder) -> None:
        table = next(shape.iter(f"{A}tbl"), None)
        if table is not None:
            builder.table(_rows(table), lambda cell, inner: _paragraphs(cell, inner, is_list=False))
            return
        found = list(embedded(shape, relations))
        for kind, part in found:
            write_embedded(self.package, kind, part, builder)
        if shape.tag in (f"{_P}pic", f"{_P}graphicFrame") and not found and (name := picture(shape, relations)):
            builder.text(builder.block("p"), name)
        body = shape.find(f"{_P}txBody")
        if body is not None:
            kind = _placeholder(shape)[0]
            several = len(body.findall(f"{A}p")) > 1
            _paragraphs(body, builder, is_list=several and kind in ("body", "obj"))

    def _notes(self, relations: dict[str, tuple[str, str]], builder: Builder) -> None:
        part = next((target for kind, target in relations.values() if kind == "notesSlide"), "")
        root = self.package.xml(part) if part else None
        bodies = [
            one.find(f"{_P}txBody")
            for one in (root.iter(f"{_P}sp") if root is not None else ())
            if _placeholder(one)[0] not in _REPEATED
        ]
        written = [one for one in bodies if one is not None and _words(one).strip()]
        if written:
            builder.text(builder.block("h3"), "Notes")
        for body in written:
            _paragraphs(body, builder, is_list=False)


def pptx(package: Package, url: str) -> Extracted:
    """A presentation without its hidden slides and the headers and footers of its slides."""
    part = package.related("", "officeDocument") or "ppt/presentation.xml"
    root = package.xml(part)
    relations = package.relations(part)
    named = [one.get(f"{_R}id", "") for one in root.iter(f"{_P}sldId")] if root is not None else []
    slides, builder, hidden = _Slides(package), Builder(), 0
    for number, name in enumerate(dict.fromkeys(named[:MOST_SLIDES]), 1):
        hidden += not slides.write(relations.get(name, ("", ""))[1], number, builder)
    warnings = (HIDDEN.format(hidden),) if hidden else ()
    title = package.title()
    if title.casefold() in ("", "powerpoint presentation"):
        title = builder.first_heading()
    return Extracted(title, markdown_of(builder), None, warnings)


def _shapes(tree: Any, depth: int = 0) -> Iterator[Any]:
    """The shapes with content, in groups and alternatives too."""
    for one in tree:
        if one.tag in (f"{_P}sp", f"{_P}pic", f"{_P}graphicFrame"):
            yield one
        elif one.tag in (f"{_P}grpSp", f"{_MC}AlternateContent", f"{_MC}Choice") and depth < _DEEPEST:
            yield from _shapes(one, depth + 1)


def _placeholder(shape: Any) -> tuple[str, str]:
    """The type of a placeholder, and its key in the layout; empty for other shapes."""
    found = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    if found is None:
        return "", ""
    kind = found.get("type", "obj")
    return kind, found.get("idx") or kind


def _place(shape: Any) -> Place | None:
    offset = next(shape.iter(f"{A}off", f"{_P}off"), None)
    try:
        return None if offset is None else (int(offset.get("y", "")), int(offset.get("x", "")))
    except ValueError:
        return None


def _words(element: Any) -> str:
    return " ".join("".join(one.itertext(f"{A}t")) for one in element.iter(f"{A}p"))


def _rows(table: Any) -> Iterator[list[tuple[Any, int, str]]]:
    for row in table.iterchildren(f"{A}tr"):
        cells: list[tuple[Any, int, str]] = []
        for cell in row.iterchildren(f"{A}tc"):
            if cell.get("hMerge") in ("1", "true"):
                continue
            span = cell.get("gridSpan", "1")
            above = "above" if cell.get("vMerge") in ("1", "true") else ""
            cells.append((cell, int(span) if span.isdecimal() and len(span) < 4 else 1, above))
        yield cells


def _paragraphs(body: Any, builder: Builder, *, is_list: bool) -> None:
    """Write paragraphs. `is_list` makes list items of those that do not say that they have no bullet."""
    for element in body.iter(f"{A}p"):
        properties = element.find(f"{A}pPr")
        level, numbered, plain = "0", False, not is_list
        if properties is not None:
            level = properties.get("lvl", "0")
            numbered = properties.find(f"{A}buAutoNum") is not None
            has_bullet = numbered or properties.find(f"{A}buChar") is not None
            plain = not has_bullet and (plain or properties.find(f"{A}buNone") is not None)
        runs = list(_runs(element))
        if not any(text.strip() for text, _ in runs):
            continue
        depth = int(level) if level.isdecimal() and len(level) < 3 else 0
        block = builder.block("p") if plain else builder.item(depth, is_ordered=numbered)
        for text, marks in runs:
            builder.text(block, text, marks)


def _runs(paragraph: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    for one in paragraph:
        if one.tag == f"{A}br":
            yield "\n", ()
        elif one.tag in (f"{A}r", f"{A}fld"):
            properties = one.find(f"{A}rPr")
            marks: tuple[str, ...] = ()
            if properties is not None:
                on = ("1", "true")
                marks = tuple(mark for name, mark in (("b", "strong"), ("i", "em")) if properties.get(name) in on)
            yield one.findtext(f"{A}t", ""), marks
        else:
            yield "".join(one.itertext(f"{A}t")), ()
