"""Documents in a zip archive of XML (Office, OpenDocument, EPUB) or an OLE file, within limits. What is inside chooses
the reader; e-books, workbooks, and the pictures, charts and diagrams of Office are read here. For worker processes.

EPUB: https://www.w3.org/TR/epub-33/. Workbooks (XLSX, XLSB, XLS, ODS) need the extra `documents`. The program that
wrote them stored the values, also of formulas; no formula or macro is run.
"""

from __future__ import annotations

import posixpath
import re
import zlib
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from itertools import islice
from typing import Any
from urllib.parse import unquote, urlsplit
from zipfile import BadZipFile, ZipFile

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.kinds import unreadable
from websearch_gateway.pages.formats.rendering import Builder, figure, parse_html, tree_to_markdown, until_too_long

LONGEST_TYPE = 200
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_STREAMS = {
    f"{stream}\0".encode("utf-16-le"): name
    for stream, name in {
        "Workbook": "XLS",
        "Book": "XLS",
        "EncryptedPackage": "locked",
        "WordDocument": "Word document of before 2007 (DOC)",
        "PowerPoint Document": "PowerPoint presentation of before 2007 (PPT)",
        "__properties_version1.0": "Outlook message (MSG)",
    }.items()
}
"""What an OLE file is, by the name of a stream."""
_DIRECTORY_ENTRY, _NAME = 128, 64
"""The bytes of an entry of an OLE directory, and of the name at its beginning
(https://learn.microsoft.com/openspecs/windows_protocols/ms-cfb, 2.6.1)."""


def zipped(body: bytes, url: str, charset: str) -> Extracted:
    """A document of Office, OpenDocument or EPUB. `charset` is not used.

    Raises:
        SearchFetchError: it is another archive, locked, damaged or of an unsupported format (`details["reason"]`).
    """
    from websearch_gateway.pages.formats import office

    package = Package(body)
    declared = package.read("mimetype")[:LONGEST_TYPE].decode("ascii", "replace").strip()
    if declared.startswith(_OPEN_DOCUMENT):
        kind = declared.removeprefix(_OPEN_DOCUMENT).partition("-")[0]
        if kind not in office.OPEN_DOCUMENTS:
            raise _unsupported(f"OpenDocument {kind}" if kind.isalpha() else "OpenDocument")
        if b"encryption-data" in package.read("META-INF/manifest.xml"):
            raise encrypted()
        return office.OPEN_DOCUMENTS[kind](package, body)
    if declared == "application/epub+zip" or "META-INF/container.xml" in package.names:
        return epub(package)
    if "[Content_Types].xml" not in package.names:
        raise unreadable("application/zip")
    match package.related("", "officeDocument").partition("/")[0]:
        case "word":
            return office.docx(package)
        case "ppt":
            return office.pptx(package)
        case "xl":
            return workbook(body, package)
        case _:
            raise _unsupported("Office document without text")


def compound(body: bytes, url: str, charset: str) -> Extracted:
    """A workbook of before 2007 (XLS). `url` and `charset` are not used.

    Raises:
        SearchFetchError: it is locked with a password, or another document of this container, which is not supported.
    """
    # A document may hold others, whose streams come later.
    for at in range(0, len(body), _DIRECTORY_ENTRY):
        name, end, _ = body[at : at + _NAME].partition(b"\0\0\0")
        match _STREAMS.get(name + end):
            case None:
                continue
            case "XLS":
                return workbook(body)
            case "locked":
                raise encrypted()
            case other:
                raise _unsupported(other)
    raise unreadable("application/x-ole-storage")


def _unsupported(name: str) -> SearchFetchError:
    return SearchFetchError(f"This is a {name}, which cannot be read.", details={"reason": "unsupported"})


MOST_ENTRIES = 20_000
MOST_UNPACKED = 60_000_000
"""The bytes to unpack of one document; its tree takes ten times as much memory."""
MOST_RELATIONS = 20_000

_ENTRY = b"PK\x01\x02"  # https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, section 4.3.12
_ENCRYPTED = 0x1
_TITLE = "{http://purl.org/dc/elements/1.1/}title"


