"""OpenDocument texts, presentations and spreadsheets (ODT, ODP, ODS) as Markdown.

https://docs.oasis-open.org/office/OpenDocument/v1.3/
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.formats.package import Package, workbook
from websearch_gateway.readers.formats.rendering import Builder, Cell, Text, figure, markdown_of, note_of

MOST_REPEATED = 1_000
"""The most columns and rows that a repeated cell or row stands for: programs repeat empty ones up to the last row."""
MOST_SPACES = 100
_MOST_PARENTS = 10

_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TEXT, _TABLE, _DRAW = (f"{{{_NAMES}{name}:1.0}}" for name in ("office", "text", "table", "drawing"))
_STYLE, _FO, _SVG = (f"{{{_NAMES}{name}:1.0}}" for name in ("style", "xsl-fo-compatible", "svg-compatible"))
_PRESENTATION = f"{{{_NAMES}presentation:1.0}}"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_SKIPPED = frozenset(
    (
        *(_TEXT + name for name in ("tracked-changes", "sequence-decls", "variable-decls", "user-field-decls")),
        *(_OFFICE + name for name in ("annotation", "forms", "event-listeners", "scripts")),
        *(_PRESENTATION + name for name in ("date-time-decl", "footer-decl", "header-decl")),
        f"{_TEXT}note",
    )
)
_REPEATED = ("header", "footer", "date-time", "page-number")
_LENGTH = re.compile(r"(-?\d{1,9}(?:\.\d{1,9})?)([a-z]{2})")
_CODE = ("preformatted_20_text", "source_20_text", "code")


@dataclass(slots=True)
class _Style:
    """What an automatic or named style says: its marks, its parent, and whether its text is hidden."""

    marks: tuple[str, ...] = ()
    parent: str = ""
    is_hidden: bool = False


@dataclass(slots=True)
class _Reader:
    """Reads one document. `numbered` says which levels of a style of lists have numbers; `notes` are the bodies of its
    footnotes and endnotes.
    """

    styles: dict[str, _Style]
    numbered: dict[str, list[bool]]
    notes: list[Any] = field(default_factory=list)

    def blocks(self, parent: Any, builder: Builder) -> None:
        """Write the headings, paragraphs, lists, tables and frames in an element."""
        for element in parent:
            tag = element.tag
            if tag == f"{_TEXT}h":
                level = element.get(f"{_TEXT}outline-level", "1")
                self._paragraph(element, builder.block(f"h{min(int(level), 6) if level.isdecimal() else 1}"), builder)
            elif tag == f"{_TEXT}p":
                self._paragraph(element, self._block_of(element, builder), builder)
            elif tag == f"{_TEXT}list":
                self._list(element, 0, "", builder)
            elif tag == f"{_TABLE}table":
                builder.table(self._rows(element), self.blocks)
            elif tag == f"{_DRAW}frame":
                self._frame(element, builder)
            elif tag not in _SKIPPED:
                self.blocks(element, builder)

    def _block_of(self, element: Any, builder: Builder) -> Any:
        """The block for a paragraph, by its style and those that this is based on."""
        name = element.get(f"{_TEXT}style-name", "")
        for _ in range(_MOST_PARENTS):
            lower = name.lower()
            if lower == "title":
                return builder.block("h1")
            if lower.startswith(_CODE):
                return builder.block("pre")
            if lower.startswith("quot"):
                return builder.block("blockquote")
            name = self.styles.get(name, _Style()).parent
        return builder.block("p")

    def _list(self, element: Any, level: int, name: str, builder: Builder) -> None:
        name = element.get(f"{_TEXT}style-name", name)
        levels = self.numbered.get(name, [])
        is_ordered = level < len(levels) and levels[level]
        for item in element:
            first = True
            for child in item:
                if child.tag == f"{_TEXT}list":
                    self._list(child, level + 1, name, builder)
                elif child.tag == f"{_TEXT}h" and item.tag != f"{_TEXT}list-header":
                    self.blocks([child], builder)  # a numbered heading
                elif child.tag in (f"{_TEXT}p", f"{_TEXT}h"):
                    block = builder.item(level, is_ordered=is_ordered, list_id=name) if first else builder.more()
                    self._paragraph(child, block, builder)
                    first = False

    def _paragraph(self, element: Any, block: Any, builder: Builder) -> None:
        frames: list[Any] = []
        builder.texts(block, self._inline(element, (), frames))
        for frame in frames:
            self._frame(frame, builder)

    def _inline(self, element: Any, marks: tuple[str, ...], frames: list[Any]) -> Iterator[Text]:
        """The texts of a paragraph with their marks; its frames go to `frames`."""
        if element.text:
            yield " ".join(element.text.split("\n")), marks
        for child in element:
            tag = child.tag
            if tag == f"{_TEXT}span":
                style = self.styles.get(child.get(f"{_TEXT}style-name", ""), _Style())
                if not style.is_hidden:
                    yield from self._inline(child, (*marks, *style.marks), frames)
            elif tag == f"{_TEXT}a":
                yield from self._inline(child, (*marks, f"a {child.get(_XLINK, '')}"), frames)
            elif tag == f"{_TEXT}s":
                count = child.get(f"{_TEXT}c", "1")
                yield " " * min(int(count) if count.isdecimal() and len(count) < 4 else 1, MOST_SPACES), marks
            elif tag == f"{_TEXT}tab":
                yield "\t", marks
            elif tag == f"{_TEXT}line-break":
                yield "\n", marks
            elif tag == f"{_TEXT}note":
                self.notes.append(child.find(f"{_TEXT}note-body"))
                yield f"[^{len(self.notes)}]", ()
            elif tag.startswith(_DRAW):
                frames.append(child)
            elif tag not in _SKIPPED:
                yield from self._inline(child, marks, frames)
            if child.tail:
                yield " ".join(child.tail.split("\n")), marks

    def _frame(self, frame: Any, builder: Builder) -> None:
        """A picture by its name; a text box, a shape or a table by its text."""
        image = frame.find(f"{_DRAW}image")
        words = frame.findtext(f"{_SVG}desc") or frame.findtext(f"{_SVG}title") or ""
        is_preview = frame.find(f"{_DRAW}object") is not None or frame.find(f"{_TABLE}table") is not None
        if image is not None and (words or not is_preview):
            name = image.get(_XLINK, "").rpartition("/")[2]
            builder.text(builder.block("p"), figure(words, name))
        self.blocks([one for one in frame if one is not image], builder)

    def _rows(self, table: Any) -> Iterator[list[Cell]]:
        """The cells of each row; a cell that spans several rows is named again in those below."""
        below: dict[int, tuple[int, int]] = {}
        for row in table.iter(f"{_TABLE}table-row"):
            cells: list[Cell] = []
            column = 0
            for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                for _ in range(_number(cell, "columns-repeated", MOST_REPEATED)):
                    if column in below:
                        left, across = below.pop(column)
                        cells.append((None, across, "above"))
                        if left > 1:
                            below[column] = (left - 1, across)
                    elif cell.tag == f"{_TABLE}table-cell":
                        across = _number(cell, "columns-spanned", MOST_REPEATED)
                        if (down := _number(cell, "rows-spanned", MOST_REPEATED)) > 1:
                            below[column] = (down - 1, across)
                        cells.append((cell, across, ""))
                    column += 1
            if any(cell is not None for cell, _, _ in cells):
                yield cells

    def footnotes(self) -> str:
        """The footnotes and endnotes; a note may hold further ones."""
        written: list[str] = []
        while len(written) < len(self.notes):
            builder = Builder()
            note = self.notes[len(written)]
            self.blocks(() if note is None else note, builder)
            written.append(note_of(len(written) + 1, builder))
        return "\n\n".join(written)


def odt(package: Package, body: bytes) -> Extracted:
    """A text document without its headers, footers, comments and deleted text."""
    reader, content = _opened(package, "text")
    builder = Builder()
    reader.blocks(content, builder)
    text = f"{markdown_of(builder)}\n\n{reader.footnotes()}".strip()
    return Extracted(_title(package) or builder.first_heading(), text, None)


def odp(package: Package, body: bytes) -> Extracted:
    """A presentation: each slide under its title, with its notes."""
    reader, content = _opened(package, "presentation")
    builder = Builder()
    for number, page in enumerate((one for one in content if one.tag == f"{_DRAW}page"), 1):
        frames = [one for one in page if one.get(f"{_PRESENTATION}class") not in _REPEATED]
        title = next((one for one in frames if one.get(f"{_PRESENTATION}class") == "title"), None)
        words = "" if title is None else " ".join(" ".join(title.itertext()).split())
        builder.text(builder.block("h2"), words or f"Slide {number}")
        notes = page.find(f"{_PRESENTATION}notes")
        rest = [one for one in frames if one is not title and one is not notes]
        # From top to bottom, if all places are known and in one unit.
        places = [[_LENGTH.fullmatch(one.get(f"{_SVG}{axis}", "")) for axis in ("y", "x")] for one in rest]
        keys = [(float(y[1]), float(x[1])) for y, x in places if y and x and y[2] == x[2]]
        order = sorted(range(len(rest)), key=keys.__getitem__) if len(keys) == len(rest) else range(len(rest))
        reader.blocks([rest[at] for at in order], builder)
        if notes is not None and "".join("".join(one.itertext()) for one in notes.iter(f"{_TEXT}p")).strip():
            builder.text(builder.block("h3"), "Notes")
            reader.blocks(
                [one for one in notes.iter(f"{_DRAW}frame") if one.get(f"{_PRESENTATION}class") == "notes"], builder
            )
    return Extracted(_title(package) or builder.first_heading(), markdown_of(builder), None)


def ods(package: Package, body: bytes) -> Extracted:
    """A spreadsheet. Needs the extra `documents`, which knows the values but not which cells are merged."""
    root = package.xml("content.xml") if b"-spanned=" in package.read("content.xml") else None
    sheets = root.iter(f"{_TABLE}table") if root is not None else ()
    return workbook(body, merged={sheet.get(f"{_TABLE}name", ""): list(_merged(sheet)) for sheet in sheets})


def _merged(sheet: Any) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """The first and last place of each merged cell."""
    at = 0
    for row in sheet.iter(f"{_TABLE}table-row"):
        column = 0
        for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            across = _number(cell, "columns-spanned", MOST_REPEATED)
            down = _number(cell, "rows-spanned", MOST_REPEATED)
            if across * down > 1:
                yield (at, column), (at + down - 1, column + across - 1)
            column += _number(cell, "columns-repeated", 1 << 20)
        at += _number(row, "rows-repeated", 1 << 20)


KINDS = {"text": odt, "presentation": odp, "spreadsheet": ods}


def _opened(package: Package, kind: str) -> tuple[_Reader, Any]:
    content = package.xml("content.xml")
    body = content.find(f"{_OFFICE}body/{_OFFICE}{kind}") if content is not None else None
    roots = [root for root in (content, package.xml("styles.xml")) if root is not None]
    numbered = {
        one.get(f"{_STYLE}name", ""): [
            level.tag == f"{_TEXT}list-level-style-number" and bool(level.get(f"{_STYLE}num-format"))
            for level in islice(one, 10)
        ]
        for root in roots
        for one in root.iter(f"{_TEXT}list-style")
    }
    return _Reader(_styles(roots), numbered), () if body is None else body


def _title(package: Package) -> str:
    meta = package.xml("meta.xml")
    found = None if meta is None else next(meta.iter(_TITLE), None)
    return "" if found is None else " ".join((found.text or "").split())


def _styles(roots: list[Any]) -> dict[str, _Style]:
    styles: dict[str, _Style] = {}
    for one in (one for root in roots for one in root.iter(f"{_STYLE}style")):
        name, said = one.get(f"{_STYLE}name", ""), one.find(f"{_STYLE}text-properties")
        marks: tuple[str, ...] = ()
        if name.lower().startswith(_CODE):
            marks = ("code",)
        elif said is not None:
            bold = said.get(f"{_FO}font-weight") == "bold"
            italic = said.get(f"{_FO}font-style") == "italic"
            struck = said.get(f"{_STYLE}text-line-through-style", "none") != "none"
            marks = tuple(mark for is_on, mark in ((bold, "strong"), (italic, "em"), (struck, "del")) if is_on)
        hidden = said is not None and said.get(f"{_TEXT}display") == "none"
        styles.setdefault(name, _Style(marks, one.get(f"{_STYLE}parent-style-name", ""), hidden))
    return styles


def _number(element: Any, name: str, most: int) -> int:
    text = element.get(f"{_TABLE}number-{name}", "1")
    return min(int(text), most) if text.isascii() and text.isdecimal() and 0 < len(text) < 9 and int(text) else 1
