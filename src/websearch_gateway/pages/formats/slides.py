"""Presentations of PowerPoint (PPTX) as Markdown: each slide stands under its title, with its lists, tables, charts,
pictures and notes.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, sections 19 and 21).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats import formulas
from websearch_gateway.pages.formats.office_drawings import A, embedded, picture, write_embedded
from websearch_gateway.pages.formats.office_parts import (
    ALTERNATIVES,
    Place,
    from_top_to_bottom,
    number,
    signed,
)
from websearch_gateway.pages.formats.package import Package, R, Relations
from websearch_gateway.pages.formats.rendering import Builder, Cell, Text, markdown_of

MOST_SLIDES = 2_000
HIDDEN = "Hidden slides were left out: {}."
MORE = "Slides after the first {:,} were left out."

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_ON = ("1", "true")
_OFF = ("0", "false")
_NO_TITLES = ("", "powerpoint presentation")
"""What the program writes for a presentation without a title."""


def pptx(package: Package) -> Extracted:
    """A presentation without its hidden slides and the headers and footers of its slides."""
    part = package.related("", "officeDocument") or "ppt/presentation.xml"
    relations = package.relations(part)
    slide_ids = _slide_ids(package.xml(part))
    builder = Builder()
    hidden = 0
    for number_of_slide, slide_id in enumerate(dict.fromkeys(slide_ids[:MOST_SLIDES]), 1):
        slide = relations[slide_id].target
        root = package.xml(slide)
        if root is None:
            continue
        if root.get("show") in _OFF:
            hidden += 1
            continue
        shapes = root.find(f"{_P}cSld/{_P}spTree")
        if shapes is not None:
            _write_slide(package, slide, shapes, number_of_slide, builder)
    warnings: list[str] = []
    if hidden:
        warnings.append(HIDDEN.format(hidden))
    if len(slide_ids) > MOST_SLIDES:
        warnings.append(MORE.format(MOST_SLIDES))
    title = package.title()
    if title.casefold() in _NO_TITLES:
        title = builder.first_heading()
    return Extracted(title, markdown_of(builder), None, tuple(warnings))


def _slide_ids(presentation: Any) -> list[str]:
    """The relations of a presentation to its slides, in their order."""
    if presentation is None:
        return []
    return [slide.get(f"{R}id", "") for slide in presentation.iter(f"{_P}sldId")]


# --- a slide ---

_SHAPE, _PICTURE, _FRAME = f"{_P}sp", f"{_P}pic", f"{_P}graphicFrame"
_GROUPS = (f"{_P}grpSp", f"{ALTERNATIVES}AlternateContent", f"{ALTERNATIVES}Choice")
_BODY = f"{_P}txBody"
_DEEPEST = 50
"""The deepest group of shapes that is read."""
_TITLES = ("title", "ctrTitle")
_REPEATED = ("dt", "ftr", "hdr", "sldNum", "sldImg")
"""Placeholders that every slide or page of notes repeats."""


def _write_slide(
    package: Package, part: str, tree: Any, number_of_slide: int, builder: Builder
) -> None:
    title = None
    shapes: list[Any] = []
    for shape in _shapes(tree):
        kind = _placeholder(shape)
        if kind in _TITLES and title is None:
            title = shape
        elif kind not in _REPEATED:
            shapes.append(shape)
    heading = "" if title is None else " ".join(_words(title).split())
    builder.text(builder.block("h2"), heading or f"Slide {number_of_slide}")
    for shape in from_top_to_bottom(shapes, _places(shapes)):
        _write_shape(package, shape, package.relations(part), builder)
    _write_notes(package, part, builder)


def _shapes(tree: Any, depth: int = 0) -> Iterator[Any]:
    """The shapes with content, in groups and alternatives too."""
    for element in tree:
        if element.tag in (_SHAPE, _PICTURE, _FRAME):
            yield element
        elif element.tag in _GROUPS and depth < _DEEPEST:
            yield from _shapes(element, depth + 1)


def _placeholder(shape: Any) -> str:
    """The type of a placeholder; "" for other shapes."""
    placeholder = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return "" if placeholder is None else placeholder.get("type", "obj")


def _places(shapes: list[Any]) -> list[Place]:
    """Where the shapes stand; one whose place is unknown stays behind the one before it."""
    places: list[Place] = []
    last: Place = (0, 0)
    for shape in shapes:
        last = _place(shape) or last
        places.append(last)
    return places


def _place(shape: Any) -> Place | None:
    offset = next(shape.iter(f"{A}off", f"{_P}off"), None)
    if offset is None:
        return None
    try:
        return int(offset.get("y", "")), int(offset.get("x", ""))
    except ValueError:
        return None


def _words(element: Any) -> str:
    paragraphs = element.iter(_PARAGRAPH)
    return " ".join("".join(paragraph.itertext(_TEXT)) for paragraph in paragraphs)


def _write_notes(package: Package, part: str, builder: Builder) -> None:
    notes = package.xml(package.related(part, "notesSlide"))
    if notes is None:
        return
    shapes = [shape for shape in notes.iter(_SHAPE) if _placeholder(shape) not in _REPEATED]
    bodies = [shape.find(_BODY) for shape in shapes]
    written = [body for body in bodies if body is not None and _words(body).strip()]
    if written:
        builder.text(builder.block("h3"), "Notes")
    for body in written:
        _write_paragraphs(body, builder, is_list=False)


def _write_shape(package: Package, shape: Any, relations: Relations, builder: Builder) -> None:
    table = next(shape.iter(f"{A}tbl"), None)
    if table is not None:
        builder.table(_rows(table), _write_cell)
        return
    drawings = list(embedded(shape, relations))
    for drawing in drawings:
        write_embedded(package, drawing, builder)
    if not drawings and shape.tag in (_PICTURE, _FRAME):
        name = picture(shape, relations)
        if name:
            builder.text(builder.block("p"), name)
    body = shape.find(_BODY)
    if body is not None:
        has_several = len(body.findall(_PARAGRAPH)) > 1
        is_list = has_several and _placeholder(shape) in ("body", "obj")
        _write_paragraphs(body, builder, is_list=is_list)


# --- tables ---


def _rows(table: Any) -> Iterator[list[Cell]]:
    for row in table.iterchildren(f"{A}tr"):
        cells = row.iterchildren(f"{A}tc")
        yield [_cell(cell) for cell in cells if not _continues(cell, "hMerge")]


def _cell(cell: Any) -> Cell:
    span = number(cell.get("gridSpan", ""), 1)
    return Cell(cell, span, continues_above=_continues(cell, "vMerge"))


def _continues(cell: Any, merge: str) -> bool:
    """Whether a cell continues the one above (`vMerge`) or beside it (`hMerge`)."""
    return cell.get(merge) in _ON


def _write_cell(cell: Any, builder: Builder) -> None:
    _write_paragraphs(cell, builder, is_list=False)


# --- paragraphs ---

_PARAGRAPH, _TEXT, _BREAK = f"{A}p", f"{A}t", f"{A}br"
_RUNS = (f"{A}r", f"{A}fld")
_COUNTERS = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_AROUND_COUNTER = re.compile(r"(?:Paren(?:R|Both)|Period|Plain)$")


def _write_paragraphs(body: Any, builder: Builder, *, is_list: bool) -> None:
    """Write paragraphs. `is_list` makes list items of those that do not say that they have no bullet."""
    for paragraph in body.iter(_PARAGRAPH):
        runs = list(_runs(paragraph))
        if any(text.strip() for text, _ in runs):
            block = _block(paragraph.find(f"{A}pPr"), builder, is_list=is_list)
            builder.texts(block, runs)


def _block(properties: Any, builder: Builder, *, is_list: bool) -> Any:
    """The element for a paragraph with these properties."""
    if not _is_item(properties, is_list=is_list):
        return builder.block("p")
    level, numbers = "0", None
    if properties is not None:
        level = properties.get("lvl", "0")
        numbers = properties.find(f"{A}buAutoNum")
    item = builder.item(number(level, 0), is_ordered=numbers is not None)
    if numbers is not None and item.getprevious() is None:
        _count_as(item.getparent(), numbers)
    return item


def _is_item(properties: Any, *, is_list: bool) -> bool:
    """Whether a paragraph has a bullet or a number, or stands in a list and does not say that it has none."""
    if properties is None:
        return is_list
    if properties.find(f"{A}buAutoNum") is not None or properties.find(f"{A}buChar") is not None:
        return True
    return is_list and properties.find(f"{A}buNone") is None


def _count_as(numbered: Any, numbers: Any) -> None:
    """Let a new list count as its first paragraph says: with letters, Roman numbers, or from another number on."""
    kind = _AROUND_COUNTER.sub("", numbers.get("type", ""))
    if kind in _COUNTERS:
        numbered.set("type", _COUNTERS[kind])
    if start := number(numbers.get("startAt", ""), 0):
        numbered.set("start", str(start))


def _runs(paragraph: Any) -> Iterator[Text]:
    """The texts of a paragraph with their marks."""
    for element in paragraph:
        if element.tag == _BREAK:
            yield "\n", ()
        elif element.tag in _RUNS:
            properties = element.find(f"{A}rPr")
            marks = () if properties is None else tuple(_marks(properties))
            yield element.findtext(_TEXT, ""), marks
        else:
            yield _formula_or_words(element)


def _formula_or_words(element: Any) -> Text:
    formula = next(element.iter(f"{formulas.M}oMath"), None)
    if formula is not None:
        return formulas.of_office(formula), ("tex",)
    return "".join(element.itertext(_TEXT)), ()


def _marks(properties: Any) -> Iterator[str]:
    if properties.get("b") in _ON:
        yield "strong"
    if properties.get("i") in _ON:
        yield "em"
    if properties.get("strike", "noStrike") != "noStrike":
        yield "del"
    height = signed(properties.get("baseline", "0"))
    if height > 0:
        yield "sup"
    elif height < 0:
        yield "sub"