class Package:
    """The parts of a document. What cannot be unpacked or parsed counts as missing, but nothing exceeds the limits.

    Raises:
        SearchFetchError: the archive is damaged, or has too many entries.
    """

    def __init__(self, body: bytes) -> None:
        if body.count(_ENTRY) > MOST_ENTRIES:
            raise too_large()
        try:
            self._archive = ZipFile(BytesIO(body))
        except (BadZipFile, ValueError, NotImplementedError, OSError):
            raise SearchFetchError("The document is damaged.", details={"reason": "damaged"}) from None
        self.left = MOST_UNPACKED
        self._relations: dict[str, dict[str, tuple[str, str]]] = {}
        self.names = {entry.filename: entry for entry in self._archive.infolist()}

    def read(self, name: str) -> bytes:
        """A part, b"" if it is missing or damaged.

        Raises:
            SearchFetchError: it is encrypted, or the parts together are too large.
        """
        entry = self.names.get(name)
        if entry is None:
            return b""
        if entry.flag_bits & _ENCRYPTED:
            raise encrypted()
        try:
            with self._archive.open(entry) as file:
                data = file.read(self.left + 1)
        except (BadZipFile, zlib.error, EOFError, OSError, NotImplementedError):
            return b""
        self.left -= len(data)
        if self.left < 0:
            raise too_large()
        return data

    def xml(self, name: str) -> Any:
        """The root element of an XML part; None if it is missing or not XML. Entities are left out."""
        from lxml import etree

        data = self.read(name)
        # Without `huge_tree` libxml2 limits the depth of elements to 256, and the length of a text.
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
        )
        try:
            root = etree.fromstring(data, parser) if data else None
        except etree.XMLSyntaxError:
            return None
        if root is not None and root.getroottree().docinfo.doctype:
            etree.strip_tags(root, etree.Entity)
        return root

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """What a part of an Office document refers to, by id: the last word of its type, and its part or address."""
        if name in self._relations:
            return self._relations[name]
        folder, file = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{file}.rels"))
        if root is None or len(root) > MOST_RELATIONS:
            root = ()
        found = self._relations.setdefault(name, {})
        for one in root:
            target = one.get("Target", "")
            if one.get("TargetMode") != "External":
                target = inside(name, target)
            found[one.get("Id", "")] = (one.get("Type", "").rpartition("/")[2], target)
        return found

    def related(self, name: str, kind: str) -> str:
        """The first part of this kind that a part refers to; "" if there is none."""
        return next((target for found, target in self.relations(name).values() if found == kind), "")

    def copy(self, replaced: dict[str, bytes]) -> bytes:
        """The document with other parts, and without pictures."""
        with ZipFile(file := BytesIO(), "w") as archive:
            for name in self.names:
                if name.endswith((".xml", ".rels", "mimetype")):
                    archive.writestr(name, replaced[name] if name in replaced else self.read(name))
        return file.getvalue()

    def title(self) -> str:
        """The title in the properties of an Office or OpenDocument document."""
        office = self.related("", "core-properties") or "docProps/core.xml"
        root = self.xml("meta.xml" if "meta.xml" in self.names else office)
        found = None if root is None else next(root.iter(_TITLE), None)
        return "" if found is None else " ".join((found.text or "").split())


def inside(part: str, target: str) -> str:
    """The name of the part that a link in `part` leads to; "" if it leads outside."""
    try:
        path = unquote(urlsplit(target).path)
    except ValueError:
        return ""
    name = posixpath.normpath(posixpath.join("/", posixpath.dirname(part), path)).lstrip("/")
    return "" if name == "." else name


def too_large() -> SearchFetchError:
    return SearchFetchError("The document holds more than may be unpacked.", details={"reason": "too_large"})


def encrypted() -> SearchFetchError:
    return SearchFetchError("The document is locked with a password.", details={"reason": "encrypted"})


A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_MOST_POINTS = 2_000
_MOST_SERIES = 50
"""The most points and series of a chart to read."""


def picture(element: Any, relations: dict[str, tuple[str, str]]) -> str:
    """A drawing's picture as text; "" if it has none and no alternative text."""
    described = next((one for one in element.iter() if one.get("descr") or one.get("alt")), None)
    description = "" if described is None else described.get("descr") or described.get("alt")
    blip = next((one for one in element.iter() if one.get(f"{_R}embed") or one.tag.endswith("}imagedata")), None)
    if blip is None:
        return figure(description, "") if description else ""
    target = relations.get(blip.get(f"{_R}embed") or blip.get(f"{_R}id", ""), ("", ""))[1]
    return figure(description, target.rpartition("/")[2])


