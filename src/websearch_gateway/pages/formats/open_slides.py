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
from websearch_gateway.pages.formats.slides import HIDDEN

_REPEATED = ("header", "footer", "date-time", "page-number")
"""Frames that every slide repeats."""


def odp(package: Package) -> Extracted:
    """A presentation without its hidden slides: each slide under its title, with its notes."""
    reader, content = opened(package, "presentation")
    builder = Builder()
    hidden = 0
    slides = [element for element in content if element.tag == f"{DRAW}page"]
    for number, slide in enumerate(slides, 1):
        if slide.get(f"{DRAW}style-name") in reader.styles.hidden_slides:
            hidden += 1
        else:
            _write_slide(reader, slide, number, builder)
    title = package.title() or builder.first_heading()
    warnings = (HIDDEN.format(hidden),) if hidden else ()
    return Extracted(title, markdown_of(builder), None, warnings)


def _write_slide(reader: OpenDocument, slide: Any, number: int, builder: Builder) -> None:
    title = next((frame for frame in slide if _class_of(frame) == "title"), None)
    notes = slide.find(f"{PRESENTATION}notes")
    heading = "" if title is None else " ".join("".join(title.itertext()).split())
    builder.text(builder.block("h2"), heading or f"Slide {number}")
    frames = [frame for frame in slide if frame not in (title, notes) and not _is_repeated(frame)]
    reader.blocks(_in_order(frames), builder)
    if notes is not None and _has_words(notes):
        builder.text(builder.block("h3"), "Notes")
        reader.blocks(_written_notes(notes), builder)


def _is_repeated(frame: Any) -> bool:
    return _class_of(frame) in _REPEATED


def _class_of(frame: Any) -> str:
    """What a frame is for, such as `title`; "" if it does not say so."""
    return str(frame.get(f"{PRESENTATION}class", ""))


def _has_words(notes: Any) -> bool:
    paragraphs = notes.iter(f"{TEXT}p")
    return any("".join(paragraph.itertext()).strip() for paragraph in paragraphs)


def _written_notes(notes: Any) -> list[Any]:
    """The frames with what somebody wrote: others repeat the slide and its number."""
    return [frame for frame in notes.iter(f"{DRAW}frame") if _class_of(frame) == "notes"]


# --- where frames stand ---

_LENGTH = re.compile(r"(?P<size>-?\d{1,9}(?:\.\d{1,9})?)(?P<unit>[a-z]{2})")


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
    if top is None or left is None or top["unit"] != left["unit"]:
        return None
    return float(top["size"]), float(left["size"])
