"""Splits a DOM into blocks of text, each of which is kept or dropped as a whole.

A block is a continuous run of text and inline elements. Blocks are in document order, so the blocks below any element
are one range, and a sum over a subtree is the difference of two running sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from websearch_gateway.pages.rendering import INLINE

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

    @property
    def blocks(self) -> slice:
        """The places of the blocks below it."""
        return slice(self.start, self.end)


@dataclass(slots=True)
class Outline:
    """All blocks and block-level elements of a page, both in document order."""

    blocks: list[Block] = field(default_factory=list)
    containers: list[Container] = field(default_factory=list)


class _Walk:
    """Builds an outline during a walk over the elements. `pictures` stand before a run, which takes their alternative
    texts."""

    def __init__(self) -> None:
        self.outline = Outline()
        self.path: list[int] = []
        self.run: Block | None = None
        self.pieces: list[str] = []
        self.pictures: list[Slot] = []

    def over(self, root: Any) -> Outline:
        from lxml import etree

        path, links, verbatim = self.path, 0, 0  # the numbers of open `<a>` and `<pre>`
        for event, element in etree.iterwalk(root, events=("start", "end")):
            tag, starts = element.tag, event == "start"
            verbatim -= tag == "pre" and not starts
            if not verbatim and tag not in INLINE:
                self.border(element, tag, starts=starts)
            elif tag == "a":
                links += 1 if starts else -1
                if starts and self.run is not None:
                    self.run.links += 1
            elif starts and tag == "img":
                (self.pictures if self.run is None else self.run.slots).append((element, "alt"))
            elif starts and tag == "br" and self.run is not None:
                self.pieces.append("\n")
            verbatim += tag == "pre" and starts
            text: str | None = element.text if starts else element.tail
            if text and path and (self.run is not None or not text.isspace()):
                self.add((element, "text" if starts else "tail"), text, in_link=links > 0)
        return self.outline

    def border(self, element: Any, tag: str, *, starts: bool) -> None:
        """End the run where a container starts or ends."""
        blocks, containers, path = self.outline.blocks, self.outline.containers, self.path
        if self.run is not None:
            self.run.text = "".join(self.pieces)
            blocks.append(self.run)
            self.run = None
            self.pieces.clear()
        for picture, _ in self.pictures:
            picture.attrib.pop("alt", None)
        self.pictures = []
        if starts:
            containers.append(
                Container(element, tag, path[-1] if path else 0, len(path) + 1, len(blocks))
            )
            path.append(len(containers) - 1)
        else:
            containers[path.pop()].end = len(blocks)

    def add(self, slot: Slot, text: str, *, in_link: bool) -> None:
        if self.run is None:
            self.run = Block(self.path[-1], self.pictures)
            self.pictures = []
        self.run.slots.append(slot)
        self.pieces.append(text)
        if in_link:
            self.run.link_chars += len(text.strip())


def outline(root: Any) -> Outline:
    """The blocks below an lxml element, which has no comments, scripts or styles."""
    return _Walk().over(root)