def embedded(element: Any, relations: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The parts of charts and diagrams in a drawing: `chart` or `diagram`, and the part's name."""
    for one in element.iter(f"{_C}chart"):
        yield "chart", relations.get(one.get(f"{_R}id", ""), ("", ""))[1]
    for one in element.iter(f"{_DGM}relIds"):
        yield "diagram", relations.get(one.get(f"{_R}dm", ""), ("", ""))[1]


def write_embedded(package: Package, kind: str, part: str, builder: Builder) -> None:
    """Write the title and the numbers of a chart, or the words of a diagram."""
    root = package.xml(part)
    if root is None:
        return
    if kind == "diagram":
        for words in root.iter(f"{A}p"):
            if text := "".join(words.itertext(f"{A}t")).strip():
                builder.text(builder.item(0, is_ordered=False), text)
        return
    heading = root.find(f".//{_C}chart/{_C}title")
    title = " ".join("".join(heading.itertext(f"{A}t", f"{_C}v")).split()) if heading is not None else ""
    builder.text(builder.block("p"), f"Chart: {title}" if title else "Chart", ("strong",))
    series = [_series(one) for one in islice(root.iter(f"{_C}ser"), _MOST_SERIES)]
    points = list(dict.fromkeys(point for _, names, values in series for point in (*names, *values)))[:_MOST_POINTS]
    rows: list[list[str]] = [["", *(name for name, _, _ in series)]]
    for point in points:
        label = next((names[point] for _, names, _ in series if point in names), "")
        rows.append([label, *(values.get(point, "") for _, _, values in series)])
    if points:
        builder.table(
            ([(cell, 1, "") for cell in row] for row in rows), lambda cell, inner: inner.text(inner.root, cell)
        )


def _series(element: Any) -> tuple[str, dict[str, str], dict[str, str]]:
    """The name of a series, its categories and its values, by the index of the point."""
    name = " ".join(element.findtext(f"{_C}tx//{_C}v", "").split())
    axes = [(f"{_C}cat", f"{_C}xVal"), (f"{_C}val", f"{_C}yVal")]
    found = []
    for tags in axes:
        points = (point for tag in tags for axis in element.iterchildren(tag) for point in axis.iter(f"{_C}pt"))
        found.append({one.get("idx", ""): one.findtext(f"{_C}v", "") for one in islice(points, _MOST_POINTS)})
    return name, found[0], found[1]


MOST_CHAPTERS = 5_000
MOST_AUTHORS = 50

_DC = "{http://purl.org/dc/elements/1.1/}"
_OPF = "{http://www.idpf.org/2007/opf}"
_ROOTFILE = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_CIPHER = b"EncryptedData"
_FONTS = (b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC")
"""Ways to scramble fonts, which lock no text."""


def epub(package: Package) -> Extracted:
    """An e-book without its tables of contents. Text that only its style sheets hide is kept.

    Raises:
        SearchFetchError: its text is encrypted.
    """
    locks = package.read("META-INF/encryption.xml")
    if locks.count(_CIPHER) // 2 > sum(locks.count(font) for font in _FONTS):
        raise encrypted()
    container = package.xml("META-INF/container.xml")
    rootfile = next(container.iter(_ROOTFILE), None) if container is not None else None
    part = rootfile.get("full-path", "") if rootfile is not None else ""
    root = package.xml(part)
    if root is None:
        return Extracted("", "", None)
    authors = [" ".join("".join(one.itertext()).split()) for one in islice(root.iter(f"{_DC}creator"), MOST_AUTHORS)]
    texts = [f"**Authors:** {', '.join(filter(None, authors))}"] if any(authors) else []
    if description := _words(root, "description"):
        texts.append(tree_to_markdown(parse_html(description)))
    items = {one.get("id", ""): one for one in root.iter(f"{_OPF}item")}
    named = dict.fromkeys(one.get("idref", "") for one in islice(root.iter(f"{_OPF}itemref"), MOST_CHAPTERS))
    spine = (items[name] for name in named if name in items and "nav" not in items[name].get("properties", "").split())
    chapters = (_chapter(package.read(inside(part, item.get("href", "")))) for item in spine)
    markdown = "\n\n".join(until_too_long(text for text in (*texts, *chapters) if text))
    return Extracted(_words(root, "title"), markdown, _words(root, "date")[:10] or None)


def _words(root: Any, name: str) -> str:
    found = next(root.iter(_DC + name), None)
    return "" if found is None else " ".join("".join(found.itertext()).split())


def _chapter(xhtml: bytes) -> str:
    if not xhtml:
        return ""
    tree = parse_html(xhtml.decode("utf-8", "replace"))
    for image in list(tree.iter("img", "{http://www.w3.org/2000/svg}image")):
        name = image.get("src", "").rpartition("/")[2]
        image.tag = "span"
        image.text = figure(image.get("alt", ""), "" if name.startswith("data:") else name)
    return tree_to_markdown(tree, bullet="*")


EXTRA = 'Spreadsheets need the extra `documents`: pip install "websearch-gateway[documents]".'
MOST_SHEETS = 500
MOST_COLUMNS = 1_000
LONGEST_REPEATED = 100
"""The most characters of a merged cell that each of its places repeats."""
MOST_REPEATED = 10_000
"""The most places of a merged cell that repeat it."""
HIDDEN = "Hidden sheets were left out: {}."
MORE = "Only the first {:,} of {:,} sheets were read."
WIDE = "Columns after the first {:,} of a sheet were left out."
FAR = "Cells far away from the first ones were left out."
MOST_CELLS, NEAR_ROWS = 10_000_000, 10_000
"""The most cells that a sheet may span, since the library keeps all of them; and the rows to read of a larger one."""
_CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,7})"')
_END_OF_CELL = re.compile(rb"[^>]*/>|.*?</c>", re.DOTALL)
_FURTHER_COLUMN = re.compile(rb'<c r="([A-Z]{2,3})\d')


