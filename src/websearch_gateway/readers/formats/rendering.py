"""Builds an HTML tree out of the paragraphs, lists and tables of a document, and renders it as web pages are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from websearch_gateway.readers.extraction.render import to_markdown
from websearch_gateway.readers.formats.fragment import fill_merged_cells

DEEPEST_LIST = 9
MOST_SPANNED = 100
LONGEST_HEADING = 300
_XML_CONTROLS = dict.fromkeys([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF])

Cell = tuple[Any, int, str]
"""What a cell holds (None: nothing), how many columns it spans, and "above" if it continues the cell above it."""


class Builder:
    """A growing HTML tree."""

    def __init__(self, root: Any = None) -> None:
        from lxml import html

        self._make = html.Element
        self.root = self._make("div") if root is None else root
        self._lists: list[tuple[Any, str]] = []
        self._counts: dict[tuple[str, int], int] = {}
        self._pre: Any = None

    def block(self, tag: str) -> Any:
        """A new paragraph, heading or the like; following lines of code and of a quotation join the one before."""
        self._lists = []
        last = self.root[-1] if len(self.root) else None
        if tag in ("pre", "blockquote") and last is not None and last.tag == tag:
            if tag == "pre":
                self.text(last, "\n")
                return last
            return self._child(last, "p")
        block = self._child(self.root, tag)
        return self._child(block, "p") if tag == "blockquote" else block

    def item(self, level: int, *, is_ordered: bool, list_id: str = "") -> Any:
        """A new list item; `level` counts from 0. A numbered list continues that of the same `list_id` above."""
        level = min(level, DEEPEST_LIST)
        tag = "ol" if is_ordered else "ul"
        del self._lists[level + 1 :]
        if len(self._lists) == level + 1 and self._lists[level][0].tag != tag:
            del self._lists[level:]
        while len(self._lists) <= level:
            parent = self.root
            if self._lists:
                outer = self._lists[-1][0]
                parent = outer[-1] if len(outer) else self._child(outer, "li")
            inner = self._child(parent, tag)
            if is_ordered and list_id and not self._lists and (seen := self._counts.get((list_id, level))):
                inner.set("start", str(seen + 1))
            self._lists.append((inner, list_id))
        self._counts[list_id, level] = self._counts.get((list_id, level), 0) + 1
        for key in [key for key in self._counts if key[0] == list_id and key[1] > level]:
            del self._counts[key]
        return self._child(self._lists[level][0], "li")

    def more(self) -> Any:
        """A further paragraph of the last list item; a paragraph of its own without a list."""
        return self._child(self._lists[-1][0][-1], "p") if self._lists else self.block("p")

    def table(self, rows: Iterable[Sequence[Cell]], fill: Callable[[Any, Builder], None]) -> None:
        """A table; `fill` writes what a cell holds. Cells that continue those above make these span several rows."""
        self._lists = []
        table = self._child(self.root, "table")
        above: dict[int, Any] = {}
        for number, cells in enumerate(rows):
            row = self._child(table, "tr")
            column = 0
            for content, span, continues in cells:
                span = min(max(span, 1), MOST_SPANNED)
                if continues and (upper := above.get(column)) is not None:
                    upper.set("rowspan", str(int(upper.get("rowspan", "1")) + 1))
                else:
                    cell = self._child(row, "th" if number == 0 else "td")
                    if span > 1:
                        cell.set("colspan", str(span))
                    if content is not None:
                        fill(content, Builder(cell))
                        _flatten(cell)
                    above[column] = cell
                column += span

    def text(self, parent: Any, text: str, marks: tuple[str, ...] = ()) -> None:
        """Add text to an element, in inline elements named by `marks`: `strong`, `em`, `del`, `code`, `a ADDRESS`."""
        text = text.translate(_XML_CONTROLS)
        pieces = text.split("\n") if parent.tag != "pre" else [text]
        for number, piece in enumerate(pieces):
            if number:
                self._child(parent, "br")
            if piece:
                self._append(parent, piece, marks)

    def _append(self, parent: Any, text: str, marks: tuple[str, ...]) -> None:
        target = parent
        for mark in dict.fromkeys(marks) if text.strip() else ():
            tag, _, address = mark.partition(" ")
            last = target[-1] if len(target) else None
            if last is not None and last.tag == tag and not last.tail and last.get("href", "") == address:
                target = last
            else:
                target = self._child(target, tag)
                if address:
                    target.set("href", address.translate(_XML_CONTROLS))
        if len(target):
            target[-1].tail = (target[-1].tail or "") + text
        else:
            target.text = (target.text or "") + text

    def own_text(self, text: str) -> None:
        """Add text to the root itself, such as a cell."""
        self.text(self.root, text)

    def first_heading(self) -> str:
        """The text of the first heading; "" if there is none."""
        heading = next(self.root.iter("h1", "h2"), None)
        return "" if heading is None else " ".join("".join(heading.itertext()).split())[:LONGEST_HEADING]

    def _child(self, parent: Any, tag: str) -> Any:
        child = self._make(tag)
        parent.append(child)
        return child


def _flatten(cell: Any) -> None:
    """Turn a table in a cell into paragraphs: Markdown has no tables in tables."""
    for inner in list(cell.iter("table", "tr", "th", "td")):
        if inner is not cell:
            inner.tag = "div"


def markdown_of(builder: Builder) -> str:
    """The Markdown of the tree, in which each place of a merged cell repeats its text."""
    for table in list(builder.root.iter("table")):
        fill_merged_cells(table)
    return to_markdown(builder.root, "", bullet="*")
