"""Splits a DOM into blocks of text, each of which is kept or dropped as a whole.

A block is a continuous run of text and inline elements. Blocks are in document order, so the blocks below any element
are one range, and a sum over a subtree is the difference of two running sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

INLINE = frozenset(
    [
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em"),
        *("font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "q", "rp", "rt", "ruby", "s", "samp"),
        *("small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
    ]
)

Slot = tuple[Any, Literal["text", "tail", "alt"]]
"""Where a piece of text is: before the first child of an lxml element, after its end, or in place of a picture."""


@dataclass(slots=True)
class Block:
    """A run of text. `place` is the index of its innermost container; `link_chars` counts characters inside links."""

    place: int
    slots: list[Slot] = field(default_factory=list)
    text: str = ""
    link_chars: int = 0
    links: int = 0


@dataclass(slots=True)
class Container:
    """A block-level element. The blocks below it are `blocks[start:end]`; the root is its own parent."""

    element: Any
    tag: str
    parent: int
    depth: int
    start: int
    end: int = 0


@dataclass(slots=True)
class Outline:
    """All blocks and block-level elements of a page, both in document order."""

    blocks: list[Block] = field(default_factory=list)
    containers: list[Container] = field(default_factory=list)


class _Walk:
    """Builds an outline during a walk over the elements. `links` and `verbatim` count the open `<a>` and `<pre>`."""

    def __init__(self) -> None:
        self.outline = Outline()
        self.path: list[int] = []
        self.links = 0
        self.verbatim = 0
        self.run: Block | None = None
        self.pieces: list[str] = []
        self.pictures: list[Slot] = []

    def text(self, slot: Slot, text: str) -> None:
        if self.run is None:
            if text.isspace():
                return
            self.run = Block(self.path[-1], self.pictures)
            self.pictures = []
        self.run.slots.append(slot)
        self.pieces.append(text)
        if self.links:
            self.run.link_chars += len(text.strip())

    def close(self) -> None:
        if self.run is not None:
            self.run.text = "".join(self.pieces)
            self.outline.blocks.append(self.run)
            self.run = None
        self.pieces.clear()
        for picture, _ in self.pictures:
            picture.attrib.pop("alt", None)
        self.pictures = []

    def picture(self, element: Any) -> None:
        """Add the alternative text of a picture to the text around it; ignore a picture without one."""
        (self.pictures if self.run is None else self.run.slots).append((element, "alt"))

    def start(self, element: Any) -> None:
        tag = element.tag
        if self.verbatim or tag in INLINE:
            if tag == "a":
                self.links += 1
                if self.run is not None:
                    self.run.links += 1
            elif tag == "img":
                self.picture(element)
            elif tag == "br" and self.run is not None:
                self.pieces.append("\n")
        else:
            self.close()
            containers = self.outline.containers
            parent = self.path[-1] if self.path else 0
            self.path.append(len(containers))
            containers.append(Container(element, tag, parent, len(self.path), len(self.outline.blocks)))
        self.verbatim += tag == "pre"
        if text := element.text:
            self.text((element, "text"), text)

    def end(self, element: Any) -> None:
        tag = element.tag
        self.verbatim -= tag == "pre"
        if self.verbatim or tag in INLINE:
            self.links -= tag == "a"
        else:
            self.close()
            self.outline.containers[self.path.pop()].end = len(self.outline.blocks)
        if self.path and (text := element.tail):
            self.text((element, "tail"), text)


def outline(root: Any) -> Outline:
    """The blocks below an lxml element, which has no comments, scripts or styles."""
    from lxml import etree

    walk = _Walk()
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            walk.start(element)
        else:
            walk.end(element)
    return walk.outline