def workbook(body: bytes, package: Package | None = None, merged: dict[str, list[Any]] | None = None) -> Extracted:
    """The visible sheets of a workbook: each is a table under its name, with the range that it uses.

    Args:
        package: the parts of `body`, if it is an XLSX.
        merged: the merged cells of each sheet, for formats of which the library does not know them.

    Raises:
        SearchFetchError: the extra is missing, or the workbook is locked or damaged.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetVisibleEnum
    except ImportError:
        raise SearchFetchError(EXTRA, details={"reason": "unsupported", "extra": "documents"}) from None
    nearer = _without_far_cells(package) if package else None
    warnings: dict[str, None] = {FAR: None} if nearer else {}
    try:
        book = CalamineWorkbook.from_filelike(BytesIO(nearer or body))
    except PasswordError:
        raise encrypted() from None
    except CalamineError:
        raise SearchFetchError("The spreadsheet is damaged.", details={"reason": "damaged"}) from None
    shown = [one.name for one in book.sheets_metadata if one.visible == SheetVisibleEnum.Visible]
    if hidden := len(book.sheet_names) - len(shown):
        warnings[HIDDEN.format(hidden)] = None
    if len(shown) > MOST_SHEETS:
        warnings[MORE.format(MOST_SHEETS, len(shown))] = None

    def pieces() -> Iterator[str]:
        for name in shown[:MOST_SHEETS]:
            try:
                sheet = book.get_sheet_by_name(name)
            except CalamineError:
                continue
            if sheet.width > MOST_COLUMNS:
                warnings[WIDE.format(MOST_COLUMNS)] = None
            yield from _written(name, sheet, (merged or {}).get(name) or sheet.merged_cell_ranges or [])

    text = "".join(until_too_long(pieces())).strip()
    return Extracted("", text, None, tuple(warnings))


def _without_far_cells(package: Package) -> bytes | None:
    """The workbook without the cells that make a sheet span more than MOST_CELLS; None if no sheet does, or if the
    sheets are too large to look at: the library reads large ones in pieces."""
    names = [name for name in package.names if re.fullmatch(r"xl/worksheets/[^/]+\.xml", name)]
    # `read` unpacks no more than the archive declares.
    if sum(package.names[name].file_size for name in names) > package.left:
        return None
    sheets = {name: package.read(name) for name in names}
    cut = {}
    for name, sheet in sheets.items():
        last = re.search(rb'r="[A-Z]{0,3}(\d{1,7})"', sheet[sheet.rfind(b"<row ") :])
        width = max(map(_column, set(_FURTHER_COLUMN.findall(sheet))), default=26)
        if last and int(last[1]) * width > MOST_CELLS:
            cut[name] = _nearer(sheet)
    if not cut:
        return None
    return package.copy(sheets | cut)


def _nearer(sheet: bytes) -> bytes:
    """A sheet without its far cells."""
    kept, at = bytearray(), 0
    for cell in _CELL.finditer(sheet):
        if _column(cell[1]) <= MOST_COLUMNS and int(cell[2]) <= NEAR_ROWS:
            continue
        # The end is sought up to the next cell only: the search for one that is missing costs no more than its piece.
        following = sheet.find(b"<c ", cell.end())
        limit = len(sheet) if following < 0 else following
        end = _END_OF_CELL.match(sheet, cell.end(), limit)
        kept += sheet[at : cell.start()]
        at = end.end() if end else limit
    return bytes(kept) + sheet[at:]


def _column(letters: bytes) -> int:
    """The number of a column from 1."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _written(name: str, sheet: Any, merged: Sequence[Any]) -> Iterator[str]:
    """The heading, the range and the rows of a sheet; nothing of one without values."""
    if sheet.start is None or sheet.end is None:
        return
    (top, left), (bottom, right) = sheet.start, sheet.end
    words = " ".join(name.split())
    yield f"\n\n## {words}\n\n*Cells {_address(top, left)}:{_address(bottom, right)}*\n\n"
    repeated = _repeated(merged, top, left)
    texts: dict[tuple[int, int], str] = {}
    width = min(sheet.width, MOST_COLUMNS)
    # Not `iter_rows`: it begins with the first row of the sheet, however far away its values are.
    for number, row in enumerate(sheet.to_python(skip_empty_area=True)):
        cells = [_text(value) for value in islice(row, width)]
        for column, source in repeated.get(number, ()):
            if source == (number, column):
                texts[source] = cells[column] if column < width and len(cells[column]) <= LONGEST_REPEATED else ""
            elif column < width:
                cells[column] = cells[column] or texts.get(source, "")
        if any(cells) or number == 0:
            yield f"| {' | '.join(cells)} |\n"
        if number == 0:
            yield "|" + " --- |" * len(cells) + "\n"


