"""Rich Text Format as Markdown: headings, lists, tables, links, footnotes and marks; pictures are named.

https://latex2rtf.sourceforge.net/rtfspec.html. One pass over the tokens, with a stack of the open groups.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
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

_TITLE = re.compile(rb"\{\\title ((?:[^{}\\]|\\.){1,500})\}", re.DOTALL)


def rtf(body: bytes, url: str, charset: str) -> Extracted:
    """A document in Rich Text Format without its headers, footers and hidden text. `charset` is not used."""
    reader = _Reader(body)
    reader.read()
    parts = [markdown_of(reader.builder)]
    for number, texts in enumerate(reader.notes, 1):
        builder = Builder()
        _fill(texts, builder)
        parts.append(note_of(number, builder))
    title = _title(body, reader.codepage) or reader.builder.first_heading()
    return Extracted(title, "\n\n".join(parts).strip(), None)


def _title(body: bytes, codepage: str) -> str:
    """The title in the properties of a document, which is a text of the format too."""
    declared = _TITLE.search(body)
    if declared is None:
        return ""
    reader = _Reader(declared[1], codepage)
    reader.read()
    return " ".join("".join(reader.builder.root.itertext()).split())


# --- the state of the text ---


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


@dataclass(frozen=True, slots=True)
class _Edge:
    """Where a cell of a row ends on the right, and which of its neighbours it continues: `beside`, `above` or none."""

    place: int = 0
    continues: str = ""


@dataclass(slots=True)
class _Row:
    """A row of a table: the edges of its cells, what the next one continues, and the texts of each cell."""

    edges: list[_Edge] = field(default_factory=list)
    continues: str = ""
    cells: list[list[Text]] = field(default_factory=list)


# --- reading ---

DEEPEST = 500
"""The deepest group that is read."""
_TOKEN = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,9})? ?|\\'(?P<byte>[0-9a-fA-F]{2})|\\(?P<sign>.)"
    rb"|(?P<brace>[{}])|[\r\n]+|(?P<text>[^\\{}\r\n]+)",
    re.DOTALL,
)
_BRACE = re.compile(rb"[{}]|\\bin(\d{1,9}) ?|\\[\\{}]")
"""Where a group begins or ends. What is binary, or escaped, is no brace."""
_READ = (b"\\*\\shppict", b"\\*\\shpinst", b"\\*\\footnote", b"\\*\\fldinst")
"""The optional groups, which begin with `\\*`, that are read."""
_SKIPPED = frozenset(
    b"fonttbl colortbl info header footer headerl headerr headerf footerl footerr footerf object themedata "
    b"colorschememapping datastore latentstyles generator xmlnstbl rsidtbl mmathPr pgptbl wgrffmtfilter "
    b"nonshppict annotation atnid atnauthor bkmkstart bkmkend stylesheet listtable listoverridetable "
    b"filetbl revtbl datafield formfield xe tc sp".split()
)
"""The groups that hold no text of the document."""
_CHARACTERS = {
    b"tab": "\t",
    b"line": "\n",
    b"emdash": "—",
    b"endash": "–",
    b"lquote": "‘",
    b"rquote": "’",
    b"ldblquote": "“",
    b"rdblquote": "”",
    b"bullet": "•",
}
_SIGNS = {b"\\": "\\", b"{": "{", b"}": "}", b"~": " ", b"_": "-"}
_LINE_ENDS = (b"\r", b"\n")
_STYLE = re.compile(rb"\{\\s(\d{1,4})(?!\d)[^{}]{0,1000}?(?:[Hh]eading (\d)|Title);?\}")
_LINK = re.compile(r'HYPERLINK\s+"([^"\\]{1,2000})"')
_PICTURE_NAME = re.compile(rb"wzDescription\}\s*\{\\sv ([^{}\\]{1,500})\}")
_FARTHEST = 4_000
"""How far from the beginning of a picture its name may stand (bytes), and the longest instruction of a field."""
_LONGEST_MARK = 100


class _Reader:
    """Reads a document into a builder.

    Attributes:
        styles: the levels of the headings that have a style, by its number.
        skipped: how many of the next characters only stand in for a Unicode one.
        place: where the next token begins.
    """

    def __init__(self, body: bytes, codepage: str = "cp1252") -> None:
        self.body = body
        self.builder = Builder()
        self.notes: list[list[Text]] = []
        self.styles = {int(style): int(level or 1) for style, level in _STYLE.findall(body)}
        self.fonts = _codepages_of_fonts(body)
        self.codepage = codepage
        self.stack: list[_Group] = []
        self.group = _Group()
        self.paragraph = _Paragraph()
        self.texts: list[Text] = []
        self.instruction = ""
        self.row = _Row()
        self.rows: list[_Row] = []
        self.skipped = 0
        self.place = 0

    def read(self) -> None:
        """Read the whole document."""
        while self.place < len(self.body):
            self._read_tokens()
        self.paragraph.in_table = False
        self._end_paragraph()
        self._end_table()

    def _read_tokens(self) -> None:
        """Read until the end, or until a group has been left out."""
        raw = bytearray()
        for match in _TOKEN.finditer(self.body, self.place):
            word, number, byte, sign, brace, text = match.groups()
            self.place = match.end()
            if byte is not None:
                text = bytes((int(byte, 16),))
            if text is not None:
                stand_ins = min(self.skipped, len(text))
                self.skipped -= stand_ins
                raw += text[stand_ins:]
                continue
            if raw and match.lastindex:  # a line end may stand between the bytes of a character
                self._add(self._decoded(raw))
                raw.clear()
            if brace is not None:
                self._brace(brace)
            elif word is not None:
                self._word(word, None if number is None else int(number))
            elif sign in _SIGNS:
                self._add(_SIGNS[sign])
            elif sign in _LINE_ENDS:
                self._end_paragraph()
            if self.place != match.end():
                return
        self.place = len(self.body)
        self._add(self._decoded(raw))

    def _decoded(self, raw: bytearray) -> str:
        return raw.decode(self.group.codepage or self.codepage, "replace")

    # --- groups ---

    def _brace(self, brace: bytes) -> None:
        self.skipped = 0
        if brace == b"}":
            self._close_group()
            return
        self.stack.append(self.group)
        is_optional = self.body.startswith(b"\\*", self.place)
        is_read = not is_optional or self.body.startswith(_READ, self.place)
        if not is_read or len(self.stack) > DEEPEST:
            self._skip_group()

    def _close_group(self) -> None:
        if self.stack:
            self.group = self.stack.pop()

    def _skip_group(self) -> None:
        """Go to the end of the open group."""
        depth = 1
        while depth and (match := _BRACE.search(self.body, self.place)):
            self.place = match.end() + int(match[1] or 0)
            depth += (match[0] == b"{") - (match[0] == b"}")
        if depth:
            self.place = len(self.body)
        self._close_group()

    # --- text ---

    def _add(self, text: str) -> None:
        """Add a text where the group says: to the mark of its paragraph, an instruction, a note or the document."""
        group = self.group
        if "hidden" in group.marks or not text:
            return
        if group.kind == "mark":
            self.paragraph.mark = (self.paragraph.mark + text)[:_LONGEST_MARK]
        elif group.kind == "instruction":
            self.instruction = (self.instruction + text)[:_FARTHEST]
        else:
            texts = self.notes[-1] if group.kind == "footnote" else self.texts
            if texts and _are_halves(texts[-1][0], text):
                half, _ = texts.pop()
                text = _joined_halves(half, text)
            marks = sorted(group.marks)
            if group.link:
                marks.insert(0, f"a {group.link}")
            texts.append((text, tuple(marks)))

    # --- words ---

    def _word(self, word: bytes, number: int | None) -> None:
        if word in _CHARACTERS:
            self._add(_CHARACTERS[word])
        elif word == b"u" and number is not None:
            self._add(chr(number % 0x10000))
            self.skipped = self.group.fallback
        elif word in _SKIPPED:
            self._skip_group()
        elif word == b"pict":
            self._picture()
        elif word == b"ansicpg" and number in _CODEPAGES:
            self.codepage = f"cp{number}"
        elif changes := self._changes(word, number):
            self.group = replace(self.group, **changes)
        elif not self.group.kind:
            self._layout(word, number)
        elif word == b"par":
            self._add(" ")

    def _picture(self) -> None:
        start = self.place
        self._skip_group()
        name = _PICTURE_NAME.search(self.body, start, min(self.place, start + _FARTHEST))
        self._add(figure(name[1].decode("latin-1") if name else "", ""))

    def _changes(self, word: bytes, number: int | None) -> dict[str, Any]:
        """What a word changes for the text in its group."""
        marks = self.group.marks
        if word in _MARKS:
            mark = {_MARKS[word]}
            return {"marks": marks - mark if number == 0 else marks | mark}
        if word in _KINDS:
            self._begin(word)
            return {"kind": _KINDS[word]}
        if word == b"plain":
            return {"marks": frozenset(), "codepage": ""}
        if word == b"nosupersub":
            return {"marks": marks - {"sup", "sub"}}
        if word == b"f" and number is not None:
            return {"codepage": self.fonts.get(number, "")}
        if word == b"uc":
            return {"fallback": min(max(number or 0, 0), 100)}
        if word == b"fldrslt":
            link = _LINK.search(self.instruction)
            return {"link": link[1] if link else self.group.link}
        return {}

    def _begin(self, word: bytes) -> None:
        """Begin the instruction of a field, or a note and its mark."""
        if word == b"fldinst":
            self.instruction = ""
        elif word == b"footnote" and self.group.kind != "footnote":
            self.notes.append([])
            self.texts.append((f"[^{len(self.notes)}]", ()))

    def _layout(self, word: bytes, number: int | None) -> None:
        """Properties and ends of paragraphs and cells."""
        paragraph = self.paragraph
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
        else:
            self._layout_of_row(word, number)

    def _layout_of_row(self, word: bytes, number: int | None) -> None:
        row = self.row
        if word == b"trowd":
            row.edges, row.continues = [], ""
        elif word in _MERGES:
            row.continues = _MERGES[word]
        elif word == b"cellx":
            row.edges.append(_Edge(number or 0, row.continues))
            row.continues = ""
        elif word == b"cell":
            row.cells.append(self.texts)
            self.texts = []
        elif word == b"nestcell":
            self._add(" ")
        elif word == b"row":
            self.rows.append(row)
            self.row = _Row(row.edges)

    # --- ends of blocks ---

    def _end_paragraph(self) -> None:
        paragraph = self.paragraph
        if paragraph.in_table:
            self._add("\n")
            return
        self._end_table()
        texts, self.texts = self.texts, []
        mark, paragraph.mark = paragraph.mark.strip(), ""
        if not any(text.strip() for text, _ in texts):
            return
        if paragraph.heading is not None:
            block = self.builder.block(f"h{min(paragraph.heading, 6)}")
        elif mark:
            block = _item(paragraph, mark, self.builder)
        else:
            block = self.builder.block("p")
        self.builder.texts(block, texts)

    def _end_table(self) -> None:
        rows, self.rows = self.rows, []
        if self.row.cells:  # the end of the row is missing
            rows.append(self.row)
            self.row = _Row()
        if rows:
            columns = _columns(rows)
            self.builder.table((_cells(row, columns) for row in rows), _fill)


_KINDS = {
    b"listtext": "mark",
    b"pntext": "mark",
    b"fldinst": "instruction",
    b"footnote": "footnote",
}
"""What the text of a group is; in others it is text of the document."""
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
_MERGES = {b"clmrg": "beside", b"clvmrg": "above"}


# --- characters ---

_CODEPAGES = frozenset((437, 850, 852, 866, 874, 932, 936, 949, 950, *range(1250, 1259)))
_CODEPAGE_OF_CHARSET = {
    128: 932,
    129: 949,
    134: 936,
    136: 950,
    161: 1253,
    162: 1254,
    163: 1258,
    177: 1255,
    178: 1256,
    186: 1257,
    204: 1251,
    222: 874,
    238: 1250,
}
_FONT = re.compile(rb"\{\\f(\d{1,5})(?!\d)[^{}]{0,200}?\\fcharset(\d{1,3})")


def _codepages_of_fonts(body: bytes) -> dict[int, str]:
    """The code pages of the fonts that have one of their own, by their numbers."""
    codepages: dict[int, str] = {}
    for font, charset in _FONT.findall(body):
        codepage = _CODEPAGE_OF_CHARSET.get(int(charset))
        codepages[int(font)] = f"cp{codepage}" if codepage else ""
    return codepages


def _are_halves(before: str, after: str) -> bool:
    """Whether two texts end and begin with the halves of a character beyond the first 65,536."""
    return "\ud800" <= before[-1:] <= "\udbff" and "\udc00" <= after[0] <= "\udfff"


def _joined_halves(before: str, after: str) -> str:
    return (before + after).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# --- items and tables ---

_SHOWN_MARK = re.compile(r"(?=.*\w)(?!\w\Z).*")
"""The mark of an item that says which one it is, such as `(a)` or `2.1`; fonts of bullets use single letters."""


def _item(paragraph: _Paragraph, mark: str, builder: Builder) -> Any:
    """The element for an item of a list, which has the mark that its program shows."""
    number = mark.removesuffix(".")
    is_ordered = number != mark and number.isascii() and number.isdecimal()
    item = builder.item(paragraph.level, is_ordered=is_ordered, list_id=paragraph.list_id)
    if is_ordered:
        item.set("value", number)
    elif _SHOWN_MARK.fullmatch(mark):
        item.set(MARKER, mark)
    return item


_SNAP = 40
"""Edges of cells nearer than this (twentieths of a point) are one."""
_MOST_EDGES = 200


def _columns(rows: Sequence[_Row]) -> list[int]:
    """Where the columns of a table end: the edges of its cells, of which near ones are one."""
    columns: list[int] = []
    for place in sorted({edge.place for row in rows for edge in row.edges}):
        if not columns or place - columns[-1] >= _SNAP:
            columns.append(place)
    return columns[:_MOST_EDGES]


def _cells(row: _Row, columns: list[int]) -> list[Cell]:
    """The cells of a row, each over the columns up to its right edge; one that continues its neighbour widens it."""
    cells: list[Cell] = []
    column = 0
    for number, texts in enumerate(row.cells):
        edge = row.edges[number] if number < len(row.edges) else _Edge()
        span = max(1, bisect_right(columns, edge.place) - column)
        column += span
        if edge.continues == "beside" and cells:
            before = cells.pop()
            cells.append(replace(before, span=before.span + span))
        else:
            cells.append(Cell(texts, span, continues_above=edge.continues == "above"))
    return cells


def _fill(texts: list[Text], cell: Builder) -> None:
    cell.texts(cell.block("p"), texts)
