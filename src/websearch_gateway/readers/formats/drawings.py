"""Pictures, charts and diagrams in Office documents: their names and alternative texts, and the numbers of a chart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from websearch_gateway.readers.formats.package import Package
from websearch_gateway.readers.formats.rendering import Builder

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_MOST_POINTS = 2_000
_MOST_SERIES = 50
"""The most points and series of a chart to read."""


def figure(description: str, name: str) -> str:
    """How a picture is named in the text: by its alternative text, or else by its name."""
    words = " ".join((description or name).split())
    return f"[Image: {words}]" if words else "[Image]"


def picture(element: Any, relations: dict[str, tuple[str, str]]) -> str:
    """A drawing's picture as text; "" if it has none and no alternative text."""
    described = next((one for one in element.iter() if one.get("descr") or one.get("alt")), None)
    description = "" if described is None else described.get("descr") or described.get("alt")
    blip = next((one for one in element.iter() if one.get(f"{_R}embed") or _is_old_image(one)), None)
    if blip is None:
        return figure(description, "") if description else ""
    target = relations.get(blip.get(f"{_R}embed") or blip.get(f"{_R}id", ""), ("", ""))[1]
    return figure(description, target.rpartition("/")[2])


def _is_old_image(element: Any) -> bool:
    return str(element.tag).endswith("}imagedata")


def embedded(element: Any, relations: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The parts of charts and diagrams in a drawing: `chart` or `diagram`, and the part's name."""
    for one in element.iter(f"{_C}chart"):
        yield "chart", relations.get(one.get(f"{_R}id", ""), ("", ""))[1]
    for one in element.iter(f"{_DGM}relIds"):
        yield "diagram", relations.get(one.get(f"{_R}dm", ""), ("", ""))[1]


def write_embedded(package: Package, kind: str, part: str, builder: Builder) -> None:
    """Write the title and the numbers of a chart, or the words of a diagram."""
    root = package.xml(part)
    if root is None:
        return
    if kind == "diagram":
        for words in root.iter(f"{A}p"):
            if text := "".join(words.itertext(f"{A}t")).strip():
                builder.text(builder.item(0, is_ordered=False), text)
        return
    heading = root.find(f".//{_C}chart/{_C}title")
    title = " ".join("".join(heading.itertext(f"{A}t", f"{_C}v")).split()) if heading is not None else ""
    builder.text(builder.block("p"), f"Chart: {title}" if title else "Chart", ("strong",))
    series = [_series(one) for one in islice(root.iter(f"{_C}ser"), _MOST_SERIES)]
    points = list(dict.fromkeys(point for _, names, values in series for point in (*names, *values)))[:_MOST_POINTS]
    rows: list[list[str]] = [["", *(name for name, _, _ in series)]]
    for point in points:
        label = next((names[point] for _, names, _ in series if point in names), "")
        rows.append([label, *(values.get(point, "") for _, _, values in series)])
    if points:
        builder.table(([(cell, 1, "") for cell in row] for row in rows), lambda cell, inner: inner.own_text(cell))


def _series(element: Any) -> tuple[str, dict[str, str], dict[str, str]]:
    """The name of a series, its categories and its values, by the index of the point."""
    name = " ".join(element.findtext(f"{_C}tx//{_C}v", "").split())
    axes = [(f"{_C}cat", f"{_C}xVal"), (f"{_C}val", f"{_C}yVal")]
    found = []
    for tags in axes:
        points = (point for tag in tags for axis in element.iterchildren(tag) for point in axis.iter(f"{_C}pt"))
        found.append({one.get("idx", ""): one.findtext(f"{_C}v", "") for one in islice(points, _MOST_POINTS)})
    return name, found[0], found[1]