def _repeated(merged: Sequence[Any], top: int, left: int) -> dict[int, list[tuple[int, tuple[int, int]]]]:
    """By row, the columns of merged cells with the place of their text; both relative to the used range."""
    found: dict[int, list[tuple[int, tuple[int, int]]]] = {}
    room = MOST_REPEATED * 10
    for (first, start), (last, end) in merged:
        places = (last - first + 1) * (end - start + 1)
        if places > MOST_REPEATED or places > room or first < top or start < left:
            continue
        room -= places
        for row in range(first - top, last - top + 1):
            found.setdefault(row, []).extend(
                (column, (first - top, start - left)) for column in range(start - left, end - left + 1)
            )
    return found


def _text(value: Any) -> str:
    """A value as a spreadsheet shows it, without its format."""
    if isinstance(value, str):
        return " ".join(value.split()).replace("|", "\\|")
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else str(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ") if value.time() != time() else value.date().isoformat()
    return str(value) if isinstance(value, date | time | timedelta | int) else ""


def _address(row: int, column: int) -> str:
    """The name of a cell, such as `B3` for row 2 and column 1."""
    letters, column = "", column + 1
    while column:
        column, digit = divmod(column - 1, 26)
        letters = chr(65 + digit) + letters
    return f"{letters}{row + 1}"


MOST_SHEET_CELLS, MOST_BOOK_CELLS = 4_000_000, 10_000_000
"""The most cells that a sheet of OpenDocument, and all of them, may span: the library keeps several copies of all."""
ONCE = "Repeated cells were read once, since there are very many."
_REPEATS = re.compile(rb"""(table:number-(?:rows|columns)-repeated\s*=\s*)["'](\d{1,18})\d*["']""")
_VALUE = re.compile(rb"office:|table:formula")


def without_repeats(content: bytes) -> bytes | None:
    """The content of an OpenDocument spreadsheet with each repeated cell once; None if its sheets are not too large.

    Raises:
        SearchFetchError: they are too large nevertheless.
    """
    if not _is_too_large(content):
        return None
    content = _REPEATS.sub(rb'\1"1"', content)
    if _is_too_large(content):
        raise too_large()
    return content


def _is_too_large(content: bytes) -> bool:
    """Whether the sheets span too many cells. Those that are empty at the end of a row or sheet do not count."""
    spans = []
    for table in content.split(b"<table:table "):
        rows = width = empty = 0
        for row in table.split(b"<table:table-row")[1:]:
            start, _, cells = row.partition(b">")
            cells = cells.partition(b"</table:table-row>")[0]
            times = _REPEATS.search(start)
            empty += int(times[2]) if times else 1
            last = cells.rfind(b"<table:")
            if last >= 0 and not _VALUE.search(cells, last):
                cells = cells[:last]
            if _VALUE.search(cells):
                rows, empty = rows + empty, 0
                repeated = sum(int(number) for _, number in _REPEATS.findall(cells))
                width = max(width, cells.count(b"<table:") + repeated)
        spans.append(rows * width)
    return max(spans) > MOST_SHEET_CELLS or sum(spans) > MOST_BOOK_CELLS
