"""Presentations of OpenDocument (ODP) as Markdown: each slide stands under its title, with its notes."""

from __future__ import annotations

import re
from typing import Any

from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.office_parts import Place, from_top_to_bottom
from websearch_gateway.pages.formats.open_documents import OpenDocument, opened
from websearch_gateway.pages.formats.open_styles import DRAW, PRESENTATION, SVG, TEXT
from websearch_gateway.pages.formats.package import Package
from websearch_gateway.pages.formats.rendering import Builder, markdown_of

_CLASS = f"{PRESENTATION}class"
_REPEATED = ("header", "footer", "date-time", "page-number")
"""Frames that every slide repeats."""
_LENGTH = re.compile(r"(-?\d{1,9}(?:\.\d{1,9})?)([a-z]{2})")


def odp(package: Package) -> Extracted:
    """A presentation: each slide under its title, with its notes."""
    reader, content = opened(package, "presentation")
    builder = Builder()
    pages = [element for element in content if element.tag == f"{DRAW}page"]
    for number_of_slide, page in enumerate(pages, 1):
        _write_slide(reader, page, number_of_slide, builder)
    return Extracted(package.title() or builder.first_heading(), markdown_of(builder), None)


def _write_slide(reader: OpenDocument, page: Any, number_of_slide: int, builder: Builder) -> None:
    frames = [frame for frame in page if frame.get(_CLASS) not in _REPEATED]
    title = next((frame for frame in frames if frame.get(_CLASS) == "title"), None)
    words = "" if title is None else " ".join(" ".join(title.itertext()).split())
    builder.text(builder.block("h2"), words or f"Slide {number_of_slide}")
    notes = page.find(f"{PRESENTATION}notes")
    rest = [frame for frame in frames if frame is not title and frame is not notes]
    reader.blocks(_in_order(rest), builder)
    if notes is not None and _has_words(notes):
        builder.text(builder.block("h3"), "Notes")
        written = [frame for frame in notes.iter(f"{DRAW}frame") if frame.get(_CLASS) == "notes"]
        reader.blocks(written, builder)


def _in_order(frames: list[Any]) -> list[Any]:
    """The frames from top to bottom; as they stand in the document unless the places of all are known."""
    places: list[Place] = []
    for frame in frames:
        place = _place(frame)
        if place is None:
            return frames
        places.append(place)
    return from_top_to_bottom(frames, places)


def _place(frame: Any) -> Place | None:
    """Where a frame stands; None if it does not say so, or in two units."""
    top = _LENGTH.fullmatch(frame.get(f"{SVG}y", ""))
    left = _LENGTH.fullmatch(frame.get(f"{SVG}x", ""))
    if top is None or left is None or top[2] != left[2]:
        return None
    return float(top[1]), float(left[1])


def _has_words(notes: Any) -> bool:
    paragraphs = notes.iter(f"{TEXT}p")
    return any("".join(paragraph.itertext()).strip() for paragraph in paragraphs)
