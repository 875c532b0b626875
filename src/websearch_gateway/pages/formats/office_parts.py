"""What the readers of texts and presentations share: elements in wrappers, places, numbers, and notes at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Protocol

from websearch_gateway.pages.formats.rendering import Builder, markdown_of, note_of

ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
"""The namespace in which Office offers a drawing in a newer and an older way."""

Place = tuple[float, float]
"""How far a shape stands from the top, and from the left."""


class Reader(Protocol):
    """Writes the paragraphs and tables in an element."""

    def blocks(self, parent: Any, builder: Builder) -> None: ...


def with_notes(reader: Reader, builder: Builder, notes: Iterable[Any]) -> str:
    """The Markdown of a text and its notes, which may refer to further ones."""
    parts = [markdown_of(builder)]
    for number_of_note, note in enumerate(notes, 1):
        inner = Builder()
        reader.blocks(note, inner)
        parts.append(note_of(number_of_note, inner))
    return "\n\n".join(parts).strip()


def within(parent: Any, tag: str, skipped: Collection[str]) -> Iterator[Any]:
    """The children with this tag, also those in wrappers such as content controls, but not in the skipped ones."""
    for element in parent:
        if element.tag == tag:
            yield element
        elif element.tag not in skipped:
            yield from within(element, tag, skipped)


def from_top_to_bottom(shapes: list[Any], places: list[Place]) -> list[Any]:
    """The shapes in the order of their places; those in one place keep their order."""
    placed = sorted(zip(places, shapes, strict=True), key=lambda pair: pair[0])
    return [shape for _, shape in placed]


def number(text: str, otherwise: int, most: int = 99_999) -> int:
    """A number as a document writes it, at most `most`; `otherwise` if it is none."""
    is_number = text.isascii() and text.isdecimal() and len(text) < 9
    return min(int(text), most) if is_number else otherwise


def signed(text: str) -> int:
    """A number that may be negative and may end in a percent sign; 0 if it is none."""
    size = number(text.removeprefix("-").removesuffix("%"), 0)
    return -size if text.startswith("-") else size
