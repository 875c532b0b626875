"""Rich Text Format as Markdown: headings, lists, tables, links, footnotes and marks; pictures are named.

https://latex2rtf.sourceforge.net/rtfspec.html. One pass over the tokens, with a stack of the open groups.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import Any

from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.rendering import (
    Builder,
    Cell,
    Text,
    figure,
    markdown_of,
    note_of,
)
from websearch_gateway.pages.rendering import MARKER

DEEPEST = 500
"""The deepest group that is read."""

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,9})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|[\r\n]+|([^\\{}\r\n]+)",
    re.DOTALL,
)
_BRACE = re.compile(rb"[{}]|\\bin(\d{1,9}) ?|\\[\\{}]")
_SKIPPED = frozenset(
    b"fonttbl colortbl info header footer headerl headerr headerf footerl footerr footerf object themedata "
    b"colorschememapping datastore latentstyles generator xmlnstbl rsidtbl mmathPr pgptbl wgrffmtfilter "
    b"nonshppict annotation atnid atnauthor bkmkstart bkmkend stylesheet listtable listoverridetable "
    b"filetbl revtbl datafield formfield xe tc sp".split()
)
_READ = (b"\\*\\shppict", b"\\*\\shpinst", b"\\*\\footnote", b"\\*\\fldinst")
"""The optional groups, which begin with `\\*`, that are read."""
_CHARACTERS = dict(
    zip(
        b"tab line emdash endash lquote rquote ldblquote rdblquote bullet".split(),
        "\t\n—–‘’“”•",
        strict=True,
    )
)
_SYMBOLS = {b"\\": "\\", b"{": "{", b"}": "}", b"~": " ", b"_": "-"}
_MARKS = {
    b"b": "strong",
    b"i": "em",
    b"strike": "del",
    b"striked": "del",
    b"strikd": "del",
    b"v": "hidden",
    b"deleted": "hidden",
    b"super": "sup",
    b"sub": "sub",
    b"up": "sup",
    b"dn": "sub",
}
_KINDS = {
    b"listtext": "mark",
    b"pntext": "mark",
    b"fldinst": "instruction",
    b"footnote": "footnote",
}
_MERGES = {b"clmrg": "left", b"clvmrg": "above"}
_STYLE = re.compile(rb"\{\\s(\d{1,4})(?!\d)[^{}]{0,1000}?(?:[Hh]eading (\d)|Title);?\}")
_FONT = re.compile(rb"\{\\f(\d{1,5})(?!\d)[^{}]{0,200}?\\fcharset(\d{1,3})")
_TITLE = re.compile(rb"\{\\title ((?:[^{}\\]|\\.){1,500})\}", re.DOTALL)
_LINK = re.compile(r'HYPERLINK\s+"([^"\\]{1,2000})"')
_PICTURE_NAME = re.compile(rb"wzDescription\}\s*\{\\sv ([^{}\\]{1,500})\}")
_CODEPAGES = frozenset((437, 850, 852, 866, 874, 932, 936, 949, 950, *range(1250, 1259)))
_CHARSETS = (128, 129, 134, 136, 161, 162, 163, 177, 178, 186, 204, 222, 238)
_CODEPAGE_OF_CHARSET = dict(
    zip(
        _CHARSETS,
        (932, 949, 936, 950, 1253, 1254, 1258, 1255, 1256, 1257, 1251, 874, 1250),
        strict=True,
    )
)
_SNAP = 40
"""Edges of cells nearer than this (twentieths of a point) are one."""
_MOST_EDGES = 200
_FARTHEST = 4_000
"""How far from the beginning of a picture its name may stand (bytes), and the longest instruction of a field."""
_LONGEST_MARK = 100
_SHOWN_MARK = re.compile(r"(?=.*\w)(?!\w\Z).*")
"""The mark of an item that says which one it is, such as `(a)` or `2.1`; fonts of bullets use single letters."""


@dataclass(frozen=True, slots=True)
class _Group:
    """What holds for the text in a group. `fallback` counts the characters that stand in for a Unicode one."""

    marks: frozenset[str] = frozenset()
    link: str = ""
    kind: str = ""
    fallback: int = 1
    codepage: str = ""


@dataclass(slots=True)
class _Paragraph:
    """What the properties of a paragraph say. `mark` is the text of its list mark."""

    heading: int | None = None
    level: int = 0
    in_table: bool = False
    mark: str = ""
    list_id: str = ""


@dataclass(slots=True)
class _Row:
    """A row of a table: for each cell whether it continues the one beside or above it, its right edge, its texts."""

    merges: list[tuple[str, int]] = field(default_factory=list)
    next_merge: str = ""
    cells: list[list[Text]] = field(default_factory=list)


class _Reader:
    """Reads a document into a builder."""

    def __init__(self, body: bytes, codepage: str = "cp1252") -> None:
        self.body = body
        self.builder = Builder()
        self.notes: list[list[Text]] = []
        self.styles = {int(style): int(level or 1) for style, level in _STYLE.findall(body)}
        self.fonts = {
            int(font): _CODEPAGE_OF_CHARSET.get(int(charset), 0)
            for font, charset in _FONT.findall(body)
        }
        self.codepage = codepage
        self.stack: list[_Group] = []
        self.group = _Group()
        self.paragraph = _Paragraph()
        self.texts: list[Text] = []
        self.instruction = ""
        self.row = _Row()
        self.rows: list[_Row] = []
        self.left_to_skip = 0
        self.at = 0

    def read(self) -> None:
        """Read the whole document."""
        while self.at < len(self.body):
            self._read_tokens()
        self.paragraph.in_table = False
        self._end_paragraph()
        self._end_table()

    def _read_tokens(self) -> None:
        """Read until the end, or until a group has been left out."""
        raw = bytearray()
        for match in _TOKEN.finditer(self.body, self.at):
            word, number, byte, symbol, brace, text = match.groups()
            self.at = match.end()
            if byte is not None or text is not None:
                data = text if byte is None else bytes((int(byte, 16),))
                # What stands in for a Unicode character before it.
                skipped = min(self.left_to_skip, len(data))
                self.left_to_skip -= skipped
                raw += data[skipped:]
                continue
            if raw and match.lastindex:  # a line end may stand between the bytes of a character
                self._add(raw.decode(self.group.codepage or self.codepage, "replace"))
                raw.clear()
            if brace is not None:
                self._brace(brace)
            elif word is not None:
                self._word(word, None if number is None else int(number))
            elif symbol in _SYMBOLS:
                self._add(_SYMBOLS[symbol])
            elif symbol in (b"\r", b"\n"):
                self._end_paragraph()
            if self.at != match.end():
                return
        self.at = len(self.body)
        self._add(raw.decode(self.group.codepage or self.codepage, "replace"))

    def _skip_group(self) -> None:
        """Go to the end of the open group."""
        depth = 1
        while depth and (match := _BRACE.search(self.body, self.at)):
            self.at = match.end() + int(match[1] or 0)
            depth += (match[0] == b"{") - (match[0] == b"}")
        self.at = self.at if not depth else len(self.body)
        self.group = self.stack.pop() if self.stack else self.group

    def _add(self, text: str) -> None:
        group = self.group
        if "hidden" in group.marks or not text:
            return
        if group.kind == "mark":
            self.paragraph.mark = (self.paragraph.mark + text)[:_LONGEST_MARK]
        elif group.kind == "instruction":
            self.instruction = (self.instruction + text)[:_FARTHEST]
        else:
            marks = (*((f"a {group.link}",) if group.link else ()), *sorted(group.marks))
            target = self.notes[-1] if group.kind == "footnote" else self.texts
            if (
                target
                and "\ud800" <= target[-1][0][-1:] <= "\udbff"
                and "\udc00" <= text[0] <= "\udfff"
            ):
                # A character beyond the first 65,536 comes in two halves.
                pair = target.pop()[0] + text
                text = pair.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            target.append((text, marks))

    def _brace(self, brace: bytes) -> None:
        self.left_to_skip = 0
        if brace == b"}":
            self.group = self.stack.pop() if self.stack else self.group
            return
        self.stack.append(self.group)
        is_optional = self.body.startswith(b"\\*", self.at) and not self.body.startswith(
            _READ, self.at
        )
        if is_optional or len(self.stack) > DEEPEST:
            self._skip_group()

    def _word(self, word: bytes, number: int | None) -> None:
        if word in _CHARACTERS:
            self._add(_CHARACTERS[word])
        elif word == b"u" and number is not None:
            self._add(chr(number % 0x10000))
            self.left_to_skip = self.group.fallback
        elif word in _SKIPPED:
            self._skip_group()
        elif word == b"pict":
            start = self.at
            self._skip_group()
            name = _PICTURE_NAME.search(self.body, start, min(self.at, start + _FARTHEST))
            self._add(figure(name[1].decode("latin-1") if name else "", ""))
        elif word == b"ansicpg" and number in _CODEPAGES:
            self.codepage = f"cp{number}"
        elif changed := self._changed(word, number):
            self.group = replace(self.group, **changed)
        elif not self.group.kind:
            self._layout(word, number)
        elif word == b"par":
            self._add(" ")

    def _changed(self, word: bytes, number: int | None) -> dict[str, Any]:
        """What a word changes for the text in its group."""
        if word == b"uc":
            return {"fallback": min(max(number or 0, 0), 100)}
        if word == b"f" and number is not None:
            return {"codepage": f"cp{self.fonts[number]}" if self.fonts.get(number) else ""}
        if word == b"plain":
            return {"marks": frozenset(), "codepage": ""}
        if word == b"nosupersub":
            return {"marks": self.group.marks - {"sup", "sub"}}
        if word in _MARKS:
            changed = {_MARKS[word]}
            return {
                "marks": self.group.marks - changed if number == 0 else self.group.marks | changed
            }
        if word == b"fldrslt":
            link = _LINK.search(self.instruction)
            return {"link": link[1] if link else self.group.link}
        if word == b"fldinst":
            self.instruction = ""
        elif word == b"footnote" and self.group.kind != "footnote":
            self.notes.append([])
            self.texts.append((f"[^{len(self.notes)}]", ()))
        return {"kind": _KINDS[word]} if word in _KINDS else {}

    def _layout(self, word: bytes, number: int | None) -> None:
        """Properties and ends of paragraphs and cells."""
        paragraph, row = self.paragraph, self.row
        if word in (b"par", b"sect", b"page"):
            self._end_paragraph()
        elif word == b"pard":
            self.paragraph = _Paragraph()
        elif word == b"intbl":
            paragraph.in_table = True
        elif word == b"outlinelevel" and number is not None and 0 <= number < 9:
            paragraph.heading = number + 1
        elif word == b"s" and number in self.styles:
            paragraph.heading = self.styles[number]
        elif word == b"ilvl":
            paragraph.level = min(max(number or 0, 0), 8)
        elif word == b"ls":
            paragraph.list_id = str(number)
        elif word == b"trowd":
            row.merges, row.next_merge = [], ""
        elif word in _MERGES:
            row.next_merge = _MERGES[word]
        elif word == b"cellx":
            row.merges.append((row.next_merge, number or 0))
            row.next_merge = ""
        elif word == b"cell":
            row.cells.append(self.texts)
            self.texts = []
        elif word == b"nestcell":
            self._add(" ")
        elif word == b"row":
            self.rows.append(row)
            self.row = _Row(row.merges)

    def _end_paragraph(self) -> None:
        paragraph = self.paragraph
        if paragraph.in_table:
            self._add("\n")
            return
        self._end_table()
        texts, self.texts = self.texts, []
        mark, self.paragraph.mark = paragraph.mark.strip(), ""
        if not any(text.strip() for text, _ in texts):
            return
        if paragraph.heading is not None:
            block = self.builder.block(f"h{min(paragraph.heading, 6)}")
        elif mark:
            number = mark.removesuffix(".")
            is_ordered = number != mark and number.isascii() and number.isdecimal()
            block = self.builder.item(
                paragraph.level, is_ordered=is_ordered, list_id=paragraph.list_id
            )
            if is_ordered:
                block.set("value", number)
            elif _SHOWN_MARK.fullmatch(mark):
                block.set(MARKER, mark)
        else:
            block = self.builder.block("p")
        self.builder.texts(block, texts)

    def _end_table(self) -> None:
        rows, self.rows = self.rows, []
        if self.row.cells:  # the end of the row is missing
            rows.append(self.row)
            self.row = _Row()
        if rows:
            edges = sorted({round(edge / _SNAP) for row in rows for _, edge in row.merges})[
                :_MOST_EDGES
            ]
            self.builder.table((_cells(row, edges) for row in rows), _fill)


def _cells(row: _Row, edges: list[int]) -> list[Cell]:
    """The cells of a row, each over the columns up to its right edge; one that continues its neighbour widens it."""
    cells: list[Cell] = []
    column = 0
    for place, texts in enumerate(row.cells):
        merge, edge = row.merges[place] if place < len(row.merges) else ("", 0)
        span = max(1, bisect_right(edges, round(edge / _SNAP)) - column)
        column += span
        if merge == "left" and cells:
            content, before, above = cells.pop()
            cells.append((content, before + span, above))
        else:
            cells.append((texts, span, merge))
    return cells


def _fill(texts: list[Text], cell: Builder) -> None:
    cell.texts(cell.block("p"), texts)


def rtf(body: bytes, url: str, charset: str) -> Extracted:
    """A document in Rich Text Format without its headers, footers and hidden text. `charset` is not used."""
    reader = _Reader(body)
    reader.read()
    parts = [markdown_of(reader.builder)]
    for number, texts in enumerate(reader.notes, 1):
        builder = Builder()
        _fill(texts, builder)
        parts.append(note_of(number, builder))
    title = ""
    if found := _TITLE.search(body):
        inner = _Reader(found[1], reader.codepage)
        inner.read()
        title = " ".join("".join(inner.builder.root.itertext()).split())
    return Extracted(title or reader.builder.first_heading(), "\n\n".join(parts).strip(), None)
