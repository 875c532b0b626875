"""What the sheets of a workbook show beside their values: formats, links, errors, and hidden rows and columns.

The library that reads the values knows none of them. One pass over the text of each sheet finds them; a workbook that
is large has its values alone, and a sheet that is too large to find its hidden cells is left out. XLSX only. Pure.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import quote

from websearch_gateway.pages.formats.number_formats import BUILT_IN, NumberFormat, number_format
from websearch_gateway.pages.formats.package import Package, Relations
from websearch_gateway.pages.formats.rendering import Builder, Text, markdown_of
from websearch_gateway.pages.rendering import as_cell

MOST_LOOKED_AT = 30_000_000
"""The bytes of the sheets that are looked at."""
MOST_LOOKS = 300_000
"""The most cells of a sheet whose look is kept, and the most links."""

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

Place = tuple[int, int]
"""The row and column of a cell, from 0."""


@dataclass(slots=True)
class Looks:
    """What a sheet shows.

    Attributes:
        formats: how the numbers of cells are written.
        texts: what stands in place of values that are missing, such as errors and formulas.
        shown: what stands in place of any value.
        struck: the cells whose text is struck.
        links: where cells lead.
        merged: the first and last places of merged cells, where the library does not know them.
        is_unread: whether the sheet is too large to tell which of its cells are hidden.
    """

    formats: dict[Place, NumberFormat] = field(default_factory=dict)
    texts: dict[Place, str] = field(default_factory=dict)
    shown: dict[Place, str] = field(default_factory=dict)
    struck: set[Place] = field(default_factory=set)
    links: dict[Place, str] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    merged: list[tuple[Place, Place]] = field(default_factory=list)
    is_unread: bool = False


def looks_of(package: Package) -> Mapping[str, Looks]:
    """The looks of the sheets of an XLSX by their names."""
    part = package.related("", "officeDocument")
    root, relations = package.xml(part), package.relations(part)
    if root is None:
        return {}
    shared = Shared.of(package, part)
    looks: dict[str, Looks] = {}
    room = MOST_LOOKED_AT
    for sheet in root.iter(f"{_S}sheet"):
        name = relations[sheet.get(_R_ID, "")].target
        entry = package.names.get(name)
        if entry is None:
            continue
        look = looks[sheet.get("name", "")] = Looks()
        if entry.file_size > package.room:
            look.is_unread = True
            continue
        xml = package.read(name)
        _note_hidden_rows(look, xml)
        _note_hidden_columns(look, xml)
        if entry.file_size <= room:
            room -= entry.file_size
            _note_cells(look, xml, shared)
            _note_links(look, xml, package.relations(name))
    return looks


# --- hidden rows and columns ---

MOST_HIDDEN = 16_384
"""The most columns of a sheet in Excel, and the most descriptions of columns."""
# A value of an attribute may hold `>`. No `<` may stand in a tag, so each tag is read once.
_ATTRIBUTES = rb"""((?:\s++[\w:.-]++\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'))*+)"""
_ROW = re.compile(rb"<(?:\w{1,9}:)?row(?=[\s/>])" + _ATTRIBUTES)
_COLUMN = re.compile(rb"<(?:\w{1,9}:)?col(?=[\s/>])" + _ATTRIBUTES)
_ATTRIBUTE = re.compile(rb"""([\w:]{1,30})\s*+=\s*+["']([^"'<]*+)["']""")
_ROW_NUMBER = re.compile(rb"""\sr\s*+=\s*+["'](\d{1,7})["']""")
_NO_SIZE = re.compile(rb"0+(?:\.0*)?")


def _note_hidden_rows(looks: Looks, sheet: bytes) -> None:
    """Note the rows that are hidden or have no height.

    In a sheet whose rows are hidden by default (`zeroHeight`), those that are written are shown unless they say
    otherwise.
    """
    number = -1
    for row in _ROW.finditer(sheet):
        declared = _ROW_NUMBER.search(row[1])
        number = int(declared[1]) - 1 if declared else number + 1
        if _is_hidden(row[1], b"ht"):
            looks.hidden_rows.add(number)


def _note_hidden_columns(looks: Looks, sheet: bytes) -> None:
    """Note the columns that are hidden or have no width; all of a sheet that describes more than a program has."""
    for count, column in enumerate(_COLUMN.finditer(sheet)):
        if count >= MOST_HIDDEN:
            looks.hidden_columns.update(range(MOST_HIDDEN))
            return
        if _is_hidden(column[1], b"width"):
            attributes = dict(_ATTRIBUTE.findall(column[1]))
            first = _number(attributes.get(b"min", b"0"))
            last = _number(attributes.get(b"max", b"0"))
            looks.hidden_columns.update(range(first - 1, min(last, MOST_HIDDEN)))


def _is_hidden(tag: bytes, size: bytes) -> bool:
    """Whether a row or column is hidden, or has no size; `size` is the name of the attribute with it."""
    if b"hidden" not in tag and size not in tag:  # most; it saves half of the time
        return False
    attributes = dict(_ATTRIBUTE.findall(tag))
    if attributes.get(b"hidden") in (b"1", b"true"):
        return True
    return _NO_SIZE.fullmatch(attributes.get(size, b"")) is not None


def _number(digits: bytes) -> int:
    return int(digits) if digits.isdigit() and len(digits) < 9 else 0


# --- what the sheets of a workbook share ---


@dataclass(frozen=True, slots=True)
class Shared:
    """What all sheets of a workbook share.

    Attributes:
        formats: how numbers are written, by the number of the style that a cell names.
        struck: the styles whose text is struck.
        rich: the texts with raised, lowered or struck parts, by the number that a cell names.
    """

    formats: Sequence[NumberFormat | None] = ()
    struck: frozenset[int] = frozenset()
    rich: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, package: Package, part: str) -> Shared:
        """What the workbook `part` of a package shares."""
        rich = _rich_texts(package.read(package.related(part, "sharedStrings")))
        styles = package.xml(package.related(part, "styles"))
        if styles is None:
            return cls(rich=rich)
        return cls(_formats(styles), _struck(styles), rich)

    def format_of(self, style: int) -> NumberFormat | None:
        return self.formats[style] if style < len(self.formats) else None

    def rich_text(self, kind: bytes, value: bytes | None, sheet: bytes, start: int) -> str:
        """The Markdown of a text that is shared, or that stands in the sheet behind `start`; "" of a plain one."""
        if kind == b"s":
            return self.rich.get(_number(value or b""), "")
        return _rich_text(_inside(sheet, start)) if kind == b"inlineStr" else ""


def _formats(styles: Any) -> list[NumberFormat | None]:
    codes = {str(number): code for number, code in BUILT_IN.items()}
    for declared in styles.iter(f"{_S}numFmt"):
        codes[declared.get("numFmtId", "")] = declared.get("formatCode", "")
    formats = {number: number_format(code) for number, code in codes.items()}
    cells = styles.find(f"{_S}cellXfs")
    if cells is None:
        return []
    return [formats.get(cell.get("numFmtId", "")) for cell in cells]


def _struck(styles: Any) -> frozenset[int]:
    fonts, cells = styles.find(f"{_S}fonts"), styles.find(f"{_S}cellXfs")
    if fonts is None or cells is None:
        return frozenset()
    struck = {str(number) for number, font in enumerate(fonts) if _strikes(font)}
    return frozenset(style for style, cell in enumerate(cells) if cell.get("fontId") in struck)


def _strikes(font: Any) -> bool:
    mark = font.find(f"{_S}strike")
    return mark is not None and mark.get("val", "1") not in ("0", "false")


# --- texts with raised, lowered or struck parts ---

_MOST_RICH = 20_000
_LONGEST_RICH = 10_000
"""The most texts with parts of other looks, and the most bytes of one."""
_STRING = re.compile(
    rb"<(?:\w{1,9}:)?si(?:\s[^<>]{0,100})?(?:/>|>(.*?)</(?:\w{1,9}:)?si>)", re.DOTALL
)
_RUN = re.compile(rb"<(?:\w{1,9}:)?r(?:\s[^<>]{0,100})?>(.*?)</(?:\w{1,9}:)?r>", re.DOTALL)
_RUN_TEXT = re.compile(rb"<(?:\w{1,9}:)?t(?:\s[^<>]{0,100})?>([^<]*)<")
_RUN_LOOK = re.compile(
    rb"<(?:\w{1,9}:)?(?:vertAlign\s[^<>]{0,50}?val=\"(super|sub)script\"|(strike)(?:\s*/>|\s[^<>]{0,50}val=\"(?:1|true)\"))"
)
_RICH_MARKS = {b"super": ("sup",), b"sub": ("sub",), b"strike": ("del",)}


def _rich_texts(strings: bytes) -> dict[int, str]:
    """The shared texts with parts that stand higher, lower or are struck, by their numbers."""
    rich: dict[int, str] = {}
    if b"vertAlign" not in strings and b"strike" not in strings:
        return rich
    for number, item in enumerate(_STRING.finditer(strings)):
        text = _rich_text(item[1] or b"")
        if text:
            rich[number] = text
        if len(rich) == _MOST_RICH:
            break
    return rich


def _rich_text(runs: bytes) -> str:
    """The Markdown of a text with raised, lowered or struck parts; "" of any other."""
    if len(runs) > _LONGEST_RICH or not _RUN_LOOK.search(runs):
        return ""
    texts: list[Text] = []
    for run in _RUN.finditer(runs):
        words = _RUN_TEXT.search(run[1])
        if words is None:
            continue
        look = _RUN_LOOK.search(run[1])
        mark = (look[1] or look[2]) if look else b""
        text = html.unescape(words[1].decode("utf-8", "replace"))
        texts.append((text, _RICH_MARKS.get(mark, ())))
    return rich_cell(texts)


def rich_cell(texts: Iterable[Text]) -> str:
    """A text with raised, lowered or struck parts as the Markdown of a cell."""
    builder = Builder()
    builder.texts(builder.block("p"), texts)
    return as_cell(markdown_of(builder))


def _inside(sheet: bytes, start: int) -> bytes:
    """The text that stands in the sheet itself, of a cell whose tag ends at `start`."""
    end = sheet.find(b"</is>", start, start + _LONGEST_RICH)
    return sheet[start:end] if end > 0 else b""


# --- cells ---

LONGEST_TEXT = 500
"""The most bytes of a formula that are shown."""
# Tags have few attributes: without a limit, one that never ends would be read again from each of its parts.
_CELL = re.compile(
    rb'<(?:\w{1,9}:)?c\s[^<>]{0,200}?\br="(?P<letters>[A-Z]{1,3})(?P<row>\d{1,7})"(?P<attributes>[^<>]{0,200}?)'
    rb"(?:/>|>"
    rb"(?:<(?:\w{1,9}:)?f\b[^<>]{0,300}?(?:/>|>(?P<formula>[^<]*)</[^<>]{1,20}>))?"
    rb"(?:<(?:\w{1,9}:)?v>(?P<value>[^<]*)<)?)"
)
_STYLE = re.compile(rb'\bs="(\d{1,5})"')
_KIND = re.compile(rb'\bt="(\w+)"')


def _note_cells(looks: Looks, sheet: bytes, shared: Shared) -> None:
    """Note how numbers are written, and the texts that the library does not read."""
    for cell in _CELL.finditer(sheet):
        if len(looks.formats) + len(looks.texts) > MOST_LOOKS:
            break
        letters, row, attributes, formula, value = cell.groups()
        place = int(row) - 1, column_of(letters)
        declared_style, declared_kind = _STYLE.search(attributes), _KIND.search(attributes)
        style = int(declared_style[1]) if declared_style else 0
        kind = declared_kind[1] if declared_kind else b"n"
        number_format = shared.format_of(style)
        if style in shared.struck:
            looks.struck.add(place)
        if kind == b"e" and value:
            looks.texts[place] = _words(value)
        elif formula and not value:
            looks.texts[place] = f"`={_words(formula)}`"
        elif number_format and number_format.is_unseen:
            looks.shown[place] = ""
        elif kind == b"n":
            if number_format:
                looks.formats[place] = number_format
        elif text := shared.rich_text(kind, value, sheet, cell.end()):
            looks.shown[place] = text


def _words(escaped: bytes) -> str:
    """A text of the XML as it may stand in a cell."""
    text = html.unescape(escaped[:LONGEST_TEXT].decode("utf-8", "replace"))
    return as_cell(text).replace("`", "'")


def column_of(letters: bytes) -> int:
    """The number of a column from 0."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number - 1


# --- links ---

WEB = ("http://", "https://", "mailto:")
"""The links that are kept; others lead into the workbook, or to a file of its author."""
SAFE = "!#$%&'*+,/:;=?@~"
"""What stays in the address of a link; brackets would end it, and a bar its cell."""
_LINK = re.compile(rb"<(?:\w{1,9}:)?hyperlink\s([^<>]{0,2000})>")
_CELL_NAME = re.compile(rb"([A-Z]{1,3})(\d{1,7})")


def _note_links(looks: Looks, sheet: bytes, relations: Relations) -> None:
    for link in islice(_LINK.finditer(sheet), MOST_LOOKS):
        attributes = dict(_ATTRIBUTE.findall(link[1]))
        relation = attributes.get(b"r:id", b"").decode("utf-8", "replace")
        address = relations[relation].target
        cell = _CELL_NAME.match(attributes.get(b"ref", b""))
        if cell and address.startswith(WEB):
            place = int(cell[2]) - 1, column_of(cell[1])
            looks.links[place] = quote(address, safe=SAFE)
