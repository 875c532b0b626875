"""Pictures, charts and diagrams in documents of Office: the words and numbers in them.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, section 21).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from websearch_gateway.pages.formats.package import Package, R, Relations
from websearch_gateway.pages.formats.rendering import Builder, Cell, figure

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"


def picture(drawing: Any, relations: Relations) -> str:
    """A drawing's picture as text; "" if it has none and no alternative text."""
    description = _description(drawing)
    for element in drawing.iter():
        if element.get(f"{R}embed") or element.tag.endswith("}imagedata"):
            link = element.get(f"{R}embed") or element.get(f"{R}id", "")
            name = relations[link].target.rpartition("/")[2]
            return figure(description, name)
    return figure(description, "") if description else ""


def _description(drawing: Any) -> str:
    """The first alternative text in a drawing, in its newer or its older form."""
    for element in drawing.iter():
        if description := element.get("descr") or element.get("alt"):
            return str(description)
    return ""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A chart, or a diagram of words, and the part that holds it."""

    part: str
    is_diagram: bool = False


def embedded(drawing: Any, relations: Relations) -> Iterator[Embedded]:
    """The charts and diagrams in a drawing."""
    for chart in drawing.iter(f"{_C}chart"):
        yield Embedded(relations[chart.get(f"{R}id", "")].target)
    for diagram in drawing.iter(f"{_DGM}relIds"):
        yield Embedded(relations[diagram.get(f"{R}dm", "")].target, is_diagram=True)


def write_embedded(package: Package, drawing: Embedded, builder: Builder) -> None:
    """Write the title and the numbers of a chart, or the words of a diagram."""
    root = package.xml(drawing.part)
    if root is None:
        return
    if drawing.is_diagram:
        _write_diagram(root, builder)
    else:
        _write_chart(root, builder)


def _write_diagram(root: Any, builder: Builder) -> None:
    for paragraph in root.iter(f"{A}p"):
        words = "".join(paragraph.itertext(f"{A}t")).strip()
        if words:
            builder.text(builder.item(0, is_ordered=False), words)


# --- charts ---

_MOST_POINTS = 2_000
_MOST_SERIES = 50
MORE_OF_CHART = "[… the rest of this chart is left out]"
"""Stands below a chart with more points or series than are read."""


@dataclass(frozen=True, slots=True)
class _Series:
    """A row of numbers in a chart: its categories and values by the index of the point."""

    name: str
    categories: dict[str, str]
    values: dict[str, str]


def _write_chart(root: Any, builder: Builder) -> None:
    """Write a table with a row for each point, and a column for each series."""
    title = _title(root)
    builder.text(builder.block("p"), f"Chart: {title}" if title else "Chart", ("strong",))
    elements = list(root.iter(f"{_C}ser"))
    series = [_series(element) for element in elements[:_MOST_SERIES]]
    points = list(dict.fromkeys(chain.from_iterable(map(_points, series))))
    if points:
        rows = _rows(series, points[:_MOST_POINTS])
        builder.table(rows, lambda text, cell: cell.text(cell.root, text))
    if len(elements) > _MOST_SERIES or len(points) > _MOST_POINTS:
        builder.text(builder.block("p"), MORE_OF_CHART)


def _title(root: Any) -> str:
    heading = root.find(f".//{_C}chart/{_C}title")
    if heading is None:
        return ""
    return " ".join("".join(heading.itertext(f"{A}t", f"{_C}v")).split())


def _points(series: _Series) -> Iterator[str]:
    return chain(series.categories, series.values)


def _rows(several: Sequence[_Series], points: Sequence[str]) -> Iterator[list[Cell]]:
    names = ["", *(series.name for series in several)]
    yield [Cell(name) for name in names]
    for point in points:
        category = next(
            (series.categories[point] for series in several if point in series.categories), ""
        )
        values = [series.values.get(point, "") for series in several]
        yield [Cell(text) for text in (category, *values)]


def _series(element: Any) -> _Series:
    name = " ".join(element.findtext(f"{_C}tx//{_C}v", "").split())
    categories = _texts_of_points(element, f"{_C}cat", f"{_C}xVal")
    return _Series(name, categories, _texts_of_points(element, f"{_C}val", f"{_C}yVal"))


def _texts_of_points(series: Any, *axes: str) -> dict[str, str]:
    """What these axes of a series say, by the index of the point; one more than are read."""
    tags = chain.from_iterable(series.iterchildren(axis) for axis in axes)
    points = chain.from_iterable(axis.iter(f"{_C}pt") for axis in tags)
    texts = {}
    for point in islice(points, _MOST_POINTS + 1):
        texts[point.get("idx", "")] = point.findtext(f"{_C}v", "")
    return texts
